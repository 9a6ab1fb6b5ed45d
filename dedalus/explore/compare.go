package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/dedalus/interp"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// Outcomes are what a program can tell the outside: sets of messages, each written
// in lines.
type Outcomes struct {
	// Told are the sets that were told at some moment of some run. Final are those
	// of which nothing more is told as long as the adversary does nothing more:
	// everything that is under way arrives at some time, every timer runs out again
	// and again, and nothing crashes or comes twice. Programs that go on sending come
	// to rest in this sense, too.
	Told, Final map[string]bool
	// States is how many states were visited; Complete that these were all.
	States   int64
	Complete bool
	// Stopped is what had been told where the search ended as Until asked, and
	// Path the steps to there.
	Stopped []interp.Message
	Path    []string
	found   *graph
	// told and final are where each of Told and Final was met.
	told, final map[string]int32
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
	out := &Outcomes{Told: map[string]bool{}, Final: map[string]bool{}, told: map[string]int32{}, final: map[string]int32{}, found: g}
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
		if told := m.codec.outcome(s.outputs); !out.Told[told] {
			out.Told[told], out.told[told] = true, at
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
		told := m.codec.outcome(m.state(g, id).outputs)
		if !out.Final[told] {
			out.Final[told], out.final[told] = true, id
		}
	}
	return out, nil
}

func (m *Model) state(g *graph, id int32) *state {
	return m.codec.decode([]byte(g.keys[id]), len(m.nodes), len(m.timers))
}

// path tells the steps that lead to a state.
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
		invariant.Check(err == nil && text != "", "explore: no step leads to a state that was met")
		out = append(out, text)
	}
	slices.Reverse(out)
	return out
}

// told are the messages to the outside.
func (m *Model) told(s *state) []interp.Message {
	out := make([]interp.Message, len(s.outputs))
	for i, x := range s.outputs {
		out[i] = m.codec.read(x)
	}
	return out
}

// Difference is something that the second program does and the first cannot.
type Difference struct {
	// Kind is "safety": Told is a set of messages that the first never tells; or
	// "liveness": the second comes to rest having told it, and the first never
	// does.
	Kind, Told string
	// Steps lead the second there.
	Steps []string
}

func (d *Difference) Error() string {
	told := d.Told
	if told == "" {
		told = "nothing"
	}
	if d.Kind == "liveness" {
		return fmt.Sprintf("it comes to rest having told\n%s\nwhere the original does not", told)
	}
	return fmt.Sprintf("it tells\n%s\nwhich the original never does", told)
}

// Comparison is what Compare found.
type Comparison struct {
	First, Second *Outcomes
	// Different is nil when everything that the second does the first can do.
	Different *Difference
}

// Complete says that nothing was left out within the bounds.
func (c *Comparison) Complete() bool { return c.First.Complete && c.Second.Complete }

// Compare finds whether a program that rewrites have made of another does what the
// other can do: at every moment it has told what the other can have told (safety),
// and it comes to rest where the other can (liveness). A node that fails in the
// second is all machines that stand for a node of the first, so that the failures of
// both are the same; what they are is with Bounds. Configure, unless it is nil, is
// called with both models before they are explored.
func Compare(ctx context.Context, first, second *logic.Program, inputs func(*logic.Program) []interp.Message, f interp.Functions, b Bounds, configure func(*Model)) (*Comparison, error) {
	var found []*Outcomes
	var models []*Model
	for _, p := range []*logic.Program{first, second} {
		m := NewModel(p, inputs(p), nil, f, b)
		m.late = b.Crashes > 0
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
	c.Different = missing("safety", z.Told, a.Told)
	where := z.told
	if c.Different == nil {
		c.Different = missing("liveness", z.Final, a.Final)
		where = z.final
	}
	if c.Different != nil {
		c.Different.Steps = models[1].path(z.found, where[c.Different.Told])
	}
	return c, nil
}

// missing is the least of some outcomes that is not among others.
func missing(kind string, of, among map[string]bool) *Difference {
	var out []string
	for told := range of {
		if !among[told] {
			out = append(out, told)
		}
	}
	if len(out) == 0 {
		return nil
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	return &Difference{Kind: kind, Told: out[0]}
}
