// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/pack"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// lower samples states and lowers the model. The permitted work is proportional
// to the size of the sample. If lowering needs more, more states are sampled
// first, so that the time is lost only on models whose search takes much longer.
func (m *Model) lower(o packOptions) (states []check.State, lowered *pack.Lowered, why string) {
	s := m.newSampler(o.stop)
	for scale := 1; ; scale *= sampleGrowth {
		work := workPerSample * scale
		if o.always || scale >= sampleScaleMax {
			work = pack.WorkMax
		}
		complete, ok := s.visit(o.states*scale, sampleVisitedMax*scale)
		switch {
		case !ok:
			return nil, nil, "no sample of states was found"
		case complete && !o.always:
			return nil, nil, "the model is small"
		}
		sample := m.samples()
		if m.packsView() {
			sample.Views = m.views(s.w, s.states)
		}
		lowered, err := pack.Lower(m.toLower(), sample, work)
		if err == nil {
			return s.states, lowered, ""
		}
		if err != pack.ErrWork || work == pack.WorkMax {
			return nil, nil, err.Error()
		}
	}
}

// The work for the first sample, and the growth of samples.
const (
	workPerSample  = 150_000
	sampleGrowth   = 4
	sampleScaleMax = 16
)

// sampler visits the first states of a model.
type sampler struct {
	w       *worker
	stop    func() bool
	states  []check.State
	seen    map[string]bool
	visited int
	next    int // the first state that was not expanded
	started bool
	tired   bool // the sample has taken too long
}

func (m *Model) newSampler(stop func() bool) *sampler {
	s := &sampler{w: m.newWorker(), stop: stop, seen: make(map[string]bool)}
	// The evaluator already has this run.
	s.w.run.Muted, s.w.run.World.Files = true, nil
	asks := 0
	s.w.run.Stop = func() bool {
		asks++
		s.tired = asks > sampleAsksMax
		return s.tired || stop()
	}
	return s
}

// sampleAsksMax is the number of times that a sample polls whether to stop, once
// per PollEvery iterations of loops. Where single states take that much work, a
// few states must do.
const sampleAsksMax = 200_000

// sampleFew is the number of states that suffice for a sample that takes too
// long.
const sampleFew = 100

// visit continues until it has sampled or visited enough states. complete: there
// are no more states. If visit was cut short, the next call expands the
// interrupted state again.
func (s *sampler) visit(states, visited int) (complete, ok bool) {
	visit := func(_ int, c check.State) error {
		if s.visited++; s.visited > visited || len(s.states) >= states {
			return check.ErrStopped
		}
		inside, err := s.w.InModel()
		if err != nil || !inside || s.seen[string(c)] {
			return err
		}
		s.seen[string(c)] = true
		s.states = append(s.states, append(check.State(nil), c...))
		return nil
	}
	var err error
	if !s.started {
		err = s.w.Init(visit)
		s.started = err == nil
	}
	for ; err == nil && s.next < len(s.states); s.next++ {
		if err = s.w.Next(s.states[s.next], visit); err != nil {
			break
		}
	}
	switch {
	case s.stop(), err != nil && err != check.ErrStopped && !s.tired:
		return false, false
	case s.tired:
		return false, len(s.states) >= sampleFew
	}
	return err == nil, len(s.states) > 0
}

// samples returns what the model knows about its states after the sample.
func (m *Model) samples() pack.Sample {
	var out pack.Sample
	for _, t := range m.codec.Vars {
		out.Values = append(out.Values, t.All())
	}
	addSet := func(v value.Value) {
		if v.Kind() == value.KindSet {
			out.Sets = append(out.Sets, v)
		}
	}
	for _, c := range m.program.Spec.Constants {
		addSet(m.program.Constants[c].Val)
	}
	for _, d := range m.program.Spec.Defs {
		addSet(m.program.Overrides[d].Val)
		if d.Body == nil || d.Native {
			continue
		}
		core.Walk(d.Body, func(e core.Expr) bool {
			if s, ok := e.(*core.Str); ok {
				out.Strings = append(out.Strings, value.String(s.Val))
			}
			return true
		})
	}
	return out
}

// The size of the sample from which the layout is guessed.
const (
	sampleStatesMax  = 2_000
	sampleVisitedMax = 20_000
)
