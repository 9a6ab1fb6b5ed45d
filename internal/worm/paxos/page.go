// SPDX-License-Identifier: Apache-2.0

package paxos

import "github.com/ashlar-dev/ashlar/worm/wor"

// A segment is stored in pages of pageSize registers, made when one of them is
// promised or written. A page stores promises as runs, because captures come in
// ranges: a whole page costs one run. It stores values in a window that grows
// to both sides as far as registers are written, and for each value the number
// of its ballot in a table of the page, because neighbours mostly have the same
// ballot.

// pageSize is how many registers a page has. A number within a table of ballots
// is a byte: there are never more ballots in use than registers.
const pageSize = 256

type page struct {
	number   uint32 // the first register is number * pageSize
	first    int32  // the register of values[0]
	promises []promise
	values   [][]byte // nil is not written
	slots    []uint8  // of ballots, one for each value
	ballots  []wor.Ballot
	held     int64 // memory of the values
}

// promise records that the registers from the end of the previous one to end,
// exclusive, are promised to ballot. After the last there are no promises.
type promise struct {
	ballot wor.Ballot
	end    int32
}

// granted returns the ballot that register i is promised to, besides what it
// has accepted, and the end of the run.
func (p *page) granted(i int) (wor.Ballot, int) {
	lo, hi := 0, len(p.promises)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); int(p.promises[mid].end) <= i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(p.promises) {
		return wor.Ballot{}, pageSize
	}
	return p.promises[lo].ballot, int(p.promises[lo].end)
}

// accepted is what register i holds; a value of nil is nothing.
func (p *page) accepted(i int) (wor.Ballot, []byte) {
	if i -= int(p.first); i >= 0 && i < len(p.values) && p.values[i] != nil {
		return p.ballots[p.slots[i]], p.values[i]
	}
	return wor.Ballot{}, nil
}

// promised is the highest ballot that register i has promised or accepted.
func (p *page) promised(i int) wor.Ballot {
	b, _ := p.granted(i)
	if c, v := p.accepted(i); v != nil && b.Less(c) {
		return c
	}
	return b
}

// piece returns where the registers from i on stop being alike, at most limit:
// after one register if it is written.
func (p *page) piece(i, limit int) int {
	if _, v := p.accepted(i); v != nil {
		return i + 1
	}
	_, end := p.granted(i)
	end = min(end, limit)
	for j := max(i, int(p.first)); j < end && j-int(p.first) < len(p.values); j++ {
		if p.values[j-int(p.first)] != nil {
			return j
		}
	}
	return end
}

// grant promises the registers from lo to hi to b, where they are not promised
// to more. Scratch is memory for it to use, and is returned.
func (p *page) grant(lo, hi int, b wor.Ballot, scratch []promise) []promise {
	fresh := scratch[:0]
	add := func(end int, b wor.Ballot) {
		start, n := 0, len(fresh)
		if n > 0 {
			start = int(fresh[n-1].end)
		}
		switch {
		case end <= start:
		case n > 0 && fresh[n-1].ballot == b:
			fresh[n-1].end = int32(end)
		default:
			fresh = append(fresh, promise{b, int32(end)})
		}
	}
	for _, run := range p.promises {
		end := int(run.end)
		add(min(end, lo), run.ballot)
		if run.ballot.Less(b) {
			add(min(end, hi), b)
		}
		add(end, run.ballot)
	}
	add(lo, wor.Ballot{})
	add(hi, b)
	p.promises = append(p.promises[:0], fresh...)
	return fresh
}

// accept makes register i hold v at b.
func (p *page) accept(i int, b wor.Ballot, v []byte) {
	p.cover(i)
	i -= int(p.first)
	before := p.weight(i) + p.weight(i+1)
	if v == nil {
		v = []byte{}
	}
	p.values[i] = v
	p.held += p.weight(i) + p.weight(i+1) - before
	n := p.slot(i, b)
	p.slots[i] = n
}

// cover extends the window to include register i. The window doubles, so that
// the amortized cost per register is constant, and never leaves the page.
func (p *page) cover(i int) {
	lo, hi := int(p.first), int(p.first)+len(p.values)
	switch {
	case len(p.values) == 0:
		lo, hi = i, i+1
	case i >= hi:
		hi = i + 1
	case i < lo:
		lo = max(min(i, lo-(hi-lo)), 0)
	default:
		return
	}
	if len(p.values) > 0 && lo == int(p.first) && hi-lo <= cap(p.values) {
		p.values, p.slots = p.values[:hi-lo], p.slots[:hi-lo]
		return
	}
	room := hi - lo
	if lo == int(p.first) {
		room = max(room, min(2*cap(p.values), pageSize-lo))
	}
	values, slots := make([][]byte, hi-lo, room), make([]uint8, hi-lo, room)
	if len(p.values) > 0 {
		copy(values[int(p.first)-lo:], p.values)
		copy(slots[int(p.first)-lo:], p.slots)
	}
	p.first, p.values, p.slots = int32(lo), values, slots
}

// slot is the number of a ballot in the table, for the value at index i, whose
// present number is free to be used again.
func (p *page) slot(i int, b wor.Ballot) uint8 {
	for n := len(p.ballots) - 1; n >= 0; n-- {
		if p.ballots[n] == b {
			return uint8(n)
		}
	}
	if len(p.ballots) < pageSize {
		p.ballots = append(p.ballots, b)
		return uint8(len(p.ballots) - 1)
	}
	var used [pageSize]bool
	for j, v := range p.values {
		if v != nil && j != i {
			used[p.slots[j]] = true
		}
	}
	n := 0
	for used[n] {
		n++
	}
	p.ballots[n] = b
	return uint8(n)
}

// weight is the memory of the value at index i. Neighbours that were written
// together share theirs, and it counts once.
func (p *page) weight(i int) int64 {
	if i >= len(p.values) || len(p.values[i]) == 0 {
		return 0
	}
	v := p.values[i]
	if i > 0 {
		if w := p.values[i-1]; len(w) > 0 && &w[0] == &v[0] {
			return 0
		}
	}
	return (int64(cap(v)) + 15) &^ 15
}

// The memory that parts of the state take, in bytes: the struct itself with the
// allocator's rounding, and the pointers to it.
const (
	pageBytes    = 128 + 8
	segmentBytes = 48 + 40
	promiseBytes = 24
	ballotBytes  = 16
	valueBytes   = 24 + 1
)

func (p *page) bytes() int64 {
	return pageBytes + p.held + int64(cap(p.promises))*promiseBytes +
		int64(cap(p.ballots))*ballotBytes + int64(cap(p.values))*valueBytes
}

// segment is the pages of a segment, in order.
type segment struct {
	pages  []*page
	recent int // index of the page that was asked for last
}

// find is the index of the first page whose number is at least n.
func (s *segment) find(n uint32) int {
	if s.recent < len(s.pages) && s.pages[s.recent].number == n {
		return s.recent
	}
	lo, hi := 0, len(s.pages)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); s.pages[mid].number < n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	s.recent = lo
	return lo
}

// page is the page of register i, or nil if nothing there is promised or written.
func (s *segment) page(i int) *page {
	if s == nil {
		return nil
	}
	number := uint32(i / pageSize)
	if at := s.find(number); at < len(s.pages) && s.pages[at].number == number {
		return s.pages[at]
	}
	return nil
}

// walk calls visit with each piece of the registers from lo to hi: registers
// from to to-1 are alike, in page p, or in none, where nothing is promised. It
// stops when visit returns false, and returns the register where it stopped.
func (s *segment) walk(lo, hi int, visit func(p *page, from, to int) bool) int {
	for lo < hi {
		var p *page
		number, end := lo/pageSize, hi
		if s != nil {
			if i := s.find(uint32(number)); i < len(s.pages) {
				if p = s.pages[i]; int(p.number) != number {
					end, p = min(end, int(p.number)*pageSize), nil
				}
			}
		}
		if p != nil {
			base := number * pageSize
			end = base + p.piece(lo-base, min(hi-base, pageSize))
		}
		if !visit(p, lo, end) {
			return lo
		}
		lo = end
	}
	return lo
}
