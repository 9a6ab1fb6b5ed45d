// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// The levels of the definitions of a module are computed after its names are
// resolved. The first passes are silent and repeat as long as RECURSIVE makes
// levels grow; a last pass reports errors. Each pass collects what an
// expression demands of its parameters, as bounds and uses. Where a definition
// is applied, its demands are checked against the arguments, so that an
// application is refused exactly if its expansion would be. A definition itself
// is checked with constants for its parameters and with operator parameters
// that have the levels of all their arguments.

// Level states what an expression may depend on.
type Level uint8

// The levels, from lowest to highest.
const (
	ConstantLevel Level = iota
	StateLevel
	ActionLevel
	TemporalLevel
)

func (l Level) String() string {
	return [...]string{"a constant", "a state function", "an action", "a temporal formula"}[l]
}

// passesMax limits how often the levels of a module are recomputed.
const passesMax = 12

type leveller struct {
	*resolver
	*algebra
	report  bool
	changed bool
	depth   int
	// asks collects what the current definition demands of its parameters.
	asks *demands
	// parts caches the summaries of selected parts in this pass, because a part
	// may itself select parts many times.
	parts map[syntax.Expr]*summary
}

// demands are the bounds, uses and opaque parameters of one definition.
type demands struct {
	bounds map[bound]bool
	uses   map[use]bool
	opaque map[*Symbol]bool
}

func newDemands() *demands {
	return &demands{map[bound]bool{}, map[use]bool{}, map[*Symbol]bool{}}
}

func (r *resolver) leveller() *leveller {
	if r.info.algebra == nil {
		r.info.algebra = newAlgebra()
	}
	return &leveller{resolver: r, algebra: r.info.algebra, asks: newDemands(), parts: map[syntax.Expr]*summary{}}
}

func (r *resolver) levelsOfModule(m *syntax.Module) {
	r.module.asks = r.levelsOfUnits(m.Units)
	r.module.extendAsks()
}

// levelsOfUnits returns what the units demand of the module's constants.
func (r *resolver) levelsOfUnits(units []syntax.Unit) *demands {
	l := r.leveller()
	for range passesMax {
		l.changed, l.parts = false, map[syntax.Expr]*summary{}
		l.units(units)
		if !l.changed {
			break
		}
	}
	l.report, l.parts, l.asks = true, map[syntax.Expr]*summary{}, newDemands()
	l.units(units)
	return l.asks
}

// levelOf checks the levels inside one expression and returns the level of the
// expression.
func (r *resolver) levelOf(e syntax.Expr) Level {
	l := r.leveller()
	l.report = true
	return l.expr(e).closed
}

func (l *leveller) wrong(at source.Span, repair, format string, args ...any) {
	if l.report {
		l.error(at, LevelTooHigh, repair, format, args...)
	}
}

func (l *leveller) units(units []syntax.Unit) {
	for _, u := range units {
		l.unit(u)
	}
}

func (l *leveller) unit(u syntax.Unit) {
	switch u := u.(type) {
	case *syntax.OperatorDef:
		if s := l.info.Defs[u]; s != nil {
			l.set(s, l.summary(s.Formals, func() term { return l.expr(u.Body) }))
		}
	case *syntax.FunctionDef:
		if s := l.info.Defs[u]; s != nil {
			l.set(s, l.summary(nil, func() term { return l.join(l.bounds(u.Bounds), l.expr(u.Body)) }))
		}
	case *syntax.Instance:
		l.instance(u)
	case *syntax.Module:
		l.nested(u)
	case *syntax.Assume:
		got := l.expr(u.Body)
		if got.closed > ConstantLevel {
			l.wrong(u.Body.Span(), "", "an assumption must not depend on variables; this one is %s", got.closed)
		}
		l.atMost(got, ActionLevel)
		l.fact(u, got)
	case *syntax.Theorem:
		l.fact(u, l.expr(u.Body))
	}
}

func (l *leveller) fact(u syntax.Unit, got term) {
	if s := l.info.Defs[u]; s != nil {
		l.set(s, &summary{term: got})
	}
}

// nested computes the levels of a nested module.
func (l *leveller) nested(u *syntax.Module) {
	i := slices.IndexFunc(l.info.Modules, func(m *Module) bool { return m.Syntax == u })
	if i < 0 {
		return
	}
	m := l.info.Modules[i]
	around := l.asks
	l.asks = newDemands()
	l.units(u.Units)
	m.asks = l.asks
	l.asks = around
	m.extendAsks()
	own := append(slices.Clone(m.Constants), m.Variables...)
	for b := range m.asks.bounds {
		if n, ok := l.without(b.atom, own); ok {
			around.bounds[bound{n, b.most}] = true
		}
	}
	for u := range m.asks.uses {
		if n, ok := l.without(u.atom, own); ok && !slices.Contains(own, l.place(u).op) {
			around.uses[use{u.at, n}] = true
		}
	}
}
