// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"path"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/cespare/xxhash/v2"
)

// Class is a row of the table of crash states. With k changes that are not
// durable there are
//
//	none, all, each prefix          k+1 states
//	all but one, one alone          2k
//	every subset                    2^k when k <= Options.Subsets, else samples
//	a write torn                    6 ways each, with nothing of what came
//	                                later, with all of it, and with any part
//	                                of all others
//
// where later states that differ in nothing from states of the moment before
// are left out: those without any change that is new.
type Class uint8

// The classes. Those from TornHead on tear one write: its first half, its second
// half, every second sector of it reaches the disk; all does, but one sector
// is zeros, or random bytes, or what another place of the file holds.
const (
	None Class = iota
	All
	Prefix
	AllButOne
	OnlyOne
	Subset
	TornHead
	TornTail
	TornEverySecond
	TornZero
	TornRandom
	TornForeign
	classes
)

func (c Class) String() string {
	return [...]string{"none", "all", "prefix", "all-but-one", "only-one", "subset",
		"torn-head", "torn-tail", "torn-every-second", "torn-zero", "torn-random", "torn-foreign"}[c]
}

// choice is what a crash keeps of the units that are not durable.
type choice struct {
	class Class
	keep  []bool
	torn  int // a unit of content that is kept in part; -1: none
}

// describe lists what is kept, for reports.
func (c choice) describe(units []*unit) string {
	var b strings.Builder
	for i, u := range units {
		mark := "lost"
		switch {
		case i == c.torn:
			mark = c.class.String()
		case c.keep[i]:
			mark = "kept"
		}
		fmt.Fprintf(&b, "    %-17s %s\n", mark, u.what)
	}
	return b.String()
}

// limits bound the choices of one moment.
type limits struct {
	subsets int // up to how many units every subset is a state
	samples int // how many subsets of more
	tears   int // how many of the last writes are torn
}

// choices calls f for every choice of a moment. The units from fresh on are new since the
// last moment: choices without them are left out. The argument of f is valid during the
// call.
func choices(units []*unit, fresh int, l limits, random env.Random, f func(choice) bool) {
	k := len(units)
	keep := make([]bool, k)
	set := func(c Class, in func(i int) bool) bool {
		some := fresh == 0
		for i := range keep {
			keep[i] = in(i)
			some = some || keep[i] && i >= fresh
		}
		return !some || f(choice{class: c, keep: keep, torn: -1})
	}
	if fresh == 0 && !set(None, func(int) bool { return false }) || k == 0 {
		return
	}
	if !set(All, func(int) bool { return true }) {
		return
	}
	for n := 1; n < k; n++ {
		if !set(Prefix, func(i int) bool { return i < n }) {
			return
		}
	}
	for n := range k {
		if !set(AllButOne, func(i int) bool { return i != n }) || !set(OnlyOne, func(i int) bool { return i == n }) {
			return
		}
	}
	if k <= l.subsets {
		for m := uint(1); m < 1<<k-1; m++ {
			if !set(Subset, func(i int) bool { return m>>i&1 == 1 }) {
				return
			}
		}
	} else {
		for range l.samples {
			if !set(Subset, func(int) bool { return random.Uint64()&1 == 1 }) {
				return
			}
		}
	}
	tears(units, fresh, max(k-l.tears, 0), keep, random, f)
}

// tears are the choices that tear a write, from unit first on.
func tears(units []*unit, fresh, first int, keep []bool, random env.Random, f func(choice) bool) {
	const before, all, any = 0, 1, 2 // what is kept of the others
	for n, u := range units {
		if n < first || len(u.patches) == 0 {
			continue
		}
		for others := range 3 {
			if others != before && len(units) == 1 || others == all && n == len(units)-1 {
				continue
			}
			some := false
			for i := range keep {
				keep[i] = i == n || others == all || others == before && i < n || others == any && random.Uint64()&1 == 1
				some = some || keep[i] && i >= fresh
			}
			if !some {
				continue
			}
			for c := TornHead; c < classes; c++ {
				if !f(choice{class: c, keep: keep, torn: n}) {
					return
				}
			}
		}
	}
}

// crash is what a loss of power leaves.
type crash struct {
	names  map[string]*inode
	copied bool             // names are the crash's own
	tables map[*inode]table // of files that had units; others have their durable one
	sum    uint64           // identifies the bytes and names
}

// crashed makes the state of a choice. Random details of tears are drawn from
// random.
func (d *Disk) crashed(c choice, random env.Random) crash {
	s := crash{names: d.safe, tables: make(map[*inode]table, 4)}
	for i, u := range d.units {
		if !c.keep[i] {
			continue
		}
		if u.name != nil {
			if !s.copied {
				s.names, s.copied = maps.Clone(s.names), true
			}
			u.name.apply(s.names)
			continue
		}
		t := s.content(u.file)
		switch {
		case u.resize:
			t.size = u.size
		case i == c.torn:
			u.tear(&t, c.class, random)
		default:
			u.applyTo(&t)
		}
		s.tables[u.file] = t
	}
	for i, t := range s.tables {
		t.trim()
		s.tables[i] = t
	}
	for name, i := range s.names {
		switch {
		case orphan(s.names, name):
		case i.dir:
			s.sum += mix(xxhash.Sum64String(name), 1)
		default:
			t := s.content(i)
			s.sum += mix(xxhash.Sum64String(name), mix(t.sum, uint64(t.size)))
		}
	}
	return s
}

// orphan reports whether a name is in a directory that does not exist.
func orphan(names map[string]*inode, name string) bool {
	dir := path.Dir(name)
	return dir != "." && (names[dir] == nil || orphan(names, dir))
}

func (s *crash) content(i *inode) table {
	if t, ok := s.tables[i]; ok {
		return t
	}
	return i.safe.share()
}

// disk returns the disk after the crash. Files are durable as they are.
func (s *crash) disk(epoch int) *Disk {
	d := &Disk{names: make(map[string]*inode, len(s.names)), safe: make(map[string]*inode, len(s.names)),
		locks: map[string]bool{}, epoch: epoch}
	for name, i := range s.names {
		if orphan(s.names, name) {
			continue
		}
		twin := &inode{id: i.id, dir: i.dir}
		if !i.dir {
			t := s.content(i)
			twin.now, twin.safe = t.share(), t.share()
		}
		d.inodes = max(d.inodes, i.id)
		d.names[name], d.safe[name] = twin, twin
	}
	return d
}

// clone returns a disk with the same content, all of it durable.
func (d *Disk) clone() *Disk {
	s := crash{names: d.names, tables: map[*inode]table{}}
	for _, i := range d.names {
		s.tables[i] = i.now.share()
	}
	return s.disk(d.epoch)
}

// tear applies a part of the unit to a table.
func (u *unit) tear(t *table, c Class, random env.Random) {
	n := 0
	for _, p := range u.patches {
		n += bits.OnesCount8(p.mask)
	}
	victim, k := env.IntN(random, n), 0
	for _, p := range u.patches {
		whole := t.at(p.at)
		lands := uint8(0) // of the sectors of the patch
		hit := -1
		for s := range sectors {
			if p.mask&(1<<s) == 0 {
				continue
			}
			if c.lands(k, n) {
				lands |= 1 << s
			}
			if k == victim && c >= TornZero {
				hit = s
			}
			k++
		}
		q := compose(whole, p.p, lands)
		if hit >= 0 {
			q = spoilSector(q, hit, c, t, random)
		}
		t.set(p.at, q)
	}
}

// lands reports whether sector k of n of a torn write reaches the disk.
func (c Class) lands(k, n int) bool {
	switch c {
	case TornHead:
		return k < n/2
	case TornTail:
		return k >= n/2
	case TornEverySecond:
		return k%2 == 1
	}
	return true
}

// spoilSector damages one sector of a page.
func spoilSector(p *page, s int, c Class, t *table, random env.Random) *page {
	q := &page{}
	if p != nil {
		q.b, q.born, q.prev = p.b, p.born, p.prev
	}
	b := q.b[s*Sector : (s+1)*Sector]
	clear(b)
	switch c {
	case TornRandom:
		for i := 0; i < len(b); i += 8 {
			binary.LittleEndian.PutUint64(b[i:], random.Uint64())
		}
	case TornForeign:
		for range 32 {
			if o := t.at(int64(env.IntN(random, len(t.pages)+1))); o != nil && o != p {
				copy(b, o.b[env.IntN(random, sectors)*Sector:][:Sector])
				break
			}
		}
	}
	if isZero(&q.b) {
		return nil
	}
	return q
}
