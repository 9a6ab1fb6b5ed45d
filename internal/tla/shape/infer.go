// SPDX-License-Identifier: Apache-2.0

package shape

import (
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// Limits.
const (
	// InstancesMax is the number of operator instances that an inference makes
	// before it shares one instance among all calls of an operator.
	InstancesMax = 20_000
	// depthMax limits how deep a comparison of shapes looks, and how deep an
	// expression may be nested.
	depthMax = 5_000
	// comparedMax limits how many parts of two shapes are compared, because
	// shapes that share parts may have very many. Beyond the limit, the shapes
	// count as different.
	comparedMax = 10_000
)

// Program is the input of an inference.
type Program struct {
	Spec *core.Spec
	// Algorithm may be nil.
	Algorithm *pcal.Algorithm
	// Constants describes the values that a configuration gives.
	Constants map[string]*Sample
	// Given describes definitions without parameters whose value also comes
	// from a configuration. Their bodies are ignored.
	Given map[string]*Sample
	// Within lists expressions to analyze in the scope of an archetype, besides
	// its statements.
	Within map[*pcal.Archetype][]core.Expr
	// Roots are definitions to analyze besides the algorithm: Init and Next,
	// invariants.
	Roots []*core.Def
}

// Sample describes a constant value. Kind None means a model value with the
// given Name. Sets, sequences, tuples and functions list their elements in
// Elems (functions also have Keys); records list their fields.
type Sample struct {
	Kind   Kind
	Name   string // model values and strings
	Num    int64
	Elems  []*Sample
	Keys   []*Sample
	Fields []string // goes with Elems for records
}

// Scope is a piece of the program that is inferred once: an archetype, a
// procedure with its references bound, a mapping macro, or one instance of an
// operator.
type Scope struct {
	parent *Scope
	in     *inference
	// Def is the operator that this scope is an instance of, or nil.
	Def *core.Def
	// Procedure is the procedure of this scope, with its references bound, or
	// nil.
	Procedure *pcal.Procedure
	selfLocal *core.Local
	caller    *Scope // of a procedure: the archetype

	exprs  map[core.Expr]*node
	locals map[*core.Local]*node
	ops    map[*core.Local]*signature
	vars   map[*core.Variable]*node
	refs   map[*core.Variable]*resource
	calls  map[core.Expr]*Scope
	sigs   map[core.Expr]*signature // of operators passed to native ones
	procs  map[*pcal.Call]*Scope
	owned  map[*core.Def]bool   // definitions of the LETs in the stretch
	values map[*core.Def]*Scope // the instances of those without parameters

	params []*node
	result *node
}

// signature is the shape at which an operator parameter is used.
type signature struct {
	params []*node
	result *node
}

type soft struct {
	a, b *node
	at   source.Span
}

type inference struct {
	prog      Program
	nodes     []*node
	work      []task
	draining  bool
	softs     []soft
	wants     []soft
	root      *Scope
	consts    map[string]*node // by name: a root module has one of each
	given     map[string]*node // definitions without parameters, by name
	active    map[*core.Def]*Scope
	memo      map[*core.Def]*Scope
	instances int
	depth     int
	compared  int
	shapes    table
	procs     map[callKey]*Scope
	schemes   map[string]map[string]*scheme
	res       *Result
}

// Infer finds the shapes of the program.
func Infer(p Program) *Result {
	in := &inference{
		prog: p, consts: map[string]*node{}, given: map[string]*node{}, active: map[*core.Def]*Scope{}, memo: map[*core.Def]*Scope{},
		shapes: table{}, procs: map[callKey]*Scope{},
	}
	in.root = in.scope(nil)
	in.res = &Result{in: in, archetypes: map[*pcal.Archetype]*Scope{}, blocks: map[any][]*pcal.Block{}, unset: map[*core.Variable]bool{}}
	for _, c := range p.Spec.Constants {
		n := in.fresh(c.Span)
		n.hint, n.outside = hint{c.Name, hintOperator}, true
		in.consts[c.Name] = n
		if s := p.Constants[c.Name]; s != nil {
			in.unify(n, in.sample(s, c.Span), c.Span)
		}
	}
	for _, d := range p.Spec.Defs {
		if s := p.Given[d.Name]; s != nil && len(d.Params) == 0 {
			in.given[d.Name] = in.sample(s, d.Span)
		}
	}
	for _, v := range p.Spec.Variables {
		in.variable(in.root, v)
	}
	if p.Algorithm != nil {
		in.algorithm(p.Algorithm)
	}
	if p.Algorithm != nil {
		for _, a := range p.Algorithm.Archetypes {
			for _, e := range p.Within[a] {
				in.want(in.expr(in.res.archetypes[a], e), Bool, e.Span())
			}
		}
	}
	for _, a := range p.Spec.Assumes {
		in.want(in.expr(in.root, a.Body), Bool, a.Body.Span())
	}
	for _, d := range p.Roots {
		sc := in.instance(in.root, d, d.Span)
		in.res.roots = append(in.res.roots, sc)
	}
	in.settle()
	return in.res
}

func (in *inference) scope(parent *Scope) *Scope {
	return &Scope{parent: parent, in: in, exprs: map[core.Expr]*node{}, locals: map[*core.Local]*node{}, ops: map[*core.Local]*signature{},
		vars: map[*core.Variable]*node{}, refs: map[*core.Variable]*resource{}, calls: map[core.Expr]*Scope{},
		sigs: map[core.Expr]*signature{}, procs: map[*pcal.Call]*Scope{}, owned: map[*core.Def]bool{}, values: map[*core.Def]*Scope{}}
}

// variable declares v in sc.
func (in *inference) variable(sc *Scope, v *core.Variable) *node {
	if n, ok := sc.vars[v]; ok {
		return n
	}
	n := in.fresh(v.Span)
	n.hint = hint{v.Name, hintVariable}
	sc.vars[v] = n
	return n
}

func (sc *Scope) lookupVar(v *core.Variable) *node {
	for s := sc; s != nil; s = s.parent {
		if n, ok := s.vars[v]; ok {
			return n
		}
	}
	return sc.in.variable(sc.in.root, v)
}

func (sc *Scope) lookupRef(v *core.Variable) *resource {
	for s := sc; s != nil; s = s.parent {
		if r, ok := s.refs[v]; ok {
			return r
		}
		if _, ok := s.vars[v]; ok {
			return nil
		}
	}
	return nil
}

func (sc *Scope) lookupLocal(l *core.Local) *node {
	for s := sc; s != nil; s = s.parent {
		if n, ok := s.locals[l]; ok {
			return n
		}
	}
	return sc.bind(l)
}

func (sc *Scope) lookupOp(l *core.Local) *signature {
	for s := sc; s != nil; s = s.parent {
		if sig, ok := s.ops[l]; ok {
			return sig
		}
	}
	return nil
}

// bind declares a bound name in sc.
func (sc *Scope) bind(l *core.Local) *node {
	if n, ok := sc.locals[l]; ok {
		return n
	}
	n := sc.in.fresh(l.Span)
	if !strings.HasPrefix(l.Name, "yielded_") {
		n.hint = hint{l.Name, hintBound}
	}
	sc.locals[l] = n
	return n
}

// sample makes the node of a constant value.
func (in *inference) sample(s *Sample, at source.Span) *node {
	elems := func(list []*Sample) *node {
		e := in.fresh(at)
		for _, x := range list {
			in.unify(e, in.sample(x, at), at)
		}
		return e
	}
	switch s.Kind {
	case None:
		return in.modelValue(s.Name, at)
	case Int:
		return in.number(s.Num, at)
	case Str:
		return in.str(s.Name, at)
	case Set:
		return in.setOf(elems(s.Elems), at)
	case Seq, Tuple:
		parts := make([]*node, len(s.Elems))
		for i, x := range s.Elems {
			parts[i] = in.sample(x, at)
		}
		return in.tupleOf(parts, at)
	case Fn:
		return in.fnOf(elems(s.Keys), elems(s.Elems), at)
	case Record:
		n := in.of(Record, at)
		n.fields = map[string]*member{}
		for i, f := range s.Fields {
			n.fields[f] = &member{node: in.sample(s.Elems[i], at)}
		}
		return n
	case Bool:
		return in.of(Bool, at)
	}
	return in.anyBecause(at, "is given by the configuration as a value that has no Go type")
}

// want records that the place is used as a kind without children. That
// determines its shape only if nothing else does.
func (in *inference) want(n *node, k Kind, at source.Span) {
	in.wants = append(in.wants, soft{a: n, b: in.of(k, at), at: at})
}

// compare records that two places are compared.
func (in *inference) compare(a, b *node, at source.Span) {
	in.softs = append(in.softs, soft{a: a, b: b, at: at})
}

// settle applies the recorded comparisons and uses, then breaks cycles.
func (in *inference) settle() {
	// One comparison may decide another one. Repeat until no comparison adds
	// anything.
	for again := true; again; {
		again = false
		for i := 0; i < len(in.wants); i++ {
			if s := in.wants[i]; s.a.root().blank() {
				in.unify(s.a, s.b, s.at)
				again = true
			}
		}
		for i := 0; i < len(in.softs); i++ {
			if s := in.softs[i]; s.a.root() != s.b.root() && in.agree(s.a, s.b, 0) {
				in.unify(s.a, s.b, s.at)
				again = true
			}
		}
	}
	for in.breakCycle() {
	}
}

// breakCycle finds a shape that contains itself and makes it Any.
func (in *inference) breakCycle() bool {
	const white, grey, black = 0, 1, 2
	for _, n := range in.nodes {
		n.color = white
	}
	var found *node
	var visit func(n *node)
	visit = func(n *node) {
		n = n.root()
		if found != nil || n.color == black {
			return
		}
		if n.color == grey {
			found = n
			return
		}
		n.color = grey
		n.children(visit)
		n.color = black
	}
	for _, n := range in.nodes {
		visit(n)
	}
	if found == nil {
		return false
	}
	in.makeAny(found, &Reason{Text: "contains itself, so its depth has no bound", Span: found.where})
	return true
}

// instance infers d separately for a call in sc and returns its scope. The
// caller must unify the params and result of the scope with those of the call.
func (in *inference) instance(sc *Scope, d *core.Def, at source.Span) *Scope {
	if s, ok := in.active[d]; ok {
		return s
	}
	if in.instances >= InstancesMax {
		if s, ok := in.memo[d]; ok {
			return s
		}
	}
	in.instances++
	s := in.scope(sc)
	s.Def = d
	for _, p := range d.Params {
		if p.Arity > 0 {
			sig := &signature{result: in.fresh(p.Span)}
			for range p.Arity {
				sig.params = append(sig.params, in.fresh(p.Span))
			}
			s.ops[p] = sig
			s.params = append(s.params, nil)
			continue
		}
		s.params = append(s.params, s.bind(p))
	}
	s.result = in.fresh(d.Span)
	s.result.hint = hint{d.Name, hintOperator}
	if in.instances >= InstancesMax {
		in.memo[d] = s
	}
	in.active[d] = s
	if d.Body != nil {
		in.unify(s.result, in.expr(s, d.Body), d.Body.Span())
	}
	delete(in.active, d)
	return s
}
