// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// theLog is the log that clients append to.
const theLog log.ID = 7

// logs is clients of a log, and sequencers on the servers.
type logs struct {
	c          *cluster
	size       uint32
	place      []segmentPlan // of segment i; the list repeats
	sequencers map[*host]*sequencer
	members    []wor.Member
	clients    []*appender
	counter    uint64
	stop       bool
	pending    int

	appends []*appended
	tails   []*tailed
	seen    map[log.Position]log.EntryID // the entries that followers received
	trimmed log.Position
}

type sequencer struct {
	*agent
	s *log.Sequencer
}

// appended is the append of an id, from its first call.
type appended struct {
	id        log.EntryID
	call, ret env.Instant
	at        log.Position
	over      bool // it is answered
}

type tailed struct {
	call, ret env.Instant
	at        log.Position
}

const never = env.Instant(math.MaxInt64)

// appender is a node that appends and follows.
type appender struct {
	*agent
	x      *logs
	number int
	l      *log.Log
	busy   int
	mine   []*appended // not answered yet, over all lives
	got    map[log.EntryID]bool
	next   log.Position
}

func (x *logs) offer(h *host, l *sim.Life) {
	a, err := x.c.agent(l, 200+slices.Index(x.c.hosts, h), nil)
	if err != nil {
		x.c.w.Fail("sequencer", err)
		return
	}
	s, err := log.NewSequencer(log.SequencerOptions{
		Space: a.Space, Clock: l.Env.Clock, Random: l.Env.Random.Split("sequencer"), Serial: a.serial, Member: h.member, Size: x.size,
		Place: func(_ log.ID, index uint32) (wor.Partition, wor.Protocol) {
			p := x.place[int(index)%len(x.place)]
			return p.meta.Partition, p.meta.Protocol
		},
		Timeout: 300 * time.Millisecond,
	})
	if err != nil {
		x.c.w.Fail("sequencer", err)
		return
	}
	x.sequencers[h] = &sequencer{a, s}
	h.server.Register(wor.ServiceSequencer, a.serial, s.Handle)
}

func (x *logs) start(number int) {
	k := &appender{x: x, number: number}
	x.clients = append(x.clients, k)
	x.c.w.Node(fmt.Sprint("c", number), func(l *sim.Life) error {
		a, err := x.c.agent(l, number, nil)
		if err != nil {
			return err
		}
		k.agent = a
		x.pending -= k.busy
		k.busy, k.got, k.next = 0, map[log.EntryID]bool{}, 0
		k.l, err = log.Open(log.Options{
			Space: a.Space, Messenger: a.transport, Clock: l.Env.Clock, Random: l.Env.Random.Split("log"), Serial: a.serial,
			ID: theLog, Servers: x.members, Timeout: 300 * time.Millisecond, Silence: 150 * time.Millisecond,
			Holes: log.Holes{Wait: 30 * time.Millisecond, Poll: 200 * time.Millisecond},
		})
		if err != nil {
			return err
		}
		a.serial.Do(func() {
			k.l.Follow(log.FollowOptions{}, k.follows)
			for _, p := range k.mine {
				k.append(p)
			}
			k.work()
		})
		return nil
	})
}

// follows handles an entry that a follower received.
func (k *appender) follows(e log.Entry) {
	x := k.x
	if was, known := x.seen[e.Position]; known && was != e.ID {
		x.c.ghost.wrong("one log", "%v is %v for one and %v for another follower", e.Position, was, e.ID)
	}
	x.seen[e.Position] = e.ID
	if k.got[e.ID] || e.Position < k.next {
		x.c.ghost.wrong("each once, in order", "follower %d: %v at %v, after %v (again: %v)", k.number, e.ID, e.Position, k.next, k.got[e.ID])
	}
	k.got[e.ID], k.next = true, e.Position+1
	x.c.ghost.told("a follower", e.Position.Addr(theLog), x.c.ghost.value(e.Position.Addr(theLog)))
}

func (k *appender) work() {
	x := k.x
	k.after(30*time.Millisecond, func() {
		if x.stop {
			return
		}
		switch env.IntN(k.random, 8) {
		case 0, 1:
			k.tail()
		case 2:
			k.read()
		case 3:
			k.trim()
		default:
			for range 1 + env.IntN(k.random, 3) {
				x.counter++
				p := &appended{id: log.EntryID{Hi: 1, Lo: x.counter}, call: x.c.w.Now(), ret: never}
				x.appends, k.mine = append(x.appends, p), append(k.mine, p)
				k.append(p)
			}
		}
		k.work()
	})
}

func (k *appender) begin() {
	k.busy++
	k.x.pending++
}

func (k *appender) end() {
	k.busy--
	k.x.pending--
}

// append repeats an append until it is known to be there.
func (k *appender) append(p *appended) {
	x := k.x
	within := time.Duration(0)
	if k.chance(1, 4) && !x.stop {
		within = 1 + time.Duration(env.IntN(k.random, int(100*time.Millisecond)))
	}
	k.begin()
	k.l.Append(log.Entry{ID: p.id, Data: fmt.Appendf(nil, "entry %d", p.id.Lo)}, within, func(at log.Position, err error) {
		k.end()
		switch {
		case err == nil:
			p.at, p.ret, p.over = at, x.c.w.Now(), true
			k.mine = slices.DeleteFunc(k.mine, func(q *appended) bool { return q == p })
			x.c.ghost.told("appended", at.Addr(theLog), x.c.ghost.value(at.Addr(theLog)))
		case errors.Is(err, wor.ErrUnknown) || errors.Is(err, wor.ErrDeadline) || errors.Is(err, wor.ErrBusy):
			if errors.Is(err, wor.ErrUnknown) {
				x.c.w.Mark("append of unknown outcome")
			}
			k.append(p)
		default:
			x.c.ghost.wrong("append", "%v: %v", p.id, err)
		}
	})
}

func (k *appender) tail() {
	t := &tailed{call: k.x.c.w.Now()}
	k.begin()
	k.l.Tail(0, func(at log.Position, err error) {
		k.end()
		if err != nil {
			k.x.c.ghost.wrong("tail", "%v", err)
			return
		}
		t.at, t.ret = at, k.x.c.w.Now()
		k.x.tails = append(k.x.tails, t)
	})
}

// read reads a position whose content is known.
func (k *appender) read() {
	x := k.x
	if len(x.appends) == 0 {
		return
	}
	p := x.appends[env.IntN(k.random, len(x.appends))]
	if !p.over {
		return
	}
	k.begin()
	k.l.Read(p.at, 0, func(e log.Entry, err error) {
		k.end()
		switch {
		case errors.Is(err, wor.ErrTrimmed) && p.at < x.trimmed:
		case err != nil || e.ID != p.id || e.Kind != log.Data:
			x.c.ghost.wrong("acknowledged is there", "%v was appended at %v, where %v %v is: %v", p.id, p.at, e.Kind, e.ID, err)
		}
	})
}

// trim trims the beginning of the log, as far as all followers have read.
func (k *appender) trim() {
	x := k.x
	below := log.Position(math.MaxUint64)
	for _, c := range x.clients {
		below = min(below, c.next)
	}
	if !k.chance(1, 8) || below == 0 {
		return
	}
	x.trimmed = max(x.trimmed, below)
	k.begin()
	k.l.Trim(below, 0, func(err error) {
		k.end()
		if err != nil {
			x.c.ghost.wrong("trim", "%v", err)
		}
		x.c.w.Mark("log trimmed")
	})
}

// value returns the chosen value of a register, or "".
func (g *ghost) value(a wor.Addr) string {
	if c := g.chosen[a]; c != nil {
		return c.value
	}
	return ""
}

// check checks the whole history.
func (x *logs) check() error {
	at := map[log.Position]log.EntryID{}
	for _, p := range x.appends {
		if !p.over {
			return fmt.Errorf("%v has not ended", p.id)
		}
		if was, taken := at[p.at]; taken {
			return fmt.Errorf("%v and %v are both at %v", was, p.id, p.at)
		}
		at[p.at] = p.id
	}
	for _, p := range x.appends {
		for _, q := range x.appends {
			if p.ret < q.call && p.at >= q.at {
				return fmt.Errorf("%v was at %v before %v was appended, which is at %v", p.id, p.at, q.id, q.at)
			}
		}
		for _, t := range x.tails {
			if p.ret < t.call && t.at <= p.at {
				return fmt.Errorf("tail %v after %v was at %v (ended at %v, asked at %v)", t.at, p.id, p.at, p.ret, t.call)
			}
			if t.ret < p.call && t.at > p.at {
				return fmt.Errorf("tail %v before %v was appended, which is at %v", t.at, p.id, p.at)
			}
		}
	}
	return nil
}

// caught reports whether all followers have all entries.
func (x *logs) caught() bool {
	for _, k := range x.clients {
		for _, p := range x.appends {
			if p.at >= x.trimmed && !k.got[p.id] && !x.early(p) {
				return false
			}
		}
	}
	return true
}

// early reports whether an entry was delivered, to some client, before the trimmed part.
func (x *logs) early(p *appended) bool {
	for at, id := range x.seen {
		if id == p.id && at < x.trimmed {
			return true
		}
	}
	return false
}

func playLog(w *sim.World) error {
	d := draw{w.Random("plan")}
	c, err := newCluster(w, 5, 2)
	if err != nil {
		return err
	}
	x := &logs{c: c, size: 8 + uint32(d.n(40)), sequencers: map[*host]*sequencer{}, seen: map[log.Position]log.EntryID{}}
	for range 3 {
		x.place = append(x.place, segmentPlan{meta: wor.Meta{Partition: wor.Partition(d.n(2)), Protocol: wor.Protocol(d.n(3))}})
	}
	c.offer = x.offer
	for _, h := range c.hosts[:3] {
		x.members = append(x.members, h.member)
	}
	for i := range 2 + d.n(2) {
		x.start(i)
	}
	c.ghost.logs = true
	var ops []*operator
	if d.n(2) == 0 {
		ops = append(ops, c.operator(0, 1, 200*time.Millisecond+d.time(600*time.Millisecond)))
	}
	for range d.n(4) {
		h := c.hosts[d.n(3)]
		w.After(turmoil/5+d.time(turmoil), func() { x.takeOver(h) })
	}
	if d.n(4) == 0 {
		w.After(d.time(turmoil), c.blackout)
	}
	if err := w.Run(turmoil); err != nil {
		return err
	}
	x.stop = true
	if err := c.mend(ops); err != nil {
		return err
	}
	if err := c.await("all is appended", func() bool { return x.pending == 0 }); err != nil {
		return err
	}
	c.blackout()
	if err := c.await("followers have all", x.caught); err != nil {
		return err
	}
	if err := x.reread(); err != nil {
		return err
	}
	return x.check()
}

// takeOver makes another server the sequencer.
func (x *logs) takeOver(h *host) {
	s := x.sequencers[h]
	if s == nil || h.node.Life() == nil || s.l != h.node.Life() {
		return
	}
	if x.pending > 0 {
		x.c.w.Mark("sequencer deposed during appends")
	}
	s.serial.Do(func() { s.s.TakeOver(theLog) })
}

// reread reads all entries with a new client.
func (x *logs) reread() error {
	left := 0
	x.c.w.Node("reader", func(l *sim.Life) error {
		a, err := x.c.agent(l, 50, nil)
		if err != nil {
			return err
		}
		k := &appender{agent: a, x: x, number: 50}
		k.l, err = log.Open(log.Options{Space: a.Space, Messenger: a.transport, Clock: l.Env.Clock, Random: l.Env.Random.Split("log"),
			Serial: a.serial, ID: theLog, Servers: x.members})
		if err != nil {
			return err
		}
		a.serial.Do(func() {
			for _, p := range x.appends {
				left++
				k.l.Read(p.at, 0, func(e log.Entry, err error) {
					left--
					if !(errors.Is(err, wor.ErrTrimmed) && p.at < x.trimmed) && (err != nil || e.ID != p.id) {
						x.c.ghost.wrong("acknowledged is there", "%v was at %v, where %v is: %v", p.id, p.at, e.ID, err)
					}
				})
			}
		})
		return nil
	})
	return x.c.await("all is read", func() bool { return left == 0 })
}

// TestLog runs a log and its sequencers on servers that crash and restart.
func TestLog(t *testing.T) {
	suite.Suite{
		Getenv: os.Getenv, Package: "./internal/evidence/worm/simulation", Short: testing.Short(), Seeds: seeds(t, 300), Faults: faults(),
		Options: worldOptions(), Twice: 20,
		Require: []string{
			"append of unknown outcome", "log trimmed", "sequencer deposed during appends", "old token in flight", "members changed",
		},
	}.Run(t, playLog)
}
