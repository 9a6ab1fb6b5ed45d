// SPDX-License-Identifier: Apache-2.0

package tlcget

import (
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// Shared is the state that the runs of one model share: the settings, and the
// registers that assumptions and the initial predicate set. A worker's own
// registers take precedence.
type Shared struct {
	settings Settings

	mu        sync.RWMutex
	registers map[string]value.Value
	// first is the run that evaluated the assumptions. The postcondition sees
	// its registers.
	first *Run
	// runs has the runs of the workers, in the order in which they began.
	runs []*Run
}

// NewShared returns the shared state of a model's runs; no register has a value.
func NewShared(s Settings) *Shared { return &Shared{settings: s} }

func (c *Shared) get(name string) (value.Value, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok := c.registers[name]
	return v, ok
}

func (c *Shared) set(name string, v value.Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.registers == nil {
		c.registers = make(map[string]value.Value)
	}
	c.registers[name] = v
}

// Begin makes r the run that evaluates the assumptions.
func (c *Shared) Begin(r *Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.first = r
}

// Last copies the registers of the first run to r. No worker may be evaluating.
func (c *Shared) Last(r *Run) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r.over = true
	if c.first != nil {
		maps.Copy(r.registers, c.first.registers)
	}
}

// Join adds r to the runs whose registers TLCGet("all") reads.
func (c *Shared) Join(r *Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.runs) < allRunsMax && !slices.Contains(c.runs, r) {
		c.runs = append(c.runs, r)
	}
}

// allRunsMax bounds the runs that Join adds.
const allRunsMax = 1024

// all returns the values of the registers with a given number in all workers.
func (r *Run) all() value.Value {
	if !r.over {
		value.Fail(`TLCGet("all"): other workers may be evaluating; it has a value in a postcondition only`)
	}
	c := r.shared
	c.mu.RLock()
	defer c.mu.RUnlock()
	// A worker that has set nothing has the shared value.
	workers := min(max(1, r.shared.settings.Configuration.Workers), allRunsMax)
	var runs []map[string]value.Value
	for i := range workers {
		var own map[string]value.Value
		if i < len(c.runs) {
			own = c.runs[i].registers
		}
		runs = append(runs, own)
	}
	numbers := map[int]bool{}
	for _, registers := range append(runs[:workers:workers], c.registers) {
		for name := range registers {
			if n, err := strconv.Atoi(name); err == nil {
				numbers[n] = true
			}
		}
	}
	var pairs []value.Pair
	for _, n := range slices.Sorted(maps.Keys(numbers)) {
		var vals []value.Value
		for i, w := range runs {
			v, ok := w[strconv.Itoa(n)]
			if !ok {
				v, ok = c.registers[strconv.Itoa(n)]
			}
			if !ok {
				value.Fail(`TLCGet("all"): worker %d has no value for register %d; set it in an assumption first`, i+1, n)
			}
			vals = append(vals, v)
		}
		pairs = append(pairs, value.Pair{Key: value.Int(int32(n)), Val: value.TupleOf(vals)})
	}
	return value.Fn(pairs)
}
