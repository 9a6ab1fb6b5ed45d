package explore

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/check"
	"github.com/ashlar-dev/ashlar/dedalus/interp"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
)

// Bounds say how far a search goes.
type Bounds struct {
	// Together is how many messages arrive in one tick at most; default 2.
	Together int
	// Duplicates is how many deliveries of what was delivered before there are,
	// and Crashes how many crashes of nodes, in all. A crash is between two ticks,
	// or in one: after its messages left, and before the disk had what it logged.
	Duplicates, Crashes int
	// StatesMax ends a search; default a million.
	StatesMax int64
}

func (b Bounds) String() string {
	return fmt.Sprintf("at most %d messages a tick, %d duplicates, %d crashes", b.Together, b.Duplicates, b.Crashes)
}

func (b *Bounds) fill() {
	if b.Together == 0 {
		b.Together = 2
	}
	if b.StatesMax == 0 {
		b.StatesMax = 1_000_000
	}
}

// Model is a program with its inputs as a transition system: each step is a tick of
// a node, or a crash.
type Model struct {
	codec  *codec
	bounds Bounds
	name   string
	nodes  []*interp.Instance
	place  map[string]int // of nodes, by name
	timers []*logic.Relation
	limits []int   // how often each timer runs out; unlimited if negative
	reads  [][]int // the timers that each node waits for
	lost   func(interp.Message) bool
	until  func(told []interp.Message) bool
	inputs []interp.Message
	// memo has the ticks that were gone through, while one goroutine explores.
	memo map[string]ticked
}

// ticked is what came of a tick of a node: what it carries, and what it sent.
type ticked struct {
	carried []interp.Fact
	sent    []interp.Message
}

var _ check.Model = (*Model)(nil)

// NewModel deploys a program that gets these messages from outside. Extra is as in
// interp.Deploy.
func NewModel(p *logic.Program, inputs []interp.Message, extra map[string][][]logic.Value, f interp.Functions, b Bounds) *Model {
	b.fill()
	m := &Model{codec: newCodec(p), bounds: b, name: p.Name, nodes: interp.Deploy(p, extra, f), place: map[string]int{}, inputs: inputs}
	for i, n := range m.nodes {
		m.place[n.Node] = i
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

// waits are the places of the timers that a node's rules read.
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

// Limit says how often a timer runs out in a run, at all nodes together; what
// nothing is said of may run out at any tick.
func (m *Model) Limit(timer string, times int) {
	for i, r := range m.timers {
		if r.Name == timer {
			m.limits[i] = times
		}
	}
}

// Lose has the messages that lost picks never arrive.
func (m *Model) Lose(lost func(interp.Message) bool) { m.lost = lost }

// Until ends Find at a state in which the outside has been told what bad picks. The
// messages are in an order of the model.
func (m *Model) Until(bad func(told []interp.Message) bool) { m.until = bad }

// Info is check.Model's. Actions are the ticks of each node, then the crashes.
func (m *Model) Info() check.Info {
	info := check.Info{Name: m.name}
	for _, what := range []string{"tick ", "crash "} {
		for _, n := range m.nodes {
			info.Actions = append(info.Actions, check.Action{Name: what + n.Node})
		}
	}
	return info
}

// NewWorker is check.Model's.
func (m *Model) NewWorker() check.Worker { return &worker{m} }

// Show is check.Model's.
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
		for _, f := range s.carried[i] {
			lines = append(lines, f.String())
		}
		add(n.Node, lines)
	}
	for _, l := range []struct {
		name string
		list []string
	}{{"pending", s.pending}, {"told", s.outputs}} {
		lines := []string{}
		for _, x := range l.list {
			lines = append(lines, m.codec.read(x).String())
		}
		add(l.name, lines)
	}
	return out
}

// initial is before the first tick: all inputs are under way.
func (m *Model) initial() *state {
	s := &state{carried: make([][]interp.Fact, len(m.nodes)), duplicates: m.bounds.Duplicates, crashes: m.bounds.Crashes, timers: slices.Clone(m.limits)}
	for _, i := range m.inputs {
		s.pending = insert(s.pending, m.codec.message(i))
	}
	return s
}

// next calls visit for each state that can follow; quiet says that it is the same
// as this one.
func (m *Model) next(s *state, visit func(action int, t *state) error) error {
	for i, n := range m.nodes {
		var mine []string
		for _, x := range s.pending {
			if m.codec.read(x).To == n.Node {
				mine = append(mine, x)
			}
		}
		var again []string
		if s.duplicates > 0 {
			for _, x := range slices.Concat(s.delivered, s.before) {
				if m.codec.read(x).To == n.Node && !contains(s.pending, x) && !slices.Contains(again, x) {
					again = append(again, x)
				}
			}
		}
		for _, in := range subsets(append(mine, again...), m.bounds.Together) {
			repeats := 0
			for _, x := range in {
				if !slices.Contains(mine, x) {
					repeats++
				}
			}
			if repeats > s.duplicates {
				continue
			}
			for timers := range 1 << len(m.reads[i]) {
				if !m.allowed(s, i, timers) {
					continue
				}
				t := m.tick(s, i, in, timers)
				t.duplicates -= repeats
				if err := visit(i, t); err != nil {
					return err
				}
				if s.crashes > 0 && (len(in) > 0 || timers > 0 || len(s.carried[i]) > 0) {
					// Messages left, and the disk did not get what the tick logged.
					t = t.clone()
					t.carried[i] = s.carried[i]
					if err := visit(len(m.nodes)+i, m.crash(t, i)); err != nil {
						return err
					}
				}
			}
		}
		if s.crashes > 0 && len(s.carried[i]) > 0 {
			if err := visit(len(m.nodes)+i, m.crash(s.clone(), i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// allowed says that the timers of a node, those in the mask, may run out.
func (m *Model) allowed(s *state, i, timers int) bool {
	for bit, j := range m.reads[i] {
		if timers>>bit&1 == 1 && s.timers[j] == 0 {
			return false
		}
	}
	return true
}

// crash takes from a node, in place, what is not durable.
func (m *Model) crash(t *state, i int) *state {
	t.crashes--
	t.carried[i] = slices.DeleteFunc(slices.Clone(t.carried[i]), func(f interp.Fact) bool { return !f.Relation.Durable })
	t.delivered = slices.DeleteFunc(t.delivered, func(x string) bool {
		mine := m.codec.read(x).To == m.nodes[i].Node
		if mine {
			t.before = insert(t.before, x)
		}
		return mine
	})
	return t
}

// subsets are those of at most so many elements, the empty one among them.
func subsets(all []string, most int) [][]string {
	out := [][]string{nil}
	for mask := uint64(1); len(all) < 64 && mask < 1<<len(all); mask++ {
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

// tick is what there is after a tick of a node.
func (m *Model) tick(s *state, i int, in []string, timers int) *state {
	t := s.clone()
	var facts []interp.Fact
	for _, x := range in {
		facts = append(facts, m.codec.read(x).Fact)
		t.pending = slices.DeleteFunc(t.pending, func(y string) bool { return x == y })
		t.delivered = insert(t.delivered, x)
	}
	var fired []*logic.Relation
	for bit, j := range m.reads[i] {
		if timers>>bit&1 == 1 {
			fired = append(fired, m.timers[j])
			if t.timers[j] > 0 {
				t.timers[j]--
			}
		}
	}
	done := m.node(i, s.carried[i], in, timers, facts, fired)
	for _, out := range done.sent {
		x := m.codec.message(out)
		if _, inside := m.place[out.To]; !inside {
			t.outputs = insert(t.outputs, x)
		} else if !contains(t.delivered, x) && (m.lost == nil || !m.lost(out)) {
			t.pending = insert(t.pending, x)
		}
	}
	t.carried[i] = done.carried
	return t
}

// node is a tick of a node. Most states differ elsewhere, so that most ticks were
// gone through before.
func (m *Model) node(i int, carried []interp.Fact, in []string, timers int, facts []interp.Fact, fired []*logic.Relation) ticked {
	var key []byte
	if m.memo != nil {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(i)), uint64(timers))
		for _, x := range in {
			key = appendString(key, x)
		}
		key = append(key, 0) // no message is empty
		for _, f := range carried {
			key = m.codec.fact(key, f)
		}
		if t, ok := m.memo[string(key)]; ok {
			return t
		}
	}
	n := m.nodes[i].Carrying(carried)
	t := ticked{sent: n.Tick(facts, fired...).Sent, carried: n.Carried()}
	if m.memo != nil {
		m.memo[string(key)] = t
	}
	return t
}

// quiet says that nothing is under way and no tick changes anything, whichever
// timers run out.
func (m *Model) quiet(s *state) bool {
	if len(s.pending) > 0 {
		return false
	}
	now := string(m.codec.encode(s))
	for i := range m.nodes {
		for timers := range 1 << len(m.reads[i]) {
			if !m.allowed(s, i, timers) {
				continue
			}
			t := m.tick(s, i, nil, timers)
			t.timers = s.timers
			if string(m.codec.encode(t)) != now {
				return false
			}
		}
	}
	return true
}

// worker is the Model for one goroutine.
type worker struct{ *Model }

// Assumptions is check.Worker's: there are none.
func (w *worker) Assumptions() ([]string, error) { return nil, nil }

// Init is check.Worker's.
func (w *worker) Init(visit check.Visit) error { return visit(-1, w.codec.encode(w.initial())) }

// Next is check.Worker's.
func (w *worker) Next(b check.State, visit check.Visit) error {
	return w.next(w.codec.decode(b, len(w.nodes), len(w.timers)), func(action int, t *state) error { return visit(action, w.codec.encode(t)) })
}

// InModel is check.Worker's: all states are.
func (w *worker) InModel() (bool, error) { return true, nil }

// BrokenInvariant is check.Worker's: there are none.
func (w *worker) BrokenInvariant() (int, error) { return -1, nil }

// BrokenStep is check.Worker's: there are none.
func (w *worker) BrokenStep() (int, error) { return -1, nil }
