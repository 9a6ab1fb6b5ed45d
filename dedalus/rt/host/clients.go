// SPDX-License-Identifier: Apache-2.0

package host

import (
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
)

// clients holds the nodes outside the deployment. Its lock comes before all
// others but busy: the locks of lanes are taken while it is held.
type clients struct {
	sync.RWMutex
	h         *Host
	byName    map[string]*client
	strangers int // those of them that have never connected
	// outputs is the number of bytes queued for all clients together.
	outputs atomic.Int64
}

// meet returns the client of that name after it has connected, with its lane
// locked. It returns an error if there is no room for another client.
func (s *clients) meet(name string) (*client, error) {
	s.Lock()
	defer s.Unlock()
	k := s.byName[name]
	if k == nil {
		if len(s.byName) >= s.h.opt.ClientsMax && !s.forgetOne() {
			return nil, &link.Refusal{Code: link.RefusalFull, Text: "the maximum number of clients is reached"}
		}
		k = s.add(name)
	}
	k.mu.Lock()
	if k.stranger {
		k.stranger = false
		s.strangers--
	}
	return k, nil
}

func (s *clients) add(name string) *client {
	k := &client{h: s.h, name: name, source: &source{node: name, client: true}}
	s.byName[name] = k
	return k
}

// strangerQueueMax bounds the bytes kept for a client that has not connected
// yet.
const strangerQueueMax = 64 << 10

// way returns the lane to a client for an output, or nil. For a client that has
// not connected, way makes a lane: the output may be ready while the client is
// still connecting. Nil means that there is no room, or that the name is an
// instance's. Lanes of clients that never connected are limited to half of
// ClientsMax, because any client can invent names. The step calls way with the
// lock held.
func (s *clients) way(name string) *lane {
	if k := s.byName[name]; k != nil {
		return &k.lane
	}
	opt := &s.h.opt
	if name == "" || len(name) > wire.NodeMax || opt.instanceName(name) {
		return nil
	}
	if s.strangers >= max(opt.ClientsMax/2, 1) || len(s.byName) >= opt.ClientsMax && !s.forgetOne() {
		return nil
	}
	k := s.add(name)
	s.strangers++
	k.stranger, k.out.Max = true, min(strangerQueueMax, opt.ClientQueueMax)
	k.left = opt.Env.Clock.Now()
	return &k.lane
}

// forgetOne removes the client that disconnected first, and reports whether
// there was one. The lock is held.
func (s *clients) forgetOne() bool {
	var first *client
	var left env.Instant
	for _, k := range s.byName {
		if k.held {
			continue // the step has something for it
		}
		k.mu.Lock()
		if k.in == nil && (first == nil || k.left < left || k.left == left && k.name < first.name) {
			first, left = k, k.left
		}
		k.mu.Unlock()
	}
	if first == nil {
		return false
	}
	s.remove(first)
	return true
}

// remove removes a client. The lock is held.
func (s *clients) remove(k *client) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(s.byName, k.name)
	s.outputs.Add(int64(-k.counted))
	k.counted = 0
	if k.stranger {
		s.strangers--
	}
}

// forget removes the clients that disconnected more than ClientKeep ago.
func (s *clients) forget(now env.Instant) {
	s.Lock()
	defer s.Unlock()
	for _, k := range s.byName {
		k.mu.Lock()
		gone := k.in == nil && now.Sub(k.left) > s.h.opt.ClientKeep
		k.mu.Unlock()
		if gone {
			s.remove(k)
		}
	}
}

// hasRoom reports whether more output may be queued for all clients together.
func (s *clients) hasRoom() bool { return s.outputs.Load() <= int64(s.h.opt.OutputsMax) }

// weigh updates outputs with the number of bytes queued for a client. The lock
// of its lane is held.
func (s *clients) weigh(l *lane) {
	n := l.out.Bytes()
	s.outputs.Add(int64(n - l.counted))
	l.counted = n
}

// waiting returns the number of bytes queued for connected clients.
func (s *clients) waiting() (bytes int) {
	s.RLock()
	defer s.RUnlock()
	for _, k := range s.byName {
		bytes += k.waiting()
	}
	return bytes
}

// figures returns the number of connected clients, and the bytes queued for all
// clients.
func (s *clients) figures() (connected, queued int) {
	s.RLock()
	defer s.RUnlock()
	for _, k := range s.byName {
		k.mu.Lock()
		if k.in != nil {
			connected++
		}
		queued += k.out.Bytes()
		k.mu.Unlock()
	}
	return connected, queued
}
