// SPDX-License-Identifier: Apache-2.0

package host

import (
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// resends are the nodes that all that holds is to be sent to again. Looking for it
// costs the whole state, so requests are gathered until a clock says that they are
// due. The lock is taken last, but for that of the ending.
type resends struct {
	h     *Host
	mu    sync.Mutex
	nodes map[string]bool
	all   bool // everybody that is connected
	armed bool // a clock says when they are due
	due   bool
	rest  env.Instant // nothing is looked through again before it
}

// resendShare is which part of its time a Host looks through all that holds, at most:
// clients can ask for it, by beginning new lives.
const resendShare = 10

// want asks for a node.
func (r *resends) want(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nodes[node] = true; len(r.nodes) > r.h.opt.ClientsMax+r.h.peers.count() {
		clear(r.nodes) // clients that come and go under ever new names
		r.all = true
	}
	r.arm()
}

// wantAll asks for every node that is connected.
func (r *resends) wantAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = true
	r.arm()
}

// arm sets the clock. The lock is held.
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

// take returns which nodes are due, or nil.
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

// took notes that looking through all that holds has taken so long until now.
func (r *resends) took(now env.Instant, spent time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rest = now.Add((resendShare - 1) * spent)
}

// later asks for everybody, now and then.
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
