// SPDX-License-Identifier: Apache-2.0

package shape

import (
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// signatures gives the shapes of native operators, by module. A type is Bool,
// Int, Str, Set(t), Seq(t), Fn(k, v), a letter for any shape, List(t) for what
// can be applied and gives t, or an operator in parentheses. Bool and Int as
// parameters are wanted, not imposed. A parameter written ~t is only compared
// with t. A trailing ! marks an infinite set.
const signatures = `
Naturals Integers Reals
+ - * ^ \div %      Int, Int -> Int
-.                  Int -> Int
< > <= =< >= \leq \geq   Int, Int -> Bool
..                  Int, Int -> Set(Int)
Nat Int Real        -> Set(Int)!

Sequences
Seq                 Set(a) -> Set(Seq(a))!
Len                 s -> Int
\o \circ            Seq(a), Seq(a) -> Seq(a)
Append              Seq(a), a -> Seq(a)
Head                Seq(a) -> a
Tail                Seq(a) -> Seq(a)
SubSeq              Seq(a), Int, Int -> Seq(a)
SelectSeq           Seq(a), (a -> Bool) -> Seq(a)

FiniteSets
Cardinality         Set(a) -> Int
IsFiniteSet         Set(a) -> Bool

TLC
Print               a, b -> b
PrintT              a -> Bool
Assert              Bool, a -> Bool
:>                  a, b -> Fn(a, b)
@@                  Fn(a, b), Fn(a, b) -> Fn(a, b)
ToString            a -> Str
Permutations        Set(a) -> Set(Fn(a, a))
SortSeq             Seq(a), (a, a -> Bool) -> Seq(a)

Bags
IsABag              a -> Bool
EmptyBag            -> Fn(a, Int)
SetToBag            Set(a) -> Fn(a, Int)
BagToSet            Fn(a, Int) -> Set(a)
BagIn               ~a, Fn(a, Int) -> Bool
CopiesIn            ~a, Fn(a, Int) -> Int
BagCardinality      Fn(a, Int) -> Int
(+) \oplus (-) \ominus   Fn(a, Int), Fn(a, Int) -> Fn(a, Int)
\sqsubseteq         Fn(a, Int), Fn(a, Int) -> Bool
BagUnion            Set(Fn(a, Int)) -> Fn(a, Int)
SubBag              Fn(a, Int) -> Set(Fn(a, Int))

SequencesExt
ToSet               List(a) -> Set(a)
SetToSeq            Set(a) -> Seq(a)
SetToSeqs           Set(a) -> Set(Seq(a))
Reverse             Seq(a) -> Seq(a)
Contains            Seq(a), ~a -> Bool
Last                Seq(a) -> a
Front               Seq(a) -> Seq(a)
Remove              Seq(a), ~a -> Seq(a)
ReplaceAll          Seq(a), ~a, a -> Seq(a)
InsertAt            Seq(a), Int, a -> Seq(a)
ReplaceAt           Seq(a), Int, a -> Seq(a)
RemoveAt            Seq(a), Int -> Seq(a)
Cons                a, Seq(a) -> Seq(a)
FlattenSeq          Seq(Seq(a)) -> Seq(a)
IsPrefix IsStrictPrefix IsSuffix IsStrictSuffix   Seq(a), Seq(a) -> Bool
SelectInSeq         Seq(a), (a -> Bool) -> Int
FoldSeq             (a, b -> b), b, List(a) -> b
FoldLeft            (b, a -> b), b, Seq(a) -> b
FoldRight           (a, b -> b), Seq(a), b -> b

FiniteSetsExt
FoldSet             (a, b -> b), b, Set(a) -> b
Quantify            Set(a), (a -> Bool) -> Int
Max Min             Set(Int) -> Int
Sum SumSet Product ProductSet   Set(Int) -> Int
kSubset             Int, Set(a) -> Set(Set(a))
MapThenSumSet       (a -> Int), Set(a) -> Int

Functions
Restrict            Fn(a, b), Set(a) -> Fn(a, b)
Range               List(a) -> Set(a)
IsInjective         List(a) -> Bool
`

// scheme is a parsed signature.
type scheme struct {
	params []*term
	result *term
}

// term is a type of a scheme.
type term struct {
	name    string // Bool, Int, Str, Set, Seq, Fn, List, op, or a letter
	args    []*term
	result  *term // of op
	compare bool
	endless bool
}

// readSchemes parses the table above.
func readSchemes() map[string]map[string]*scheme {
	all := map[string]map[string]*scheme{}
	var modules []string
	for _, block := range strings.Split(strings.TrimSpace(signatures), "\n\n") {
		lines := strings.Split(block, "\n")
		modules = strings.Fields(lines[0])
		for _, m := range modules {
			all[m] = map[string]*scheme{}
		}
		for _, line := range lines[1:] {
			names, text := line, ""
			if i := strings.Index(line, "   "); i >= 0 {
				names, text = line[:i], line[i:]
			} else if i := strings.Index(line, "  "); i >= 0 {
				names, text = line[:i], line[i:]
			}
			s := (&schemeReader{text: text}).scheme()
			for _, name := range strings.Fields(names) {
				for _, m := range modules {
					all[m][name] = s
				}
			}
		}
	}
	return all
}

type schemeReader struct {
	text string
}

func (r *schemeReader) space() { r.text = strings.TrimLeft(r.text, " ") }

func (r *schemeReader) take(s string) bool {
	r.space()
	rest, ok := strings.CutPrefix(r.text, s)
	if ok {
		r.text = rest
	}
	return ok
}

func (r *schemeReader) scheme() *scheme {
	s := &scheme{}
	for !r.take("->") {
		s.params = append(s.params, r.term())
		r.take(",")
	}
	s.result = r.term()
	return s
}

func (r *schemeReader) term() *term {
	if r.take("~") {
		t := r.term()
		t.compare = true
		return t
	}
	if r.take("(") {
		t := &term{name: "op"}
		for !r.take("->") {
			t.args = append(t.args, r.term())
			r.take(",")
		}
		t.result = r.term()
		r.take(")")
		return t
	}
	r.space()
	n := 0
	for n < len(r.text) && (r.text[n] >= 'a' && r.text[n] <= 'z' || r.text[n] >= 'A' && r.text[n] <= 'Z') {
		n++
	}
	t := &term{name: r.text[:n]}
	r.text = r.text[n:]
	if r.take("(") {
		for !r.take(")") {
			t.args = append(t.args, r.term())
			r.take(",")
		}
	}
	t.endless = r.take("!")
	return t
}

// native returns the scheme of a native definition, or nil.
func (in *inference) native(d *core.Def) *scheme {
	if !d.Native {
		return nil
	}
	if in.schemes == nil {
		in.schemes = readSchemes()
	}
	s := in.schemes[d.Module][d.Name]
	if s == nil || len(s.params) != len(d.Params) {
		return nil
	}
	return s
}

// letters binds the letters of a scheme at one use.
type letters map[string]*node

// term makes the node of a type.
func (in *inference) term(t *term, l letters, at source.Span) *node {
	switch t.name {
	case "Bool":
		return in.of(Bool, at)
	case "Int":
		return in.of(Int, at)
	case "Str":
		return in.of(Str, at)
	case "Set":
		n := in.setOf(in.term(t.args[0], l, at), at)
		n.endless = t.endless
		return n
	case "Seq":
		return in.seqOf(in.term(t.args[0], l, at), at)
	case "Fn":
		return in.fnOf(in.term(t.args[0], l, at), in.term(t.args[1], l, at), at)
	}
	if l[t.name] == nil {
		l[t.name] = in.fresh(at)
	}
	return l[t.name]
}

// give records that n is passed where the scheme has t.
func (in *inference) give(n *node, t *term, l letters, at source.Span) {
	switch {
	case t.compare:
		in.compare(n, in.term(t, l, at), at)
	case t.name == "Bool":
		in.want(n, Bool, at)
	case t.name == "Int":
		in.want(n, Int, at)
	case t.name == "List":
		elem := in.term(t.args[0], l, at)
		in.each(n, func(in *inference, f *node) {
			switch f.kind {
			case Any:
				in.makeAny(elem, f.why)
			case Seq, Fn:
				in.unify(elem, f.elem, at)
			case Tuple:
				for _, e := range f.elems {
					in.unify(elem, e, at)
				}
			case Record:
				for _, name := range f.fieldNames() {
					in.unify(elem, f.fields[name].node, at)
				}
			}
		})
	default:
		want := in.term(t, l, at)
		in.unify(want, n, at)
		in.functionLike(n, t, l, at)
	}
}

// functionLike unifies the parts of a function of another form with those of a
// parameter of function or sequence shape, because in TLA+ all of them are
// functions.
func (in *inference) functionLike(n *node, t *term, l letters, at source.Span) {
	if t.name != "Fn" && t.name != "Seq" {
		return
	}
	elem := in.term(t.args[len(t.args)-1], l, at)
	in.each(n, func(in *inference, f *node) {
		key := func(k *node) {
			if t.name == "Fn" {
				in.unify(in.term(t.args[0], l, at), k, at)
			}
		}
		switch f.kind {
		case Fn:
			key(f.key)
			in.unify(elem, f.elem, at)
		case Seq:
			key(in.of(Int, at))
			in.unify(elem, f.elem, at)
		case Tuple:
			key(in.of(Int, at))
			for _, e := range f.elems {
				in.unify(elem, e, at)
			}
		case Record:
			key(in.of(Str, at))
			for _, name := range f.fieldNames() {
				in.unify(elem, f.fields[name].node, at)
			}
		}
	})
}

// callNative infers the call of a native operator that has a scheme.
func (in *inference) callNative(sc *Scope, e *core.Call, s *scheme) *node {
	l := letters{}
	for i, a := range e.Args {
		t := s.params[i]
		if t.name != "op" {
			in.give(in.expr(sc, a), t, l, a.Span())
			continue
		}
		sig := &signature{result: in.fresh(a.Span())}
		for _, p := range t.args {
			sig.params = append(sig.params, in.term(p, l, a.Span()))
		}
		in.operator(sc, a, sig)
		in.give(sig.result, t.result, l, a.Span())
		sc.sigs[a] = sig
	}
	n := in.term(s.result, l, e.Span())
	if s.result.endless && len(e.Args) == 0 {
		n.endless = true
	}
	// The operators on sequences also accept strings and then return strings.
	for i, a := range e.Args {
		if s.params[i].name != "Seq" || s.result.name != "Seq" {
			continue
		}
		in.each(in.expr(sc, a), func(in *inference, arg *node) {
			if arg.kind == Str {
				in.unify(n, in.of(Str, e.Span()), e.Span())
			}
		})
	}
	return n
}

// nativeRef infers a native operator that is passed as an argument.
func (in *inference) nativeRef(a *core.OpRef, sig *signature) {
	at := a.Span()
	s := in.native(a.Def)
	if s == nil {
		why := &Reason{Text: "passes through " + a.Def.Name + ", whose shape is not known", Span: at}
		for _, p := range sig.params {
			in.makeAny(p, why)
		}
		in.makeAny(sig.result, why)
		return
	}
	l := letters{}
	for i, p := range sig.params {
		in.give(p, s.params[i], l, at)
	}
	in.unify(sig.result, in.term(s.result, l, at), at)
}
