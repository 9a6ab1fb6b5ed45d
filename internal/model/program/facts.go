// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Facts has the properties of an expression that the compiler and the analysis
// of formulas need before it is evaluated.
type Facts struct {
	Level core.Level
	// Volatile: two evaluations may differ, or an evaluation has an effect
	// (TLCGet, TLCSet, RandomElement, Print).
	Volatile bool
	// Locals: the expression uses a name that is bound outside it.
	Locals bool
	// Nodes is the size with calls expanded; it saturates.
	Nodes int
	// Vars has the variables that the expression mentions: bit i stands for
	// variable i, and the last bit for all variables without a bit of their
	// own.
	Vars uint64
}

// VarBits is the number of variables with a bit of their own.
const VarBits = 63

// VarBit returns the bit of a variable; all variables from number VarBits on share
// one.
func VarBit(index int) uint64 { return 1 << min(index, VarBits) }

const nodesMax = 1 << 20

func (f *Facts) join(g Facts) {
	f.Level = max(f.Level, g.Level)
	f.Volatile = f.Volatile || g.Volatile
	f.Locals = f.Locals || g.Locals
	f.Nodes = min(f.Nodes+g.Nodes, nodesMax)
	f.Vars |= g.Vars
}

// names counts, by pointer, how often names and LET definitions are bound
// around the current expression.
type names map[any]int

// Facts computes the facts of an expression that has no free names but variables.
func (p *Program) Facts(e core.Expr) Facts { return p.factsWithin(e, nil, nil) }

// FactsIn computes the facts of an expression with free names. resolve returns the
// expression for which a name stands, or false if it stands for a value.
func (p *Program) FactsIn(e core.Expr, resolve func(*core.LocalRef) (Facts, bool)) Facts {
	return p.factsWithin(e, nil, resolve)
}

// Level returns the level of e, ignoring names that are bound outside. Several
// goroutines may call it while none computes facts.
func (p *Program) Level(e core.Expr) core.Level {
	p.factsMu.Lock()
	defer p.factsMu.Unlock()
	return p.Facts(e).Level
}

// factsWithin is factsIn with the names bound also counted as bound.
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

// passesKey identifies a definition and the operators that are passed to it:
// for each operator a bit for each argument, or a mark for unknown.
type passesKey struct {
	def *core.Def
	ops string
}

// passes reports for each argument of a call whether the argument's level
// contributes to the level of the call. It does not if the definition, or an
// operator passed to it, uses the argument only below ENABLED or not at all. For
// a recursive definition, all arguments contribute. ops has the same information
// for operator parameters of enclosing definitions; nil means that all arguments
// contribute.
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

// operatorPasses is passes for the arguments of an operator that is itself
// passed as an argument.
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

// passesIn reports for each parameter whether its level contributes to the
// level of a body.
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

// usedOutsideEnabled returns the bodies of the LET definitions on which the
// value depends outside ENABLED, which hides their level.
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

// callFacts returns the facts of the body of a definition that is applied.
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
		// Recursive definitions and functions of a LET belong to the scope of
		// the LET.
		if _, isFn := to.Body.(*core.Fn); isFn || to.Recursive {
			f.Locals = true
		}
	}
	return f
}

// DefFacts computes the facts of a definition's body with the parameters bound.
// A recursive use contributes nothing but a very large size.
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
