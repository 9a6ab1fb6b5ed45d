// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Facts is what the compiler and the analysis of formulas want to know about
// an expression before it is evaluated.
type Facts struct {
	Level core.Level
	// Volatile reports that two evaluations may differ or that evaluating has an
	// effect: TLCGet, TLCSet, RandomElement, Print.
	Volatile bool
	// Locals reports that a name bound outside is used.
	Locals bool
	// Nodes is the size with calls expanded, saturating.
	Nodes int
	// Vars are the variables it mentions: bit i stands for variable i, the last
	// bit for all that have none of their own.
	Vars uint64
}

// VarBits is how many variables have a bit of their own.
const VarBits = 63

// VarBit is the bit of a variable; all variables from number VarBits on share one.
func VarBit(index int) uint64 { return 1 << min(index, VarBits) }

const nodesMax = 1 << 20

func (f *Facts) join(g Facts) {
	f.Level = max(f.Level, g.Level)
	f.Volatile = f.Volatile || g.Volatile
	f.Locals = f.Locals || g.Locals
	f.Nodes = min(f.Nodes+g.Nodes, nodesMax)
	f.Vars |= g.Vars
}

// names are names and LET definitions, keyed by pointer, and how often they are
// bound where the walk is.
type names map[any]int

// Facts computes the facts of an expression that has no free names but variables.
func (p *Program) Facts(e core.Expr) Facts { return p.factsWithin(e, nil, nil) }

// FactsIn computes the facts of an expression with free names; resolve says what one
// stands for, and is false for a value.
func (p *Program) FactsIn(e core.Expr, resolve func(*core.LocalRef) (Facts, bool)) Facts {
	return p.factsWithin(e, nil, resolve)
}

// Level is the level of e, names bound outside not considered. It may be called by
// several goroutines, while none computes facts.
func (p *Program) Level(e core.Expr) core.Level {
	p.factsMu.Lock()
	defer p.factsMu.Unlock()
	return p.Facts(e).Level
}

// factsWithin is factsIn where the names bound are bound as well.
func (p *Program) factsWithin(e core.Expr, bound names, resolve func(*core.LocalRef) (Facts, bool)) Facts {
	f := Facts{Nodes: 1}
	var most core.Level
	f.Level, most = core.OwnLevel(e)
	switch e := e.(type) {
	case *core.VarRef:
		switch {
		case e.Var.Index >= len(p.Spec.Variables): // a shadow: nothing is kept by its value
			f.Vars = VarBit(VarBits)
		case e.Var.Index >= 0: // not one that a \EE hides
			f.Vars = VarBit(e.Var.Index)
		}
	case *core.LocalRef:
		if bound[e.Local] > 0 {
			break
		}
		if resolve != nil {
			if g, ok := resolve(e); ok {
				f.join(g)
				break
			}
		}
		f.Locals = true
	case *core.ConstRef:
		if r, ok := p.Constants[e.Const]; ok && r.Def != nil {
			f.join(p.DefFacts(r.Def))
		}
	case *core.Call:
		f.join(p.callFacts(e.Def, bound))
	case *core.OpRef:
		f.join(p.callFacts(e.Def, bound))
	}
	var passes []bool
	if call, ok := e.(*core.Call); ok && len(call.Args) > 0 {
		passes = p.passes(call, nil)
	}
	let, _ := e.(*core.Let)
	if bound == nil {
		bound = make(names)
	}
	if let != nil {
		for _, d := range let.Defs {
			bound[d]++
		}
	}
	n := 0
	for part := range core.Parts(e, core.EvaluationOrder) {
		for _, l := range part.Names {
			bound[l]++
		}
		g := p.factsWithin(part.Expr, bound, resolve)
		for _, l := range part.Names {
			bound[l]--
		}
		switch {
		case n < len(passes) && !passes[n]:
			g.Level = min(g.Level, core.StateLevel)
		case let != nil && g.Level > core.StateLevel && part.Expr != let.Body && !usedOutsideEnabled(let)[part.Expr]:
			g.Level = core.StateLevel
		}
		g.Level = min(g.Level, most)
		n++
		f.join(g)
	}
	if let != nil {
		for _, d := range let.Defs {
			bound[d]--
		}
	}
	return f
}

// passesKey is a definition with what passes through the operators that it is
// given: for each a bit for each argument, or a mark that nothing is known.
type passesKey struct {
	def *core.Def
	ops string
}

// passes says of each argument of a call whether its level is part of the level
// of the call: not where the definition, or an operator that it is given, has it
// below ENABLED only, or does not use it. Of a recursive definition all are.
// Ops says the same of operator parameters around; nil stands for all.
func (p *Program) passes(call *core.Call, ops map[*core.Local][]bool) []bool {
	to, _ := p.Resolve(call.Def)
	if to == nil || to.Body == nil || p.IsNative(to) || len(call.Args) > len(to.Params) {
		return nil
	}
	key := passesKey{def: to}
	given := map[*core.Local][]bool{}
	for i, a := range call.Args {
		if l := to.Params[i]; l.Arity > 0 {
			given[l] = p.operatorPasses(a, ops)
			key.ops += fmt.Sprint(given[l])
		}
	}
	out, ok := p.passesByDef[key]
	if !ok {
		p.passesByDef[key] = nil // while in progress
		out = p.passesIn(to.Params, to.Body, given)
		p.passesByDef[key] = out
	}
	return out
}

// operatorPasses is passes for the arguments of an operator that is passed on.
func (p *Program) operatorPasses(a core.Expr, ops map[*core.Local][]bool) []bool {
	switch a := a.(type) {
	case *core.OpRef:
		return p.passes(&core.Call{Def: a.Def}, nil)
	case *core.Lambda:
		return p.passesIn(a.Params, a.Body, ops)
	case *core.LocalRef:
		return ops[a.Local]
	}
	return nil
}

// passesIn says of each parameter whether its level is part of that of a body.
func (p *Program) passesIn(params []*core.Local, body core.Expr, ops map[*core.Local][]bool) []bool {
	used := map[*core.Local]bool{}
	var walk func(core.Expr)
	walk = func(e core.Expr) {
		var passes []bool
		switch e := e.(type) {
		case *core.LocalRef:
			used[e.Local] = true
			passes = ops[e.Local]
		case *core.Op:
			if e.Op == core.OpEnabled {
				return
			}
		case *core.Call:
			passes = p.passes(e, ops)
		}
		let, _ := e.(*core.Let)
		var live map[core.Expr]bool
		if let != nil {
			live = usedOutsideEnabled(let)
		}
		n := 0
		for x := range core.Children(e, core.EvaluationOrder) {
			if (n >= len(passes) || passes[n]) && (let == nil || x == let.Body || live[x]) {
				walk(x)
			}
			n++
		}
	}
	walk(body)
	out := make([]bool, len(params))
	for i, l := range params {
		out[i] = used[l]
	}
	return out
}

// usedOutsideEnabled has the bodies of the definitions of a LET that its value
// depends on otherwise than through ENABLED, which hides their level.
func usedOutsideEnabled(let *core.Let) map[core.Expr]bool {
	bodies := map[*core.Def]core.Expr{}
	live := map[core.Expr]bool{}
	var walk func(core.Expr)
	walk = func(e core.Expr) {
		var d *core.Def
		switch e := e.(type) {
		case *core.Op:
			if e.Op == core.OpEnabled {
				return
			}
		case *core.Call:
			d = e.Def
		case *core.OpRef:
			d = e.Def
		case *core.Let:
			for _, d := range e.Defs {
				bodies[d] = d.Body
			}
			walk(e.Body)
			return
		}
		if body := bodies[d]; d != nil && body != nil && !live[body] {
			live[body] = true
			walk(body)
		}
		for x := range core.Children(e, core.EvaluationOrder) {
			walk(x)
		}
	}
	walk(let)
	return live
}

// callFacts are the facts of the body of a definition that is applied.
func (p *Program) callFacts(d *core.Def, bound names) Facts {
	if bound[d] > 0 {
		return Facts{} // the body is looked at where the LET is
	}
	to, _ := p.Resolve(d)
	if to == nil {
		return Facts{}
	}
	f := p.DefFacts(to)
	if !p.globals[to] {
		// Recursive definitions and functions of a LET live where the LET is.
		if _, isFn := to.Body.(*core.Fn); isFn || to.Recursive {
			f.Locals = true
		}
	}
	return f
}

// DefFacts computes the facts of a definition's body, parameters bound. A
// recursive use counts as nothing but very large.
func (p *Program) DefFacts(d *core.Def) Facts {
	if f, ok := p.factsByDef[d]; ok {
		return f
	}
	p.factsByDef[d] = Facts{Nodes: nodesMax} // while in progress: recursion
	var f Facts
	if HasEffects(d) {
		f.Volatile = true
	}
	if d.Body != nil && !p.IsNative(d) {
		bound := make(names, len(d.Params))
		for _, l := range d.Params {
			bound[l] = 1
		}
		f.join(p.factsWithin(d.Body, bound, nil))
	}
	if d.Recursive {
		f.Nodes = nodesMax
	}
	p.factsByDef[d] = f
	return f
}
