// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestChainsAreFull: if a server of a chain refuses, the operation ends, because it needs
// that server; also without a time bound.
func TestChainsAreFull(t *testing.T) {
	for full := range 3 {
		l := newLab(t, 7, 1, 3)
		a := l.client()
		if _, err := a.alloc(1, wor.Meta{Size: 100, Protocol: wor.Chain}); err != nil {
			t.Fatal(err)
		}
		token := a.capture(wor.Range{Segment: 1, Hi: 10})
		is(t, a.write(token, 0, "x"), nil)
		l.host(l.genesis.Partitions[0].Members[full].ID).groups[0].Limit(1)
		err := a.write(token, 1, "y")
		is(t, err, wor.ErrLimit)
		if full > 0 {
			is(t, err, wor.ErrUnknown) // the servers before have it
		}
		if full == 0 {
			_, err = a.tryCapture(wor.Range{Segment: 1, Lo: 20, Hi: 30})
			is(t, err, wor.ErrLimit)
			is(t, a.propose(at(1, 40), "z"), wor.ErrLimit)
		}
		if v, err := a.read(at(1, 0)); err != nil || v != "x" {
			t.Error(v, err)
		}
	}
}

// TestResultsOfAttempts: a read that is repeated for long does not count the bytes of
// earlier attempts as part of its result.
func TestResultsOfAttempts(t *testing.T) {
	l := newLab(t, 10, 1, 3)
	a := l.client(func(o *space.Options) { o.ResultMax = 8000 })
	if _, err := a.alloc(1, wor.Meta{Size: 10}); err != nil {
		t.Fatal(err)
	}
	long := string(make([]byte, 1000))
	is(t, a.propose(at(1, 0), long), nil)
	l.hosts[0].down, l.hosts[1].down = true, true
	var v []byte
	var err error
	over := false
	a.serial.Do(func() { a.Read(at(1, 0), 0, func(b []byte, e error) { v, err, over = b, e, true }) })
	l.sleep(10 * time.Minute)
	if over {
		t.Fatalf("ended without a majority: %d bytes, %v", len(v), err)
	}
	l.hosts[0].down = false
	l.must("read", func() bool { return over })
	if err != nil || string(v) != long {
		t.Error(len(v), err)
	}
}

// TestTokensOfAnEarlierEpoch: the error names the cause, so that owners of tokens capture
// anew.
func TestTokensOfAnEarlierEpoch(t *testing.T) {
	l := newLab(t, 11, 1, 3)
	a, b := l.client(), l.client()
	if _, err := a.alloc(1, wor.Meta{Size: 10}); err != nil {
		t.Fatal(err)
	}
	token := a.capture(wor.Range{Segment: 1, Hi: 10})
	if _, err := b.reconfigure(0, members(l.hosts...)); err != nil {
		t.Fatal(err)
	}
	err := a.write(token, 1, "x")
	errs := a.writeRange(token, wor.Range{Segment: 1, Lo: 2, Hi: 4}, "x")
	for _, err := range append(errs, err) {
		is(t, err, wor.ErrUnknown)
		is(t, err, wor.ErrSealed)
		is(t, err, wor.ErrOutbid)
	}
}
