// SPDX-License-Identifier: Apache-2.0

package shape

import (
	"fmt"
	"sort"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// Result is the outcome of an inference. Its content does not change, but only
// one goroutine may use it at a time, because it interns shapes on demand.
type Result struct {
	in         *inference
	archetypes map[*pcal.Archetype]*Scope
	blocks     map[any][]*pcal.Block
	unset      map[*core.Variable]bool
	roots      []*Scope
}

// Archetype is the scope of an archetype's statements.
func (r *Result) Archetype(a *pcal.Archetype) *Scope { return r.archetypes[a] }

// Blocks are the archetype's blocks with reads of resources as statements. Expr
// and similar methods know the expressions in these blocks.
func (r *Result) Blocks(a *pcal.Archetype) []*pcal.Block {
	if r.blocks[a] == nil {
		r.blocks[a] = pcal.Hoist(a.Params, a.Blocks)
	}
	return r.blocks[a]
}

// ProcedureBlocks is Blocks for a procedure.
func (r *Result) ProcedureBlocks(p *pcal.Procedure) []*pcal.Block {
	if r.blocks[p] == nil {
		r.blocks[p] = pcal.Hoist(p.Params, p.Blocks)
	}
	return r.blocks[p]
}

// Unset reports whether a variable declared without a value may be read before it
// is assigned. If so, DefaultInitValue is part of its shape.
func (r *Result) Unset(v *core.Variable) bool { return r.unset[v] }

// Root is the scope of everything outside bodies: the initial values of
// globals, and assumptions.
func (r *Result) Root() *Scope { return r.in.root }

// Roots are the instances of Program.Roots, in their order.
func (r *Result) Roots() []*Scope { return r.roots }

// Const is the shape of a constant.
func (r *Result) Const(c *core.Constant) *Shape { return r.in.shapeOf(r.in.consts[c.Name]) }

// Given is the shape of a definition in Program.Given.
func (r *Result) Given(d *core.Def) *Shape { return r.in.shapeOf(r.in.given[d.Name]) }

// Expr is the shape of an expression in the scope, or nil if the expression was
// not analyzed.
func (sc *Scope) Expr(e core.Expr) *Shape { return sc.in.shapeOf(sc.exprs[e]) }

// Local is the shape of a bound name.
func (sc *Scope) Local(l *core.Local) *Shape {
	for s := sc; s != nil; s = s.parent {
		if n, ok := s.locals[l]; ok {
			return sc.in.shapeOf(n)
		}
	}
	return nil
}

// Var is the shape of a variable as seen from the scope.
func (sc *Scope) Var(v *core.Variable) *Shape { return sc.in.shapeOf(sc.lookupVar(v)) }

// VarDomain is what is known of a variable's values besides the shape.
func (sc *Scope) VarDomain(v *core.Variable) *Domain { return sc.in.domainOf(sc.lookupVar(v)) }

// Ref is what a ref parameter refers to in a scope.
type Ref struct {
	// Param is the archetype's parameter, if the ref is a resource.
	Param       *pcal.Param
	Read, Write *Shape
	// Variable is set if a variable is passed by reference; it is declared in
	// the scope Owner.
	Variable *core.Variable
	Owner    *Scope
}

// Ref returns what the ref parameter v refers to, or nil if v is not one.
func (sc *Scope) Ref(v *core.Variable) *Ref {
	r := sc.lookupRef(v)
	if r == nil {
		return nil
	}
	out := &Ref{Variable: r.variable, Owner: r.owner}
	if r.variable == nil {
		out.Param, out.Read, out.Write = r.param, sc.in.shapeOf(r.read), sc.in.shapeOf(r.write)
	}
	return out
}

// Params are the shapes of the operator's parameters; the shape of an operator
// parameter is nil.
func (sc *Scope) Params() []*Shape {
	out := make([]*Shape, len(sc.params))
	for i, n := range sc.params {
		if n != nil {
			out[i] = sc.in.shapeOf(n)
		}
	}
	return out
}

// Result is the shape of the operator's result.
func (sc *Scope) Result() *Shape { return sc.in.shapeOf(sc.result) }

// Callee is the instance that a Call or an OpRef in the scope refers to, or nil
// for a native operator.
func (sc *Scope) Callee(e core.Expr) *Scope { return sc.calls[e] }

// Called is the procedure, with its references bound, that a Call in the scope
// calls.
func (sc *Scope) Called(c *pcal.Call) *Scope { return sc.procs[c] }

// Parent is the enclosing scope.
func (sc *Scope) Parent() *Scope { return sc.parent }

// Operator is the signature at which an operator parameter is used.
func (sc *Scope) Operator(l *core.Local) (params []*Shape, result *Shape) {
	return sc.in.signatureShapes(sc.lookupOp(l))
}

// Argument is the signature at which an operator is passed to a native one.
func (sc *Scope) Argument(e core.Expr) (params []*Shape, result *Shape) {
	return sc.in.signatureShapes(sc.sigs[e])
}

func (in *inference) signatureShapes(sig *signature) (params []*Shape, result *Shape) {
	if sig == nil {
		return nil, nil
	}
	for _, p := range sig.params {
		params = append(params, in.shapeOf(p))
	}
	return params, in.shapeOf(sig.result)
}

// Typed reports whether the inference knows the signature of a native operator.
func (r *Result) Typed(d *core.Def) bool { return r.in.native(d) != nil }

// shapeOf interns the shape of a settled node.
func (in *inference) shapeOf(n *node) *Shape {
	if n == nil {
		return nil
	}
	n = n.root()
	if n.shape != nil {
		return n.shape
	}
	if n.kind == Sum {
		return in.sumShape(n)
	}
	s := Shape{Kind: n.kind, Model: n.model, Hint: n.hint.name, rank: n.hint.rank}
	switch {
	case n.kind == None && !n.model, n.kind == Any, n.endless:
		s.Kind, s.Model = Any, false
	case n.kind == Set, n.kind == Seq:
		s.Elem = in.shapeOf(n.elem)
	case n.kind == Fn:
		s.Key, s.Elem = in.shapeOf(n.key), in.shapeOf(n.elem)
	case n.kind == Tuple && len(n.elems) == 0:
		s.Kind, s.Elem = Seq, in.anyShape()
	case n.kind == Tuple:
		for _, e := range n.elems {
			s.Elems = append(s.Elems, in.shapeOf(e))
		}
	case n.kind == Record:
		for _, name := range n.fieldNames() {
			f := n.fields[name]
			s.Fields = append(s.Fields, Field{Name: name, Shape: in.shapeOf(f.node), Optional: f.optional})
		}
	}
	n.shape = in.limited(s)
	return n.shape
}

// limited interns a shape, or Any if the shape is too heavy.
func (in *inference) limited(s Shape) *Shape {
	if out := in.shapes.intern(s); out.weight <= WeightMax {
		return out
	}
	return in.anyShape()
}

// sumShape returns the shape of a sum. If a value does not show which of the
// alternatives it belongs to, there is none: a function on strings is also a
// record, and one on 1..n is also a sequence.
func (in *inference) sumShape(n *node) *Shape {
	s := Shape{Kind: Sum, Model: n.model, Hint: n.hint.name, rank: n.hint.rank}
	if n.alts[Fn] != nil && (n.alts[Seq] != nil || n.alts[Record] != nil) {
		s = Shape{Kind: Any}
	} else {
		n.eachAlt(func(a *node) { s.Alts = append(s.Alts, in.shapeOf(a)) })
	}
	for _, a := range s.Alts {
		if a.Kind == Any {
			s = Shape{Kind: Any}
			break
		}
	}
	n.shape = in.limited(s)
	return n.shape
}

func (in *inference) anyShape() *Shape { return in.shapes.intern(Shape{Kind: Any}) }

// domainOf describes the values of a settled node.
func (in *inference) domainOf(n *node) *Domain {
	n = n.root()
	if n.domain != nil {
		return n.domain
	}
	d := &Domain{}
	n.domain = d
	if n.kind == Int && !n.wide && !n.model {
		d.Ranged, d.Lo, d.Hi = true, n.lo, n.hi
	}
	if (n.kind == Str || n.kind == None) && !n.open && len(n.names) > 0 {
		d.Listed = true
		for s := range n.names {
			d.Names = append(d.Names, s)
		}
		sort.Strings(d.Names)
	}
	switch n.kind {
	case Set, Seq:
		d.Elem = in.domainOf(n.elem)
	case Fn:
		d.Key, d.Elem = in.domainOf(n.key), in.domainOf(n.elem)
	case Tuple:
		for _, e := range n.elems {
			d.Elems = append(d.Elems, in.domainOf(e))
		}
	case Record:
		for _, name := range n.fieldNames() {
			d.Fields = append(d.Fields, in.domainOf(n.fields[name].node))
		}
	}
	return d
}

// Fallback is a place, or a part of one, without a shape of its own.
type Fallback struct {
	// Path names the part: "msg", "q[_].val", "DOMAIN table".
	Path string
	Span source.Span
	// Why is the predicate of the sentence: "holds a number at ... and a
	// string at ...".
	Why string
}

// FallbacksOf lists the parts of a variable whose shape is Any.
func (sc *Scope) FallbacksOf(name string, v *core.Variable) []Fallback {
	return sc.in.fallbacks(name, sc.lookupVar(v))
}

// ReadFallbacks lists the parts of the values read from a resource whose shape
// is Any. WriteFallbacks does the same for values written.
func (sc *Scope) ReadFallbacks(name string, v *core.Variable) []Fallback {
	return sc.in.fallbacks(name, sc.lookupRef(v).read)
}

// WriteFallbacks is ReadFallbacks for writes.
func (sc *Scope) WriteFallbacks(name string, v *core.Variable) []Fallback {
	return sc.in.fallbacks(name, sc.lookupRef(v).write)
}

// ConstFallbacks lists the parts of a constant whose shape is Any.
func (r *Result) ConstFallbacks(c *core.Constant) []Fallback {
	return r.in.fallbacks(c.Name, r.in.consts[c.Name])
}

// InstanceFallbacks lists the parameters and the result of an operator instance
// whose shape is Any.
func (sc *Scope) InstanceFallbacks() []Fallback {
	var out []Fallback
	for i, p := range sc.params {
		if p != nil {
			out = append(out, sc.in.fallbacks(sc.Def.Params[i].Name, p)...)
		}
	}
	return append(out, sc.in.fallbacks("the result", sc.result)...)
}

func (in *inference) fallbacks(path string, n *node) []Fallback {
	n = n.root()
	if len(path) > textMax || !in.shapeOf(n).Mixed() {
		return nil
	}
	switch {
	case in.shapeOf(n).Kind == Any && (n.kind == Tuple || n.kind == Record):
		return []Fallback{{Path: path, Span: n.where, Why: fmt.Sprintf("holds more than %d values in place", WeightMax)}}
	case n.kind == Sum && in.shapeOf(n).Kind == Sum:
		var out []Fallback
		n.eachAlt(func(a *node) { out = append(out, in.fallbacks(path, a)...) })
		return out
	case n.kind >= Sum:
		f := Fallback{Path: path, Span: n.where}
		if n.why != nil {
			f.Why, f.Span = n.why.Text, n.why.Span
		}
		return []Fallback{f}
	case n.endless:
		return []Fallback{{Path: path, Span: n.where, Why: "is an infinite set"}}
	case n.kind == None && !n.model:
		return []Fallback{{Path: path, Span: n.where, Why: "is given no value that tells its shape"}}
	case n.kind == Set:
		return in.fallbacks("an element of "+path, n.elem)
	case n.kind == Seq:
		return in.fallbacks(path+"[_]", n.elem)
	case n.kind == Fn:
		return append(in.fallbacks("DOMAIN "+path, n.key), in.fallbacks(path+"[_]", n.elem)...)
	case n.kind == Tuple:
		var out []Fallback
		for i, e := range n.elems {
			out = append(out, in.fallbacks(fmt.Sprintf("%s[%d]", path, i+1), e)...)
		}
		return out
	case n.kind == Record:
		var out []Fallback
		for _, name := range n.fieldNames() {
			out = append(out, in.fallbacks(path+"."+name, n.fields[name].node)...)
		}
		return out
	}
	return nil
}

// Intern returns the interned shape that equals s. The parts of s must come
// from the same Result.
func (r *Result) Intern(s Shape) *Shape { return r.in.shapes.intern(s) }

// LetValue is the instance of a definition without parameters of a LET in the
// scope or an enclosing one. It is nil if the definition is not used.
func (sc *Scope) LetValue(d *core.Def) *Scope {
	for s := sc; s != nil; s = s.parent {
		if v := s.values[d]; v != nil {
			return v
		}
	}
	return nil
}
