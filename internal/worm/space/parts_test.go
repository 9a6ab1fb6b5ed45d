// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// fakeClock fires its timers on request.
type fakeClock struct {
	now    env.Instant
	timers []*fakeTimer
}

type fakeTimer struct {
	at      env.Instant
	w       env.Waker
	stopped bool
}

func (t *fakeTimer) Stop() bool {
	was := !t.stopped
	t.stopped = true
	return was
}

func (c *fakeClock) Now() env.Instant { return c.now }
func (c *fakeClock) Wall() time.Time  { return time.Time{} }
func (c *fakeClock) After(d time.Duration, w env.Waker) env.Timer {
	t := &fakeTimer{at: c.now.Add(d), w: w}
	c.timers = append(c.timers, t)
	return t
}

// next advances to the next timer that is not stopped, if it is due by then.
func (c *fakeClock) next(by env.Instant) bool {
	c.timers = slices.DeleteFunc(c.timers, func(t *fakeTimer) bool { return t.stopped })
	var first *fakeTimer
	for _, t := range c.timers {
		if first == nil || t.at < first.at {
			first = t
		}
	}
	if first == nil || first.at > by {
		return false
	}
	c.now, first.stopped = first.at, true
	first.w.Wake()
	return true
}

type bell struct {
	rung []int
	of   map[*alarm]int
}

func (b *bell) ring(a *alarm) { b.rung = append(b.rung, b.of[a]) }

// TestAgenda: alarms ring once, when they are due, in order, whatever was set and dropped
// before; and there is one timer at a time.
func TestAgenda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &fakeClock{}
		g := &agenda{clock: c}
		g.waker = env.WakeFunc(g.wake)
		b := &bell{of: map[*alarm]int{}}
		alarms := make([]*alarm, 8)
		due := map[int]env.Instant{}
		for i := range alarms {
			alarms[i] = &alarm{}
			b.of[alarms[i]] = i
		}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			i := rapid.IntRange(0, len(alarms)-1).Draw(t, "alarm")
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				at := c.now + env.Instant(rapid.IntRange(0, 50).Draw(t, "wait"))
				g.set(alarms[i], at, b)
				due[i] = at
			case 1:
				g.drop(alarms[i])
				delete(due, i)
			case 2:
				until := c.now + env.Instant(rapid.IntRange(0, 30).Draw(t, "pass"))
				b.rung = nil
				for c.next(until) {
				}
				c.now = until
				last := env.Instant(0)
				for _, j := range b.rung {
					if at, ok := due[j]; !ok || at > until || at < last {
						t.Fatalf("alarm %d rang by %d, due %d %v", j, until, at, ok)
					}
					last = due[j]
					delete(due, j)
				}
				for j, at := range due {
					if at <= until {
						t.Fatalf("alarm %d did not ring at %d", j, at)
					}
				}
			}
			live := 0
			for _, x := range c.timers {
				if !x.stopped {
					live++
				}
			}
			if live > 1 {
				t.Fatalf("%d timers", live)
			}
		}
	})
}

// TestUsedForgetsSafely: a token that was used with one value is never valid for another
// one, however much was forgotten.
func TestUsedForgetsSafely(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := new(used)
		u.begin(rapid.IntRange(1, 4).Draw(t, "max"), 0)
		type use struct {
			a wor.Addr
			b wor.Ballot
		}
		first := map[use]string{}
		refused := 0
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			x := use{
				wor.Addr{Segment: wor.Segment(rapid.IntRange(0, 1).Draw(t, "segment")), Offset: uint32(rapid.IntRange(0, 40).Draw(t, "offset"))},
				wor.Ballot{Round: uint64(rapid.IntRange(1, 4).Draw(t, "round")), Nonce: uint64(rapid.IntRange(1, 2).Draw(t, "nonce"))},
			}
			v := rapid.SampledFrom([]string{"", "a", "b", "aaaaaaaaa", "aaaaaaaab"}).Draw(t, "value")
			err := u.claim(x.a, x.b, []byte(v))
			old, again := first[x]
			switch {
			case err == nil && again && old != v:
				t.Fatalf("%v was %q and is %q", x, old, v)
			case err == nil:
				first[x] = v
			default:
				refused++
			}
			n := 0
			for _, r := range u.gone {
				n += len(r)
			}
			if u.n > u.max || len(u.byKey) != u.n || u.runs > u.max || n != u.runs {
				t.Fatalf("%d groups and %d runs, of at most %d, counted as %d and %d", len(u.byKey), n, u.max, u.n, u.runs)
			}
		}
	})
	// New tokens are not refused.
	u := new(used)
	u.begin(2, 0)
	for round := range uint64(100) {
		if err := u.claim(wor.Addr{}, wor.Ballot{Round: round + 1, Nonce: 1}, nil); err != nil {
			t.Fatal(round, err)
		}
	}
}

// TestOneTokenGoesOn: one token writes a whole segment, in ascending order or from both
// ends, and is valid once for each register, whatever was forgotten.
func TestOneTokenGoesOn(t *testing.T) {
	const registers = 100 * UsedGroup
	b := wor.Ballot{Round: 1, Nonce: 1}
	for name, place := range map[string]func(i uint32) uint32{
		"upwards":   func(i uint32) uint32 { return i },
		"downwards": func(i uint32) uint32 { return registers - 1 - i },
		"from both ends": func(i uint32) uint32 {
			if i%2 == 1 {
				return registers - 1 - i/2
			}
			return i / 2
		},
	} {
		u := new(used)
		u.begin(4, 0)
		for i := range uint32(registers) {
			at := place(i)
			if err := u.claim(wor.Addr{Offset: at}, b, []byte("first")); err != nil {
				t.Fatalf("%s: register %d, the %dth: %v", name, at, i, err)
			}
		}
		for at := range uint32(registers) {
			if err := u.claim(wor.Addr{Offset: at}, b, []byte("other")); err == nil {
				t.Fatalf("%s: register %d is written twice", name, at)
			}
		}
	}
}

// TestRuns compares runs with a set of numbers.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r runs
		set := map[uint32]bool{}
		number := rapid.OneOf(rapid.Uint32Range(0, 12), rapid.Uint32Range(1<<32-4, 1<<32-1))
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			n := number.Draw(t, "number")
			r = r.add(n)
			set[n] = true
			pieces := 0
			for m := range set {
				if !set[m-1] || m == 0 {
					pieces++
				}
			}
			if len(r) != pieces {
				t.Fatalf("%v has %d runs, want %d", r, len(r), pieces)
			}
			for _, m := range []uint32{n - 1, n, n + 1, 5} {
				if r.has(m) != set[m] {
					t.Fatalf("%v has %d: %v", r, m, r.has(m))
				}
			}
		}
	})
}

// TestKnownIsBounded: every kept value is one that was added, and the memory for them is
// bounded.
func TestKnownIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &known{max: int64(rapid.IntRange(0, 1000).Draw(t, "max"))}
		k.init()
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			a := wor.Addr{Offset: uint32(rapid.IntRange(0, 20).Draw(t, "offset"))}
			v := make([]byte, int(a.Offset)*13)
			k.add(a, v)
			got, ok := k.get(a)
			if ok && len(got) != len(v) {
				t.Fatal("another value")
			}
			if int64(len(v))+knownEntry <= k.max && !ok {
				t.Fatal("just added, and not there")
			}
			total := int64(0)
			for _, e := range k.byKey {
				total += int64(len(e.value)) + knownEntry
			}
			if total != k.bytes || total > k.max {
				t.Fatalf("%d bytes, counted as %d, of at most %d", total, k.bytes, k.max)
			}
		}
	})
}

func TestPlacementForms(t *testing.T) {
	p := place{partition: 7, protocol: wor.Fast}
	if q, end, err := decodePlacement(encodePlacement(p, 99)); err != nil || end || q != p {
		t.Error(q, end, err)
	}
	if _, end, err := decodePlacement([]byte{placementEnd}); err != nil || !end {
		t.Error(end, err)
	}
	for _, b := range [][]byte{nil, {}, {placementForm}, {9}, {placementEnd, 0}, append(encodePlacement(p, 1), 0), make([]byte, placementSize)} {
		if _, _, err := decodePlacement(b); !errors.Is(err, wor.ErrEncoding) {
			t.Error(b, err)
		}
	}
}
