// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/model/direct"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// algorithm compiles the next-state relation of an algorithm in the order of its
// translation: single processes, procedures, process sets, crashes, and the step
// at the end.
func (c *compiler) algorithm(d *direct.Algorithm, x site) act {
	var singles, sets []act
	for _, p := range d.Alg.Processes {
		s := &steps{c: c, d: d, view: d.Process(p)}
		if !p.Set {
			singles = append(singles, s.dispatch(p.Blocks, d.First[p], x))
			continue
		}
		sets = append(sets, s.each(p.Self, p.Id, p.Blocks, d.First[p], x))
	}
	acts := singles
	for _, p := range d.Alg.Procedures {
		s := &steps{c: c, d: d, view: d.Procedure(p)}
		if d.Alg.Uniprocess() {
			acts = append(acts, s.dispatch(p.Blocks, d.First[p], x))
		} else {
			acts = append(acts, s.each(p.Self, d.Everyone(), p.Blocks, d.First[p], x))
		}
	}
	acts = append(acts, sets...)
	for _, p := range d.Alg.Processes {
		if p.Crash != nil {
			s := &steps{c: c, d: d, view: d.Process(p)}
			acts = append(acts, s.crash(p, x))
		}
	}
	if d.Ends {
		acts = append(acts, c.terminating(d, x))
	}
	if r := c.in.Reduction; r != nil && len(r.Alone()) > 0 {
		return reduced(r, c.alone(d, r, x), sequence(acts))
	}
	return sequence(acts)
}

// each compiles the blocks for every element of a set of processes.
func (s *steps) each(self *core.Local, set core.Expr, blocks []*pcal.Block, first int, x site) act {
	var all []pcal.Stmt
	for _, b := range blocks {
		all = append(all, b.Body...)
	}
	q := &core.Quant{At: core.At{Place: set.Span()}, Exists: true, Binds: []core.Bind{{Vars: []*core.Local{self}, Set: set}}, Body: s.weight(all)}
	return s.c.exists(q, x, nil, func(_ core.Expr, inner site, _ act) act { return s.dispatch(blocks, first, inner) })
}

// crash compiles the crash of a process, or of each process of a set, at any
// label.
func (s *steps) crash(p *pcal.Process, x site) act {
	action := s.d.First[p.Crash]
	one := func(x site) act {
		run := s.block(p.Crash, x)
		return func(m *Machine) bool {
			m.action = action
			return run(m)
		}
	}
	if !p.Set {
		return one(x)
	}
	q := &core.Quant{At: core.At{Place: p.Id.Span()}, Exists: true, Binds: []core.Bind{{Vars: []*core.Local{p.Self}, Set: p.Id}}, Body: s.weight(p.Crash.Body)}
	return s.c.exists(q, x, nil, func(_ core.Expr, inner site, _ act) act { return one(inner) })
}

// labelsMax is the maximum number of labels of a process for which dispatch
// caches the step of each label by the number of pc's value.
const labelsMax = 250

// dispatch compiles the steps of one process: it looks up the process's label
// and executes the step of that label.
func (s *steps) dispatch(blocks []*pcal.Block, first int, x site) act {
	runs := make([]act, len(blocks))
	at := make(map[string]int, len(blocks))
	for i, b := range blocks {
		at[b.Label] = i
		if s.alone != nil && !s.alone[b] {
			runs[i] = func(*Machine) bool { return true }
			continue
		}
		run, action := s.block(b, x), first+i
		if s.alone != nil {
			run = only(run)
		}
		runs[i] = func(m *Machine) bool {
			m.action = action
			return run(m)
		}
	}
	if !s.d.Alg.NeedsPC() {
		return runs[0]
	}
	cell := s.view.Cell(s.d.Alg.PC, nil)
	pc := s.c.expr(cell, x).run
	find := func(m *Machine) int {
		if i, ok := at[pc(m).AsString()]; ok {
			return i
		}
		return -1
	}
	run := func(m *Machine, i int) bool { return i < 0 || runs[i](m) }
	f := s.c.facts(cell, x)
	if f.Locals || len(blocks) > labelsMax {
		return func(m *Machine) bool { return run(m, find(m)) }
	}
	site, variable := s.c.memoSites, s.d.Alg.PC.Index
	s.c.memoSites++
	const known = 2 // 0 is not known, 1 is none of the labels
	return func(m *Machine) bool {
		if m.curIDs == nil {
			return run(m, find(m))
		}
		id := int(m.curIDs[variable])
		if n := m.memos.Pred(site, id); n != 0 {
			return run(m, int(n)-known)
		}
		i := find(m)
		m.memos.SetPred(site, id, uint8(i+known))
		return run(m, i)
	}
}

// terminating is the step of an algorithm that has ended; it changes nothing.
func (c *compiler) terminating(d *direct.Algorithm, x site) act {
	done := func(at core.Expr) core.Expr {
		return &core.Op{Op: core.OpEq, Args: []core.Expr{at, &core.Str{Val: pcal.LabelDone}}}
	}
	var pc core.Expr = &core.VarRef{Var: d.Alg.PC}
	cond := done(pc)
	if !d.Alg.Uniprocess() {
		self := &core.Local{Name: "self"}
		all := []core.Bind{{Vars: []*core.Local{self}, Set: d.Everyone()}}
		cond = &core.Quant{Binds: all, Body: done(&core.Apply{Fn: pc, Arg: &core.LocalRef{Local: self}})}
	}
	action := len(d.Actions) - 1
	test := c.pred(cond, x)
	stay := unchangedVars(c.p.Spec.Variables, func(m *Machine) bool { return m.found(m.action) })
	return func(m *Machine) bool {
		if !test(m) {
			return true
		}
		m.action = action
		return stay(m)
	}
}
