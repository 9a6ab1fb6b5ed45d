// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// Small systems that crash, drawn at random, each as text and as a function from
// states to states. The function is written from docs/lang/crash.md and shares
// nothing with the translation or the direct execution.

const crashers = 2 // processes, 1 and 2

// unset is what a parameter of a procedure is before any call.
const unset = -1

// crasher is where a process stands and what it has.
type crasher struct {
	pc         int // a label, or one of the two below
	x, y, n    int
	k, u       int // of the procedure
	called     bool
	back       int // where the call returns to, and what k and u were
	oldK, oldU int
}

const (
	atDone      = -1
	atProcedure = -2
)

type crashState struct {
	of      [crashers]crasher
	h       int
	crashes int
}

// drawnStep is an effect that a step may have: as text, and as a function that goes
// on with every state that it leads to.
type drawnStep struct {
	text string
	run  func(s crashState, self int, next func(crashState))
}

// crashSystem is a drawn system.
type crashSystem struct {
	t *rapid.T
	// labels are the names of the steps, and steps what each does; the last is a
	// jump or a call.
	labels []string
	steps  [][]drawnStep
	// durable says which of x and y are; xs is "=" or "in" for x, ys one of three
	// ways in which y starts.
	durableX, durableY bool
	chooseX            bool
	startY             int
	assignsN           bool
	crashPart          int
	most               int
}

func (c *crashSystem) pick(n int) int { return rapid.IntRange(0, n-1).Draw(c.t, "pick") }

func (c *crashSystem) value(depth int) (string, func(crashState, int) int) {
	if depth > 0 && c.pick(2) == 0 {
		a, fa := c.value(depth - 1)
		b, fb := c.value(depth - 1)
		return "((" + a + " + " + b + ") % 2)", func(s crashState, i int) int { return (fa(s, i) + fb(s, i)) % 2 }
	}
	switch c.pick(5) {
	case 0:
		return "x", func(s crashState, i int) int { return s.of[i].x }
	case 1:
		return "y", func(s crashState, i int) int { return s.of[i].y }
	case 2:
		return "n", func(s crashState, i int) int { return s.of[i].n }
	case 3:
		return "r", func(s crashState, _ int) int { return s.h }
	}
	return "1", func(crashState, int) int { return 1 }
}

// set is an assignment.
func (c *crashSystem) set() drawnStep {
	v, f := c.value(1)
	name := []string{"x", "y", "r", "n"}[c.pick(4)]
	c.assignsN = c.assignsN || name == "n"
	return drawnStep{name + " := " + v + ";", func(s crashState, i int, next func(crashState)) {
		v := f(s, i)
		switch name {
		case "x":
			s.of[i].x = v
		case "y":
			s.of[i].y = v
		case "n":
			s.of[i].n = v
		default:
			s.h = v
		}
		next(s)
	}}
}

func (c *crashSystem) effect() drawnStep {
	switch c.pick(4) {
	case 0:
		a, fa := c.value(1)
		b, fb := c.value(0)
		return drawnStep{"await " + a + " = " + b + ";", func(s crashState, i int, next func(crashState)) {
			if fa(s, i) == fb(s, i) {
				next(s)
			}
		}}
	case 1:
		a, b := c.set(), c.set()
		return drawnStep{"either { " + a.text + " } or { " + b.text + " };", func(s crashState, i int, next func(crashState)) {
			a.run(s, i, next)
			b.run(s, i, next)
		}}
	}
	return c.set()
}

// end is how a step ends: it falls into the next, jumps, or calls the procedure.
func (c *crashSystem) end(at int) drawnStep {
	next := at + 1
	if next == len(c.labels) {
		next = atDone
	}
	goOn := func(s crashState, i int, then func(crashState)) {
		s.of[i].pc = next
		then(s)
	}
	switch c.pick(3) {
	case 0:
		to := c.pick(len(c.labels))
		return drawnStep{"goto " + c.labels[to] + ";", func(s crashState, i int, then func(crashState)) {
			s.of[i].pc = to
			then(s)
		}}
	case 1:
		v, f := c.value(1)
		return drawnStep{"call S(ref r, " + v + ");", func(s crashState, i int, then func(crashState)) {
			p := &s.of[i]
			p.called, p.back, p.oldK, p.oldU = true, next, p.k, p.u
			p.k, p.pc = f(s, i), atProcedure
			for p.u = range 2 {
				then(s)
			}
		}}
	}
	return drawnStep{"", goOn}
}

func drawCrashSystem(t *rapid.T) *crashSystem {
	c := &crashSystem{t: t, labels: []string{"a", "b", "c"}[:1+rapid.IntRange(0, 2).Draw(t, "labels")]}
	flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
	c.durableX, c.durableY, c.chooseX = flag("x lasts"), flag("y lasts"), flag("x is chosen")
	c.startY, c.crashPart, c.most = c.pick(3), c.pick(3), 1+c.pick(2)
	if flag("recover") || !c.durableX && !c.durableY {
		c.labels[c.pick(len(c.labels))] = "recover"
	}
	if c.durableY && !c.durableX {
		c.startY = 2 // y may not start from what is lost
	}
	for i := range c.labels {
		var list []drawnStep
		for range 1 + c.pick(2) {
			list = append(list, c.effect())
		}
		c.steps = append(c.steps, append(list, c.end(i)))
	}
	return c
}

func (c *crashSystem) text() string {
	x, y := "x = 0", []string{"y = x", `y \in {x, 1}`, "y = 1"}[c.startY]
	if c.chooseX {
		x = `x \in {0, 1}`
	}
	var durable, other []string
	for _, v := range []struct {
		text string
		is   bool
	}{{x, c.durableX}, {y, c.durableY}} {
		if v.is {
			durable = append(durable, v.text)
		} else {
			other = append(other, v.text)
		}
	}
	var b strings.Builder
	b.WriteString("---- MODULE T ----\nEXTENDS Integers, Sequences, TLC\n(*\n--mpcal R {\n")
	b.WriteString(`  procedure S(ref r, k) variables u \in {0, 1}; { s: r := (k + u) % 2; return; }` + "\n")
	b.WriteString("  mapping macro M { read { yield $variable; } write { yield $value; } " + crashParts[c.crashPart].text + " }\n")
	b.WriteString("  archetype B(ref r, n)")
	if len(durable) > 0 {
		b.WriteString(" durable variables " + strings.Join(durable, ", ") + ";")
	}
	if len(other) > 0 {
		b.WriteString(" variables " + strings.Join(other, ", ") + ";")
	}
	b.WriteString(" {\n")
	for i, steps := range c.steps {
		b.WriteString("    " + c.labels[i] + ":")
		for _, s := range steps {
			b.WriteString(" " + s.text)
		}
		b.WriteString("\n")
	}
	b.WriteString("  }\n  variables h = 0;\n")
	b.WriteString(`  process (P \in 1..2) == instance B(ref h, P % 2) mapping h via M;` + "\n}\n*)\n====\n")
	return b.String()
}

var crashParts = []struct {
	text string
	run  func(h int) []int
}{
	{"", func(h int) []int { return []int{h} }},
	{"crash { $variable := 1 - $variable; }", func(h int) []int { return []int{1 - h} }},
	{"crash { either { $variable := 0; } or { if (self = 1) { $variable := 1; }; }; }", nil},
}

// firsts lists the values that x and y may start with; last is what they were,
// for those that are durable, when again is set.
func (c *crashSystem) firsts(last crasher, again bool) [][2]int {
	xs := []int{0}
	if c.chooseX {
		xs = []int{0, 1}
	}
	if again && c.durableX {
		xs = []int{last.x}
	}
	var out [][2]int
	for _, x := range xs {
		ys := []int{1}
		switch {
		case again && c.durableY:
			ys = []int{last.y}
		case c.startY == 0:
			ys = []int{x}
		case c.startY == 1 && x == 0:
			ys = []int{0, 1}
		}
		for _, y := range ys {
			out = append(out, [2]int{x, y})
		}
	}
	return out
}

// initial lists the initial states.
func (c *crashSystem) initial() []crashState {
	out := []crashState{{}}
	for i := range crashers {
		var more []crashState
		for _, s := range out {
			for _, xy := range c.firsts(crasher{}, false) {
				for u := range 2 {
					s.of[i] = crasher{x: xy[0], y: xy[1], n: (i + 1) % 2, k: unset, u: u}
					more = append(more, s)
				}
			}
		}
		out = more
	}
	if !c.calls() {
		// A procedure that nothing calls has no variables.
		seen := map[crashState]bool{}
		var few []crashState
		for _, s := range out {
			for i := range crashers {
				s.of[i].u = 0
			}
			if !seen[s] {
				seen[s] = true
				few = append(few, s)
			}
		}
		return few
	}
	return out
}

func (c *crashSystem) calls() bool {
	for _, steps := range c.steps {
		if strings.HasPrefix(steps[len(steps)-1].text, "call") {
			return true
		}
	}
	return false
}

// crash is the crash of a process.
func (c *crashSystem) crash(s crashState, i int, next func(crashState)) {
	hs := []int{s.h}
	switch c.crashPart {
	case 1:
		hs = crashParts[1].run(s.h)
	case 2:
		hs = []int{0, s.h}
		if i == 0 {
			hs = []int{0, 1}
		}
	}
	at := 0
	for l, name := range c.labels {
		if name == "recover" {
			at = l
		}
	}
	us := []int{0, 1}
	if !c.calls() {
		us = []int{0}
	}
	last := s.of[i]
	s.crashes++
	for _, s.h = range hs {
		for _, u := range us {
			for _, xy := range c.firsts(last, true) {
				s.of[i] = crasher{pc: at, x: xy[0], y: xy[1], n: (i + 1) % 2, k: unset, u: u}
				next(s)
			}
		}
	}
}

// successors calls next for every one.
func (c *crashSystem) successors(s crashState, next func(crashState)) {
	done := true
	for i := range crashers {
		p := s.of[i]
		done = done && p.pc == atDone
		switch p.pc {
		case atDone:
			continue
		case atProcedure:
			t := s
			t.h = (p.k + p.u) % 2
			t.of[i].pc, t.of[i].k, t.of[i].u = p.back, p.oldK, p.oldU
			t.of[i].called, t.of[i].back, t.of[i].oldK, t.of[i].oldU = false, 0, 0, 0
			next(t)
		default:
			run := next
			for k := len(c.steps[p.pc]) - 1; k >= 0; k-- {
				step, after := c.steps[p.pc][k], run
				run = func(s crashState) { step.run(s, i, after) }
			}
			run(s)
		}
		if s.crashes < c.most {
			c.crash(s, i, next)
		}
	}
	if done {
		next(s)
	}
}

// TestRandomCrashesByHand holds the checker against the function.
func TestRandomCrashesByHand(t *testing.T) {
	crashed := 0
	rapid.Check(t, func(r *rapid.T) {
		c := drawCrashSystem(r)
		seen := map[crashState]bool{}
		generated, depth := 0, 0
		level := c.initial()
		for _, s := range level {
			seen[s] = true
		}
		generated = len(level)
		for len(level) > 0 {
			depth++
			var next []crashState
			for _, s := range level {
				c.successors(s, func(t crashState) {
					generated++
					if !seen[t] {
						seen[t] = true
						next = append(next, t)
					}
				})
			}
			level = next
		}
		for s := range seen {
			if s.crashes > 0 {
				crashed++
				break
			}
		}
		text := c.text()
		cfg := fmt.Sprintf("SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\nCONSTANT CRASHES = %d\n", c.most)
		if strings.Contains(text, "call") {
			cfg += "CONSTANT defaultInitValue = defaultInitValue\n"
		}
		got := searchedCrashes(t, texts{"T.tla": text}, cfg)
		if want := fmt.Sprintf("%d generated, %d distinct, depth %d", generated, len(seen), depth); got != want {
			r.Fatalf("got %s, by hand it is %s:\n%s", got, want, text)
		}
	})
	if crashed == 0 {
		t.Error("nothing crashed")
	}
}

// searchedCrashes is what the checker makes of a module.
func searchedCrashes(t *testing.T, files texts, cfg string) string {
	r, err := check.Run(context.Background(), reducible(t, files, "T.tla", cfg, false), check.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != check.OK {
		t.Fatalf("%v %s %v", r.Verdict, r.Reason, r.Err)
	}
	return fmt.Sprintf("%d generated, %d distinct, depth %d", r.Generated, r.Distinct, r.Depth)
}
