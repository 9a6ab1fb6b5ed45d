// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	"slices"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// graph is the graph [node |-> set, edge |-> set] with numbered nodes.
type graph struct {
	nodes Value
	elems []Value
	next  [][]int // successors, ascending
	place func(Value) int
}

// readGraph reads a graph. An edge is a pair, or a set of one or two nodes;
// ends returns its two nodes. Edges with a node outside the graph are ignored.
func readGraph(g Value, op string, directed bool) *graph {
	wantFn(g, op)
	nodes := value.Enumerate(wantSet(g.Field("node"), op))
	out := &graph{nodes: nodes, elems: nodes.Elems(), place: placesOf(nodes)}
	out.next = make([][]int, len(out.elems))
	link := func(a, b Value) {
		if value.Contains(nodes, a) && value.Contains(nodes, b) {
			i, j := out.place(a), out.place(b)
			out.next[i] = append(out.next[i], j)
		}
	}
	for e := range wantSet(g.Field("edge"), op).Each {
		a, b := ends(e, op, directed)
		link(a, b)
		if !directed {
			link(b, a)
		}
	}
	for i := range out.next {
		slices.Sort(out.next[i])
		out.next[i] = slices.Compact(out.next[i])
	}
	return out
}

func ends(e Value, op string, directed bool) (a, b Value) {
	if directed {
		es := wantSeq(e, op)
		if len(es) == 2 {
			return es[0], es[1]
		}
	} else if es := wantSet(e, op).Elems(); len(es) == 1 || len(es) == 2 {
		return es[0], es[len(es)-1]
	}
	value.Fail("%s: %s is not an edge", op, value.Brief(e))
	return a, b
}

// reach returns the nodes reachable from the given ones, including those.
func (g *graph) reach(from ...int) []bool {
	seen := make([]bool, len(g.elems))
	for _, i := range from {
		seen[i] = true
	}
	for todo := slices.Clone(from); len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, j := range g.next[i] {
			if !seen[j] {
				seen[j] = true
				todo = append(todo, j)
			}
		}
	}
	return seen
}

func (g *graph) stronglyConnected() bool {
	if len(g.elems) == 0 {
		return true
	}
	back := &graph{elems: g.elems, next: make([][]int, len(g.elems))}
	for i, js := range g.next {
		for _, j := range js {
			back.next[j] = append(back.next[j], i)
		}
	}
	return !slices.Contains(g.reach(0), false) && !slices.Contains(back.reach(0), false)
}

// simplePaths returns the non-empty paths that visit no node twice.
func (g *graph) simplePaths(what string) Value {
	out := collector{what: what}
	used := make([]bool, len(g.elems))
	var path []Value
	var extend func(i int)
	extend = func(i int) {
		used[i] = true
		path = append(path, g.elems[i])
		out.add(value.Tuple(path...))
		for _, j := range g.next[i] {
			if !used[j] {
				extend(j)
			}
		}
		path = path[:len(path)-1]
		used[i] = false
	}
	for i := range g.elems {
		extend(i)
	}
	return out.set()
}

func graphOf(nodes, edges Value) Value {
	return value.Record([]value.Field{{Name: "node", Val: nodes}, {Name: "edge", Val: edges}})
}

// isGraph reports whether g is a record of a set of nodes and a set of edges
// that satisfy ok.
func isGraph(g Value, ok func(e, nodes Value) bool) bool {
	if g = g.Normal(); g.Kind() != value.KindRecord ||
		!value.Equal(g.Domain(), value.Set(value.String("node"), value.String("edge"))) {
		return false
	}
	nodes, edges := g.Field("node"), g.Field("edge")
	if nodes.Kind() != value.KindSet || edges.Kind() != value.KindSet {
		return false
	}
	for e := range edges.Each {
		if !ok(e, nodes) {
			return false
		}
	}
	return true
}

func graphs() []Op {
	m := module{name: "Graphs"}
	m.f1("IsDirectedGraph", func(g Value) Value {
		return boolean(isGraph(g, func(e, nodes Value) bool { return value.Contains(value.Times(nodes, nodes), e) }))
	})
	m.f1("Transpose", func(g Value) Value {
		turned := value.Map(wantFn(g, "Transpose").Field("edge"), func(e Value) Value {
			a, b := ends(e, "Transpose", true)
			return value.Tuple(b, a)
		})
		return graphOf(g.Field("node"), turned)
	})
	m.f1("DirectedSubgraph", func(g Value) Value { return subgraphs(g, "DirectedSubgraph", true) })
	m.f1("SimplePath", func(g Value) Value {
		return readGraph(g, "SimplePath", true).simplePaths("SimplePath")
	})
	m.f3("AreConnectedIn", func(a, b, g Value) Value { return boolean(connected(a, b, g, true)) })
	m.f1("IsStronglyConnected", func(g Value) Value {
		return boolean(readGraph(g, "IsStronglyConnected", true).stronglyConnected())
	})
	m.f2("IsTreeWithRoot", func(g, r Value) Value {
		// Edges lead from child to parent. The root has no parent; every other
		// node has exactly one.
		t := readGraph(g, "IsTreeWithRoot", true)
		if !value.Contains(t.nodes, r) || int(value.Cardinality(g.Field("edge"))) != len(t.elems)-1 {
			return boolean(false)
		}
		root := t.place(r)
		for i := range t.elems {
			if (len(t.next[i]) == 0) != (i == root) || len(t.next[i]) > 1 || !t.reach(i)[root] {
				return boolean(false)
			}
		}
		return boolean(true)
	})
	m.f0("EmptyGraph", func() Value { return graphOf(value.EmptySet(), value.EmptySet()) })
	m.f1("Graphs", func(nodes Value) Value {
		wantSet(nodes, "Graphs")
		return value.RecordSet([]value.Field{
			{Name: "node", Val: value.Set(nodes)},
			{Name: "edge", Val: value.Subsets(value.Times(nodes, nodes))},
		})
	})
	neighbours := func(name string, forward, transitive bool) {
		m.f2(name, func(g, n Value) Value { return neighbourSet(g, n, name, forward, transitive) })
	}
	neighbours("Successors", true, false)
	neighbours("Predecessors", false, false)
	neighbours("Descendants", true, true)
	neighbours("Ancestors", false, true)
	return m.ops
}

// neighbourSet returns the nodes that n leads to or, unless forward is set,
// those that lead to n: by one edge or, if transitive is set, by a path of any
// length.
func neighbourSet(g, n Value, op string, forward, transitive bool) Value {
	read := readGraph(g, op, true)
	next := read.next
	if !forward {
		next = make([][]int, len(read.elems))
		for i, js := range read.next {
			for _, j := range js {
				next[j] = append(next[j], i)
			}
		}
	}
	if !value.Contains(read.nodes, n) {
		value.Fail("%s: %s is not a node", op, value.Brief(n))
	}
	first := next[read.place(n)]
	var out []Value
	if !transitive {
		for _, j := range first {
			out = append(out, read.elems[j])
		}
		return value.SetOf(out)
	}
	walk := &graph{elems: read.elems, next: next}
	for j, seen := range walk.reach(first...) {
		if seen {
			out = append(out, read.elems[j])
		}
	}
	return value.SetOf(out)
}

func connected(a, b, g Value, directed bool) bool {
	read := readGraph(g, "AreConnectedIn", directed)
	if !value.Contains(read.nodes, a) || !value.Contains(read.nodes, b) {
		return false
	}
	return read.reach(read.place(a))[read.place(b)]
}

// subgraphs is the set of graphs whose nodes and edges are among those of g.
func subgraphs(g Value, op string, directed bool) Value {
	out := collector{what: op}
	nodes, edges := wantFn(g, op).Field("node"), g.Field("edge")
	for ns := range value.Subsets(nodes).Each {
		inside := value.Filter(edges, func(e Value) bool {
			a, b := ends(e, op, directed)
			return value.Contains(ns, a) && value.Contains(ns, b)
		})
		for es := range value.Subsets(inside).Each {
			out.add(graphOf(ns, es))
		}
	}
	return out.set()
}

func undirectedGraphs() []Op {
	m := module{name: "UndirectedGraphs"}
	edge := func(e, nodes Value, loops bool) bool {
		if e.Kind() != value.KindSet || !value.Subseteq(e, nodes) {
			return false
		}
		n := value.Cardinality(e)
		return n == 2 || loops && n == 1
	}
	m.f1("IsUndirectedGraph", func(g Value) Value {
		return boolean(isGraph(g, func(e, nodes Value) bool { return edge(e, nodes, true) }))
	})
	m.f1("IsLoopFreeUndirectedGraph", func(g Value) Value {
		return boolean(isGraph(g, func(e, nodes Value) bool { return edge(e, nodes, false) }))
	})
	m.f1("UndirectedSubgraph", func(g Value) Value { return subgraphs(g, "UndirectedSubgraph", false) })
	m.f1("SimplePath", func(g Value) Value {
		return readGraph(g, "SimplePath", false).simplePaths("SimplePath")
	})
	m.f3("AreConnectedIn", func(a, b, g Value) Value { return boolean(connected(a, b, g, false)) })
	m.f1("ConnectedComponents", func(g Value) Value {
		read := readGraph(g, "ConnectedComponents", false)
		var parts []Value
		done := make([]bool, len(read.elems))
		for i := range read.elems {
			if done[i] {
				continue
			}
			var part []Value
			for j, seen := range read.reach(i) {
				if seen {
					done[j] = true
					part = append(part, read.elems[j])
				}
			}
			parts = append(parts, value.SetOf(part))
		}
		return value.SetOf(parts)
	})
	m.f1("IsStronglyConnected", func(g Value) Value {
		return boolean(readGraph(g, "IsStronglyConnected", false).stronglyConnected())
	})
	return m.ops
}

func vectorClocks() []Op {
	m := module{name: "VectorClocks"}
	m.fn("IsCausalOrder", func(_ *Context, args []Arg) Value {
		clock := apply1{op: args[1].Op}
		log := wantSeq(args[0].Val, "IsCausalOrder")
		clocks := make([]Value, len(log))
		for i, e := range log {
			clocks[i] = clock.call(e)
			for j := range i {
				if !clockLeq(clocks[j], clocks[i]) && clockLeq(clocks[i], clocks[j]) {
					return boolean(false)
				}
			}
		}
		return boolean(true)
	}, 0, 1)
	m.fn("CausalOrder", func(_ *Context, args []Arg) Value {
		return causalOrder(wantSeq(args[0].Val, "CausalOrder"), &apply1{op: args[1].Op})
	}, 0, 1, 1, 1)
	return m.ops
}

// clockLeq reports whether vector clock a is at most b. A node missing from one
// of the clocks has time 0 there.
func clockLeq(a, b Value) bool {
	for n := range wantFn(a, "a vector clock").Domain().Each {
		if copies(n, a, "a vector clock") > copies(n, b, "a vector clock") {
			return false
		}
	}
	return true
}

// causalOrder sorts a log so that every event comes after those that happened
// before it. It keeps the given order as far as possible: the next event is
// always the first remaining one that no other remaining event precedes.
func causalOrder(log []Value, clock *apply1) Value {
	clocks := make([]Value, len(log))
	for i, e := range log {
		clocks[i] = clock.call(e)
	}
	before := func(i, j int) bool {
		return clockLeq(clocks[i], clocks[j]) && !clockLeq(clocks[j], clocks[i])
	}
	rest := make([]int, len(log))
	for i := range rest {
		rest[i] = i
	}
	out := make([]Value, 0, len(log))
	for len(rest) > 0 {
		at := slices.IndexFunc(rest, func(i int) bool {
			return !slices.ContainsFunc(rest, func(j int) bool { return before(j, i) })
		})
		out = append(out, log[rest[at]])
		rest = slices.Delete(rest, at, at+1)
	}
	return value.TupleOf(out)
}
