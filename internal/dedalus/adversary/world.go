// SPDX-License-Identifier: Apache-2.0

package adversary

import (
	"slices"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// deployment holds the parts of a deployed program that do not change while it
// runs.
type deployment struct {
	program *logic.Program
	first   []*interp.Instance // before the first tick
	place   map[string]int     // of machines, by name
	// logical maps each machine to the node to which it belongs, an index of names. pieces
	// lists the machines of each node.
	names   []string
	logical []int
	pieces  [][]int
	of      []string            // the component that each machine is a piece of
	timers  [][]*logic.Relation // that each machine waits for
	periods map[*logic.Relation]int
	longest int
	slow    int // as in Options
}

// periodMax bounds the number of rounds of peace between two firings of a timer.
const periodMax = 128

func deploy(p *logic.Program, f interp.Functions, slow int) *deployment {
	d := &deployment{program: p, first: interp.Deploy(p, nil, f), place: map[string]int{}, periods: map[*logic.Relation]int{}, longest: 2, slow: max(1, slow)}
	var shortest time.Duration
	for _, r := range p.Relations {
		if r.Kind == logic.Timer && (shortest == 0 || r.Every < shortest) {
			shortest = r.Every
		}
	}
	for _, r := range p.Relations {
		if r.Kind != logic.Timer {
			continue
		}
		period := 2
		for time.Duration(period/2)*shortest < r.Every && period < periodMax {
			period *= 2
		}
		d.periods[r] = period
		d.longest = max(d.longest, period)
	}
	for i, n := range d.first {
		d.place[n.Node] = i
		l := slices.Index(d.names, n.Self)
		if l < 0 {
			l = len(d.names)
			d.names, d.pieces = append(d.names, n.Self), append(d.pieces, nil)
		}
		d.logical, d.pieces[l] = append(d.logical, l), append(d.pieces[l], i)
		name, _, _ := strings.Cut(n.Node, "/")
		c := p.Component(name)
		var timers []*logic.Relation
		for _, r := range p.In(c) {
			if r.Kind == logic.Timer {
				timers = append(timers, r)
			}
		}
		d.timers, d.of = append(d.timers, timers), append(d.of, c.Of)
	}
	return d
}

// outside is the sender of inputs.
const outside = -1

// parcel is a message that was sent to a machine, once or more often.
type parcel struct {
	message interp.Message
	key     string
	from    int  // the node that sent it last
	waiting bool // it was not delivered since it was sent
	// gone reports that the message was sent between machines of one node, before
	// that node's last crash.
	gone bool
}

// Telling is a message to the outside.
type Telling struct {
	Message interp.Message
	// At is the number of steps after which it first appeared.
	At int
}

// world is the state of a running program.
type world struct {
	*deployment
	machines []*interp.Instance
	stopped  []bool
	// net lists every message ever sent to each machine, in the order of first
	// sending.
	net   [][]parcel
	told  []Telling
	known map[string]bool // the outputs so far
	// arrived maps each fact that arrived at a node (the node's name, then the fact as
	// text) to the step in which it last arrived.
	arrived map[string]int
	// omit reports whether a message to or from a node never arrives. Nil omits none.
	omit func(m interp.Message, from, to int) bool
	// endless is set when a tick was abandoned. The run stops then.
	endless *interp.EndlessError
	// losing reports whether a later crash loses a message to the outside. Nil loses none.
	losing func(m interp.Message, from int) bool
	step   int
}

// arrival is a fact that arrives at a node.
func arrival(node string, f interp.Fact) string { return node + " " + f.String() }

func (d *deployment) begin() *world {
	w := &world{deployment: d, stopped: make([]bool, len(d.first)), net: make([][]parcel, len(d.first)), known: map[string]bool{}, arrived: map[string]int{}}
	for _, n := range d.first {
		w.machines = append(w.machines, n.Clone())
	}
	return w
}

func (w *world) clone() *world {
	v := *w
	v.machines = make([]*interp.Instance, len(w.machines))
	for i, n := range w.machines {
		v.machines[i] = n.Clone()
	}
	v.net = make([][]parcel, len(w.net))
	for i, list := range w.net {
		v.net[i] = slices.Clone(list)
	}
	v.told, v.stopped = slices.Clone(w.told), slices.Clone(w.stopped)
	v.arrived = map[string]int{} // only a whole run is asked for it
	v.known = make(map[string]bool, len(w.known))
	for k := range w.known {
		v.known[k] = true
	}
	return &v
}

// send puts a message in flight.
func (w *world) send(m interp.Message, from int) {
	key := m.String()
	i, inside := w.place[m.To]
	to := outside
	if inside {
		to = w.logical[i]
	}
	if w.omit != nil && w.omit(m, from, to) {
		return
	}
	if !inside {
		if !w.known[key] && (w.losing == nil || !w.losing(m, from)) {
			w.known[key] = true
			w.told = append(w.told, Telling{m, w.step})
		}
		return
	}
	for j := range w.net[i] {
		if p := &w.net[i][j]; p.key == key && !p.gone {
			p.waiting, p.from = true, from
			return
		}
	}
	w.net[i] = append(w.net[i], parcel{message: m, key: key, from: from, waiting: true})
}

// omitting makes messages never arrive from now on, including those in flight.
func (w *world) omitting(omit func(m interp.Message, from, to int) bool) {
	w.omit = omit
	for i := range w.net {
		for j := range w.net[i] {
			if p := &w.net[i][j]; omit != nil && omit(p.message, p.from, w.logical[i]) {
				p.waiting = false
			}
		}
	}
}

// tick runs a tick of a machine in which these parcels arrive. With rollback the machine keeps
// its old state, but its messages are sent.
func (w *world) tick(i int, in []int, timers []*logic.Relation, rollback bool) {
	if w.stopped[i] {
		return
	}
	var facts []interp.Fact
	for _, j := range in {
		w.net[i][j].waiting = false
		f := w.net[i][j].message.Fact
		facts = append(facts, f)
		w.arrived[arrival(w.names[w.logical[i]], f)] = w.step
	}
	before := w.machines[i]
	if rollback {
		before = before.Clone()
	}
	tick := w.machines[i].Tick(facts, timers...)
	if tick.Endless != nil {
		w.endless = tick.Endless
		for i := range w.stopped {
			w.stopped[i] = true
		}
	}
	sent := tick.Sent
	if rollback {
		w.machines[i] = before
	}
	for _, m := range sent {
		w.send(m, w.logical[i])
	}
}

// crash makes all machines of a node lose what is not durable, and the messages in flight
// between them. With all, their other messages in flight are lost too.
func (w *world) crash(node int, all bool) {
	for _, i := range w.pieces[node] {
		w.machines[i].Crash()
	}
	for i := range w.net {
		for j := range w.net[i] {
			p := &w.net[i][j]
			between := p.from == node && w.logical[i] == node && len(w.pieces[node]) > 1
			if p.gone = p.gone || between; between || p.from == node && all {
				p.waiting = false
			}
		}
	}
}

// waiting returns the parcels that are in flight to a machine.
func (w *world) waiting(i int) []int {
	var out []int
	for j, p := range w.net[i] {
		if p.waiting {
			out = append(out, j)
		}
	}
	return out
}

// round runs a round of peace: every machine receives all messages in flight to it.
func (w *world) round(round int) {
	for i := range w.machines {
		var timers []*logic.Relation
		for _, r := range w.timers[i] {
			if (round+3*i)%(w.slow*w.periods[r]) == 0 {
				timers = append(timers, r)
			}
		}
		w.step++
		w.tick(i, w.waiting(i), timers, false)
	}
}

// A run is at rest in peace after restPeriods periods of the slowest timer without a new
// output. It is abandoned after peacePeriods periods.
const restPeriods, peacePeriods = 4, 30

// peace runs rounds until there is no new output, and reports whether that happened. It calls
// each before each round.
func (w *world) peace(each func(round int)) bool {
	longest := w.slow * w.longest
	quiet, rest := 0, restPeriods*longest+2*len(w.machines)
	for round := range peacePeriods*longest + rest {
		before := len(w.told)
		each(round)
		w.round(round)
		if quiet++; len(w.told) > before {
			quiet = 0
		}
		if quiet >= rest {
			return true
		}
	}
	return false
}

// outcome returns all outputs, one a line, sorted.
func (w *world) outcome() string { return outcome(w.told) }

func outcome(told []Telling) string {
	var lines []string
	for _, t := range told {
		lines = append(lines, t.Message.String())
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// key returns a text that only worlds with the same future share.
func (w *world) key() string {
	var b []byte
	for i, n := range w.machines {
		b = append(n.AppendKey(b), 0)
		var list []string
		for _, p := range w.net[i] {
			if p.waiting {
				list = append(list, p.key)
			}
		}
		slices.Sort(list)
		for _, k := range list {
			b = append(append(b, k...), 0)
		}
		b = append(b, 1)
	}
	return string(append(b, w.outcome()...))
}
