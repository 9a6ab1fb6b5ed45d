// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// bench is a server and clients for tests that do one thing after another.
type bench struct {
	t       *testing.T
	w       *ideal.World
	members []wor.Member
	thrones []*log.Sequencer
	servers []*ideal.Process
	p       *ideal.Process
	l       *log.Log
}

func newBench(t *testing.T, o ideal.Options, servers int, size uint32, change func(*log.Options)) *bench {
	b := &bench{t: t, w: ideal.New(o)}
	for i := range servers {
		p := b.w.Start(fmt.Sprint("server", i))
		b.servers = append(b.servers, p)
		b.members = append(b.members, p.Member)
		b.thrones = append(b.thrones, serve(t, p, size))
	}
	b.p, b.l = b.client("client", change)
	return b
}

func (b *bench) client(name string, change func(*log.Options)) (*ideal.Process, *log.Log) {
	p := b.w.Start(name)
	return p, open(b.t, p, b.members, change)
}

// wait calls begin on the client's Serial and waits until it calls done.
func (b *bench) wait(begin func(done func())) {
	b.t.Helper()
	over := false
	b.p.Serial.Do(func() { begin(func() { over = true }) })
	if !b.w.RunUntil(10*time.Minute, func() bool { return over }) {
		b.t.Fatalf("it does not end: %s", b.l.Describe())
	}
}

func (b *bench) append(text string) log.Position {
	b.t.Helper()
	at, err := b.appendAs(log.EntryID{}, text, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return at
}

func (b *bench) appendAs(id log.EntryID, text string, within time.Duration) (at log.Position, err error) {
	b.t.Helper()
	b.wait(func(done func()) {
		b.l.Append(log.Entry{ID: id, Data: []byte(text)}, within, func(p log.Position, e error) {
			at, err = p, e
			done()
		})
	})
	return at, err
}

func (b *bench) tail() (at log.Position) {
	b.t.Helper()
	b.wait(func(done func()) {
		b.l.Tail(0, func(p log.Position, err error) {
			if err != nil {
				b.t.Fatal(err)
			}
			at = p
			done()
		})
	})
	return at
}

// all returns what a new follower gets, up to the tail.
func (b *bench) all(o log.FollowOptions) (texts string) {
	b.t.Helper()
	tail := b.tail()
	var l []string
	b.wait(func(done func()) {
		f := b.l.Follow(o, func(e log.Entry) { l = append(l, string(e.Data)) })
		f.Reached(tail, func() {
			f.Stop()
			done()
		})
	})
	return strings.Join(l, " ")
}

func (b *bench) read(at log.Position) (e log.Entry, err error) {
	b.t.Helper()
	b.wait(func(done func()) {
		b.l.Read(at, 0, func(x log.Entry, y error) {
			e, err = x, y
			done()
		})
	})
	return e, err
}

// TestEmpty: a log that was never used has a tail and a head, and they need no election
// of a sequencer.
func TestEmpty(t *testing.T) {
	b := newBench(t, ideal.Options{}, 1, 8, nil)
	if at := b.tail(); at != 0 {
		t.Errorf("the tail is %v", at)
	}
	b.wait(func(done func()) {
		b.l.Head(0, func(at log.Position, err error) {
			if at != 0 || err != nil {
				t.Errorf("the head is %v, %v", at, err)
			}
			done()
		})
	})
	if _, err := b.read(log.At(0, 1)); !errors.Is(err, wor.ErrUnwritten) {
		t.Errorf("a read answers %v", err)
	}
	if b.p.Space.Count.Allocs+b.p.Space.Count.Invokes > 0 {
		t.Error("a sequencer was elected")
	}
}

// TestTrim: a read of a trimmed position reports the trim, followers are notified, and
// the log continues.
func TestTrim(t *testing.T) {
	b := newBench(t, ideal.Options{Seed: 5}, 1, 4, nil)
	var want []string
	var at []log.Position
	for i := range 20 {
		text := fmt.Sprint("e", i)
		at, want = append(at, b.append(text)), append(want, text)
	}
	if got := b.all(log.FollowOptions{}); got != strings.Join(want, " ") {
		t.Errorf("followed %s", got)
	}
	trim := func(below log.Position) {
		b.wait(func(done func()) {
			b.l.Trim(below, 0, func(err error) {
				if err != nil {
					t.Fatal(err)
				}
				done()
			})
		})
	}
	trim(at[10])
	trim(at[10]) // a second time
	if _, err := b.read(at[0]); !errors.Is(err, wor.ErrTrimmed) {
		t.Errorf("a read of what is trimmed answers %v", err)
	}
	if e, err := b.read(at[10]); err != nil || string(e.Data) != "e10" {
		t.Errorf("a read of what is not trimmed answers %q, %v", e.Data, err)
	}
	// A new log, a new follower and a new sequencer work.
	b.p, b.l = b.client("other", nil)
	b.servers[0].Kill()
	b.servers[0] = b.w.Start("server0")
	serve(t, b.servers[0], 4)
	b.append("more")
	gap := ""
	got := b.all(log.FollowOptions{Trimmed: func(from, to log.Position) { gap = fmt.Sprint(from, " ", to) }})
	first := slices.IndexFunc(at, func(p log.Position) bool { return p.Index() == at[10].Index() })
	if got != strings.Join(append(want[first:], "more"), " ") {
		t.Errorf("followed %s", got)
	}
	if want := fmt.Sprint("0.0 ", log.At(at[10].Index(), 0)); gap != want {
		t.Errorf("the gap is %s, want %s", gap, want)
	}
	// The segment in use stays.
	trim(log.At(1<<30, 0))
	b.append("still")
	if got := b.all(log.FollowOptions{}); !strings.HasSuffix(got, "still") {
		t.Errorf("followed %s", got)
	}
}

// TestTrimAgainstLosses: a trim without a time bound succeeds, however many messages are
// lost.
func TestTrimAgainstLosses(t *testing.T) {
	for seed := range uint64(40) {
		b := newBench(t, ideal.Options{Seed: seed, Lose: .1}, 1, 4, func(o *log.Options) { o.Timeout = 100 * time.Millisecond })
		var last log.Position
		for range 10 {
			last = b.append("x")
		}
		b.wait(func(done func()) {
			b.l.Trim(last, 0, func(err error) {
				if err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				done()
			})
		})
	}
}

// TestHoles: an address whose holder died is filled, and readers continue.
func TestHoles(t *testing.T) {
	b := newBench(t, ideal.Options{}, 1, 64, nil)
	b.append("a")
	// A client dies while it has a token.
	p, l := b.client("mortal", nil)
	before, _ := b.thrones[0].Serving(7)
	p.Serial.Do(func() {
		l.Append(log.Entry{Data: []byte("lost")}, 0, func(log.Position, error) { t.Error("it lives") })
	})
	handed := func() bool {
		next, _ := b.thrones[0].Serving(7)
		return next > before
	}
	if !b.w.RunUntil(time.Minute, handed) {
		t.Fatal("no token is handed out")
	}
	p.Kill()
	// No entry is above: only the tail shows that there is a hole.
	if got := b.all(log.FollowOptions{}); got != "a" {
		t.Errorf("followed %s", got)
	}
	if e, err := b.read(before); err != nil || e.Kind != log.Junk {
		t.Errorf("the hole holds %v, %v", e, err)
	}
	at := b.append("b")
	if got := b.all(log.FollowOptions{}); got != "a b" {
		t.Errorf("followed %s", got)
	}
	// Fill returns the content of a position, and does not touch positions that were not
	// handed out.
	for _, x := range []struct {
		at   log.Position
		kind log.Kind
		err  error
	}{{at, log.Data, nil}, {before, log.Junk, nil}, {at + 1, 0, wor.ErrUnwritten}} {
		b.wait(func(done func()) {
			b.l.Fill(x.at, 0, func(e log.Entry, err error) {
				if e.Kind != x.kind || !errors.Is(err, x.err) {
					t.Errorf("filling %v answers %v, %v", x.at, e, err)
				}
				done()
			})
		})
	}
	if b.append("c") != at+1 {
		t.Error("a fill has used an address up")
	}
}

// TestUnknownOutcome: an append of unknown outcome that is repeated with its id is in the
// log once, and returns its position.
func TestUnknownOutcome(t *testing.T) {
	unknown, repeated := 0, 0
	for seed := range uint64(300) {
		b := newBench(t, ideal.Options{Seed: seed, Lose: .15, Half: .5, Late: .1}, 2, 8, func(o *log.Options) {
			o.Timeout, o.Silence = 50*time.Millisecond, 50*time.Millisecond
		})
		id := log.EntryID{Hi: 7, Lo: seed}
		b.append("first")
		_, err := b.appendAs(id, "x", 10*time.Millisecond)
		if errors.Is(err, wor.ErrUnknown) {
			unknown++
		}
		if err == nil || !errors.Is(err, wor.ErrUnknown) && !errors.Is(err, wor.ErrDeadline) {
			continue
		}
		at, err := b.appendAs(id, "x", 0)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		repeated++
		b.w.Heal()
		copies := 0
		for index := range b.tail().Index() + 1 {
			for offset := range uint32(8) {
				if e, _ := b.read(log.At(index, offset)); e.Kind == log.Data && e.ID == id {
					copies++
					if e.Position != at {
						t.Errorf("seed %d: the entry is at %v, not at %v", seed, e.Position, at)
					}
				}
			}
		}
		if copies != 1 {
			t.Errorf("seed %d: %d copies", seed, copies)
		}
	}
	if unknown < 5 || repeated < 20 {
		t.Errorf("%d of unknown outcome, %d repeated: the test is blind", unknown, repeated)
	}
}

// TestDuplicates: an entry that two lives of a client appended is delivered once, as long
// as it is remembered.
func TestDuplicates(t *testing.T) {
	b := newBench(t, ideal.Options{}, 1, 64, nil)
	id := log.EntryID{Hi: 1, Lo: 2}
	first, _ := b.appendAs(id, "twice", 0)
	b.append("between")
	b.p, b.l = b.client("next life", nil)
	second, err := b.appendAs(id, "twice", 0)
	if err != nil || second <= first {
		t.Fatalf("appended at %v, then at %v, %v", first, second, err)
	}
	for _, x := range []struct {
		name string
		o    log.FollowOptions
		want string
	}{
		{"all", log.FollowOptions{}, "twice between"},
		{"remembers one", log.FollowOptions{Remember: 1}, "twice between twice"},
		{"later", log.FollowOptions{From: first + 1}, "between twice"},
		{"later, warm", log.FollowOptions{From: first + 1, Warm: first}, "between"},
	} {
		if got := b.all(x.o); got != x.want {
			t.Errorf("%s: followed %s, want %s", x.name, got, x.want)
		}
	}
	var there []bool
	for _, at := range []log.Position{first, first + 1, second + 1} {
		b.wait(func(done func()) {
			b.l.Resolve(id, at, 0, func(ok bool, err error) {
				there = append(there, ok)
				done()
			})
		})
	}
	if fmt.Sprint(there) != "[true false false]" {
		t.Errorf("resolved %v", there)
	}
}

// TestRefused: calls that exceed a limit or are invalid are refused.
func TestRefused(t *testing.T) {
	b := newBench(t, ideal.Options{}, 1, 64, func(o *log.Options) { o.AppendsMax = 2 })
	var got []string
	note := func(_ log.Position, err error) { got = append(got, fmt.Sprint(err)) }
	b.p.Serial.Do(func() {
		b.l.Append(log.Entry{Data: make([]byte, log.EntryMax+1)}, 0, note)
		b.l.Append(log.Entry{ID: log.EntryID{Hi: 1, Lo: 1}, Data: make([]byte, log.EntryMax)}, 0, note)
		b.l.Append(log.Entry{ID: log.EntryID{Hi: 1, Lo: 1}}, 0, note)
		b.l.Append(log.Entry{}, 0, note)
		b.l.Append(log.Entry{}, 0, note)
	})
	b.w.Run(time.Second)
	want := fmt.Sprintf("[log.EntryMax is %d, got %d %v %v <nil> <nil>]", log.EntryMax, log.EntryMax+1, log.ErrID, wor.ErrBusy)
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
	got = nil
	b.p.Serial.Do(func() {
		b.l.Append(log.Entry{}, 0, note)
		b.l.Close()
		b.l.Append(log.Entry{}, 0, note)
	})
	b.w.Run(time.Second)
	if fmt.Sprint(got) != fmt.Sprintf("[%v %v]", wor.ErrClosed, wor.ErrClosed) {
		t.Errorf("around Close: %v", got)
	}
}

// TestPause: a paused follower delivers nothing, and nothing is lost.
func TestPause(t *testing.T) {
	b := newBench(t, ideal.Options{}, 1, 4, nil)
	var got []string
	var f *log.Follower
	b.p.Serial.Do(func() {
		f = b.l.Follow(log.FollowOptions{}, func(e log.Entry) {
			got = append(got, string(e.Data))
			f.Pause()
		})
	})
	for i := range 9 {
		b.append(fmt.Sprint(i))
	}
	for i := range 9 {
		b.w.Run(time.Second)
		if len(got) != i+1 || got[i] != fmt.Sprint(i) {
			t.Fatalf("followed %v", got)
		}
		b.p.Serial.Do(f.Resume)
	}
}
