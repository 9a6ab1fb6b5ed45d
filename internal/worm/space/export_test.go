// SPDX-License-Identifier: Apache-2.0

package space

import (
	"fmt"
	"github.com/ashlar-dev/ashlar/worm/wor"
	"strings"
)

// Dump describes what is running, for a test whose wait has failed.
func (s *Space) Dump() string {
	var b strings.Builder
	show := func(name string, c *call) {
		if c.live {
			fmt.Fprintf(&b, " %s{waits %v, tries %d, epoch %v, %+v, %+v}", name, c.waits, c.tries, c.cfg.Epoch, c.task, c.m)
		}
	}
	fmt.Fprintf(&b, "%d operations, %d errands, %d alarms, now %d", s.ops, len(s.errands), len(s.agenda.heap), s.clock.Now())
	for _, v := range s.views {
		fmt.Fprintf(&b, "\nview %d: epoch %d, hinted %d, %d wait, learner active %v paused %v target %d",
			v.partition, v.cfg.Epoch, v.hinted, len(v.waiting), v.learner.active, v.learner.paused, v.learner.target)
		show("call", &v.learner.r.call)
	}
	for k, e := range s.errands {
		fmt.Fprintf(&b, "\nerrand %v:", k)
		show("call", &e.call)
		show("repair", &e.repair.call)
		show("end", &e.end.call)
	}
	for o := s.first; o != nil; o = o.next {
		fmt.Fprintf(&b, "\n%T:", o.self)
		switch r := o.self.(type) {
		case *read:
			show("call", &r.r.call)
			if r.r.repair != nil {
				show("repair", &r.r.repair.call)
			}
		case *readRange:
			show("call", &r.call)
		case *capture:
			show("call", &r.call)
		case *propose:
			show("call", &r.p.call)
		case *write:
			show("call", &r.call)
		case *change:
			fmt.Fprintf(&b, " %v", r.at)
			show("refresh", &r.r.call)
			show("deciding", &r.deciding.call)
		}
	}
	return b.String()
}

// Rescue does what a client does that waits too long at a sealed partition.
func (s *Space) Rescue(p wor.Partition) { s.rescue(s.views[p]) }

// Rescuing reports whether a Rescue is running.
func (s *Space) Rescuing(p wor.Partition) bool { return s.views[p].rescuing }
