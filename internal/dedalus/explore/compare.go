// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// Outcomes are the possible outputs of a program: sets of messages, each written
// in lines.
type Outcomes struct {
	// Told are the sets of outputs at any moment of any run. Final are those after which
	// there is no further output if the adversary does nothing more: every message in flight
	// arrives, every timer fires again and again, and nothing crashes or is delivered twice.
	// Programs that send forever come to rest in this sense, too.
	Told, Final map[string]bool
	// States is the number of visited states; Complete reports that these are all.
	States   int64
	Complete bool
	// Stopped has the outputs of the state at which Until ended the search, and Path the
	// steps to that state.
	Stopped []interp.Message
	Path    []string
	found   *graph
	// told and final are the observations at any moment, and at rest.
	told, final map[string]*observation
}

// graph has the states that a search found, in the order of finding.
type graph struct {
	ids  map[string]int32
	keys []string
	from []int32
	// fair has the steps of visited states that are not the adversary's.
	fair    [][]int32
	visited []bool
}

// Find visits every state of the model, or as many as the bounds allow.
func (m *Model) Find(ctx context.Context) (*Outcomes, error) {
	g := &graph{ids: map[string]int32{}}
	out := &Outcomes{Told: map[string]bool{}, Final: map[string]bool{}, told: map[string]*observation{}, final: map[string]*observation{}, found: g}
	m.memo = map[string]ticked{}
	m.clipped.Store(false)
	defer func() { m.memo = nil }()
	var stack []int32
	at := int32(-1)
	push := func(v move, s *state) error {
		key := string(m.codec.encode(s))
		id, ok := g.ids[key]
		if !ok {
			id = int32(len(g.keys))
			g.ids[key] = id
			g.keys, g.from = append(g.keys, key), append(g.from, at)
			g.fair, g.visited = append(g.fair, nil), append(g.visited, false)
			stack = append(stack, id)
		}
		if at >= 0 && v.fair && id != at {
			g.fair[at] = append(g.fair[at], id)
		}
		return nil
	}
	for _, s := range m.initial() {
		if err := push(move{}, s); err != nil {
			return nil, err
		}
	}
	for len(stack) > 0 && out.States < m.bounds.StatesMax {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		out.States++
		at, stack = stack[len(stack)-1], stack[:len(stack)-1]
		s := m.state(g, at)
		if m.until != nil && m.until(m.told(s)) {
			out.Stopped, out.Path = m.told(s), m.path(g, at)
			return out, nil
		}
		out.Told[m.codec.outcome(s.outputs)] = true
		if m.ordered {
			m.observe(out.told, s, at)
		}
		if m.each != nil && m.each(s) {
			out.Path = m.path(g, at)
			return out, nil
		}
		g.visited[at] = true
		if err := m.next(s, push); err != nil {
			return nil, err
		}
	}
	out.Complete = len(stack) == 0 && !m.clipped.Load()
	for _, id := range g.rest() {
		s := m.state(g, id)
		out.Final[m.codec.outcome(s.outputs)] = true
		if m.ordered {
			m.observe(out.final, s, id)
		}
	}
	return out, nil
}

func (m *Model) state(g *graph, id int32) *state {
	return m.codec.decode([]byte(g.keys[id]), len(m.nodes), len(m.timers))
}

// path lists the steps that lead to a state.
func (m *Model) path(g *graph, to int32) []string {
	var out []string
	for ; g.from[to] >= 0; to = g.from[to] {
		text := ""
		err := m.next(m.state(g, g.from[to]), func(v move, s *state) error {
			if text == "" && string(m.codec.encode(s)) == g.keys[to] {
				text = m.describe(v)
			}
			return nil
		})
		invariant.Check(err == nil && text != "", "explore: no step leads to a visited state")
		out = append(out, text)
	}
	slices.Reverse(out)
	return out
}

// told returns the outputs.
func (m *Model) told(s *state) []interp.Message {
	out := make([]interp.Message, len(s.outputs))
	for i, x := range s.outputs {
		out[i] = m.codec.read(x)
	}
	return out
}

// Difference is something that the second program does and the first cannot.
type Difference struct {
	// Kind is "safety" or "liveness". For safety, Told is a set of messages to the outside
	// that the first never sends in one run. For liveness, the second comes to rest after
	// sending the messages of Told and no others, and the first never does.
	Kind string `json:"kind"`
	Told string `json:"told"`
	// Ordered reports that the first sends them as well, but only after more inputs have
	// arrived.
	Ordered bool `json:"ordered,omitempty"`
	// Unsure reports that the first might do so if messages arrive more often, but that the
	// search of these runs was incomplete.
	Unsure bool `json:"unsure,omitempty"`
	// Steps are the steps of the second that lead there.
	Steps []string `json:"steps"`
}

func (d *Difference) Error() string {
	told := d.Told
	if told == "" {
		told = "nothing"
	}
	never := "the original never does"
	if d.Ordered {
		never = "the original never does in this order: a client may wait for the first of these messages before it sends its next input"
	}
	if d.Unsure {
		never += " (or was not found to do, if messages may arrive any number of times)"
	}
	if d.Kind == "liveness" {
		return fmt.Sprintf("the program comes to rest after sending\n%s\nwhich %s", told, never)
	}
	return fmt.Sprintf("the program sends\n%s\nwhich %s", told, never)
}

// Comparison is the result of Compare.
type Comparison struct {
	First, Second *Outcomes
	// Different is nil if the first can do everything that the second does.
	Different *Difference
}

// Complete reports whether both searches were complete within the bounds.
func (c *Comparison) Complete() bool { return c.First.Complete && c.Second.Complete }

// Compare checks whether a rewritten program, the second, does only what the original, the
// first, can do. Outputs are messages: they may be late, and clients may wait for some before
// they send. So for every moment of every run of the second, the first must have a run with
// all outputs so far, each after at most the inputs that had arrived before it in the second
// (safety). Further outputs of that run may still be in flight. If the second comes to rest,
// the first must come to rest with exactly the same outputs, in such an order (liveness). A
// node that fails in the second is all machines of a node of the first, so both have the same
// failures, which Bounds describes. Configure, unless it is nil, is called with both models
// before they are explored.
func Compare(ctx context.Context, first, second *logic.Program, inputs func(*logic.Program) []interp.Message, f interp.Functions, b Bounds, configure func(*Model)) (*Comparison, error) {
	var found []*Outcomes
	var models []*Model
	for _, p := range []*logic.Program{first, second} {
		m := NewModel(p, inputs(p), nil, f, b)
		m.late, m.ordered = b.Crashes > 0, true
		if configure != nil {
			configure(m)
		}
		out, err := m.Find(ctx)
		if err != nil {
			return nil, err
		}
		models, found = append(models, m), append(found, out)
	}
	a, z := found[0], found[1]
	c := &Comparison{First: a, Second: z}
	if !a.Complete {
		// The search of the first is incomplete: it may be able to do what was not found.
		return c, nil
	}
	different, at := differs(a, z)
	if different == nil || !b.Often {
		if c.Different = different; different != nil {
			different.Steps = models[1].path(z.found, at)
		}
		return c, nil
	}
	// A message may arrive any number of times, and a piece may send again what it received
	// once. Checking whether the first does the same then takes a longer search, so do it
	// only now.
	b.StatesMax = max(b.StatesMax, oftenTimes*a.States+oftenMin)
	m := NewModel(first, inputs(first), nil, f, b)
	m.late, m.ordered, m.often = b.Crashes > 0, true, true
	if configure != nil {
		configure(m)
	}
	often, err := m.Find(ctx)
	if err != nil {
		return nil, err
	}
	// All earlier observations are possible with more repetitions as well.
	maps.Copy(often.told, a.told)
	maps.Copy(often.final, a.final)
	if different, at = differs(often, z); different != nil {
		c.Different = different
		different.Steps, different.Unsure = models[1].path(z.found, at), !often.Complete
	}
	return c, nil
}

// If messages may arrive any number of times, the search of the original may visit oftenTimes
// its states and oftenMin more, or as many as the bounds allow if that is more.
const (
	oftenTimes = 4
	oftenMin   = 2_000
)

// differs returns an observation of the second that the first does not have.
func differs(a, z *Outcomes) (*Difference, int32) {
	different, at := missing("safety", z.told, a.told)
	if different == nil {
		different, at = missing("liveness", z.final, a.final)
	}
	return different, at
}

// observation is the outputs of a run until some moment, each message with a bit set of the
// inputs that had arrived before it. Clients may have sent the other inputs because of the
// outputs.
type observation struct {
	at    int32 // a state with this observation
	told  string
	lines []string
	come  []uint64
}

// observe records the outputs of a state, unless the same observation is recorded already.
func (m *Model) observe(in map[string]*observation, s *state, at int32) {
	key := strings.Join(s.outputs, "")
	if in[key] != nil {
		return
	}
	o := &observation{at: at, told: m.codec.outcome(s.outputs)}
	before := map[string]uint64{}
	for _, x := range s.outputs {
		line := fmt.Sprint(m.codec.read(x))
		o.lines, before[line] = append(o.lines, line), come(x)
	}
	slices.Sort(o.lines)
	for _, line := range o.lines {
		o.come = append(o.come, before[line])
	}
	in[key] = o
}

// explains reports whether a run with observation b could also show a: b has all outputs of a,
// each after at most the same inputs. Further outputs of b may still be in flight; with rest
// there must be none.
func (b *observation) explains(a *observation, rest, order bool) bool {
	if rest && len(a.lines) != len(b.lines) || len(a.lines) > len(b.lines) {
		return false
	}
	j := -1
	for i, line := range a.lines {
		// Both are sorted.
		for j++; j < len(b.lines) && b.lines[j] < line; j++ {
		}
		if j == len(b.lines) || b.lines[j] != line || order && b.come[j]&^a.come[i] != 0 {
			return false
		}
	}
	return true
}

// same returns a text that observations of the same messages after the same inputs share, even
// those of different programs.
func (a *observation) same() string { return fmt.Sprintf("%q %d", a.lines, a.come) }

// observations finds an observation by itself, and by a message that it contains.
type observations struct {
	all  map[string]bool
	with map[string][]*observation
}

func observed(list map[string]*observation) *observations {
	o := &observations{map[string]bool{}, map[string][]*observation{}}
	least := map[string][]*observation{}
	for _, x := range list {
		o.all[x.same()] = true
		// An observation that explains another one of the same messages explains all that the other does.
		if group := least[x.told]; !slices.ContainsFunc(group, func(y *observation) bool { return y.explains(x, true, true) }) {
			least[x.told] = append(slices.DeleteFunc(group, func(y *observation) bool { return x.explains(y, true, true) }), x)
		}
	}
	for _, group := range least {
		for _, x := range group {
			for _, line := range x.lines {
				o.with[line] = append(o.with[line], x)
			}
		}
	}
	for _, with := range o.with {
		// Observations with more messages explain more.
		slices.SortFunc(with, func(a, b *observation) int { return cmp.Compare(len(b.lines), len(a.lines)) })
	}
	return o
}

// explain reports whether one of the observations explains another.
func (o *observations) explain(a *observation, rest, order bool) bool {
	if o.all[a.same()] || len(a.lines) == 0 {
		return o.all[a.same()] || !rest
	}
	rarest := slices.MinFunc(a.lines, func(x, y string) int { return cmp.Compare(len(o.with[x]), len(o.with[y])) })
	return slices.ContainsFunc(o.with[rarest], func(b *observation) bool { return b.explains(a, rest, order) })
}

// missing returns the least observation that no observation of the original explains, or nil.
func missing(kind string, of, among map[string]*observation) (*Difference, int32) {
	original, rest := observed(among), kind == "liveness"
	list := slices.SortedFunc(maps.Values(of), func(a, b *observation) int {
		return cmp.Or(cmp.Compare(len(a.told), len(b.told)), strings.Compare(a.told, b.told), slices.Compare(a.come, b.come))
	})
	at := slices.IndexFunc(list, func(a *observation) bool { return !original.explain(a, rest, true) })
	if at < 0 {
		return nil, 0
	}
	a := list[at]
	return &Difference{Kind: kind, Told: a.told, Ordered: original.explain(a, rest, false)}, a.at
}
