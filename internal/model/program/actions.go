// SPDX-License-Identifier: Apache-2.0

package program

import "github.com/ashlar-dev/ashlar/internal/tla/core"

// Action is a disjunct of the next-state relation: its name and its expression.
type Action struct {
	Name string
	Expr core.Expr
}

// Actions are the actions of a next-state relation. Disjunctions, \E, LET and
// applications of definitions are expanded. Every other expression is an
// action; its name is that of the definition in which it was found.
type Actions struct {
	p     *Program
	List  []Action
	Index map[core.Expr]int // by the action's expression
	open  map[*core.Def]bool
}

// SplitActions finds the actions of a next-state relation of that name.
func (p *Program) SplitActions(next core.Expr, name string) *Actions {
	s := &Actions{p: p, Index: make(map[core.Expr]int), open: make(map[*core.Def]bool)}
	s.split(next, name)
	return s
}

func (s *Actions) split(e core.Expr, name string) {
	switch e := e.(type) {
	case *core.Or:
		for _, x := range e.List {
			s.split(x, name)
		}
		return
	case *core.Quant:
		if e.Exists {
			s.split(e.Body, name)
			return
		}
	case *core.Let:
		s.split(e.Body, name)
		return
	case *core.Call:
		d, _ := s.p.Resolve(e.Def)
		if d != nil && d.Body != nil && !d.Recursive && !s.p.IsNative(d) && !s.open[d] {
			s.open[d] = true
			s.split(d.Body, d.Name)
			s.open[d] = false
			return
		}
	}
	if _, ok := s.Index[e]; !ok {
		s.Index[e] = len(s.List)
		s.List = append(s.List, Action{name, e})
	}
}
