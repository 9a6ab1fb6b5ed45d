// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// The tests here draw next-state relations as trees of Go values, enumerate their
// successors with a dumb loop over those trees, and compare how many states that
// generates with what a search says. The loop knows two ways to count: ours, in which
// every way through the disjunctions and quantifiers of an action is a state that was
// generated, and that of TLC, which takes what stands after the last assignment as one
// predicate. docs/decisions/search.md says where they differ.

const unset = -1

// drawnStep is where an enumeration is: the values of x and y, now and next, and those of
// the names that quantifiers bind.
type drawnStep struct {
	now, next [2]int
	bound     []int
}

func (s drawnStep) assigned() bool { return s.next[0] != unset && s.next[1] != unset }

// drawnAct is a part of an action.
type drawnAct interface {
	text() string
	// ways calls then for every way through the part.
	ways(s drawnStep, then func(drawnStep))
	// holds is the part as a predicate, where all variables have their next value.
	holds(s drawnStep) bool
}

type (
	atomAct struct {
		says string
		test func(drawnStep) bool
	}
	setAct struct { // v' = e or v' \in {...}
		v    int
		in   bool
		from []func(drawnStep) int
		says []string
	}
	andAct   []drawnAct
	orAct    []drawnAct
	existAct struct {
		name string
		set  []int
		body drawnAct
	}
	ifAct struct {
		cond       atomAct
		then, othe drawnAct
	}
)

var drawnVars = [2]string{"x", "y"}

func (a atomAct) text() string { return a.says }
func (a atomAct) ways(s drawnStep, then func(drawnStep)) {
	if a.test(s) {
		then(s)
	}
}
func (a atomAct) holds(s drawnStep) bool { return a.test(s) }

func (a setAct) text() string {
	if a.in {
		return fmt.Sprintf("%s' \\in {%s}", drawnVars[a.v], strings.Join(a.says, ", "))
	}
	return drawnVars[a.v] + "' = " + a.says[0]
}

func (a setAct) ways(s drawnStep, then func(drawnStep)) {
	if s.next[a.v] != unset {
		if a.holds(s) {
			then(s)
		}
		return
	}
	seen := map[int]bool{}
	for _, e := range a.from {
		if n := e(s); !seen[n] { // of a set
			seen[n] = true
			after := s
			after.next[a.v] = n
			then(after)
		}
	}
}

func (a setAct) holds(s drawnStep) bool {
	for _, e := range a.from {
		if e(s) == s.next[a.v] {
			return true
		}
	}
	return false
}

func joined(list []drawnAct, op string) string {
	var out []string
	for _, a := range list {
		out = append(out, "("+a.text()+")")
	}
	return strings.Join(out, op)
}

func (a andAct) text() string { return joined(a, ` /\ `) }
func (a andAct) ways(s drawnStep, then func(drawnStep)) {
	if len(a) == 0 {
		then(s)
		return
	}
	a[0].ways(s, func(s drawnStep) { a[1:].ways(s, then) })
}
func (a andAct) holds(s drawnStep) bool {
	for _, x := range a {
		if !x.holds(s) {
			return false
		}
	}
	return true
}

func (a orAct) text() string { return joined(a, ` \/ `) }
func (a orAct) ways(s drawnStep, then func(drawnStep)) {
	for _, x := range a {
		x.ways(s, then)
	}
}
func (a orAct) holds(s drawnStep) bool {
	for _, x := range a {
		if x.holds(s) {
			return true
		}
	}
	return false
}

func (a existAct) text() string {
	return fmt.Sprintf(`\E %s \in {%s} : %s`, a.name, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(a.set)), ", "), "[]"), a.body.text())
}
func (a existAct) each(s drawnStep, visit func(drawnStep)) {
	for _, n := range a.set {
		inner := s
		inner.bound = append(s.bound[:len(s.bound):len(s.bound)], n)
		visit(inner)
	}
}
func (a existAct) ways(s drawnStep, then func(drawnStep)) {
	a.each(s, func(in drawnStep) {
		a.body.ways(in, func(out drawnStep) {
			out.bound = s.bound
			then(out)
		})
	})
}
func (a existAct) holds(s drawnStep) (ok bool) {
	a.each(s, func(in drawnStep) { ok = ok || a.body.holds(in) })
	return ok
}

func (a ifAct) text() string {
	return fmt.Sprintf("IF %s THEN %s ELSE %s", a.cond.says, a.then.text(), a.othe.text())
}
func (a ifAct) branch(s drawnStep) drawnAct {
	if a.cond.test(s) {
		return a.then
	}
	return a.othe
}
func (a ifAct) ways(s drawnStep, then func(drawnStep)) { a.branch(s).ways(s, then) }
func (a ifAct) holds(s drawnStep) bool                 { return a.branch(s).holds(s) }

// todo is a part that is still to be gone through, with what is bound there.
type todo struct {
	part  drawnAct
	bound []int
}

// pending are ways as TLC goes them: what is left is one predicate as soon as all
// variables have values.
func pending(list []todo, s drawnStep, found func()) {
	if len(list) == 0 {
		found()
		return
	}
	if s.assigned() {
		for _, t := range list {
			s.bound = t.bound
			if !t.part.holds(s) {
				return
			}
		}
		found()
		return
	}
	rest := list[1:]
	s.bound = list[0].bound
	before := func(bound []int, parts ...drawnAct) {
		var all []todo
		for _, x := range parts {
			all = append(all, todo{x, bound})
		}
		pending(append(all, rest...), s, found)
	}
	switch a := list[0].part.(type) {
	case andAct:
		before(s.bound, a...)
	case orAct:
		for _, x := range a {
			before(s.bound, x)
		}
	case ifAct:
		before(s.bound, a.branch(s))
	case existAct:
		a.each(s, func(in drawnStep) { before(in.bound, a.body) })
	default:
		a.ways(s, func(s drawnStep) { pending(rest, s, found) })
	}
}

type actDrawer struct {
	*rand.Rand
	scope []string
	late  bool // something branches where all variables have values
}

// number draws an expression from 0 to 2.
func (d *actDrawer) number() (string, func(drawnStep) int) {
	switch k := d.IntN(4 + len(d.scope)); {
	case k < 2:
		n := d.IntN(3)
		return fmt.Sprint(n), func(drawnStep) int { return n }
	case k < 4:
		return fmt.Sprintf("(%s + 1) %% 3", drawnVars[k-2]), func(s drawnStep) int { return (s.now[k-2] + 1) % 3 }
	default:
		i := k - 4
		return d.scope[i], func(s drawnStep) int { return s.bound[i] }
	}
}

// test draws a predicate, of next values only where they are there.
func (d *actDrawer) test(done [2]bool) atomAct {
	text, f := d.number()
	v := d.IntN(2)
	if done[v] && d.IntN(2) == 0 {
		return atomAct{drawnVars[v] + "' # " + text, func(s drawnStep) bool { return s.next[v] != f(s) }}
	}
	return atomAct{drawnVars[v] + " # " + text, func(s drawnStep) bool { return s.now[v] != f(s) }}
}

func (d *actDrawer) assign(v int) drawnAct {
	a := setAct{v: v, in: d.IntN(3) == 0}
	n := 1
	if a.in {
		n = 1 + d.IntN(3)
	}
	for range n {
		text, f := d.number()
		a.says, a.from = append(a.says, text), append(a.from, f)
	}
	return a
}

// act draws a part that gives next values to the variables of want that are not done.
func (d *actDrawer) act(done, want [2]bool, depth int) drawnAct {
	left := done != want
	if depth == 0 || d.IntN(6) == 0 {
		var list andAct
		for v := range drawnVars {
			if want[v] && !done[v] {
				list = append(list, d.assign(v))
			}
		}
		if len(list) == 0 {
			return d.test(done)
		}
		return list
	}
	branches := func() {
		if done == [2]bool{true, true} {
			d.late = true
		}
	}
	switch d.IntN(4) {
	case 0:
		branches()
		return orAct{d.act(done, want, depth-1), d.act(done, want, depth-1)}
	case 1:
		branches()
		name := fmt.Sprintf("i%d", len(d.scope))
		set := [][]int{{0}, {0, 1}, {1, 2}, {0, 1, 2}, {}}[d.IntN(5)]
		d.scope = append(d.scope, name)
		body := d.act(done, want, depth-1)
		d.scope = d.scope[:len(d.scope)-1]
		return existAct{name, set, body}
	case 2:
		return ifAct{d.test(done), d.act(done, want, depth-1), d.act(done, want, depth-1)}
	}
	middle := done
	if left {
		v := d.IntN(2)
		middle[v] = middle[v] || want[v]
	}
	return andAct{d.act(done, middle, depth-1), d.act(middle, want, depth-1)}
}

// explore counts by the dumb loop, in both ways.
func explore(next drawnAct) (ours, tlc, distinct int) {
	ours, tlc = 1, 1
	seen := map[[2]int]bool{{0, 0}: true}
	queue := [][2]int{{0, 0}}
	for len(queue) > 0 {
		s := drawnStep{now: queue[0], next: [2]int{unset, unset}}
		queue = queue[1:]
		next.ways(s, func(s drawnStep) {
			ours++
			if !seen[s.next] {
				seen[s.next] = true
				queue = append(queue, s.next)
			}
		})
		pending([]todo{{part: next}}, s, func() { tlc++ })
	}
	return ours, tlc, len(seen)
}

// TestGenerated compares drawn relations: the states generated are those of the loop, in
// the reference evaluator and in compiled code, and those of TLC's way where nothing
// branches once all variables have values.
func TestGenerated(t *testing.T) {
	runs := 1500
	if testing.Short() {
		runs = 150
	}
	differ := 0
	for seed := range uint64(runs) {
		d := &actDrawer{Rand: rand.New(rand.NewPCG(seed, 3))}
		all := [2]bool{true, true}
		next := d.act([2]bool{}, all, 4)
		ours, tlc, distinct := explore(next)
		if ours != tlc {
			differ++
			if !d.late {
				t.Errorf("seed %d: %s\n%d, and %d as TLC counts, though nothing branches late", seed, next.text(), ours, tlc)
			}
		}
		spec, cfg := loadText(t, counter("Init == x = 0 /\\ y = 0\nNext == "+next.text()), initNext)
		for _, reference := range []bool{false, true} {
			m := newModel(t, spec, cfg, Options{Reference: reference})
			r, err := check.Run(context.Background(), m, check.Options{SafetyOnly: true})
			if err != nil || r.Err != nil {
				t.Fatalf("seed %d: %s\n%v %v", seed, next.text(), err, r.Err)
			}
			if r.Generated != int64(ours) || r.Distinct != int64(distinct) {
				t.Errorf("seed %d, reference %v: %s\n%d generated, %d distinct; want %d, %d", seed, reference, next.text(), r.Generated, r.Distinct, ours, distinct)
			}
		}
	}
	if differ == 0 || differ == runs {
		t.Errorf("the two ways differ in %d of %d: the test does not tell them apart", differ, runs)
	}
}
