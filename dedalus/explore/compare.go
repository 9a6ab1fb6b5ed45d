package explore

import (
	"context"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/dedalus/interp"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
)

// Outcomes are what a program can tell the outside: sets of messages, each written
// in lines.
type Outcomes struct {
	// Told are the sets that were told at some moment of some run, Final those of
	// runs that have come to rest.
	Told, Final map[string]bool
	// States is how many states were visited; Complete that these were all.
	States   int64
	Complete bool
	// Stopped is what had been told where the search ended as Until asked, and
	// Path the steps to there.
	Stopped []interp.Message
	Path    []string
}

// Find visits every state of the model, or as many as the bounds allow.
func (m *Model) Find(ctx context.Context) (*Outcomes, error) {
	out := &Outcomes{Told: map[string]bool{}, Final: map[string]bool{}, Complete: true}
	m.memo = map[string]ticked{}
	defer func() { m.memo = nil }()
	seen := map[string]step{}
	var stack []string
	from := ""
	push := func(action int, s *state) error {
		key := string(m.codec.encode(s))
		if _, ok := seen[key]; !ok {
			seen[key] = step{from, action}
			stack = append(stack, key)
		}
		return nil
	}
	if err := push(-1, m.initial()); err != nil {
		return nil, err
	}
	for len(stack) > 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if out.States++; out.States > m.bounds.StatesMax {
			out.Complete = false
			return out, nil
		}
		from = stack[len(stack)-1]
		s := m.codec.decode([]byte(from), len(m.nodes), len(m.timers))
		stack = stack[:len(stack)-1]
		if m.until != nil && m.until(m.told(s)) {
			out.Stopped, out.Path, out.Complete = m.told(s), m.path(seen, from), false
			return out, nil
		}
		told := m.codec.outcome(s.outputs)
		out.Told[told] = true
		if m.quiet(s) {
			out.Final[told] = true
		}
		if err := m.next(s, push); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// step is how a state was first reached.
type step struct {
	from   string
	action int
}

// path names the actions that lead to a state.
func (m *Model) path(seen map[string]step, to string) []string {
	actions := m.Info().Actions
	var out []string
	for at := seen[to]; at.action >= 0; at = seen[at.from] {
		out = append(out, actions[at.action].Name)
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
// and it comes to rest where the other can (liveness).
func Compare(ctx context.Context, first, second *logic.Program, inputs func(*logic.Program) []interp.Message, f interp.Functions, b Bounds) (*Comparison, error) {
	a, err := NewModel(first, inputs(first), nil, f, b).Find(ctx)
	if err != nil {
		return nil, err
	}
	z, err := NewModel(second, inputs(second), nil, f, b).Find(ctx)
	if err != nil {
		return nil, err
	}
	c := &Comparison{First: a, Second: z}
	c.Different = missing("safety", z.Told, a.Told)
	if c.Different == nil {
		c.Different = missing("liveness", z.Final, a.Final)
	}
	if !a.Complete {
		// What the first was not seen to do it may be able to do.
		c.Different = nil
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
	slices.Sort(out)
	return &Difference{kind, out[0]}
}
