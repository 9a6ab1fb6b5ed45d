// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Each of these does one operation and waits for its answer.

func (c *client) alloc(s wor.Segment, m wor.Meta) (won wor.Meta, err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() { c.Alloc(s, m, 0, func(w wor.Meta, e error) { won, err, over = w, e, true }) })
	c.l.must("alloc", func() bool { return over })
	return won, err
}

func (c *client) stat(s wor.Segment) (m wor.Meta, err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() { c.Stat(s, 0, func(w wor.Meta, e error) { m, err, over = w, e, true }) })
	c.l.must("stat", func() bool { return over })
	return m, err
}

func (c *client) trim(s wor.Segment) (err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() { c.Trim(s, 0, func(e error) { err, over = e, true }) })
	c.l.must("trim", func() bool { return over })
	return err
}

func (c *client) capture(r wor.Range) *wor.Token {
	c.l.t.Helper()
	token, err := c.tryCapture(r)
	if err != nil {
		c.l.t.Fatalf("capture %v: %v", r, err)
	}
	return token
}

func (c *client) tryCapture(r wor.Range) (token *wor.Token, err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() { c.Capture(r, 0, func(t *wor.Token, e error) { token, err, over = t, e, true }) })
	c.l.must("capture", func() bool { return over })
	return token, err
}

func (c *client) write(t *wor.Token, off uint32, v string) (err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() { c.Write(t, off, []byte(v), 0, func(e error) { err, over = e, true }) })
	c.l.must("write", func() bool { return over })
	return err
}

func (c *client) writeRange(t *wor.Token, r wor.Range, v string) (errs []error) {
	c.l.t.Helper()
	c.serial.Do(func() { c.WriteRange(t, r, []byte(v), 0, func(e []error) { errs = e }) })
	c.l.must("write range", func() bool { return errs != nil })
	return errs
}

func (c *client) propose(a wor.Addr, v string) (err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() { c.Propose(a, []byte(v), 0, func(e error) { err, over = e, true }) })
	c.l.must("propose", func() bool { return over })
	return err
}

func (c *client) unsafe(a wor.Addr, v string) (err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() { c.WriteUnsafe(a, []byte(v), 0, func(e error) { err, over = e, true }) })
	c.l.must("write unsafe", func() bool { return over })
	return err
}

func (c *client) read(a wor.Addr) (v string, err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() { c.Read(a, 0, func(b []byte, e error) { v, err, over = string(b), e, true }) })
	c.l.must("read", func() bool { return over })
	return v, err
}

func (c *client) readRange(r wor.Range) (cells []wor.Cell, err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() { c.ReadRange(r, 0, func(x []wor.Cell, e error) { cells, err, over = x, e, true }) })
	c.l.must("read range", func() bool { return over })
	return cells, err
}

// holds checks the value that a write found.
func holds(t *testing.T, err error, value string) {
	t.Helper()
	var w *wor.WrittenError
	if !errors.As(err, &w) || string(w.Value) != value {
		t.Errorf("%v, want written %q", err, value)
	}
}

func is(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}

func at(s wor.Segment, off uint32) wor.Addr { return wor.Addr{Segment: s, Offset: off} }

// each runs a test for all protocols, with the data at home and elsewhere.
func each(t *testing.T, servers int, f func(t *testing.T, l *lab, m wor.Meta, s wor.Segment)) {
	for _, protocol := range []wor.Protocol{wor.Paxos, wor.Chain, wor.Fast} {
		for _, home := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v/home=%v", protocol, home), func(t *testing.T) {
				l := newLab(t, 1, 2, servers)
				s := wor.Segment(5) // of partition 1
				m := wor.Meta{Owner: 9, Partition: 1, Protocol: protocol, Size: 40, Payload: []byte("hello")}
				if !home {
					m.Partition = 0
				}
				f(t, l, m, s)
			})
		}
	}
}

func TestOneAfterTheOther(t *testing.T) {
	each(t, 3, func(t *testing.T, l *lab, m wor.Meta, s wor.Segment) {
		a, b := l.client(), l.client()
		_, err := a.stat(s)
		is(t, err, wor.ErrUnallocated)
		is(t, a.propose(at(s, 0), "x"), wor.ErrUnallocated)
		is(t, a.trim(s), wor.ErrUnallocated)
		if won, err := a.alloc(s, m); err != nil || won.Owner != 9 {
			t.Fatal(won, err)
		}
		if won, err := a.alloc(s, m); err != nil || won.Owner != 9 {
			t.Fatal("again:", won, err)
		}
		other := m
		other.Owner = 10
		won, err := b.alloc(s, other)
		if is(t, err, wor.ErrWritten); won.Owner != 9 || string(won.Payload) != "hello" {
			t.Error(won)
		}
		if got, err := b.stat(s); err != nil || got.Owner != 9 || got.Size != 40 {
			t.Error(got, err)
		}

		_, err = b.read(at(s, 3))
		is(t, err, wor.ErrUnwritten)
		token := a.capture(wor.Range{Segment: s, Lo: 0, Hi: 10})
		if len(token.Adopted) != 0 {
			t.Error(token.Adopted)
		}
		is(t, a.write(token, 3, "three"), nil)
		is(t, a.write(token, 3, "three"), nil)
		is(t, a.write(token, 3, "drei"), wor.ErrToken)
		is(t, a.write(token, 10, "ten"), wor.ErrToken)
		if v, err := b.read(at(s, 3)); err != nil || v != "three" {
			t.Error(v, err)
		}
		if v, ok := b.Known(at(s, 3)); !ok || string(v) != "three" {
			t.Error(v, ok)
		}
		if _, ok := b.Known(at(s, 4)); ok {
			t.Error("known")
		}

		// A token that was stolen is useless; the thief's own one shows which value is
		// there.
		stolen := b.capture(wor.Range{Segment: s, Lo: 2, Hi: 6})
		if v, free := stolen.Find(3); free || string(v) != "three" {
			t.Error(string(v), free)
		}
		err = a.write(token, 4, "four")
		is(t, err, wor.ErrUnknown)
		is(t, err, wor.ErrOutbid)
		holds(t, b.write(stolen, 3, "tres"), "three")
		is(t, b.write(stolen, 4, "vier"), nil)
		// It can be passed on.
		is(t, a.write(stolen.Part(wor.One(at(s, 5))), 5, "cinq"), nil)

		holds(t, b.propose(at(s, 5), "five"), "cinq")
		is(t, b.propose(at(s, 6), "six"), nil)
		is(t, b.propose(at(s, 6), "six"), nil)
		is(t, a.unsafe(at(s, 20), "twenty"), nil)

		errs := b.writeRange(b.capture(wor.Range{Segment: s, Lo: 2, Hi: 9}), wor.Range{Segment: s, Lo: 2, Hi: 9}, "fill")
		for i, want := range []string{"", "three", "vier", "cinq", "six", "", ""} {
			if want == "" {
				is(t, errs[i], nil)
			} else {
				holds(t, errs[i], want)
			}
		}
		cells, err := a.readRange(wor.Range{Segment: s, Lo: 1, Hi: 10})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"", "fill", "three", "vier", "cinq", "six", "fill", "fill", ""} {
			if string(cells[i].Value) != want || (cells[i].Err == nil) != (want != "") {
				t.Error(i, cells[i])
			}
		}

		is(t, a.propose(at(s, 40), "beyond"), wor.ErrLimit)
		_, err = a.tryCapture(wor.Range{Segment: s, Lo: 30, Hi: 41})
		is(t, err, wor.ErrLimit)

		is(t, b.trim(s), nil)
		is(t, b.trim(s), nil)
		is(t, a.trim(s), nil)
		for _, c := range []*client{a, b, l.client()} {
			_, err = c.read(at(s, 3))
			is(t, err, wor.ErrTrimmed)
			_, err = c.stat(s)
			is(t, err, wor.ErrTrimmed)
			is(t, c.propose(at(s, 3), "x"), wor.ErrTrimmed)
			is(t, c.unsafe(at(s, 3), "x"), wor.ErrTrimmed)
			_, err = c.alloc(s, m)
			is(t, err, wor.ErrTrimmed)
			_, err = c.tryCapture(wor.One(at(s, 3)))
			is(t, err, wor.ErrTrimmed)
			cells, err := c.readRange(wor.Range{Segment: s, Lo: 0, Hi: 2})
			if is(t, err, nil); len(cells) == 2 {
				is(t, cells[1].Err, wor.ErrTrimmed)
			}
		}
		if _, ok := b.Known(at(s, 3)); ok {
			t.Error("known in a segment that is trimmed")
		}
	})
}

// TestTombstonesAreMet: a client that did not trim finds out, whichever operation meets the
// tombstone first.
func TestTombstonesAreMet(t *testing.T) {
	each(t, 3, func(t *testing.T, l *lab, m wor.Meta, s wor.Segment) {
		for i := range wor.Segment(8) {
			a, b := l.client(), l.client()
			s := s + 2*i
			if _, err := a.alloc(s, m); err != nil {
				t.Fatal(err)
			}
			is(t, b.propose(at(s, 1), "x"), nil)
			token := b.capture(wor.Range{Segment: s, Lo: 2, Hi: 4})
			is(t, a.trim(s), nil)
			var err error
			switch i {
			case 0:
				_, err = b.read(at(s, 1))
			case 1:
				err = b.write(token, 2, "x")
			case 2:
				err = b.writeRange(token, token.Range, "x")[1]
			case 3:
				err = b.propose(at(s, 3), "x")
			case 4:
				_, err = b.tryCapture(token.Range)
			case 5:
				_, err = b.stat(s)
			case 6:
				_, err = b.alloc(s, m)
			case 7:
				err = b.unsafe(at(s, 3), "x")
			}
			is(t, err, wor.ErrTrimmed)
		}
	})
}

func TestMinorityDown(t *testing.T) {
	l := newLab(t, 3, 1, 3)
	a := l.client()
	if _, err := a.alloc(1, wor.Meta{Size: 10}); err != nil {
		t.Fatal(err)
	}
	l.hosts[1].down = true
	is(t, a.propose(at(1, 1), "x"), nil)
	l.hosts[1].down, l.hosts[0].down = false, true
	if v, err := l.client().read(at(1, 1)); err != nil || v != "x" {
		t.Error(v, err)
	}
	// A majority is down: time bounds hold.
	l.hosts[1].down = true
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	a.serial.Do(func() {
		a.Propose(at(1, 2), nil, 50*time.Millisecond, note)
		a.Read(at(1, 2), 50*time.Millisecond, func(_ []byte, err error) { note(err) })
		a.Stat(2, 50*time.Millisecond, func(_ wor.Meta, err error) { note(err) })
		a.Read(at(2, 2), 40*time.Millisecond, func(_ []byte, err error) { note(err) })
		a.Trim(1, 50*time.Millisecond, note)
	})
	l.sleep(51 * time.Millisecond)
	if len(errs) != 5 {
		t.Fatal(errs)
	}
	for _, err := range errs {
		is(t, err, wor.ErrDeadline)
	}
	a.serial.Do(func() {
		a.Propose(at(1, 3), nil, 0, note)
		a.Close()
		a.Propose(at(1, 3), nil, 0, note)
	})
	l.sleep(time.Millisecond)
	if len(errs) != 7 {
		t.Fatal(errs)
	}
	is(t, errs[5], wor.ErrClosed)
	is(t, errs[6], wor.ErrClosed)
}
