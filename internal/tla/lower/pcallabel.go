// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// The rules of labels.
//
// A label is required before the first statement of a body, before every while,
// after a goto, a return or a call (except for a return or goto right after a
// call), after an if, either or with in which control may leave the step, and,
// outside Modular PlusCal, before the second assignment to a variable in a
// step. It is forbidden in a with and in a macro. If the algorithm asks for it,
// or is a single body without any label, the missing labels are added.

// labeler checks the items of a body.
type labeler struct {
	*body
	// assigned has the variables that the step has assigned so far, on some
	// path.
	assigned map[*core.Variable]source.Span
	within   bool // a with: no labels
}

// checkLabels checks the items of a body and returns them. If the algorithm
// asks for it, checkLabels adds the missing labels.
func (b *body) checkLabels(items []*item, span source.Span) []*item {
	if len(items) == 0 {
		items = []*item{{leaf: &pcal.Skip{At: pcal.At{Place: span}}, span: span}}
	}
	b.collectLabels(items)
	l := &labeler{body: b, assigned: map[*core.Variable]source.Span{}}
	if items[0].label == nil {
		l.require(items[0], "as the first statement of "+b.what)
	}
	l.list(items)
	b.checkGotos(items)
	return items
}

// collectLabels records the labels in the text and their order.
func (b *body) collectLabels(items []*item) {
	for _, it := range items {
		if l := it.label; l != nil {
			old := b.labels[l.name]
			switch {
			case l.name == pcal.LabelDone || l.name == pcal.LabelError:
				b.fail(l.span, ReservedLabel, "choose another name", "the label %s has a predefined meaning", l.name)
			case old != nil:
				b.p.diags.Add(source.Diagnostic{Code: DuplicateLabel, Span: l.span, Message: fmt.Sprintf("the label %s occurs twice in %s", l.name, b.what),
					Repair: "choose another name", Related: []source.Note{{Span: old.span, Message: "other label here"}}})
			}
			b.labels[l.name] = l
		}
		for _, list := range it.branches {
			b.collectLabels(list)
		}
	}
}

// require requires a label at an item that has none.
func (l *labeler) require(it *item, why string) {
	l.requireAs(it, LabelRequired, "a label is required before this statement: it comes "+why)
}

func (l *labeler) requireAs(it *item, code source.Code, message string) {
	via := l.via
	l.via = it.via
	defer func() { l.via = via }()
	switch {
	case l.within:
		l.fail(it.span, LabelForbidden, "move the statement out of the with", "%s; and a with can have no labels in it", message)
	case l.autoLabels:
		l.labelCount++
		name := fmt.Sprintf("%s%d", l.labelRoot, l.labelCount)
		for l.labels[name] != nil {
			l.labelCount++
			name = fmt.Sprintf("%s%d", l.labelRoot, l.labelCount)
		}
		it.label = &label{name: name, auto: true, span: it.span}
		l.labels[name] = it.label
	default:
		l.fail(it.span, code, "write a label before it, as in  l1: ...", "%s", message)
		it.label = &label{auto: true, span: it.span} // consequences of it are not reported
	}
}

// list checks a list of items. If the first item starts a step, it already has
// its label.
func (l *labeler) list(items []*item) {
	why := ""
	for i, it := range items {
		switch {
		case it.label != nil && l.within && !it.label.auto:
			l.fail(it.label.span, LabelForbidden, "divide the with into separate steps", "a label inside a with")
		case it.label == nil && why != "":
			l.require(it, why)
		case it.label == nil && it.kind == whileItem:
			l.require(it, "at a while")
		case it.label == nil && !l.many:
			l.twice(it)
		}
		if it.label != nil {
			l.assigned = map[*core.Variable]source.Span{}
			l.order++
			it.label.order = l.order
		}
		why = l.inside(it, items[i+1:])
	}
}

// twice requires a label if the item assigns a variable that the step has
// already assigned. For an if or an either, the statements inside are checked
// instead.
func (l *labeler) twice(it *item) {
	if it.kind == ifItem || it.kind == eitherItem || it.kind == whileItem {
		return
	}
	for _, v := range it.assigns(l.body) {
		if old, ok := l.assigned[v.v]; ok {
			message := fmt.Sprintf("%s is assigned a second time in one step", v.v.Name)
			if l.autoLabels && !l.within {
				l.requireAs(it, MultipleAssignment, message)
				return
			}
			l.p.diags.Add(source.Diagnostic{Code: MultipleAssignment, Span: v.span, Message: message,
				Repair: "write a label before this statement", Related: []source.Note{{Span: old, Message: "first assignment here"}}})
			return
		}
	}
}

// target is a variable and the position of an assignment to it.
type target struct {
	v    *core.Variable
	span source.Span
}

// assigns lists the variables that an item assigns, nested ones included.
func (it *item) assigns(b *body) []target {
	var out []target
	switch s := it.leaf.(type) {
	case *pcal.Assign:
		for _, p := range s.Pairs {
			out = append(out, target{p.Target, p.Span})
		}
	case *pcal.Call:
		for _, q := range s.Proc.Params {
			out = append(out, target{q.Var, s.Span()})
		}
		for _, l := range s.Proc.Locals {
			out = append(out, target{l.Var, s.Span()})
		}
	case *pcal.Return:
		if b.procedure != nil {
			for _, q := range b.procedure.Params {
				out = append(out, target{q.Var, s.Span()})
			}
			for _, l := range b.procedure.Locals {
				out = append(out, target{l.Var, s.Span()})
			}
		}
	}
	for _, list := range it.branches {
		for _, x := range list {
			out = append(out, x.assigns(b)...)
		}
	}
	return out
}

// inside checks the items nested in an item and records what the item assigns.
// It returns the reason why the next item needs a label, or nothing.
func (l *labeler) inside(it *item, rest []*item) string {
	switch it.kind {
	case leafItem:
		for _, t := range it.assigns(l.body) {
			l.assigned[t.v] = t.span
		}
		return l.leafEnd(it, rest)
	case withItem:
		outer := l.within
		l.within = true
		l.list(it.branches[0])
		l.within = outer
	case whileItem:
		l.list(it.branches[0])
	default:
		before := l.assigned
		after := copyOf(before)
		for _, list := range it.branches {
			l.assigned = copyOf(before)
			l.list(list)
			for v, span := range l.assigned {
				after[v] = span
			}
		}
		l.assigned = after
	}
	for _, list := range it.branches {
		for _, x := range list {
			it.jumps = it.jumps || x.jumps || x.label != nil || x.kind == whileItem
		}
	}
	if it.kind == whileItem {
		// The statements after a while belong to the step that finds its
		// condition false. The assignments in the loop's body do not count for
		// them.
		l.assigned = map[*core.Variable]source.Span{}
		it.jumps = true
		return ""
	}
	if it.jumps {
		return "after a statement in which control may leave the step"
	}
	return ""
}

func copyOf(m map[*core.Variable]source.Span) map[*core.Variable]source.Span {
	out := make(map[*core.Variable]source.Span, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// leafEnd notes whether a simple statement ends the step.
func (l *labeler) leafEnd(it *item, rest []*item) string {
	switch it.leaf.(type) {
	case *pcal.Goto:
		it.jumps = true
		return "after a goto"
	case *pcal.Return:
		it.jumps = true
		return "after a return"
	case *pcal.Call:
		it.jumps = true
		if len(rest) > 0 && rest[0].kind == leafItem && rest[0].label == nil {
			switch rest[0].leaf.(type) {
			case *pcal.Goto, *pcal.Return:
				// The return or goto after a call belongs to the call and
				// assigns nothing itself.
				l.assigned = map[*core.Variable]source.Span{}
				return ""
			}
		}
		return "after a call"
	}
	return ""
}

// checkGotos checks that the target of every goto is a label of the body.
func (b *body) checkGotos(items []*item) {
	for _, it := range items {
		if g, ok := it.leaf.(*pcal.Goto); ok {
			if b.labels[g.Label] == nil && g.Label != pcal.LabelDone && g.Label != pcal.LabelError {
				outer := b.via
				b.via = it.via
				b.fail(g.Span(), LabelNotDefined, "", "there is no label %s in %s", g.Label, b.what)
				b.via = outer
			}
		}
		for _, list := range it.branches {
			b.checkGotos(list)
		}
	}
}
