// SPDX-License-Identifier: Apache-2.0

package smr

import "fmt"

// Describe describes what a replica waits for, for the messages of tests.
func (r *Replica) Describe() string {
	l := &r.learner
	s := fmt.Sprintf("next %v of %d, busy %v, restoring %v, cells %d, queue %d, pending %d, early %d, session %d, flying %d of",
		l.next, l.size, l.busy, l.restoring, len(l.cells), len(r.queue), len(r.pending), len(r.early), r.session, r.flying)
	for _, slot := range sortedSlots(r.flights) {
		s += fmt.Sprintf(" %v", slot)
	}
	switch p := r.policy.(type) {
	case *free:
		s += fmt.Sprintf(", allocating %v", p.allocating)
	case *turns:
		s += fmt.Sprintf(", seat %d of %d, busy %v, target %d, closing %v", p.seat(), len(l.seats), p.busy, p.closer.target, p.closer.busy)
	case *sticky:
		s += fmt.Sprintf(", state %d, top %d, sure %v, looking %v, target %d, closing %v", p.state, p.top, p.sure, p.looking, p.closer.target, p.closer.busy)
	}
	return s
}
