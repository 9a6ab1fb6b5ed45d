// SPDX-License-Identifier: Apache-2.0

package program

import (
	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// findConstDefs makes a cell for every definition whose value is computed once:
// it has no parameters, has constant level, and is closed. TLC computes such
// values when it starts; here they are computed when they are first needed.
func (p *Program) findConstDefs() {
	asks := asksRun{p: p, known: make(map[*core.Def]bool)}
	add := func(d *core.Def) {
		if len(d.Params) > 0 || d.Recursive || p.ConstDefs[d] != nil || d.Body == nil && !d.Native {
			return
		}
		f := p.DefFacts(d)
		if f.Level == core.ConstantLevel && !f.Locals && !asks.of(d) {
			p.ConstDefs[d] = &memo.Cell{}
		}
	}
	for _, d := range p.Spec.Defs {
		add(d)
	}
	for _, r := range p.Constants {
		if r.Def != nil {
			add(r.Def)
		}
	}
}

// asksRun finds the definitions that, directly or through others, read or write
// state that changes during a run.
type asksRun struct {
	p     *Program
	known map[*core.Def]bool
	// visited has the definitions for which the answer is known to be no.
	visited []*core.Def
}

// of reports whether d does. It examines no definition twice, even for different d.
func (a *asksRun) of(d *core.Def) bool {
	a.visited = a.visited[:0]
	asks := a.look(d)
	if asks {
		for _, v := range a.visited {
			delete(a.known, v)
		}
		a.known[d] = true
	}
	return asks
}

func (a *asksRun) look(d *core.Def) bool {
	if asks, ok := a.known[d]; ok {
		return asks
	}
	a.known[d] = false
	a.visited = append(a.visited, d)
	switch d.Module + "!" + d.Name {
	case "TLC!TLCGet", "TLC!TLCSet", "TLC!JavaTime", "TLCExt!TLCGetOrDefault", "TLCExt!TLCGetAndSet", "TLCExt!Trace":
		return true
	}
	if d.Body == nil || a.p.IsNative(d) {
		return false
	}
	asks := false
	var walk func(core.Expr)
	walk = func(e core.Expr) {
		switch e := e.(type) {
		case *core.Call:
			asks = asks || a.look(e.Def)
		case *core.OpRef:
			asks = asks || a.look(e.Def)
		}
		if !asks {
			for x := range core.Children(e, core.EvaluationOrder) {
				walk(x)
			}
		}
	}
	walk(d.Body)
	return asks
}

// Computed reports whether an expression is inside a constant definition whose value
// was computed once, outside the counted evaluations.
func (p *Program) Computed(at source.Span) bool {
	for d, c := range p.ConstDefs {
		if d.Body == nil {
			continue // computed by Go, with no text
		}
		if in := d.Body.Span(); in.File == at.File && in.Start <= at.Start && at.End <= in.End {
			if _, ok := c.Peek(); ok {
				return true
			}
		}
	}
	return false
}
