// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/scenario"
)

// StatesMax is how many states of each program are visited with a set of messages, if
// Limits say nothing else, and TimerMax how often each timer runs out.
const (
	StatesMax = 5000
	TimerMax  = 1
)

// Limits bound a comparison.
type Limits struct {
	// StatesMax is as the constant.
	StatesMax int64
	// Seed draws other messages, and Drawn is how many sets of each size are drawn; by default
	// as the constant.
	Seed  uint64
	Drawn uint64
}

// Report is what was compared.
type Report struct {
	Bounds string `json:"bounds"`
	Sets   []Set  `json:"sets"`
	// Late is that the time ended it.
	Late bool `json:"late,omitempty"`
	// Different is nil when no difference was found; the last set has it then.
	Different *explore.Difference `json:"different,omitempty"`
}

// Set is some messages from outside, and what was visited with them.
type Set struct {
	Inputs []string `json:"inputs"`
	States [2]int64 `json:"states"`
	// Complete is that nothing was left out within the bounds. What the original does not
	// do is known only if it was gone through to the end.
	Complete bool `json:"complete"`
}

// Run compares the programs on one made-up message for each input, then on others and on
// two; or on one message alone, where that is too much already.
func Run(ctx context.Context, before, after *logic.Program, l Limits) (*Report, error) {
	if l.StatesMax == 0 {
		l.StatesMax = StatesMax
	}
	if l.Drawn == 0 {
		l.Drawn = drawn
	}
	b := explore.Bounds{StatesMax: l.StatesMax, Together: 2, Often: true}
	r := &Report{Bounds: fmt.Sprintf("%v, %d states of each, each timer once", b, l.StatesMax)}
	one := scenario.Inputs(before, 1)
	if goOn, err := r.compare(ctx, before, after, one, b); err != nil || !goOn {
		return r, err
	}
	draw := func(n int) [][]interp.Message {
		var out [][]interp.Message
		for i := range l.Drawn {
			out = append(out, scenario.Draw(before, env.Seeded(l.Drawn*l.Seed+i), n))
		}
		return out
	}
	sets := draw(1)
	if r.Sets[0].Complete {
		sets = append(sets, draw(2)...)
	} else {
		for i := range one[:min(len(one), aloneMax)] {
			sets = append(sets, one[i:i+1])
		}
	}
	for _, inputs := range sets {
		if goOn, err := r.compare(ctx, before, after, inputs, b); err != nil || !goOn {
			return r, err
		}
	}
	return r, nil
}

// drawn is how many sets are drawn of each size, and aloneMax how many messages are tried
// alone.
const drawn, aloneMax = 3, 3

// compare adds a set, and says whether to go on.
func (r *Report) compare(ctx context.Context, before, after *logic.Program, given []interp.Message, b explore.Bounds) (bool, error) {
	set := Set{Inputs: []string{}}
	for _, m := range given {
		set.Inputs = append(set.Inputs, m.String())
	}
	c, err := explore.Compare(ctx, before, after, func(p *logic.Program) []interp.Message { return sent(p, given) }, scenario.Functions(before), b, func(m *explore.Model) {
		for _, rel := range before.Relations {
			if rel.Kind == logic.Timer {
				m.Limit(rel.Name, TimerMax)
			}
		}
	})
	if errors.Is(err, context.DeadlineExceeded) {
		r.Late = true
		return false, nil
	}
	if err != nil {
		return false, err
	}
	set.States, set.Complete = [2]int64{c.First.States, c.Second.States}, c.Complete()
	r.Sets, r.Different = append(r.Sets, set), c.Different
	return r.Different == nil, nil
}

// sent are messages to one program as another one is sent them.
func sent(p *logic.Program, given []interp.Message) []interp.Message {
	own := make([]interp.Message, len(given))
	for i, m := range given {
		own[i] = interp.Message{To: m.To, Fact: interp.Fact{Relation: p.Find(m.Fact.Relation.Name), Row: m.Fact.Row}}
	}
	return own
}

// String says it in a line.
func (r *Report) String() string {
	states, complete, most := int64(0), 0, 0
	for _, s := range r.Sets {
		states += s.States[0] + s.States[1]
		most = max(most, len(s.Inputs))
		if s.Complete {
			complete++
		}
	}
	late := ""
	if r.Late {
		late = ", until the time limit"
	}
	found := "no difference"
	switch {
	case r.Different != nil:
		found = "different"
	case complete == 0:
		found = "no difference in the states visited (weak evidence: no search was complete)"
	}
	return fmt.Sprintf("%s on %d generated sets of up to %d messages, %d of them explored completely, %d states in all%s (%s)",
		found, len(r.Sets), most, complete, states, late, r.Bounds)
}
