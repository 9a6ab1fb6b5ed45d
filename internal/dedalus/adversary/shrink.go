// SPDX-License-Identifier: Apache-2.0

package adversary

import (
	"context"
	"slices"
)

// triesMax is the maximum number of schedules that Shrink tries.
const triesMax = 1000

// Shrink makes a schedule shorter as long as wrong returns true for its run. It removes ever
// smaller groups of steps, then messages and timers from ticks, and crashes. If the context
// ends, it returns the result so far.
func (p *Player) Shrink(ctx context.Context, s Schedule, wrong func(*Run) bool) *Run {
	best := p.Replay(s)
	tries := 0
	try := func(s Schedule) bool {
		if tries++; tries > triesMax || ctx.Err() != nil {
			return false
		}
		if r := p.Replay(s); wrong(r) {
			best = r
			return true
		}
		return false
	}
	for again := true; again; {
		again = shorten(func() Schedule { return best.Schedule }, try)
		for i := len(best.Schedule) - 1; i >= 0; i-- {
			if i < len(best.Schedule) {
				again = simplify(best.Schedule, i, try) || again
			}
		}
	}
	return best
}

// shorten removes groups of steps, from the end.
func shorten(now func() Schedule, try func(Schedule) bool) (any bool) {
	for size := max(1, len(now())/2); ; size /= 2 {
		for end := len(now()); end > 0; end -= size {
			s := now()
			if end = min(end, len(s)); end == 0 {
				break
			}
			any = try(slices.Delete(slices.Clone(s), max(0, end-size), end)) || any
		}
		if size == 1 {
			return any
		}
	}
}

// simplify makes a step smaller: it removes messages, timers and crashes.
func simplify(s Schedule, i int, try func(Schedule) bool) bool {
	with := func(change func(*Step)) Schedule {
		t := slices.Clone(s)
		step := t[i]
		step.keys, step.Timers = slices.Clone(step.keys), slices.Clone(step.Timers)
		change(&step)
		t[i] = step
		return t
	}
	var changes []func(*Step)
	for j := range s[i].keys {
		changes = append(changes, func(x *Step) { x.keys = slices.Delete(x.keys, j, j+1) })
	}
	for j := range s[i].Timers {
		changes = append(changes, func(x *Step) { x.Timers = slices.Delete(x.Timers, j, j+1) })
	}
	if s[i].Losing {
		changes = append(changes, func(x *Step) { x.Losing = false })
	}
	if s[i].Kind == TickCrash {
		changes = append(changes, func(x *Step) { x.Kind, x.Losing = Tick, false })
	}
	return slices.ContainsFunc(changes, func(c func(*Step)) bool { return try(with(c)) })
}
