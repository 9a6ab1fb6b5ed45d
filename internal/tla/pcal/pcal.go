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

// Algorithm is a whole algorithm. In a Modular one the archetypes, mapping
// macros and instances stand beside the plain processes; Expand replaces the
// instances by processes.
type Algorithm struct {
	Name    string
	Modular bool
	Fair    Fairness // --fair algorithm: of the next-state action as a whole
	Span    source.Span

	// PC and Stack are the variables that the algorithm does not declare. They
	// belong to the state where NeedsPC and NeedsStack say so.
	PC, Stack *core.Variable
	// NamesPC reports that an expression of the algorithm mentions pc.
	NamesPC bool

	// Crashes is set where some process may crash.
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

// Variable is a PlusCal variable: global, or local to a process, procedure or
// archetype. Expressions refer to it by core.VarRef{Var}; for locals of a
// process set, internal/tla/trans turns that into an application to self.
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
	// Crash is the step of a crash, whose label is the name of its action only;
	// nil where the process never crashes.
	Crash *Block
	// Forever reports that the body is a single "while (TRUE)" without a label
	// inside: its only block runs again and again and needs no program counter.
	Forever bool
	// From is the instance that Expand made this process of, or nil.
	From *Instance
	Span source.Span
}

// Procedure is a PlusCal procedure, or a Modular one that may take Ref
// parameters. Expand leaves a copy without Ref parameters for each way in
// which it is called, and From says of what it is a copy.
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
	// Mapping is the number of [_] after a ref parameter: every use is indexed
	// with at least so many (reads) or exactly so many (assignments) indices.
	Mapping int
}

// Archetype is a process template that sees its parameters, its variables,
// self, constants and pure operators, and nothing else.
type Archetype struct {
	Name   string
	Params []*Param
	Locals []*Variable
	Self   *core.Local
	Blocks []*Block
	// Restart is the label where a process starts again after a crash, empty
	// where it never crashes.
	Restart string
	// Forever is as for a Process.
	Forever bool
	Span    source.Span
}

// Mapping is a mapping macro: how a read and a write of a resource act on the
// model's variable behind it. In Read and Write, Target stands for $variable
// and Value for $value; Yield gives the result of the read, or the new value.
// Crash is what happens to the variable when a process crashes that it is mapped
// for: there, Target stands for the variable as it was passed, without indices.
type Mapping struct {
	Name        string
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
	// X is the value passed; nil where Ref is set.
	X core.Expr
	// Mapping is the macro that reads and writes go through; nil: identity.
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

// Stmt is a statement; the set of types is closed. A while is gone: it is a
// block whose body is an If that jumps.
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
	// With binds Var to X, or to any element of X where In, in Body. Several
	// bindings are nested.
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
	// Assert fails the check, and the running system, where Cond is false.
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
	// process goes on at Return, or, where Return is empty, the call is a tail
	// call ("call P(); return").
	Call struct {
		At
		Proc   *Procedure
		Args   []Arg
		Return string
	}
	// Return ends the step and leaves the procedure.
	Return struct{ At }
	// Restart ends the step of a crash: the process starts again at Label.
	Restart struct {
		At
		Label string
	}
	// Yield gives the result of the mapping macro, or of the Read, that it
	// stands in. It is the last thing on its path.
	Yield struct {
		At
		X core.Expr
	}

	// Read computes a value once, calls it Dst and goes on with Rest, which
	// alone sees Dst. Where Access is set, the value is what a resource gives:
	// before Expand that is all, and Body is empty; after it, Body is the read
	// part of the mapping macro, or a single Yield where there is none. Where
	// Access is nil, Body computes a value of which some branches read
	// resources and some do not, or, after Expand, reads a variable of the
	// process's own that was passed to a procedure by ref. Every path of Body
	// ends in a Yield; Rest is executed once for each path that gets there.
	Read struct {
		At
		Dst    *core.Local
		Access *Access
		Body   []Stmt
		Rest   []Stmt
	}
	// Write gives X to a resource. After Expand, Body is the write part of the
	// mapping macro, or a single assignment where there is none, with Value
	// standing for X, and the Yields have become assignments. Access is nil then
	// where what is written is a variable of the process's own.
	Write struct {
		At
		Access *Access
		Value  *core.Local
		X      core.Expr
		Body   []Stmt
	}
)

// Access names what a Read or a Write touches, as the archetype or procedure
// sees it: its parameter, with an index for every [_] of the parameter.
type Access struct {
	Param *Param
	Index []core.Expr
}

// Assignment is one "target[path] := value". At is what @ means in Value: the
// old value of target[path]; nil where Value does not use it or Path is empty.
type Assignment struct {
	Target *core.Variable
	Path   []core.Index
	At     *core.Local
	Value  core.Expr
	Span   source.Span
}

// NeedsPC reports whether the state holds a program counter: it does unless every
// process does the same single step for ever.
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

// NeedsStack reports whether the state holds a stack of procedure calls.
func (a *Algorithm) NeedsStack() bool { return len(a.Procedures) > 0 }

// Uniprocess reports whether the algorithm is a single body without an identity:
// then pc is a string and locals are plain variables.
func (a *Algorithm) Uniprocess() bool {
	return len(a.Instances) == 0 && len(a.Processes) == 1 && a.Processes[0].Id == nil
}

// Unset is a variable of a procedure as it is before any call: one whose
// initial value depends on the call has none yet.
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

// AssertMessage is what a failing assert says.
func AssertMessage(s *Assert) string {
	at := s.Span().From()
	return fmt.Sprintf("Failure of assertion at line %d, column %d.", at.Line, at.Column)
}
