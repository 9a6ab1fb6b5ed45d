// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// A summary describes the levels of a definition without its body: how the level of an
// application depends on the arguments, and what the definition demands of them.
// Instances substitute in the summaries of the definitions that they instantiate.

// summary reads a body and keeps the demands on the formals. Demands on the
// parameters of enclosing definitions are made with the formals as constants
// and as operators that have the levels of all their arguments.
func (l *leveller) summary(formals []*Symbol, body func() term) *summary {
	around := l.asks
	l.asks = newDemands()
	out := &summary{formals: formals, term: body()}
	for b := range l.asks.bounds {
		if l.mentions(b.atom, formals) {
			out.bounds = append(out.bounds, b)
		}
		if n, ok := l.without(b.atom, formals); ok {
			around.bounds[bound{n, b.most}] = true
		}
	}
	for u := range l.asks.uses {
		given := slices.Contains(formals, l.place(u).op)
		if given || l.mentions(u.atom, formals) {
			out.uses = append(out.uses, u)
		}
		if n, ok := l.without(u.atom, formals); ok && !given {
			around.uses[use{u.at, n}] = true
		}
	}
	for s := range l.asks.opaque {
		if !slices.Contains(formals, s) {
			around.opaque[s] = true
		}
	}
	for _, s := range formals {
		if l.asks.opaque[s] {
			out.opaque = append(out.opaque, s)
		}
	}
	out.sort()
	l.asks = around
	return out
}

func (l *leveller) set(s *Symbol, now *summary) {
	if s.levels == nil || !s.levels.same(now) {
		s.levels = now
		l.changed = true
	}
}

// extendAsks adds what the modules that m extends demand of its constants.
func (m *Module) extendAsks() {
	for _, e := range m.Extends {
		if e.asks != nil {
			maps.Copy(m.asks.bounds, e.asks.bounds)
			maps.Copy(m.asks.uses, e.asks.uses)
		}
	}
}

// instance checks what is substituted. A variable takes a state function; a
// constant takes a constant, or, in a module with neither variables nor
// definitions that are more than constants, whatever its uses there allow. An
// operator must have equal values for equal arguments, as a constant operator
// has, because theorems of the module rely on this.
func (l *leveller) instance(u *syntax.Instance) {
	inst := l.info.Instances[u]
	if inst == nil {
		return
	}
	inst.sum = l.summary(inst.Params, func() term {
		l.substitutions(inst)
		return term{}
	})
}

func (l *leveller) substitutions(inst *Instance) {
	m := inst.Module
	inst.given = make([]given, len(inst.Subs))
	formals := make([]*Symbol, len(inst.Subs))
	at := make([]source.Span, len(inst.Subs))
	for i, sub := range inst.Subs {
		formals[i], at[i] = sub.Param, inst.Node.Module.Span()
		switch {
		case sub.Value != nil:
			inst.given[i], at[i] = l.argument(sub.Value, sub.Param.Arity()), sub.Value.Span()
		case sub.Param.Arity() > 0:
			inst.given[i] = l.operator(sub.Symbol)
		default:
			inst.given[i].term = l.symbol(sub.Symbol)
		}
		to, got := inst.given[i], inst.given[i].term
		if to.sum != nil {
			got = l.own(to.sum)
		}
		switch {
		case sub.Param.Kind == Variable && got.closed > StateLevel:
			l.wrong(at[i], "", "variable %s of module %s cannot be replaced by %s", sub.Param.Name, m.Name, got.closed)
		case sub.Param.Kind == Variable:
			l.atMost(got, StateLevel)
		case got.closed > ConstantLevel && !m.plain():
			l.wrong(at[i], "", "constant %s of module %s, which has %s, must be replaced by a constant, not by %s", sub.Param.Name, m.Name, m.notPlain(), got.closed)
		case len(got.atoms) > 0 && !m.plain():
			l.atMost(got, ConstantLevel)
		}
		if to.sum != nil && len(to.sum.opaque) > 0 {
			l.wrong(at[i], "", "constant %s of module %s stands for operators that give equal values for equal arguments; this one takes the prime, ENABLED or a temporal operator of its argument %s", sub.Param.Name, m.Name, to.sum.opaque[0].Name)
		}
	}
	if m.asks == nil {
		return
	}
	whole := &summary{formals: formals}
	for b := range m.asks.bounds {
		whole.bounds = append(whole.bounds, b)
	}
	for u := range m.asks.uses {
		whole.uses = append(whole.uses, u)
	}
	whole.sort()
	l.hold(whole, inst.given, func(i, j int, asked bound, got Level) {
		p := formals[i]
		switch {
		case j >= 0 && j != i:
			l.wrong(at[i], "", "module %s gives %s to %s, which takes at most %s there, and this is %s", m.Name, p.Name, formals[j].Name, asked.most, got)
		case p.Arity() > 0:
			l.wrong(at[i], "", "module %s uses operator %s where this one makes %s, and only %s can stand", m.Name, p.Name, got, asked.most)
		case got <= p.most():
			l.wrong(at[i], "", "constant %s of module %s can only be replaced by %s, and this is %s", p.Name, m.Name, asked.most, got)
		}
	})
}

// most returns the highest level of an expression that may replace s.
func (s *Symbol) most() Level {
	if s.Kind == Variable {
		return StateLevel
	}
	return TemporalLevel
}

// plain reports whether a module has only constants.
func (m *Module) plain() bool { return m.notPlain() == "" }

func (m *Module) notPlain() string {
	if len(m.Variables) > 0 {
		return "variables"
	}
	for _, s := range m.Defined {
		if d := s.source(); d.levels != nil && d.levels.term.closed > ConstantLevel {
			return "definitions that are more than constants, as " + s.Name + " is"
		}
	}
	for _, e := range m.Extends {
		if out := e.notPlain(); out != "" {
			return out
		}
	}
	return ""
}

// known returns the summary of a definition or of a built-in operator. It is
// nil while nothing is known.
func (l *leveller) known(s *Symbol) *summary {
	switch {
	case s.Kind == Builtin:
		return l.language(s)
	case s.Origin != nil:
		return l.through(s.Instance, l.known(s.Origin))
	case s.Kind == Instanced:
		return s.Instance.sum
	}
	return s.levels
}

// language returns the summary of a built-in operator that is passed as an
// argument.
func (l *leveller) language(s *Symbol) *summary {
	for len(l.operands) < s.Arity() {
		l.operands = append(l.operands, &Symbol{Kind: Bound, Name: fmt.Sprint(len(l.operands) + 1), Node: &syntax.Lambda{}})
	}
	formals := l.operands[:s.Arity()]
	args := make([]given, len(formals))
	for i, p := range formals {
		args[i].term = l.symbol(p)
	}
	return l.summary(formals, func() term { return l.builtin(s, nil, args) })
}

// operator returns what s gives to a parameter that is an operator.
func (l *leveller) operator(s *Symbol) given {
	if s.Kind == Bound || s.Kind == Constant {
		return given{op: s}
	}
	return given{sum: l.known(s)}
}

// through returns a summary seen through an instance.
func (l *leveller) through(inst *Instance, d *summary) *summary {
	if d == nil || len(inst.given) != len(inst.Subs) {
		return d
	}
	env := make(map[*Symbol]given, len(inst.Subs))
	for i, sub := range inst.Subs {
		env[sub.Param] = inst.given[i]
	}
	return l.putSummary(d, env)
}

// putSummary replaces parameters in a summary. Its demands on parameters other
// than those of definitions were already checked where those were replaced.
func (l *leveller) putSummary(d *summary, env map[*Symbol]given) *summary {
	asks := newDemands()
	about := func(n int32) bool {
		a := l.atoms[n]
		return a.from != nil && a.from.Kind == Bound || slices.ContainsFunc(l.placesOf(a.when), func(p place) bool { return p.op.Kind == Bound })
	}
	l.ask(d, env, func(t term, most Level, _, _ int32) {
		for _, n := range t.atoms {
			if about(n) {
				asks.bounds[bound{n, most}] = true
			}
		}
	}, func(p place, t term) {
		for _, n := range l.partsOf(t) {
			if p.op.Kind == Bound || about(n) {
				asks.uses[use{l.guard(p), n}] = true
			}
		}
	})
	out := &summary{formals: d.formals, term: l.put(d.term, env), opaque: d.opaque}
	for b := range asks.bounds {
		out.bounds = append(out.bounds, b)
	}
	for u := range asks.uses {
		out.uses = append(out.uses, u)
	}
	out.sort()
	return out
}

// ask calls bound for every demand of d where env replaces parameters, and use
// for everything that d gives to operators that are still parameters. from is
// the atom in d. over is the number in d of the operator that makes the demand,
// or -1.
func (l *leveller) ask(d *summary, env map[*Symbol]given, bound func(t term, most Level, from, over int32), use func(place, term)) {
	for _, b := range d.bounds {
		bound(l.putAtom(b.atom, env), b.most, b.atom, -1)
	}
	for _, u := range d.uses {
		t, p := l.putAtom(u.atom, env), l.place(u)
		to, ok := env[p.op]
		switch {
		case !ok:
			use(p, t)
		case to.op != nil:
			use(place{to.op, p.i}, t)
		case to.sum != nil && p.i < len(to.sum.formals):
			formal := to.sum.formals[p.i]
			for _, b := range to.sum.bounds {
				if a := l.atoms[b.atom]; a.from == formal {
					bound(l.when(t, a.when), b.most, u.atom, int32(slices.Index(d.formals, p.op)))
				}
			}
			for _, v := range to.sum.uses {
				if a := l.atoms[v.atom]; a.from == formal {
					use(l.place(v), l.when(t, a.when))
				}
			}
		}
	}
}

// hold checks arguments against the demands of d. It calls wrong with the
// argument at fault and, if another argument makes the demand, with that one,
// else with -1.
func (l *leveller) hold(d *summary, args []given, wrong func(blamed, asking int, asked bound, got Level)) map[*Symbol]given {
	env := make(map[*Symbol]given, len(args))
	for i, p := range d.formals {
		if i < len(args) {
			env[p] = args[i]
		}
	}
	guilty := func(n int32, over int32) int {
		a := l.atoms[n]
		if i := slices.Index(d.formals, a.from); i >= 0 {
			return i
		}
		if over >= 0 {
			return int(over)
		}
		for _, p := range l.placesOf(a.when) {
			if i := slices.Index(d.formals, p.op); i >= 0 {
				return i
			}
		}
		return -1
	}
	l.ask(d, env, func(t term, most Level, from, over int32) {
		if t.closed > most {
			if i := guilty(from, over); i >= 0 {
				wrong(i, int(over), bound{from, most}, t.closed)
			}
			return
		}
		l.atMost(t, most)
	}, l.uses)
	for i, p := range d.formals {
		if i < len(args) && slices.Contains(d.opaque, p) {
			l.hide(args[i].params())
		}
	}
	for _, u := range d.uses {
		p := l.place(u)
		if to := env[p.op]; to.sum != nil && p.i < len(to.sum.formals) && slices.Contains(to.sum.opaque, to.sum.formals[p.i]) {
			l.hide(l.putAtom(u.atom, env).params)
			if s := l.atoms[u.atom].from; s != nil && !slices.Contains(d.formals, s) {
				l.hide([]*Symbol{s})
			}
		}
	}
	return env
}

// part returns the summary of a selected part of a definition. It reports
// nothing.
func (l *leveller) part(e syntax.Expr, formals []*Symbol) *summary {
	if got, ok := l.parts[e]; ok || l.depth > DepthMax {
		return got
	}
	l.parts[e] = nil // while under way
	saved := l.report
	l.report = false
	got := l.summary(formals, func() term { return l.expr(e) })
	l.report = saved
	l.parts[e] = got
	return got
}
