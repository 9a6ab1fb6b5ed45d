// SPDX-License-Identifier: Apache-2.0

package live

import "slices"

// The components of the product are found by Tarjan's algorithm, without
// recursion, and judged one by one. The steps within a component are computed
// again rather than stored, so a node takes four bytes, and while it is open at
// most twenty more.

// The value of tarjan.mark for a node: 0 if it has not been visited; its number
// in the order of the search while its component is open; afterwards, with the
// highest bit set, the number of its component.
const (
	closed  = 1 << 31
	markMax = closed - 1
)

// tarjan finds the components of a part of the product, and those that accept.
type tarjan struct {
	s        *search
	promises uint64 // all of them
	group    []int  // by state of the automaton: its component there, or -1 if none accepts
	skipped  []uint32
	mark     []uint32
	seen     uint32 // marks in the order of the search
	comps    uint32 // components that were closed
	stack    []uint32
	frames   []frame
	succs    []uint32 // of the nodes of frames, those that had not been visited

	only     []*Formula // what steps must satisfy to be used
	parts    []part     // still to be searched
	accepted []accepted
}

// part is a set of nodes to search for components, with the condition on the
// steps that may be used.
type part struct {
	nodes []uint32
	only  []*Formula
}

// accepted is a component that accepts, with the steps that may be used in it.
type accepted struct {
	comp uint32
	only []*Formula
}

// frame is a node whose steps are being followed.
type frame struct {
	node uint32
	low  uint32
	from int // of its successors in succs
}

// components looks for components that accept, first in the whole product, then
// in the rest of components that would accept without some steps.
func (s *search) components() (*tarjan, error) {
	t := &tarjan{s: s, promises: 1<<s.a.eventually - 1, only: s.only}
	states := uint32(s.g.States())
	t.group = s.a.groups()
	nodes := t.layOut(states)
	if err := s.take("the nodes of a product", 4*int64(nodes)); err != nil {
		return nil, err
	}
	t.mark = make([]uint32, nodes)
	for a, group := range t.group {
		for state := uint32(0); group >= 0 && state < states; state++ {
			if n := uint32(a)*states + state; s.reached == nil || s.reached.has(n) {
				if err := t.search(n); err != nil {
					return nil, err
				}
			}
		}
	}
	for len(t.parts) > 0 {
		p := t.parts[len(t.parts)-1]
		t.parts = t.parts[:len(t.parts)-1]
		s.taken -= 4 * int64(len(p.nodes))
		t.only = p.only
		for _, n := range p.nodes {
			t.mark[t.at(n)] = 0
		}
		for _, n := range p.nodes {
			if err := t.search(n); err != nil {
				return nil, err
			}
		}
	}
	s.taken -= 4 * int64(cap(t.stack)+cap(t.succs)+4*cap(t.frames))
	t.stack, t.succs, t.frames = nil, nil, nil
	return t, nil
}

// layOut gives places in mark to the nodes whose components may accept, and
// returns their number.
func (t *tarjan) layOut(states uint32) uint32 {
	t.skipped = make([]uint32, len(t.group))
	if t.s.reached == nil {
		return states
	}
	skipped, end := uint32(0), uint32(0)
	for a, group := range t.group {
		begin := end
		end = t.s.reached.place(uint32(a+1) * states)
		if group < 0 {
			skipped += end - begin
		}
		t.skipped[a] = skipped
	}
	return end - skipped
}

// at is the place of a node in mark.
func (t *tarjan) at(n uint32) uint32 {
	if t.s.reached == nil {
		return n
	}
	return t.s.reached.place(n) - t.skipped[t.s.aut(n)]
}

// inside calls visit for the steps from n that may be used and whose target may
// be in the same component.
func (t *tarjan) inside(n uint32, visit func(m uint32, postponed uint64) bool) error {
	group := t.group[t.s.aut(n)]
	return t.s.each(n, func(m uint32, postponed uint64) bool {
		if t.group[t.s.aut(m)] != group || !t.s.all(t.only) || t.s.err != nil {
			return true
		}
		return visit(m, postponed)
	})
}

// search closes the components that can be reached from a node.
func (t *tarjan) search(root uint32) error {
	if t.mark[t.at(root)] != 0 {
		return nil
	}
	if err := t.push(root); err != nil {
		return err
	}
	for len(t.frames) > 0 {
		f := &t.frames[len(t.frames)-1]
		if last := len(t.succs) - 1; last >= f.from {
			m := t.succs[last]
			t.succs = t.succs[:last]
			if k := t.mark[t.at(m)]; k == 0 {
				if err := t.push(m); err != nil {
					return err
				}
			} else if k < closed {
				f.low = min(f.low, k)
			}
			continue
		}
		done := *f
		t.frames = t.frames[:len(t.frames)-1]
		if len(t.frames) > 0 {
			up := &t.frames[len(t.frames)-1]
			up.low = min(up.low, done.low)
		}
		if done.low == t.mark[t.at(done.node)] {
			if err := t.close(done.node); err != nil {
				return err
			}
		}
	}
	t.seen = 0
	return nil
}

// push opens a node.
func (t *tarjan) push(n uint32) error {
	t.seen++
	t.mark[t.at(n)] = t.seen
	before := cap(t.stack) + cap(t.succs) + 4*cap(t.frames)
	t.stack = append(t.stack, n)
	f := frame{node: n, low: t.seen, from: len(t.succs)}
	err := t.inside(n, func(m uint32, _ uint64) bool {
		if k := t.mark[t.at(m)]; k == 0 {
			t.succs = append(t.succs, m)
		} else if k < closed {
			f.low = min(f.low, k)
		}
		return true
	})
	t.frames = append(t.frames, f)
	if err != nil {
		return err
	}
	return t.s.take("the components of a product", 4*int64(cap(t.stack)+cap(t.succs)+4*cap(t.frames)-before))
}

// close takes the component of n from the stack and judges it.
func (t *tarjan) close(n uint32) error {
	from := len(t.stack) - 1
	for t.stack[from] != n {
		from--
	}
	nodes := t.stack[from:]
	t.comps++
	for _, m := range nodes {
		t.mark[t.at(m)] = closed | t.comps
	}
	ok, narrower, err := t.judge(nodes)
	switch {
	case err != nil:
		return err
	case ok && narrower == nil:
		t.accepted = append(t.accepted, accepted{t.comps, t.only})
	case ok:
		if err := t.s.take("the components of a product", 4*int64(len(nodes))); err != nil {
			return err
		}
		t.parts = append(t.parts, part{slices.Clone(nodes), append(t.only[:len(t.only):len(t.only)], narrower...)})
	}
	t.stack = t.stack[:from]
	return nil
}

// within calls visit for the steps of a component until it is false.
func (t *tarjan) within(nodes []uint32, visit func(postponed uint64) bool) error {
	comp := t.mark[t.at(nodes[0])]
	more := true
	for i := 0; i < len(nodes) && more; i++ {
		err := t.inside(nodes[i], func(m uint32, postponed uint64) bool {
			if t.mark[t.at(m)] == comp {
				more = visit(postponed) && t.s.err == nil
			}
			return more
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// some reports whether some step of a component satisfies f.
func (t *tarjan) some(nodes []uint32, f *Formula) (found bool, err error) {
	err = t.within(nodes, func(uint64) bool {
		found = f.holds(t.s.ask)
		return !found
	})
	return found, err
}

// judge reports whether a component accepts. If a part of it may accept, judge
// gives that part the condition that its steps must satisfy.
func (t *tarjan) judge(nodes []uint32) (ok bool, narrower []*Formula, err error) {
	// A component has a step, and no promise that every step postpones.
	steps, postponed := false, t.promises
	err = t.within(nodes, func(p uint64) bool {
		steps = true
		postponed &= p
		return postponed != 0
	})
	if err != nil || !steps || postponed != 0 {
		return false, nil, err
	}
	often := t.s.often
	for i, f := range often {
		found, err := t.some(nodes, f)
		if err != nil {
			return false, nil, err
		}
		if !found {
			copy(often[1:i+1], often[:i])
			often[0] = f
			return false, nil, nil
		}
	}
	for _, c := range t.s.strong {
		breaks, err := t.some(nodes, Negate(c.ever))
		if err != nil {
			return false, nil, err
		}
		if !breaks {
			continue
		}
		found, err := t.some(nodes, c.often)
		if err != nil {
			return false, nil, err
		}
		if !found {
			narrower = append(narrower, c.ever)
		}
	}
	return true, narrower, nil
}
