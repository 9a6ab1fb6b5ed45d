// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestHold: nothing that shows a change leaves before the change is durable.
func TestHold(t *testing.T) {
	d := newDesk(t, nil)
	g, other := d.guest(), d.guest()
	g.ask(1, writeOf(addr(1, 1), 1, "v"))
	g.none("a write was answered before it was durable")
	other.ask(1, readOf(addr(1, 1)))
	other.none("a read showed what was not durable")
	other.ask(2, readOf(addr(2, 2)))
	other.none("a reply overtook the records of an earlier request")
	g.say(func(e *wire.Encoder) { e.Ping(5) })
	if p := g.one(wire.TypePong); p.id != 5 {
		t.Fatalf("pong %d", p.id)
	}
	d.commit()
	w := g.one(wire.TypeReply)
	if w.id != 1 || w.reply.Status != wor.StatusOK || w.reply.Runs[0].Status != wor.StatusOK {
		t.Fatalf("write: %+v", w)
	}
	got := other.take()
	if len(got) != 2 || got[0].id != 1 || string(got[0].reply.Runs[0].Value) != "v" || got[1].id != 2 || got[1].reply.Runs[0].Written {
		t.Fatalf("reads: %+v", got)
	}
	if w.position != d.s.Status().Position || got[1].position != w.position {
		t.Fatalf("positions %d and %d, the log is at %d", w.position, got[1].position, d.s.Status().Position)
	}
	g.ask(3, readOf(addr(1, 1)))
	if r := g.one(wire.TypeReply); string(r.reply.Runs[0].Value) != "v" {
		t.Fatalf("a read of what is durable: %+v", r)
	}
}

// TestHoldWhileCommitting: the reply to a request that arrives while a commit is running
// leaves after that commit if the request changes nothing, and after the next one if it
// does.
func TestHoldWhileCommitting(t *testing.T) {
	d := newDesk(t, nil)
	g := d.guest()
	g.ask(1, writeOf(addr(1, 1), 1, "v"))
	within := 0
	d.sync = func() error {
		if within++; within != 1 {
			return nil
		}
		g.ask(2, readOf(addr(1, 1)))
		g.none("a reply left while the commit was running")
		g.ask(3, writeOf(addr(1, 2), 1, "w"))
		g.ask(4, readOf(addr(1, 1)))
		g.none("a reply left while the commit was running")
		return nil
	}
	d.woken = d.step()
	if within == 0 {
		t.Fatal("no sync")
	}
	got := g.take()
	if len(got) != 2 || got[0].id != 1 || got[1].id != 2 {
		t.Fatalf("after the first commit: %+v", got)
	}
	if !d.woken {
		t.Fatal("the second commit is not asked for")
	}
	g.ask(5, readOf(addr(1, 2)))
	g.none("a reply left between two commits")
	d.commit()
	if got = g.take(); len(got) != 3 || got[0].id != 3 || got[1].id != 4 || got[2].id != 5 {
		t.Fatalf("after the second commit: %+v", got)
	}
}

// TestNotes: notes arrive after the reply to the subscription, numbered, when the write
// is durable, and only for the range.
func TestNotes(t *testing.T) {
	d := newDesk(t, nil)
	g, l := d.guest(), d.guest()
	l.ask(7, wor.Request{Kind: wor.KindListen, Range: wor.Range{Segment: 1, Lo: 2, Hi: 5}})
	l.one(wire.TypeReply)
	g.ask(1, wor.Request{Kind: wor.KindWrite, Range: wor.Range{Segment: 1, Lo: 0, Hi: 4}, Ballot: wor.Ballot{Round: 1, Nonce: 9}, Value: []byte("v")})
	l.none("a note came before the write was durable")
	d.commit()
	got := l.take()
	if len(got) != 2 {
		t.Fatalf("notes: %+v", got)
	}
	for i, s := range got {
		n := s.note
		if s.kind != wire.TypeNote || s.id != 7 || n.Number != uint64(i+1) || n.Addr != addr(1, 2+i) || string(n.Value) != "v" || n.Ballot.Round != 1 {
			t.Fatalf("note %d: %+v", i, s)
		}
	}
	g.take()
	g.ask(2, writeOf(addr(1, 2), 0, "x")) // at a ballot that is outbid
	d.commit()
	g.one(wire.TypeReply)
	l.none("a note of a write that was not accepted")
	l.ask(8, wor.Request{Kind: wor.KindUnlisten, Tag: 7})
	l.one(wire.TypeReply)
	g.ask(3, writeOf(addr(1, 4), 1, "v"))
	d.commit()
	l.none("a note after the listening has ended")
	if s := d.s.Status(); s.Listens != 0 || s.Counts.Notes != 2 {
		t.Fatalf("%d listenings, %d notes", s.Listens, s.Counts.Notes)
	}
}

// TestNotesOverflow: a listener that does not read loses its subscription; nobody else
// loses anything.
func TestNotesOverflow(t *testing.T) {
	d := newDesk(t, func(o *Options) { o.NotesMax = 1000 })
	g, l := d.guest(), d.guest()
	l.ask(7, wor.Request{Kind: wor.KindListen, Range: wor.Range{Segment: 1, Lo: 0, Hi: 100}})
	l.one(wire.TypeReply)
	l.c.full = true
	for i := range 100 {
		g.ask(uint64(i), writeOf(addr(1, i), 1, "0123456789012345678901234567890123456789"))
		d.commit()
	}
	if n := len(g.take()); n != 100 {
		t.Fatalf("%d of 100 writes were answered", n)
	}
	if s := d.s.Status(); s.Listens != 0 || s.Counts.Overflows != 1 || s.Load > 4000 {
		t.Fatalf("%d listenings, %d overflows, %d bytes wait", s.Listens, s.Counts.Overflows, s.Load)
	}
	l.c.full = false
	l.h.Drained(l.c)
	got := l.take()
	if len(got) < 5 || got[len(got)-1].note.Number != 0 {
		t.Fatalf("%d notes, the last one %+v", len(got), got[len(got)-1])
	}
}

// TestBackpressure: the server stops reading from a client that does not read answers;
// the memory is bounded, and the client continues where it stopped.
func TestBackpressure(t *testing.T) {
	d := newDesk(t, func(o *Options) { o.Memory, o.ConnInflightMax = true, 4000 })
	g := d.guest()
	g.c.full = true
	g.ask(1, readOf(addr(1, 1)))
	g.ask(2, writeOf(addr(1, 1), 1, "v"))
	g.say(func(e *wire.Encoder) {
		q := writeOf(addr(1, 2), 1, "late")
		_ = e.Request(3, time.Millisecond, &q)
		q = writeOf(addr(1, 3), 1, "in time")
		_ = e.Request(4, time.Hour, &q)
	})
	d.clock.advance(time.Second)
	g.c.full = false
	g.h.Drained(g.c)
	got := g.take()
	if len(got) != 4 || got[1].reply.Status != wor.StatusOK || got[2].id != 3 || got[2].reply.Status != wor.StatusExpired || got[3].reply.Status != wor.StatusOK {
		t.Fatalf("got %+v", got)
	}
	g.ask(5, readOf(addr(1, 2)))
	if r := g.one(wire.TypeReply); r.reply.Runs[0].Written {
		t.Fatal("a request was done whose time had passed")
	}
	g.c.full = true
	for i := range 200 {
		g.ask(uint64(i), readOf(addr(1, 1)))
	}
	if !g.c.closed || d.s.Status().Load != 0 {
		t.Fatalf("closed: %v, %d bytes wait", g.c.closed, d.s.Status().Load)
	}
}
