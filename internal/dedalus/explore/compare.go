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
	// Told are the sets of outputs at some moment of some run. Final are those
	// after which there is no further output as long as the adversary does nothing more:
	// everything that is under way arrives at some time, every timer runs out again
	// and again, and nothing crashes or comes twice. Programs that go on sending come
	// to rest in this sense, too.
	Told, Final map[string]bool
	// States is how many states were visited; Complete that these were all.
	States   int64
	Complete bool
	// Stopped is the outputs where the search ended as Until asked, and
	// Path the steps to there.
	Stopped []interp.Message
	Path    []string
	found   *graph
	// told and final are what was observed at some moment, and at rest.
	told, final map[string]*observation
}

// graph is the states that a search has visited, by the order in which it met them.
type graph struct {
	ids  map[string]int32
	keys []string
	from []int32
	// fair are the steps that are none of the adversary's; of states that were
	// visited.
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

// told are the outputs.
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
	// Unsure reports that the first may do it if messages arrive more often: everything
	// that it can do then was too much to explore.
	Unsure bool `json:"unsure,omitempty"`
	// Steps lead the second there.
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

// Comparison is what Compare found.
type Comparison struct {
	First, Second *Outcomes
	// Different is nil when everything that the second does the first can do.
	Different *Difference
}

// Complete reports whether nothing was left out within the bounds.
func (c *Comparison) Complete() bool { return c.First.Complete && c.Second.Complete }

// Compare finds whether a program that rewrites have made of another does what the
// other can do. Outputs are messages: they may be late, and clients may wait for some
// before they send. So for every run of the second, until any moment, there must be a run
// of the first which has all these outputs as well, each message before as few
// inputs had come (safety); what that run outputs besides may be under way yet. And
// where the second comes to rest, the first must come to rest having output exactly the
// same, in such an order (liveness). A node that fails in the
// second is all machines that stand for a node of the first, so that the failures of
// both are the same; what they are is with Bounds. Configure, unless it is nil, is
// called with both models before they are explored.
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
		// What the first was not seen to do it may be able to do.
		return c, nil
	}
	different, at := differs(a, z)
	if different == nil || !b.Often {
		if c.Different = different; different != nil {
			different.Steps = models[1].path(z.found, at)
		}
		return c, nil
	}
	// A message may come any number of times, and a piece may send again what it was given
	// once. Whether the first does the same then is a longer search, for which there was no
	// need yet.
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
	// What was observed before is so with more repetitions as well.
	maps.Copy(often.told, a.told)
	maps.Copy(often.final, a.final)
	if different, at = differs(often, z); different != nil {
		c.Different = different
		different.Steps, different.Unsure = models[1].path(z.found, at), !often.Complete
	}
	return c, nil
}

// The original is explored in so many times its states, and so many more, where messages
// come any number of times; or in as many as the bounds allow, where that is more.
const (
	oftenTimes = 4
	oftenMin   = 2_000
)

// differs is what the second was observed to do, and the first was not.
func differs(a, z *Outcomes) (*Difference, int32) {
	different, at := missing("safety", z.told, a.told)
	if different == nil {
		different, at = missing("liveness", z.final, a.final)
	}
	return different, at
}

// observation is the outputs of a run until some moment: each message with
// the inputs that had come by then, a bit each. Clients may have sent all others because
// they appeared.
type observation struct {
	at    int32 // a state in which it is so
	told  string
	lines []string
	come  []uint64
}

// observe notes the outputs in a state, unless the same was noted before.
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

// explains reports whether where b was observed a might have been as well: all outputs of a
// are in b, and before as few inputs had come. Other outputs may be under way yet,
// and if nothing may be, there is nothing else.
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

// same is equal only for observations of the same messages before the same inputs, be it
// of different programs.
func (a *observation) same() string { return fmt.Sprintf("%q %d", a.lines, a.come) }

// observations can be asked for one, and by a message that is in them.
type observations struct {
	all  map[string]bool
	with map[string][]*observation
}

func observed(list map[string]*observation) *observations {
	o := &observations{map[string]bool{}, map[string][]*observation{}}
	least := map[string][]*observation{}
	for _, x := range list {
		o.all[x.same()] = true
		// What explains another of the same messages explains all that that does.
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
		// What has more messages explains more.
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

// missing is the least observation that none of the original explains; nil if all are
// explained.
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
