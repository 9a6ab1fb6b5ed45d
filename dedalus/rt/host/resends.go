// SPDX-License-Identifier: Apache-2.0

package host

import (
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// resends holds the nodes to which everything that holds must be sent again.
// Collecting that means reading the whole state, so requests are gathered until a
// timer fires. Its lock is taken last, except for ending's.
type resends struct {
	h     *Host
	mu    sync.Mutex
	nodes map[string]bool
	all   bool // everybody that is connected
	armed bool // a clock says when they are due
	due   bool
	rest  env.Instant // nothing is looked through again before it
}

// resendShare bounds the time that a Host spends on resends, to 1/resendShare:
// clients can cause resends by beginning new lives.
const resendShare = 10

// want requests a resend to one node.
func (r *resends) want(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nodes[node] = true; len(r.nodes) > r.h.opt.ClientsMax+r.h.peers.count() {
		clear(r.nodes) // clients that come and go under ever new names
		r.all = true
	}
	r.arm()
}

// wantAll requests a resend to every connected node.
func (r *resends) wantAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = true
	r.arm()
}

// arm starts the timer. The lock is held.
func (r *resends) arm() {
	if r.armed || r.h.ending.closed() {
		return
	}
	r.armed = true
	clock := r.h.opt.Env.Clock
	clock.After(max(r.h.opt.AckAfter, r.rest.Sub(clock.Now())), env.WakeFunc(func() {
		r.mu.Lock()
		r.armed, r.due = false, true
		r.mu.Unlock()
		r.h.waker.Wake()
	}))
}

// take returns a function that selects the nodes whose resend is due, or nil if
// none is.
func (r *resends) take() func(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.due {
		return nil
	}
	r.due = false
	nodes, all := r.nodes, r.all
	r.nodes, r.all = map[string]bool{}, false
	return func(node string) bool { return all || nodes[node] }
}

// took records that a resend ended now and took spent, and delays the next one
// accordingly.
func (r *resends) took(now env.Instant, spent time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rest = now.Add((resendShare - 1) * spent)
}

// later schedules the periodic resend to every node.
func (r *resends) later() {
	every := r.h.opt.ResendEvery
	if every < 0 {
		return
	}
	r.h.opt.Env.Clock.After(every, env.WakeFunc(func() {
		r.wantAll()
		if !r.h.ending.closed() {
			r.later()
		}
	}))
}
