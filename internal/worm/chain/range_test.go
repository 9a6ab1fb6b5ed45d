// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// crowd is a group of clients that work on ranges of the same few registers, over a
// network that loses, duplicates and reorders messages; servers answer as much of a range
// as they like. After each event it checks C0, C1 and Agreement, and it compares the
// results of machines with the registers of the servers.
type crowd struct {
	t        *testing.T
	rng      *rand.Rand
	servers  []*Replica
	clients  []*worker
	messages []parcel
	decided  map[uint32]string
	round    uint64
	trimmed  bool
	healed   bool
	seen     map[string]int
}

type worker struct {
	machine wor.Machine
	kind    wor.Kind
	at      wor.Range
	value   string
	blank   []bool // which registers of the range were undecided at the start
}

type parcel struct {
	to     int
	q      wor.Request
	r      *wor.Reply
	client *worker
	m      wor.Machine
	step   uint32
}

const crowdRegisters = 12

func (w *crowd) look(s int) []wor.Run {
	var r wor.Reply
	var out []wor.Run
	w.servers[s].Handle(&wor.Request{Kind: wor.KindRead, Range: wor.Range{Segment: 7, Hi: crowdRegisters}}, &r, nil)
	for _, run := range r.Runs {
		for range run.Count {
			out = append(out, run)
		}
	}
	return out
}

func (w *crowd) check() {
	tail := w.look(len(w.servers) - 1)
	for i, run := range tail {
		if run.Written {
			if v, is := w.decided[uint32(i)]; is && v != string(run.Value) {
				w.t.Fatalf("register %d was %q and is %q", i, v, run.Value)
			}
			w.decided[uint32(i)] = string(run.Value)
		}
	}
	for s := len(w.servers) - 2; s >= 0; s-- {
		have := w.look(s)
		for i, behind := range w.look(s + 1) {
			if have[i].Status != wor.StatusTrimmed && behind.Written && (!have[i].Written || string(have[i].Value) != string(behind.Value)) {
				w.t.Fatalf("C0: server %d has %q in register %d, the one before %q", s+1, behind.Value, i, have[i].Value)
			}
		}
	}
}

func (w *crowd) begin(c *worker) {
	lo := uint32(w.rng.IntN(crowdRegisters))
	c.at = wor.Range{Segment: 7, Lo: lo, Hi: lo + 1 + uint32(w.rng.IntN(int(crowdRegisters-lo)))}
	w.round++
	b := wor.Ballot{Round: 1 + uint64(w.rng.IntN(int(w.round))), Nonce: w.round}
	c.value = fmt.Sprintf("v%d", w.round)
	c.blank = nil
	for i := c.at.Lo; i < c.at.Hi; i++ {
		_, is := w.decided[i]
		c.blank = append(c.blank, !is)
	}
	n := len(w.servers)
	switch k := w.rng.IntN(30); {
	case k == 0:
		c.kind, c.machine, w.trimmed = wor.KindTrim, Client{}.Trim(n, 7), true
	case k < 8:
		c.kind, c.machine = wor.KindCapture, Client{}.Capture(n, c.at, b)
	case k < 18:
		if w.rng.IntN(3) == 0 {
			b = wor.Ballot{}
		}
		c.kind, c.machine = wor.KindWrite, Client{}.Write(n, c.at, b, []byte(c.value))
	default:
		c.kind, c.machine = wor.KindRead, Client{}.Read(n, c.at)
	}
	w.with(c, c.machine.Start)
}

func (w *crowd) with(c *worker, f func(*wor.Outbox)) {
	var out wor.Outbox
	m := c.machine
	f(&out)
	for i, q := range out.Requests {
		w.messages = append(w.messages, parcel{to: out.To[i], q: *q, client: c, m: m, step: m.Step()})
	}
	if m.Done() {
		c.machine = nil
		w.judge(c, m.Result())
	}
}

// judge compares a result with the registers that the servers have now.
func (w *crowd) judge(c *worker, runs []wor.Run) {
	if c.kind == wor.KindTrim {
		for s := range w.servers {
			if w.look(s)[0].Status != wor.StatusTrimmed {
				w.t.Fatalf("trimmed, but not server %d", s)
			}
		}
		w.seen["trim"]++
		return
	}
	i := c.at.Lo
	for _, run := range runs {
		for range run.Count {
			w.seen[fmt.Sprintf("%v %v %v", c.kind, run.Status, run.Written)]++
			v, is := w.decided[i]
			switch {
			case run.Status == wor.StatusTrimmed:
				if w.look(len(w.servers) - 1)[0].Status != wor.StatusTrimmed {
					w.t.Fatalf("register %d is said to be trimmed", i)
				}
			case c.kind == wor.KindCapture:
			case c.kind == wor.KindWrite && run.Status == wor.StatusOK:
				if v != c.value {
					w.t.Fatalf("write of %q to register %d is said to be done; decided is %q", c.value, i, v)
				}
			case run.Written:
				if !is || v != string(run.Value) {
					w.t.Fatalf("%v: register %d is said to be %q; decided is %q", c.kind, i, run.Value, v)
				}
			case c.kind == wor.KindRead && (run.Status != wor.StatusOK || !c.blank[i-c.at.Lo]):
				w.t.Fatalf("register %d is read as unwritten (%v), and was decided before", i, run.Status)
			}
			i++
		}
	}
	if i != c.at.Hi {
		w.t.Fatalf("%v of %v: the result ends at %d", c.kind, c.at, i)
	}
}

func (w *crowd) event() {
	if c := w.clients[w.rng.IntN(len(w.clients))]; c.machine == nil && !w.healed {
		w.begin(c)
		return
	} else if c.machine != nil && (len(w.messages) == 0 || w.rng.IntN(10) == 0) {
		w.with(c, c.machine.Expire)
		return
	}
	if len(w.messages) == 0 {
		return
	}
	i := w.rng.IntN(len(w.messages))
	p := w.messages[i]
	if w.rng.IntN(4) > 0 {
		w.messages = slices.Delete(w.messages, i, i+1)
	}
	switch {
	case w.rng.IntN(8) == 0:
	case p.r != nil:
		own := *p.r
		if p.client.machine == p.m {
			w.with(p.client, func(out *wor.Outbox) { p.m.Deliver(p.to, p.step, &own, out) })
		}
	default:
		var log wor.Log
		if n := p.q.Range.Len(); n > 1 && w.rng.IntN(2) == 0 {
			p.q.Range.Hi = p.q.Range.Lo + 1 + uint32(w.rng.IntN(n))
		}
		p.r = &wor.Reply{}
		w.servers[p.to].Handle(&p.q, p.r, &log)
		if w.messages = append(w.messages, p); len(w.messages) > 40 {
			w.messages = w.messages[1:]
		}
	}
}

func TestRangesInACrowd(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(500) {
		w := &crowd{t: t, rng: rand.New(rand.NewPCG(seed, 3)), decided: map[uint32]string{}, seen: seen}
		for i := range 1 + seed%4 {
			w.servers = append(w.servers, NewReplica(i == 0))
		}
		for range 3 {
			w.clients = append(w.clients, &worker{})
		}
		for range 150 {
			w.event()
			w.check()
		}
		w.healed = true
		for i := 0; slices.ContainsFunc(w.clients, func(c *worker) bool { return c.machine != nil }); i++ {
			w.event()
			if w.check(); i > 5000 {
				t.Fatalf("seed %d: machines do not finish", seed)
			}
		}
	}
	for _, what := range []string{
		"trim", "capture ok false", "capture ok true", "capture outbid false", "capture trimmed false", "write ok false",
		"write outbid false", "write outbid true", "write conflict true", "write trimmed false", "read ok false",
		"read ok true", "read trimmed false",
	} {
		if seen[what] < 20 {
			t.Errorf("%s: %d times", what, seen[what])
		}
	}
}

// plain is a Replica without any structure.
type plain struct {
	trimmed  bool
	promised map[uint32]wor.Ballot
	values   map[uint32]cell
}

func (p *plain) handle(head bool, q *wor.Request) []wor.Run {
	var r wor.Reply
	if q.Kind == wor.KindTrim {
		p.trimmed = true
		return []wor.Run{{Count: 1}}
	}
	for i := q.Range.Lo; i < q.Range.Hi; i++ {
		c, is := p.values[i]
		run := wor.Run{Count: 1, Promised: p.promised[i]}
		if is {
			run.Written, run.Accepted, run.Value = true, c.accepted, c.value
			if run.Promised.Less(c.accepted) {
				run.Promised = c.accepted
			}
		}
		below := q.Ballot.Less(p.promised[i])
		switch {
		case p.trimmed:
			run = wor.Run{Count: 1, Status: wor.StatusTrimmed}
		case q.Kind == wor.KindCapture && !is && below:
			run.Status = wor.StatusOutbid
		case q.Kind == wor.KindCapture && !is:
			run.Promised = q.Ballot
			p.promised[i] = q.Ballot
		case q.Kind == wor.KindWrite && is && string(c.value) == string(q.Value):
			run = wor.Run{Count: 1, Promised: q.Ballot}
		case q.Kind == wor.KindWrite && is:
			run.Status = wor.StatusConflict
			if q.Ballot.Less(c.accepted) {
				run.Status = wor.StatusOutbid
			}
		case q.Kind == wor.KindWrite && head && below:
			run.Status = wor.StatusOutbid
		case q.Kind == wor.KindWrite:
			run.Promised = q.Ballot
			p.values[i] = cell{i, q.Ballot, q.Value}
		}
		r.Add(run)
	}
	return r.Runs
}

// written removes the promises of written registers from a reply: they mean nothing
// there, and a Replica may keep more of them than the plain one.
func written(runs []wor.Run) []wor.Run {
	var r wor.Reply
	for _, run := range runs {
		if run.Written {
			run.Promised = wor.Ballot{}
		}
		r.Add(run)
	}
	return r.Runs
}

// TestReplicasAreAsThePlainOne compares all answers with those of the plain Replica, also
// of a Replica that was saved and of one that was rebuilt from the log.
func TestReplicasAreAsThePlainOne(t *testing.T) {
	for seed := range uint64(120) {
		rng := rand.New(rand.NewPCG(seed, 4))
		head := seed%3 > 0
		a, p := NewReplica(head), &plain{promised: map[uint32]wor.Ballot{}, values: map[uint32]cell{}}
		wide := uint32(30)
		if seed%4 == 0 {
			wide = 3000 // several leaves
		}
		var records [][]byte
		for range 120 {
			lo := uint32(rng.IntN(int(wide)))
			q := &wor.Request{Range: wor.Range{Segment: 7, Lo: lo, Hi: lo + 1 + uint32(rng.IntN(int(wide-lo)))}}
			if rng.IntN(2) == 0 {
				q.Range.Hi = min(q.Range.Hi, lo+3)
			}
			q.Ballot = wor.Ballot{Round: uint64(1 + rng.IntN(6)), Nonce: 1}
			q.Value = []byte{byte('a' + rng.IntN(4))}
			switch k := rng.IntN(60); {
			case k == 0:
				q.Kind = wor.KindTrim
			case k < 20 && head:
				q.Kind = wor.KindCapture
			case k < 40:
				q.Kind = wor.KindWrite
			default:
				q.Kind = wor.KindRead
			}
			var r wor.Reply
			var log wor.Log
			a.Handle(q, &r, &log)
			for i := range log.Len() {
				records = append(records, slices.Clone(log.Record(i)))
			}
			if diff := cmp.Diff(written(p.handle(head, q)), written(r.Runs)); diff != "" {
				t.Fatalf("seed %d: %v %v: %s", seed, q.Kind, q.Range, diff)
			}
		}
		redone, saved := NewReplica(head), NewReplica(head)
		for _, record := range records {
			if err := redone.Redo(record); err != nil {
				t.Fatal(err)
			}
		}
		a.Save(func(record []byte) bool {
			if err := saved.Redo(record); err != nil {
				t.Fatal(err)
			}
			return true
		})
		want := states(a)
		if diff := cmp.Diff(want, states(redone)); diff != "" {
			t.Fatalf("seed %d: redone: %s", seed, diff)
		}
		if diff := cmp.Diff(want, states(saved)); diff != "" {
			t.Fatalf("seed %d: saved: %s", seed, diff)
		}
		if a.Bytes() != redone.Bytes() || a.Bytes() != saved.Bytes() {
			t.Fatalf("seed %d: %d bytes, redone %d, saved %d", seed, a.Bytes(), redone.Bytes(), saved.Bytes())
		}
		values := slices.DeleteFunc(slices.Clone(want), func(s wor.State) bool { return !s.Written && !s.Trimmed })
		var only []wor.State
		a.Values(wor.Addr{}, func(s wor.State) bool { only = append(only, s); return true })
		if !slices.EqualFunc(values, only, func(a, b wor.State) bool { return cmp.Equal(a, b) }) {
			t.Fatalf("seed %d: %d values, want %d", seed, len(only), len(values))
		}
		for i, s := range want {
			var rest []wor.State
			a.States(s.Addr, func(s wor.State) bool { rest = append(rest, s); return len(rest) < 3 })
			if diff := cmp.Diff(want[i:min(i+3, len(want))], rest); diff != "" {
				t.Fatalf("seed %d: from %v: %s", seed, s.Addr, diff)
			}
		}
	}
}

func states(a *Replica) (out []wor.State) {
	a.States(wor.Addr{}, func(s wor.State) bool { out = append(out, s); return true })
	return out
}

func TestARepliesLengthIsBounded(t *testing.T) {
	a := NewReplica(true)
	var log wor.Log
	big := make([]byte, wor.ValueMax)
	for i := range uint32(6) {
		big = slices.Clone(big)
		big[0] = byte(i)
		a.Handle(&wor.Request{Kind: wor.KindWrite, Range: wor.One(wor.Addr{Segment: 1, Offset: 1 + i}), Value: big}, &wor.Reply{}, &log)
	}
	all := wor.Range{Segment: 1, Hi: 9}
	b := wor.Ballot{Round: 1, Nonce: 1}
	for _, q := range []*wor.Request{
		{Kind: wor.KindRead, Range: all}, {Kind: wor.KindCapture, Range: all, Ballot: b},
		{Kind: wor.KindWrite, Range: all, Ballot: b, Value: []byte("x")},
	} {
		var r wor.Reply
		a.Handle(q, &r, &log)
		if r.Covered() != 5 {
			t.Errorf("%v: %d registers are covered, want 5", q.Kind, r.Covered())
		}
	}
	if n := len(states(a)); n != 7 {
		t.Errorf("%d registers, want 7: what a reply does not cover was done", n)
	}
	m := Client{}.Read(1, all)
	var out wor.Outbox
	rounds := 0
	for m.Start(&out); !m.Done(); rounds++ {
		q, step := out.Requests[0], m.Step()
		out.Reset()
		var r wor.Reply
		a.Handle(q, &r, &log)
		m.Deliver(0, step, &r, &out)
	}
	if rounds != 2 || len(m.Result()) != 8 {
		t.Errorf("%d rounds, %d runs; want 2 and 8", rounds, len(m.Result()))
	}
}

func FuzzRedo(f *testing.F) {
	b := wor.Ballot{Round: 1, Nonce: 2}
	f.Add(appendTrim(nil, 7))
	f.Add(appendPromise(nil, 7, span{1, 5, b}))
	f.Add(appendAccept(nil, 7, span{1, 5, b}, []byte("value")))
	f.Fuzz(func(t *testing.T, record []byte) {
		a, again := NewReplica(true), NewReplica(true)
		if a.Redo(record) != nil {
			return
		}
		a.Save(func(record []byte) bool {
			if err := again.Redo(record); err != nil {
				t.Fatal(err)
			}
			return true
		})
		if a.Bytes() != again.Bytes() {
			t.Fatalf("%d bytes, then %d", a.Bytes(), again.Bytes())
		}
	})
}
