// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// Steps as actions.
//
// A block becomes a conjunction. A variable that is read after it was assigned
// is read primed. Where paths join, each path has UNCHANGED for the variables
// that only the others assign. At the end, the step has UNCHANGED for all
// remaining variables.

// action translates the blocks of one process or procedure.
type action struct {
	m *module
	*pcal.View
}

// block returns the body of the block's action.
func (c *action) block(b *pcal.Block) clause {
	var items []clause
	if c.m.pc {
		at := c.Cell(c.m.a.PC, nil)
		items = append(items, is{&core.Op{Op: core.OpEq, Args: []core.Expr{at, &core.Str{Val: b.Label}}}})
	}
	return c.whole(b, items)
}

// whole returns the body of an action that starts with the given conjuncts.
func (c *action) whole(b *pcal.Block, items []clause) clause {
	body, set := c.stmts(b.Body, nil)
	items = append(items, body...)
	if rest := c.m.vars.Without(set); len(rest) > 0 {
		items = append(items, keeps{rest})
	}
	return allOf{list: items}
}

// stmts translates a list at whose start the variables in set are assigned. It
// returns the conjuncts and the variables assigned at the end.
func (c *action) stmts(list []pcal.Stmt, set pcal.Assigned) ([]clause, pcal.Assigned) {
	var items []clause
	for _, s := range list {
		var more []clause
		more, set = c.stmt(s, set)
		for _, x := range more {
			items = append(items, placed{x, s.Span()})
		}
	}
	if len(items) == 0 {
		items = append(items, is{&core.Bool{Val: true}})
	}
	return items, set
}

func (c *action) stmt(s pcal.Stmt, set pcal.Assigned) ([]clause, pcal.Assigned) {
	switch s := s.(type) {
	case *pcal.Skip:
		return []clause{is{&core.Bool{Val: true}}}, set
	case *pcal.Await:
		return []clause{is{c.X(s.Cond, set)}}, set
	case *pcal.Assert:
		return []clause{asserts{c.X(s.Cond, set), pcal.AssertMessage(s)}}, set
	case *pcal.Print:
		return []clause{prints{c.X(s.X, set)}}, set
	case *pcal.Assign:
		updates, after := c.Assign(s, set)
		return c.updates(updates), after
	case *pcal.If:
		bodies, after := c.paths([][]pcal.Stmt{s.Then, s.Else}, set)
		return []clause{choice{c.X(s.Cond, set), bodies[0], bodies[1]}}, after
	case *pcal.Either:
		bodies, after := c.paths(s.Branches, set)
		return []clause{anyOf{bodies}}, after
	case *pcal.With:
		body, after := c.stmts(s.Body, set)
		return []clause{named{s.Var, s.In, c.X(s.X, set), allOf{list: body}}}, after
	case *pcal.Goto, *pcal.Call, *pcal.Return, *pcal.Restart:
		updates, after := c.Jump(s, set)
		return c.updates(updates), after
	}
	invariant.Unreachable(s)
	return nil, nil
}

// paths translates branches and makes all of them assign the same variables.
func (c *action) paths(branches [][]pcal.Stmt, set pcal.Assigned) ([]clause, pcal.Assigned) {
	items := make([][]clause, len(branches))
	sets := make([]pcal.Assigned, len(branches))
	after := set
	for i, b := range branches {
		items[i], sets[i] = c.stmts(b, set)
		for _, v := range sets[i] {
			after = after.With(v)
		}
	}
	out := make([]clause, len(branches))
	for i := range branches {
		if rest := after.Without(sets[i]); len(rest) > 0 {
			items[i] = append(items[i], keeps{rest})
		}
		out[i] = allOf{items[i], true}
	}
	return out, after
}

// updates returns "v' = value" or "v' \in set" for each update.
func (c *action) updates(list []pcal.Update) []clause {
	out := make([]clause, len(list))
	for i, u := range list {
		op := core.OpEq
		if u.In {
			op = core.OpIn
		}
		next := &core.Op{Op: core.OpPrime, Args: []core.Expr{&core.VarRef{Var: u.Var}}}
		out[i] = is{&core.Op{Op: op, Args: []core.Expr{next, u.Value}}}
	}
	return out
}
