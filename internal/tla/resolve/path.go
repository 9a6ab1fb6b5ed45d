// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// pathUse resolves A!B(x)!C and Op!1!<<. The steps lead first through
// instances, then to a definition, and then perhaps into the text of that
// definition. want is -1 if a value is expected; otherwise it is the number of
// arguments that the operator named by the path must take.
func (r *resolver) pathUse(p *syntax.Path, want int) *PathUse {
	first := p.Steps[0]
	s := r.symbolFor(p, first.Name, first.Span(), len(first.Args))
	delete(r.info.Uses, p)
	if s == nil {
		r.stepArguments(p.Steps)
		return nil
	}
	use := &PathUse{}
	i := 0
	for s.Kind == Instanced {
		if !r.stepArity(p.Steps[i], s) {
			r.stepArguments(p.Steps[i:])
			return nil
		}
		r.arguments(s.Name, s, p.Steps[i].Args)
		use.Through = append(use.Through, Hop{Instance: s, Args: p.Steps[i].Args})
		m := s.source().Instance.Module
		if i++; i == len(p.Steps) {
			r.error(p.Span(), InstanceAsValue, "name something in it: "+s.Name+"!Op", "%s is an instance, not a value", s.Name)
			return nil
		}
		step := p.Steps[i]
		d := m.Export(step.Name)
		if step.Kind != syntax.StepName || d == nil || d.Kind == Constant || d.Kind == Variable {
			r.noMember(s, m, step, d)
			r.stepArguments(p.Steps[i:])
			return nil
		}
		s = d
	}
	use.Target = s
	if len(use.Through) == 0 && s.Kind != Operator && s.Kind != Function && s.Kind != Fact {
		r.error(first.Span(), NotAnInstance, "", "%s is %s: nothing can be selected from it by !", s.Name, describe(s))
		r.stepArguments(p.Steps)
		return nil
	}
	return r.pathEnd(p, use, i, want)
}

// pathEnd resolves the step that names the definition and the steps after it.
func (r *resolver) pathEnd(p *syntax.Path, use *PathUse, i, want int) *PathUse {
	step, s := p.Steps[i], use.Target
	if rest := p.Steps[i+1:]; len(rest) > 0 {
		if want > 0 {
			r.error(p.Span(), Selector, "", "a part of a definition cannot be passed as an operator")
			return nil
		}
		if !r.stepArity(step, s) {
			r.stepArguments(p.Steps[i:])
			return nil
		}
		r.arguments(s.Name, s, step.Args)
		use.Args = step.Args
		use.Part = r.part(use, p, rest)
		if use.Part == nil {
			return nil
		}
		return use
	}
	if want >= 0 && len(step.Args) == 0 {
		if s.Kind == Fact || s.Arity() != want || maxOf(s.Params) > 0 {
			r.error(p.Span(), OperatorExpected, "", "an operator that takes %s is expected; %s takes %s", count(want), s.Name, arguments(s))
			return nil
		}
		return use
	}
	if s.Kind == Fact && !s.IsFormula() {
		r.error(step.Span(), ValueExpected, "", "%s is the name of an ASSUME ... PROVE, which is not a value", s.Name)
		return nil
	}
	if want > 0 {
		r.error(p.Span(), OperatorExpected, "", "an operator that takes %s is expected, not a value", count(want))
	}
	if !r.stepArity(step, s) {
		r.stepArguments(p.Steps[i:])
		return nil
	}
	r.arguments(s.Name, s, step.Args)
	use.Args = step.Args
	return use
}

func (r *resolver) stepArity(step syntax.Step, s *Symbol) bool {
	if len(step.Args) == s.Arity() {
		return true
	}
	r.count2(s.Name, step.Span(), s, len(step.Args))
	return false
}

// stepArguments resolves the arguments of steps that could not be resolved.
func (r *resolver) stepArguments(steps []syntax.Step) {
	for _, s := range steps {
		for _, a := range s.Args {
			r.anyArgument(a)
		}
	}
}

func (r *resolver) noMember(s *Symbol, m *Module, step syntax.Step, d *Symbol) {
	if m.broken {
		return
	}
	switch {
	case step.Kind != syntax.StepName:
		r.error(step.Span(), NotAnInstance, "", "%s is an instance of %s: the name of a definition must follow", s.Name, m.Name)
	case d != nil:
		r.error(step.Span(), UnknownName, "", "%s is %s of module %s, which the instance replaces", step.Name, describe(d), m.Name)
	default:
		near := source.NewNearest(step.Name)
		for _, n := range m.Names.order {
			near.Offer(n)
		}
		r.error(step.Span(), UnknownName, near.Repair(), "module %s, of which %s is an instance, defines no %s", m.Name, s.Name, step.Name)
	}
}

// finder walks from the body of a definition to a part of it.
type finder struct {
	r    *resolver
	path *syntax.Path
	cur  syntax.Expr
	part Part
	// open are the bound names passed on the way to which the path has given no
	// value yet.
	open []*Symbol
}

// part resolves the selectors after a definition.
func (r *resolver) part(use *PathUse, p *syntax.Path, steps []syntax.Step) *Part {
	body := definitionBody(use.Target)
	if body == nil {
		r.error(p.Span(), NoText, "", "%s has no text to select from", use.Target.Name)
		return nil
	}
	f := &finder{r: r, path: p, cur: body}
	for i, step := range steps {
		if ap, ok := f.cur.(*syntax.AssumeProve); ok {
			if !f.sequent(ap, step) {
				return nil
			}
			continue
		}
		if step.Kind == syntax.StepColon {
			if i != len(steps)-1 {
				return f.fail(step, "!: must come last")
			}
			continue
		}
		if !f.step(step) {
			r.stepArguments(steps[i+1:])
			return nil
		}
	}
	if _, ok := f.cur.(*syntax.AssumeProve); ok {
		return f.fail(steps[len(steps)-1], "this selects an ASSUME ... PROVE, which is not an expression")
	}
	if len(f.open) > 0 {
		r.error(p.Span(), Selector, fmt.Sprintf("give a value for %s: write !(...) after the step to the quantifier", f.open[0].Name),
			"the selected part depends on the bound name %s", f.open[0].Name)
		return nil
	}
	f.part.Expr = f.cur
	return &f.part
}

func definitionBody(s *Symbol) syntax.Expr {
	switch n := s.source().Node.(type) {
	case *syntax.OperatorDef:
		return n.Body
	case *syntax.Theorem:
		return n.Body
	case *syntax.Assume:
		return n.Body
	}
	return nil
}

func (f *finder) fail(step syntax.Step, why string) *Part {
	f.r.error(step.Span(), Selector, "", "%s", why)
	return nil
}

func (f *finder) sequent(ap *syntax.AssumeProve, step syntax.Step) bool {
	if step.Kind == syntax.StepColon {
		return true
	}
	n := step.Index
	if step.Kind != syntax.StepIndex || n < 1 || n > len(ap.Items)+1 {
		f.fail(step, fmt.Sprintf("the ASSUME ... PROVE has parts !1 to !%d", len(ap.Items)+1))
		return false
	}
	if n == len(ap.Items)+1 {
		f.cur = ap.Prove
		return true
	}
	e, ok := ap.Items[n-1].(syntax.Expr)
	if !ok {
		f.fail(step, "this selects a declaration, which is not an expression")
		return false
	}
	f.cur = e
	return true
}

// step descends one step and reports an error if there is no such part.
func (f *finder) step(step syntax.Step) bool {
	if step.Kind == syntax.StepName {
		return f.named(step)
	}
	for {
		if l, ok := f.cur.(*syntax.Label); ok {
			f.cur = l.Body
		} else if l, ok := f.cur.(*syntax.Let); ok {
			f.part.Lets = append(f.part.Lets, l)
			f.cur = l.Body
		} else {
			break
		}
	}
	if step.Kind == syntax.StepArgs || step.Kind == syntax.StepAt {
		return f.body(step)
	}
	list := operands(f.cur)
	n := step.Index
	switch step.Kind {
	case syntax.StepLeft:
		n = 1
	case syntax.StepRight:
		n = 2
		if len(list) > 2 || len(list) == 1 {
			n = 0
		}
	}
	if n < 1 || n > len(list) {
		f.fail(step, fmt.Sprintf("the expression has %d parts", len(list)))
		return false
	}
	f.cur = list[n-1]
	return true
}

// body descends into the body of a quantifier or a similar form.
func (f *finder) body(step syntax.Step) bool {
	var body syntax.Expr
	switch e := f.cur.(type) {
	case *syntax.Quant:
		body = e.Body
	case *syntax.Choose:
		body = e.Body
	case *syntax.SetFilter:
		body = e.Pred
	case *syntax.SetMap:
		body = e.Elem
	case *syntax.Fn:
		body = e.Body
	}
	names := f.r.info.Binds[f.cur]
	switch {
	case body == nil:
		f.fail(step, "the expression binds no names, so it has no such part")
		return false
	case step.Kind == syntax.StepAt:
		f.open = append(f.open, names...)
	case len(step.Args) != len(names):
		f.fail(step, fmt.Sprintf("the expression binds names: %d; values given: %d", len(names), len(step.Args)))
		return false
	default:
		f.give(names, step.Args)
	}
	f.cur = body
	return true
}

func (f *finder) give(names []*Symbol, args []syntax.Expr) {
	for i, a := range args {
		f.r.argument(a, names[i].Arity(), func() string { return "the value for " + names[i].Name })
		f.part.Given = append(f.part.Given, Given{Name: names[i], Value: a})
	}
}

// named steps to a definition of a LET, or to a label.
func (f *finder) named(step syntax.Step) bool {
	for {
		l, ok := f.cur.(*syntax.Let)
		if !ok {
			break
		}
		f.part.Lets = append(f.part.Lets, l)
		for _, u := range l.Units {
			if d, ok := u.(*syntax.OperatorDef); ok && d.Name.Text == step.Name {
				formals := f.r.info.Binds[d]
				if len(formals) != len(step.Args) {
					f.fail(step, fmt.Sprintf("%s has %d parameters, not %d", step.Name, len(formals), len(step.Args)))
					return false
				}
				f.give(formals, step.Args)
				f.cur = d.Body
				return true
			}
		}
		f.cur = l.Body
	}
	trail := f.r.findLabel(f.cur, step.Name, 0)
	if trail == nil {
		f.fail(step, "there is no label "+step.Name+" in the expression")
		return false
	}
	for _, n := range trail {
		if l, ok := n.(*syntax.Let); ok {
			f.part.Lets = append(f.part.Lets, l)
		} else {
			f.open = append(f.open, f.r.info.Binds[n]...)
		}
	}
	label := trail[0].(*syntax.Label)
	names := f.r.info.Binds[label]
	if len(names) != len(step.Args) {
		f.fail(step, fmt.Sprintf("label %s has %d parameters, not %d", step.Name, len(names), len(step.Args)))
		return false
	}
	f.give(names, step.Args)
	f.open = without(f.open, names)
	f.cur = label.Body
	return true
}

func without(list, gone []*Symbol) []*Symbol {
	var out []*Symbol
	for _, s := range list {
		keep := true
		for _, g := range gone {
			keep = keep && g != s
		}
		if keep {
			out = append(out, s)
		}
	}
	return out
}

// findLabel searches e for a label, but not inside other labels or definitions
// of LETs. It returns the label and then the enclosing LETs and binding
// expressions, outermost first.
func (r *resolver) findLabel(e syntax.Expr, name string, depth int) []syntax.Node {
	if e == nil || depth > DepthMax {
		return nil
	}
	if l, ok := e.(*syntax.Label); ok {
		if l.Name.Text == name {
			return []syntax.Node{l}
		}
		return nil
	}
	for _, c := range allChildren(e) {
		if found := r.findLabel(c, name, depth+1); found != nil {
			_, isLet := e.(*syntax.Let)
			if isLet || len(r.info.Binds[e]) > 0 {
				// The outermost enclosing expression is directly after the
				// label.
				found = append(found[:1:1], append([]syntax.Node{e}, found[1:]...)...)
			}
			return found
		}
	}
	return nil
}

// operands returns the parts of an expression that !1, !2, ... select.
func operands(e syntax.Expr) []syntax.Expr {
	switch e := e.(type) {
	case *syntax.Apply:
		return e.Args
	case *syntax.Prefix:
		return []syntax.Expr{e.X}
	case *syntax.Postfix:
		return []syntax.Expr{e.X}
	case *syntax.Infix:
		return []syntax.Expr{e.Left, e.Right}
	case *syntax.Quant:
		return boundSets(e.Bounds)
	case *syntax.Choose:
		return boundSets([]syntax.Bound{e.Bound})
	case *syntax.SetFilter:
		return boundSets([]syntax.Bound{e.Bound})
	case *syntax.SetMap:
		return boundSets(e.Bounds)
	case *syntax.Fn:
		return boundSets(e.Bounds)
	case *syntax.Except:
		return []syntax.Expr{e.X}
	}
	return children(e)
}

func boundSets(bounds []syntax.Bound) []syntax.Expr {
	var out []syntax.Expr
	for _, b := range bounds {
		if b.Set != nil {
			out = append(out, b.Set)
		}
	}
	return out
}

// allChildren returns all direct subexpressions of e except the definitions of
// a LET.
func allChildren(e syntax.Expr) []syntax.Expr {
	list := operands(e)
	switch e := e.(type) {
	case *syntax.Quant:
		return append(list, e.Body)
	case *syntax.Choose:
		return append(list, e.Body)
	case *syntax.SetFilter:
		return append(list, e.Pred)
	case *syntax.SetMap:
		return append(list, e.Elem)
	case *syntax.Fn:
		return append(list, e.Body)
	case *syntax.Let:
		return []syntax.Expr{e.Body}
	case *syntax.Label:
		return []syntax.Expr{e.Body}
	case *syntax.Lambda:
		return []syntax.Expr{e.Body}
	case *syntax.Except:
		out := []syntax.Expr{e.X}
		for _, u := range e.Updates {
			for _, a := range u.Path {
				out = append(out, a.Index...)
			}
			out = append(out, u.Value)
		}
		return out
	case *syntax.Path:
		var out []syntax.Expr
		for _, s := range e.Steps {
			out = append(out, s.Args...)
		}
		return out
	}
	return list
}
