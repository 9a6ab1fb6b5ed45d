package resolve

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// The levels of a definition are found after the names of its module: first
// silently, again and again while RECURSIVE makes them grow, and then once
// more to report. What an expression asks of its parameters is collected on the
// way, as bounds and uses; where the definition is applied they are held
// against the arguments, so that an application is refused exactly where what
// it stands for would be. A definition by itself is held against the rules with
// parameters that are constants and operator parameters that have the levels of
// all their arguments.

// Level states what an expression may depend on.
type Level uint8

// The levels in their order.
const (
	ConstantLevel Level = iota
	StateLevel
	ActionLevel
	TemporalLevel
)

func (l Level) String() string {
	return [...]string{"a constant", "a state function", "an action", "a temporal formula"}[l]
}

// passesMax bounds how often the levels of a module are computed anew.
const passesMax = 12

type leveller struct {
	*resolver
	*algebra
	report  bool
	changed bool
	depth   int
	// asks collects what the definition that is being read asks of parameters.
	asks *demands
	// parts has the summaries of selected parts in this pass: a part may select
	// parts itself, over and over.
	parts map[syntax.Expr]*summary
}

// demands are the bounds, uses and opaque parameters of one definition.
type demands struct {
	bounds map[bound]bool
	uses   map[use]bool
	opaque map[*Symbol]bool
}

func newDemands() *demands {
	return &demands{map[bound]bool{}, map[use]bool{}, map[*Symbol]bool{}}
}

func (r *resolver) leveller() *leveller {
	if r.info.algebra == nil {
		r.info.algebra = newAlgebra()
	}
	return &leveller{resolver: r, algebra: r.info.algebra, asks: newDemands(), parts: map[syntax.Expr]*summary{}}
}

func (r *resolver) levelsOfModule(m *syntax.Module) {
	r.module.asks = r.levelsOfUnits(m.Units)
	r.module.extendAsks()
}

// levelsOfUnits returns what the units ask of the module's constants.
func (r *resolver) levelsOfUnits(units []syntax.Unit) *demands {
	l := r.leveller()
	for range passesMax {
		l.changed, l.parts = false, map[syntax.Expr]*summary{}
		l.units(units)
		if !l.changed {
			break
		}
	}
	l.report, l.parts, l.asks = true, map[syntax.Expr]*summary{}, newDemands()
	l.units(units)
	return l.asks
}

// levelOf checks the levels inside one expression and returns its own.
func (r *resolver) levelOf(e syntax.Expr) Level {
	l := r.leveller()
	l.report = true
	return l.expr(e).closed
}

func (l *leveller) wrong(at source.Span, repair, format string, args ...any) {
	if l.report {
		l.error(at, LevelTooHigh, repair, format, args...)
	}
}

func (l *leveller) units(units []syntax.Unit) {
	for _, u := range units {
		l.unit(u)
	}
}

func (l *leveller) unit(u syntax.Unit) {
	switch u := u.(type) {
	case *syntax.OperatorDef:
		if s := l.info.Defs[u]; s != nil {
			l.set(s, l.summary(s.Formals, func() term { return l.expr(u.Body) }))
		}
	case *syntax.FunctionDef:
		if s := l.info.Defs[u]; s != nil {
			l.set(s, l.summary(nil, func() term { return l.join(l.bounds(u.Bounds), l.expr(u.Body)) }))
		}
	case *syntax.Instance:
		l.instance(u)
	case *syntax.Module:
		l.nested(u)
	case *syntax.Assume:
		got := l.expr(u.Body)
		if got.closed > ConstantLevel {
			l.wrong(u.Body.Span(), "", "an assumption must not depend on variables; this one is %s", got.closed)
		}
		l.atMost(got, ActionLevel)
		l.fact(u, got)
	case *syntax.Theorem:
		l.fact(u, l.expr(u.Body))
	}
}

func (l *leveller) fact(u syntax.Unit, got term) {
	if s := l.info.Defs[u]; s != nil {
		l.set(s, &summary{term: got})
	}
}

// summary reads a body and takes from what it asks what is about the formals.
// What it asks of the parameters around is asked for formals that are constants
// and have the levels of all their arguments.
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

// nested reads a module within a module.
func (l *leveller) nested(u *syntax.Module) {
	i := slices.IndexFunc(l.info.Modules, func(m *Module) bool { return m.Syntax == u })
	if i < 0 {
		return
	}
	m := l.info.Modules[i]
	around := l.asks
	l.asks = newDemands()
	l.units(u.Units)
	m.asks = l.asks
	l.asks = around
	m.extendAsks()
	own := append(slices.Clone(m.Constants), m.Variables...)
	for b := range m.asks.bounds {
		if n, ok := l.without(b.atom, own); ok {
			around.bounds[bound{n, b.most}] = true
		}
	}
	for u := range m.asks.uses {
		if n, ok := l.without(u.atom, own); ok && !slices.Contains(own, l.place(u).op) {
			around.uses[use{u.at, n}] = true
		}
	}
}

// extendAsks adds what the modules that m extends ask of its constants.
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
// has: what is proved in the module rests on that.
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

// most is the highest level of what may replace s.
func (s *Symbol) most() Level {
	if s.Kind == Variable {
		return StateLevel
	}
	return TemporalLevel
}

// plain reports whether a module is about constants alone.
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

// known is the summary of a definition or of an operator of the language; it is
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

// language is the summary of an operator of the language that is passed on.
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

// operator is what a parameter that is an operator gets for s.
func (l *leveller) operator(s *Symbol) given {
	if s.Kind == Bound || s.Kind == Constant {
		return given{op: s}
	}
	return given{sum: l.known(s)}
}

// through is a summary seen through an instance.
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

// putSummary replaces parameters in a summary. What it asks of others than the
// parameters of definitions was held against them where they were replaced.
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

// ask calls bound for everything that d asks where env replaces parameters, and
// use for what it gives to operators that are parameters still. From is the
// atom in d, and over the number in d of the operator that asks, or -1.
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

// hold holds arguments against what d asks. It calls wrong with the argument
// that is to blame and, where another argument asks it, that one, else -1.
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

// part is the summary of a selected part of a definition; nothing in it is
// reported here.
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

// argument is what a parameter that takes arity arguments itself gets for e.
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
		// The operator keeps the parameters that the path gives nothing for.
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

// value is expr for a place where no temporal formula can stand.
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

// limit checks that e is at most of the given level and asks that of the
// parameters in it. It is for arguments of the operators that look at more than
// the value of what they get.
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

// atMost asks that a term is at most of a level.
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

// uses notes that argument p.i of what stands for p.op is given t.
func (l *leveller) uses(p place, t term) {
	for _, n := range l.partsOf(t) {
		l.asks.uses[use{l.guard(p), n}] = true
	}
}

// hide notes that parameters stand where equals cannot be put for equals.
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

// temporal is []F or <>F. An action is allowed as [A]_v under [] and as <<A>>_v
// under <> only, so that the formula does not see steps that stutter.
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

// unwrap is e without LETs and labels around it.
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

// logical joins formulas. An action cannot stand beside a temporal formula: it
// would be about one step of a behaviour that the formula is about as a whole.
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
		l.wrong(items[action].Span(), "write [][...]_vars for what every step does", "an action stands beside a temporal formula")
	}
	return out
}

// call is the level of an application, whose arguments are held against what
// the definition asks.
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

// blame returns what reports that an argument of d cannot stand where it is.
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

// path is the summary of what a path names, and what the path gives for the
// parameters of the definition and of the instances on the way.
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

// hop is a summary seen through a named instance, which other instances may
// have brought.
func (l *leveller) hop(s *Symbol, d *summary) *summary {
	if s.Origin != nil {
		d = l.hop(s.Origin, d)
	}
	return l.through(s.Instance, d)
}

// bare are the levels of what a path gives for names of quantifiers and the
// like, which are no parameters.
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
