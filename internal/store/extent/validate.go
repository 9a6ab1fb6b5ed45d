// SPDX-License-Identifier: Apache-2.0

package extent

import "fmt"

// Validate checks everything that the Allocator promises about itself, in time
// linear in the number of runs but for a sort. An error means a bug here or in
// a caller that freed a run that it did not hold.
func (a *Allocator) Validate() error {
	if err := a.free.validate(); err != nil {
		return err
	}
	var free, kept, long, keptLong uint64
	var last Span
	for i, s := range a.All() {
		switch {
		case s.Pages == 0:
			return fmt.Errorf("extent: an empty run at page %d", s.Page)
		case s.Page < a.first || s.End() > uint64(a.end):
			return fmt.Errorf("extent: %v are not within pages %d to %d", s.Run, a.first, a.end)
		case i > 0 && last.End() > uint64(s.Page):
			return fmt.Errorf("extent: %v and %v overlap", last.Run, s.Run)
		case i > 0 && last.End() == uint64(s.Page) && !last.Retired && !s.Retired:
			return fmt.Errorf("extent: adjacent free runs %v and %v were not joined", last.Run, s.Run)
		}
		if s.Retired {
			kept += uint64(s.Pages)
			keptLong += a.free.longIn(s.Run)
		} else {
			free += uint64(s.Pages)
			long += a.free.longIn(s.Run)
		}
		last = s
	}
	if free != a.freePages || kept != a.retiredPages {
		return fmt.Errorf("extent: found %d free and %d retired pages, counted %d and %d", free, kept, a.freePages, a.retiredPages)
	}
	for i := 1; i < len(a.retired); i++ {
		if a.retired[i-1].generation > a.retired[i].generation {
			return fmt.Errorf("extent: retired run %d is not in the order of generations", i)
		}
	}
	if long != a.LongPages() || keptLong != a.RetiredLongPages() {
		return fmt.Errorf("extent: found %d free and %d retired pages in long runs, counted %d and %d", long, keptLong, a.LongPages(), a.RetiredLongPages())
	}
	return nil
}

// validate checks that both trees are search trees and heaps, and hold the same
// nodes, and that every other node is spare.
func (x *index) validate() error {
	for _, o := range []order{byPage, bySize} {
		nodes := x.walk(o, x.roots[o], nil)
		if len(nodes) != x.count {
			return fmt.Errorf("extent: tree %d has %d nodes, want %d", o, len(nodes), x.count)
		}
		for i, n := range nodes {
			if i > 0 && !less(o, x.nodes[nodes[i-1]].run, x.nodes[n].run) {
				return fmt.Errorf("extent: tree %d has %v before %v", o, x.nodes[nodes[i-1]].run, x.nodes[n].run)
			}
			for _, child := range []uint32{x.nodes[n].left[o], x.nodes[n].right[o]} {
				if child != 0 && priority(child) > priority(n) {
					return fmt.Errorf("extent: tree %d has node %d below node %d, which is the lower one", o, child, n)
				}
			}
		}
	}
	spare := 0
	for n := x.spare; n != 0 && spare <= len(x.nodes); n = x.nodes[n].left[byPage] {
		spare++
	}
	if spare+x.count != len(x.nodes)-1 {
		return fmt.Errorf("extent: %d nodes are spare and %d in use, of %d", spare, x.count, len(x.nodes)-1)
	}
	return nil
}
