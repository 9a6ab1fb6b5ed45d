// SPDX-License-Identifier: Apache-2.0

package program

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
)

// Native returns the Go implementation of a definition of a standard module, or
// nil.
func Native(d *core.Def) *stdlib.Op {
	if !d.Native {
		return nil
	}
	return stdlib.Lookup(d.Module, d.Name)
}

// HasEffects reports whether d is an operator that has side effects, or whose
// result may differ between evaluations.
func HasEffects(d *core.Def) bool {
	op := Native(d)
	return op != nil && op.Effects
}

// Reach calls visit once for each definition on which e depends, except those in
// seen. It continues with the body of a definition only if visit returns true.
func (p *Program) Reach(e core.Expr, seen map[*core.Def]bool, visit func(*core.Def) (further bool)) {
	var walk func(core.Expr)
	def := func(d *core.Def) {
		d, _ = p.Resolve(d)
		if d == nil || seen[d] {
			return
		}
		seen[d] = true
		if visit(d) && d.Body != nil && !p.IsNative(d) {
			walk(d.Body)
		}
	}
	walk = func(e core.Expr) {
		switch e := e.(type) {
		case *core.Call:
			def(e.Def)
		case *core.OpRef:
			def(e.Def)
		case *core.ConstRef:
			if r := p.Constants[e.Const]; r.Def != nil {
				def(r.Def)
			}
		}
		for x := range core.Children(e, core.EvaluationOrder) {
			walk(x)
		}
	}
	walk(e)
}

// Unsteady reports whether another evaluation of e may have another value or a
// side effect. A constant that is computed once has neither after the sample.
func (p *Program) Unsteady(e core.Expr) bool {
	if !p.Facts(e).Volatile {
		return false
	}
	found := false
	p.Reach(e, map[*core.Def]bool{}, func(d *core.Def) bool {
		if p.ConstDefs[d] != nil {
			return false
		}
		found = found || HasEffects(d)
		return !found
	})
	return found
}

// nativePrimitive reports whether the body of a native definition is only a
// placeholder.
func nativePrimitive(d *core.Def) bool {
	op := Native(d)
	return op != nil && (op.Primitive || op.Effects)
}
