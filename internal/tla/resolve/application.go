// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// The levels of applications of symbols, of built-in operators, and of paths through
// instances and labels.

// symbol is the level of a use of s as a value.
func (l *leveller) symbol(s *Symbol) term {
	switch s.Kind {
	case Variable:
		if s.Module == l.info.Root {
			return fixed(StateLevel) // nothing instantiates the root
		}
		return l.of(atom{from: s})
	case Constant:
		if s.Module == l.info.Root {
			return term{}
		}
		return l.of(atom{from: s})
	case Builtin:
		return fixed(builtinLevel(s.Name))
	case Bound:
		switch n := s.Node.(type) {
		case *syntax.OperatorDef, *syntax.Lambda, *syntax.Instance:
			t := l.of(atom{from: s})
			t.params = []*Symbol{s}
			return t
		case *syntax.NewDecl:
			return fixed(map[string]Level{"STATE": StateLevel, "ACTION": ActionLevel, "TEMPORAL": TemporalLevel}[n.Kind])
		}
		return term{}
	}
	if known := l.known(s); known != nil {
		return known.term
	}
	return term{}
}

func builtinLevel(name string) Level {
	switch name {
	case "'", "UNCHANGED", `\cdot`:
		return ActionLevel
	case "ENABLED":
		return StateLevel
	case "[]", "<>", "~>", "-+->":
		return TemporalLevel
	}
	return ConstantLevel
}

func (l *leveller) apply(node syntax.Expr, args []syntax.Expr) term {
	s := l.info.Uses[node]
	if s != nil && s.Kind == Builtin && len(args) == 1 {
		switch s.Name {
		case "'":
			return l.join(fixed(ActionLevel), l.limit(args[0], StateLevel, "only a state function can be primed"))
		case "UNCHANGED":
			return l.join(fixed(ActionLevel), l.limit(args[0], StateLevel, "UNCHANGED takes a state function"))
		case "ENABLED":
			return l.join(fixed(StateLevel), l.limit(args[0], ActionLevel, "ENABLED takes an action"))
		case "[]", "<>":
			return l.temporal(s.Name, args[0])
		}
	}
	got := make([]given, len(args))
	for i, a := range args {
		arity := 0
		if s != nil && i < len(s.Params) {
			arity = s.Params[i]
		}
		got[i] = l.argument(a, arity)
	}
	return l.applyTo(node, args, got)
}

// applyTo is the level of an operator applied to arguments.
func (l *leveller) applyTo(node syntax.Expr, args []syntax.Expr, got []given) term {
	s := l.info.Uses[node]
	switch {
	case s == nil:
		return term{}
	case s.Kind == Builtin:
		return l.builtin(s, args, got)
	case (s.Kind == Bound || s.Kind == Constant) && s.Arity() > 0:
		for i, g := range got {
			l.uses(place{s, i}, g.term)
		}
		return l.applied(s, got)
	case len(args) == 0:
		return l.symbol(s)
	}
	return l.call(node, l.known(s), args, got)
}

func (l *leveller) builtin(s *Symbol, args []syntax.Expr, got []given) term {
	terms := make([]term, len(got))
	for i, g := range got {
		terms[i] = g.term
	}
	at := func(i int) syntax.Expr {
		if args == nil {
			return nil
		}
		return args[i]
	}
	out := fixed(builtinLevel(s.Name))
	switch s.Name {
	case `/\`, `\/`, "~", "=>", "<=>":
		return l.logical(args, terms)
	case "'", "UNCHANGED", "ENABLED", "[]", "<>": // passed on; what is written is for apply
		most := map[string]Level{"ENABLED": ActionLevel, "[]": TemporalLevel, "<>": TemporalLevel}[s.Name]
		l.atMost(terms[0], max(most, StateLevel))
		l.hide(terms[0].params)
		return l.join(out, term{params: terms[0].params})
	case "~>", "-+->":
		for i, g := range terms {
			if g.closed == ActionLevel && args != nil {
				l.wrong(at(i).Span(), "", "%s joins temporal formulas or state predicates, and this is an action", s.Name)
			}
			l.hide(g.params)
			out = l.join(out, term{params: g.params})
		}
		return out
	}
	for i, g := range terms {
		out = l.join(out, l.notTemporal(at(i), g))
	}
	return out
}

// call returns the level of an application and checks its arguments against
// what the definition demands.
func (l *leveller) call(node syntax.Expr, d *summary, args []syntax.Expr, got []given) term {
	if d == nil {
		var out term
		for _, g := range got {
			out.params = plus(out.params, g.params())
		}
		return out
	}
	env := l.hold(d, got, l.blame(node, d, args))
	out := l.put(d.term, env)
	for _, g := range got {
		out.params = plus(out.params, g.params())
	}
	return out
}

// blame returns a function that reports that an argument of d is not allowed in
// its place.
func (l *leveller) blame(node syntax.Expr, d *summary, args []syntax.Expr) func(int, int, bound, Level) {
	name, own := "", len(args)
	if s := l.info.Uses[node]; s != nil {
		name = s.Name
	} else if p, ok := node.(*syntax.Path); ok && l.info.Paths[p] != nil {
		use := l.info.Paths[p]
		name, own = use.Target.Name, len(use.Args)
	}
	return func(i, j int, asked bound, got Level) {
		at, p := node.Span(), d.formals[i]
		if i < len(args) {
			at = args[i].Span()
		}
		what := fmt.Sprintf("argument %d of %s", i+1, name)
		if i >= own {
			what = "what replaces " + p.Name + " of " + name // of an instance, or of a part
		}
		switch {
		case j >= 0 && j != i:
			l.wrong(at, "", "%s is given to %s, an operator that takes at most %s there, and this is %s", what, d.formals[j].Name, asked.most, got)
		case j >= 0:
			l.wrong(at, "", "%s is an operator that is given %s, and takes at most %s there", what, got, asked.most)
		case p.Arity() > 0:
			l.wrong(at, "", "%s is used where only %s can stand, and this operator makes it %s", what, asked.most, got)
		default:
			l.wrong(at, "", "%s can only be %s, and this is %s", what, asked.most, got)
		}
	}
}

// path returns the summary of what a path names, and what the path gives for
// the parameters of the definition and of the instances on the way.
func (l *leveller) path(p *syntax.Path) (*summary, []syntax.Expr, []given) {
	use := l.info.Paths[p]
	if use == nil {
		return nil, nil, nil
	}
	formals := use.Target.source().Formals
	var args []given
	texts := slices.Clip(use.Args)
	for i, a := range use.Args {
		args = append(args, l.argument(a, formals[i].Arity()))
	}
	var all []*summary
	if use.Part != nil {
		for _, g := range use.Part.Given {
			formals = append(slices.Clip(formals), g.Name)
			args, texts = append(args, l.argument(g.Value, g.Name.Arity())), append(texts, g.Value)
		}
		all = append(all, l.part(use.Part.Expr, formals))
	} else {
		all = append(all, l.known(use.Target))
	}
	if all[0] == nil {
		return nil, nil, nil
	}
	for i := len(use.Through) - 1; i >= 0; i-- {
		hop := use.Through[i]
		for k := range all {
			all[k] = l.hop(hop.Instance, all[k])
		}
		if len(hop.Args) > 0 {
			if sum := l.known(hop.Instance); sum != nil {
				all = append(all, sum)
			}
		}
	}
	out := &summary{term: all[0].term, opaque: all[0].opaque}
	if len(use.Args) == len(use.Target.source().Formals) {
		out.formals = slices.Clip(formals)
	} else {
		args, texts = nil, nil // an operator that the path names
	}
	for _, s := range all {
		out.bounds = append(out.bounds, s.bounds...)
		out.uses = append(out.uses, s.uses...)
	}
	for i := len(use.Through) - 1; i >= 0; i-- {
		hop := use.Through[i]
		params := hop.Instance.source().Formals
		for k, a := range hop.Args {
			out.formals = append(out.formals, params[k])
			args, texts = append(args, l.argument(a, params[k].Arity())), append(texts, a)
		}
	}
	return out, texts, args
}

// hop returns a summary seen through a named instance, which other instances
// may have brought.
func (l *leveller) hop(s *Symbol, d *summary) *summary {
	if s.Origin != nil {
		d = l.hop(s.Origin, d)
	}
	return l.through(s.Instance, d)
}

// bare returns the levels that a path gives to names bound by quantifiers and
// similar forms, which are not parameters.
func (l *leveller) bare(p *syntax.Path) []term {
	use := l.info.Paths[p]
	if use == nil || use.Part == nil {
		return nil
	}
	var out []term
	for _, g := range use.Part.Given {
		if _, ok := g.Name.Node.(*syntax.OperatorDef); !ok {
			out = append(out, l.argument(g.Value, 0).term)
		}
	}
	return out
}
