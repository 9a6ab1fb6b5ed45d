// SPDX-License-Identifier: Apache-2.0

package space

import (
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Space is wor.Space on servers. It belongs to Options.Serial.
type Space struct {
	o         Options
	clock     env.Clock
	random    env.Random
	serial    *env.Serial
	transport wor.Transport
	genesis   *wor.Genesis
	clients   [3]wor.Client
	agenda    agenda

	nonce, round uint64
	views        []*view // by partition
	segments     segments
	known        known
	used         used
	errands      map[errandKey]*errand
	listeners    *listener // all that are not stopped

	first  *op // all running operations
	ops    int
	bytes  int64
	closed bool
	out    wor.Outbox
	slots  *slot
}

var _ wor.Space = (*Space)(nil)

// Open makes a Space. It sends no request yet.
func Open(o Options) (*Space, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	s := &Space{
		o: o, clock: o.Env.Clock, random: o.Env.Random.Split("space"), serial: o.Serial,
		transport: o.Transport, genesis: o.Genesis, clients: protocols(), errands: map[errandKey]*errand{},
	}
	s.agenda = agenda{clock: o.Env.Clock, waker: o.Serial.Waker(s.wake)}
	for s.nonce == 0 {
		s.nonce = s.random.Uint64()
	}
	for i := range o.Genesis.Partitions {
		cfg := o.Genesis.Partitions[i]
		s.views = append(s.views, &view{partition: wor.Partition(i), cfg: &cfg})
	}
	for i := range o.Genesis.Known {
		if cfg := o.Genesis.Known[i]; cfg.Epoch > s.views[cfg.Partition].cfg.Epoch {
			s.views[cfg.Partition].cfg = &cfg
		}
	}
	s.segments.init()
	s.segments.max = o.SegmentsMax
	s.known.init()
	s.known.max = o.KnownMax
	s.used.begin(o.UsedMax, s.random.Uint64())
	return s, nil
}

func (s *Space) wake() { s.agenda.wake() }

// later calls f after the current function of the Serial.
func (s *Space) later(f func()) { s.serial.Do(f) }

// Close ends all running operations with ErrClosed, and all later ones. A write
// whose requests were sent may still take effect.
func (s *Space) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.later(func() {
		for s.first != nil {
			s.first.self.fail(wor.ErrClosed)
		}
	})
	for l := s.listeners; l != nil; l = l.next {
		l.end()
	}
	s.agenda.close()
}

// Learned takes a configuration that the caller knows was decided.
func (s *Space) Learned(cfg wor.Config) {
	if int(cfg.Partition) < len(s.views) && cfg.Check() == nil && cfg.Epoch > s.views[cfg.Partition].cfg.Epoch {
		s.adopt(&cfg)
	}
}

// Refresh checks whether there are later configurations than the known ones. A client
// that sends no requests would otherwise not notice that servers are replaced, until no
// server that it knows is left.
func (s *Space) Refresh() {
	for p := range s.views {
		s.learn(wor.Partition(p))
	}
}

// Look checks whether a partition has a later configuration than the known one, and calls
// Options.Changed if it has.
func (s *Space) Look(p wor.Partition) { s.learn(p) }

// Nonce implements wor.Space.
func (s *Space) Nonce() uint64 { return s.nonce }

// ballot returns one that was never used: higher than all that were met.
func (s *Space) ballot() wor.Ballot {
	s.round++
	return wor.Ballot{Round: s.round, Nonce: s.nonce}
}

// roundMax is the highest round that is accepted from others, so that rounds never run
// out.
const roundMax = 1 << 60

// above makes later ballots higher than b.
func (s *Space) above(b wor.Ballot) {
	if b.Round < roundMax {
		s.round = max(s.round, b.Round)
	}
}

// Known implements wor.Space.
func (s *Space) Known(a wor.Addr) ([]byte, bool) {
	if e := s.segments.get(a.Segment); e != nil && e.value.trimmed {
		return nil, false
	}
	return s.known.get(a)
}

// Config is the newest configuration of a partition that this client has learned.
// It must not be changed.
func (s *Space) Config(p wor.Partition) (*wor.Config, bool) {
	if int(p) >= len(s.views) {
		return nil, false
	}
	return s.views[p].cfg, true
}
