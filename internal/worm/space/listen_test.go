// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// ear is a listener and the notes that it got.
type ear struct {
	c       *client
	r       wor.Range
	told    map[uint32]string
	times   map[uint32]int
	trimmed int
	bad     error
	stop    func()
}

func (c *client) listen(r wor.Range) *ear {
	e := &ear{c: c, r: r, told: map[uint32]string{}, times: map[uint32]int{}}
	c.serial.Do(func() {
		e.stop = c.Space.Listen(r, func(cell wor.Cell) {
			switch {
			case errors.Is(cell.Err, wor.ErrTrimmed):
				e.trimmed++
			case cell.Err != nil || cell.Addr.Segment != r.Segment || cell.Addr.Offset < r.Lo || cell.Addr.Offset >= r.Hi:
				e.bad = fmt.Errorf("told %v, %w", cell.Addr, cell.Err)
			default:
				if old, ok := e.told[cell.Addr.Offset]; ok && old != string(cell.Value) {
					e.bad = fmt.Errorf("told %v, %q and %q", cell.Addr, old, cell.Value)
				}
				e.told[cell.Addr.Offset] = string(cell.Value)
				e.times[cell.Addr.Offset]++
			}
		})
	})
	return e
}

// check waits until every decided value, or the trim, has been reported.
func (e *ear) check(t *testing.T, what string) {
	t.Helper()
	l := e.c.l
	if e.bad != nil {
		t.Fatal(what, e.bad)
	}
	fresh := l.client()
	cells, err := fresh.readRange(e.r)
	if err != nil {
		t.Fatal(what, err)
	}
	done := func() bool {
		if errors.Is(cells[0].Err, wor.ErrTrimmed) {
			return e.trimmed == 1
		}
		for _, cell := range cells {
			if _, ok := e.told[cell.Addr.Offset]; cell.Err == nil && !ok {
				return false
			}
		}
		return true
	}
	if !l.run(time.Minute, done) {
		t.Log(e.c.Dump())
		t.Fatalf("%s: listener %d was told %v, trimmed %d; is %v", what, e.c.number, e.told, e.trimmed, cells)
	}
	for off, v := range e.told {
		if cell := cells[off-e.r.Lo]; !errors.Is(cell.Err, wor.ErrTrimmed) && (cell.Err != nil || string(cell.Value) != v) {
			t.Fatalf("%s: listener %d was told %d is %q, but %q, %v", what, e.c.number, off, v, cell.Value, cell.Err)
		}
	}
	if e.trimmed > 1 {
		t.Fatalf("%s: trimmed was told %d times", what, e.trimmed)
	}
}

// TestListen: if nothing is lost, notes arrive in time and without reads.
func TestListen(t *testing.T) {
	each(t, 3, func(t *testing.T, l *lab, m wor.Meta, s wor.Segment) {
		a, b := l.client(), l.client()
		if _, err := a.alloc(s, m); err != nil {
			t.Fatal(err)
		}
		is(t, a.propose(at(s, 3), "before"), nil)
		e := b.listen(wor.Range{Segment: s, Lo: 2, Hi: 30})
		l.sleep(20 * time.Millisecond)
		if e.told[3] != "before" {
			t.Error("not told of what was there:", e.told)
		}
		token := a.capture(wor.Range{Segment: s, Lo: 1, Hi: 31})
		for off := uint32(1); off < 31; off++ {
			if off != 3 {
				is(t, a.write(token, off, fmt.Sprint(off)), nil)
			}
		}
		l.sleep(3 * time.Millisecond)
		if len(e.told) != 28 || e.bad != nil {
			t.Error(e.told, e.bad)
		}
		if v, ok := b.Known(at(s, 7)); !ok || string(v) != "7" {
			t.Error("told and not known", v, ok)
		}
		stopped := b.listen(wor.Range{Segment: s, Lo: 2, Hi: 40})
		l.sleep(20 * time.Millisecond)
		b.serial.Do(stopped.stop)
		is(t, a.propose(at(s, 35), "x"), nil)
		is(t, a.trim(s), nil)
		e.check(t, "trim")
		if _, ok := stopped.told[35]; ok || stopped.trimmed != 0 || len(stopped.told) != 29 {
			t.Error("told after stop", stopped.told)
		}
	})
}

// TestListenBeforeAlloc: a listener waits for the segment.
func TestListenBeforeAlloc(t *testing.T) {
	l := newLab(t, 3, 1, 3)
	a, b := l.client(), l.client()
	e := b.listen(wor.Range{Segment: 1, Lo: 0, Hi: 100})
	l.sleep(time.Second)
	if _, err := a.alloc(1, wor.Meta{Size: 10}); err != nil {
		t.Fatal(err)
	}
	is(t, a.propose(at(1, 9), "x"), nil)
	l.must("told", func() bool { return e.told[9] == "x" })
}

// TestListenAmongFaults: whatever is lost, all decided values are reported, and no
// others.
func TestListenAmongFaults(t *testing.T) {
	for seed := range seeds(t, 60) {
		l := newLab(t, uint64(seed), 2, 3)
		l.lose, l.double, l.late = .05, .1, .02
		protocol := wor.Protocol(seed % 3)
		w := &workload{
			h: &history{l: l, seen: map[string]int{}}, segment: 3, size: 8, steps: 20,
			bound: 20 * time.Millisecond, protocol: protocol, trims: seed%4 == 0,
		}
		var clients []*client
		var ears []*ear
		for range 3 {
			c := l.client(func(o *space.Options) { o.Patience = 500 * time.Millisecond })
			clients = append(clients, c)
			ears = append(ears, c.listen(wor.Range{Segment: 3, Lo: uint32(c.number) - 1, Hi: 8}))
		}
		if _, err := clients[0].alloc(w.segment, wor.Meta{Partition: wor.Partition(seed / 3 % 2), Protocol: protocol, Size: w.size}); err != nil {
			t.Fatal(err)
		}
		for _, c := range clients {
			w.start(c)
		}
		busy := true
		operator := l.client()
		operator.serial.Do(func() {
			operator.Reconfigure(wor.Partition(seed%2), members(l.hosts[1], l.hosts[4], l.addHost()), 0, nil,
				func(*wor.Config, error) { busy = false })
		})
		over := func() bool { return w.running == 0 && !busy }
		l.trouble(clients, 1, over)
		if !l.run(5*time.Minute, over) {
			t.Fatalf("seed %d: did not finish", seed)
		}
		l.lose = 0
		for _, e := range ears {
			e.check(t, fmt.Sprintf("seed %d, %v", seed, protocol))
		}
	}
}
