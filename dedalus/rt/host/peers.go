// SPDX-License-Identifier: Apache-2.0

package host

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/env"
)

// peers holds the other instances. The set never changes; each peer is guarded by its
// lane's lock.
type peers struct {
	byNode map[string]*peer
	order  []*peer // by name
	// heavy is the number of peers whose queue is so long that inputs must
	// wait.
	heavy atomic.Int32
}

// open creates the peers of an instance.
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

// get returns the peer of a node, or nil. all returns all peers, ordered by name, and
// count their number.
func (s *peers) get(node string) *peer { return s.byNode[node] }
func (s *peers) all() []*peer          { return s.order }
func (s *peers) count() int            { return len(s.order) }

// press records that one more peer has a long queue, and relieve that one fewer does.
// relieve reports whether it was the last, so that inputs need not wait any more.
func (s *peers) press()        { s.heavy.Add(1) }
func (s *peers) relieve() bool { return s.heavy.Add(-1) == 0 }

// crowded reports whether inputs must wait.
func (s *peers) crowded() bool { return s.heavy.Load() > 0 }

// dial connects to these peers now. The others are dialled when there is something to
// send to them.
func (s *peers) dial(nodes []string) {
	for _, node := range nodes {
		if p := s.byNode[node]; p != nil {
			p.mu.Lock()
			p.dial()
			p.mu.Unlock()
		}
	}
}

// waiting returns the number of bytes queued for connected peers.
func (s *peers) waiting() (bytes int) {
	for _, p := range s.order {
		bytes += p.waiting()
	}
	return bytes
}

// stop closes the connections to all peers permanently.
func (s *peers) stop() {
	for _, p := range s.order {
		p.mu.Lock()
		p.stop()
		p.mu.Unlock()
	}
}
