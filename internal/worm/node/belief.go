// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"maps"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Decisions are in registers. A client that claims that a configuration was
// decided, that an epoch has begun (KindActivate) or that a segment is trimmed
// (KindTrim) is not believed: its request is a hint, on which the server reads
// the registers itself, as a client of the cluster. Until it has, it answers
// StatusBusy, and the client asks again. So a client can make the server read,
// and nothing else.
//
// The server does believe the configurations in its own description
// (wor.Genesis.Known): the operator has put them there. An unsafe recovery of
// partition 0 begins that way, because no register decides it: its witnesses
// are lost.

// claimsMax bounds the trims being looked up, or looked up before.
const claimsMax = 4096

// claimWithin bounds one read of a trim register.
const claimWithin = time.Second

// claim is the claim that a partition should discard a segment; chain means its
// servers of protocol Chain.
type claim struct {
	segment   wor.Segment
	partition wor.Partition
	chain     bool
}

// beliefs has the claims of others that this server has verified in registers,
// or is verifying. Server.mu guards them; the space belongs to its serial.
type beliefs struct {
	s      *Server
	space  *space.Space
	claims map[claim]verdictOfClaim
	caring entry // in the wheel: care
	cares  int
}

// close ends the reading of registers. The caller must not hold Server.mu.
func (b *beliefs) close() {
	if b.space != nil {
		b.s.serial.Do(b.space.Close)
	}
}

type verdictOfClaim uint8

const (
	claimAsked verdictOfClaim = iota
	claimTrue
	claimFalse
)

// trust begins the epochs that the server believes: those in its own
// description; and opens its space, through which it reads registers.
func (b *beliefs) trust() error {
	s := b.s
	for i := range s.opt.Genesis.Known {
		b.adopt(&s.opt.Genesis.Known[i])
	}
	own := *s.opt.Genesis
	own.Known = nil
	for _, p := range s.registers.all() {
		if c := p.group.Config(); c.Epoch > 0 {
			own.Known = append(own.Known, *c)
		}
	}
	var err error
	b.space, err = space.Open(space.Options{Env: s.opt.Env, Serial: &s.serial, Transport: s.transport, Genesis: &own,
		Changed: b.decided})
	b.caring.due = b.care
	s.wheel.add(&b.caring, s.opt.Env.Clock.Now().Add(careEvery))
	return err
}

// adopt begins the epoch of a decided configuration, unless it has begun.
func (b *beliefs) adopt(c *wor.Config) {
	s := b.s
	if uint64(c.Partition) >= uint64(s.registers.count()) {
		return
	}
	p := s.registers.part(c.Partition)
	if c.Epoch <= p.group.Epoch() {
		return
	}
	var r wor.Reply
	value, err := c.MarshalBinary()
	if err == nil {
		s.registers.perform(p, &wor.Request{Kind: wor.KindActivate, Partition: c.Partition, Epoch: c.Epoch, Value: value}, &r)
	}
	if p.group.Epoch() != c.Epoch {
		s.trouble = fmt.Sprintf("epoch %d of partition %d cannot begin: %v, %v %.200q", c.Epoch, c.Partition, err, r.Status, r.Value)
		return
	}
	s.mark("worm/node epoch begun")
}

// decided is called by the space, once: a register holds this configuration.
func (b *beliefs) decided(c *wor.Config) {
	s := b.s
	s.mu.Lock()
	defer s.unlock()
	b.begin(c)
}

// begin begins the epoch of a configuration that is decided. While the disk is
// full, it keeps the configuration instead, and care tries again.
func (b *beliefs) begin(c *wor.Config) {
	s := b.s
	p := s.registers.part(c.Partition)
	if s.closed || s.failed != nil || s.witness.denial() != "" {
		return // no epoch can begin in this life
	}
	if s.commits.blocked() {
		if p.kept == nil || c.Epoch > p.kept.Epoch {
			p.kept = c
		}
		return
	}
	if c.Epoch > p.group.Epoch() {
		b.adopt(c)
		s.witness.regroup()
	}
	if c.Epoch < p.claimed {
		s.later = append(s.later, func() { s.serial.Do(func() { b.space.Look(c.Partition) }) })
	}
}

// doubt returns a request that claims a decision, as long as the decision is
// not known here, and starts looking it up.
func (b *beliefs) doubt(q *wor.Request, r *wor.Reply) bool {
	s := b.s
	p := s.registers.part(q.Partition)
	switch q.Kind {
	case wor.KindActivate:
		var c wor.Config
		if q.Epoch <= p.group.Epoch() || c.UnmarshalBinary(q.Value) != nil || c.Epoch != q.Epoch || c.Partition != q.Partition {
			return false // nothing follows from it
		}
		b.seek(p, q.Epoch)
	case wor.KindTrim:
		k := claim{q.Range.Segment, q.Partition, q.Protocol == wor.Chain}
		if q.Range.Segment&wor.ReservedSegment != 0 || !q.Protocol.Valid() || p.group.Status() != wor.StatusOK ||
			q.Epoch != p.group.Epoch() || p.group.Trimmed(k.segment, q.Protocol) {
			return false
		}
		switch v, known := b.claims[k]; {
		case !known:
			b.investigate(k, q.Protocol)
		case v == claimTrue:
			return false
		case v == claimFalse:
			delete(b.claims, k) // it may be decided later
			r.Status, r.Value = wor.StatusLimit, []byte("the segment's trim register is not decided")
			return true
		}
	default:
		return false
	}
	r.Status, r.Epoch = wor.StatusBusy, p.group.Epoch()
	return true
}

// seek checks whether an epoch has begun.
func (b *beliefs) seek(p *part, e wor.Epoch) {
	s := b.s
	p.claimed = max(p.claimed, e)
	if p.seeking {
		return // a flood of claims must not queue a look-up for each
	}
	p.seeking = true
	s.later = append(s.later, func() {
		s.serial.Do(func() {
			s.mu.Lock()
			p.seeking = false
			e := p.claimed
			s.mu.Unlock()
			if c, _ := b.space.Config(p.number); c.Epoch > 0 {
				b.decided(c) // it was known already, and could not be begun then
				if c.Epoch >= e {
					return
				}
			}
			b.space.Look(p.number)
		})
	})
}

// investigate checks whether a segment is to be discarded.
func (b *beliefs) investigate(k claim, by wor.Protocol) {
	s := b.s
	// Claims that were found false are dropped first. A stranger can make any
	// number of them, and they must not displace a trim that is decided.
	for _, v := range []verdictOfClaim{claimFalse, claimTrue} {
		if len(b.claims) >= claimsMax {
			maps.DeleteFunc(b.claims, func(_ claim, is verdictOfClaim) bool { return is == v })
		}
	}
	if len(b.claims) >= claimsMax {
		return // too many are running: the client asks again
	}
	b.claims[k] = claimAsked
	s.later = append(s.later, func() {
		s.serial.Do(func() {
			b.space.Buried(k.segment, k.partition, by, claimWithin, func(yes bool, err error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				switch {
				case err != nil:
					delete(b.claims, k)
				case yes:
					b.claims[k] = claimTrue
				default:
					b.claims[k] = claimFalse
				}
			})
		})
	})
}

// How often the server checks its partitions; after how many checks stages age
// (group.StageAges); and how long it may stay sealed, plus as much for each
// place among the members, before it ends the epoch itself.
const (
	careEvery    = 5 * time.Second
	careTurns    = 60
	sealedWait   = 30 * time.Second
	sealedSpread = 10 * time.Second
)

// care checks the partitions. Any client may seal a server, as a change of the
// members requires, and may then die or have no intention to continue. A waiting
// client ends such an epoch, but there may be none. One sealed server alone delays
// no client, but it is missing when another server fails. So a server that stays
// sealed ends the epoch itself, with the same members.
func (b *beliefs) care() {
	s := b.s
	now := s.opt.Env.Clock.Now()
	s.wheel.add(&b.caring, now.Add(careEvery))
	b.cares++
	if !s.registers.isPeer(s.id) && s.witness.denial() == "" && !s.drain.underway() {
		// A server that is not a member is not notified of changes of the members, and
		// could end up knowing none of the present ones.
		s.later = append(s.later, func() { s.serial.Do(b.space.Refresh) })
	}
	for _, p := range s.registers.all() {
		if c := p.kept; c != nil {
			p.kept = nil
			b.begin(c)
		}
		if b.cares%careTurns == 0 {
			p.group.Age()
		}
		if p.group.Status() != wor.StatusSealed || p.mute || s.witness.denial() != "" || s.failed != nil || s.drain.underway() {
			p.sealed = 0
			continue
		}
		if p.sealed == 0 {
			p.sealed = now
		}
		wait := sealedWait + time.Duration(p.group.Config().Index(s.id))*sealedSpread
		if now.Sub(p.sealed) < wait {
			continue
		}
		p.sealed = now
		s.mark("worm/node sealed for long")
		s.warn(fmt.Sprintf("partition %d has been sealed for %v, and no next epoch has begun: beginning one with the same servers", p.number, wait))
		s.later = append(s.later, func() { s.serial.Do(func() { b.space.Revive(p.number) }) })
	}
}
