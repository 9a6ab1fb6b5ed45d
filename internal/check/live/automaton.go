// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"math/bits"
)

// Limits of a formula.
const (
	// SubformulasMax is the maximum number of different subformulas of a
	// formula that contain <> or [].
	SubformulasMax = 64
	// AutomatonMax is the maximum number of states of an automaton, and of
	// transitions of each state; TransitionsMax is the maximum number of all
	// transitions.
	AutomatonMax   = 1 << 14
	TransitionsMax = 1 << 20
	// AtomsMax is the maximum number of atoms of a problem.
	AtomsMax = 1 << 12
)

// LimitError states which limit a formula exceeds.
type LimitError struct {
	What string
	Max  int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the formula has more than %d %s", e.Max, e.What)
}

// automaton accepts the runs of a formula. State 0 is the initial one.
type automaton struct {
	states     [][]transition
	eventually int // the number of promises <>f
}

// transition is taken on a step that satisfies its guard. It postpones the
// promises <>f in postponed; a run is accepted if none is postponed forever.
type transition struct {
	guard     *Formula // it is about one step
	next      int
	postponed uint64
}

// tableau makes the automaton of a normal formula.
type tableau struct {
	out     *automaton
	subs    []*Formula     // the obligations that a state may have
	index   map[string]int // by their text
	promise []int          // of subs: the number of <>f, or -1
	states  map[uint64]int // by their set of obligations
	queue   []uint64
	guards  map[string]*Formula // by their text
	found   int                 // transitions of all states
	err     error
}

// translate makes the automaton of the conjunction of normal formulas.
func translate(fs []*Formula) (*automaton, error) {
	t := &tableau{out: &automaton{}, index: map[string]int{}, states: map[uint64]int{}, guards: map[string]*Formula{}}
	var start uint64
	for _, f := range fs {
		start |= t.obligation(f)
	}
	t.state(start)
	for len(t.queue) > 0 && t.err == nil {
		set := t.queue[0]
		t.queue = t.queue[1:]
		from := t.states[set]
		x := &expansion{t: t, seen: map[transition]bool{}}
		var todo []*Formula
		for s := set; s != 0; s &= s - 1 {
			todo = append(todo, t.subs[bits.TrailingZeros64(s)])
		}
		x.expand(todo, nil, 0, 0)
		t.out.states[from] = x.found
	}
	return t.out, t.err
}

// obligation is the bit of f.
func (t *tableau) obligation(f *Formula) uint64 {
	text := f.String()
	i, ok := t.index[text]
	if !ok {
		i = len(t.subs)
		if i == SubformulasMax {
			t.err = &LimitError{"temporal subformulas", SubformulasMax}
			return 0
		}
		t.index[text] = i
		t.subs = append(t.subs, f)
		promise := -1
		if f.Op == Eventually {
			promise = t.out.eventually
			t.out.eventually++
		}
		t.promise = append(t.promise, promise)
	}
	return 1 << i
}

// state is the number of the state with these obligations.
func (t *tableau) state(set uint64) int {
	n, ok := t.states[set]
	if !ok {
		n = len(t.out.states)
		if n == AutomatonMax {
			t.err = &LimitError{"states in its automaton", AutomatonMax}
			return 0
		}
		t.states[set] = n
		t.out.states = append(t.out.states, nil)
		t.queue = append(t.queue, set)
	}
	return n
}

// expansion finds the transitions of one state: the ways to satisfy its
// obligations now, each with the obligations that it leaves for the next step.
type expansion struct {
	t     *tableau
	found []transition
	seen  map[transition]bool
}

func (x *expansion) expand(todo, literals []*Formula, next, postponed uint64) {
	if x.t.err != nil {
		return
	}
	if len(todo) == 0 {
		x.add(literals, next, postponed)
		return
	}
	f, rest := todo[0], todo[1:len(todo):len(todo)]
	if (f.Op == And || f.Op == Or) && f.propositional() {
		x.expand(rest, append(literals[:len(literals):len(literals)], f), next, postponed)
		return
	}
	switch f.Op {
	case True:
		x.expand(rest, literals, next, postponed)
	case False:
	case Atom, Not:
		for _, l := range literals {
			if contradict(l, f) {
				return
			}
		}
		x.expand(rest, append(literals[:len(literals):len(literals)], f), next, postponed)
	case And:
		x.expand(append(rest, f.Args...), literals, next, postponed)
	case Or:
		for _, a := range f.Args {
			x.expand(append(rest, a), literals, next, postponed)
		}
	case Always:
		x.expand(append(rest, f.Args[0]), literals, next|x.t.obligation(f), postponed)
	case Eventually:
		x.expand(append(rest, f.Args[0]), literals, next, postponed)
		bit := x.t.obligation(f)
		if x.t.err == nil {
			x.expand(rest, literals, next|bit, postponed|1<<x.t.promise[bits.TrailingZeros64(bit)])
		}
	}
}

func contradict(a, b *Formula) bool {
	if a.Op == Not {
		a, b = b, a
	}
	return a.Op == Atom && b.Op == Not && b.Args[0].Atom == a.Atom
}

func (x *expansion) add(literals []*Formula, next, postponed uint64) {
	tr := transition{guard: x.t.guard(All(literals...).normal(false)), next: x.t.state(next), postponed: postponed}
	if x.seen[tr] {
		return
	}
	x.seen[tr] = true
	switch {
	case len(x.found) == AutomatonMax:
		x.t.err = &LimitError{"transitions from a state of its automaton", AutomatonMax}
		return
	case x.t.found == TransitionsMax:
		x.t.err = &LimitError{"transitions in its automaton", TransitionsMax}
		return
	}
	x.t.found++
	x.found = append(x.found, tr)
}

// guard is f, or the equal guard that exists already.
func (t *tableau) guard(f *Formula) *Formula {
	text := f.String()
	if g := t.guards[text]; g != nil {
		return g
	}
	t.guards[text] = f
	return f
}

// trivial reports whether the automaton accepts everything.
func (a *automaton) trivial() bool {
	return len(a.states) == 1 && len(a.states[0]) == 1 && a.states[0][0].guard.Op == True && a.states[0][0].postponed == 0
}

// groups numbers the components of the automaton, by state. It is -1 for
// components in which no accepted run stays: they have no step, or all of their
// steps postpone the same promise.
func (a *automaton) groups() []int {
	n := len(a.states)
	reach := make([]int, n)
	order, low := make([]int, n), make([]int, n)
	var stack []int
	seen, groups := 0, 0
	var visit func(v int)
	visit = func(v int) {
		seen++
		order[v], low[v] = seen, seen
		stack = append(stack, v)
		for _, tr := range a.states[v] {
			if w := tr.next; order[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if reach[w] == 0 {
				low[v] = min(low[v], order[w])
			}
		}
		if low[v] != order[v] {
			return
		}
		groups++
		for w := -1; w != v; {
			w = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			reach[w] = groups
		}
	}
	visit(0)
	steps, postponed := make([]bool, groups+1), make([]uint64, groups+1)
	for g := range postponed {
		postponed[g] = 1<<a.eventually - 1
	}
	for v, trs := range a.states {
		for _, tr := range trs {
			if g := reach[v]; g > 0 && reach[tr.next] == g {
				steps[g] = true
				postponed[g] &= tr.postponed
			}
		}
	}
	for v, g := range reach {
		if reach[v] = g - 1; !steps[g] || postponed[g] != 0 {
			reach[v] = -1
		}
	}
	return reach
}
