// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"slices"
	"strings"
)

// label is the reason why one transaction comes before another. Labels are bits.
type label uint8

const (
	ww label = 1 << iota
	wr
	rw
	rt
)

func (l label) String() string {
	switch l {
	case ww:
		return "ww"
	case wr:
		return "wr"
	case rw:
		return "rw"
	}
	return "rt"
}

type edge struct {
	to    int
	label label
	key   string
}

func (c *checker) edge(from, to int, l label, key string) {
	if from != to {
		c.edges[from] = append(c.edges[from], edge{to, l, key})
	}
}

// dependencies draws the graph. It includes a transaction of unknown outcome if its
// appends were read.
func (c *checker) dependencies() {
	observed := map[element]bool{}
	for k := range c.order {
		c.keys = append(c.keys, k)
	}
	slices.Sort(c.keys)
	for _, k := range c.keys {
		for _, v := range c.order[k] {
			observed[element{k, v}] = true
		}
	}
	// unseen has, by key, the transactions whose appends are in no read: they came after
	// everything that was read.
	unseen := map[string][]int{}
	for i := range c.txns {
		for _, o := range c.txns[i].Ops {
			if c.txns[i].Status == Committed && o.Append != "" && !observed[element{o.Key, o.Append}] {
				unseen[o.Key] = append(unseen[o.Key], i)
			}
		}
	}
	for _, k := range c.keys {
		list := c.order[k]
		for n := range list {
			w, ok := c.writer[element{k, list[n]}]
			if !ok {
				continue
			}
			for _, next := range c.after(k, n+1, unseen[k]) {
				c.edge(w, next, ww, k)
			}
		}
	}
	for i := range c.txns {
		if c.txns[i].Status != Committed {
			continue
		}
		for _, o := range c.txns[i].Ops {
			if o.Append != "" {
				continue
			}
			if n := len(o.List); n > 0 {
				if w, ok := c.writer[element{o.Key, o.List[n-1]}]; ok {
					c.edge(w, i, wr, o.Key)
				}
			}
			for _, next := range c.after(o.Key, len(o.List), unseen[o.Key]) {
				c.edge(i, next, rw, o.Key)
			}
		}
	}
	c.realtime()
}

// after are the transactions that appended next after the first n elements.
func (c *checker) after(key string, n int, unseen []int) []int {
	list := c.order[key]
	if n >= len(list) {
		return unseen
	}
	if w, ok := c.writer[element{key, list[n]}]; ok {
		return []int{w}
	}
	return nil
}

// realtime draws an edge from each transaction to those that began after it had ended,
// unless another transaction is between them.
func (c *checker) realtime() {
	type event struct {
		at    int64
		begin bool
		txn   int
	}
	var events []event
	for i := range c.txns {
		t := &c.txns[i]
		if t.Status == Aborted {
			continue
		}
		events = append(events, event{t.Begin, true, i})
		if t.Status == Committed {
			events = append(events, event{t.end(), false, i})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		case a.begin && !b.begin: // at one moment: both may overlap
			return -1
		case !a.begin && b.begin:
			return 1
		}
		return 0
	})
	var front []int
	for _, e := range events {
		if e.begin {
			for _, f := range front {
				c.edge(f, e.txn, rt, "")
			}
			continue
		}
		begin := c.txns[e.txn].Begin
		front = slices.DeleteFunc(front, func(f int) bool { return c.txns[f].end() < begin })
		front = append(front, e.txn)
	}
}

// cycles looks for cycles with more and more labels, and reports the first one of each
// strongly connected component.
func (c *checker) cycles() {
	reported := make([]bool, len(c.txns))
	for _, pass := range []struct {
		labels label
		need   label
		once   bool
		kind   Kind
	}{
		{ww, ww, false, G0},
		{ww | wr, wr, false, G1c},
		{ww | wr | rw, rw, true, GSingle},
		{ww | wr | rw, rw, false, G2},
		{ww | rt, rt, false, G0.Realtime()},
		{ww | wr | rt, rt, false, G1c.Realtime()},
		{ww | wr | rw | rt, rw, true, GSingle.Realtime()},
		{ww | wr | rw | rt, rw, false, G2.Realtime()},
	} {
		for _, part := range c.components(pass.labels) {
			if slices.ContainsFunc(part, func(i int) bool { return reported[i] }) {
				continue
			}
			path := c.cycle(part, pass.labels, pass.need, pass.once)
			if path == nil {
				continue
			}
			for _, i := range part {
				reported[i] = true
			}
			c.reportCycle(pass.kind, path)
		}
	}
}

// step is an edge of a path.
type step struct {
	from int
	edge
}

// cycle finds a short cycle in a component, with an edge of the required label; once:
// with exactly one.
func (c *checker) cycle(part []int, labels, need label, once bool) []step {
	in := map[int]bool{}
	for _, i := range part {
		in[i] = true
	}
	back := labels
	if once {
		back &^= need
	}
	var best []step
	for _, i := range part {
		for _, e := range c.edges[i] {
			if e.label&need == 0 || !in[e.to] {
				continue
			}
			if p := c.path(e.to, i, back, in); p != nil && (best == nil || len(p)+1 < len(best)) {
				best = append([]step{{i, e}}, p...)
			}
			if len(best) == 2 {
				return best
			}
		}
	}
	return best
}

// path is a shortest path within a component.
func (c *checker) path(from, to int, labels label, in map[int]bool) []step {
	came := map[int]step{from: {from: -1}}
	queue := []int{from}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, e := range c.edges[i] {
			if e.label&labels == 0 || !in[e.to] {
				continue
			}
			if _, ok := came[e.to]; ok {
				continue
			}
			came[e.to] = step{i, e}
			if e.to == to {
				var out []step
				for at := to; at != from; at = came[at].from {
					out = append(out, came[at])
				}
				slices.Reverse(out)
				return out
			}
			queue = append(queue, e.to)
		}
	}
	return nil
}

func (c *checker) reportCycle(k Kind, path []step) {
	var b strings.Builder
	var txns []int
	for _, s := range path {
		txns = append(txns, s.from)
		if s.label == rt {
			fmt.Fprintf(&b, "%s -rt-> ", c.name(s.from))
		} else {
			fmt.Fprintf(&b, "%s -%v(%s)-> ", c.name(s.from), s.label, s.key)
		}
	}
	b.WriteString(c.name(path[0].from))
	c.report(k, txns, "%s", b.String())
}

// components are the strongly connected components of more than one transaction,
// by Tarjan's algorithm, without recursion.
func (c *checker) components(labels label) [][]int {
	n := len(c.txns)
	number, low := make([]int, n), make([]int, n)
	onStack := make([]bool, n)
	var stack []int
	var out [][]int
	count := 0
	type frame struct{ txn, next int }
	for root := range n {
		if number[root] != 0 {
			continue
		}
		calls := []frame{{root, 0}}
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			i := f.txn
			if f.next == 0 {
				count++
				number[i], low[i] = count, count
				stack, onStack[i] = append(stack, i), true
			}
			if f.next < len(c.edges[i]) {
				e := c.edges[i][f.next]
				f.next++
				if e.label&labels == 0 {
					continue
				}
				if number[e.to] == 0 {
					calls = append(calls, frame{e.to, 0})
				} else if onStack[e.to] {
					low[i] = min(low[i], number[e.to])
				}
				continue
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				up := calls[len(calls)-1].txn
				low[up] = min(low[up], low[i])
			}
			if low[i] != number[i] {
				continue
			}
			at := len(stack) - 1
			for stack[at] != i {
				at--
			}
			part := slices.Clone(stack[at:])
			stack = stack[:at]
			for _, j := range part {
				onStack[j] = false
			}
			if len(part) > 1 {
				slices.Sort(part)
				out = append(out, part)
			}
		}
	}
	return out
}
