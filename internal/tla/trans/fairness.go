// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// fairness is the fairness condition on one or several actions.
type fairness struct {
	tree core.Expr
	text func() lines
}

var fairName = [...]string{pcal.Weak: "WF_vars", pcal.Strong: "SF_vars"}

// fair returns the fairness condition on an action.
func (m *module) fair(how pcal.Fairness, action core.Expr, text string) fairness {
	return fairness{
		&core.Fair{Strong: how == pcal.Strong, Sub: call(m.all), Action: action},
		func() lines { return line(fairName[how] + "(" + text + ")") },
	}
}

// fairNext returns the fairness condition on the algorithm as a whole. Labels
// with a minus are left out; those with a plus get strong fairness.
func (m *module) fairNext() fairness {
	next := call(m.definition("Next"))
	if !m.uni {
		return m.fair(m.a.Fair, next, "Next")
	}
	var blocks []*pcal.Block
	for _, p := range m.a.Procedures {
		blocks = append(blocks, p.Blocks...)
	}
	blocks = append(blocks, m.a.Processes[0].Blocks...)
	list := m.fairBlocks(m.a.Fair, next, "Next", blocks, &core.VarRef{Var: m.a.PC}, "pc", nil, "")
	return fairness{conjunction(fairTrees(list), m.at), func() lines { return fairTexts(list) }}
}

// fairBlocks returns the fairness condition on an action that consists of
// blocks; at is the program counter, and arg the argument of the actions.
func (m *module) fairBlocks(how pcal.Fairness, action core.Expr, text string, blocks []*pcal.Block, at core.Expr, atText string, args []core.Expr, argText string) []fairness {
	var minus []core.Expr
	var written []string
	for _, b := range blocks {
		if b.Minus {
			minus = append(minus, &core.Str{Val: b.Label})
			written = append(written, fmt.Sprintf("%q", b.Label))
		}
	}
	switch len(minus) {
	case 0:
	case 1:
		action = &core.And{List: []core.Expr{op(core.OpNe, at, minus[0]), action}}
		text = fmt.Sprintf(`(%s # %s) /\ %s`, atText, written[0], text)
	default:
		action = &core.And{List: []core.Expr{op(core.OpNotIn, at, &core.SetEnum{Elems: minus}), action}}
		text = fmt.Sprintf(`(%s \notin {%s}) /\ %s`, atText, strings.Join(written, ", "), text)
	}
	out := []fairness{m.fair(how, action, text)}
	for _, b := range blocks {
		if b.Plus && how == pcal.Weak {
			out = append(out, m.fair(pcal.Strong, call(m.labels[b], args...), b.Label+argText))
		}
	}
	return out
}

func fairTrees(list []fairness) []core.Expr {
	var out []core.Expr
	for _, f := range list {
		out = append(out, f.tree)
	}
	return out
}

// fairTexts writes one after the other.
func fairTexts(list []fairness) lines {
	var out lines
	for _, f := range list {
		out = append(out, f.text()...)
	}
	return out
}

// fairProcess returns the fairness condition on a process and on the procedures
// that it can be in.
func (m *module) fairProcess(p *pcal.Process) fairness {
	id := exprText(p.Id).String()
	text, callText, atText, head := "", "("+id+")", "pc["+id+"]", ""
	who := p.Id
	var args []core.Expr
	self := &core.Local{Name: "self"}
	if p.Set {
		who = &core.LocalRef{Local: self}
		args = []core.Expr{who}
		text, callText, atText = "(self)", "(self)", "pc[self]"
		head = `\A self \in ` + id + " : "
	}
	at := &core.Apply{Fn: &core.VarRef{Var: m.a.PC}, Arg: who}
	list := m.fairBlocks(p.Fair, call(m.groups[p], args...), p.Name+text, p.Blocks, at, atText, args, text)
	for _, q := range m.a.Reached(p.Blocks) {
		list = append(list, m.fairBlocks(p.Fair, call(m.groups[q], who), q.Name+callText, q.Blocks, at, atText, []core.Expr{who}, callText)...)
	}
	tree := conjunction(fairTrees(list), p.Span)
	if p.Set {
		tree = &core.Quant{Binds: []core.Bind{{Vars: []*core.Local{self}, Set: p.Id}}, Body: tree}
	}
	return fairness{core.Located(tree, p.Span), func() lines {
		if len(list) == 1 {
			return fairTexts(list).after(head)
		}
		var items []lines
		for _, f := range list {
			items = append(items, f.text())
		}
		return allBullets(`/\`, items).after(head)
	}}
}
