// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/model/direct"
	"github.com/ashlar-dev/ashlar/internal/model/reduce"
)

// alone compiles the steps that are taken alone: those of the first process
// that stands at a safe label and can take its step. It stops the enumeration
// after them.
func (c *compiler) alone(d *direct.Algorithm, r *reduce.Plan, x site) act {
	var acts []act
	for _, p := range d.Alg.Processes {
		s := &steps{c: c, d: d, view: d.Process(p), alone: r.Alone()}
		if p.Set {
			acts = append(acts, s.each(p.Self, p.Id, p.Blocks, d.First[p], x))
		} else {
			acts = append(acts, s.dispatch(p.Blocks, d.First[p], x))
		}
	}
	return sequence(acts)
}

// reduced is all, unless some process's steps are taken alone.
func reduced(r *reduce.Plan, alone, all act) act {
	return func(m *Machine) bool {
		m.alone = 0
		if alone(m); m.alone == 0 {
			return all(m)
		}
		r.Take()
		return true
	}
}

// only is a step that stops the enumeration when it has found a successor.
func only(run act) act {
	return func(m *Machine) bool {
		before := m.alone
		return run(m) && m.alone == before
	}
}
