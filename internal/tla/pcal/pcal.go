// SPDX-License-Identifier: Apache-2.0

// Package pcal holds algorithms, PlusCal and Modular PlusCal, resolved over
// the core language and cut at their labels: every label is a Block, every
// path through a block ends in a jump, and a block is one atomic step.
//
// In: what internal/tla/lower makes of a parsed algorithm, macros expanded and every
// name bound. Out: trees for internal/tla/trans (TLA+ text), internal/model (direct
// checking) and compile (Go). Checker and compiler part here, before
// flattening to Init and Next, because flattening loses archetypes and
// labels. Validate checks what the types cannot say.
//
// Source: PlusCal user manual (Lamport); Modular PlusCal, PGo paper section 3.
package pcal

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Algorithm is a whole algorithm. A Modular one also has archetypes, mapping
// macros and instances; Expand replaces the instances by processes.
type Algorithm struct {
	Name    string
	Modular bool
	Fair    Fairness // --fair algorithm: of the next-state action as a whole
	Span    source.Span

	// PC and Stack are the variables that the algorithm does not declare. They
	// are part of the state if NeedsPC and NeedsStack say so.
	PC, Stack *core.Variable
	// NamesPC reports that an expression of the algorithm mentions pc.
	NamesPC bool

	// Crashes is set if some process may crash.
	Crashes *Crashes

	Globals    []*Variable
	Define     []*core.Def // the define block, in order
	DefineSpan source.Span // its text between the brackets, invalid: none
	Procedures []*Procedure
	Processes  []*Process // one without Id for a uniprocess algorithm

	Archetypes []*Archetype
	Mappings   []*Mapping
	Instances  []*Instance
}

// Fairness of a process, or of a label by its + or -.
type Fairness uint8

// The fairness of a process.
const (
	Unfair Fairness = iota
	Weak
	Strong
)

// Variable is a PlusCal variable, either global or local to a process,
// procedure or archetype. Expressions refer to it by core.VarRef{Var}. For the
// locals of a process set, internal/tla/trans turns that into an application to
// self.
type Variable struct {
	Var  *core.Variable // identity; Index is -1 until a translation places it
	Init core.Expr      // nil: defaultInitValue
	In   bool           // declared with \in: any element of Init
	// Durable reports that the variable keeps its value when its process crashes.
	Durable bool
	Span    source.Span
}

// Process is a process or a process set.
type Process struct {
	Name   string
	Id     core.Expr // the value, or the set where Set; nil: uniprocess
	Set    bool
	Fair   Fairness
	Self   *core.Local // what self means inside
	Locals []*Variable
	Blocks []*Block // the first is where it starts
	// Crash is the step in which the process crashes, or nil if it never does.
	// The label of the step serves only as the name of its action.
	Crash *Block
	// Forever reports that the body is a single "while (TRUE)" without a label
	// inside: its only block runs again and again and needs no program counter.
	Forever bool
	// From is the instance that Expand made this process from, or nil.
	From *Instance
	Span source.Span
}

// Procedure is a PlusCal procedure, or a Modular one, which may take Ref
// parameters. Expand makes a copy without Ref parameters for each combination
// of references that the procedure is called with; From is the procedure that
// was copied.
type Procedure struct {
	Name    string
	Modular bool
	From    *Procedure
	Params  []*Param
	Locals  []*Variable
	Self    *core.Local // self of the process that calls
	Blocks  []*Block
	Span    source.Span
}

// Param is a parameter of a procedure or archetype.
type Param struct {
	Variable
	Ref bool
	// Mapping is the number of [_] after a ref parameter. A read must have at
	// least that many indices, an assignment exactly that many.
	Mapping int
}

// Archetype is a process template. It can use only its parameters, its
// variables, self, constants and pure operators.
type Archetype struct {
	Name   string
	Params []*Param
	Locals []*Variable
	Self   *core.Local
	Blocks []*Block
	// Restart is the label at which a process restarts after a crash. It is
	// empty if the process never crashes.
	Restart string
	// Forever is as for a Process.
	Forever bool
	Span    source.Span
}

// Mapping is a mapping macro: it says how a read and a write of a resource act
// on the model variable that represents it. In Read and Write, Target stands for
// $variable and Value for $value. Yield gives the result of the read, or the new
// value. Crash says what happens to the variable when a process that uses this
// mapping crashes; there Target stands for the variable as it was passed,
// without indices.
type Mapping struct {
	Name        string
	Module      string // the standard module that declares it, or ""
	Target      *core.Variable
	Value       *core.Local // bound in Write only
	Self        *core.Local
	Read, Write []Stmt
	Crash       []Stmt // nil: a crash changes nothing
	Span        source.Span
}

// Instance is "process (P \in S) == instance A(args) mapping ... via M".
type Instance struct {
	Name      string
	Id        core.Expr
	Set       bool
	Fair      Fairness
	Self      *core.Local // self, and the process's name, inside Args
	Archetype *Archetype
	Args      []Arg
	Span      source.Span
}

// Arg is an argument of an instance or of a call of a Modular procedure.
type Arg struct {
	// Ref is the variable passed by reference, or nil for a value.
	Ref *core.Variable
	// X is the value passed, or nil if Ref is set.
	X core.Expr
	// Mapping is the macro that reads and writes use; nil means the identity.
	Mapping *Mapping
	// Count is the number of [_] of the argument and its mapping.
	Count int
	Span  source.Span
}

// Block is a label and the statements up to the next: one atomic step. Every
// path ends in a Goto, Call or Return, or in one of the labels Done and Error.
type Block struct {
	Label string
	// Plus and Minus are the label's fairness modifiers.
	Plus, Minus bool
	// Auto reports that the user wrote no label here.
	Auto bool
	Body []Stmt
	Span source.Span // of the label
}

// The labels that every algorithm has.
const (
	LabelDone  = "Done"
	LabelError = "Error"
)

// DefaultInitValue is the constant that variables without an initial value
// start with.
const DefaultInitValue = "defaultInitValue"

// Stmt is a statement; the set of types is closed. There is no while: it
// becomes a block whose body is an If that jumps.
type Stmt interface {
	Span() source.Span
	stmt()
}

// At carries the place of a statement; every statement embeds it.
type At struct{ Place source.Span }

// Span is the place of the statement in the user's text.
func (a At) Span() source.Span { return a.Place }
func (At) stmt()               {}

// The statements.
type (
	// Assign is "lhs := e || lhs := e": all right-hand sides first.
	Assign struct {
		At
		Pairs []Assignment
	}
	// If has an empty Else where there is none.
	If struct {
		At
		Cond       core.Expr
		Then, Else []Stmt
	}
	// Either takes any of its branches.
	Either struct {
		At
		Branches [][]Stmt
	}
	// With binds Var to X or, if In is set, to any element of X, in Body.
	// Several bindings are nested.
	With struct {
		At
		Var  *core.Local
		In   bool
		X    core.Expr
		Body []Stmt
	}
	// Await is await or when.
	Await struct {
		At
		Cond core.Expr
	}
	// Assert fails the check, or the running system, if Cond is false.
	Assert struct {
		At
		Cond core.Expr
	}
	// Print prints X.
	Print struct {
		At
		X core.Expr
	}
	// Skip does nothing.
	Skip struct{ At }
	// Goto ends the step; Label is a Block of the same process or procedure,
	// or LabelDone or LabelError.
	Goto struct {
		At
		Label string
	}
	// Call ends the step. Args match Proc.Params. After the procedure the
	// process continues at Return. If Return is empty, the call is a tail call
	// ("call P(); return").
	Call struct {
		At
		Proc   *Procedure
		Args   []Arg
		Return string
	}
	// Return ends the step and leaves the procedure.
	Return struct{ At }
	// Restart ends the step of a crash: the process restarts at Label.
	Restart struct {
		At
		Label string
	}
	// Yield gives the result of the enclosing mapping macro or Read. It is the
	// last statement on its path.
	Yield struct {
		At
		X core.Expr
	}

	// Read computes a value once, binds it to Dst and continues with Rest. Only
	// Rest sees Dst.
	//
	// If Access is set, the value comes from a resource. Before Expand, Body is
	// empty. After Expand, Body is the read part of the mapping macro, or a
	// single Yield if there is none.
	//
	// If Access is nil, Body computes a value of which only some branches read
	// resources or, after Expand, reads a local variable of the process that
	// was passed to a procedure by reference.
	//
	// Every path of Body ends in a Yield. Rest is executed once for each path
	// that gets there.
	Read struct {
		At
		Dst    *core.Local
		Access *Access
		Body   []Stmt
		Rest   []Stmt
	}
	// Write gives X to a resource. After Expand, Body is the write part of the
	// mapping macro, or a single assignment if there is none. In Body, Value
	// stands for X and the Yields have become assignments. After Expand, Access
	// is nil if the target is a local variable of the process.
	Write struct {
		At
		Access *Access
		Value  *core.Local
		X      core.Expr
		Body   []Stmt
	}
)

// Access names what a Read or a Write accesses, from the viewpoint of the
// archetype or procedure: its parameter, with an index for every [_] of the
// parameter.
type Access struct {
	Param *Param
	Index []core.Expr
}

// Assignment is one "target[path] := value". At is the Local for @ in Value,
// the old value of target[path]. It is nil if Value does not use @ or Path is
// empty.
type Assignment struct {
	Target *core.Variable
	Path   []core.Index
	At     *core.Local
	Value  core.Expr
	Span   source.Span
}

// NeedsPC reports whether the state has a program counter. It has none if every
// process repeats a single step forever.
func (a *Algorithm) NeedsPC() bool {
	if len(a.Procedures) > 0 || a.NamesPC {
		return true
	}
	for _, p := range a.Processes {
		if !p.Forever {
			return true
		}
	}
	for _, in := range a.Instances {
		if !in.Archetype.Forever {
			return true
		}
	}
	return false
}

// NeedsStack reports whether the state has a stack of procedure calls.
func (a *Algorithm) NeedsStack() bool { return len(a.Procedures) > 0 }

// Uniprocess reports whether the algorithm is a single body without a process
// identity. Then pc is a string and locals are plain variables.
func (a *Algorithm) Uniprocess() bool {
	return len(a.Instances) == 0 && len(a.Processes) == 1 && a.Processes[0].Id == nil
}

// Unset reports whether a variable of a procedure has no value before any call,
// because its initial value depends on the call.
func Unset(p *Procedure, v *Variable) *Variable {
	if v.Init == nil {
		return v
	}
	own := map[*core.Variable]bool{}
	for _, w := range p.Variables() {
		own[w.Var] = true
	}
	depends := false
	core.Walk(v.Init, func(e core.Expr) bool {
		if r, ok := e.(*core.VarRef); ok {
			depends = depends || own[r.Var]
		}
		return !depends
	})
	if !depends {
		return v
	}
	return &Variable{Var: v.Var, Span: v.Span}
}

// AssertMessage is the message of a failing assert.
func AssertMessage(s *Assert) string {
	at := s.Span().From()
	return fmt.Sprintf("Failure of assertion at line %d, column %d.", at.Line, at.Column)
}
