// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
)

// FaultKind is a kind of fault in operation, as opposed to a loss of power.
type FaultKind uint8

// The kinds. Damage to a read is permanent: the page that it hits stays damaged.
const (
	NoFault    FaultKind = iota
	FlipBit              // a read finds a bit flipped
	ZeroSector           // a read finds a sector of zeros
	StalePage            // a read finds what was there before the last write
	WrongPage            // a read finds another page of the file
	ReadOnce             // a read fails, and not again
	ReadDead             // a place cannot be read any more
	WriteError           // a write fails half way
	SyncError            // a sync fails; what it should have written is durable or lost, and counts as clean
	FullDisk             // no file grows
	faultKinds
)

func (k FaultKind) String() string {
	return [...]string{"none", "flip", "zero", "stale", "wrong", "read-once", "read-dead", "write", "sync", "full"}[k]
}

// faultOf is the kind of that name.
func faultOf(name string) (FaultKind, error) {
	for k := NoFault; k < faultKinds; k++ {
		if k.String() == name {
			return k, nil
		}
	}
	return NoFault, fmt.Errorf("no fault is called %q", name)
}

// Fault is one fault that strikes at the opportunity of that number, counted from 0: a
// read, a write, a sync, a growth.
type Fault struct {
	Kind   FaultKind
	At     int
	random env.Random

	Struck bool
	Where  string // what was struck, for people
	file   *inode // and where it was
	page   int64
	born   int // the epoch of the struck object
}

// newFault makes a fault whose details are drawn from a seed.
func newFault(k FaultKind, at int, seed uint64) *Fault {
	return &Fault{Kind: k, At: at, random: env.Seeded(seed ^ uint64(k)<<56 ^ uint64(at)<<32)}
}

func (f *Fault) strikes(k FaultKind, n int) bool {
	if f == nil || f.Kind != k || f.At != n || f.Struck {
		return false
	}
	f.Struck = true
	return true
}

func (f *Fault) coin() bool { return f.random.Uint64()&1 == 0 }

// mayGrow reports whether a file may become longer.
func (d *Disk) mayGrow() bool {
	if d.fault.strikes(FullDisk, d.growths) {
		d.full = true
	}
	d.growths++
	return !d.full
}

// damage strikes at a read, if it is the chosen one.
func (d *Disk) damage(f *file, b []byte, off int64) error {
	n := d.reads
	d.reads++
	t := d.fault
	if t == nil || t.Kind > ReadDead || t.Kind == NoFault {
		return nil
	}
	first, last := off/pageSize, (off+int64(len(b))-1)/pageSize
	if t.Struck {
		if t.Kind == ReadDead && t.file == f.i && first <= t.page && t.page <= last {
			return pathErr("read", f.name, errStruck)
		}
		return nil
	}
	if t.At != n || len(b) == 0 {
		return nil
	}
	var there []int64
	for i := first; i <= last; i++ {
		if f.i.now.at(i) != nil {
			there = append(there, i)
		}
	}
	if len(there) == 0 { // nothing to damage: the next read
		t.At++
		return nil
	}
	t.Struck, t.file, t.page = true, f.i, there[env.IntN(t.random, len(there))]
	old := f.i.now.at(t.page)
	t.born = old.born
	t.Where = fmt.Sprintf("%s of %s at %d", t.Kind, f.name, t.page*pageSize)
	if t.Kind == ReadOnce || t.Kind == ReadDead {
		return pathErr("read", f.name, errStruck)
	}
	p := t.spoil(&f.i.now, old)
	f.i.now.set(t.page, p)
	f.i.safe.set(t.page, p)
	return nil
}

// spoil is what a page becomes.
func (t *Fault) spoil(in *table, old *page) *page {
	switch t.Kind {
	case StalePage:
		return old.prev
	case WrongPage:
		for range 64 {
			if i := env.IntN(t.random, len(in.pages)); in.pages[i] != nil && int64(i) != t.page {
				return in.pages[i]
			}
		}
		return nil
	}
	p := &page{b: old.b, prev: old, born: old.born}
	if t.Kind == FlipBit {
		p.b[env.IntN(t.random, pageSize)] ^= 1 << env.IntN(t.random, 8)
	} else {
		clear(p.b[env.IntN(t.random, sectors)*Sector:][:Sector])
	}
	if isZero(&p.b) {
		return nil
	}
	return p
}
