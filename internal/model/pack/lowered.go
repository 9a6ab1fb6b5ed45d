// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Lowered is a model on words.
type Lowered struct {
	layout *Layout
	next   *stmt // nil where there is no next-state relation
	preds  []*node
	view   *view // nil where there is none
	regs   int
	// Why has the reasons why expressions were given up, and how often each
	// occurred.
	Why map[string]int
}

// Sample has the lowering's knowledge of a model's states.
type Sample struct {
	// Values has the values of each variable that occur in the sample.
	Values [][]value.Value
	// Sets are constant sets of the configuration, and Strings the strings of
	// the specification.
	Sets    []value.Value
	Strings []value.Value
	// Views has values of Model.View.
	Views []value.Value
}

// Model is the input of Lower: a next-state relation with the numbers of its
// actions, and predicates, some of which are about steps and may mention the
// next state.
type Model struct {
	Program Program
	Next    core.Expr
	Actions map[core.Expr]int
	Preds   []core.Expr
	// View, if not nil, identifies states by its value.
	View core.Expr
	// Invariants may contain types of variables.
	Invariants []core.Expr
}

// Lower makes code for a model, in at most work steps. If it cannot, it returns
// an error with the reason; ErrWork if it would need more steps.
//
// A bug in the lowering must not end a search that can do without it, so Lower
// returns it as an error too: a *Fault.
func Lower(m Model, s Sample, work int) (out *Lowered, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, &Fault{fmt.Sprint(r)}
		}
	}()
	return lower(m, s, work)
}

// ErrWork reports that lowering would take more steps than permitted.
var ErrWork = errors.New("the model takes too long to be packed")

// Fault reports a bug in the lowering.
type Fault struct{ What string }

func (f *Fault) Error() string { return "a fault of the lowering: " + f.What }

func lower(m Model, s Sample, work int) (*Lowered, error) {
	l := &lowerer{b: &build{limit: nextNodesMax}, work: work, room: predNodesMax, p: m.Program, us: make(universes), spread: 1, spreadMax: spreadMax, once: make(map[defKey]*val), why: make(map[string]int)}
	out := &Lowered{Why: l.why}
	err := value.Catch(func() {
		l.lay = l.layout(s, l.declared(m.Invariants, len(s.Values)))
		out.layout = l.lay
		if m.Next != nil {
			out.next = l.relation(m)
		}
		for _, e := range m.Preds {
			out.preds = append(out.preds, l.whole(e))
		}
		if m.View != nil {
			out.view = l.view(m.View, s.Views)
		}
	})
	out.regs = l.b.regs
	if l.dead {
		return nil, ErrWork
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// relation lowers the next-state relation.
func (l *lowerer) relation(m Model) (s *stmt) {
	x := ctx{path: &path{assigned: make([]bool, len(l.lay.vars))}}
	lower := func() {
		s = l.split(m.Actions, m.Next, x, func(action int) rest {
			return func(p *path) *stmt {
				for _, ok := range p.assigned {
					if !ok {
						return l.stopStmt()
					}
				}
				return l.stmt(stmt{op: sEmit, k: int64(action)})
			}
		})
	}
	err := value.Catch(lower)
	if err == nil {
		return s
	}
	if l.dead {
		panic(err)
	}
	l.b.full, l.b.limit = false, l.b.nodes+nextNodesMax
	l.calls, l.spread, l.spreadMax = 0, 1, spreadMaxLow
	lower()
	return s
}

// whole lowers a predicate of the model. If the predicate is too large, its code
// stops. After a predicate that was too large, the next ones get less room, because
// many models have several similar predicates.
func (l *lowerer) whole(e core.Expr) (n *node) {
	for _, l.spreadMax = range []int{spreadMax, spreadMaxLow} {
		l.b.full, l.b.limit = false, l.b.nodes+l.room
		l.calls, l.spread = 0, 1
		if value.Catch(func() { n = l.pred(e, ctx{}) }) == nil {
			return n
		}
		if l.dead {
			break
		}
	}
	if l.dead {
		giveUp("%v", ErrWork)
	}
	l.why["a predicate is too large to be packed"]++
	l.room = max(l.room/4, predNodesLeast)
	l.b.full, l.b.limit = false, l.b.nodes+l.room
	return l.b.node(node{op: oStop, hi: 1})
}

// layout guesses the types of the variables.
func (l *lowerer) layout(s Sample, declared []*typ) *Layout {
	g := &guesser{us: l.us}
	for _, set := range s.Sets {
		if u := l.us.of(set); u != nil && len(u.vals) > 0 && u.every(value.KindModel) {
			g.sets = append(g.sets, u)
		}
	}
	for i := range g.sets {
		for j := i; j > 0 && len(g.sets[j].vals) < len(g.sets[j-1].vals); j-- {
			g.sets[j], g.sets[j-1] = g.sets[j-1], g.sets[j]
		}
	}
	if len(s.Strings) > 0 && len(s.Strings) <= 64 {
		g.strings = l.us.ofAll(s.Strings)
	}
	var types []*typ
	for i, vals := range s.Values {
		guessed := g.of(vals, false, 0)
		t := combine(declared[i], guessed)
		if t == nil || !fits(t, vals) {
			t = guessed
		}
		if t == nil {
			giveUp("variable number %d is of no type", i)
		}
		types = append(types, t)
	}
	lay := newLayout(types)
	if lay == nil {
		giveUp("a state is too large to be packed")
	}
	return lay
}

// Reasons lists the reasons of Why, the most frequent first.
func (l *Lowered) Reasons() string {
	keys := slices.Collect(maps.Keys(l.Why))
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(l.Why[b], l.Why[a]), cmp.Compare(a, b))
	})
	return strings.Join(keys[:min(len(keys), reasonsMax)], "; ")
}

// reasonsMax bounds the reasons that are reported.
const reasonsMax = 5
