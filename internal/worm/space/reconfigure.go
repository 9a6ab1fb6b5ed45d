// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/group"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Reconfiguration of a partition from epoch e, with members M, to e+1, with N:
//
//	refresh   Learn the newest configuration: e is its epoch. Ask N whether it
//	          is there: nothing is sealed as long as too few of N are.
//	seal      A majority of M promises to answer nothing of epoch e any more.
//	stage     Their states are fetched piece by piece and merged; the pieces go
//	          to N under a tag that this reconfiguration has drawn. A majority
//	          of N must have them all; all of N, if there are chains.
//	decide    The configuration, with the tag and the digest of what was staged,
//	          is proposed to the register of epoch e+1. There is one winner (rule
//	          i); the loser's stage will never count.
//	activate  N is notified, and M. Clients that meet a server that missed the
//	          notice repeat it (nudge).
//
// Until the decision any client may begin anew with another tag, and after it
// any client may activate: nothing depends on the client that began. A member
// of N that could not be staged stays mute until the next reconfiguration,
// which may be to the same members.
//
// Any sealed server of a chain shows what was decided, because it is on all of
// them; a majority is sealed nevertheless, because each partition is also the
// home of segments, whose registers use Paxos.

// Phase is the progress of a reconfiguration.
type Phase uint8

// The phases.
const (
	PhaseRefresh Phase = iota
	PhaseSeal
	PhaseStage
	PhaseDecide
	PhaseActivate
	PhaseDone
)

var phaseNames = [...]string{"refresh", "seal", "stage", "decide", "activate", "done"}

func (p Phase) String() string { return phaseNames[p] }

// Progress reports the progress of a reconfiguration to an observer.
type Progress struct {
	Partition wor.Partition
	Epoch     wor.Epoch // the epoch that is to end
	Phase     Phase
	// Sealed counts servers of the old members; Pieces and Bytes what was
	// staged; Staged and Active servers of the new members. Attempt counts from
	// 1.
	Sealed, Pieces, Staged, Active, Attempt int
	Bytes                                   int64
}

func (p Progress) String() string {
	return fmt.Sprintf("partition %d, epoch %d: %v, sealed %d, staged %d with %d bytes, active %d",
		p.Partition, p.Epoch, p.Phase, p.Sealed, p.Staged, p.Bytes, p.Active)
}

// Reconfigure makes members store a partition from the next epoch on. It calls
// done with the configuration of that epoch: with nil if it is this one, with
// ErrWritten if another client has decided another. An ErrUnknown may still
// take effect. Running operations continue in the new epoch; tokens of the old
// one become invalid. Progress may be nil.
func (s *Space) Reconfigure(p wor.Partition, members []wor.Member, within time.Duration, progress func(Progress), done func(*wor.Config, error)) {
	s.reconfigure(p, members, within, change{}, progress, done)
}

// UnsafeRecover is Reconfigure for a partition that has permanently lost a
// majority of its servers: it continues with the state of the others. Decided
// values may be missing, or may change; Config.Tainted records that from then
// on. It refuses (ErrRefused) as long as a majority answers.
//
// For partition 0 there is no register left that could decide. The
// configuration passed to done is staged, and only this Space uses it: the
// servers begin it when operators have put it into the descriptions that they
// are started with (wor.Genesis.Known). Nothing decides between two clients
// that do this concurrently: one operator must do it, once.
func (s *Space) UnsafeRecover(p wor.Partition, members []wor.Member, within time.Duration, progress func(Progress), done func(*wor.Config, error)) {
	s.reconfigure(p, members, within, change{unsafe: true}, progress, done)
}

// ErrRefused: the operator's command was not begun, for the stated reason.
var ErrRefused = errors.New("refused")

func (s *Space) reconfigure(p wor.Partition, members []wor.Member, within time.Duration, how change, progress func(Progress), done func(*wor.Config, error)) {
	next := &wor.Config{Partition: p, Members: slices.Clone(members)}
	err := s.checkPartition(p)
	if err == nil {
		err = next.Check()
	}
	if err == nil {
		err = s.admit(0)
	}
	if err != nil {
		s.later(func() { done(nil, err) })
		return
	}
	c := &change{next: next, resolved: map[wor.Segment]wor.Protocol{}, unsafe: how.unsafe, only: how.only, watch: progress, done: done}
	c.begin(s, 0, within, c)
	c.at.Partition = p
	c.refresh()
}

// change is a running reconfiguration.
type change struct {
	op
	at     Progress
	old    *wor.Config
	next   *wor.Config
	unsafe bool
	// only, if not nil, is the configuration that this one must follow: the
	// caller chose the members without knowing of a later one, which may have
	// other members.
	only  *wor.Config
	watch func(Progress)
	done  func(*wor.Config, error)

	r     reader
	pause alarm
	wait  env.Backoff

	seals    []*inquiry
	sealed   []int // members of old, in the order of their answers
	bad      uint16
	sources  []int
	fetches  []*inquiry
	merger   *group.Merger
	resolved map[wor.Segment]wor.Protocol // of segments written by two protocols
	skim     skim                         // not nil: fetched states are only read, not staged
	piece    []byte
	last     bool
	pieces   uint64
	targets  []stageTarget
	whole    bool // no target may be left behind
	deciding proposer
	begun    uint16
}

// stageTarget is a future member.
type stageTarget struct {
	inquiry *inquiry
	has     uint64 // pieces
	lost    bool
	since   env.Instant
}

// How often a server is asked before a reconfiguration does without it, and how
// long at least it waits for the last servers to take a piece.
const (
	fetchTries    = 8
	activateTries = 12
	laggardWait   = 3 * time.Second
	recoverWait   = 2 * time.Second
)

func (c *change) phase(p Phase) {
	c.at.Phase = p
	c.tell()
}

func (c *change) tell() {
	if c.watch != nil {
		c.watch(c.at)
	}
}

// refresh reads the next configuration's register until it is unwritten.
func (c *change) refresh() {
	s := c.s
	c.phase(PhaseRefresh)
	c.old = s.views[c.next.Partition].cfg
	c.at.Epoch = c.old.Epoch
	if c.only != nil && c.only.Epoch != c.old.Epoch {
		s.later(func() {
			if c.live {
				c.settle(c.old)
			}
		})
		return
	}
	if c.unsafe {
		c.look()
		return
	}
	c.r.run(s, c, s.configPlace(c.old.Partition), configAddr(c.old.Partition, c.old.Epoch+1), 0)
}

// read is that of the refresh.
func (c *change) read(_ *reader, value []byte, err error) {
	s := c.s
	cfg := new(wor.Config)
	switch {
	case errors.Is(err, wor.ErrUnwritten):
		c.muster()
	case err == nil && cfg.UnmarshalBinary(value) == nil && cfg.Partition == c.old.Partition && cfg.Epoch == c.old.Epoch+1:
		s.adopt(cfg)
		c.refresh()
	case errors.Is(err, errMoved):
		s.learn(c.old.Partition) // the witnesses of partition 0 know the next one
		c.retry()
	case err == nil:
		c.fail(fmt.Errorf("configuration of partition %d, epoch %d: %w", c.old.Partition, c.old.Epoch+1, wor.ErrEncoding))
	default:
		c.retry()
	}
}

// retry refreshes a little later.
func (c *change) retry() {
	if c.wait.Min == 0 {
		c.wait = env.Backoff{Min: learnMin, Max: learnMax}
	}
	c.s.agenda.set(&c.pause, c.s.clock.Now().Add(c.wait.Next(c.s.random)), c)
}

// ring is for pause: the alarm of op has its own ring.
func (c *change) ring(*alarm) {
	switch c.at.Phase {
	case PhaseRefresh:
		c.refresh()
	case PhaseSeal:
		c.recovered()
	case PhaseStage:
		c.laggards()
	}
}

// superseded checks whether another client has decided the epoch: then this
// change has lost.
func (c *change) superseded() {
	s, v := c.s, c.s.views[c.old.Partition]
	if v.cfg.Epoch > c.old.Epoch {
		c.settle(v.cfg)
		return
	}
	s.learn(c.old.Partition)
	s.agenda.set(&c.pause, s.clock.Now().Add(learnMin), ringFunc(func() {
		if c.live {
			c.superseded()
		}
	}))
}

type ringFunc func()

func (f ringFunc) ring(*alarm) { f() }

// settle ends the change with the configuration that follows.
func (c *change) settle(cfg *wor.Config) {
	switch {
	case cfg.Epoch == c.old.Epoch+1 && cfg.Tag == c.next.Tag:
		c.activate(cfg)
	case cfg.Epoch > c.old.Epoch+1 && c.deciding.sent:
		c.fail(wor.ErrSealed) // the epoch that may be this one's is over
	default:
		value, _ := cfg.MarshalBinary() // it was decoded from there
		c.answer(cfg, &wor.WrittenError{Addr: configAddr(cfg.Partition, cfg.Epoch), Value: value})
	}
}

// look finds out, before an unsafe recovery, which servers answer.
func (c *change) look() {
	s := c.s
	var there uint16
	for i, m := range c.old.Members {
		q := wor.Request{Kind: wor.KindStatus, Partition: c.old.Partition, Epoch: c.old.Epoch}
		c.seals = append(c.seals, s.inquire(m, q, 0, func(r *wor.Reply) bool {
			if r.Epoch > c.old.Epoch {
				s.hint(c.old.Partition, r.Epoch)
				s.suggest(c.old.Partition, r.Value)
				s.learn(c.old.Partition)
			} else if r.Status == wor.StatusOK || r.Status == wor.StatusSealed {
				there |= 1 << i
			}
			return true
		}, nil))
	}
	s.agenda.set(&c.pause, s.clock.Now().Add(recoverWait), ringFunc(func() {
		n := len(c.old.Members)
		switch {
		case !c.live:
		case s.views[c.old.Partition].cfg.Epoch > c.old.Epoch:
			c.rest()
			c.refresh()
		case bits.OnesCount16(there) >= group.Seals(n):
			c.fail(fmt.Errorf("%w: %d of %d servers answer, which is enough for an ordinary change of members",
				ErrRefused, bits.OnesCount16(there), n))
		default:
			c.rest()
			c.seal()
		}
	}))
}

// musterTries is how often a future member is asked whether it is there.
const musterTries = 3

// muster checks that the future members are there, before anything is sealed
// that they are to continue. It refuses if there are too few.
func (c *change) muster() {
	s, n := c.s, len(c.next.Members)
	there, left, begun := 0, n, false
	var away []string
	for _, m := range c.next.Members {
		q := wor.Request{Kind: wor.KindStatus, Partition: c.old.Partition, Epoch: c.old.Epoch}
		answered := func() {
			left--
			switch {
			case begun || !c.live:
			case there >= wor.Majority(n):
				begun = true
				c.rest()
				c.seal()
			case there+left < wor.Majority(n):
				begun = true
				c.fail(fmt.Errorf("%w: %d of %d servers of the next configuration answer, %d are needed: %s",
					ErrRefused, there, n, wor.Majority(n), strings.Join(away, ", ")))
			}
		}
		c.seals = append(c.seals, s.inquire(m, q, musterTries, func(*wor.Reply) bool {
			there++
			answered()
			return true
		}, func() {
			away = append(away, fmt.Sprintf("%v (%s at %s) does not", m.ID, m.Name, m.Addr))
			answered()
		}))
	}
}

// seal seals all members that can be reached.
func (c *change) seal() {
	s := c.s
	c.phase(PhaseSeal)
	for i, m := range c.old.Members {
		q := wor.Request{Kind: wor.KindSeal, Partition: c.old.Partition, Epoch: c.old.Epoch}
		c.seals = append(c.seals, s.inquire(m, q, 0, func(r *wor.Reply) bool { return c.sealedBy(i, r) }, nil))
	}
	if c.unsafe {
		s.agenda.set(&c.pause, s.clock.Now().Add(recoverWait), c)
	}
}

func (c *change) sealedBy(i int, r *wor.Reply) (enough bool) {
	s := c.s
	switch r.Status {
	case wor.StatusOK:
	case wor.StatusStale, wor.StatusSealed:
		if r.Epoch > c.old.Epoch {
			s.hint(c.old.Partition, r.Epoch)
			s.suggest(c.old.Partition, r.Value)
			c.lost()
		}
		return false
	case wor.StatusAhead, wor.StatusMute:
		s.nudge(c.old, i)
		return false
	default:
		return false
	}
	c.sealed = append(c.sealed, i)
	c.at.Sealed = len(c.sealed)
	if c.at.Phase == PhaseSeal && !c.unsafe {
		c.restart()
	}
	return true
}

// lost runs when a server knows a later epoch.
func (c *change) lost() {
	c.rest()
	c.superseded()
}

// recovered continues with the servers that answered.
func (c *change) recovered() {
	if len(c.sealed) == 0 {
		c.s.agenda.set(&c.pause, c.s.clock.Now().Add(recoverWait), c)
		return
	}
	c.restart()
}

// decide proposes the configuration.
func (c *change) decide() {
	s := c.s
	s.agenda.drop(&c.pause)
	c.phase(PhaseDecide)
	c.next.Digest = c.merger.Digest()
	value, err := c.next.MarshalBinary()
	if err != nil {
		c.fail(err)
		return
	}
	if c.unsafe && c.next.Partition == 0 {
		cfg := *c.next // no server is left to decide
		s.adopt(&cfg)
		c.phase(PhaseDone)
		c.answer(&cfg, nil)
		return
	}
	at := place{}
	if c.old.Partition == 0 {
		at.fixed = c.old
	}
	c.deciding = proposer{}
	c.deciding.run(s, c, at, configAddr(c.next.Partition, c.next.Epoch), value, 0)
}

// proposed handles the decision.
func (c *change) proposed(_ *proposer, value []byte, err error) {
	cfg := new(wor.Config)
	switch {
	case errors.Is(err, errMoved):
		c.superseded() // the witnesses know the next one
	case err != nil:
		c.fail(err)
	default:
		if err := cfg.UnmarshalBinary(value); err != nil {
			c.fail(err)
			return
		}
		c.s.adopt(cfg)
		c.settle(cfg)
	}
}

// activate notifies the members, new and old. It is done when a majority of the
// new ones has begun; notices to the others continue.
func (c *change) activate(cfg *wor.Config) {
	s := c.s
	c.rest()
	s.adopt(cfg)
	c.phase(PhaseActivate)
	q := *activation(cfg)
	for i := range cfg.Members {
		c.tellMember(cfg, i, q)
	}
	for _, m := range c.old.Members {
		if cfg.Index(m.ID) < 0 {
			s.inquire(m, q, activateTries, func(r *wor.Reply) bool { return r.Status != wor.StatusBusy }, nil)
		}
	}
}

// tellMember notifies a new member; after the end only for a while.
func (c *change) tellMember(cfg *wor.Config, i int, q wor.Request) {
	heard := func(r *wor.Reply) bool { return c.begunBy(cfg, i, r) }
	c.s.inquire(cfg.Members[i], q, activateTries, heard, func() {
		if c.live {
			c.tellMember(cfg, i, q)
		}
	})
}

func (c *change) begunBy(cfg *wor.Config, i int, r *wor.Reply) bool {
	switch {
	case r.Status == wor.StatusOK, r.Epoch > cfg.Epoch:
	case r.Status == wor.StatusMute || r.Status == wor.StatusForeign:
		return true // it has no stage, and will not get it
	default:
		return false
	}
	c.begun |= 1 << i
	n := bits.OnesCount16(c.begun)
	c.at.Active = n
	if c.live && n >= wor.Majority(len(cfg.Members)) {
		c.phase(PhaseDone)
		c.answer(cfg, nil)
	}
	return true
}

// rest stops everything that is running.
func (c *change) rest() {
	c.r.stop()
	c.deciding.stop()
	for _, i := range c.seals {
		i.stop()
	}
	for _, i := range c.fetches {
		i.stop()
	}
	for i := range c.targets {
		c.targets[i].inquiry.stop()
	}
	c.s.agenda.drop(&c.pause)
	c.merger = nil
}

func (c *change) fail(err error) {
	a := configAddr(c.next.Partition, c.next.Epoch)
	c.answer(nil, unknown(a, c.deciding.sent || c.at.Phase == PhaseActivate, err))
}

func (c *change) answer(cfg *wor.Config, err error) {
	if c.end() {
		c.rest()
		c.done(cfg, err)
	}
}

// Revive ends the epoch of a sealed partition, with the same members, if no client does.
// It is for servers, whose Space has no waiting calls.
func (s *Space) Revive(p wor.Partition) { s.rescue(s.views[p]) }

// rescue completes a reconfiguration that another client began and did not finish: with
// the same members, unless it turns out to be finished.
func (s *Space) rescue(v *view) {
	if v.rescuing {
		return
	}
	v.rescuing = true
	within := 10 * max(s.o.Patience, time.Second)
	s.reconfigure(v.partition, v.cfg.Members, within, change{only: v.cfg}, nil, func(*wor.Config, error) { v.rescuing = false })
}
