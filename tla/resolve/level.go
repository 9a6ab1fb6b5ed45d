package resolve

import (
	"slices"

	"github.com/ashlar-dev/ashlar/tla/syntax"
)

// The levels of a definition are found after the names of its module: first
// silently, again and again while RECURSIVE makes them grow, and then once
// more to report. The level of an expression is the highest of its parts and
// of its operator, with parameters and constants at the lowest. The level of
// an argument counts only where the operator's value has the level of that
// parameter: not where it stands below ENABLED, or is not used. An operator
// that primes a parameter, or uses it where only a state can stand, says so
// in max, and arguments are held against that.

// Level says what an expression may depend on.
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

// levels is what is known about the level of a symbol.
type levels struct {
	level Level
	// constants says that a CONSTANT of some module is used.
	constants bool
	// max is the highest level that each parameter may have.
	max []Level
	// flows are the parameters, of the definition and of those around it, whose
	// levels are part of its own.
	flows []*Symbol
}

// passes says whether the level of argument i of s is part of the level of
// the application.
func (s *Symbol) passes(i int) bool {
	d := s.source()
	switch d.Kind {
	case Operator:
		return d.levels != nil && i < len(d.Formals) && slices.Contains(d.levels.flows, d.Formals[i])
	}
	return true
}

// passesMax bounds how often the levels of a module are computed anew.
const passesMax = 12

type leveller struct {
	*resolver
	report  bool
	changed bool
	depth   int
	// max collects the constraints on parameters that are being defined.
	max map[*Symbol]Level
	// parts has the levels of selected parts in this pass: a part may select
	// parts itself, over and over.
	parts map[syntax.Expr]lv
}

type lv struct {
	level     Level
	constants bool
	flows     []*Symbol // see levels
}

func (a lv) join(b lv) lv {
	return lv{max(a.level, b.level), a.constants || b.constants, plus(a.flows, b.flows)}
}

// plus adds to a what it lacks of b.
func plus(a, b []*Symbol) []*Symbol {
	if len(a) == 0 {
		return b
	}
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(slices.Clip(a), s)
		}
	}
	return a
}

// minus is a without what is in b.
func minus(a, b []*Symbol) []*Symbol {
	var out []*Symbol
	for _, s := range a {
		if !slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

func (r *resolver) levelsOfModule(m *syntax.Module) { r.levelsOfUnits(m.Units) }

func (r *resolver) levelsOfUnits(units []syntax.Unit) {
	l := &leveller{resolver: r, max: map[*Symbol]Level{}}
	for range passesMax {
		l.changed, l.parts = false, map[syntax.Expr]lv{}
		l.units(units)
		if !l.changed {
			break
		}
	}
	l.report, l.parts = true, map[syntax.Expr]lv{}
	l.units(units)
}

// levelOf checks the levels inside one expression and returns its own.
func (r *resolver) levelOf(e syntax.Expr) Level {
	l := &leveller{resolver: r, report: true, max: map[*Symbol]Level{}, parts: map[syntax.Expr]lv{}}
	return l.expr(e).level
}

func (l *leveller) wrong(at syntax.Node, repair, format string, args ...any) {
	if l.report {
		l.error(at.Span(), LevelTooHigh, repair, format, args...)
	}
}

func (l *leveller) units(units []syntax.Unit) {
	for _, u := range units {
		if l.until != 0 && u.Span().File == l.module.Syntax.Span().File && u.Span().Start >= l.until {
			return
		}
		l.unit(u)
	}
}

func (l *leveller) unit(u syntax.Unit) {
	switch u := u.(type) {
	case *syntax.OperatorDef:
		l.definition(l.info.Defs[u], u.Body)
	case *syntax.FunctionDef:
		s := l.info.Defs[u]
		if s == nil {
			return
		}
		got := l.bounds(u.Bounds).join(l.value(u.Body))
		l.set(s, levels{level: got.level, constants: got.constants, flows: got.flows})
	case *syntax.Instance:
		l.instance(u)
	case *syntax.Module:
		l.units(u.Units)
	case *syntax.Assume:
		got := l.expr(u.Body)
		if got.level > ConstantLevel {
			l.wrong(u.Body, "", "an assumption must not depend on variables; this one is %s", got.level)
		}
		l.fact(u, got)
	case *syntax.Theorem:
		l.fact(u, l.expr(u.Body))
	}
}

func (l *leveller) fact(u syntax.Unit, got lv) {
	if s := l.info.Defs[u]; s != nil {
		l.set(s, levels{level: got.level, constants: got.constants})
	}
}

func (l *leveller) definition(s *Symbol, body syntax.Expr) {
	if s == nil {
		return
	}
	got := l.expr(body)
	out := levels{level: got.level, constants: got.constants, flows: got.flows, max: make([]Level, len(s.Formals))}
	for i, p := range s.Formals {
		out.max[i] = TemporalLevel
		if m, ok := l.max[p]; ok {
			out.max[i] = m
		}
	}
	l.set(s, out)
}

func (l *leveller) set(s *Symbol, now levels) {
	old := s.levels
	if old != nil && old.level == now.level && old.constants == now.constants {
		same := len(old.max) == len(now.max) && len(minus(now.flows, old.flows)) == 0
		for i := range now.max {
			same = same && old.max[i] == now.max[i]
		}
		if same {
			return
		}
	}
	s.levels = &now
	l.changed = true
}

// instance checks what is substituted. A variable takes a state function; a
// constant takes a constant, or anything up to an action when the module has
// no variables and uses no action.
func (l *leveller) instance(u *syntax.Instance) {
	inst := l.info.Instances[u]
	if inst == nil {
		return
	}
	plain := len(inst.Module.Variables) == 0
	inst.subs = make([]lv, len(inst.Subs))
	for i, sub := range inst.Subs {
		var at syntax.Node = u.Module
		if sub.Value != nil {
			inst.subs[i], at = l.argument(sub.Value), sub.Value
		} else {
			inst.subs[i] = l.symbol(sub.Symbol)
		}
		got := inst.subs[i].level
		switch {
		case sub.Param.Kind == Variable && got > StateLevel:
			l.wrong(at, "", "variable %s of module %s cannot be replaced by %s", sub.Param.Name, inst.Module.Name, got)
		case sub.Param.Kind == Constant && got > ConstantLevel && !plain:
			l.wrong(at, "", "constant %s of module %s, which has variables, must be replaced by a constant, not by %s", sub.Param.Name, inst.Module.Name, got)
		case got == TemporalLevel:
			l.wrong(at, "", "constant %s of module %s cannot be replaced by a temporal formula", sub.Param.Name, inst.Module.Name)
		}
	}
}

// symbol is the level of a use of s, its arguments apart.
func (l *leveller) symbol(s *Symbol) lv {
	switch s.Kind {
	case Variable:
		return lv{level: StateLevel}
	case Constant:
		return lv{constants: true}
	case Builtin:
		return lv{level: builtinLevel(s.Name)}
	case Bound:
		if _, ok := s.Node.(*syntax.OperatorDef); ok {
			return lv{flows: []*Symbol{s}}
		}
	}
	if s.Origin != nil {
		return l.through(s.Instance, l.symbol(s.Origin))
	}
	if s.levels == nil {
		return lv{}
	}
	return lv{s.levels.level, s.levels.constants, minus(s.levels.flows, s.Formals)}
}

// through is the level of a definition seen through an instance. A definition
// whose variables become constants may have a lower level than this says; it
// is then given the lowest, so that nothing is reported that could be right.
func (l *leveller) through(inst *Instance, d lv) lv {
	lowered := false
	out := lv{level: d.level, flows: d.flows}
	for i, got := range inst.subs {
		sub := inst.Subs[i]
		if sub.Param.Kind == Variable {
			lowered = lowered || got.level == ConstantLevel
			out.constants = out.constants || got.constants
		} else if d.constants {
			out = out.join(got)
		}
	}
	if lowered && d.level == StateLevel {
		out.level = ConstantLevel
	}
	return out
}

// part is the level of a selected part, which is not reported about here.
func (l *leveller) part(e syntax.Expr) lv {
	if got, ok := l.parts[e]; ok || l.depth > DepthMax {
		return got
	}
	saved := l.report
	l.report = false
	got := l.argument(e)
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

// argument is the level of an argument, an operator perhaps.
func (l *leveller) argument(e syntax.Expr) lv {
	if p, ok := e.(*syntax.Path); ok {
		return l.path(p)
	}
	switch e := e.(type) {
	case *syntax.Ident, *syntax.OpRef:
		if s := l.info.Uses[e]; s != nil {
			return l.symbol(s)
		}
		return lv{}
	case *syntax.Lambda:
		got := l.expr(e.Body)
		got.flows = minus(got.flows, l.info.Binds[e])
		return got
	}
	return l.expr(e)
}

// value is expr for a place where no temporal formula can stand.
func (l *leveller) value(e syntax.Expr) lv {
	got := l.expr(e)
	if got.level == TemporalLevel {
		l.wrong(e, "", "a temporal formula cannot be used as a value")
		got.level = ActionLevel
	}
	return got
}

func (l *leveller) bounds(bounds []syntax.Bound) lv {
	var out lv
	for _, b := range bounds {
		if b.Set != nil {
			out = out.join(l.value(b.Set))
		}
	}
	return out
}

// limit checks that e is at most of the given level and notes what that asks
// of the parameters in it.
func (l *leveller) limit(e syntax.Expr, most Level, why string) lv {
	got := l.expr(e)
	if got.level > most {
		l.wrong(e, "", "%s, but this is %s", why, got.level)
		got.level = most
	}
	l.constrain(e, most, 0)
	return got
}

// constrain notes that every parameter in e is at most of the given level.
func (l *leveller) constrain(e syntax.Expr, most Level, depth int) {
	if e == nil || depth > DepthMax {
		return
	}
	if s := l.info.Uses[e]; s != nil && s.Kind == Bound {
		if old, ok := l.max[s]; !ok || most < old {
			l.max[s] = most
		}
	}
	switch e := e.(type) {
	case *syntax.Prefix:
		if e.Op.Text == "ENABLED" {
			return
		}
	case *syntax.Let:
		for _, u := range e.Units {
			if d, ok := u.(*syntax.OperatorDef); ok {
				l.constrain(d.Body, most, depth+1)
			}
		}
	}
	for _, c := range allChildren(e) {
		l.constrain(c, most, depth+1)
	}
}

func (l *leveller) expr(e syntax.Expr) lv {
	if e == nil || l.depth > DepthMax {
		return lv{}
	}
	l.depth++
	defer func() { l.depth-- }()
	switch e := e.(type) {
	case *syntax.Ident:
		if s := l.info.Uses[e]; s != nil {
			return l.symbol(s)
		}
		return lv{}
	case *syntax.Dollar:
		if s := l.info.Uses[e]; s != nil {
			return l.symbol(s)
		}
		return lv{}
	case *syntax.Apply:
		return l.apply(e, e.Args)
	case *syntax.Prefix:
		return l.apply(e, []syntax.Expr{e.X})
	case *syntax.Postfix:
		return l.apply(e, []syntax.Expr{e.X})
	case *syntax.Infix:
		return l.infix2(e)
	case *syntax.Path:
		return l.path(e)
	case *syntax.Quant:
		sets := l.bounds(e.Bounds)
		body := l.expr(e.Body)
		if e.Kind == syntax.TemporalForall || e.Kind == syntax.TemporalExists {
			body.level = TemporalLevel
		}
		return sets.join(body)
	case *syntax.Choose:
		return l.bounds([]syntax.Bound{e.Bound}).join(l.value(e.Body))
	case *syntax.SetFilter:
		return l.bounds([]syntax.Bound{e.Bound}).join(l.value(e.Pred))
	case *syntax.SetMap:
		return l.bounds(e.Bounds).join(l.value(e.Elem))
	case *syntax.Fn:
		return l.bounds(e.Bounds).join(l.value(e.Body))
	case *syntax.Junction:
		var out lv
		for _, x := range e.Items {
			out = out.join(l.expr(x))
		}
		return out
	case *syntax.If:
		return l.value(e.Cond).join(l.expr(e.Then)).join(l.expr(e.Else))
	case *syntax.Case:
		out := l.expr(e.Other)
		for _, a := range e.Arms {
			out = out.join(l.value(a.Guard)).join(l.expr(a.Value))
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
		got = got.join(l.limit(e.Vars, StateLevel, "the subscript must be a state function"))
		got.level = ActionLevel
		return got
	case *syntax.Fairness:
		got := l.limit(e.Body, ActionLevel, "fairness is about an action")
		got = got.join(l.limit(e.Vars, StateLevel, "the subscript must be a state function"))
		got.level = TemporalLevel
		return got
	case *syntax.AssumeProve:
		for _, item := range e.Items {
			if x, ok := item.(syntax.Expr); ok {
				l.expr(x)
			}
		}
		return l.expr(e.Prove)
	}
	var out lv
	for _, c := range allChildren(e) {
		out = out.join(l.value(c))
	}
	return out
}

// infix2 walks the left spine in a loop, as the resolver does.
func (l *leveller) infix2(e *syntax.Infix) lv {
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
		got = l.applied(x, []syntax.Expr{x.Left, x.Right}, []lv{got, l.expr(x.Right)})
	}
	return got
}

func (l *leveller) apply(node syntax.Expr, args []syntax.Expr) lv {
	s := l.info.Uses[node]
	if s != nil && s.Kind == Builtin && len(args) == 1 {
		switch s.Name {
		case "'":
			return l.limit(args[0], StateLevel, "only a state function can be primed").join(lv{level: ActionLevel})
		case "UNCHANGED":
			return l.limit(args[0], StateLevel, "UNCHANGED takes a state function").join(lv{level: ActionLevel})
		case "ENABLED":
			got := l.limit(args[0], ActionLevel, "ENABLED takes an action")
			return lv{level: StateLevel, constants: got.constants}
		case "[]", "<>":
			return l.temporal(s.Name, args[0])
		}
	}
	got := make([]lv, len(args))
	for i, a := range args {
		got[i] = l.argument(a)
	}
	return l.applied(node, args, got)
}

// temporal is []F or <>F. An action is allowed as [A]_v under [] and as <<A>>_v
// under <> only, so that the formula does not see steps that stutter.
func (l *leveller) temporal(op string, x syntax.Expr) lv {
	got := l.expr(x)
	if got.level == ActionLevel {
		a, ok := x.(*syntax.Action)
		if !ok || a.Angle == (op == "[]") {
			repair := "write [][...]_vars"
			if op == "<>" {
				repair = "write <><<...>>_vars"
			}
			l.wrong(x, repair, "%s is applied to an action", op)
		}
	}
	got.level = TemporalLevel
	return got
}

// applied joins the levels of arguments with that of the operator.
func (l *leveller) applied(node syntax.Expr, args []syntax.Expr, got []lv) lv {
	s := l.info.Uses[node]
	if s == nil {
		var out lv
		for _, g := range got {
			out = out.join(g)
		}
		return out
	}
	if s.Kind == Builtin {
		return l.builtin(s, args, got)
	}
	return l.call(s, l.symbol(s), args, got)
}

func (l *leveller) builtin(s *Symbol, args []syntax.Expr, got []lv) lv {
	out := lv{level: builtinLevel(s.Name)}
	for i, g := range got {
		switch s.Name {
		case `/\`, `\/`, "~", "=>", "<=>":
		case "~>", "-+->":
			if g.level == ActionLevel {
				l.wrong(args[i], "", "%s joins temporal formulas or state predicates, and this is an action", s.Name)
			}
		default:
			if g.level == TemporalLevel {
				l.wrong(args[i], "", "a temporal formula cannot be used as a value")
				g.level = ActionLevel
			}
		}
		out = out.join(g)
	}
	return out
}

// call holds arguments against what the definition allows.
func (l *leveller) call(s *Symbol, out lv, args []syntax.Expr, got []lv) lv {
	known := s.source().levels
	for i, g := range got {
		if known != nil && i < len(known.max) && known.max[i] < TemporalLevel {
			if g.level > known.max[i] {
				l.wrong(args[i], "", "argument %d of %s can only be %s, and this is %s", i+1, s.Name, known.max[i], g.level)
				g.level = known.max[i]
			}
			l.constrain(args[i], known.max[i], 0)
		}
		if s.passes(i) {
			out = out.join(g)
		}
	}
	return out
}

// path is the level of what a path names.
func (l *leveller) path(p *syntax.Path) lv {
	use := l.info.Paths[p]
	if use == nil {
		return lv{}
	}
	var out lv
	if use.Part != nil {
		out = l.part(use.Part.Expr)
		for _, g := range use.Part.Given {
			out = out.join(l.argument(g.Value))
		}
	} else {
		out = l.symbol(use.Target)
	}
	for i := len(use.Through) - 1; i >= 0; i-- {
		hop := use.Through[i]
		s := hop.Instance
		for ; s.Origin != nil; s = s.Origin {
			out = l.through(s.Instance, out)
		}
		out = l.through(s.Instance, out)
		for _, a := range hop.Args {
			out = out.join(l.argument(a))
		}
	}
	got := make([]lv, len(use.Args))
	for i, a := range use.Args {
		got[i] = l.argument(a)
	}
	if use.Part != nil {
		for _, g := range got {
			out = out.join(g)
		}
		return out
	}
	return l.call(use.Target, out, use.Args, got)
}
