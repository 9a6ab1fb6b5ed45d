// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Epochs. The view of a partition is the newest configuration whose register
// was read. When servers refuse because their epoch is over, the calls
// concerned wait, and the learner reads the register of the next configuration:
// in partition 0, or for partition 0 itself at the members of the finished
// epoch, which are its witnesses. A server's report of a later epoch only
// determines which register to read. If the witnesses no longer answer, because
// they were replaced long ago, a configuration of partition 0 named by a server
// is believed once a majority of its own members have begun it: members begin
// only decided configurations. Those that have not begun it are notified.
//
// If the next configuration is not decided, another client is working on it, or
// died while doing so: a client that waits longer than Options.Patience does
// that work itself with the same members.

// view is a partition as this client knows it.
type view struct {
	partition wor.Partition
	cfg       *wor.Config
	latencies latencies
	waiting   []*call
	learner   learner
	// hinted is the highest epoch that a server mentioned, suggestion its
	// configuration as far as it was given (partition 0 only).
	hinted     wor.Epoch
	suggestion *wor.Config
	// stuck is since when, and pending when last, the epoch was found sealed
	// without a next one.
	stuck, pending env.Instant
	refused        env.Instant // when a call was last refused
	nudged         [wor.MembersMax]env.Instant
	rescuing       bool
}

// hint records that a server mentioned a later epoch.
func (s *Space) hint(p wor.Partition, e wor.Epoch) {
	s.views[p].hinted = max(s.views[p].hinted, e)
}

// suggest records the configuration that it named.
func (s *Space) suggest(p wor.Partition, value []byte) {
	v := s.views[p]
	if p != 0 || len(value) == 0 {
		return
	}
	var cfg wor.Config
	if cfg.UnmarshalBinary(value) != nil || cfg.Partition != p || cfg.Epoch <= v.cfg.Epoch {
		return
	}
	if v.suggestion == nil || cfg.Epoch > v.suggestion.Epoch {
		v.suggestion = &cfg
	}
}

// await starts the call again when there is a later configuration than its own.
func (s *Space) await(c *call) {
	v := s.views[c.partition]
	if v.cfg.Epoch > c.cfg.Epoch {
		c.start()
		return
	}
	c.waits = true
	v.waiting = append(v.waiting, c)
	s.learn(c.partition)
}

// wakeWaiting starts the waiting calls.
func (s *Space) wakeWaiting(v *view) {
	waiting := v.waiting
	v.waiting = nil
	for _, c := range waiting {
		if c.live && c.waits {
			c.waits = false
			c.start()
		}
	}
}

// adopt makes a configuration the current one, if it is later.
func (s *Space) adopt(cfg *wor.Config) {
	v := s.views[cfg.Partition]
	if cfg.Epoch <= v.cfg.Epoch {
		s.wakeWaiting(v)
		return
	}
	v.cfg, v.stuck, v.pending, v.nudged = cfg, 0, 0, [wor.MembersMax]env.Instant{}
	if v.suggestion != nil && v.suggestion.Epoch <= cfg.Epoch {
		v.suggestion = nil
	}
	if f := s.o.Changed; f != nil {
		s.later(func() { f(cfg) })
	}
	if v.hinted > cfg.Epoch {
		s.learn(cfg.Partition)
		return
	}
	s.wakeWaiting(v)
	for l := s.listeners; l != nil; l = l.next {
		l.moved(cfg.Partition)
	}
}

// nudge notifies a member of a decided configuration that its epoch has begun:
// the client that decided it may have died before.
func (s *Space) nudge(cfg *wor.Config, to int) {
	v, now := s.views[cfg.Partition], s.clock.Now()
	if cfg.Epoch == 0 || cfg != v.cfg || v.nudged[to] != 0 && now.Sub(v.nudged[to]) < nudgeEvery {
		return
	}
	v.nudged[to] = now
	s.transport.Call(cfg.Members[to], activation(cfg), callMin, func(*wor.Reply) {})
}

// nudgeEvery is the shortest time between two such notices to one server.
const nudgeEvery = 200 * time.Millisecond

// activation is the request that begins an epoch.
func activation(cfg *wor.Config) *wor.Request {
	value, err := cfg.MarshalBinary()
	if err != nil {
		return nil // it was decoded before
	}
	return &wor.Request{
		Kind: wor.KindActivate, Partition: cfg.Partition, Epoch: cfg.Epoch,
		Value: value, Tag: cfg.Tag, Digest: cfg.Digest,
	}
}

// learner finds the next configuration of a partition.
type learner struct {
	s      *Space
	v      *view
	active bool
	near   bool // the hint was wrong: try the epochs one after the other
	r      reader
	target wor.Epoch
	wait   env.Backoff
	alarm  alarm
	paused bool
	asking *confirmation
}

// The waits of a learner: between two reads of an undecided configuration; and
// until it asks servers other than the witnesses.
const (
	learnMin    = 10 * time.Millisecond
	learnMax    = time.Second
	witnessWait = 500 * time.Millisecond
)

// learn starts the learner, unless it is running.
func (s *Space) learn(p wor.Partition) {
	v := s.views[p]
	l := &v.learner
	if l.active || s.closed {
		return
	}
	l.s, l.v, l.active = s, v, true
	if l.wait.Min == 0 {
		l.wait = env.Backoff{Min: learnMin, Max: learnMax}
	}
	l.look()
}

// configPlace returns where the register of a partition's next configuration is
// stored.
func (s *Space) configPlace(p wor.Partition) place {
	if p == 0 {
		return place{fixed: s.views[0].cfg}
	}
	return place{}
}

// configAddr returns the register's address.
func configAddr(p wor.Partition, e wor.Epoch) wor.Addr {
	return wor.Addr{Segment: wor.ConfigSegment(p), Offset: uint32(e)}
}

func (l *learner) look() {
	v := l.v
	l.paused = false
	l.target = v.cfg.Epoch + 1
	if v.partition != 0 && v.hinted > l.target && !l.near {
		l.target = v.hinted
	}
	l.r.stop()
	if v.partition == 0 {
		l.s.agenda.set(&l.alarm, l.s.clock.Now().Add(witnessWait), l)
	}
	l.r.run(l.s, l, l.s.configPlace(v.partition), configAddr(v.partition, l.target), 0)
}

func (l *learner) ring(*alarm) {
	if !l.paused {
		// The witnesses do not answer.
		l.confirm()
		l.s.agenda.set(&l.alarm, l.s.clock.Now().Add(witnessWait), l)
		return
	}
	l.rest()
}

// rest ends the learner; waiting calls try the known epoch.
func (l *learner) rest() {
	l.r.stop()
	l.s.agenda.drop(&l.alarm)
	l.active, l.near, l.asking = false, false, nil
	l.s.wakeWaiting(l.v)
}

// read handles the content of the configuration's register.
func (l *learner) read(_ *reader, value []byte, err error) {
	s, v := l.s, l.v
	var cfg wor.Config
	switch {
	case err == nil && cfg.UnmarshalBinary(value) == nil && cfg.Partition == v.partition && cfg.Epoch == l.target:
		l.learned(&cfg)
		return
	case errors.Is(err, wor.ErrUnwritten) && l.target > v.cfg.Epoch+1:
		l.near = true
		l.look()
		return
	case errors.Is(err, wor.ErrUnwritten):
		v.hinted = v.cfg.Epoch
		l.undecided()
	default:
		l.confirm()
	}
	if l.active {
		l.paused = true
		s.agenda.set(&l.alarm, s.clock.Now().Add(l.wait.Next(s.random)), l)
	}
}

// learned uses the configuration that was found.
func (l *learner) learned(cfg *wor.Config) {
	l.r.stop()
	l.s.agenda.drop(&l.alarm)
	l.active, l.near, l.asking = false, false, nil
	l.wait.Reset()
	l.s.adopt(cfg)
}

// undecided decides whether it is time to take the reconfiguration over.
func (l *learner) undecided() {
	s, v, now := l.s, l.v, l.s.clock.Now()
	if v.refused == 0 || now.Sub(v.refused) > 2*learnMax {
		return // no call was refused; a client only asked
	}
	if v.pending == 0 || now.Sub(v.pending) > 4*learnMax {
		v.stuck = now
	}
	v.pending = now
	patience := s.o.Patience
	if patience > 0 && now.Sub(v.stuck) > patience+s.jitter(patience/2) {
		v.stuck = now
		s.rescue(v)
	}
}

// confirmation asks the members of a configuration of partition 0 whether they
// have begun it.
type confirmation struct {
	cfg   *wor.Config
	value string
	heard uint16
	yes   int
}

// confirm asks about the suggestion.
func (l *learner) confirm() {
	s, v := l.s, l.v
	if v.suggestion == nil {
		return
	}
	value, err := v.suggestion.MarshalBinary()
	if err != nil {
		return
	}
	c := &confirmation{cfg: v.suggestion, value: string(value)}
	l.asking = c
	for i, m := range c.cfg.Members {
		q := &wor.Request{Kind: wor.KindStatus, Partition: v.partition, Epoch: c.cfg.Epoch}
		s.transport.Call(m, q, callMin, func(r *wor.Reply) { l.confirmed(c, i, r) })
	}
}

func (l *learner) confirmed(c *confirmation, from int, r *wor.Reply) {
	if r == nil || l.asking != c || c.heard>>from&1 != 0 {
		return
	}
	c.heard |= 1 << from
	if r.Epoch == c.cfg.Epoch && string(r.Value) == c.value {
		c.yes++
	}
	l.s.suggest(c.cfg.Partition, r.Value)
	if r.Epoch < c.cfg.Epoch {
		// The client that decided it died when only some members knew it.
		l.s.transport.Call(c.cfg.Members[from], activation(c.cfg), callMin, func(*wor.Reply) {})
	}
	if c.yes >= wor.Majority(len(c.cfg.Members)) {
		l.learned(c.cfg)
	}
}
