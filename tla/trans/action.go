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
	*pcal.View
}

func unchanged(vars pcal.Assigned) lines {
	if len(vars) == 1 {
		return line("UNCHANGED " + vars[0].Name)
	}
	return wrapped(names(vars), ",", 24, 0).after("UNCHANGED << ").then(" >>")
}

// block is the body of the block's action.
func (c *action) block(b *pcal.Block) lines {
	var items []lines
	if c.m.pc {
		at := c.Cell(c.m.a.PC, nil)
		items = append(items, c.m.expr(&core.Op{Op: core.OpEq, Args: []core.Expr{at, &core.Str{Val: b.Label}}}))
	}
	body, set := c.stmts(b.Body, nil)
	items = append(items, body...)
	if rest := c.m.vars.Without(set); len(rest) > 0 {
		items = append(items, unchanged(rest))
	}
	return bullets(`/\`, items)
}

func (c *action) x(e core.Expr, set pcal.Assigned) lines { return c.m.expr(c.X(e, set)) }

// stmts translates a list that starts with set assigned; it returns the
// conjuncts and what is assigned at the end.
func (c *action) stmts(list []pcal.Stmt, set pcal.Assigned) ([]lines, pcal.Assigned) {
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

func (c *action) stmt(s pcal.Stmt, set pcal.Assigned) ([]lines, pcal.Assigned) {
	switch s := s.(type) {
	case *pcal.Skip:
		return []lines{line("TRUE")}, set
	case *pcal.Await:
		return []lines{c.x(s.Cond, set)}, set
	case *pcal.Assert:
		message := line(fmt.Sprintf("%q)", pcal.AssertMessage(s)))
		return []lines{stack(c.x(s.Cond, set).after("Assert(").then(","), message.after("       "))}, set
	case *pcal.Print:
		return []lines{c.x(s.X, set).after("PrintT(").then(")")}, set
	case *pcal.Assign:
		updates, after := c.Assign(s, set)
		return c.updates(updates), after
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
	case *pcal.Goto, *pcal.Call, *pcal.Return:
		updates, after := c.Jump(s, set)
		return c.updates(updates), after
	}
	invariant.Unreachable(s)
	return nil, nil
}

// paths translates branches and makes them assign the same variables.
func (c *action) paths(branches [][]pcal.Stmt, set pcal.Assigned) ([]lines, pcal.Assigned) {
	items := make([][]lines, len(branches))
	sets := make([]pcal.Assigned, len(branches))
	all := set
	for i, b := range branches {
		items[i], sets[i] = c.stmts(b, set)
		for _, v := range sets[i] {
			all = all.With(v)
		}
	}
	out := make([]lines, len(branches))
	for i := range branches {
		if rest := all.Without(sets[i]); len(rest) > 0 {
			items[i] = append(items[i], unchanged(rest))
		}
		out[i] = allBullets(`/\`, items[i])
	}
	return out, all
}

// updates writes "v' = value" or "v' \in set" for each.
func (c *action) updates(list []pcal.Update) []lines {
	out := make([]lines, len(list))
	for i, u := range list {
		op := core.OpEq
		if u.In {
			op = core.OpIn
		}
		next := &core.Op{Op: core.OpPrime, Args: []core.Expr{&core.VarRef{Var: u.Var}}}
		out[i] = c.m.expr(&core.Op{Op: op, Args: []core.Expr{next, u.Value}})
	}
	return out
}
