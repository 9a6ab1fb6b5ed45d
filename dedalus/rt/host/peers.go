// SPDX-License-Identifier: Apache-2.0

package host

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/env"
)

// peers are the other instances. Which they are never changes, and each has its lane's
// lock.
type peers struct {
	byNode map[string]*peer
	order  []*peer // by name
	// heavy is how many of them have so much to take that inputs wait.
	heavy atomic.Int32
}

// open makes the peers of an instance.
func (s *peers) open(h *Host, random env.Random) {
	s.byNode = make(map[string]*peer, len(h.opt.Peers))
	for _, node := range slices.Sorted(maps.Keys(h.opt.Peers)) {
		if node != h.opt.Who.Node {
			p := newPeer(h, node, h.opt.Peers[node], random.Split(node))
			s.byNode[node] = p
			s.order = append(s.order, p)
		}
	}
}

// get is the peer of a node, or nil; all are all of them by name, and count is how many
// there are.
func (s *peers) get(node string) *peer { return s.byNode[node] }
func (s *peers) all() []*peer          { return s.order }
func (s *peers) count() int            { return len(s.order) }

// press notes that another peer has much to take, and relieve that one has no more; the
// last of them ends the wait.
func (s *peers) press()        { s.heavy.Add(1) }
func (s *peers) relieve() bool { return s.heavy.Add(-1) == 0 }

// crowded reports whether inputs wait.
func (s *peers) crowded() bool { return s.heavy.Load() > 0 }

// dial connects with some of them. The other ones are dialled when there is something
// for them.
func (s *peers) dial(nodes []string) {
	for _, node := range nodes {
		if p := s.byNode[node]; p != nil {
			p.mu.Lock()
			p.dial()
			p.mu.Unlock()
		}
	}
}

// waiting is how many bytes those that are connected have to come.
func (s *peers) waiting() (bytes int) {
	for _, p := range s.order {
		bytes += p.waiting()
	}
	return bytes
}

// stop ends all of them.
func (s *peers) stop() {
	for _, p := range s.order {
		p.mu.Lock()
		p.stop()
		p.mu.Unlock()
	}
}
