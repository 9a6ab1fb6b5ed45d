// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// scope has the variables of a rule or function.
type scope struct {
	l    *lowerer
	vars map[string]*variable
	// closed reports that an unknown name is an error.
	closed bool
}

type variable struct {
	name  string
	slot  *slot
	span  source.Span
	uses  int
	bound bool
}

func (s *scope) variable(n string, span source.Span) *variable {
	v := s.vars[n]
	if v == nil {
		v = &variable{name: n, slot: &slot{}, span: span}
		s.vars[n] = v
		if s.closed {
			s.l.diags.Errorf(span, BadFunction, "'%s' is not a parameter", n)
		}
	}
	v.uses++
	return v
}

// make returns a term whose type is set later.
func (l *lowerer) make(t logic.Term, s *slot, span source.Span) (*logic.Term, *slot) {
	p := &t
	l.terms = append(l.terms, typed{p, s, span})
	return p, s
}

func (s *scope) term(t *syntax.Term) (*logic.Term, *slot) {
	l := s.l
	switch t.Kind {
	case syntax.WildcardTerm:
		return l.make(logic.Term{Kind: logic.Wildcard}, &slot{}, t.Span)
	case syntax.NameTerm:
		switch t.Text {
		case "self":
			return l.make(logic.Term{Kind: logic.Self}, known(logic.Type{Kind: logic.Node}, t.Span), t.Span)
		case "true", "false":
		default:
			v := s.variable(t.Text, t.Span)
			return l.make(logic.Term{Kind: logic.Var, Name: v.name}, v.slot, t.Span)
		}
	case syntax.CallTerm:
		return s.call(t)
	}
	sl := &slot{span: t.Span}
	v, _ := l.constant(t, sl)
	return l.make(logic.Term{Kind: logic.Const, Value: v}, sl, t.Span)
}

// constant returns the value of a constant, and gives its slot the type that the text shows. The
// kind of a number is set when its type is known.
func (l *lowerer) constant(t *syntax.Term, sl *slot) (logic.Value, bool) {
	is := func(k logic.TypeKind, v logic.Value) (logic.Value, bool) {
		v.Kind = k
		l.same(sl, known(logic.Type{Kind: k}, t.Span), t.Span)
		return v, true
	}
	switch t.Kind {
	case syntax.NumberTerm:
		if t.Text[0] == '-' {
			n, err := strconv.ParseInt(t.Text, 10, 64)
			if err != nil {
				l.diags.Errorf(t.Span, syntax.BadNumber, "this number does not fit into 64 bits")
			}
			return is(logic.Int, logic.Value{Num: uint64(n)})
		}
		n, err := strconv.ParseUint(t.Text, 10, 64)
		if err != nil {
			l.diags.Errorf(t.Span, syntax.BadNumber, "this number does not fit into 64 bits")
		}
		l.same(sl, &slot{number: true, span: t.Span}, t.Span)
		k := logic.U64
		if root := sl.root(); root.kind == logic.Int {
			k = logic.Int
		}
		return logic.Value{Kind: k, Num: n}, true
	case syntax.StringTerm:
		return is(logic.Text, logic.Value{Str: t.Text})
	case syntax.BytesTerm:
		return is(logic.Bytes, logic.Value{Str: t.Text})
	case syntax.NodeTerm:
		return is(logic.Node, logic.Value{Str: t.Text})
	case syntax.NameTerm:
		if t.Text == "true" {
			return is(logic.Bool, logic.Value{Num: 1})
		}
		if t.Text == "false" {
			return is(logic.Bool, logic.Value{})
		}
	}
	return logic.Value{}, false
}

func (s *scope) call(t *syntax.Term) (*logic.Term, *slot) {
	l := s.l
	var params []*slot
	var result *slot
	if f := l.program.Function(t.Text); f != nil {
		for _, p := range f.Params {
			params = append(params, known(p, f.Span))
		}
		result = known(f.Result, f.Span)
	} else if logic.FindBuiltin(t.Text) != nil {
		params, result = signature(t.Text)
	} else {
		near := source.NewNearest(t.Text)
		for _, f := range l.program.Functions {
			near.Offer(f.Name)
		}
		l.diags.Add(source.Diagnostic{Code: UnknownFunction, Span: t.Span,
			Message: "there is no function " + t.Text, Repair: near.Repair()})
		return l.make(logic.Term{Kind: logic.Wildcard}, &slot{}, t.Span)
	}
	if len(params) != len(t.Args) {
		l.diags.Errorf(t.Span, Arguments, "%s has %d arguments, found %d", t.Text, len(params), len(t.Args))
	}
	out := logic.Term{Kind: logic.Call, Name: t.Text}
	for i, a := range t.Args {
		term, sl := s.term(a)
		if term.Kind == logic.Wildcard {
			l.diags.Errorf(a.Span, Unbound, "'_' has no value here")
		}
		out.Args = append(out.Args, term)
		if i < len(params) {
			l.same(params[i], sl, a.Span)
		}
	}
	return l.make(out, result, t.Span)
}

// rule lowers a rule into the component.
func (l *lowerer) rule(r *syntax.Rule, span source.Span) {
	s := &scope{l: l, vars: map[string]*variable{}}
	kinds := map[string]logic.RuleKind{"sync": logic.Sync, "next": logic.Next, "log": logic.Next, "async": logic.Async}
	out := &logic.Rule{Kind: kinds[r.Word], Span: span}
	out.Body = s.order(s.body(r.Body))
	head := l.find(r.Head)
	if !head.derived.IsValid() {
		head.derived = r.Head.Span
	}
	out.Head.Relation = head.Relation
	if r.Word == "log" {
		if head.Kind != logic.Derived {
			l.diags.Errorf(r.Head.Span, HeadNotDerivable, "%s cannot be durable: no rule can derive it", head.Name)
		}
		head.Durable = true
	}
	columns := l.arity(head, len(r.Args), r.Head.Span)
	for i, a := range r.Args {
		arg, sl := s.headArg(a, out.Kind)
		if columns != nil {
			l.same(columns[i], sl, a.Terms[0].Span)
		}
		out.Head.Args = append(out.Head.Args, arg)
	}
	l.destination(s, r, out)
	l.derivable(r, out)
	s.bound(out, r)
	s.name(out)
	l.component.Rules = append(l.component.Rules, out)
}

// name replaces the wildcards of an aggregating rule by variables: each row counts, even if it
// differs from another only in unused columns.
func (s *scope) name(r *logic.Rule) {
	if !slices.ContainsFunc(r.Head.Args, func(a logic.HeadArg) bool { return a.Aggregate == logic.Sum }) {
		return
	}
	n := 0
	for i := range r.Body {
		if !r.Body[i].Positive() {
			continue
		}
		for _, t := range r.Body[i].Atom.Args {
			if t.Kind != logic.Wildcard {
				continue
			}
			for t.Kind = logic.Var; t.Name == "" || s.vars[t.Name] != nil; n++ {
				t.Name = fmt.Sprintf("_%d", n)
			}
			s.vars[t.Name] = &variable{name: t.Name}
		}
	}
}

func (l *lowerer) destination(s *scope, r *syntax.Rule, out *logic.Rule) {
	switch {
	case r.Word == "async" && r.Dest == nil:
		l.diags.Errorf(r.Head.Span, HeadNotDerivable, "the destination of %s is missing: write %s@node(...)", r.Head.Text, r.Head.Text)
	case r.Word != "async" && r.Dest != nil:
		l.diags.Errorf(r.Dest.Span, HeadNotDerivable, "only an 'async' head has a destination")
	case r.Dest != nil:
		term, sl := s.term(r.Dest)
		l.same(known(logic.Type{Kind: logic.Node}, r.Dest.Span), sl, r.Dest.Span)
		out.Dest = term
	}
}

// derivable checks that a head of this kind can be derived.
func (l *lowerer) derivable(r *syntax.Rule, out *logic.Rule) {
	rel := out.Head.Relation
	switch {
	case rel.Kind == logic.Input || rel.Kind == logic.Static || rel.Kind == logic.Timer:
		kind := map[logic.RelationKind]string{logic.Input: "an input", logic.Static: "static", logic.Timer: "a timer"}[rel.Kind]
		l.diags.Errorf(r.Head.Span, HeadNotDerivable, "%s cannot be derived: it is %s", rel.Name, kind)
	case rel.Kind == logic.Output && out.Kind != logic.Async:
		l.diags.Errorf(r.Head.Span, HeadNotDerivable, "%s is an output, which only 'async' rules send", rel.Name)
	case rel.Durable && out.Kind == logic.Sync:
		l.diags.Errorf(r.Head.Span, HeadNotDerivable, "%s is durable, so it holds from the next tick on: write 'log' or 'next'", rel.Name)
	}
}

func (s *scope) headArg(a syntax.HeadArg, kind logic.RuleKind) (logic.HeadArg, *slot) {
	l := s.l
	term, sl := s.term(a.Terms[0])
	if term.Kind == logic.Wildcard {
		l.diags.Errorf(a.Terms[0].Span, Unbound, "'_' has no value here")
	}
	if a.Aggregate.Text == "" {
		return logic.HeadArg{Term: term}, sl
	}
	span := a.Aggregate.Span
	if kind != logic.Sync {
		l.diags.Errorf(span, AggregateMisplaced, "'%s' needs a 'sync' rule: derive it in one and use it here", a.Aggregate.Text)
	}
	if len(a.Terms) > 1 {
		l.diags.Errorf(span, Arguments, "'%s' takes one term; several in one head choose the same row", a.Aggregate.Text)
	}
	aggregates := map[string]logic.Aggregate{"count": logic.Count, "sum": logic.Sum, "min": logic.Min, "max": logic.Max,
		"choose": logic.Choose, "index": logic.Index, "collect": logic.Collect}
	arg := logic.HeadArg{Aggregate: aggregates[a.Aggregate.Text], Term: term}
	number := known(logic.Type{Kind: logic.U64}, span)
	switch arg.Aggregate {
	case logic.Count:
		return arg, number
	case logic.Index:
		if term.Kind != logic.Var {
			l.diags.Errorf(span, AggregateMisplaced, "'index' takes a variable, whose values it numbers")
		}
		return arg, number
	case logic.Sum:
		l.same(&slot{number: true}, sl, a.Terms[0].Span)
	case logic.Collect:
		return arg, &slot{kind: logic.SetType, elem: sl, span: span}
	}
	return arg, sl
}

func (s *scope) body(body []syntax.Literal) []logic.Literal {
	var out []logic.Literal
	for i := range body {
		out = append(out, s.literal(&body[i]))
	}
	return out
}

func (s *scope) literal(b *syntax.Literal) logic.Literal {
	l := s.l
	out := logic.Literal{Negated: b.Not, Span: b.Span}
	switch {
	case b.IsAtom:
		r := l.find(b.Relation)
		if !r.read.IsValid() {
			r.read = b.Relation.Span
		}
		out.Atom = &logic.Atom{Relation: r.Relation}
		columns := l.arity(r, len(b.Args), b.Span)
		for i, a := range b.Args {
			term, sl := s.term(a)
			if term.Kind == logic.Call {
				l.diags.Add(source.Diagnostic{Code: Unbound, Span: a.Span,
					Message: "an argument in a body must be a variable or a constant", Repair: "name it before: x := " + a.String()})
			}
			if columns != nil {
				l.same(columns[i], sl, a.Span)
			}
			out.Atom.Args = append(out.Atom.Args, term)
		}
	case b.Op == ":=":
		v := s.variable(b.Var.Text, b.Var.Span)
		term, sl := s.term(b.Right)
		l.same(v.slot, sl, b.Right.Span)
		out.Assign = &logic.Assign{Var: v.name, Term: term}
	default:
		ops := map[string]logic.CompareOp{"==": logic.Equal, "!=": logic.NotEqual, "<": logic.Less,
			"<=": logic.LessEqual, ">": logic.Greater, ">=": logic.GreaterEqual}
		left, ls := s.term(b.Left)
		right, rs := s.term(b.Right)
		l.same(ls, rs, b.Right.Span)
		out.Compare = &logic.Compare{Op: ops[b.Op], Left: left, Right: right}
		for _, t := range []*logic.Term{left, right} {
			if t.Kind == logic.Wildcard {
				l.diags.Errorf(b.Span, Unbound, "'_' has no value here")
			}
		}
	}
	return out
}

// order moves each literal behind those that bind its variables, and otherwise keeps the order.
// It reports variables that no literal binds.
func (s *scope) order(body []logic.Literal) []logic.Literal {
	var out []logic.Literal
	for len(body) > 0 {
		i := slices.IndexFunc(body, func(b logic.Literal) bool { return len(s.needs(&b)) == 0 })
		if i < 0 {
			for _, b := range body {
				for _, v := range s.needs(&b) {
					s.unbound(v, b.Span)
				}
			}
			return append(out, body...)
		}
		b := body[i]
		if b.Assign != nil && s.vars[b.Assign.Var].bound {
			s.l.diags.Add(source.Diagnostic{Code: BoundTwice, Span: b.Span,
				Message: fmt.Sprintf("%s has a value already", b.Assign.Var), Repair: "compare with =="})
		}
		if b.Positive() || b.Assign != nil {
			b.Vars(func(v string) { s.vars[v].bound = true })
		}
		out = append(out, b)
		body = slices.Delete(slices.Clone(body), i, i+1)
	}
	return out
}

// needs returns the unbound variables that must be bound before the literal.
func (s *scope) needs(b *logic.Literal) []string {
	if b.Positive() {
		return nil
	}
	var missing []string
	need := func(v string) {
		if !s.vars[v].bound && !slices.Contains(missing, v) {
			missing = append(missing, v)
		}
	}
	if b.Assign != nil {
		b.Assign.Term.Vars(need)
	} else {
		b.Vars(need)
	}
	return missing
}

func (s *scope) unbound(v string, span source.Span) {
	s.l.diags.Add(source.Diagnostic{Code: Unbound, Span: span,
		Message: fmt.Sprintf("nothing gives %s a value here", v),
		Repair:  "use it in a literal that is not negated, or write " + v + " := ..."})
	s.vars[v].bound = true // once is enough
}

// bound checks the variables of the head, and warns about those that occur once.
func (s *scope) bound(r *logic.Rule, from *syntax.Rule) {
	for i, a := range r.Head.Args {
		a.Term.Vars(func(v string) {
			if !s.vars[v].bound {
				s.unbound(v, from.Args[i].Terms[0].Span)
			}
		})
		if a.Aggregate == logic.Index && a.Term.Kind == logic.Var && !slices.ContainsFunc(r.Head.Args, func(b logic.HeadArg) bool {
			return b.Aggregate == logic.NoAggregate && b.Term.Kind == logic.Var && b.Term.Name == a.Term.Name
		}) {
			s.l.diags.Errorf(from.Args[i].Terms[0].Span, AggregateMisplaced, "'index<%s>' needs %s as an argument of the head as well", a.Term.Name, a.Term.Name)
		}
	}
	if r.Dest != nil {
		r.Dest.Vars(func(v string) {
			if !s.vars[v].bound {
				s.unbound(v, from.Dest.Span)
			}
		})
	}
	var names []string
	for n, v := range s.vars {
		if v.uses == 1 {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		s.l.diags.Add(source.Diagnostic{Severity: source.Warning, Code: Single, Span: s.vars[n].span,
			Message: n + " occurs once", Repair: "write _ if that is meant"})
	}
}
