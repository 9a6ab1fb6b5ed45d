package model

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// Algorithms in the place of their next-state relations.
//
// The next-state relation of a translation asks of every label of every
// process whether it is where the process stands. Here the program counter is
// looked up once for each process, and the step at its label is executed as it
// was written: a mapping macro's read goes on with the rest of the step
// through a continuation, and what the step assigns twice it assigns twice.
// The successors are those of the translation, and as many; actions have the
// names of labels and the places of the algorithm's text.

// NewDirect is New for a specification that was loaded with what an algorithm
// declares: steps are those of the algorithm, which is plain, has unique names,
// and is over the variables and definitions of spec. Where the configuration's
// behaviour has another next-state relation than the algorithm's, or the
// identities of processes depend on variables, it is the same as New.
func NewDirect(spec *core.Spec, alg *pcal.Algorithm, cfg *config.Config, o Options) (*Model, error) {
	whole := *spec
	if alg != nil {
		whole.Defs = append(whole.Defs[:len(whole.Defs):len(whole.Defs)], missing(spec, alg)...)
		o.direct = newDirect(&whole, alg)
	}
	return New(&whole, cfg, o)
}

// direct is an algorithm over the variables, constants and definitions of a
// specification.
type direct struct {
	alg   *pcal.Algorithm
	next  *core.Def // the translation of it all
	print *core.Def
	check *core.Def // Assert
	calls pcal.Stack
	// undefined is the value of what has none.
	undefined core.Expr
	actions   []check.Action
	// first is the number of the first action of a process or procedure.
	first map[any]int
	ends  bool
}

// newDirect prepares an algorithm for execution.
func newDirect(spec *core.Spec, alg *pcal.Algorithm) *direct {
	d := &direct{alg: alg, next: spec.Names["Next"], first: map[any]int{}, print: spec.Names["PrintT"], check: spec.Names["Assert"]}
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
	return d
}

// missing lists the definitions that the algorithm uses and spec does not
// have, each after those it uses: its translation leaves out a value that
// nothing reads, and with it an operator that nothing else may mention.
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
	}
	return out
}

// list numbers the actions: labels in the order of the text.
func (d *direct) list() {
	visit := func(s pcal.Stmt) {
		switch s := s.(type) {
		case *pcal.Goto:
			d.ends = d.ends || s.Label == pcal.LabelDone
		case *pcal.Call:
			d.ends = d.ends || s.Return == pcal.LabelDone
		}
	}
	add := func(of any, blocks []*pcal.Block) {
		d.first[of] = len(d.actions)
		for _, b := range blocks {
			d.actions = append(d.actions, check.Action{Name: b.Label, Place: b.Span.String()})
		}
	}
	for _, p := range d.alg.Procedures {
		add(p, p.Blocks)
	}
	for _, p := range d.alg.Processes {
		add(p, p.Blocks)
		for _, b := range p.Blocks {
			pcal.InspectStmts(b.Body, visit, nil)
		}
	}
	if d.ends {
		d.actions = append(d.actions, check.Action{Name: "Terminating", Place: d.alg.Span.String()})
	}
}
