// SPDX-License-Identifier: Apache-2.0

package group

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/worm/chain"
	"github.com/ashlar-dev/ashlar/internal/worm/fast"
	"github.com/ashlar-dev/ashlar/internal/worm/paxos"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// actor asks servers, and repeats its requests.
type actor struct {
	w     *hostile
	name  string
	known wor.Config // the highest configuration that it knows
	busy  bool
	life  int
	round uint64
	open  []*question
	// The running machine, its configuration, the function to call with its result, and
	// the function to call if the configuration is over.
	machine wor.Machine
	config  wor.Config
	then    func([]wor.Run)
	moved   func()
}

type question struct {
	to     wor.ServerID
	q      *wor.Request
	answer func(*wor.Reply) bool // false: ask again
}

// ask asks a server until answer returns true.
func (a *actor) ask(to wor.ServerID, q *wor.Request, answer func(*wor.Reply) bool) {
	x := &question{to, q, answer}
	a.open = append(a.open, x)
	a.post(x)
}

func (a *actor) post(x *question) {
	a.w.messages = append(a.w.messages, message{to: x.to, request: *x.q, answer: func(r *wor.Reply) {
		a.hear(x.to, r)
		if i := slices.Index(a.open, x); i >= 0 && x.answer(r) {
			if i = slices.Index(a.open, x); i >= 0 {
				a.open = slices.Delete(a.open, i, i+1)
			}
		}
	}})
}

// hear learns the configurations in a reply, and sends the known one to a server that does
// not know the configuration of the request.
func (a *actor) hear(from wor.ServerID, r *wor.Reply) {
	var c wor.Config
	if r.Status == wor.StatusAhead {
		value, _ := a.known.MarshalBinary()
		a.w.messages = append(a.w.messages, message{
			to:      from,
			request: wor.Request{Kind: wor.KindActivate, Epoch: a.known.Epoch, Value: value}, answer: func(*wor.Reply) {},
		})
	}
	if r.Status != wor.StatusLimit && c.UnmarshalBinary(r.Value) == nil && c.Epoch > a.known.Epoch {
		a.known = c
	}
}

func clientOf(p wor.Protocol) wor.Client {
	switch p {
	case wor.Chain:
		return chain.Client{}
	case wor.Fast:
		return fast.Client{}
	}
	return paxos.Client{}
}

// run runs a machine in the known configuration.
func (a *actor) run(c wor.Config, m wor.Machine, then func([]wor.Run), moved func()) {
	a.machine, a.config, a.then, a.moved = m, c, then, moved
	a.with(m.Start)
}

func (a *actor) with(f func(*wor.Outbox)) {
	var out wor.Outbox
	m, c := a.machine, a.config
	f(&out)
	step := m.Step()
	for i, to := range out.To {
		q := *out.Requests[i]
		q.Epoch = c.Epoch
		a.w.messages = append(a.w.messages, message{to: c.Members[to].ID, request: q, answer: func(r *wor.Reply) {
			a.hear(c.Members[to].ID, r)
			if a.machine == m {
				a.with(func(out *wor.Outbox) { m.Deliver(to, step, r, out) })
			}
		}})
	}
	switch {
	case a.machine != m:
	case m.Done():
		a.machine = nil
		a.then(m.Result())
	case m.Moved() != wor.StatusOK && a.known.Epoch > c.Epoch:
		a.machine = nil
		a.w.seen["moved while busy"]++
		a.moved()
	}
}

// expire repeats the requests; a client that makes no progress in its configuration asks
// every server for the next one.
func (a *actor) expire() {
	switch {
	case a.machine == nil:
	case a.known.Epoch > a.config.Epoch:
		a.machine = nil
		a.moved()
	case a.machine.Moved() != wor.StatusOK || a.w.chance(20):
		for _, s := range a.w.servers {
			a.w.messages = append(a.w.messages, message{to: s.id, request: wor.Request{Kind: wor.KindStatus}, answer: func(r *wor.Reply) { a.hear(s.id, r) }})
		}
	default:
		a.with(a.machine.Expire)
	}
	for _, x := range slices.Clone(a.open) {
		a.post(x)
	}
}

// die gives up what is under way and comes back as another.
func (a *actor) die() {
	if a.busy {
		a.w.log("%s dies", a.name)
	}
	a.machine, a.open, a.busy = nil, nil, false
	a.life++
}

func (a *actor) ballot(id int) wor.Ballot {
	a.round++
	return wor.Ballot{Round: a.round, Nonce: uint64(a.life*16 + id + 1)}
}

func (a *actor) saw(run *wor.Run) { a.round = max(a.round, run.Promised.Round) }

// client does one operation after another.
type client struct {
	actor
	id int
	o  *op
	p  wor.Protocol
	r  wor.Range
}

func (c *client) begin() {
	w := c.w
	c.p = w.protocols[w.rng.IntN(len(w.protocols))]
	seg := segmentOf(c.p)
	c.r = wor.One(wor.Addr{Segment: seg, Offset: uint32(w.rng.IntN(perSegment))})
	c.busy = true
	kind, value := opWrite, ""
	var again func()
	switch {
	case w.trim && w.chance(4):
		kind, again = opTrim, c.trim
		w.trimmed[seg] = true
	case w.chance(45):
		kind, again = opRead, c.read
	case c.p == wor.Paxos && w.chance(20) && int(c.r.Lo)%hostileClients == c.id && c.life == 0:
		// Without a capture, the same client must always write the same value.
		value, again = fmt.Sprintf("u%d", c.r.Lo), c.unsafe
	case c.p != wor.Paxos && w.chance(50):
		w.values++
		value, again = fmt.Sprintf("v%d", w.values), c.unsafe
	default:
		w.values++
		value, again = fmt.Sprintf("v%d", w.values), func() { c.propose(trials) }
	}
	c.o = w.history.begin(w.now, c.p, wor.Addr{Segment: seg, Offset: c.r.Lo}, kind, value)
	again()
}

func (c *client) end(out outcome, got []byte) {
	c.o.outcome, c.o.got, c.o.end = out, string(got), c.w.now
	switch out {
	case ok, written:
		if c.o.kind != opTrim {
			c.w.ghost.told(c.o.addr, got)
		}
	case trimmed:
		if !c.w.trimmed[c.o.addr.Segment] {
			c.w.fail("%s: %v is said to be trimmed", c.name, c.o.addr)
		}
	}
	c.busy = false
}

func (c *client) trim() {
	k := c.known
	c.run(k, clientOf(c.p).Trim(len(k.Members), c.r.Segment), func([]wor.Run) { c.end(ok, nil) }, c.trim)
}

func (c *client) read() {
	k := c.known
	c.run(k, clientOf(c.p).Read(len(k.Members), c.r), func(rs []wor.Run) {
		run := &rs[0]
		c.saw(run)
		switch {
		case run.Status == wor.StatusTrimmed:
			c.end(trimmed, nil)
		case run.Status == wor.StatusOutbid:
			c.propose(trials)
		case run.Status != wor.StatusOK:
			c.w.fail("%s: a read says %v", c.name, run.Status)
		case run.Written:
			c.end(ok, run.Value)
		default:
			c.end(unwritten, nil)
		}
	}, c.read)
}

// unsafe writes at ballot 0.
func (c *client) unsafe() {
	k := c.known
	c.run(k, clientOf(c.p).Write(len(k.Members), c.r, wor.Ballot{}, []byte(c.o.value)), func(rs []wor.Run) {
		if !c.wrote(&rs[0], []byte(c.o.value)) {
			c.propose(trials)
		}
	}, c.unsafe)
}

// wrote handles the result of a write.
func (c *client) wrote(run *wor.Run, value []byte) bool {
	c.saw(run)
	switch {
	case run.Status == wor.StatusOK && (c.o.kind == opRead || c.o.value == string(value)):
		c.end(ok, value)
	case run.Status == wor.StatusOK:
		c.end(written, value)
	case run.Status == wor.StatusTrimmed:
		c.end(trimmed, nil)
	case run.Written && c.p == wor.Chain:
		c.end(written, run.Value)
	default:
		return false
	}
	return true
}

// propose captures and writes. A read that proposes has no value of its own.
func (c *client) propose(left int) {
	if left == 0 {
		c.busy = false // unknown
		return
	}
	k, b := c.known, c.ballot(c.id)
	again := func() { c.propose(left) }
	c.run(k, clientOf(c.p).Capture(len(k.Members), c.r, b), func(rs []wor.Run) {
		run, value := &rs[0], []byte(c.o.value)
		c.saw(run)
		switch {
		case run.Status == wor.StatusTrimmed:
			c.end(trimmed, nil)
			return
		case run.Status != wor.StatusOK:
			c.propose(left - 1)
			return
		case run.Written:
			value = run.Value
			c.w.seen["adopted"]++
		case c.o.kind == opRead:
			c.end(unwritten, nil)
			return
		}
		c.run(k, clientOf(c.p).Write(len(k.Members), c.r, b, value), func(rs []wor.Run) {
			if !c.wrote(&rs[0], value) {
				c.propose(left - 1)
			}
		}, again)
	}, again)
}

// chief changes the members.
type chief struct {
	actor
	id     int
	tag    uint64
	old    wor.Config
	next   wor.Config
	sealed []wor.ServerID
	enough int // the number of members that is enough
	merger *Merger
	pieces [][]byte
	staged int
	wrote  bool
}

func (c *chief) begin() {
	w := c.w
	w.tags++
	*c = chief{actor: actor{w: w, name: c.name, known: c.known, life: c.life, round: c.round, busy: true}, id: c.id, tag: w.tags, old: c.known}
	c.next = wor.Config{Epoch: c.old.Epoch + 1, Tag: c.tag}
	for _, i := range w.rng.Perm(len(w.servers))[:w.members] {
		c.next.Members = append(c.next.Members, wor.Member{ID: w.servers[i].id})
	}
	c.enough = Seals(len(c.old.Members))
	if w.chance(30) {
		c.enough = w.rng.IntN(len(c.old.Members)-c.enough+1) + c.enough
	}
	for _, m := range c.old.Members {
		c.ask(m.ID, &wor.Request{Kind: wor.KindSeal, Epoch: c.old.Epoch}, func(r *wor.Reply) bool {
			if r.Status == wor.StatusOK && c.merger == nil && !slices.Contains(c.sealed, m.ID) {
				c.sealed = append(c.sealed, m.ID)
				c.gather()
			}
			return r.Status == wor.StatusOK
		})
	}
}

// expire: a client that finds that another client was first stops helping, in this
// incarnation.
func (c *chief) expire() {
	if c.busy && c.known.Epoch > c.old.Epoch && !c.wrote {
		c.w.seen["lost the succession"]++
		c.spread(c.known)
		return
	}
	c.actor.expire()
	if c.busy {
		c.enough = Seals(len(c.old.Members))
		c.gather()
	}
}

// gather begins to fetch when enough servers are sealed.
func (c *chief) gather() {
	if c.merger == nil && len(c.sealed) >= c.enough {
		c.merger = NewMerger(len(c.old.Members), len(c.sealed), nil)
		c.fetch()
	}
}

func (c *chief) fetch() {
	for i, id := range c.sealed {
		cursor, wants := c.merger.Wants(i)
		if !wants {
			continue
		}
		c.ask(id, &wor.Request{Kind: wor.KindFetch, Epoch: c.old.Epoch, Cursor: cursor}, func(r *wor.Reply) bool {
			if r.Status != wor.StatusOK {
				return false
			}
			if err := c.merger.Put(i, cursor, r); err != nil {
				c.w.fail("%s: %v", c.name, err)
			}
			c.merge()
			return true
		})
	}
}

func (c *chief) merge() {
	for {
		piece, last, ok, err := c.merger.Next()
		if err != nil {
			c.w.fail("%s: %v", c.name, err)
		}
		if !ok {
			break
		}
		c.pieces = append(c.pieces, piece)
		if last {
			if c.merger.Conflicts() > 0 {
				c.w.fail("%s: conflicts", c.name)
			}
			c.next.Digest = c.merger.Digest()
			c.w.ghost.adopts(c.tag, c.pieces)
			c.stage()
			return
		}
	}
	if len(c.open) == 0 {
		c.fetch()
	}
}

func (c *chief) stage() {
	enough := c.merger.Stages(len(c.next.Members))
	for _, m := range c.next.Members {
		c.put(m.ID, 0, func() {
			if c.staged++; c.staged == enough {
				c.decide()
			}
		})
	}
}

// put stages the pieces from number on.
func (c *chief) put(id wor.ServerID, number int, done func()) {
	q := &wor.Request{Kind: wor.KindStage, Epoch: c.next.Epoch, Tag: c.tag, Cursor: uint64(number), Value: c.pieces[number]}
	if number == len(c.pieces)-1 {
		q.Flags, q.Digest = wor.FlagLast, c.next.Digest
	}
	c.ask(id, q, func(r *wor.Reply) bool {
		if r.Status != wor.StatusOK || r.Cursor <= q.Cursor {
			return false
		}
		if len(c.w.room(id).live.stages) > 1 {
			c.w.seen["stages side by side"]++
		}
		if number == len(c.pieces)-1 {
			done()
		} else {
			c.put(id, number+1, done)
		}
		return true
	})
}

// decide writes the configuration into the register that the old members keep.
func (c *chief) decide() {
	a := wor.One(witness(c.old.Epoch))
	n, b := len(c.old.Members), c.ballot(hostileClients+c.id)
	lost := func() { c.w.seen["lost the succession"]++; c.spread(c.known) }
	c.run(c.old, paxos.Client{}.Capture(n, a, b), func(rs []wor.Run) {
		c.saw(&rs[0])
		value, _ := c.next.MarshalBinary()
		switch {
		case rs[0].Status != wor.StatusOK:
			c.decide()
			return
		case rs[0].Written:
			value = rs[0].Value
		}
		c.run(c.old, paxos.Client{}.Write(n, a, b, value), func(rs []wor.Run) {
			c.saw(&rs[0])
			if rs[0].Status != wor.StatusOK {
				c.decide()
				return
			}
			var d wor.Config
			if err := d.UnmarshalBinary(value); err != nil {
				c.w.fail("%s: %v", c.name, err)
			}
			c.w.ghost.decided(d)
			if d.Tag == c.tag {
				c.wrote = true
				c.w.seen["won the succession"]++
			} else {
				c.w.seen["lost the succession"]++
			}
			c.spread(d)
		}, lost)
	}, lost)
}

// spread sends a decided configuration to all servers. Running stages continue.
func (c *chief) spread(d wor.Config) {
	c.machine = nil
	if d.Tag != c.tag {
		c.open = nil
	}
	if d.Epoch > c.known.Epoch {
		c.known = d
	}
	value, _ := d.MarshalBinary()
	left := 0
	tell := func(id wor.ServerID, matters bool) {
		if matters {
			left++
		}
		told := false
		c.ask(id, &wor.Request{Kind: wor.KindActivate, Epoch: d.Epoch, Value: value}, func(r *wor.Reply) bool {
			if r.Status == wor.StatusConflict {
				c.w.fail("%s: two configurations", c.name)
			}
			over := r.Status == wor.StatusOK || r.Status == wor.StatusStale || r.Status == wor.StatusForeign || d.Tag != c.tag
			if over && matters && !told {
				told = true
				if left--; left == 0 {
					c.busy, c.open = false, nil
				}
			}
			return over
		})
	}
	for _, m := range c.old.Members {
		if d.Index(m.ID) < 0 {
			tell(m.ID, false)
		}
	}
	for _, m := range d.Members {
		tell(m.ID, true)
	}
	c.wrote = true
}
