// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// hold asks a server for a token and keeps it.
func (b *bench) hold(server int) *wor.Token {
	b.t.Helper()
	var held *wor.Token
	b.wait(func(done func()) {
		ask := log.AskToken(7, 0, 1)
		b.p.Messenger.Invoke(b.members[server], wor.ServiceSequencer, ask, 0, func(answer []byte, err error) {
			held = log.TokenOf(7, answer)
			done()
		})
	})
	if held == nil {
		b.t.Fatal("no token")
	}
	return held
}

// takeOver makes a server depose the present sequencer.
func (b *bench) takeOver(server int) {
	b.t.Helper()
	p, s := b.servers[server], b.thrones[server]
	p.Serial.Do(func() { s.TakeOver(7) })
	if !b.w.RunUntil(time.Minute, func() bool { _, ok := s.Serving(7); return ok }) {
		b.t.Fatal("it does not become the sequencer")
	}
}

// useless checks that a token that was handed out before no longer works, or that
// followers get what it wrote.
func (b *bench) useless(held *wor.Token) {
	b.t.Helper()
	b.wait(func(done func()) {
		b.p.Space.Write(held, held.Range.Lo, []byte("late"), time.Second, func(err error) {
			if err == nil || !errors.Is(err, wor.ErrUnknown) && !errors.Is(err, wor.ErrWritten) {
				b.t.Errorf("the old sequencer's token still serves: %v", err)
			}
			done()
		})
	})
}

// TestFence: when a new sequencer serves, no token of an earlier one works.
func TestFence(t *testing.T) {
	t.Run("the one before", func(t *testing.T) {
		b := newBench(t, ideal.Options{}, 2, 64, nil)
		b.append("a")
		owner, other := b.owner()
		held := b.hold(owner)
		b.takeOver(other)
		b.useless(held)
	})
	t.Run("one that rolled over", func(t *testing.T) {
		b := newBench(t, ideal.Options{}, 2, 8, nil)
		b.append("a")
		owner, other := b.owner()
		held := b.hold(owner)
		for range 5 {
			b.append("b")
		}
		b.w.Run(time.Second) // the next segment is prepared
		if b.w.Register(wor.Addr{Segment: log.ID(7).Segment(1)}).Phase != wor.Written {
			t.Fatal("the next segment has no mark")
		}
		b.takeOver(other)
		b.useless(held)
	})
	t.Run("one before another that died while it took over", func(t *testing.T) {
		b := newBench(t, ideal.Options{}, 3, 8, nil)
		b.append("a")
		owner, other := b.owner()
		third := 3 - owner - other
		held := b.hold(owner)
		b.servers[other].Serial.Do(func() { b.thrones[other].TakeOver(7) })
		meta := wor.Addr{Segment: log.ID(7).Segment(1), Offset: wor.MetaOffset}
		if !b.w.RunUntil(time.Minute, func() bool { return b.w.Register(meta).Phase == wor.Written }) {
			t.Fatal("nothing is allocated")
		}
		b.servers[other].Kill()
		b.takeOver(third)
		b.useless(held)
	})
}

// owner returns the server that is the sequencer, and another one.
func (b *bench) owner() (owner, other int) {
	for i, s := range b.thrones {
		if _, ok := s.Serving(7); ok {
			return i, (i + 1) % len(b.thrones)
		}
	}
	b.t.Fatal("nobody is the sequencer")
	return 0, 0
}

// TestDeposedTail: a client that asks a deposed sequencer for the tail gets an answer
// above all entries that were appended since.
func TestDeposedTail(t *testing.T) {
	b := newBench(t, ideal.Options{}, 2, 64, nil)
	b.append("a")
	owner, other := b.owner()
	p, l := b.client("other", nil)
	b.takeOver(other)
	var at log.Position
	ended := false
	p.Serial.Do(func() {
		l.Append(log.Entry{Data: []byte("b")}, 0, func(q log.Position, err error) { at, ended = q, err == nil })
	})
	if !b.w.RunUntil(time.Minute, func() bool { return ended }) {
		t.Fatal("an append does not end")
	}
	if _, ok := b.thrones[owner].Serving(7); !ok {
		t.Fatal("the old sequencer knows that it was deposed: the test is blind")
	}
	if tail := b.tail(); tail <= at {
		t.Errorf("the tail is %v, though %v was appended", tail, at)
	}
}

// slow is a space in which writes of ranges wait, from an offset of segment 0 on.
type slow struct {
	wor.Space
	from    uint32
	waiting []func()
}

func (s *slow) WriteRange(t *wor.Token, r wor.Range, value []byte, within time.Duration, done func([]error)) {
	write := func() { s.Space.WriteRange(t, r, value, within, done) }
	if s.waiting == nil || r.Segment != log.ID(7).Segment(0) || r.Lo < s.from {
		write()
		return
	}
	s.waiting = append(s.waiting, write)
}

// release lets all writes continue.
func (s *slow) release() {
	for _, write := range s.waiting {
		write()
	}
	s.waiting = nil
}

// TestFenceBeforeLateWrites: an append that begins after another one ended comes after
// it, even if its token is from a sequencer that was replaced, and its write reaches one
// server that the new sequencer's capture did not ask: the next client that captures the
// register would complete it there.
func TestFenceBeforeLateWrites(t *testing.T) {
	held := 0
	for seed := range uint64(40) {
		b := newBench(t, ideal.Options{Seed: seed, Half: 0.5}, 2, 64, nil)
		b.append("a")
		_, other := b.owner()
		s := &slow{Space: b.servers[other].Space, from: 2, waiting: []func(){}}
		b.thrones[other] = serveOn(t, b.servers[other], s, 64)
		b.servers[other].Serial.Do(func() { b.thrones[other].TakeOver(7) })
		serves := func() bool { _, ok := b.thrones[other].Serving(7); return ok }
		ready := b.w.RunUntil(2*time.Second, serves)
		held += len(s.waiting)
		if !ready {
			b.servers[other].Serial.Do(s.release)
			if !b.w.RunUntil(time.Minute, serves) {
				t.Fatal("it does not become the sequencer")
			}
		}
		p, l := b.p, b.l
		b.p, b.l = b.client("other", nil)
		first := log.Position(0)
		for first.Index() == 0 {
			first = b.append("b")
		}
		b.p, b.l = p, l
		if second := b.append("c"); second < first {
			t.Errorf("seed %d: an append to %v ended before one to %v began", seed, first, second)
		}
	}
	if held == 0 {
		t.Error("the test is blind: no write waited")
	}
}

// TestFenceAfterAnother: as above, but a first candidate died while it decided the
// registers, so that its junk is at some servers only, and then another candidate serves.
func TestFenceAfterAnother(t *testing.T) {
	defer log.SetCompleteMax(4)()
	late := 0
	for seed := range uint64(40) {
		b := newBench(t, ideal.Options{Seed: seed, Half: 0.5}, 3, 64, nil)
		b.append("a")
		owner, one := b.owner()
		two := 3 - owner - one
		s := &slow{Space: b.servers[one].Space, waiting: []func(){}}
		b.thrones[one] = serveOn(t, b.servers[one], s, 64)
		b.servers[one].Serial.Do(func() { b.thrones[one].TakeOver(7) })
		if !b.w.RunUntil(time.Minute, func() bool { return len(s.waiting) > 0 }) {
			t.Fatal("the first candidate decides nothing")
		}
		b.servers[one].Serial.Do(s.release)
		b.w.Run(2 * time.Millisecond) // the writes arrive, and none is repeated yet
		b.servers[one].Kill()
		b.takeOver(two)
		if next, _ := b.thrones[two].Serving(7); next.Index() < 2 {
			t.Fatalf("the second candidate serves segment %d", next.Index())
		}
		p, l := b.p, b.l
		b.p, b.l = b.client("other", nil)
		first := log.Position(0)
		for first.Index() < 2 {
			first = b.append("b")
		}
		b.p, b.l = p, l
		const appends = 16
		done := 0
		b.p.Serial.Do(func() {
			for range appends {
				b.l.Append(log.Entry{Data: []byte("c")}, 0, func(second log.Position, err error) {
					if done++; err != nil || second < first {
						t.Errorf("seed %d: an append to %v ended before one to %v (%v) began", seed, first, second, err)
					}
				})
			}
			if next, ok := b.thrones[owner].Serving(7); ok && next.Index() == 0 {
				late++
			}
		})
		if !b.w.RunUntil(time.Minute, func() bool { return done == appends }) {
			t.Fatalf("the appends do not end: %s", b.l.Describe())
		}
	}
	if late == 0 {
		t.Error("the test is blind: no append began at the sequencer that was deposed")
	}
}
