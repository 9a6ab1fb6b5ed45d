// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Bounds limit a search.
type Bounds struct {
	// Together is the maximum number of messages that arrive in one tick.
	// Default: 2.
	Together int
	// Duplicates is the number of repeated deliveries, besides deliveries of messages that
	// are sent again.
	Duplicates int
	// Often makes Compare check, if it finds a difference, whether the first program has the
	// same outputs when messages of its nodes may arrive any number of times: pieces that
	// keep received facts may send again what the first program sends once.
	Often bool
	// Crashes is the total number of node crashes. A crashed node restarts with its
	// durable facts. A crash happens between two ticks or in one: after the tick's
	// messages have left, and before its changes are on the disk. It may lose some of the
	// node's messages in flight. If rewrites run a node on several machines, all of them
	// crash together, and the messages in flight between them are lost.
	Crashes int
	// Omissions is the maximum number of nodes that fail by omission, permanently:
	// any message to or from such a node may never arrive, however often it is sent.
	// A stopped node is one that omits all messages. The machines of a node count as
	// one node.
	Omissions int
	// StatesMax bounds the number of states of a search. Default: one million.
	StatesMax int64
}

func (b Bounds) String() string {
	return fmt.Sprintf("at most %d messages a tick, %d duplicates, %d crashes, %d nodes that omit", b.Together, b.Duplicates, b.Crashes, b.Omissions)
}

func (b *Bounds) fill() {
	if b.Together == 0 {
		b.Together = 2
	}
	if b.StatesMax == 0 {
		b.StatesMax = 1_000_000
	}
}

// togetherMax and lostMax are the maximum numbers of messages of which the search tries all
// subsets. A search that finds more is not complete.
const (
	togetherMax = 20
	lostMax     = 8
	againMax    = 16 // messages that may come any number of times
)

// Model is a program with its inputs as a transition system: each step is a tick of
// a node, or a crash.
type Model struct {
	codec  *codec
	bounds Bounds
	name   string
	nodes  []*interp.Instance
	place  map[string]int // of nodes, by name
	// logical maps each machine to the node to which it belongs, pieces lists the machines of
	// each node, and names has the names of the nodes.
	logical []int
	pieces  [][]int
	names   []string
	timers  []*logic.Relation
	limits  []int   // how often each timer runs out; unlimited if negative
	reads   [][]int // the timers that each node waits for
	lost    func(interp.Message) bool
	until   func(told []interp.Message) bool
	// late delays messages to the outside, so that a crash may lose them.
	late bool
	// often allows any number of deliveries of a node's messages. Clients send once.
	often bool
	// ordered records for each output which inputs had arrived before it.
	ordered bool
	// each ends a search as until does, for a check within this package.
	each   func(*state) bool
	inputs []interp.Message
	// clipped is set when the search omits something that is within the bounds.
	clipped atomic.Bool
	// memo has the results of earlier ticks, while one goroutine explores.
	memo map[string]ticked
	// endless has an aborted tick, if there was one. Then the search cannot continue.
	endless *atomic.Pointer[interp.EndlessError]
}

// ticked is the result of a node's tick: the facts that it carries, and its messages.
type ticked struct {
	carried string
	sent    []sent
}

// sent is a message, and whether its destination is a machine of the program.
type sent struct {
	message string
	inside  bool
}

var _ check.Model = (*Model)(nil)

// NewModel deploys a program that receives these messages from outside. Extra is as in
// interp.Deploy.
func NewModel(p *logic.Program, inputs []interp.Message, extra map[string][][]logic.Value, f interp.Functions, b Bounds) *Model {
	b.fill()
	m := &Model{endless: new(atomic.Pointer[interp.EndlessError]), codec: newCodec(p), bounds: b, name: p.Name, nodes: interp.Deploy(p, extra, f), place: map[string]int{}, inputs: inputs}
	for i, n := range m.nodes {
		m.place[n.Node] = i
		l := slices.Index(m.names, n.Self)
		if l < 0 {
			l = len(m.names)
			m.names, m.pieces = append(m.names, n.Self), append(m.pieces, nil)
		}
		m.logical, m.pieces[l] = append(m.logical, l), append(m.pieces[l], i)
	}
	for _, r := range p.Relations {
		if r.Kind == logic.Timer {
			m.timers, m.limits = append(m.timers, r), append(m.limits, -1)
		}
	}
	for _, n := range m.nodes {
		m.reads = append(m.reads, m.waits(p, n))
	}
	return m
}

// waits returns the indexes of the timers that a node's rules read.
func (m *Model) waits(p *logic.Program, n *interp.Instance) []int {
	name, _, _ := strings.Cut(n.Node, "/")
	in := p.In(p.Component(name))
	var out []int
	for i, r := range m.timers {
		if slices.Contains(in, r) {
			out = append(out, i)
		}
	}
	return out
}

// Limit sets how often a timer fires in a run, at all nodes together. Timers without a limit
// may fire at any tick.
func (m *Model) Limit(timer string, times int) {
	for i, r := range m.timers {
		if r.Name == timer {
			m.limits[i] = times
		}
	}
}

// Lose loses the messages for which lost returns true.
func (m *Model) Lose(lost func(interp.Message) bool) { m.lost = lost }

// Until makes Find stop at a state whose outputs satisfy bad. The order of the messages is
// the model's.
func (m *Model) Until(bad func(told []interp.Message) bool) { m.until = bad }

// Info implements check.Model. Actions are the ticks of each machine, then the crashes of
// each node, then an omission, and the arrival of an output.
func (m *Model) Info() check.Info {
	info := check.Info{Name: m.name}
	for _, n := range m.nodes {
		info.Actions = append(info.Actions, check.Action{Name: "tick " + n.Node})
	}
	for _, n := range m.names {
		info.Actions = append(info.Actions, check.Action{Name: "crash " + n})
	}
	info.Actions = append(info.Actions, check.Action{Name: "omit"}, check.Action{Name: "tell"})
	return info
}

// NewWorker implements check.Model.
func (m *Model) NewWorker() check.Worker { return &worker{m} }

// Capabilities implements check.Model: it has none besides those of every model.
func (m *Model) Capabilities() check.ModelCapabilities { return check.ModelCapabilities{} }

// Show implements check.Model.
func (m *Model) Show(b check.State) []check.Binding {
	s := m.codec.decode(b, len(m.nodes), len(m.timers))
	var out []check.Binding
	add := func(name string, lines []string) {
		text, err := json.Marshal(lines)
		if err != nil {
			text = []byte("null")
		}
		out = append(out, check.Binding{Name: name, Value: fmt.Sprint(lines), JSON: string(text)})
	}
	for i, n := range m.nodes {
		lines := []string{}
		for _, f := range m.codec.carried(s.carried[i]) {
			lines = append(lines, f.String())
		}
		add(n.Node, lines)
	}
	for _, l := range []struct {
		name string
		list []string
	}{{"pending", s.pending}, {"omitted", s.omitted}, {"told", s.outputs}} {
		lines := []string{}
		for _, x := range l.list {
			lines = append(lines, m.codec.read(x).String())
		}
		add(l.name, lines)
	}
	return out
}

// initial returns the states before the first tick, one for each set of faulty nodes. All
// inputs are in flight.
func (m *Model) initial() []*state {
	s := &state{carried: make([]string, len(m.nodes)), duplicates: m.bounds.Duplicates, crashes: m.bounds.Crashes, timers: slices.Clone(m.limits)}
	for _, i := range m.inputs {
		s.pending = insert(s.pending, under(m.codec.message(i), outside))
	}
	var out []*state
	for faulty := uint64(0); faulty < 1<<len(m.names); faulty++ {
		if bits.OnesCount64(faulty) > m.bounds.Omissions {
			continue
		}
		t := s.clone()
		t.faulty = faulty
		out = append(out, t)
		if m.bounds.Omissions == 0 {
			break
		}
	}
	return out
}

// node returns the result of a node's tick. Most states differ at other nodes, so most results
// are in the memo.
func (m *Model) node(i int, carried string, in []string, timers int) ticked {
	var key []byte
	if m.memo != nil {
		key = binary.AppendUvarint(binary.AppendUvarint(make([]byte, 0, 256), uint64(i)), uint64(timers))
		for _, x := range in {
			key = appendString(key, x)
		}
		key = append(key, 0) // no message is empty
		key = append(key, carried...)
		if t, ok := m.memo[string(key)]; ok {
			return t
		}
	}
	var facts []interp.Fact
	for _, x := range in {
		facts = append(facts, m.codec.read(x).Fact)
	}
	var fired []*logic.Relation
	for bit, j := range m.reads[i] {
		if timers>>bit&1 == 1 {
			fired = append(fired, m.timers[j])
		}
	}
	n := m.nodes[i].Carrying(m.codec.carried(carried))
	var t ticked
	tick := n.Tick(facts, fired...)
	if tick.Endless != nil {
		m.endless.Store(tick.Endless)
	}
	for _, out := range tick.Sent {
		if _, inside := m.place[out.To]; m.lost == nil || !m.lost(out) {
			t.sent = append(t.sent, sent{m.codec.message(out), inside})
		}
	}
	t.carried = m.codec.facts(n.Carried())
	if m.memo != nil {
		m.memo[string(key)] = t
	}
	return t
}

// worker is the Model for one goroutine.
type worker struct{ *Model }

// Capabilities implements check.Worker: it has none besides those of every worker.
func (w *worker) Capabilities() check.Capabilities { return check.Capabilities{} }

// Assumptions implements check.Worker: there are none.
func (w *worker) Assumptions() ([]string, error) { return nil, nil }

// Init implements check.Worker.
func (w *worker) Init(visit check.Visit) error {
	for _, s := range w.initial() {
		if err := visit(-1, w.codec.encode(s)); err != nil {
			return err
		}
	}
	return nil
}

// Next implements check.Worker.
func (w *worker) Next(b check.State, visit check.Visit) error {
	return w.next(w.codec.decode(b, len(w.nodes), len(w.timers)), func(v move, t *state) error { return visit(v.action, w.codec.encode(t)) })
}

// InModel implements check.Worker: all states are.
func (w *worker) InModel() (bool, error) { return true, nil }

// BrokenInvariant implements check.Worker: there are none.
func (w *worker) BrokenInvariant() (int, error) { return -1, nil }

// BrokenStep implements check.Worker: there are none.
func (w *worker) BrokenStep() (int, error) { return -1, nil }
