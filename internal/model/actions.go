package model

import "github.com/ashlar-dev/ashlar/internal/tla/core"

// action is a disjunct of the next-state relation: what it is called, and the
// expression that it is.
type action struct {
	name string
	expr core.Expr
}

// splitter finds the actions: the next-state relation is opened at
// disjunctions, \E, LET and applications of definitions; what is left is an
// action, and it has the name of the definition that it was found in.
type splitter struct {
	p       *program
	actions []action
	index   map[core.Expr]int // by the action's expression
	open    map[*core.Def]bool
}

func (p *program) splitActions(next core.Expr, name string) *splitter {
	s := &splitter{p: p, index: make(map[core.Expr]int), open: make(map[*core.Def]bool)}
	s.split(next, name)
	return s
}

func (s *splitter) split(e core.Expr, name string) {
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
		d, _ := s.p.resolve(e.Def)
		if d != nil && d.Body != nil && !d.Recursive && !s.p.isNative(d) && !s.open[d] {
			s.open[d] = true
			s.split(d.Body, d.Name)
			s.open[d] = false
			return
		}
	}
	if _, ok := s.index[e]; !ok {
		s.index[e] = len(s.actions)
		s.actions = append(s.actions, action{name, e})
	}
}
