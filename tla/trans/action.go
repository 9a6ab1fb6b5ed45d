package trans

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/pcal"
)

// Steps as actions.
//
// A block becomes a conjunction. A variable that is read after it was assigned
// is read primed; where paths join, each of them says UNCHANGED of what only
// the others assign; at the end the step says it of all that is left.

// action translates the blocks of one process or procedure.
type action struct {
	m *module
	// own are the variables of the process or procedure that are functions of
	// self: all of them, where there are several processes.
	own map[*core.Variable]bool
	// procedure is set where the text is a procedure's.
	procedure *pcal.Procedure
	// selfName is the name that stands for self, and self what replaces it:
	// itself, or the identity of the only process.
	selfName *core.Local
	self     core.Expr
}

// assigned is the list of variables that were assigned, in order.
type assigned []*core.Variable

func (s assigned) has(v *core.Variable) bool {
	for _, w := range s {
		if w == v {
			return true
		}
	}
	return false
}

func (s assigned) with(v *core.Variable) assigned {
	if s.has(v) {
		return s
	}
	return append(append(assigned(nil), s...), v)
}

// without lists the variables of s that are not in t.
func (s assigned) without(t assigned) assigned {
	var out assigned
	for _, v := range s {
		if !t.has(v) {
			out = append(out, v)
		}
	}
	return out
}

func unchanged(vars assigned) lines {
	if len(vars) == 1 {
		return line("UNCHANGED " + vars[0].Name)
	}
	var names []string
	for _, v := range vars {
		names = append(names, v.Name)
	}
	return wrapped(names, ",", 24, 0).after("UNCHANGED << ").then(" >>")
}

// block is the body of the block's action.
func (c *action) block(b *pcal.Block) lines {
	var items []lines
	if c.m.pc {
		at := c.cell(c.m.a.PC, nil)
		items = append(items, c.m.expr(&core.Op{Op: core.OpEq, Args: []core.Expr{at, &core.Str{Val: b.Label}}}))
	}
	body, set := c.stmts(b.Body, nil)
	items = append(items, body...)
	if rest := c.m.vars.without(set); len(rest) > 0 {
		items = append(items, unchanged(rest))
	}
	return bullets(`/\`, items)
}

// indexed says whether v is a function of self here.
func (c *action) indexed(v *core.Variable) bool {
	return c.own[v] || (!c.m.uni && (v == c.m.a.PC || v == c.m.a.Stack))
}

// cell is v, or the part of it that belongs to self, after set.
func (c *action) cell(v *core.Variable, set assigned) core.Expr {
	var e core.Expr = &core.VarRef{Var: v}
	if set.has(v) {
		e = &core.Op{Op: core.OpPrime, Args: []core.Expr{e}}
	}
	if c.indexed(v) {
		e = &core.Apply{Fn: e, Arg: c.self}
	}
	return e
}

// rewrite turns an expression of the algorithm into one of the module.
func (c *action) rewrite(e core.Expr, set assigned) core.Expr {
	return core.Rewrite(e, func(x core.Expr) core.Expr {
		switch x := x.(type) {
		case *core.VarRef:
			if c.own[x.Var] {
				return c.cell(x.Var, set)
			}
			if set.has(x.Var) {
				return &core.Op{Op: core.OpPrime, Args: []core.Expr{x}}
			}
		case *core.LocalRef:
			if x.Local == c.selfName {
				return c.self
			}
		}
		return nil
	})
}

func (c *action) x(e core.Expr, set assigned) lines { return c.m.expr(c.rewrite(e, set)) }

// stmts translates a list that starts with set assigned; it returns the
// conjuncts and what is assigned at the end.
func (c *action) stmts(list []pcal.Stmt, set assigned) ([]lines, assigned) {
	var items []lines
	for _, s := range list {
		var more []lines
		more, set = c.stmt(s, set)
		items = append(items, more...)
	}
	if len(items) == 0 {
		items = append(items, line("TRUE"))
	}
	return items, set
}

func (c *action) stmt(s pcal.Stmt, set assigned) ([]lines, assigned) {
	switch s := s.(type) {
	case *pcal.Skip:
		return []lines{line("TRUE")}, set
	case *pcal.Await:
		return []lines{c.x(s.Cond, set)}, set
	case *pcal.Assert:
		at := s.Span().From()
		message := line(fmt.Sprintf(`"Failure of assertion at line %d, column %d.")`, at.Line, at.Column))
		return []lines{stack(c.x(s.Cond, set).after("Assert(").then(","), message.after("       "))}, set
	case *pcal.Print:
		return []lines{c.x(s.X, set).after("PrintT(").then(")")}, set
	case *pcal.Assign:
		return c.assign(s.Pairs, set)
	case *pcal.If:
		bodies, after := c.paths([][]pcal.Stmt{s.Then, s.Else}, set)
		return []lines{stack(c.x(s.Cond, set).after("IF "), bodies[0].after("   THEN "), bodies[1].after("   ELSE "))}, after
	case *pcal.Either:
		bodies, after := c.paths(s.Branches, set)
		return []lines{allBullets(`\/`, bodies)}, after
	case *pcal.With:
		body, after := c.stmts(s.Body, set)
		head := c.x(s.X, set).after("LET " + s.Var.Name + " == ").then(" IN")
		if s.In {
			head = c.x(s.X, set).after(`\E ` + s.Var.Name + ` \in `).then(":")
		}
		return []lines{stack(head, bullets(`/\`, body).after("  "))}, after
	case *pcal.Goto:
		if !c.m.pc {
			return nil, set
		}
		return c.put(c.m.a.PC, &core.Str{Val: s.Label}, set)
	case *pcal.Call:
		return c.call(s, set)
	case *pcal.Return:
		return c.leave(set)
	}
	invariant.Unreachable(s)
	return nil, nil
}

// paths translates branches and makes them assign the same variables.
func (c *action) paths(branches [][]pcal.Stmt, set assigned) ([]lines, assigned) {
	items := make([][]lines, len(branches))
	sets := make([]assigned, len(branches))
	all := set
	for i, b := range branches {
		items[i], sets[i] = c.stmts(b, set)
		for _, v := range sets[i] {
			all = all.with(v)
		}
	}
	out := make([]lines, len(branches))
	for i := range branches {
		if rest := all.without(sets[i]); len(rest) > 0 {
			items[i] = append(items[i], unchanged(rest))
		}
		out[i] = allBullets(`/\`, items[i])
	}
	return out, all
}

// put is "v' = value", for the part of v that belongs to self.
func (c *action) put(v *core.Variable, value core.Expr, set assigned) ([]lines, assigned) {
	var path []core.Index
	if c.indexed(v) {
		path = []core.Index{{X: c.self}}
	}
	return []lines{c.update(v, []core.Update{{Path: path, Value: value}})}, set.with(v)
}

// update is "v' = value", or "v' = [v EXCEPT ...]" where the updates have paths.
func (c *action) update(v *core.Variable, updates []core.Update) lines {
	value := updates[0].Value
	if len(updates[0].Path) > 0 {
		value = &core.Except{Fn: &core.VarRef{Var: v}, Updates: updates}
	}
	next := &core.Op{Op: core.OpPrime, Args: []core.Expr{&core.VarRef{Var: v}}}
	return c.m.expr(&core.Op{Op: core.OpEq, Args: []core.Expr{next, value}})
}

// assign translates a simultaneous assignment: all values are those before it.
func (c *action) assign(pairs []pcal.Assignment, set assigned) ([]lines, assigned) {
	var order assigned
	updates := map[*core.Variable][]core.Update{}
	for _, p := range pairs {
		order = order.with(p.Target)
		u := core.Update{At: p.At, Value: c.rewrite(p.Value, set)}
		if c.indexed(p.Target) {
			u.Path = append(u.Path, core.Index{X: c.self})
		}
		for _, ix := range p.Path {
			if ix.X != nil {
				ix.X = c.rewrite(ix.X, set)
			}
			u.Path = append(u.Path, ix)
		}
		updates[p.Target] = append(updates[p.Target], u)
	}
	var items []lines
	for _, v := range order {
		items = append(items, c.update(v, updates[v]))
		set = set.with(v)
	}
	return items, set
}

// variables lists what a call of p saves: its parameters and variables.
func variables(p *pcal.Procedure) []*pcal.Variable {
	var out []*pcal.Variable
	for _, q := range p.Params {
		out = append(out, &q.Variable)
	}
	return append(out, p.Locals...)
}

// head is Head(stack[self]).f.
func (c *action) head(field string, set assigned) core.Expr {
	top := &core.Call{Def: c.m.head, Args: []core.Expr{c.cell(c.m.a.Stack, set)}}
	return &core.Select{X: top, Field: field}
}

// call saves the variables of the procedure on the stack and starts it with
// its arguments. A tail call puts the new record in the place of the caller's,
// whose variables get back what they were; one of the caller itself keeps it.
func (c *action) call(s *pcal.Call, set assigned) ([]lines, assigned) {
	args := make([]core.Expr, len(s.Args))
	for i, a := range s.Args {
		args[i] = c.rewrite(a.X, set)
	}
	d := *c
	d.own, d.selfName = c.m.own(variables(s.Proc)), s.Proc.Self
	tail := s.Return == ""
	var items, more []lines
	after := set
	if !tail || c.procedure != s.Proc {
		rest, back := c.cell(c.m.a.Stack, set), core.Expr(&core.Str{Val: s.Return})
		if tail {
			rest, back = &core.Call{Def: c.m.tail, Args: []core.Expr{rest}}, c.head("pc", set)
		}
		record := &core.Record{Fields: []core.Field{{Name: "procedure", X: &core.Str{Val: s.Proc.Name}}, {Name: "pc", X: back}}}
		for _, v := range variables(s.Proc) {
			record.Fields = append(record.Fields, core.Field{Name: v.Var.Name, X: d.cell(v.Var, set)})
		}
		pushed := &core.Call{Def: c.m.concat, Args: []core.Expr{&core.Tuple{Elems: []core.Expr{record}}, rest}}
		items, after = c.put(c.m.a.Stack, pushed, after)
		if tail {
			more, after = c.restore(set, after)
			items = append(items, more...)
		}
	}
	for i, q := range s.Proc.Params {
		more, after = d.put(q.Var, args[i], after)
		items = append(items, more...)
	}
	for _, l := range s.Proc.Locals {
		more, after = d.start(l, after)
		items = append(items, more...)
	}
	more, after = c.put(c.m.a.PC, &core.Str{Val: s.Proc.Blocks[0].Label}, after)
	return append(items, more...), after
}

// start gives a local of a procedure its initial value.
func (c *action) start(l *pcal.Variable, set assigned) ([]lines, assigned) {
	if !l.In {
		return c.put(l.Var, c.rewrite(c.m.initial(l), set), set)
	}
	v := &core.Local{Name: l.Var.Name + "_0"}
	items, after := c.put(l.Var, &core.LocalRef{Local: v}, set)
	head := c.x(l.Init, set).after(`\E ` + v.Name + ` \in `).then(":")
	return []lines{stack(head, items[0].after("  "))}, after
}

// restore gives the variables of the procedure the values that the top of the
// stack has for them; set is what was assigned when the stack was looked at.
func (c *action) restore(set, after assigned) ([]lines, assigned) {
	var items, more []lines
	for _, v := range variables(c.procedure) {
		more, after = c.put(v.Var, c.head(v.Var.Name, set), after)
		items = append(items, more...)
	}
	return items, after
}

// leave is a return.
func (c *action) leave(set assigned) ([]lines, assigned) {
	items, after := c.put(c.m.a.PC, c.head("pc", set), set)
	more, after := c.restore(set, after)
	items = append(items, more...)
	tail := &core.Call{Def: c.m.tail, Args: []core.Expr{c.cell(c.m.a.Stack, set)}}
	more, after = c.put(c.m.a.Stack, tail, after)
	return append(items, more...), after
}
