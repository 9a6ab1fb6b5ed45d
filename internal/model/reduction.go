// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/reduce"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Reduction reports what Options.Reduce has achieved.
func (m *Model) Reduction() reduce.Report {
	if m.reduction == nil {
		return reduce.Report{}
	}
	return m.reduction.Report()
}

// reduce chooses the steps that are taken alone. It runs before the algorithm
// is compiled.
func (b *builder) reduce() {
	if !b.o.Reduce {
		return
	}
	if why := b.irreducible(); why != "" {
		b.m.reduction = reduce.Refuse(why)
		return
	}
	var invariants []reduce.Invariant
	for _, f := range b.m.invariants {
		invariants = append(invariants, reduce.Invariant{Name: f.name, Expr: f.expr})
	}
	b.m.reduction = reduce.Decide(b.p, b.m.direct, invariants)
}

// irreducible names a part of the model that could observe the difference between a
// reduced and a full search; "" if there is none.
func (b *builder) irreducible() string {
	m := b.m
	switch {
	case m.direct == nil:
		return "the behaviour is not that of an algorithm whose translation is made in memory"
	case m.direct.Alg.Uniprocess():
		return "the algorithm has one process"
	case !m.direct.Alg.NeedsPC():
		return "the processes have no labels"
	case m.direct.Alg.NamesPC:
		return "the algorithm mentions pc"
	case b.cfg.Symmetry.IsSet():
		return "there is a SYMMETRY"
	case m.view != nil:
		return "there is a VIEW"
	case len(m.constraints)+len(m.actionConstraints) > 0:
		return "there is a CONSTRAINT"
	case len(m.steps) > 0:
		return "the property " + m.info.Steps[0] + " is one of steps, and steps are left out"
	case m.live != nil && !b.o.SafetyOnly:
		return "a property is one of behaviours, and steps are left out; --safety-only leaves the property out instead"
	}
	for _, f := range m.formulas {
		if name := effect(b.p, f.expr, map[*core.Def]bool{}); name != "" {
			return "the specification uses " + name
		}
	}
	return ""
}

// effect names an operator in e that can observe the progress of the search; ""
// if there is none.
func effect(p *program.Program, e core.Expr, seen map[*core.Def]bool) (name string) {
	def := func(d *core.Def) {
		if d, _ = p.Resolve(d); d == nil || seen[d] || name != "" {
			return
		}
		seen[d] = true
		switch {
		case program.HasEffects(d) && d.Name != "Print" && d.Name != "PrintT":
			name = d.Name
		case d.Body != nil && !p.IsNative(d):
			name = effect(p, d.Body, seen)
		}
	}
	core.Walk(e, func(x core.Expr) bool {
		switch x := x.(type) {
		case *core.Call:
			def(x.Def)
		case *core.OpRef:
			def(x.Def)
		case *core.ConstRef:
			if r, ok := p.Constants[x.Const]; ok && r.Def != nil {
				def(r.Def)
			}
		}
		return name == ""
	})
	return name
}
