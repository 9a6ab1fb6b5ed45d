// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/check/live"
	"github.com/ashlar-dev/ashlar/internal/check/spill"
)

// liveGraph is the graph of a model for checking the properties of its behaviours.
// States and steps are on tapes, which go to disk if memory is short. Always in
// memory are the fingerprints while the graph is built, the index of the tapes,
// and the nodes of live.Find; if these do not fit, nothing is decided.
type liveGraph struct {
	m       Model
	number  int // of states
	initial int
	b       *graphBuilder // its figures, and its first worker

	budget       int64    // bytes; 0 is no bound
	disk         env.Disk // nil if everything stays in memory
	states       *rows
	steps        *rows
	row          []byte // of the steps that are being added
	state, other *rowReader
	step         *rowReader
	ev           Worker
	can          Capabilities // of ev
	at           int          // its level
	known        [][]uint64   // by atom of states: two bits a state, its value and whether it is known
	isState      []bool       // by atom
	cache        []cachedAtom
	remembers    bool // there is memory for known

	// The computations and lookups that remain, if they are bounded.
	bounded                bool
	evaluations, questions int64
}

// errSpent reports that the bound on computations or lookups is reached.
var errSpent = errors.New("check: a periodic check takes too long")

// bound limits how many values of atoms are computed from now on, and how many
// lookups are made; 0 means no limit.
func (g *liveGraph) bound(evaluations, questions int64) {
	g.bounded, g.evaluations, g.questions = questions > 0, evaluations, questions
}

// spend counts a lookup against the bounds.
func (g *liveGraph) spend(evaluations int64) error {
	if g.questions--; g.bounded {
		if g.evaluations -= evaluations; g.questions < 0 || g.evaluations < 0 {
			return errSpent
		}
	}
	return nil
}

// cachedAtom is the value of an atom on a step.
type cachedAtom struct {
	step  uint64
	atom  uint32 // and 1; 0 for none
	holds bool
}

// How the memory of a graph is divided: a fourth for the two tapes, and a
// fourth for blocks read back from them and for values of atoms together.
const (
	shareOfRows  = 8
	shareOfRead  = 8
	shareOfAtoms = 8
	// readBlocksMin is the number of read blocks that each reader keeps.
	readBlocksMin = 8
	// atomsCachedMax is the maximum number of cached values of atoms on steps.
	atomsCachedMax = 1 << 16
)

// graphName is the prefix of the names of a graph's files.
const graphName = "graph-"

func newLiveGraph(ctx context.Context, m Model, o Options) (*liveGraph, error) {
	g := &liveGraph{m: m, budget: o.MemoryBytes, disk: o.Disk}
	g.states = &rows{tape: spill.NewTape(o.Disk, graphName+"states")}
	g.steps = &rows{tape: spill.NewTape(o.Disk, graphName+"steps")}
	g.b = newGraphBuilder(ctx, m, o.Workers, g.states)
	g.b.keep, g.b.balance = g.keep, g.balance
	g.ev, g.can = g.b.workers[0].ev, g.b.workers[0].can
	if g.can.Atom == nil {
		return nil, errors.New("check: the workers of the model cannot evaluate properties of behaviours")
	}
	for _, kind := range m.Capabilities().Live.Atoms {
		g.isState = append(g.isState, kind == live.StateAtom)
	}
	g.known = make([][]uint64, len(g.isState))
	return g, nil
}

// build explores the model up to levelsMax of the builder. Known values of atoms stay
// known. After it has explored everything, it frees the data that only exploring
// needs.
func (g *liveGraph) build() error {
	if err := g.b.build(); err != nil {
		return err
	}
	g.number, g.initial = g.b.number, g.b.initial
	read := max(g.budget/shareOfRead/4, readBlocksMin*rowsBlockBytes)
	g.state, g.other, g.step = g.states.newReader(read), g.states.newReader(read), g.steps.newReader(2*read)
	g.cache = make([]cachedAtom, min(atomsCachedMax, max(1024, g.number)))
	g.remembers = g.budget == 0 || int64(len(g.known))*int64(g.number)/4 <= g.budget/shareOfAtoms
	for i, bits := range g.known {
		switch more := (g.number+31)/32 - len(bits); {
		case !g.remembers:
			g.known[i] = nil
		case bits != nil && more > 0:
			g.known[i] = append(bits, make([]uint64, more)...)
		}
	}
	if g.b.levelsMax > 0 {
		return g.balance()
	}
	g.b.set, g.b.index, g.b.row = nil, nil, nil
	for _, w := range g.b.workers {
		w.fresh, w.edges, w.ends = arena{}, nil, nil
	}
	return g.balance()
}

// keep stores the steps from the next state.
func (g *liveGraph) keep(row []graphStep) {
	g.row = g.row[:0]
	from := uint32(g.steps.n)
	prev := from
	for _, s := range row {
		if s.to != from { // a step to the same state is implicit
			g.row = live.AppendStep(g.row, prev, s.to)
			prev = s.to
		}
	}
	g.steps.add(g.row)
}

// balance moves to disk what exceeds the memory bound.
func (g *liveGraph) balance() error {
	if g.budget == 0 {
		return nil
	}
	tables := int64(cap(g.states.at)+cap(g.steps.at)) * 8
	for _, r := range []*rows{g.states, g.steps} {
		if g.disk == nil {
			tables += r.held()
		} else if err := r.spill(g.budget / shareOfRows); err != nil {
			return err
		}
	}
	if g.b.set != nil {
		tables += g.b.set.Bytes()
	}
	if most := max(g.budget/2, liveTablesMin); tables > most {
		return &live.MemoryError{What: "the numbers of the states", Bytes: tables, Max: most}
	}
	return nil
}

// liveTablesMin and liveRoomMin are the bytes that a graph, and a search in it,
// may always use.
const (
	liveTablesMin = 1 << 20
	liveRoomMin   = 1 << 20
)

// room is the memory left for a search in the graph; 0 means no bound.
func (g *liveGraph) room() int64 {
	if g.budget == 0 {
		return 0
	}
	return max(liveRoomMin, g.budget-g.held()-g.budget/shareOfRead-g.budget/shareOfAtoms)
}

// held is the size of the graph in memory, and stored its size on disk.
func (g *liveGraph) held() int64   { return g.states.held() + g.steps.held() }
func (g *liveGraph) stored() int64 { return g.states.tape.Stored() + g.steps.tape.Stored() }

// stats are the size of the graph.
func (g *liveGraph) stats() LiveStats {
	return LiveStats{States: int64(g.number), Steps: g.b.steps, Bytes: g.held(), DiskBytes: g.stored()}
}

// find looks for a behaviour that breaks a property.
func (g *liveGraph) find(ctx context.Context, asked *Live, p LiveProperty) (*live.Lasso, error) {
	return live.Find(ctx, g, live.Problem{Atoms: asked.Atoms, Assume: asked.Assume, Property: p.Formula, MemoryBytes: g.room()})
}

// close removes the files of the graph.
func (g *liveGraph) close() error {
	var errs []error
	for _, r := range []*rows{g.states, g.steps} {
		name, stored := r.tape.Name()
		errs = append(errs, r.tape.Close())
		if !stored {
			continue
		}
		if err := g.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// States is the number of states.
func (g *liveGraph) States() int { return g.number }

// Initial is the number of initial states.
func (g *liveGraph) Initial() int { return g.initial }

// Steps returns the targets of the steps from a state. A state that is not expanded
// has only the implicit step to itself.
func (g *liveGraph) Steps(s uint32) ([]byte, error) {
	if err := g.spend(0); err != nil || int(s) >= g.steps.n {
		return nil, err
	}
	return g.step.get(int(s))
}

// Atom is the value of an atom. Values on states are cached for all states if
// there is room, and values on steps for some steps.
func (g *liveGraph) Atom(i int, from, to uint32) (bool, error) {
	if err := g.spend(0); err != nil {
		return false, err
	}
	var bits *uint64
	var cached *cachedAtom
	shift, step := from%32*2, uint64(from)<<32|uint64(to)
	if g.isState[i] {
		if bits = g.bitsOf(i, from); bits != nil && *bits>>shift&1 == 1 {
			return *bits>>shift&2 != 0, nil
		}
	}
	if bits == nil {
		if g.isState[i] {
			step = uint64(from)
		}
		cached = &g.cache[(step*0x9e3779b97f4a7c15+uint64(i)*0xbf58476d1ce4e5b9)>>20%uint64(len(g.cache))]
		if cached.atom == uint32(i)+1 && cached.step == step {
			return cached.holds, nil
		}
	}
	if err := g.spend(1); err != nil {
		return false, err
	}
	holds, err := g.evaluate(i, from, to)
	switch {
	case err != nil:
		return false, err
	case cached != nil:
		*cached = cachedAtom{step, uint32(i) + 1, holds}
	case holds:
		*bits |= 3 << shift
	default:
		*bits |= 1 << shift
	}
	return holds, nil
}

// bitsOf is the place where the value of an atom in a state is cached, or nil.
func (g *liveGraph) bitsOf(i int, s uint32) *uint64 {
	if g.known[i] == nil {
		if !g.remembers {
			return nil
		}
		g.known[i] = make([]uint64, (g.number+31)/32)
	}
	return &g.known[i][s/32]
}

func (g *liveGraph) evaluate(i int, from, to uint32) (bool, error) {
	if g.can.AtLevel != nil {
		if at := g.b.levelOf(int(from)); at != g.at {
			g.at = at
			g.can.AtLevel(at)
		}
	}
	s, err := g.state.get(int(from))
	if err != nil || g.isState[i] {
		if err != nil {
			return false, err
		}
		return g.can.Atom(i, s, nil)
	}
	t, err := g.other.get(int(to))
	if err != nil {
		return false, err
	}
	return g.can.Atom(i, s, t)
}

// show makes the trace of a lasso: its path, then its loop.
func (g *liveGraph) show(l *live.Lasso, v *Violation) error {
	v.Loop = len(l.Path)
	for _, n := range append(slices.Clone(l.Path), l.Loop...) {
		s, err := g.state.get(int(n))
		if err != nil {
			return err
		}
		action := rootAction
		if last := len(v.Trace) - 1; last >= 0 {
			if action, err = g.action(v.Trace[last].State, s); err != nil {
				return err
			}
		}
		v.Trace = append(v.Trace, Step{Action: action, State: slices.Clone(s)})
	}
	v.LoopAction = rootAction
	if len(l.Loop) > 1 {
		var err error
		if v.LoopAction, err = g.action(v.Trace[len(v.Trace)-1].State, v.Trace[v.Loop].State); err != nil {
			return err
		}
	}
	showSteps(g.m, v.Trace)
	return nil
}

// action is the first action that leads from one state to another.
func (g *liveGraph) action(from, to State) (int, error) {
	found := rootAction
	err := g.ev.Next(from, func(a int, s State) error {
		if slices.Equal(s, to) {
			found = a
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return found, err
	}
	return found, nil
}
