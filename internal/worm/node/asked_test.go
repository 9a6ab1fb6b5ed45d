// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/wire"
)

// TestPeersAreDialledAgain: while a server waits for one more member, it gives up dials
// that are not answered, and dials again: a long dial may have begun while the member was
// down.
func TestPeersAreDialledAgain(t *testing.T) {
	dials := func(d *desk, addr string) (n int) {
		for _, h := range d.dialled {
			if string(h.addr) == addr {
				n++
			}
		}
		return n
	}
	t.Run("in WitnessWait", func(t *testing.T) {
		d, keys := asker(t)
		d.clock.advance(patienceMax) // while no peer answers, dials get more time
		r, answer := d.reportTo(t, "p0")
		before := dials(d, "p1")
		answer(keys[0], verdict{about: d.s.ID(), to: r.digest()})
		d.clock.advance(WitnessWaitDefault)
		if n := dials(d, "p1") - before; n < 2 {
			t.Errorf("%d more dials", n)
		}
	})
	t.Run("when it reports", func(t *testing.T) {
		d, keys := asker(t)
		d.clock.advance(patienceMax)
		g := d.peer(keys[1])
		for _, more := range []int{1, 0} { // a stranger may send the same report again
			before := dials(d, "p1")
			g.reports(keys[1], life(5))
			d.commit()
			g.one(wire.TypeAnswer)
			d.clock.advance(2 * wheelTick)
			if n := dials(d, "p1") - before; n != more {
				t.Errorf("%d more dials, want %d", n, more)
			}
		}
	})
}

// TestDistantMembersAreReached: a member that needs a second to answer a dial, and reports
// all that time, is not dialled anew each time.
func TestDistantMembersAreReached(t *testing.T) {
	d, keys := asker(t)
	g := d.peer(keys[1])
	for i := range 20 { // TellEvery apart
		g.reports(keys[1], report{now: sighting{place{1, uint64(10 + i)}, 5}})
		d.commit()
		g.one(wire.TypeAnswer)
		d.clock.advance(TellEveryDefault)
	}
	oldest := time.Duration(0)
	for step := TellEveryDefault / 10; oldest < 2*time.Second; oldest += step {
		open := slices.IndexFunc(d.dialled, func(h handDial) bool { return string(h.addr) == "p1" && !h.c.closed })
		if open < 0 {
			break
		}
		before := len(d.dialled)
		d.clock.advance(step)
		if len(d.dialled) > before && d.dialled[open].c.closed {
			break
		}
	}
	if oldest < time.Second {
		t.Errorf("a dial is given up after %v", oldest)
	}
}

// TestOtherVersions: a server that runs another version is reported as a problem, and is
// not just missing as a witness.
func TestOtherVersions(t *testing.T) {
	d, _ := asker(t)
	peer := d.askedAt(t, "p0")
	peer.report(t)
	peer.answer(func(e *wire.Encoder) { _ = e.Answer(1, wire.CodeLimit, []byte("want a report of format 2, got 3")) })
	if s := d.s.Status().Trouble; !strings.Contains(s, "p0") || !strings.Contains(s, "format 2, got 3") {
		t.Errorf("the trouble is %q", s)
	}
	if _, err := decodeReport([]byte{2}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("want a report of format %d, got 2", reportForm)) {
		t.Errorf("a report of form 2: %v", err)
	}
}
