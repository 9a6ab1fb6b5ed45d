// SPDX-License-Identifier: Apache-2.0

package distsys

import "sync/atomic"

// Metrics counts what an instance did.
type Metrics struct {
	Commits uint64 // sections that took effect
	Aborts  uint64 // attempts that a resource refused
	Blocked uint64 // attempts that were blocked, each combination of choices by itself
	Wakeups uint64 // times that a waiting instance tried again
	Pauses  uint64 // waits for a timer after a conflict or refusal
}

type counters struct {
	commits, aborts, blocked, wakeups, pauses atomic.Uint64
}

func (c *counters) add(n *atomic.Uint64) { n.Add(1) }

func (c *counters) read() Metrics {
	return Metrics{
		Commits: c.commits.Load(),
		Aborts:  c.aborts.Load(),
		Blocked: c.blocked.Load(),
		Wakeups: c.wakeups.Load(),
		Pauses:  c.pauses.Load(),
	}
}

// Committed is the event of a section that took effect.
type Committed struct {
	Process string // archetype and self
	N       uint64 // the number of the section in its instance, from 1
	Label   string // empty for the initialisation
	Next    string
}

// EventName is "committed".
func (Committed) EventName() string { return "committed" }

// Waits is the event of an instance that is blocked in every combination of
// choices.
type Waits struct {
	Process string
	Label   string
}

// EventName is "waits".
func (Waits) EventName() string { return "waits" }
