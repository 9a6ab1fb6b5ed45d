// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

const (
	// Sector is the unit that a disk keeps or loses as a whole, in bytes.
	Sector   = 512
	pageSize = 4096
	sectors  = pageSize / Sector
	allOfIt  = 1<<sectors - 1 // the mask of all sectors of a page
)

// page is a piece of a file's content. It is never changed once it is in a table. A page
// of zeros is nil.
type page struct {
	b    [pageSize]byte
	sum  uint64 // 0: not computed
	prev *page  // what was at this place before
	born int    // the Disk's epoch when it was written
}

func isZero(b *[pageSize]byte) bool { return *b == [pageSize]byte{} }

// hash identifies the content.
func (p *page) hash() uint64 {
	if p == nil {
		return 0
	}
	if p.sum == 0 {
		p.sum = xxhash.Sum64(p.b[:]) | 1
	}
	return p.sum
}

// mix combines two numbers, so that sums of results identify sets.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xbf58476d1ce4e5b9)
	return (hi ^ lo) * 0x94d049bb133111eb
}

// compose returns old with some sectors of new.
func compose(old, new *page, mask uint8) *page {
	if mask == allOfIt || old == new {
		return new
	}
	p := &page{}
	if old != nil {
		p.b, p.born = old.b, old.born
	}
	for s := range sectors {
		if mask&(1<<s) == 0 {
			continue
		}
		at := p.b[s*Sector : (s+1)*Sector]
		if new == nil {
			clear(at)
		} else {
			copy(at, new.b[s*Sector:])
		}
	}
	if isZero(&p.b) {
		return nil
	}
	return p
}

// table is the content of a file. A copy of a table shares its slice until one of them is
// changed.
type table struct {
	pages []*page
	size  int64
	sum   uint64 // of the numbers and hashes of its pages
	own   bool
}

// share returns a table with the same content.
func (t *table) share() table {
	t.own = false
	return *t
}

func (t *table) at(i int64) *page {
	if i < int64(len(t.pages)) {
		return t.pages[i]
	}
	return nil
}

func (t *table) set(i int64, p *page) {
	old := t.at(i)
	if old == p {
		return
	}
	if !t.own || i >= int64(len(t.pages)) {
		t.grow(i)
	}
	if old != nil {
		t.sum -= mix(uint64(i), old.hash())
	}
	if p != nil {
		t.sum += mix(uint64(i), p.hash())
	}
	t.pages[i] = p
}

// grow makes the slice its own, with room for page i.
func (t *table) grow(i int64) {
	n := max(int64(len(t.pages)), i+1)
	if t.own && n <= int64(cap(t.pages)) {
		t.pages = t.pages[:n]
		return
	}
	pages := make([]*page, n, n+n/4+8)
	copy(pages, t.pages)
	t.pages, t.own = pages, true
}

// trim makes everything beyond the size zero.
func (t *table) trim() {
	for i := int64(len(t.pages)) - 1; i >= 0 && i*pageSize >= t.size; i-- {
		t.set(i, nil)
	}
	i, in := t.size/pageSize, t.size%pageSize
	if p := t.at(i); p != nil && in > 0 {
		var q page
		copy(q.b[:in], p.b[:in])
		switch {
		case q.b == p.b:
		case isZero(&q.b):
			t.set(i, nil)
		default:
			t.set(i, &q)
		}
	}
}

// read copies bytes, zeros if there are none, without regard to the size.
func (t *table) read(b []byte, off int64) {
	for len(b) > 0 {
		k := min(len(b), int(pageSize-off%pageSize))
		if p := t.at(off / pageSize); p != nil {
			copy(b[:k], p.b[off%pageSize:])
		} else {
			clear(b[:k])
		}
		b, off = b[k:], off+int64(k)
	}
}

// patch is the effect of an operation on one page: after it, the sectors of the mask are
// those of p.
type patch struct {
	at   int64
	p    *page
	mask uint8
}
