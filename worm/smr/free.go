// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// free is Nobody: any replica with a command captures and writes the next
// register. A replica has one write in flight at a time.
type free struct {
	r          *Replica
	allocating bool
	wait       env.Backoff
}

func (p *free) pump() {
	r := p.r
	l := &r.learner
	if len(r.flights) > 0 || l.busy || !r.waiting() {
		return
	}
	if l.size == 0 {
		p.extend()
		return
	}
	b, taken := r.take()
	r.insist(r.fly(l.next, b.encode(), taken))
}

// extend allocates the next segment.
func (p *free) extend() {
	if p.allocating {
		return
	}
	p.allocating = true
	r := p.r
	r.alloc(r.opt.ID.Segment(r.learner.next.Index()), r.meta(r.learner.next.Index(), nil), &p.wait, func(bool, error) {
		p.allocating = false
		r.learner.enterIfOut()
	})
}

func (p *free) entered() { p.pump() }

func (p *free) heard(uint32) {}

func (p *free) blocked() {}

func (p *free) failed(f *flight) { p.r.later(&p.wait, func() { p.r.insist(f) }) }

// meta is the Meta of a new segment.
func (r *Replica) meta(index uint32, seats []seat) wor.Meta {
	partition, protocol := r.opt.Place(r.opt.ID.Segment(index))
	return wor.Meta{
		Owner: r.random.Uint64(), Partition: partition, Protocol: protocol, Size: r.opt.Size,
		Payload: encodeSeats(seats),
	}
}

// me returns the seat of this replica.
func (r *Replica) me() seat { return seat{r.nonce, r.opt.Member} }
