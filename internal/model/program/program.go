// SPDX-License-Identifier: Apache-2.0

// Package program holds a specification bound to a configuration, which is what all
// evaluators read, and what is known about its expressions before any is evaluated.
//
// In: the flattened specification (package core) and the configuration. Out: a
// Program, which says what each constant and definition stands for (Resolve), which
// definitions are computed in Go, which have one value for the whole run, what an
// expression depends on (Facts), and which actions the next-state relation consists
// of (Actions).
//
// Promised: a Program is immutable and safe for concurrent use once it is built, but
// for the cells of constant definitions, which are computed when they are first
// needed, and for facts, which only the making of a model may ask for (Level may be
// called at any time). Nothing is evaluated here. Refused: names that the
// specification does not have, wrong numbers of arguments and constants without a
// value are diagnostics, each with the repair.
package program

import (
	"fmt"
	"sync"

	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// The codes of the diagnostics of names, constants and definitions that a configuration
// has; each comment shows a configuration that has it.
const (
	// UnknownName: INVARIANT Foo, where the specification defines no Foo
	UnknownName source.Code = "UnknownName"
	// MissingConstant: a configuration that gives no value to CONSTANT N
	MissingConstant source.Code = "MissingConstant"
	// WrongArity: CONSTANT N <- F, where N is declared without and F defined with parameters
	WrongArity source.Code = "WrongArity"
	// NoValue: a constant whose value cannot be computed
	NoValue source.Code = "NoValue"
)

// Replacement is what the configuration substitutes for a constant or a
// definition: a value, a definition, or the table of a constant operator.
type Replacement struct {
	Val   value.Value
	Def   *core.Def
	Table []row
}

// row is one "F(a, b) = v" of a configuration.
type row struct {
	args []value.Value
	val  value.Value
}

// Program is a specification bound to a configuration. All evaluators read it.
// Once built, it is immutable, except for the values of constant definitions,
// which are computed when they are first needed.
type Program struct {
	Spec *core.Spec
	// pure evaluates native definitions by their TLA+ bodies, if they have one.
	pure bool

	Constants map[*core.Constant]Replacement
	Overrides map[*core.Def]Replacement
	globals   map[*core.Def]bool // the definitions that no LET made
	// factsByDef is complete, except for facts that the reference evaluator
	// requests later, under factsMu.
	factsByDef  map[*core.Def]Facts
	passesByDef map[passesKey][]bool
	factsMu     sync.Mutex
	// ConstDefs has the value of every constant-level definition without
	// parameters. All evaluators share it, so that RandomElement is drawn once.
	ConstDefs map[*core.Def]*memo.Cell
}

// Resolve applies the configuration's overrides to a definition. It returns the
// definition to use, or nil and the value that replaces it.
func (p *Program) Resolve(d *core.Def) (*core.Def, Replacement) {
	for range len(p.Overrides) + 1 {
		r, ok := p.Overrides[d]
		switch {
		case !ok:
			return d, Replacement{}
		case r.Def == nil:
			return nil, r
		case r.Def == d:
			return d, Replacement{}
		}
		d = r.Def
	}
	return d, Replacement{}
}

// Apply looks a constant operator's arguments up in its table.
func (r Replacement) Apply(name string, args []value.Value) value.Value {
	for _, row := range r.Table {
		if len(row.args) != len(args) {
			continue
		}
		same := true
		for i := range args {
			same = same && value.Equal(row.args[i], args[i])
		}
		if same {
			return row.val
		}
	}
	value.Fail("the configuration gives %s no value for the arguments %s", name, value.TupleOf(args))
	return value.Value{}
}

// IsNative reports whether d is implemented in Go.
func (p *Program) IsNative(d *core.Def) bool {
	return d.Native && (d.Body == nil || !p.pure || nativePrimitive(d))
}

// unsetName is the constant that translations of PlusCal declare for variables
// without an initial value. The user did not write it and need not configure
// it: it is the model value of its name, which is what TLC's users give it.
const unsetName = "defaultInitValue"

// Options, besides the configuration, determine how a specification is bound.
type Options struct {
	// Constants are values of constants without parameters that the configuration
	// does not give.
	Constants map[string]value.Value
	// Pure evaluates native definitions by their TLA+ bodies, if they have one.
	Pure bool
}

// New binds spec to cfg. It reports problems to diags.
func New(spec *core.Spec, cfg *config.Config, o Options, diags *source.List) *Program {
	p := &Program{
		Spec: spec, pure: o.Pure,
		Constants:   make(map[*core.Constant]Replacement),
		Overrides:   make(map[*core.Def]Replacement),
		globals:     make(map[*core.Def]bool, len(spec.Defs)),
		factsByDef:  make(map[*core.Def]Facts),
		passesByDef: make(map[passesKey][]bool),
		ConstDefs:   make(map[*core.Def]*memo.Cell),
	}
	for _, d := range spec.Defs {
		p.globals[d] = true
	}
	p.bindValues(cfg, diags)
	p.bindOverrides(cfg, diags)
	for _, c := range spec.Constants {
		if _, ok := p.Constants[c]; ok {
			continue
		}
		v, ok := o.Constants[c.Name]
		if !ok && c.Name == unsetName {
			v, ok = value.Model(unsetName), true
		}
		if ok && c.Arity == 0 {
			p.Constants[c] = Replacement{Val: v}
		} else {
			repair := "CONSTANT " + c.Name + " = ..."
			if c.Arity > 0 {
				repair = fmt.Sprintf("CONSTANT %s <- Op, where the specification defines Op with as many parameters: %d", c.Name, c.Arity)
			}
			diags.Add(source.Diagnostic{Code: MissingConstant, Span: c.Span,
				Message: "the constant " + c.Name + " has no value in the configuration", Repair: repair})
		}
	}
	p.findConstDefs()
	return p
}

// Literal is a value as an expression: an argument that was computed outside
// the tree.
type Literal struct {
	core.At
	Val value.Value
}

// Foreign marks the form as unknown to package core.
func (*Literal) Foreign() {}
