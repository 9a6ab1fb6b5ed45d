// SPDX-License-Identifier: Apache-2.0

package resolve

import "github.com/ashlar-dev/ashlar/internal/tla/syntax"

// The levels of expressions.

// value is expr for a place where a temporal formula is not allowed.
func (l *leveller) value(e syntax.Expr) term {
	return l.notTemporal(e, l.expr(e))
}

func (l *leveller) notTemporal(e syntax.Expr, got term) term {
	if got.closed == TemporalLevel {
		if e != nil {
			l.wrong(e.Span(), "", "a temporal formula cannot be used as a value")
		}
		return fixed(ActionLevel)
	}
	l.atMost(got, ActionLevel)
	return got
}

func (l *leveller) bounds(bounds []syntax.Bound) term {
	var out term
	for _, b := range bounds {
		if b.Set != nil {
			out = l.join(out, l.value(b.Set))
		}
	}
	return out
}

// limit checks that e is at most of the given level and demands the same of the
// parameters in it. It is for arguments of operators whose result depends on
// more than the value of the argument.
func (l *leveller) limit(e syntax.Expr, most Level, why string) term {
	got := l.expr(e)
	if got.closed > most {
		l.wrong(e.Span(), "", "%s, but this is %s", why, got.closed)
	} else {
		l.atMost(got, most)
	}
	l.hide(got.params)
	return term{params: got.params}
}

// atMost demands that a term is at most of a level.
func (l *leveller) atMost(t term, most Level) {
	if most == TemporalLevel {
		return
	}
	for _, n := range t.atoms {
		if a := l.atoms[n]; a.from != nil && a.from.most() > most {
			l.asks.bounds[bound{n, most}] = true
		}
	}
}

// uses records that argument p.i of what stands for p.op is given t.
func (l *leveller) uses(p place, t term) {
	for _, n := range l.partsOf(t) {
		l.asks.uses[use{l.guard(p), n}] = true
	}
}

// hide records that the parameters are used where replacing them by equal
// expressions could change the meaning.
func (l *leveller) hide(params []*Symbol) {
	for _, s := range params {
		l.asks.opaque[s] = true
	}
}

func (l *leveller) expr(e syntax.Expr) term {
	if e == nil || l.depth > DepthMax {
		return term{}
	}
	l.depth++
	defer func() { l.depth-- }()
	switch e := e.(type) {
	case *syntax.Ident:
		if s := l.info.Uses[e]; s != nil {
			return l.symbol(s)
		}
		return term{}
	case *syntax.Dollar:
		if s := l.info.Uses[e]; s != nil {
			return l.symbol(s)
		}
		return term{}
	case *syntax.Apply:
		return l.apply(e, e.Args)
	case *syntax.Prefix:
		return l.apply(e, []syntax.Expr{e.X})
	case *syntax.Postfix:
		return l.apply(e, []syntax.Expr{e.X})
	case *syntax.Infix:
		return l.infix2(e)
	case *syntax.Path:
		sum, texts, args := l.path(e)
		if sum == nil {
			return term{}
		}
		out := l.call(e, sum, texts, args)
		for _, a := range l.bare(e) {
			out = l.join(out, a)
		}
		return out
	case *syntax.Quant:
		return l.quantified(e)
	case *syntax.Choose:
		return l.join(l.bounds([]syntax.Bound{e.Bound}), l.value(e.Body))
	case *syntax.SetFilter:
		return l.join(l.bounds([]syntax.Bound{e.Bound}), l.value(e.Pred))
	case *syntax.SetMap:
		return l.join(l.bounds(e.Bounds), l.value(e.Elem))
	case *syntax.Fn:
		return l.join(l.bounds(e.Bounds), l.expr(e.Body))
	case *syntax.Junction:
		got := make([]term, len(e.Items))
		for i, x := range e.Items {
			got[i] = l.expr(x)
		}
		return l.logical(e.Items, got)
	case *syntax.If, *syntax.Case, *syntax.Record:
		var out term
		for _, c := range children(e) {
			out = l.join(out, l.expr(c))
		}
		return out
	case *syntax.Let:
		for _, u := range e.Units {
			l.unit(u)
		}
		return l.expr(e.Body)
	case *syntax.Label:
		return l.expr(e.Body)
	case *syntax.Action:
		got := l.limit(e.Body, ActionLevel, "the part in brackets must be an action")
		return l.join(fixed(ActionLevel), l.join(got, l.limit(e.Vars, StateLevel, "the subscript must be a state function")))
	case *syntax.Fairness:
		got := l.limit(e.Body, ActionLevel, "fairness is about an action")
		return l.join(fixed(TemporalLevel), l.join(got, l.limit(e.Vars, StateLevel, "the subscript must be a state function")))
	case *syntax.AssumeProve:
		for _, item := range e.Items {
			if x, ok := item.(syntax.Expr); ok {
				l.expr(x)
			}
		}
		return l.expr(e.Prove)
	}
	var out term
	for _, c := range allChildren(e) {
		out = l.join(out, l.value(c))
	}
	return out
}

func (l *leveller) quantified(e *syntax.Quant) term {
	sets := make([]term, len(e.Bounds))
	for i, b := range e.Bounds {
		if b.Set != nil {
			sets[i] = l.value(b.Set)
		}
	}
	out := l.expr(e.Body)
	if e.Kind == syntax.TemporalForall || e.Kind == syntax.TemporalExists {
		return l.join(fixed(TemporalLevel), term{params: out.params})
	}
	for i, b := range e.Bounds {
		if out.closed == TemporalLevel && sets[i].closed == ActionLevel {
			l.wrong(b.Set.Span(), "", "a quantifier over a temporal formula needs a set that is a state function; this is an action")
		}
	}
	for _, s := range sets {
		out = l.join(out, s)
	}
	return out
}

// infix2 walks the left spine in a loop, as the resolver does.
func (l *leveller) infix2(e *syntax.Infix) term {
	var spine []*syntax.Infix
	for {
		spine = append(spine, e)
		left, ok := e.Left.(*syntax.Infix)
		if !ok {
			break
		}
		e = left
	}
	got := l.expr(e.Left)
	for i := len(spine) - 1; i >= 0; i-- {
		x := spine[i]
		got = l.applyTo(x, []syntax.Expr{x.Left, x.Right}, []given{{term: got}, {term: l.expr(x.Right)}})
	}
	return got
}

// temporal returns the level of []F or <>F. An action is allowed only as [A]_v
// under [] and as <<A>>_v under <>, so that the formula is insensitive to
// stuttering.
func (l *leveller) temporal(op string, x syntax.Expr) term {
	got := l.expr(x)
	if got.closed == ActionLevel {
		a, ok := unwrap(x).(*syntax.Action)
		if !ok || a.Angle == (op == "[]") {
			repair := "write [][...]_vars"
			if op == "<>" {
				repair = "write <><<...>>_vars"
			}
			l.wrong(x.Span(), repair, "%s is applied to an action", op)
		}
	}
	l.hide(got.params)
	return l.join(fixed(TemporalLevel), term{params: got.params})
}

// unwrap returns e without enclosing LETs and labels.
func unwrap(e syntax.Expr) syntax.Expr {
	for {
		switch x := e.(type) {
		case *syntax.Let:
			e = x.Body
		case *syntax.Label:
			e = x.Body
		default:
			return e
		}
	}
}

// argument returns what e gives to a parameter that itself takes arity
// arguments.
func (l *leveller) argument(e syntax.Expr, arity int) given {
	if arity == 0 {
		return given{term: l.expr(e)}
	}
	switch e := e.(type) {
	case *syntax.Path:
		sum, texts, args := l.path(e)
		if sum == nil {
			return given{}
		}
		// The operator keeps the parameters for which the path gives no
		// argument.
		env := l.hold(sum, args, l.blame(e, sum, texts))
		out := l.putSummary(sum, env)
		if use := l.info.Paths[e]; use != nil {
			out.formals = use.Target.source().Formals
		}
		return given{sum: out}
	case *syntax.Ident, *syntax.OpRef:
		if s := l.info.Uses[e]; s != nil {
			return l.operator(s)
		}
	case *syntax.Lambda:
		return given{sum: l.summary(l.info.Binds[e], func() term { return l.expr(e.Body) })}
	}
	return given{}
}

// logical combines formulas. An action must not be combined with a temporal
// formula, because the action describes one step and the formula a whole
// behaviour.
func (l *leveller) logical(items []syntax.Expr, got []term) term {
	var out term
	action := -1
	for i, g := range got {
		if g.closed == ActionLevel && action < 0 {
			action = i
		}
		out = l.join(out, g)
	}
	if out.closed == TemporalLevel && action >= 0 && items != nil {
		l.wrong(items[action].Span(), "write [][...]_vars for what every step does", "an action is combined with a temporal formula")
	}
	return out
}
