// SPDX-License-Identifier: Apache-2.0

package syntax

import "github.com/ashlar-dev/ashlar/internal/source"

// Style is which of the two PlusCal syntaxes an algorithm is written in.
type Style uint8

// The styles. CStyle uses braces, PStyle uses begin and end. A bare
// declaration, which shows neither, is CStyle.
const (
	CStyle Style = iota
	PStyle
)

// FairnessKind is the fairness condition on a process.
type FairnessKind uint8

// The kinds: nothing, `fair`, `fair+`.
const (
	Unfair FairnessKind = iota
	WeakFair
	StrongFair
)

// Algorithm is `--algorithm Name ...`, `--fair algorithm Name ...` or, with
// Modular, `--mpcal Name { ... }`. Its span is from the two dashes to the
// closing brace or the last word of `end algorithm`.
type Algorithm struct {
	place
	Modular bool
	Style   Style
	// Fair is set by `--fair algorithm`: weak fairness of a uniprocess
	// algorithm's next-state action, and of every process not marked.
	Fair bool
	Name Name
	// Options are the words of `PlusCal options (...)`, in order, without
	// commas and leading dashes: "wf", "termination", "label".
	Options []Name

	// DefineSpan is the whole define block, invalid when there is none.
	DefineSpan source.Span
	Define     []Unit
	Macros     []*Macro
	// Procedures are in order of the text; in a Modular algorithm first those
	// before the mapping macros (Modular set), then the plain ones.
	Procedures []*Procedure
	// MappingMacros, Archetypes and Instances exist in Modular ones only.
	MappingMacros []*MappingMacro
	Archetypes    []*Archetype
	Variables     []*PlusVar
	Instances     []*ProcessInstance
	Processes     []*Process
	// Body is the body of a uniprocess algorithm, nil when there are
	// processes or instances instead.
	Body *Block
}

// PlusVar declares a variable: `Name`, `Name = Init` or, with In,
// `Name \in Init`. Init is nil when absent.
type PlusVar struct {
	place
	Name Name
	In   bool
	Init Expr
}

// Macro is `macro Name(Params) Body`.
type Macro struct {
	place
	Name   Name
	Params []Name
	Body   *Block
}

// Param is a parameter of a procedure or an archetype. Ref parameters have
// Indices, the number of their `[_]`. Init is the initial value that a plain
// PlusCal procedure may give its parameter, nil when absent.
type Param struct {
	place
	Name    Name
	Ref     bool
	Indices int
	Init    Expr
}

// Procedure is `procedure Name(Params) variables ... Body`. Modular is set
// when it is among a Modular algorithm's own procedures (before the
// mapping macros), where parameters may be ref.
type Procedure struct {
	place
	Modular   bool
	Name      Name
	Params    []*Param
	Variables []*PlusVar
	Body      *Block
}

// Process is `process (Name \in Set)` or, without In, `process (Name = Set)`.
type Process struct {
	place
	Fairness  FairnessKind
	Name      Name
	In        bool
	Set       Expr
	Variables []*PlusVar
	Body      *Block
}

// MappingMacro is `mapping macro Name { read {...} write {...} crash {...} }`;
// Crash is nil when absent.
type MappingMacro struct {
	place
	Name  Name
	Read  *Block
	Write *Block
	Crash *Block
}

// Archetype is `archetype Name(Params) durable variables ... variables ... Body`.
type Archetype struct {
	place
	Name      Name
	Params    []*Param
	Durable   []*PlusVar
	Variables []*PlusVar
	Body      *Block
}

// ProcessInstance is
// `process (Name \in Set) == instance Archetype(Args) mapping ... ;`.
// An argument is an Expr or a *RefArg.
type ProcessInstance struct {
	place
	Fairness  FairnessKind
	Name      Name
	In        bool
	Set       Expr
	Archetype Name
	Args      []Expr
	Mappings  []*Mapping
}

// Mapping is `mapping x[_] via Macro` or, when Position is not 0,
// `mapping @Position[_] via Macro`, positions counted from 1.
type Mapping struct {
	place
	Target   Name
	Position int
	Indices  int
	Macro    Name
}

// Dollar is `$variable` or `$value` in a mapping macro; Name has the `$`.
type Dollar struct {
	place
	Name string
}

// RefArg is `ref x[_][_]` as an argument of a call or an instance.
type RefArg struct {
	place
	Name    Name
	Indices int
}

// Block is a sequence of statements: the body of something, with its braces
// or its begin and end in the span, or a compound statement `{ ... }`.
type Block struct {
	labeled
	Body []Stmt
}

// StmtLabel is `Name:`, `Name:+` or `Name:-` before a statement; Modifier is
// '+', '-' or 0.
type StmtLabel struct {
	place
	Name     Name
	Modifier byte
}

// Stmt is a statement: *Block, *Assign, *IfStmt, *While, *Either, *With,
// *Await, *Print, *Assert, *Skip, *Return, *Goto, *Call, *MacroCall, *Yield,
// *BadStmt.
type Stmt interface {
	Node
	// Label is the label right before the statement, nil when it has none.
	// It is before the statement's span.
	Label() *StmtLabel
	setLabel(*StmtLabel)
}

// labeled is the part that all statements share.
type labeled struct {
	place
	label *StmtLabel
}

// Label is the label right before the statement, nil when it has none.
func (l *labeled) Label() *StmtLabel { return l.label }

// setLabel is for the parser, which reads the label first. It also closes the
// set of statements.
func (l *labeled) setLabel(s *StmtLabel) { l.label = s }

// Assign is `x := e` or `x[i] := e || y.f := g`.
type Assign struct {
	labeled
	Parts []Assignment
}

// Assignment is one `Target := Value` of an Assign. Target.Text is
// "$variable" in a mapping macro that assigns it.
type Assignment struct {
	place
	Target Name
	Path   []Accessor
	Value  Expr
}

// IfStmt is `if (Cond) Then else Else`. An elsif is an IfStmt alone in Else.
// Else is nil when absent.
type IfStmt struct {
	labeled
	Cond Expr
	Then *Block
	Else *Block
}

// While is `while (Cond) Body`.
type While struct {
	labeled
	Cond Expr
	Body *Block
}

// Either is `either B1 or B2 ...`, at least two branches (one after an error).
type Either struct {
	labeled
	Branches []*Block
}

// With is `with (x = e, y \in S) Body`.
type With struct {
	labeled
	Binds []*PlusVar
	Body  *Block
}

// Await is `await Cond` or `when Cond`.
type Await struct {
	labeled
	Cond Expr
}

// Print is `print Value`.
type Print struct {
	labeled
	Value Expr
}

// Assert is `assert Cond`.
type Assert struct {
	labeled
	Cond Expr
}

// Skip is `skip`.
type Skip struct{ labeled }

// Return is `return`.
type Return struct{ labeled }

// Goto is `goto Target`.
type Goto struct {
	labeled
	Target Name
}

// Call is `call Procedure(Args)`; an argument may be a *RefArg in Modular
// PlusCal.
type Call struct {
	labeled
	Procedure Name
	Args      []Expr
}

// MacroCall is `Macro(Args)`.
type MacroCall struct {
	labeled
	Macro Name
	Args  []Expr
}

// Yield is `yield Value`, in mapping macros only.
type Yield struct {
	labeled
	Value Expr
}

// BadStmt replaces text that could not be read as a statement; a diagnostic
// says why.
type BadStmt struct{ labeled }
