// SPDX-License-Identifier: Apache-2.0

// Package core is the small resolved language that every back end reads: the
// definitions, variables and constants of one root module after EXTENDS and
// INSTANCE have been resolved away, with every name bound to what it means.
//
// In: the output of internal/tla/lower for a resolved module. Out: trees for internal/model,
// internal/tla/shape, internal/tla/trans and compile. Trees are immutable once built and may
// share subtrees. Validate checks what the types cannot say.
//
// INSTANCE is gone: each definition of an instantiated module appears as a Def
// of its own whose body has the substitutions made; its Path lists the
// instances through which it is reached, and a parameterised instance M(x) adds
// its parameters in front.
//
// A Local may be bound by several Defs, and by disjoint parts of one body, but
// never inside its own scope.
package core

import "github.com/ashlar-dev/ashlar/internal/source"

// Spec is a root module with everything that it reaches, flattened.
type Spec struct {
	Name      string
	Constants []*Constant
	Variables []*Variable
	// Shadows are the variables of instantiated modules that ENABLED binds if
	// the instance substitutes an expression for them. Their primed forms stand
	// for any next value. Their indices follow those of Variables. States do not
	// contain them.
	Shadows []*Variable
	// Defs holds every reachable definition. A definition comes after those
	// that it uses, except in recursion.
	Defs []*Def
	// Names maps each name visible at the end of the root module ("Next",
	// "M!Init", "Len") to its definition. Names in configurations are resolved
	// here.
	Names   map[string]*Def
	Assumes []Assume
}

// Assume is an ASSUME of a module in scope, named or not.
type Assume struct {
	Name string
	Body Expr
}

// Constant is a CONSTANT declaration; Arity is greater than 0 for a constant
// operator.
type Constant struct {
	Name   string
	Module string // the module that declares it
	Arity  int
	Span   source.Span
}

// Variable is a state variable. Index is its index in Spec.Variables and in
// every state vector.
type Variable struct {
	Name  string
	Index int
	Span  source.Span
}

// Level states what an expression may depend on (TLA+2's levels).
type Level uint8

// The levels, from lowest to highest.
const (
	ConstantLevel Level = iota
	StateLevel
	ActionLevel
	TemporalLevel
)

// Def is an operator definition of a module, a LET or a standard module. A
// function definition f[x \in S] == e is a Def without parameters whose Body is
// a Fn with Self set.
type Def struct {
	Name   string // as written in its module: "Next", "+", "Append"
	Module string // the module whose text defines it: "Naturals"
	// Path lists the instances through which the root module reaches a
	// definition of a named instance. For A(x)!B!Op it has the steps A, with
	// one parameter, and B.
	Path   []Step
	Params []*Local
	// Body may be nil only for a native definition.
	Body Expr
	// Native reports that tla/stdlib computes (Module, Name). A native definition
	// that has a Body too must agree with it.
	Native    bool
	Recursive bool // declared by RECURSIVE
	Local     bool // LOCAL: not in Names
	Level     Level
	Span      source.Span // of the name in its definition
}

// Step is an instance on a Path. The first parameters of a Def belong to the
// steps; each step has as many as its count, in order.
type Step struct {
	Name   string
	Params int
}

// FullName is the name by which the root module reaches d, as in Spec.Names:
// "A!B!Op".
func (d *Def) FullName() string {
	name := ""
	for _, s := range d.Path {
		name += s.Name + "!"
	}
	return name + d.Name
}

// Local is a name bound inside an expression: a quantifier's variable, an
// operator's parameter, EXCEPT's @, a recursive function's own name, or self.
// Two Locals are the same if their pointers are equal.
type Local struct {
	Name  string
	Arity int // > 0 for an operator parameter
	Span  source.Span
}

// Expr is an expression of the core language; the set of types is closed.
type Expr interface {
	Span() source.Span
	expr()
}

// At holds the position of a node; every node embeds it.
type At struct{ Place source.Span }

// Span is the position of the node in the user's text.
func (a At) Span() source.Span { return a.Place }
func (At) expr()               {}

// The expressions.
type (
	// Int is a number literal. A literal that does not fit in 32 bits fails
	// only when it is evaluated.
	Int struct {
		At
		Val int64
	}
	// Decimal is a literal with a fraction, kept as written.
	Decimal struct {
		At
		Text string
	}
	// Str is a string literal, unescaped.
	Str struct {
		At
		Val string
	}
	// Bool is TRUE or FALSE.
	Bool struct {
		At
		Val bool
	}

	// VarRef is a state variable.
	VarRef struct {
		At
		Var *Variable
	}
	// ConstRef is a constant; with Args it applies a constant operator.
	ConstRef struct {
		At
		Const *Constant
		Args  []Expr
	}
	// LocalRef is a bound name; with Args it applies an operator parameter.
	// Without Args, an operator parameter denotes the operator itself, as an
	// argument of a further call.
	LocalRef struct {
		At
		Local *Local
		Args  []Expr
	}
	// Call applies a definition. Args match Def.Params. If the parameter has an
	// arity, the argument is an OpRef, a Lambda, or a LocalRef or ConstRef that
	// denotes an operator.
	Call struct {
		At
		Def  *Def
		Args []Expr
	}
	// OpRef is a definition passed as an argument.
	OpRef struct {
		At
		Def *Def
	}
	// Lambda is an operator passed as an argument. Built-in operators passed
	// by name are wrapped in one.
	Lambda struct {
		At
		Params []*Local
		Body   Expr
	}

	// Op applies an operator of the language itself.
	Op struct {
		At
		Op   OpCode
		Args []Expr
	}
	// And is a conjunction of two or more, from a bullet list or from /\.
	And struct {
		At
		List []Expr
	}
	// Or is a disjunction of two or more.
	Or struct {
		At
		List []Expr
	}
	// If is IF-THEN-ELSE.
	If struct {
		At
		Cond, Then, Else Expr
	}
	// Case is CASE; Other is nil if there is no OTHER.
	Case struct {
		At
		Arms  []Arm
		Other Expr
	}
	// Let is LET-IN. A Def sees the names bound around the Let and the Defs
	// before it (all of them, where Recursive).
	Let struct {
		At
		Defs []*Def
		Body Expr
	}

	// Quant is \A or \E over one or more bounds.
	Quant struct {
		At
		Exists bool
		Binds  []Bind
		Body   Expr
	}
	// TemporalQuant is \AA or \EE.
	TemporalQuant struct {
		At
		Exists bool
		Vars   []*Variable
		Body   Expr
	}
	// Choose is CHOOSE; Bind.Set is nil if it is unbounded.
	Choose struct {
		At
		Bind Bind
		Body Expr
	}

	// SetEnum is {a, b, c}.
	SetEnum struct {
		At
		Elems []Expr
	}
	// SetFilter is {x \in S : p}.
	SetFilter struct {
		At
		Bind Bind
		Pred Expr
	}
	// SetMap is {e : x \in S, y \in T}.
	SetMap struct {
		At
		Body  Expr
		Binds []Bind
	}
	// Fn is [x \in S, y \in T |-> e]. Self is the function's own name inside
	// Body, for a recursive function definition, else nil. Several bounds make
	// a function on tuples.
	Fn struct {
		At
		Self  *Local
		Binds []Bind
		Body  Expr
	}
	// FnSet is [S -> T].
	FnSet struct {
		At
		Dom, Rng Expr
	}
	// Apply is f[e]; f[a, b] applies to the tuple <<a, b>>.
	Apply struct {
		At
		Fn, Arg Expr
	}
	// Record is [a |-> e, b |-> e], in the order written.
	Record struct {
		At
		Fields []Field
	}
	// RecordSet is [a : S, b : T].
	RecordSet struct {
		At
		Fields []Field
	}
	// Select is r.f.
	Select struct {
		At
		X     Expr
		Field string
	}
	// Except is [f EXCEPT !p1 = e1, ...], applied from left to right.
	Except struct {
		At
		Fn      Expr
		Updates []Update
	}
	// Tuple is <<a, b>>.
	Tuple struct {
		At
		Elems []Expr
	}
	// Times is S \X T \X ..., two or more.
	Times struct {
		At
		Sets []Expr
	}

	// Box is [A]_v.
	Box struct {
		At
		Action, Sub Expr
	}
	// Angle is <<A>>_v.
	Angle struct {
		At
		Action, Sub Expr
	}
	// Fair is WF_v(A), or SF_v(A) where Strong.
	Fair struct {
		At
		Strong      bool
		Sub, Action Expr
		// Possible is <<Action>>_Sub as ENABLED means it if an instance
		// substitutes expressions for variables: the next values of those
		// variables are then their own (Spec.Shadows), not those of the
		// expressions. Possible is nil if there is no difference.
		Possible Expr
	}
	// Bad replaces an expression for which lowering reported an error.
	Bad struct{ At }
)

// Arm is one CASE arm.
type Arm struct{ Cond, Body Expr }

// Field is a field of a record or of a record set.
type Field struct {
	Name string
	X    Expr
}

// Bind binds Vars to the elements of Set. A plain bound has one Var; a tuple
// pattern <<a, b>> \in S has Tuple set and several. "x, y \in S" is two Binds
// that share Set. Set is nil for an unbounded quantifier.
type Bind struct {
	Vars  []*Local
	Tuple bool
	Set   Expr
}

// Update is one "!path = value" of an EXCEPT. At is the Local for @ in Value,
// or nil if Value does not use @.
type Update struct {
	Path  []Index
	At    *Local
	Value Expr
}

// Index is a step of an EXCEPT path: [X], or .Field if X is nil.
type Index struct {
	X     Expr
	Field string
}

// OpCode identifies an operator of the language itself, as opposed to one that
// a standard module defines.
type OpCode uint8

// The operators of the language. Arithmetic is not among them: "+" is a
// native Def of Naturals.
const (
	OpNot OpCode = iota
	OpImplies
	OpEquiv
	OpEq
	OpNe
	OpIn
	OpNotIn
	OpSubseteq
	OpCup
	OpCap
	OpDiff
	OpSubset  // SUBSET S
	OpUnion   // UNION S
	OpDomain  // DOMAIN f
	OpBoolean // BOOLEAN, no argument
	OpString  // STRING, no argument

	OpPrime
	OpEnabled
	OpUnchanged
	OpCompose // A \cdot B

	OpAlways     // []F
	OpEventually // <>F
	OpLeadsTo    // F ~> G
	OpGuarantee  // F -+-> G
)

var opNames = [...]string{
	OpNot: "~", OpImplies: "=>", OpEquiv: "<=>", OpEq: "=", OpNe: "/=", OpIn: "\\in", OpNotIn: "\\notin",
	OpSubseteq: "\\subseteq", OpCup: "\\cup", OpCap: "\\cap", OpDiff: "\\", OpSubset: "SUBSET", OpUnion: "UNION",
	OpDomain: "DOMAIN", OpBoolean: "BOOLEAN", OpString: "STRING", OpPrime: "'", OpEnabled: "ENABLED",
	OpUnchanged: "UNCHANGED", OpCompose: "\\cdot", OpAlways: "[]", OpEventually: "<>", OpLeadsTo: "~>", OpGuarantee: "-+->",
}

func (o OpCode) String() string { return opNames[o] }
