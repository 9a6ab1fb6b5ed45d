// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"fmt"
	"sort"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// Single assignment.
//
// A Modular algorithm may assign a variable several times in one step, PlusCal
// may not. So every assignment except the last on its path binds a new name for
// the value, which the rest of the step uses instead of the variable. At the
// end of a path, pending names are assigned to their variables.
//
//	x := 1; y := x; x := x + y        with (x0 = 1) { y := x0; x := x0 + y }
//
// After a choice of paths whose variables are assigned again later, the new
// names denote the values that the chosen path left: see merge.go.

// flatten returns the algorithm without Reads and Writes and with at most one
// assignment to each variable on a path.
func flatten(a *pcal.Algorithm, diags *source.List) *pcal.Algorithm {
	out := *a
	out.Procedures, out.Processes = nil, nil
	same := map[*pcal.Procedure]*pcal.Procedure{}
	for _, p := range a.Procedures {
		c := *p
		same[p] = &c
		out.Procedures = append(out.Procedures, &c)
	}
	for _, p := range out.Procedures {
		f := &flattener{diags: diags, procs: same, own: map[*core.Variable]bool{}, passing: varSet{}}
		for _, q := range p.Params {
			f.own[q.Var] = true
		}
		for _, l := range p.Locals {
			f.own[l.Var] = true
		}
		p.Blocks = f.blocks(p.Blocks)
	}
	for _, p := range a.Processes {
		c := *p
		f := &flattener{diags: diags, procs: same, passing: varSet{}}
		c.Blocks = f.blocks(p.Blocks)
		if p.Crash != nil {
			c.Crash = f.blocks([]*pcal.Block{p.Crash})[0]
		}
		out.Processes = append(out.Processes, &c)
	}
	return &out
}

type flattener struct {
	diags *source.List
	procs map[*pcal.Procedure]*pcal.Procedure
	own   map[*core.Variable]bool // of the procedure: a return restores them
	// passing are the variables that inline made to hand values on. They are
	// always names, never state variables.
	passing varSet
}

// versions are the variables whose current value is a name or an expression as
// simple as one.
type versions map[*core.Variable]core.Expr

func (v versions) with(x *core.Variable, value core.Expr) versions {
	out := make(versions, len(v)+1)
	for k, w := range v {
		out[k] = w
	}
	if value == nil {
		delete(out, x)
	} else {
		out[x] = value
	}
	return out
}

// bind makes value the current version of x. It binds the value to a new name
// in the With, unless the value is simple enough to use directly.
func (v versions) bind(x *core.Variable, value core.Expr, at pcal.At) (versions, []*pcal.With) {
	switch e := value.(type) {
	case *core.Int, *core.Str, *core.Bool:
		return v.with(x, value), nil
	case *core.LocalRef:
		if len(e.Args) == 0 {
			return v.with(x, value), nil
		}
	}
	l := &core.Local{Name: x.Name, Span: at.Place}
	return v.with(x, &core.LocalRef{At: core.At{Place: at.Place}, Local: l}), []*pcal.With{{At: at, Var: l, X: value}}
}

// within wraps inner in the bindings.
func within(withs []*pcal.With, inner []pcal.Stmt) []pcal.Stmt {
	for i := len(withs) - 1; i >= 0; i-- {
		withs[i].Body = inner
		inner = []pcal.Stmt{withs[i]}
	}
	return inner
}

// pending lists the variables in a fixed order.
func (v versions) pending() []*core.Variable {
	var out []*core.Variable
	for x := range v {
		out = append(out, x)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Name != out[j].Name {
			return out[i].Name < out[j].Name
		}
		return out[i].Span.Start < out[j].Span.Start
	})
	return out
}

type varSet map[*core.Variable]bool

func (f *flattener) blocks(list []*pcal.Block) []*pcal.Block {
	out := make([]*pcal.Block, len(list))
	for i, b := range list {
		c := *b
		c.Body = f.block(inline(b.Body, f.passing))
		out[i] = &c
	}
	return out
}

// block flattens a step. A goto at the end of the step stays at the end, even
// if statements before it are nested.
func (f *flattener) block(list []pcal.Stmt) []pcal.Stmt {
	last := len(list) - 1
	if _, ok := list[last].(*pcal.Goto); !ok || last == 0 {
		return f.seq(list, versions{}, nil)
	}
	return append(f.seq(list[:last], versions{}, f.assigned(list)), list[last])
}

// assigned returns the variables that some path through the list assigns.
func (f *flattener) assigned(list []pcal.Stmt) varSet {
	out := varSet{}
	pcal.InspectStmts(list, func(s pcal.Stmt) {
		switch s := s.(type) {
		case *pcal.Assign:
			for _, p := range s.Pairs {
				out[p.Target] = true
			}
		case *pcal.Return:
			for v := range f.own {
				out[v] = true
			}
		case *pcal.Call:
			if s.Return == "" {
				for v := range f.own {
					out[v] = true
				}
			}
			for _, q := range s.Proc.Params {
				out[q.Var] = true
			}
			for _, l := range s.Proc.Locals {
				out[l.Var] = true
			}
		}
	}, nil)
	return out
}

// read replaces variables in an expression by the names of their versions.
func (v versions) read(e core.Expr) core.Expr {
	if e == nil || len(v) == 0 {
		return e
	}
	return core.Rewrite(e, func(x core.Expr) core.Expr {
		if r, ok := x.(*core.VarRef); ok && v[r.Var] != nil {
			return v[r.Var]
		}
		return nil
	})
}

// withoutSkips drops the skips from a list that has other statements, and all
// but one skip from a list that has none.
func withoutSkips(list []pcal.Stmt) []pcal.Stmt {
	var out []pcal.Stmt
	for _, s := range list {
		if _, ok := s.(*pcal.Skip); !ok {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return list[:min(1, len(list))]
	}
	return out
}

// seq flattens a list. If the list does not end in a jump, seq assigns at its
// end those variables of need that are names there.
func (f *flattener) seq(list []pcal.Stmt, env versions, need varSet) []pcal.Stmt {
	var out []pcal.Stmt
	for i, s := range list {
		rest := list[i+1:]
		switch s := s.(type) {
		case *pcal.Assign:
			var nest func([]pcal.Stmt) []pcal.Stmt
			var direct []pcal.Stmt
			direct, env, nest = f.assign(s, env, f.assigned(rest))
			if nest != nil {
				return append(out, nest(append(direct, f.seq(rest, env, need)...))...)
			}
			out = append(out, direct...)
		case *pcal.If, *pcal.Either, *pcal.With:
			if f.again(s, rest) {
				return append(out, f.joined(s, rest, env, need)...)
			}
			var t pcal.Stmt
			t, env = f.apart(s, env)
			out = append(out, t)
		case *pcal.Await:
			out = append(out, &pcal.Await{At: s.At, Cond: env.read(s.Cond)})
		case *pcal.Assert:
			out = append(out, &pcal.Assert{At: s.At, Cond: env.read(s.Cond)})
		case *pcal.Print:
			out = append(out, &pcal.Print{At: s.At, X: env.read(s.X)})
		case *pcal.Goto:
			return withoutSkips(append(append(out, f.flush(env, nil, s.At)...), s))
		case *pcal.Restart:
			out = append(out, f.flush(env, nil, s.At)...)
			return withoutSkips(append(out, s))
		case *pcal.Return:
			return withoutSkips(append(append(out, f.flush(env, f.own, s.At)...), s))
		case *pcal.Call:
			return withoutSkips(append(out, f.call(s, env)...))
		default:
			out = append(out, s)
		}
	}
	var late versions
	for x := range need {
		if env[x] != nil && !f.passing[x] {
			late = late.with(x, env[x])
		}
	}
	if len(late) > 0 {
		out = append(out, f.flush(late, nil, pcal.At{})...)
	}
	if len(out) == 0 {
		out = append(out, &pcal.Skip{})
	}
	return withoutSkips(out)
}

// flush assigns the pending names, except those in skip.
func (f *flattener) flush(env versions, skip map[*core.Variable]bool, at pcal.At) []pcal.Stmt {
	a := &pcal.Assign{At: at}
	for _, x := range env.pending() {
		if !skip[x] && !f.passing[x] {
			a.Pairs = append(a.Pairs, pcal.Assignment{Target: x, Value: env[x], Span: at.Place})
		}
	}
	if len(a.Pairs) == 0 {
		return nil
	}
	return []pcal.Stmt{a}
}

// newValue returns the whole value of x after the pairs that assign it.
func newValue(x *core.Variable, pairs []pcal.Assignment, env versions, at core.At) core.Expr {
	old := env.read(&core.VarRef{At: at, Var: x})
	var updates []core.Update
	for _, p := range pairs {
		if len(p.Path) == 0 {
			return env.read(p.Value)
		}
		u := core.Update{At: p.At, Value: env.read(p.Value)}
		for _, ix := range p.Path {
			u.Path = append(u.Path, core.Index{X: env.read(ix.X), Field: ix.Field})
		}
		updates = append(updates, u)
	}
	return &core.Except{At: at, Fn: old, Updates: updates}
}

// assign splits an assignment into the pairs that are final and those that a
// later assignment follows. nest binds the values of the latter around the
// rest.
func (f *flattener) assign(s *pcal.Assign, env versions, later varSet) ([]pcal.Stmt, versions, func([]pcal.Stmt) []pcal.Stmt) {
	at := core.At{Place: s.Span()}
	var order []*core.Variable
	groups := map[*core.Variable][]pcal.Assignment{}
	for _, p := range s.Pairs {
		if groups[p.Target] == nil {
			order = append(order, p.Target)
		}
		groups[p.Target] = append(groups[p.Target], p)
	}
	direct := &pcal.Assign{At: s.At}
	var withs []*pcal.With
	next := env
	for _, x := range order {
		pairs := groups[x]
		switch {
		case later[x] || f.passing[x]:
			var more []*pcal.With
			next, more = next.bind(x, newValue(x, pairs, env, at), s.At)
			withs = append(withs, more...)
		case env[x] != nil:
			direct.Pairs = append(direct.Pairs, pcal.Assignment{Target: x, Value: newValue(x, pairs, env, at), Span: s.Span()})
			next = next.with(x, nil)
		default:
			for _, p := range pairs {
				p.Value = env.read(p.Value)
				path := make([]core.Index, len(p.Path))
				for i, ix := range p.Path {
					path[i] = core.Index{X: env.read(ix.X), Field: ix.Field}
				}
				p.Path = path
				direct.Pairs = append(direct.Pairs, p)
			}
		}
	}
	var out []pcal.Stmt
	if len(direct.Pairs) > 0 {
		out = append(out, direct)
	}
	if len(withs) == 0 {
		return out, next, nil
	}
	return out, next, func(inner []pcal.Stmt) []pcal.Stmt { return within(withs, inner) }
}

// again reports whether rest assigns a variable that s also assigns, or needs a
// value that s hands on.
func (f *flattener) again(s pcal.Stmt, rest []pcal.Stmt) bool {
	later := f.assigned(rest)
	if len(f.passing) > 0 {
		pcal.InspectStmts(rest, nil, func(e core.Expr) bool {
			if v, ok := e.(*core.VarRef); ok && f.passing[v.Var] {
				later[v.Var] = true
			}
			return true
		})
	}
	for x := range f.assigned([]pcal.Stmt{s}) {
		if later[x] {
			return true
		}
	}
	return false
}

// apart flattens a statement whose variables no later statement assigns.
func (f *flattener) apart(s pcal.Stmt, env versions) (pcal.Stmt, versions) {
	need, next := f.assigned([]pcal.Stmt{s}), env
	for x := range need {
		next = next.with(x, nil)
	}
	return f.branches(s, env, func(list []pcal.Stmt) []pcal.Stmt { return f.seq(list, env, need) }), next
}

// branches rebuilds a statement with new branches.
func (f *flattener) branches(s pcal.Stmt, env versions, each func([]pcal.Stmt) []pcal.Stmt) pcal.Stmt {
	switch s := s.(type) {
	case *pcal.If:
		return &pcal.If{At: s.At, Cond: env.read(s.Cond), Then: each(s.Then), Else: each(s.Else)}
	case *pcal.Either:
		out := &pcal.Either{At: s.At}
		for _, b := range s.Branches {
			out.Branches = append(out.Branches, each(b))
		}
		return out
	case *pcal.With:
		return &pcal.With{At: s.At, Var: s.Var, In: s.In, X: env.read(s.X), Body: each(s.Body)}
	}
	return s
}

// call ends a path. A variable that was assigned in the step must not also be a
// parameter of the procedure: the stack would have to store its value in the
// middle of the step.
func (f *flattener) call(s *pcal.Call, env versions) []pcal.Stmt {
	c := &pcal.Call{At: s.At, Proc: f.procs[s.Proc], Return: s.Return}
	touched := varSet{}
	for _, q := range s.Proc.Params {
		touched[q.Var] = true
	}
	for _, l := range s.Proc.Locals {
		touched[l.Var] = true
	}
	for _, x := range env.pending() {
		if touched[x] && !(s.Return == "" && f.own[x]) {
			f.diags.Add(source.Diagnostic{Code: CallAfterAssignment, Span: s.Span(),
				Message: fmt.Sprintf("the call of %s replaces %s, which this step has assigned already", s.Proc.Name, x.Name),
				Repair:  "put a label before the call"})
			return []pcal.Stmt{c}
		}
	}
	for _, a := range s.Args {
		a.X = env.read(a.X)
		c.Args = append(c.Args, a)
	}
	var skip map[*core.Variable]bool
	if s.Return == "" {
		skip = f.own
	}
	return append(f.flush(env, skip, s.At), c)
}
