// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"slices"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// detached evaluates the body of a lazy function or filter. Such a value may
// outlive the activation and the state in which it was made. If it is part of a
// constant, several workers may evaluate it at once. Therefore detached has
// copies of everything that the body depends on, and uses no worker's machine.
type detached struct {
	fn       *function
	frame    *activation
	cur, nxt []value.Value
	run      *tlcget.Run
	vars     []*core.Variable
	code     *Code
	depth    int
	within   atomic.Int32            // evaluations at work, for some are inside others
	idle     atomic.Pointer[Machine] // to be used again
}

// detach returns an evaluator of fn, defined in activation up, in the present
// state.
func (m *Machine) detach(fn *function, up *activation) *detached {
	return &detached{
		fn: fn, frame: up.copied(), cur: slices.Clone(m.cur), nxt: slices.Clone(m.nxt),
		run: m.run, vars: m.vars, code: m.code, depth: m.depth,
	}
}

// with calls use with a machine that is in an activation of the function.
func (d *detached) with(use func(*Machine)) {
	deeper := d.within.Add(1)
	defer d.within.Add(-1)
	m := d.idle.Swap(nil)
	if m == nil {
		m = &Machine{run: d.run, vars: d.vars, code: d.code, cur: d.cur, nxt: d.nxt}
		m.push(d.fn, d.frame.copied())
	}
	m.depth = d.depth + int(deeper)
	use(m)
	d.idle.Store(m) // but not after an error
}

// copied returns a copy of an activation and of the activations around it.
func (a *activation) copied() *activation {
	if a == nil {
		return nil
	}
	c := *a
	c.slots, c.thunks, c.ops = slices.Clone(a.slots), slices.Clone(a.thunks), slices.Clone(a.ops)
	for i := range c.thunks {
		c.thunks[i].frame = c.thunks[i].frame.copied()
	}
	for i := range c.ops {
		c.ops[i].up = c.ops[i].up.copied()
	}
	c.up = a.up.copied()
	return &c
}
