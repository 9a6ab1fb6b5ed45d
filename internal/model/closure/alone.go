// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/model/direct"
	"github.com/ashlar-dev/ashlar/internal/model/reduce"
)

// alone compiles the reduced steps: those of the first process that is at a
// safe label and can take its step. They stop the enumeration after that
// process, so the other processes take no step.
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

// reduced tries alone, and runs all if no process's steps could be taken alone.
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

// only stops the enumeration after run if run has found a successor.
func only(run act) act {
	return func(m *Machine) bool {
		before := m.alone
		return run(m) && m.alone == before
	}
}
