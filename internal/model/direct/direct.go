// SPDX-License-Identifier: Apache-2.0

// Package direct prepares algorithms that are executed in the place of their own
// translations.
//
// In: a specification and the algorithm (package pcal) that its next-state relation is
// the translation of. Out: an Algorithm, which numbers the actions, knows how the text
// of a process or procedure sees the variables, and which definition it stands for;
// package closure compiles its steps, and the model's own Algorithm executes them one
// by one. Promised: nothing is evaluated here. Refused: an algorithm over other
// variables is a fault of the caller's and ends in an assertion; Suits says of a
// program whether the identities of the processes are constant.
//

// The next-state relation of a translation asks for each label of each process
// whether the process is at that label. Here the program counter is looked up
// once for each process, and the step at its label is executed as the user
// wrote it: the read of a mapping macro continues with the rest of the step
// through a continuation, and if the step assigns a variable twice, the code
// assigns it twice. The successors are those of the translation, equally often.
// Actions have the names of labels and the source positions of the algorithm's
// text.
package direct

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// Algorithm is an algorithm over the variables, constants and definitions of a
// specification.
type Algorithm struct {
	Alg  *pcal.Algorithm
	Next *core.Def // the translation of the whole algorithm
	// Print and Check are the operators that print and assert statements call.
	Print, Check *core.Def
	calls        pcal.Stack
	// undefined is the value of variables that have none.
	undefined core.Expr
	// Actions are the labels in the order of the text; if Ends is set, the last
	// one is the step at the end.
	Actions []check.Action
	// First has the index of the first action of each process and procedure, and
	// that of the block of a crash.
	First map[any]int
	Ends  bool // whether processes come to an end
}

// New prepares an algorithm for execution. Whole is spec with the definitions
// added that the algorithm uses and spec lacks.
func New(spec *core.Spec, alg *pcal.Algorithm) (d *Algorithm, whole *core.Spec) {
	with := *spec
	with.Defs = append(with.Defs[:len(with.Defs):len(with.Defs)], missing(spec, alg)...)
	spec = &with
	d = &Algorithm{Alg: alg, Next: spec.Names["Next"], First: map[any]int{}, Print: spec.Names["PrintT"], Check: spec.Names["Assert"]}
	for _, v := range alg.Globals {
		at := v.Var.Index
		invariant.Check(at >= 0 && at < len(spec.Variables) && spec.Variables[at] == v.Var, "the algorithm is that of another specification: variable %s", v.Var.Name)
	}
	d.calls = pcal.Stack{Head: spec.Names["Head"], Tail: spec.Names["Tail"], Concat: spec.Names[`\o`]}
	for _, c := range spec.Constants {
		if c.Name == pcal.DefaultInitValue {
			d.undefined = &core.ConstRef{At: core.At{Place: c.Span}, Const: c}
		}
	}
	d.list()
	return d, spec
}

// missing lists the definitions that the algorithm uses and spec lacks, each
// after those that it uses. The translation omits a value that nothing reads,
// and so may omit an operator that only this value mentions.
func missing(spec *core.Spec, alg *pcal.Algorithm) []*core.Def {
	known := map[*core.Def]bool{}
	for _, d := range spec.Defs {
		known[d] = true
	}
	var out []*core.Def
	var visit func(core.Expr)
	visit = func(e core.Expr) {
		core.Walk(e, func(x core.Expr) bool {
			if l, ok := x.(*core.Let); ok {
				for _, d := range l.Defs {
					known[d] = true
				}
			}
			return true
		})
		core.Calls(e, func(d *core.Def) {
			if known[d] {
				return
			}
			known[d] = true
			if d.Body != nil {
				visit(d.Body)
			}
			out = append(out, d)
		})
	}
	whole := func(e core.Expr) bool {
		visit(e)
		return false
	}
	for _, p := range alg.Procedures {
		for _, b := range p.Blocks {
			pcal.InspectStmts(b.Body, nil, whole)
		}
	}
	for _, p := range alg.Processes {
		for _, b := range p.Blocks {
			pcal.InspectStmts(b.Body, nil, whole)
		}
		if p.Crash != nil {
			pcal.InspectStmts(p.Crash.Body, nil, whole)
		}
	}
	return out
}

// list numbers the actions: labels in the order of the text.
func (d *Algorithm) list() {
	add := func(of any, blocks []*pcal.Block) {
		d.First[of] = len(d.Actions)
		for _, b := range blocks {
			d.Actions = append(d.Actions, check.Action{Name: b.Label, Place: b.Span.String()})
		}
	}
	for _, p := range d.Alg.Procedures {
		add(p, p.Blocks)
	}
	for _, p := range d.Alg.Processes {
		add(p, p.Blocks)
	}
	for _, p := range d.Alg.Processes {
		if p.Crash != nil {
			add(p.Crash, []*pcal.Block{p.Crash})
		}
	}
	d.Ends = d.Alg.SomeEnds()
	if d.Ends {
		d.Actions = append(d.Actions, check.Action{Name: "Terminating", Place: d.Alg.Span.String()})
	}
}

// value returns the initial value of variables without one.
func (d *Algorithm) value() core.Expr { return d.undefined }

// Everyone returns the set of all processes.
func (d *Algorithm) Everyone() core.Expr {
	var out core.Expr
	for _, p := range d.Alg.Processes {
		set := p.Id
		if !p.Set {
			set = &core.SetEnum{At: core.At{Place: p.Id.Span()}, Elems: []core.Expr{p.Id}}
		}
		if out == nil {
			out = set
		} else {
			out = &core.Op{At: core.At{Place: set.Span()}, Op: core.OpCup, Args: []core.Expr{out, set}}
		}
	}
	return out
}

// Suits reports whether the identities of the processes are constant.
func (d *Algorithm) Suits(p *program.Program) bool {
	for _, q := range d.Alg.Processes {
		if q.Id != nil && p.Facts(q.Id).Level > core.ConstantLevel {
			return false
		}
	}
	return true
}

// Process returns the view that the steps of a process have of the variables; procedure
// does so for a procedure.
func (d *Algorithm) Process(p *pcal.Process) *pcal.View {
	return d.Alg.ProcessView(p, d.calls, d.value)
}

func (d *Algorithm) Procedure(p *pcal.Procedure) *pcal.View {
	return d.Alg.ProcedureView(p, d.calls, d.value)
}
