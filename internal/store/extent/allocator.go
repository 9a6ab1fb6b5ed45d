// SPDX-License-Identifier: Apache-2.0

package extent

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// Allocator knows the free and the retired runs of a data file. Every other
// page between the first one and End is in use.
type Allocator struct {
	first, end uint32
	free       index
	freePages  uint64
	// retired is ordered by generation, and within one by the order of the
	// calls.
	retired      []retired
	retiredPages uint64
	retiredLong  uint64 // in long runs
}

type retired struct {
	run        Run
	generation uint64
}

// New returns the Allocator of a file whose pages in [first, end) are free. Its
// cost does not depend on the size.
func New(first, end uint32) *Allocator {
	if first > end {
		invariant.Check(false, "first page %d is after the last page %d", first, end)
	}
	a := &Allocator{first: first, end: end, free: newIndex()}
	if first < end {
		a.put(Run{first, end - first})
	}
	return a
}

// Alloc allocates a run of exactly that many pages, at least one, from the low
// end of the smallest free run that has them. False means that there is none
// and nothing has changed: the caller extends the file and calls Grow.
func (a *Allocator) Alloc(pages uint32) (Run, bool) {
	invariant.Check(pages > 0, "Alloc of zero pages")
	from, ok := a.free.fit(pages)
	if !ok {
		return Run{}, false
	}
	r := Run{from.Page, pages}
	a.take(from, r)
	return r, true
}

// Free frees a run that is in use, or a part of one, to which nothing on disk
// refers: it can be allocated again at once.
func (a *Allocator) Free(r Run) {
	a.checkOurs(r)
	a.put(r)
}

// Retire frees a run, or a part of one, to which superblocks on disk still
// refer. It is not allocated again before Release is called with that
// generation or a later one.
func (a *Allocator) Retire(r Run, generation uint64) {
	a.checkOurs(r)
	before, after := a.free.around(r.Page)
	checkApart(before, r)
	checkApart(r, after)
	at := len(a.retired)
	for at > 0 && a.retired[at-1].generation > generation {
		at--
	}
	a.retired = slices.Insert(a.retired, at, retired{r, generation})
	a.retiredPages += uint64(r.Pages)
	a.retiredLong += a.free.longIn(r)
}

// Release makes the runs retired at the generation or before free, and returns
// them by address, with adjacent runs joined, so that the caller can inform the
// disk.
func (a *Allocator) Release(generation uint64) []Run {
	n := 0
	for n < len(a.retired) && a.retired[n].generation <= generation {
		n++
	}
	if n == 0 {
		return nil
	}
	runs := make([]Run, n)
	for i, old := range a.retired[:n] {
		runs[i] = old.run
		a.retiredPages -= uint64(old.run.Pages)
		a.retiredLong -= a.free.longIn(old.run)
		a.put(old.run)
	}
	a.retired = slices.Delete(a.retired, 0, n)
	return joined(runs)
}

// joined sorts runs by address and makes one of neighbours, in place.
func joined(runs []Run) []Run {
	slices.SortFunc(runs, func(x, y Run) int { return cmp.Compare(x.Page, y.Page) })
	out := runs[:1]
	for _, r := range runs[1:] {
		last := &out[len(out)-1]
		if last.End() == uint64(r.Page) {
			last.Pages += r.Pages
		} else {
			out = append(out, r)
		}
	}
	return out
}

// Reserve marks a run as in use that was free until now: recovery calls it for
// every run that the table refers to. A run that is outside of the file, or of
// which a page is in use already, is an error, and nothing has changed.
func (a *Allocator) Reserve(r Run) error {
	if r.Pages == 0 {
		return fmt.Errorf("reserve %v: want at least one page, found none", r)
	}
	if r.Page < a.first || r.End() > uint64(a.end) {
		return fmt.Errorf("reserve %v: want them within pages %d to %d", r, a.first, a.end)
	}
	from, _ := a.free.around(r.Page)
	if r.End() > from.End() {
		taken := max(uint64(r.Page), from.End())
		return fmt.Errorf("reserve %v: want them free, found page %d in use", r, taken)
	}
	a.take(from, r)
	return nil
}

// Grow says that the file has become longer: it ends before page end, and the
// new pages are free.
func (a *Allocator) Grow(end uint32) {
	invariant.Check(end >= a.end, "the file shrinks from %d to %d pages", a.end, end)
	if end == a.end {
		return
	}
	r := Run{a.end, end - a.end}
	a.end = end
	a.put(r)
}

// FreePages is the number of pages that Alloc has to give, not all in one run.
func (a *Allocator) FreePages() uint64 { return a.freePages }

// RetiredPages is the number of pages that wait for Release.
func (a *Allocator) RetiredPages() uint64 { return a.retiredPages }

// SetUnit sets how many pages a long run has at least: a new Allocator takes every run
// for long. It costs as much as All.
func (a *Allocator) SetUnit(pages uint32) {
	a.free.unit, a.free.long, a.retiredLong = pages, 0, 0
	for _, s := range a.All() {
		if s.Retired {
			a.retiredLong += a.free.longIn(s.Run)
		} else {
			a.free.long += a.free.longIn(s.Run)
		}
	}
}

// LongPages is the number of free pages in long runs: at least that many are
// available to Alloc for much shorter runs.
func (a *Allocator) LongPages() uint64 { return a.free.long }

// RetiredLongPages is the number of pages in long runs that wait for Release.
func (a *Allocator) RetiredLongPages() uint64 { return a.retiredLong }

// End is the page after the file's last one.
func (a *Allocator) End() uint32 { return a.end }

// Span is a run that is not in use.
type Span struct {
	Run
	// Retired reports that superblocks still refer to the run; Generation is
	// what it was retired at.
	Retired    bool
	Generation uint64
}

// All returns the runs that are not in use, by address.
func (a *Allocator) All() []Span {
	all := make([]Span, 0, a.free.count+len(a.retired))
	for _, n := range a.free.walk(byPage, a.free.roots[byPage], nil) {
		all = append(all, Span{Run: a.free.nodes[n].run})
	}
	for _, old := range a.retired {
		all = append(all, Span{Run: old.run, Retired: true, Generation: old.generation})
	}
	slices.SortFunc(all, func(x, y Span) int { return cmp.Compare(x.Page, y.Page) })
	return all
}

// take removes r from the free run that holds it.
func (a *Allocator) take(from, r Run) {
	low := Run{from.Page, r.Page - from.Page}
	high := Run{uint32(r.End()), uint32(from.End() - r.End())}
	switch {
	case low.Pages > 0:
		a.free.resize(from, low)
		if high.Pages > 0 {
			a.free.insert(high)
		}
	case high.Pages > 0:
		a.free.resize(from, high)
	default:
		a.free.remove(from)
	}
	a.freePages -= uint64(r.Pages)
}

// put makes r free, as one run with its free neighbours.
func (a *Allocator) put(r Run) {
	before, after := a.free.around(r.Page)
	checkApart(before, r)
	checkApart(r, after)
	left := before.Pages > 0 && before.End() == uint64(r.Page)
	right := after.Pages > 0 && r.End() == uint64(after.Page)
	switch {
	case left && right:
		a.free.remove(after)
		a.free.resize(before, Run{before.Page, before.Pages + r.Pages + after.Pages})
	case left:
		a.free.resize(before, Run{before.Page, before.Pages + r.Pages})
	case right:
		a.free.resize(after, Run{r.Page, r.Pages + after.Pages})
	default:
		a.free.insert(r)
	}
	a.freePages += uint64(r.Pages)
}

func (a *Allocator) checkOurs(r Run) {
	ok := r.Pages > 0 && r.Page >= a.first && r.End() <= uint64(a.end)
	if !ok {
		invariant.Check(false, "freed %v, which are not within pages %d to %d", r, a.first, a.end)
	}
}

// checkApart asserts that low ends before high begins; a run of no pages is
// apart from all.
func checkApart(low, high Run) {
	ok := low.Pages == 0 || high.Pages == 0 || low.End() <= uint64(high.Page)
	if !ok {
		invariant.Check(false, "freed twice: %v and %v", low, high)
	}
}
