// SPDX-License-Identifier: Apache-2.0

package syntax

import "github.com/ashlar-dev/ashlar/internal/source"

// Node is any part of the tree that has a position in the text. Trees are
// immutable once the parser has returned them. Later passes use nodes as keys
// of their side tables.
type Node interface {
	// Span is the position of the node in the file. Parentheses around an
	// expression do not belong to the expression.
	Span() source.Span
	node()
}

// place is the part that all nodes share.
type place struct{ at source.Span }

// Span is the position of the node in the file.
func (p place) Span() source.Span { return p.at }
func (place) node()               {}

// Name is one occurrence of an identifier or of an operator symbol. Operator
// symbols have their canonical spelling (see Canonical); the one that the
// user wrote is Span().Text(). The zero Name is "no name".
type Name struct {
	place
	Text string
}

// IsZero reports whether there is no name.
func (n Name) IsZero() bool { return n.Text == "" }

// String is the text of the name.
func (n Name) String() string { return n.Text }

// Fixity states how an operator is written at its uses.
type Fixity uint8

// The fixities. Nonfix is `Op` and `Op(a, b)`.
const (
	Nonfix Fixity = iota
	PrefixOp
	InfixOp
	PostfixOp
)

// ---------------------------------------------------------------------------
// Modules and their units

// Module is a whole module; as a Unit it is a nested one.
type Module struct {
	place
	Name    Name
	Extends []Name
	Units   []Unit

	// The rest is set on the outermost module only.

	// Algorithm is the PlusCal or Modular PlusCal algorithm in a comment of the
	// file, or nil if there is none.
	Algorithm *Algorithm
	// Emitted is the PlusCal algorithm between the PlusCal translation markers,
	// if the file also has a Modular PlusCal Algorithm.
	Emitted *Algorithm
	// Translation is the text between the lines `\* BEGIN TRANSLATION` and `\*
	// END TRANSLATION`, or nil if the file has no such pair.
	Translation *Region
	// PlusCalTranslation is the same for `\* BEGIN PLUSCAL TRANSLATION` and
	// `\* END PLUSCAL TRANSLATION`.
	PlusCalTranslation *Region
}

// Region is the text between two marker lines.
type Region struct {
	// Begin and End are the marker comments themselves, from their `\*` to
	// the end of the line, the line end excluded.
	Begin, End source.Span
	// Inner is everything between: from the start of the line after Begin to
	// the start of the line of End.
	Inner source.Span
}

// Contains reports whether span is between the markers.
func (r *Region) Contains(span source.Span) bool {
	return r != nil && span.File == r.Inner.File && r.Inner.Start <= span.Start && span.End <= r.Inner.End
}

// Unit is one top-level element of a module or a definition in a LET or in an
// algorithm's define block: *VariableDecl, *ConstantDecl, *Recursive,
// *OperatorDef, *FunctionDef, *Instance, *Module, *Assume, *Theorem, *UseHide,
// *Separator, *BadUnit.
type Unit interface {
	Node
	unit()
}

// VariableDecl is `VARIABLES x, y`.
type VariableDecl struct {
	place
	Names []Name
}

// ConstantDecl is `CONSTANTS N, Op(_, _), _+_`.
type ConstantDecl struct {
	place
	Decls []OpDecl
}

// Recursive is `RECURSIVE f(_), g`.
type Recursive struct {
	place
	Decls []OpDecl
}

// OpDecl declares a name with its arity: a constant, a formal parameter, an
// operator announced by RECURSIVE. Arity is 0 for a plain name.
type OpDecl struct {
	place
	Name   Name
	Arity  int
	Fixity Fixity
}

// OperatorDef is `Op(a, F(_)) == Body`, `a \prec b == Body`, `-. a == Body`
// or `a ^+ == Body`. Params is empty for a plain `Op == Body`.
type OperatorDef struct {
	place
	Local  bool
	Name   Name
	Fixity Fixity
	Params []OpDecl
	Body   Expr
}

// FunctionDef is `f[x \in S, <<a, b>> \in T] == Body`.
type FunctionDef struct {
	place
	Local  bool
	Name   Name
	Bounds []Bound
	Body   Expr
}

// Instance is `INSTANCE N WITH a <- e` or, when Name is not zero,
// `Name(Params) == INSTANCE N WITH a <- e`.
type Instance struct {
	place
	Local  bool
	Name   Name
	Params []OpDecl
	Module Name
	With   []Substitution
}

// Substitution is `Name <- Value`; Name may be an operator symbol, and Value
// an *OpRef, a *Lambda or the name of an operator.
type Substitution struct {
	place
	Name  Name
	Value Expr
}

// Assume is `ASSUME Body` or `ASSUME Name == Body`, and its synonyms
// ASSUMPTION and AXIOM.
type Assume struct {
	place
	Keyword string
	Name    Name
	Body    Expr
}

// Theorem is `THEOREM Name == Body` (Keyword may also be LEMMA, PROPOSITION or
// COROLLARY); Body may be an *AssumeProve. Proof is the span of its proof,
// invalid if there is none.
type Theorem struct {
	place
	Keyword string
	Name    Name
	Body    Expr
	Proof   source.Span
}

// UseHide is a `USE ...` or `HIDE ...` of the proof language, skipped.
type UseHide struct {
	place
	Hide bool
}

// Separator is a line `----` between units.
type Separator struct{ place }

// BadUnit replaces text that could not be read as a unit; a diagnostic says
// why.
type BadUnit struct{ place }

func (*VariableDecl) unit() {}
func (*ConstantDecl) unit() {}
func (*Recursive) unit()    {}
func (*OperatorDef) unit()  {}
func (*FunctionDef) unit()  {}
func (*Instance) unit()     {}
func (*Module) unit()       {}
func (*Assume) unit()       {}
func (*Theorem) unit()      {}
func (*UseHide) unit()      {}
func (*Separator) unit()    {}
func (*BadUnit) unit()      {}

// ---------------------------------------------------------------------------
// Expressions

// Expr is an expression, or an operator where one is allowed as an argument:
// *Ident, *Apply, *Path, *OpRef, *Lambda, *Prefix, *Infix, *Postfix,
// *Junction, *Product, *Quant, *Choose, *SetEnum, *SetFilter, *SetMap, *Fn,
// *FnSet, *Index, *Record, *RecordSet, *Field, *Except, *At, *Tuple, *If,
// *Case, *Let, *Action, *Fairness, *Number, *String, *Label, *AssumeProve,
// *BadExpr; in Modular PlusCal also *Dollar and *RefArg.
type Expr interface {
	Node
	expr()
}

// Ident is the use of a plain name: a variable, a constant, an operator
// without arguments or passed as an argument, TRUE, FALSE, BOOLEAN, STRING.
type Ident struct {
	place
	Name string
}

// Apply is `Op(Args...)` with at least one argument.
type Apply struct {
	place
	Op   Name
	Args []Expr
}

// Path is a name with `!` in it: `A!B(x)!C`, `Op!1!<<`, `Op(3)!lab`. The
// resolver decides whether a step leads into an instance or into a definition.
// There are at least two steps, and the first is a StepName.
type Path struct {
	place
	Steps []Step
}

// StepKind states what a step of a Path is.
type StepKind uint8

// The kinds of step, with their text after the `!`.
const (
	StepName  StepKind = iota // Name or Name(Args); Name may be an operator symbol
	StepIndex                 // a positive number
	StepLeft                  // <<
	StepRight                 // >>
	StepColon                 // :
	StepAt                    // @
	StepArgs                  // (Args): instantiates the bound names of a quantifier
)

// Step is one element of a Path.
type Step struct {
	place
	Kind  StepKind
	Name  string
	Index int
	Args  []Expr
}

// OpRef is an operator symbol as an argument: the `+` of `Fold(+, 0, s)`.
// Prefix minus is "-.".
type OpRef struct {
	place
	Op string
}

// Lambda is `LAMBDA x, y : Body`.
type Lambda struct {
	place
	Params []Name
	Body   Expr
}

// Prefix is an operator before its operand: ~ [] <> -. ENABLED UNCHANGED
// DOMAIN SUBSET UNION. Op.Text is canonical.
type Prefix struct {
	place
	Op Name
	X  Expr
}

// Infix is `Left Op Right`. Conjunction and disjunction written between
// operands are Infix; written as bullets they are a Junction.
type Infix struct {
	place
	Op          Name
	Left, Right Expr
}

// Postfix is an operator after its operand: ' ^+ ^* ^#.
type Postfix struct {
	place
	Op Name
	X  Expr
}

// Junction is a list of items with aligned bullets. Op is `/\` or `\/`, at the
// first bullet. There is at least one item.
type Junction struct {
	place
	Op    Name
	Items []Expr
}

// Product is `S \X T \X U`, one set of triples; at least two factors.
type Product struct {
	place
	Factors []Expr
}

// Bound binds names: `x, y \in Set`, or `<<x, y>> \in Set` with Tuple. Set is
// nil in the unbounded forms.
type Bound struct {
	place
	Names []Name
	Tuple bool
	Set   Expr
}

// QuantKind states which quantifier it is.
type QuantKind uint8

// The quantifiers: \A, \E, \AA, \EE.
const (
	Forall QuantKind = iota
	Exists
	TemporalForall
	TemporalExists
)

// Quant is `\A x \in S, <<y, z>> \in T : Body` or `\E x, y : Body`; the
// latter has one Bound whose Set is nil.
type Quant struct {
	place
	Kind   QuantKind
	Bounds []Bound
	Body   Expr
}

// Choose is `CHOOSE x \in S : Body`, `CHOOSE <<x, y>> \in S : Body` or
// `CHOOSE x : Body`.
type Choose struct {
	place
	Bound Bound
	Body  Expr
}

// SetEnum is `{a, b}`.
type SetEnum struct {
	place
	Elems []Expr
}

// SetFilter is `{x \in S : Pred}`; Bound has one name or is a tuple.
type SetFilter struct {
	place
	Bound Bound
	Pred  Expr
}

// SetMap is `{Elem : x \in S, y \in T}`.
type SetMap struct {
	place
	Elem   Expr
	Bounds []Bound
}

// Fn is `[x \in S, <<y, z>> \in T |-> Body]`.
type Fn struct {
	place
	Bounds []Bound
	Body   Expr
}

// FnSet is `[Domain -> Range]`.
type FnSet struct {
	place
	Domain, Range Expr
}

// Index is `Fn[Args...]`; several arguments are one tuple.
type Index struct {
	place
	Fn   Expr
	Args []Expr
}

// RecordField is `Name |-> Value` in a Record and `Name : Value` in a
// RecordSet.
type RecordField struct {
	place
	Name  Name
	Value Expr
}

// Record is `[a |-> 1, b |-> 2]`.
type Record struct {
	place
	Fields []RecordField
}

// RecordSet is `[a : S, b : T]`.
type RecordSet struct {
	place
	Fields []RecordField
}

// Field is `X.Name`.
type Field struct {
	place
	X    Expr
	Name Name
}

// Except is `[X EXCEPT !.a[i, j] = e, ![k] = @ + 1]`.
type Except struct {
	place
	X       Expr
	Updates []Update
}

// Update is one `!path = Value` of an Except; Path has at least one accessor.
type Update struct {
	place
	Path  []Accessor
	Value Expr
}

// Accessor is one step into a value: `.Field` when Field is not zero,
// otherwise `[Index...]`.
type Accessor struct {
	place
	Field Name
	Index []Expr
}

// At is `@`, the old value in an Update.
type At struct{ place }

// Tuple is `<<a, b>>`.
type Tuple struct {
	place
	Elems []Expr
}

// If is `IF Cond THEN Then ELSE Else`.
type If struct {
	place
	Cond, Then, Else Expr
}

// Case is `CASE g1 -> v1 [] g2 -> v2 [] OTHER -> w`; Other is nil when absent.
type Case struct {
	place
	Arms  []Arm
	Other Expr
}

// Arm is one `Guard -> Value` of a Case.
type Arm struct {
	place
	Guard, Value Expr
}

// Let is `LET Units IN Body`; the units are *OperatorDef, *FunctionDef,
// *Instance, *Recursive and *BadUnit.
type Let struct {
	place
	Units []Unit
	Body  Expr
}

// Action is `[Body]_Vars` or, with Angle, `<<Body>>_Vars`.
type Action struct {
	place
	Angle bool
	Body  Expr
	Vars  Expr
}

// Fairness is `WF_Vars(Body)` or, with Strong, `SF_Vars(Body)`.
type Fairness struct {
	place
	Strong bool
	Vars   Expr
	Body   Expr
}

// Number is a literal in its base: 2, 8, 10 or 16. Digits holds the digits
// without the base's prefix; Fraction those after the point of a decimal
// fraction, "" for an integer.
type Number struct {
	place
	Base     int
	Digits   string
	Fraction string
}

// String is a string literal; Value has its escapes undone.
type String struct {
	place
	Value string
}

// Label is `name :: Body` or `name(x, y) :: Body`.
type Label struct {
	place
	Name   Name
	Params []Name
	Body   Expr
}

// AssumeProve is `ASSUME Items PROVE Prove`, the body of a theorem. An item
// is an Expr (an *AssumeProve too) or a *NewDecl.
type AssumeProve struct {
	place
	Items []Node
	Prove Expr
}

// NewDecl is `NEW CONSTANT x \in Set`, `STATE P`, `NEW F(_)` and the like
// among the assumptions of an AssumeProve. Kind is CONSTANT, VARIABLE, STATE,
// ACTION or TEMPORAL; Set is nil when absent.
type NewDecl struct {
	place
	Kind string
	Decl OpDecl
	Set  Expr
}

// BadExpr replaces text that could not be read as an expression; a diagnostic
// says why.
type BadExpr struct{ place }

func (*Ident) expr()       {}
func (*Apply) expr()       {}
func (*Path) expr()        {}
func (*OpRef) expr()       {}
func (*Lambda) expr()      {}
func (*Prefix) expr()      {}
func (*Infix) expr()       {}
func (*Postfix) expr()     {}
func (*Junction) expr()    {}
func (*Product) expr()     {}
func (*Quant) expr()       {}
func (*Choose) expr()      {}
func (*SetEnum) expr()     {}
func (*SetFilter) expr()   {}
func (*SetMap) expr()      {}
func (*Fn) expr()          {}
func (*FnSet) expr()       {}
func (*Index) expr()       {}
func (*Record) expr()      {}
func (*RecordSet) expr()   {}
func (*Field) expr()       {}
func (*Except) expr()      {}
func (*At) expr()          {}
func (*Tuple) expr()       {}
func (*If) expr()          {}
func (*Case) expr()        {}
func (*Let) expr()         {}
func (*Action) expr()      {}
func (*Fairness) expr()    {}
func (*Number) expr()      {}
func (*String) expr()      {}
func (*Label) expr()       {}
func (*AssumeProve) expr() {}
func (*BadExpr) expr()     {}
func (*Dollar) expr()      {}
func (*RefArg) expr()      {}
