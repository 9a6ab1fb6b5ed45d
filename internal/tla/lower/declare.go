// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
)

// Declared is what an algorithm adds to its module besides its define block, as
// trees over what the Program has lowered. Variables are in state order. A
// definition comes after those that it uses.
type Declared struct {
	Constants []*core.Constant
	Variables []*core.Variable
	Defs      []*core.Def
}

// Declare records what an algorithm declares and returns the symbols with which
// the resolver continues, those of the define block included.
func (p *Program) Declare(d Declared) []*resolve.Symbol {
	var out []*resolve.Symbol
	for _, c := range d.Constants {
		s := &resolve.Symbol{Kind: resolve.Constant, Name: c.Name, Span: c.Span}
		p.constants[s] = c
		out = append(out, s)
	}
	for _, v := range d.Variables {
		s := &resolve.Symbol{Kind: resolve.Variable, Name: v.Name, Span: v.Span}
		p.variables[s] = v
		out = append(out, s)
	}
	if p.define != nil {
		for _, name := range p.define.Names() {
			if s := p.define.Lookup(name); s != nil {
				out = append(out, s)
			}
		}
	}
	for _, def := range d.Defs {
		p.addTask(def, &task{begun: true})
	}
	p.completeAll(append([]*core.Def(nil), d.Defs...))
	for _, def := range d.Defs {
		p.primedTwice(def)
		s := resolve.Made(def.Name, len(def.Params), resolve.Level(def.Level), def.Span)
		p.defs[s] = def
		out = append(out, s)
	}
	return out
}

// primedTwice reports a prime that the user wrote around a variable that the
// step has already assigned. The variable already denotes its value after the
// step there.
func (p *Program) primedTwice(d *core.Def) {
	core.Walk(d.Body, func(x core.Expr) bool {
		op, ok := x.(*core.Op)
		if ok && op.Op == core.OpPrime && core.LevelOf(op.Args[0]) > core.StateLevel {
			p.diags.Add(source.Diagnostic{Code: resolve.LevelTooHigh, Span: x.Span(), Repair: "remove the prime",
				Message: "the step has already assigned this: write its next value here without a prime"})
			return false
		}
		return true
	})
}
