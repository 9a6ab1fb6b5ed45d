package host

import (
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
)

// clients are the nodes from outside. Its lock is the first of all: those of links are
// taken while it is held.
type clients struct {
	sync.RWMutex
	h         *Host
	byName    map[string]*client
	strangers int // of them: those that have never come
	// outputs is how many bytes wait for all of them.
	outputs atomic.Int64
}

// meet returns the client of a name that has come, with its link locked; an error says
// that there is no room for it.
func (s *clients) meet(name string) (*client, error) {
	s.Lock()
	defer s.Unlock()
	k := s.byName[name]
	if k == nil {
		if len(s.byName) >= s.h.opt.ClientsMax && !s.forgetOne() {
			return nil, &wire.Refusal{Code: wire.RefusalFull, Text: "there is no room for another client"}
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

// strangerQueueMax is how many bytes are kept for a client that has not come yet.
const strangerQueueMax = 64 << 10

// way is the link to a client that an output goes to, or nil. Where the client has not
// come, this makes room for it: it may be on its way here, with an answer that was
// faster. Nil: there is no room, or it would be an instance. Half of all clients may
// be such: any client can make names up. It is called by the step, with the lock.
func (s *clients) way(name string) *link {
	if k := s.byName[name]; k != nil {
		return &k.link
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
	return &k.link
}

// forgetOne forgets the client that has left first, if any has. The lock is held.
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

// remove forgets a client. The lock is held.
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

// forget forgets those that have left long ago.
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

// hasRoom reports whether more may wait for all clients together.
func (s *clients) hasRoom() bool { return s.outputs.Load() <= int64(s.h.opt.OutputsMax) }

// weigh notes how much waits for a client. The lock of its link is held.
func (s *clients) weigh(l *link) {
	n := l.out.Bytes()
	s.outputs.Add(int64(n - l.counted))
	l.counted = n
}

// waiting is how many bytes those that are connected have to come.
func (s *clients) waiting() (bytes int) {
	s.RLock()
	defer s.RUnlock()
	for _, k := range s.byName {
		bytes += k.waiting()
	}
	return bytes
}

// figures is how many clients are connected, and how many bytes are kept for all.
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
