// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
)

// move is a step from a state to another.
type move struct {
	action int
	node   int      // the machine of a tick
	in     []string // messages that arrive in it
	timers int      // a bit each, of those that the node reads
	lost   []string // of what is under way, in a crash
	inTick bool     // a crash
	other  string   // what is omitted, or arrives outside
	// fair reports that the step is not the adversary's: it is taken eventually.
	fair bool
}

// next calls visit for each successor state.
func (m *Model) next(s *state, visit func(v move, t *state) error) error {
	for i, n := range m.nodes {
		if err := m.ticks(s, i, m.arriving(s, n.Node), visit); err != nil {
			return err
		}
	}
	for l := range m.pieces {
		if s.crashes > 0 && slices.ContainsFunc(m.pieces[l], func(i int) bool { return len(s.carried[i]) > 0 }) {
			if err := m.crashes(s, l, move{}, visit); err != nil {
				return err
			}
		}
	}
	return m.omissions(s, visit)
}

// arrivals are the messages that can arrive at a node: fresh ones, and delivered ones again.
type arrivals struct{ fresh, again []string }

func (m *Model) arriving(s *state, node string) arrivals {
	var a arrivals
	for _, x := range s.pending {
		if msg, _ := split(x); to(msg) == node && !slices.Contains(a.fresh, msg) {
			a.fresh = append(a.fresh, msg)
		}
	}
	for _, x := range s.delivered {
		if msg, _ := split(x); to(msg) == node && !slices.Contains(a.fresh, msg) && !slices.Contains(a.again, msg) {
			a.again = append(a.again, msg)
		}
	}
	return a
}

// ticks visits the successors by a tick of a machine, and by a crash in it.
func (m *Model) ticks(s *state, i int, a arrivals, visit func(v move, t *state) error) error {
	for _, in := range m.subsets(slices.Concat(a.fresh, a.again), m.bounds.Together) {
		repeats := 0
		for _, x := range in {
			if !slices.Contains(a.fresh, x) {
				repeats++
			}
		}
		if repeats > s.duplicates && !m.often {
			continue
		}
		for timers := range 1 << len(m.reads[i]) {
			if !m.allowed(s, i, timers) {
				continue
			}
			t := m.tick(s, i, in, timers)
			if e := m.endless.Load(); e != nil {
				return e
			}
			if !m.often {
				t.duplicates -= repeats
			}
			if t.duplicates == 0 && !m.often {
				t.delivered = nil
			}
			v := move{action: i, node: i, in: in, timers: timers, fair: repeats == 0}
			if err := visit(v, t); err != nil {
				return err
			}
			if s.crashes > 0 && (len(in) > 0 || timers > 0 || len(s.carried[i]) > 0) {
				// The messages left, but the disk did not get what the tick logged.
				t = t.clone()
				t.carried[i] = s.carried[i]
				v.inTick = true
				if err := m.crashes(t, m.logical[i], v, visit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// omissions visits the successors by the omission of a message, or the arrival of an output.
func (m *Model) omissions(s *state, visit func(v move, t *state) error) error {
	for _, x := range s.pending {
		msg, from := split(x)
		at, inside := m.place[to(msg)]
		if from >= 0 && s.faulty>>from&1 == 1 || inside && s.faulty>>m.logical[at]&1 == 1 {
			t := s.clone()
			t.pending = slices.DeleteFunc(t.pending, func(y string) bool { return x == y })
			t.omitted = insert(t.omitted, x)
			if err := visit(move{action: len(m.nodes) + len(m.names), other: msg}, t); err != nil {
				return err
			}
		}
		if !inside {
			t := s.clone()
			t.pending = arrived(t.pending, msg)
			m.tell(t, msg)
			if err := visit(move{action: len(m.nodes) + len(m.names) + 1, other: msg, fair: true}, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// allowed reports whether the timers of a node in the mask may fire.
func (m *Model) allowed(s *state, i, timers int) bool {
	for bit, j := range m.reads[i] {
		if timers>>bit&1 == 1 && s.timers[j] == 0 {
			return false
		}
	}
	return true
}

// crashes visits the successors by a crash of a node, in the tick of v if v has one. All
// machines of the node lose what is not durable, and the messages in flight between them; any
// of its other messages in flight may be lost.
func (m *Model) crashes(s *state, l int, v move, visit func(v move, t *state) error) error {
	s = s.clone()
	s.crashes--
	var mine []string
	for _, i := range m.pieces[l] {
		s.carried[i] = m.codec.facts(slices.DeleteFunc(m.codec.carried(s.carried[i]), func(f interp.Fact) bool { return !f.Relation.Durable }))
	}
	between := func(x string) bool {
		msg, from := split(x)
		at, inside := m.place[to(msg)]
		return inside && from == l && m.logical[at] == l && len(m.pieces[l]) > 1
	}
	s.pending, s.delivered = slices.DeleteFunc(s.pending, between), slices.DeleteFunc(s.delivered, between)
	for _, x := range s.pending {
		if _, from := split(x); from == l {
			mine = append(mine, x)
		}
	}
	v.action, v.fair = len(m.nodes)+l, false
	if len(mine) > lostMax {
		m.clipped.Store(true)
		mine = mine[:lostMax]
	}
	for _, lost := range m.subsets(mine, len(mine)) {
		t := s.clone()
		t.pending = slices.DeleteFunc(t.pending, func(x string) bool { return slices.Contains(lost, x) })
		v.lost = lost
		if err := visit(v, t); err != nil {
			return err
		}
	}
	return nil
}

// subsets returns the subsets of at most that many elements, including the empty one.
func (m *Model) subsets(all []string, most int) [][]string {
	if len(all) > togetherMax {
		m.clipped.Store(true)
		all = all[:togetherMax]
	}
	out := [][]string{nil}
	for mask := uint64(1); mask < 1<<len(all); mask++ {
		if bits.OnesCount64(mask) > most {
			continue
		}
		var s []string
		for i, x := range all {
			if mask>>i&1 == 1 {
				s = append(s, x)
			}
		}
		out = append(out, s)
	}
	return out
}

// tick returns the state after a tick of a machine.
func (m *Model) tick(s *state, i int, in []string, timers int) *state {
	t := s.clone()
	for _, x := range in {
		for _, y := range s.pending {
			if msg, from := split(y); msg == x && (t.duplicates > 0 || m.often && from != outside) {
				if m.often && len(t.delivered) >= againMax && !contains(t.delivered, y) {
					m.clipped.Store(true)
					continue
				}
				t.delivered = insert(t.delivered, y)
			}
		}
		t.pending = arrived(t.pending, x)
	}
	for bit, j := range m.reads[i] {
		if timers>>bit&1 == 1 && t.timers[j] > 0 {
			t.timers[j]--
		}
	}
	done := m.node(i, s.carried[i], in, timers)
	from := m.logical[i]
	for _, out := range done.sent {
		x := under(out.message, from)
		switch {
		case contains(t.omitted, x):
		case out.inside:
			t.pending = insert(t.pending, x)
		case told(t.outputs, out.message):
		case t.faulty>>from&1 == 1 || m.late && t.crashes > 0:
			t.pending = insert(t.pending, x)
		default:
			m.tell(t, out.message)
		}
	}
	t.carried[i] = done.carried
	return t
}

// describe returns a readable description of a step.
func (m *Model) describe(v move) string {
	list := func(all []string) string {
		var out []string
		for _, x := range all {
			out = append(out, m.codec.read(x).Fact.String())
		}
		return strings.Join(out, ", ")
	}
	nodes, crashes := len(m.nodes), len(m.names)
	switch {
	case v.action == nodes+crashes:
		return "never arrives: " + m.codec.read(v.other).String()
	case v.action > nodes+crashes:
		return "arrives outside: " + m.codec.read(v.other).String()
	case v.action >= nodes && !v.inTick:
		return "crash of " + m.names[v.action-nodes] + m.losing(v)
	}
	text := m.nodes[v.node].Node
	if len(v.in) > 0 {
		text += " gets " + list(v.in)
	}
	for bit, j := range m.reads[v.node] {
		if v.timers>>bit&1 == 1 {
			text += ", timer " + m.timers[j].Name
		}
	}
	if v.inTick {
		text += "; crash in the tick" + m.losing(v)
	}
	return text
}

// losing describes the messages that a crash loses.
func (m *Model) losing(v move) string {
	if len(v.lost) == 0 {
		return ""
	}
	var out []string
	for _, x := range v.lost {
		msg, _ := split(x)
		out = append(out, m.codec.read(msg).String())
	}
	return fmt.Sprintf(", which loses %s", strings.Join(out, ", "))
}
