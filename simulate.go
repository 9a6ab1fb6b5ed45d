// SPDX-License-Identifier: Apache-2.0

package ashlar

import (
	"context"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// SimulateOptions are options of Simulate. The zero value walks with seed 0 until
// the context is cancelled.
type SimulateOptions struct {
	// Workers is the number of goroutines that walk; 0 means one per processor. It
	// does not affect what is found.
	Workers int
	// Depth is the maximum number of states in a walk; 0 means 100.
	Depth int
	// Walks is the number of walks; 0 means that only the context ends the
	// simulation.
	Walks int64
	// Seed selects the walks: walk i of a given seed is always the same.
	Seed uint64
	// IgnoreDeadlock accepts states without a successor.
	IgnoreDeadlock bool
}

// Simulation is the result of Simulate. OK means that no walk found a violation; it
// says nothing about states that no walk visited.
type Simulation struct {
	Verdict Verdict
	// Walks counts the walks, Generated the states computed for them, and Steps the
	// states in them.
	Walks, Generated, Steps int64
	// Violation is the violation found, or nil. Its trace is that of a walk, shortened
	// where one of its states leads directly to a later one.
	Violation *Violation
	Warnings  []string
}

// Simulate walks at random from an initial state to one of its successors and on,
// again and again. If ctx is cancelled, Simulate returns soon with the results so
// far.
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
