// SPDX-License-Identifier: Apache-2.0

// Package reduce decides which steps of an algorithm a search may take alone, and leave
// out those of the other processes: partial-order reduction.
//
// In: an algorithm, the program that it belongs to, and the invariants that are to be
// checked. Out: a Plan with the blocks whose steps are taken alone, or with the reason
// why there are none. Promised: every deadlock, failed assertion, expression without
// value and violated invariant is found by the reduced search too, for any number of
// workers. Refused: properties of steps and of behaviours, views, symmetries and
// constraints; these the model excludes (Refuse).
//

// A step at a label that reads and writes nothing but its process's own
// variables commutes with every step of every other process. Where a process
// is at such a label and can take the step, the search takes the steps of
// that process only, and leaves those of the others for later: what they lead
// to is reached afterwards all the same. That keeps every deadlock, every
// failed assertion and expression without value, and every violation of an
// invariant that does not see the step. The conditions are decided before the
// search, from the text:
//
//	own       variables that are mentioned by their process's blocks only
//	local     labels whose steps mention, besides bound names and constants,
//	          nothing but own variables, and end in a jump
//	unseen    local labels whose steps assign no variable that an invariant
//	          mentions, and of which neither their own name nor that of a label
//	          they jump to is compared with pc in one
//	safe      unseen labels without those at which a cycle of safe labels would
//	          close: no state is passed over forever
//
// The last one takes the place of looking at the states that were visited
// before, so that the reduced search too is the same for any number of
// workers. Where something of the model could observe the difference in another
// way, nothing is reduced.
package reduce

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/model/direct"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// Report describes which part of an algorithm was reduced.
type Report struct {
	// Labels are the names of the labels whose steps are taken alone.
	Labels []string
	// States is the number of states in which only one process took its steps,
	// over all workers so far.
	States int64
	// Refused is the reason why nothing is reduced, or "".
	Refused string
}

// Plan has the blocks of a model whose steps are taken alone.
type Plan struct {
	labels  map[*pcal.Block]bool
	names   []string
	refused string
	states  atomic.Int64
}

// Decide chooses the blocks whose steps are taken alone. The reduced search must find
// every violation of the given invariants.
func Decide(p *program.Program, d *direct.Algorithm, invariants []Invariant) *Plan {
	r := &Plan{labels: map[*pcal.Block]bool{}}
	a := &reducer{p: p, d: d}
	if r.refused = a.see(invariants); r.refused != "" {
		return r
	}
	a.findOwn()
	for _, p := range a.d.Alg.Processes {
		if p.Crash != nil {
			continue // its crash and its step do not commute
		}
		for _, block := range a.safe(p) {
			r.labels[block] = true
			r.names = append(r.names, block.Label)
		}
	}
	if len(r.names) == 0 {
		r.refused = "no label is safe: every step mentions a variable that is shared, or that an invariant sees, or closes a cycle of such steps"
	}
	return r
}

// Refuse returns a Plan that reduces nothing, with the reason.
func Refuse(why string) *Plan { return &Plan{refused: why} }

// Report returns what the Plan has achieved so far.
func (r *Plan) Report() Report {
	return Report{Labels: slices.Clone(r.names), States: r.states.Load(), Refused: r.refused}
}

// Alone returns the blocks whose steps are taken alone.
func (r *Plan) Alone() map[*pcal.Block]bool { return r.labels }

// Take counts a state in which only one process took its steps.
func (r *Plan) Take() { r.states.Add(1) }

// Invariant is a formula with its name.
type Invariant struct {
	Name string
	Expr core.Expr
}

// reducer chooses the steps of an algorithm that may be taken alone.
type reducer struct {
	p *program.Program
	d *direct.Algorithm
	// seen has the variables, other than pc, that invariants mention. labels
	// has the strings with which invariants compare pc.
	seen   uint64
	labels map[string]bool
	// own maps a variable that only one process mentions to that process.
	own map[*core.Variable]*pcal.Process
}

// see collects what invariants observe. If that cannot be determined, it
// returns the reason.
func (a *reducer) see(invariants []Invariant) string {
	a.labels = map[string]bool{}
	pc := program.VarBit(a.d.Alg.PC.Index)
	for _, f := range invariants {
		facts := a.p.Facts(f.Expr)
		a.seen |= facts.Vars &^ pc
		if facts.Vars&pc == 0 {
			continue
		}
		if a.d.Alg.PC.Index >= program.VarBits || !a.seePC(f.Expr, map[*core.Def]bool{}) {
			return "the invariant " + f.Name + " uses pc in another way than to compare that of a process with labels"
		}
	}
	return ""
}

// seePC collects the labels with which e compares pc, and reports whether it
// uses pc in no other way.
func (a *reducer) seePC(e core.Expr, open map[*core.Def]bool) bool {
	whole := true
	core.Walk(e, func(x core.Expr) bool {
		switch x := x.(type) {
		case *core.VarRef:
			whole = whole && x.Var != a.d.Alg.PC
		case *core.Op:
			if a.comparison(x, open) {
				return false
			}
		case *core.Call:
			whole = whole && a.seeDef(x.Def, open)
		case *core.OpRef:
			whole = whole && a.seeDef(x.Def, open)
		case *core.ConstRef:
			if r, ok := a.p.Constants[x.Const]; ok && r.Def != nil {
				whole = whole && a.seeDef(r.Def, open)
			}
		}
		return whole
	})
	return whole
}

func (a *reducer) seeDef(d *core.Def, open map[*core.Def]bool) bool {
	d, _ = a.p.Resolve(d)
	if d == nil || open[d] || d.Body == nil || a.p.IsNative(d) {
		return true
	}
	open[d] = true
	return a.seePC(d.Body, open)
}

// comparison reports whether x compares pc[p] with labels, and collects them.
func (a *reducer) comparison(x *core.Op, open map[*core.Def]bool) bool {
	if len(x.Args) != 2 {
		return false
	}
	left, right := x.Args[0], x.Args[1]
	var texts []core.Expr
	switch x.Op {
	case core.OpEq, core.OpNe:
		if _, ok := left.(*core.Str); ok {
			left, right = right, left
		}
		texts = []core.Expr{right}
	case core.OpIn, core.OpNotIn:
		set, ok := right.(*core.SetEnum)
		if !ok {
			return false
		}
		texts = set.Elems
	default:
		return false
	}
	of, ok := left.(*core.Apply)
	if !ok {
		return false
	}
	pc, ok := of.Fn.(*core.VarRef)
	if !ok || pc.Var != a.d.Alg.PC || !a.seePC(of.Arg, open) {
		return false
	}
	var found []string
	for _, t := range texts {
		s, ok := t.(*core.Str)
		if !ok {
			return false
		}
		found = append(found, s.Val)
	}
	for _, s := range found {
		a.labels[s] = true
	}
	return true
}

// findOwn finds the variables that only their process's blocks mention.
func (a *reducer) findOwn() {
	a.own = map[*core.Variable]*pcal.Process{}
	for _, p := range a.d.Alg.Processes {
		for _, v := range p.Locals {
			a.own[v.Var] = p
		}
	}
	// A definition belongs to no process, so the variables that it mentions are
	// shared.
	drop := func(p *pcal.Process) func(core.Expr) bool {
		return func(e core.Expr) bool {
			switch x := e.(type) {
			case *core.VarRef:
				if a.own[x.Var] != p {
					delete(a.own, x.Var)
				}
			case *core.Call:
				a.share(x.Def)
			case *core.OpRef:
				a.share(x.Def)
			case *core.ConstRef:
				if d := a.given(x.Const); d != nil {
					a.share(d)
				}
			}
			return true
		}
	}
	assigned := func(p *pcal.Process) func(pcal.Stmt) {
		return func(s pcal.Stmt) {
			if s, ok := s.(*pcal.Assign); ok {
				for _, pair := range s.Pairs {
					if a.own[pair.Target] != p {
						delete(a.own, pair.Target)
					}
				}
			}
		}
	}
	for _, p := range a.d.Alg.Processes {
		for _, b := range p.Blocks {
			pcal.InspectStmts(b.Body, assigned(p), drop(p))
		}
		if p.Crash != nil {
			pcal.InspectStmts(p.Crash.Body, assigned(p), drop(p))
		}
	}
	for _, p := range a.d.Alg.Procedures {
		for _, b := range p.Blocks {
			pcal.InspectStmts(b.Body, assigned(nil), drop(nil))
		}
	}
}

// given returns the definition with which the configuration replaces a
// constant, or nil. That definition may mention variables.
func (a *reducer) given(c *core.Constant) *core.Def { return a.p.Constants[c].Def }

// share marks the variables that a definition mentions as shared.
func (a *reducer) share(d *core.Def) {
	d, _ = a.p.Resolve(d)
	if d == nil || d.Body == nil || a.p.IsNative(d) {
		return
	}
	vars := a.p.DefFacts(d).Vars
	for v := range a.own {
		if vars&program.VarBit(v.Index) != 0 {
			delete(a.own, v)
		}
	}
}

// safe lists the blocks of a process that may be taken alone.
func (a *reducer) safe(p *pcal.Process) []*pcal.Block {
	unseen := map[string]*pcal.Block{}
	for _, b := range p.Blocks {
		if a.unseen(p, b) {
			unseen[b.Label] = b
		}
	}
	// A cycle closes at a label if a walk along unseen labels returns from it
	// to a label that is still on the walk.
	const on, done = 1, 2
	state := map[*pcal.Block]int{}
	closes := map[*pcal.Block]bool{}
	var walk func(b *pcal.Block)
	walk = func(b *pcal.Block) {
		state[b] = on
		for _, to := range jumps(b) {
			next := unseen[to]
			switch {
			case next == nil:
			case state[next] == on:
				closes[b] = true
			case state[next] == 0:
				walk(next)
			}
		}
		state[b] = done
	}
	var out []*pcal.Block
	for _, b := range p.Blocks {
		if unseen[b.Label] != nil && state[b] == 0 {
			walk(b)
		}
	}
	for _, b := range p.Blocks {
		if unseen[b.Label] != nil && !closes[b] {
			out = append(out, b)
		}
	}
	return out
}

// jumps returns the labels to which a block jumps.
func jumps(b *pcal.Block) []string {
	var out []string
	pcal.InspectStmts(b.Body, func(s pcal.Stmt) {
		if s, ok := s.(*pcal.Goto); ok {
			out = append(out, s.Label)
		}
	}, nil)
	return out
}

// unseen reports whether no other process and no invariant can observe the step
// of a block of p.
func (a *reducer) unseen(p *pcal.Process, b *pcal.Block) bool {
	ok := !a.labels[b.Label]
	stmt := func(s pcal.Stmt) {
		switch s := s.(type) {
		case *pcal.Skip, *pcal.Await, *pcal.Assert, *pcal.If, *pcal.Either, *pcal.With:
		case *pcal.Goto:
			ok = ok && !a.labels[s.Label]
		case *pcal.Assign:
			for _, pair := range s.Pairs {
				ok = ok && a.own[pair.Target] == p && a.seen&program.VarBit(pair.Target.Index) == 0
			}
		default:
			ok = false
		}
	}
	expr := func(e core.Expr) bool {
		switch x := e.(type) {
		case *core.VarRef:
			ok = ok && a.own[x.Var] == p
		case *core.Call:
			ok = ok && a.constant(x.Def)
		case *core.OpRef:
			ok = ok && a.constant(x.Def)
		case *core.ConstRef:
			d := a.given(x.Const)
			ok = ok && (d == nil || a.constant(d))
		}
		return ok
	}
	pcal.InspectStmts(b.Body, stmt, expr)
	return ok
}

// constant reports whether a definition mentions no variable, and has no effect.
func (a *reducer) constant(d *core.Def) bool {
	d, _ = a.p.Resolve(d)
	if d == nil {
		return true
	}
	f := a.p.DefFacts(d)
	return f.Vars == 0 && !f.Volatile
}

// String returns the report as a text for people.
func (r Report) String() string {
	if r.Refused != "" {
		return "not reduced: " + r.Refused
	}
	return fmt.Sprintf("in %d states only the steps of one process were taken, at %s", r.States, strings.Join(r.Labels, ", "))
}
