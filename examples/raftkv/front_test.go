// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/tla/value"
	"github.com/ashlar-dev/ashlar/worm/resp"
)

// fronted is a front whose server the test plays.
type fronted struct {
	t       *testing.T
	f       *front
	in, out *queue.Queue
	ctx     context.Context
	mu      sync.Mutex
	clock   time.Time
}

func newFronted(t *testing.T, life uint64) *fronted {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	p := &fronted{t: t, in: queue.New(queue.Limits{}), out: queue.New(queue.Limits{}), ctx: ctx, clock: time.Now()}
	p.f = newFront(1, life, p.in, p.out)
	p.f.now = func() time.Time {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.clock
	}
	var all sync.WaitGroup
	all.Go(func() { p.f.run(ctx) })
	t.Cleanup(func() { cancel(); all.Wait() })
	return p
}

// later moves the clock on, so that what is not answered is repeated.
func (p *fronted) later() { p.pass(repeatAfter + 1) }

func (p *fronted) pass(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock = p.clock.Add(d)
}

// next is the next message to the server of that type. Repetitions before it are
// passed over.
func (p *fronted) next(kind string) value.Value {
	p.t.Helper()
	for {
		m, err := p.in.Receive(p.ctx)
		if err != nil {
			p.t.Fatal(err)
		}
		if m.Field("type").AsString() == kind {
			return m
		}
	}
}

func (p *fronted) say(m value.Value) {
	p.t.Helper()
	if err := p.out.Send(p.ctx, m); err != nil {
		p.t.Fatal(err)
	}
}

func (p *fronted) answer(command value.Value, found bool) {
	p.say(value.Record([]value.Field{{Name: "type", Val: value.String("answers")}, {Name: "term", Val: value.Int(0)},
		{Name: "answers", Val: value.Tuple(value.Record([]value.Field{{Name: "session", Val: command.Field("session")}, {Name: "id", Val: command.Field("id")}, {Name: "found", Val: value.Bool(found)}}))}}))
}

func (p *fronted) values(read value.Value, val string) {
	v := value.Record([]value.Field{{Name: "there", Val: value.Bool(true)}, {Name: "val", Val: value.String(val)}})
	p.say(value.Record([]value.Field{{Name: "type", Val: value.String("values")}, {Name: "term", Val: value.Int(0)}, {Name: "id", Val: read.Field("id")}, {Name: "values", Val: value.Tuple(v)}}))
}

// do runs one operation and returns where its result comes.
func (p *fronted) do(o resp.Op) <-chan resp.Result {
	out := make(chan resp.Result, 1)
	p.f.Do(&resp.Txn{Ops: []resp.Op{o}}, func(_ bool, r []resp.Result, err error) {
		if err != nil {
			p.t.Error(err)
			r = []resp.Result{{}}
		}
		out <- r[0]
	})
	return out
}

// TestFrontRepeats: a write that is not answered is sent again as the same write of
// the same session, and an answer to an earlier write of the session is none to a
// later one.
func TestFrontRepeats(t *testing.T) {
	p := newFronted(t, 7)
	done := p.do(resp.Op{Kind: resp.Delete, Key: "k"})
	first := p.next("ask").Field("commands").Index(1)
	p.later()
	again := p.next("ask").Field("commands").Index(1)
	if !value.Equal(first, again) {
		t.Fatalf("%s was repeated as %s", first, again)
	}
	if life := first.Field("id").Field("life").AsInt(); life != 7 {
		t.Errorf("a write of life 7 says life %d", life)
	}
	p.answer(first, true)
	if r := <-done; !r.Found {
		t.Errorf("the answer %+v", r)
	}
	second := p.do(resp.Op{Kind: resp.Delete, Key: "k"})
	command := p.next("ask").Field("commands").Index(1)
	for value.Equal(command, first) { // repeated before the answer came
		command = p.next("ask").Field("commands").Index(1)
	}
	p.answer(first, true) // late
	p.answer(command, false)
	if r := <-second; r.Found {
		t.Errorf("the answer to an earlier write was taken: %+v", r)
	}
}

// TestFrontReads: an answer to an earlier message of reads is none to a later one,
// because it may be older than the reads.
func TestFrontReads(t *testing.T) {
	p := newFronted(t, 1)
	done := p.do(resp.Op{Kind: resp.Get, Key: "k"})
	first := p.next("read")
	p.later()
	second := p.next("read")
	if value.Equal(first.Field("id"), second.Field("id")) {
		t.Fatal("a read that was repeated has the number of the first one")
	}
	p.values(first, "old")
	p.values(second, "new")
	if r := <-done; string(r.Value) != "new" {
		t.Errorf("read %q", r.Value)
	}
}

// TestFrontGivesUp: a client whose write or read nobody answers is told so, and does not
// take the place of others: a later write takes its session, and an answer that comes
// after all is none to that one.
func TestFrontGivesUp(t *testing.T) {
	p := newFronted(t, 1)
	ends := make(chan error)
	give := func(o resp.Op) {
		p.f.Do(&resp.Txn{Ops: []resp.Op{o}}, func(_ bool, _ []resp.Result, err error) { ends <- err })
	}
	give(resp.Op{Kind: resp.Set, Key: "k", Value: []byte("lost")})
	first := p.next("ask").Field("commands").Index(1)
	give(resp.Op{Kind: resp.Get, Key: "k"})
	p.next("read")
	p.pass(giveUpAfter + 1)
	for range 2 {
		if err := <-ends; err == nil {
			t.Fatal("an operation that was not answered has succeeded")
		}
	}
	done := p.do(resp.Op{Kind: resp.Delete, Key: "k"})
	command := p.next("ask").Field("commands").Index(1)
	if !value.Equal(command.Field("session"), first.Field("session")) || value.Equal(command.Field("id"), first.Field("id")) {
		t.Fatalf("%s was given up, and %s is the next", first, command)
	}
	p.answer(first, true) // late
	p.answer(command, false)
	if r := <-done; r.Found {
		t.Errorf("the answer to a write that was given up was taken: %+v", r)
	}
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	if p.f.waiting != 0 || p.f.batches != 0 || len(p.f.free) != sessions {
		t.Errorf("%d operations wait, %d messages are under way and %d of %d sessions are free", p.f.waiting, p.f.batches, len(p.f.free), sessions)
	}
}
