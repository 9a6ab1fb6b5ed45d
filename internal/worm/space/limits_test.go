// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// named checks that an error names a limit.
func named(t *testing.T, err error, name string) {
	t.Helper()
	var l *wor.LimitError
	if !errors.As(err, &l) || l.Name != name {
		t.Errorf("%v, want the limit %s", err, name)
	}
}

func TestLimitsAreNamed(t *testing.T) {
	l := newLab(t, 1, 1, 3)
	a := l.client(func(o *space.Options) { o.OpsMax, o.BytesMax, o.ResultMax = 4, 1000, 500 })
	if _, err := a.alloc(1, wor.Meta{Size: wor.SegmentMax}); err != nil {
		t.Fatal(err)
	}
	long := string(make([]byte, wor.ValueMax+1))
	named(t, a.propose(at(1, 0), long), "wor.ValueMax")
	named(t, a.unsafe(at(1, 0), long), "wor.ValueMax")
	named(t, a.write(a.capture(wor.One(at(1, 0))), 0, long), "wor.ValueMax")
	wide := wor.Range{Segment: 1, Hi: wor.RangeMax + 1}
	_, err := a.tryCapture(wide)
	named(t, err, "wor.RangeMax")
	_, err = a.readRange(wide)
	named(t, err, "wor.RangeMax")
	_, err = a.readRange(wor.Range{Segment: 1, Lo: 3, Hi: 3})
	named(t, err, "wor.Range.Hi")
	named(t, a.propose(at(1, wor.SegmentMax), ""), "wor.Meta.Size")
	named(t, a.propose(at(1, wor.MetaOffset), ""), "wor.Meta.Size")
	named(t, a.propose(at(wor.ConfigSegment(0), 1), ""), "wor.ReservedSegment")
	_, err = a.alloc(2, wor.Meta{Size: 1, Partition: 1})
	named(t, err, "Genesis.Partitions")
	_, err = a.alloc(2, wor.Meta{Size: wor.SegmentMax + 1})
	named(t, err, "SegmentMax")

	// ErrBusy is different: it passes.
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	a.serial.Do(func() {
		for off := range uint32(6) {
			a.Propose(at(1, off), make([]byte, 100), 0, note)
		}
	})
	l.must("all", func() bool { return len(errs) == 6 })
	busy := 0
	for _, err := range errs {
		if errors.Is(err, wor.ErrBusy) {
			named(t, err, "Options.OpsMax")
			busy++
		}
	}
	if busy != 2 {
		t.Error(errs)
	}
	errs = nil
	a.serial.Do(func() {
		a.Propose(at(1, 10), make([]byte, 600), 0, note)
		a.Propose(at(1, 11), make([]byte, 600), 0, note)
	})
	l.must("both", func() bool { return len(errs) == 2 })
	is(t, errs[0], wor.ErrBusy)
	named(t, errs[0], "Options.BytesMax")
	is(t, errs[1], nil)
	is(t, a.propose(at(1, 11), string(make([]byte, 600))), nil)
	_, err = a.readRange(wor.Range{Segment: 1, Hi: 20})
	named(t, err, "Options.ResultMax")
}

// TestServersAreFull: if all servers refuse a write, it is known not to be done;
// otherwise its outcome is reported as unknown.
func TestServersAreFull(t *testing.T) {
	l := newLab(t, 1, 1, 3)
	a := l.client()
	if _, err := a.alloc(1, wor.Meta{Size: 100}); err != nil {
		t.Fatal(err)
	}
	token := a.capture(wor.Range{Segment: 1, Hi: 10})
	for i := range wor.Segment(50) {
		if _, err := a.alloc(2+i, wor.Meta{Size: 100, Payload: make([]byte, 1000)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range l.hosts {
		h.groups[0].Limit(h.groups[0].Bytes() - 1000)
	}
	err := a.write(token, 1, "x")
	is(t, err, wor.ErrLimit)
	if errors.Is(err, wor.ErrUnknown) {
		t.Log("not all had answered:", err)
	}
	is(t, a.propose(at(1, 20), "x"), wor.ErrLimit)
	is(t, a.trim(1), nil) // which frees room
}

// TestTokens tries invalid tokens.
func TestTokens(t *testing.T) {
	l := newLab(t, 1, 1, 3)
	a := l.client()
	if _, err := a.alloc(1, wor.Meta{Size: 100}); err != nil {
		t.Fatal(err)
	}
	token := a.capture(wor.Range{Segment: 1, Hi: 10})
	other := *token
	other.Protocol = wor.Chain
	is(t, a.write(&other, 1, "x"), wor.ErrToken)
	other = *token
	other.Ballot = wor.Ballot{}
	is(t, a.write(&other, 1, "x"), wor.ErrToken)
	other = *token
	other.Range.Hi = 101
	is(t, a.write(&other, 1, "x"), wor.ErrLimit)
	is(t, a.write(token, 1, "x"), nil)
	is(t, l.client().write(token, 1, "y"), wor.ErrToken) // the servers know
	for i, err := range a.writeRange(token, wor.Range{Segment: 1, Hi: 3}, "y") {
		if want := []error{nil, wor.ErrToken, nil}[i]; !errors.Is(err, want) {
			t.Error(i, err)
		}
	}
	is(t, a.writeRange(token, wor.Range{Segment: 1, Lo: 5, Hi: 11}, "y")[0], wor.ErrToken)
}

// TestRoundTrips counts how long operations take, in messages.
func TestRoundTrips(t *testing.T) {
	l := newLab(t, 1, 1, 3)
	l.fixed = time.Millisecond
	a, b := l.client(), l.client()
	if _, err := a.alloc(1, wor.Meta{Size: 100}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.alloc(2, wor.Meta{Size: 100, Protocol: wor.Fast}); err != nil {
		t.Fatal(err)
	}
	took := func(what string, want int, f func()) {
		t.Helper()
		start := l.now
		f()
		if got := int(l.now.Sub(start) / l.fixed); got != want {
			t.Errorf("%s took %d messages, want %d", what, got, want)
		}
	}
	var token *wor.Token
	took("capture", 2, func() { token = a.capture(wor.Range{Segment: 1, Hi: 100}) })
	took("write", 2, func() { is(t, a.write(token, 0, "x"), nil) })
	took("write range", 2, func() { a.writeRange(token, wor.Range{Segment: 1, Lo: 5, Hi: 90}, "x") })
	took("read", 2, func() { _, _ = a.read(at(1, 0)) })
	took("first read of a segment", 4, func() { _, _ = b.read(at(1, 1)) })
	took("read unwritten", 2, func() { _, _ = b.read(at(1, 1)) })
	took("propose", 4, func() { is(t, a.propose(at(1, 2), "x"), nil) })
	took("propose on fast", 2, func() { is(t, a.propose(at(2, 2), "x"), nil) })
	took("alloc", 4, func() { _, _ = a.alloc(3, wor.Meta{Size: 1}) })
	took("unsafe", 2, func() { is(t, a.unsafe(at(1, 99), "x"), wor.ErrUnknown) })
	took("stat", 2, func() { _, _ = a.stat(1) })
}
