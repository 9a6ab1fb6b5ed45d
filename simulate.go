// SPDX-License-Identifier: Apache-2.0

package ashlar

import (
	"context"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// SimulateOptions are options of Simulate. The zero value walks until the context
// ends, with the walks of seed 0.
type SimulateOptions struct {
	// Workers is how many goroutines walk; 0 is one for each processor. What is found
	// is the same for any number.
	Workers int
	// Depth is how many states a walk has at most; 0 is 100.
	Depth int
	// Walks ends the simulation after so many; 0 is no end but that of the context.
	Walks int64
	// Seed chooses the walks: walk i of a seed is always the same.
	Seed uint64
	// IgnoreDeadlock accepts states without a successor.
	IgnoreDeadlock bool
}

// Simulation is what walks have found. OK means that they have found nothing, which
// shows nothing about the states that they did not visit.
type Simulation struct {
	Verdict Verdict
	// Walks counts the walks, Generated the states that were computed for them, Steps
	// the states in them.
	Walks, Generated, Steps int64
	// Violation is what is wrong, where the verdict accuses the specification. Its
	// trace is that of a walk, shortened where one of its states leads to a later one.
	Violation *Violation
	Warnings  []string
}

// Simulate walks at random: from an initial state, again and again, to one of all
// successors. When ctx ends, Simulate returns soon with what it knows.
func (s *Specification) Simulate(ctx context.Context, o SimulateOptions) (*Simulation, error) {
	r, err := check.Simulate(ctx, s.model, check.SimulateOptions{Workers: workers(o.Workers), Depth: o.Depth, Walks: o.Walks,
		Seed: o.Seed, IgnoreDeadlock: o.IgnoreDeadlock})
	if err != nil {
		return nil, err
	}
	out := &Simulation{Verdict: verdicts[r.Verdict], Walks: r.Walks, Generated: r.Generated, Steps: r.Steps, Warnings: r.Warnings}
	if found(r.Verdict) {
		v := violation(r.Info, check.Violation{Verdict: r.Verdict, Property: r.Property, Err: r.Err, Trace: r.Trace}, r.Broken)
		out.Violation = &v
	}
	return out, nil
}
