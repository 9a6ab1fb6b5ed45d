// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// Kind says what a symbol denotes.
type Kind uint8

// The kinds of symbol.
const (
	Builtin   Kind = iota // an operator of the language itself
	Constant              // CONSTANT
	Variable              // VARIABLE, \AA and \EE, a variable of an algorithm
	Operator              // a definition with or without parameters
	Function              // f[x \in S] == e
	Bound                 // a parameter, or a name that a quantifier and the like binds
	Instanced             // I == INSTANCE M
	Nested                // a module inside a module
	Fact                  // the name of a THEOREM or an ASSUME
)

// Symbol is one declared or defined name. Two Symbols are the same if their
// pointers are equal.
type Symbol struct {
	Kind Kind
	Name string
	// Params has one number per parameter: how many arguments the parameter
	// itself takes.
	Params []int
	// Formals are the parameters of a definition or of an instance.
	Formals []*Symbol
	Module  *Module     // where it is declared; nil for a Builtin
	Node    syntax.Node // its definition or what binds it
	Span    source.Span // of its name
	// Local reports a LOCAL definition: EXTENDS and INSTANCE do not pass it on.
	Local bool
	// Recursive reports that RECURSIVE announced it.
	Recursive bool
	// Instance is the instance that an Instanced symbol names. If Origin is
	// set, it is the unnamed INSTANCE that brought Origin here and changed it
	// by its substitutions.
	Instance *Instance
	Origin   *Symbol
	// Inner is the module that a Nested symbol names.
	Inner *Module

	levels *summary
}

// Arity is the number of arguments that the symbol takes.
func (s *Symbol) Arity() int { return len(s.Params) }

// source follows Origin to the definition in the text.
func (s *Symbol) source() *Symbol {
	for s.Origin != nil {
		s = s.Origin
	}
	return s
}

// Same reports whether s and t are one definition, even if several instances
// brought it.
func (s *Symbol) Same(t *Symbol) bool { return s.source() == t.source() }

// IsFormula reports whether s is a Fact that can be used as an expression. A
// fact with ASSUME and PROVE cannot.
func (s *Symbol) IsFormula() bool {
	body := definitionBody(s)
	_, sequent := body.(*syntax.AssumeProve)
	return s.Kind == Fact && body != nil && !sequent
}

// Module is a resolved module.
type Module struct {
	Name     string
	Syntax   *syntax.Module
	Outer    *Module // of a nested module
	Standard bool    // its text comes with the tool
	Extends  []*Module
	// Constants and Variables are those of the module and of the modules that
	// it extends, in order of declaration. An INSTANCE must substitute all of
	// them.
	Constants, Variables []*Symbol
	// Names are the module's own and imported names at the end of its text.
	Names *Scope
	// Defined are the symbols that the module itself defines, in text order,
	// including those that its unnamed instances make.
	Defined []*Symbol
	// Assumes are the assumptions of the module itself.
	Assumes []*syntax.Assume

	asks *demands // of its constants and variables

	broken bool // it had errors of its own: do not report their consequences
	done   bool
}

// Export returns what name means to a module that extends or instantiates m,
// or nil.
func (m *Module) Export(name string) *Symbol {
	b, ok := m.Names.names[name]
	if !ok || b.local {
		return nil
	}
	return b.symbol
}

// Instance is an INSTANCE with its substitutions complete.
type Instance struct {
	Node   *syntax.Instance
	In     *Module // where it stands
	Module *Module // what it instantiates
	Params []*Symbol
	Subs   []Sub // one per constant and variable of Module, in their order

	// The levels of Subs, and what they demand of Params, once known.
	given []given
	sum   *summary
}

// Sub is the replacement for Param in an instance: the expression Value as
// written in WITH or, if that is nil, the Symbol with the same name.
type Sub struct {
	Param  *Symbol
	Value  syntax.Expr
	Symbol *Symbol
}

// PathUse is what a *syntax.Path means: the definition Target, seen through
// instances, applied to Args, and then perhaps a part of its text.
type PathUse struct {
	Through []Hop
	Target  *Symbol
	Args    []syntax.Expr
	Part    *Part
}

// Hop is one instance on a path, with its arguments.
type Hop struct {
	Instance *Symbol
	Args     []syntax.Expr
}

// Part is a subexpression of a definition.
type Part struct {
	Expr syntax.Expr
	// Lets are the LETs around Expr inside the definition, outermost first.
	Lets []*syntax.Let
	// Given lists the bound names that the path replaces, with their values.
	Given []Given
}

// Given is a bound name and the value that a selector gives it.
type Given struct {
	Name  *Symbol
	Value syntax.Expr
}

// Info is what is known about a root module after Resolve.
type Info struct {
	Root *Module
	// Modules are all modules reached, each after those that it uses.
	Modules []*Module
	// Uses maps *Ident, *Apply, *OpRef, *Prefix, *Infix, *Postfix and *Dollar
	// nodes to the symbols that they refer to. A missing node had an error.
	Uses map[syntax.Node]*Symbol
	// Binds lists the names that a node binds, in text order. The nodes are
	// quantifiers and similar forms, *Lambda, *Label and definitions (their
	// parameters or bounds).
	Binds map[syntax.Node][]*Symbol
	// Defs maps *OperatorDef, *FunctionDef, named *Instance, *Theorem and
	// *Assume units to their symbols.
	Defs map[syntax.Node]*Symbol
	// Instances has every INSTANCE that could be resolved.
	Instances map[*syntax.Instance]*Instance
	// Paths has every path that could be resolved.
	Paths map[*syntax.Path]*PathUse

	algebra *algebra // of levels
}

// Scope maps names to symbols, innermost first.
type Scope struct {
	outer *Scope
	names map[string]binding
	order []string
}

type binding struct {
	symbol *Symbol
	local  bool
}

// NewScope makes an empty scope inside outer, which may be nil.
func NewScope(outer *Scope) *Scope {
	return &Scope{outer: outer, names: map[string]binding{}}
}

// Lookup returns what name means in the scope, or nil.
func (s *Scope) Lookup(name string) *Symbol {
	for ; s != nil; s = s.outer {
		if b, ok := s.names[name]; ok {
			return b.symbol
		}
	}
	return builtinSymbol(name)
}

// Put makes name refer to symbol in the scope and replaces any earlier meaning.
func (s *Scope) Put(name string, symbol *Symbol) { s.bind(name, symbol, false) }

func (s *Scope) bind(name string, symbol *Symbol, local bool) {
	if _, ok := s.names[name]; !ok {
		s.order = append(s.order, name)
	}
	s.names[name] = binding{symbol, local}
}

// Names are the names of the innermost scope in the order in which they were
// added. The names of nested modules are not included; Lookup and Export do not
// know them.
func (s *Scope) Names() []string { return s.order }

// Until returns a copy of the scope of module m without the names that m itself
// declares at or after offset, or in its algorithm.
func (s *Scope) Until(m *Module, offset int32) *Scope {
	out := NewScope(s.outer)
	file := m.Syntax.Span().File
	inAlgorithm := func(at source.Span) bool {
		a := m.Syntax.Algorithm
		return a != nil && a.Span().Start <= at.Start && at.End <= a.Span().End
	}
	for _, name := range s.order {
		b := s.names[name]
		at := b.symbol.Span
		if b.symbol.Origin != nil {
			at = b.symbol.Instance.Node.Span()
		}
		if b.symbol.Module == m && (at.File != file || at.Start >= offset || inAlgorithm(at)) {
			continue
		}
		out.bind(name, b.symbol, b.local)
	}
	return out
}

// moduleKey is the key of a nested module in a scope. A definition may have the
// same name as the module.
func moduleKey(name string) string { return "module " + name }

// all calls visit for every visible name, except the names of modules.
func (s *Scope) all(visit func(name string, symbol *Symbol)) {
	for ; s != nil; s = s.outer {
		for _, name := range s.order {
			if sym := s.names[name].symbol; sym.Kind != Nested {
				visit(name, sym)
			}
		}
	}
}
