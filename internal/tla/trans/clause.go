// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// clause is a part of the definition that an algorithm is translated to. The
// checker uses its tree; `ashlar translate` writes its text.
type clause interface {
	// tree builds an expression over the variables and definitions of the
	// module. Nodes that the user did not write have the position at.
	tree(m *module, at source.Span) core.Expr
	text() lines
}

type (
	// is is a formula.
	is struct{ x core.Expr }
	// allOf is a conjunction, and anyOf a disjunction. If bulleted, a list of one
	// item also has a bullet.
	allOf struct {
		list     []clause
		bulleted bool
	}
	anyOf struct{ list []clause }
	// choice is IF-THEN-ELSE.
	choice struct {
		cond      core.Expr
		then, els clause
	}
	// named binds a name to a value or, if in is set, to some element of it.
	named struct {
		name *core.Local
		in   bool
		x    core.Expr
		body clause
	}
	// keeps says which variables stay unchanged.
	keeps struct{ vars pcal.Assigned }
	// asserts and prints apply operators of TLC.
	asserts struct {
		cond    core.Expr
		message string
	}
	prints struct{ x core.Expr }
	// placed is a clause with the position of its source text.
	placed struct {
		clause
		place source.Span
	}
)

func (c is) tree(_ *module, at source.Span) core.Expr { return core.Located(c.x, at) }

func (c allOf) tree(m *module, at source.Span) core.Expr {
	return conjunction(trees(c.list, m, at), at)
}

func (c anyOf) tree(m *module, at source.Span) core.Expr {
	return disjunction(trees(c.list, m, at), at)
}

func trees(list []clause, m *module, at source.Span) []core.Expr {
	out := make([]core.Expr, len(list))
	for i, c := range list {
		out[i] = c.tree(m, at)
	}
	return out
}

func conjunction(list []core.Expr, at source.Span) core.Expr {
	if len(list) == 1 {
		return list[0]
	}
	return &core.And{At: core.At{Place: at}, List: list}
}

func disjunction(list []core.Expr, at source.Span) core.Expr {
	if len(list) == 1 {
		return list[0]
	}
	return &core.Or{At: core.At{Place: at}, List: list}
}

func (c choice) tree(m *module, at source.Span) core.Expr {
	return &core.If{At: core.At{Place: at}, Cond: core.Located(c.cond, at), Then: c.then.tree(m, at), Else: c.els.tree(m, at)}
}

func (c named) tree(m *module, at source.Span) core.Expr {
	x, body := core.Located(c.x, at), c.body.tree(m, at)
	if c.in {
		return &core.Quant{At: core.At{Place: at}, Exists: true, Binds: []core.Bind{{Vars: []*core.Local{c.name}, Set: x}}, Body: body}
	}
	// The name is that of an operator without parameters, as in the text.
	d := &core.Def{Name: c.name.Name, Module: m.name, Body: x, Span: c.name.Span}
	body = core.Rewrite(body, func(e core.Expr) core.Expr {
		if l, ok := e.(*core.LocalRef); ok && l.Local == c.name {
			return &core.Call{At: l.At, Def: d}
		}
		return nil
	})
	return &core.Let{At: core.At{Place: at}, Defs: []*core.Def{d}, Body: body}
}

func (c keeps) tree(_ *module, at source.Span) core.Expr { return unchanged(c.vars, at) }

// unchanged is UNCHANGED v, or UNCHANGED <<v, w>>.
func unchanged(vars pcal.Assigned, place source.Span) core.Expr {
	at := core.At{Place: place}
	refs := references(vars, place)
	x := refs[0]
	if len(refs) > 1 {
		x = &core.Tuple{At: at, Elems: refs}
	}
	return &core.Op{At: at, Op: core.OpUnchanged, Args: []core.Expr{x}}
}

func references(vars pcal.Assigned, place source.Span) []core.Expr {
	out := make([]core.Expr, len(vars))
	for i, v := range vars {
		out[i] = &core.VarRef{At: core.At{Place: place}, Var: v}
	}
	return out
}

func (c asserts) tree(m *module, at source.Span) core.Expr {
	message := &core.Str{At: core.At{Place: at}, Val: c.message}
	return &core.Call{At: core.At{Place: at}, Def: m.operator("Assert", "TLC"), Args: []core.Expr{core.Located(c.cond, at), message}}
}

func (c prints) tree(m *module, at source.Span) core.Expr {
	return &core.Call{At: core.At{Place: at}, Def: m.operator("PrintT", "TLC"), Args: []core.Expr{core.Located(c.x, at)}}
}

func (c placed) tree(m *module, at source.Span) core.Expr {
	if c.place.IsValid() {
		at = c.place
	}
	return c.clause.tree(m, at)
}

func (c is) text() lines { return exprText(c.x) }

func (c allOf) text() lines {
	if c.bulleted {
		return allBullets(`/\`, texts(c.list))
	}
	return bullets(`/\`, texts(c.list))
}

func (c anyOf) text() lines { return allBullets(`\/`, texts(c.list)) }

func texts(list []clause) []lines {
	out := make([]lines, len(list))
	for i, c := range list {
		out[i] = c.text()
	}
	return out
}

func (c choice) text() lines {
	return stack(exprText(c.cond).after("IF "), c.then.text().after("   THEN "), c.els.text().after("   ELSE "))
}

func (c named) text() lines {
	head := exprText(c.x).after("LET " + c.name.Name + " == ").then(" IN")
	if c.in {
		head = exprText(c.x).after(`\E ` + c.name.Name + ` \in `).then(":")
	}
	return stack(head, c.body.text().after("  "))
}

func (c keeps) text() lines {
	if len(c.vars) == 1 {
		return line("UNCHANGED " + c.vars[0].Name)
	}
	return wrapped(names(c.vars), ",", 24, 0).after("UNCHANGED << ").then(" >>")
}

func (c asserts) text() lines {
	message := line(fmt.Sprintf("%q)", c.message))
	return stack(exprText(c.cond).after("Assert(").then(","), message.after("       "))
}

func (c prints) text() lines { return exprText(c.x).after("PrintT(").then(")") }
