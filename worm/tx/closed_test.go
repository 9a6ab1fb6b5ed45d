// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
)

// TestCommitsOverSegments runs many transactions, in two ways, while nothing fails and all
// RMs vote YES: then each must commit, although the RMs change their segments many times. A
// client that begins in an idle process has registers that were granted long ago.
func TestCommitsOverSegments(t *testing.T) {
	const rms, each, hands = 3, 400, 4
	for v := A8; v <= E3; v++ {
		g := newGroup(t, ideal.Options{Seed: uint64(v)}, v, rms)
		parts := []Part{{RM: 0}, {RM: 1}, {RM: 2}}
		ended := 0
		var begin func(n *member, left int)
		begin = func(n *member, left int) {
			if left == 0 {
				return
			}
			n.e.Start(parts, func(tx Tx, o *Outcome, err error) {
				ended++
				switch {
				case err != nil:
					t.Errorf("%v: transaction %d was not begun: %v", v, ended, err)
				case o.Unknown || !o.Commit:
					t.Errorf("%v: transaction %d, %v: %+v, want a commit", v, ended, tx.ID, o)
				}
				n.p.After(0, func() { begin(n, left-1) })
			})
		}
		for range hands {
			begin(g.nodes[0], each)
			begin(g.nodes[1], each)
		}
		begin(g.nodes[2], 1)
		want := 2*hands*each + 1
		if !g.w.RunUntil(5*time.Minute, func() bool { return ended == want }) {
			t.Errorf("%v: %d of %d transactions have ended", v, ended, want)
		}
		idle := false
		g.nodes[2].e.Start(parts, func(_ Tx, o *Outcome, err error) {
			if idle = true; err != nil || !o.Commit {
				t.Errorf("%v, of a process that was idle: %+v, %v; want a commit", v, o, err)
			}
		})
		if !g.w.RunUntil(time.Minute, func() bool { return idle }) {
			t.Errorf("%v: the transaction of a process that was idle does not end", v)
		}
		if n := g.nodes[0].e.chains[0].cur.n; n < 4 {
			t.Errorf("%v: the first RM is in segment %d, so that little was shown", v, n)
		}
		if g.failed != nil {
			t.Errorf("%v: %v", v, g.failed)
		}
	}
}

// TestClosedIsSaidAtOnce: a client that joins with a register that is closed votes NO there
// and gives the reason, so that the others do not wait.
func TestClosedIsSaidAtOnce(t *testing.T) {
	g := newGroup(t, ideal.Options{Seed: 9, Fixed: time.Millisecond}, F2, 2)
	var x Tx
	g.nodes[1].e.Reserve([]Part{{RM: 0}, {RM: 1}}, func(tx Tx, err error) {
		if x = tx; err != nil {
			t.Fatal(err)
		}
	})
	c := g.nodes[0].e.chains[0]
	c.advance()
	g.w.RunUntil(time.Second, func() bool { return c.next != nil })
	c.advance()
	var o *Outcome
	g.nodes[1].e.Watch(x, func(got *Outcome) { o = got })
	g.nodes[0].e.Join(x, 0, nil)
	g.nodes[1].e.Join(x, 1, nil)
	// Sooner than the patience of any process, which is 50 ms.
	if !g.w.RunUntil(20*time.Millisecond, func() bool { return o != nil }) {
		t.Fatal("nobody has heard of the abort")
	}
	if o.Commit || string(o.Briefs[0]) != ReasonRolled {
		t.Errorf("outcome %+v, want an abort since the register is %s", o, ReasonRolled)
	}
}
