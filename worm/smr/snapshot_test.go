// SPDX-License-Identifier: Apache-2.0

package smr_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/smr"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestSnapshotTrimJoin: with snapshots, old commands are trimmed, and a replica that
// joins later, or was down, has the same state as the others.
func TestSnapshotTrimJoin(t *testing.T) {
	for _, leadership := range []smr.Leadership{smr.StickyLeader, smr.Turns, smr.Nobody} {
		for _, seen := range []int{0, 2} {
			t.Run(fmt.Sprint(leadership, seen), func(t *testing.T) {
				c := newCluster(t, ideal.Options{Seed: 1}, 2, func(o *smr.Options) {
					o.Leadership, o.Size = leadership, 8
					o.Snapshots = smr.Snapshots{Every: 2, Seen: seen}
				})
				for i := range 200 {
					propose(t, c, c.nodes[i/3%2], fmt.Sprintf("%d set k%d v%d", i, i%7, i))
				}
				c.w.Run(time.Second)
				id := smr.ID(9)
				live := 0
				for i := range c.nodes[0].r.Applied().Index() {
					if c.w.Register(wor.Addr{Segment: id.Segment(i)}).Phase != wor.Trimmed {
						live++
					}
				}
				if live > 6 {
					t.Errorf("%d segments of %v are not trimmed", live, c.nodes[0].r.Applied())
				}
				joiner := &node{c: c, number: 2}
				c.nodes = append(c.nodes, joiner)
				joiner.start("joiner")
				read(t, c, joiner, smr.Linearizable, 0)
				if !slices.Equal(joiner.m.log, c.nodes[0].m.log) || len(joiner.m.log) != 200 {
					t.Errorf("a joiner has %d commands, another replica %d", len(joiner.m.log), len(c.nodes[0].m.log))
				}
				propose(t, c, joiner, "200 set k v")
				read(t, c, c.nodes[0], smr.Linearizable, 0)
				if got := c.nodes[0].m.data["k"]; got != "v" {
					t.Errorf("what the joiner proposed is %q elsewhere", got)
				}
			})
		}
	}
}

// TestSessionSurvives: if a client sends a command again, to another replica, after
// snapshots and trimming, the command is not applied again, and the answer is the same as
// the first time.
func TestSessionSurvives(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 3}, 2, func(o *smr.Options) {
		o.Size, o.Snapshots = 4, smr.Snapshots{Every: 1}
	})
	propose(t, c, c.nodes[0], "0 set a old")
	var session smr.Session
	send := func(n *node, what string) string {
		answer := "none"
		n.p.Serial.Do(func() {
			n.r.ProposeIn(session, 1, 1, []byte(what), 0, func(r smr.Result, err error) { answer = fmt.Sprint(string(r.Value), err) })
		})
		if !c.w.RunUntil(time.Minute, func() bool { return answer != "none" }) {
			t.Fatal("it does not end")
		}
		return answer
	}
	c.nodes[0].p.Serial.Do(func() {
		c.nodes[0].r.OpenSession(0, func(s smr.Session, err error) { session = s })
	})
	c.w.RunUntil(time.Minute, func() bool { return session != 0 })
	first := send(c.nodes[0], "1 set a new")
	for i := range 40 {
		propose(t, c, c.nodes[0], fmt.Sprintf("%d set b c", i+2))
	}
	joiner := &node{c: c, number: 2}
	joiner.start("joiner")
	again := send(joiner, "1 set a new")
	if first != "old<nil>" || again != first {
		t.Errorf("the command answers %q, and %q again", first, again)
	}
	if n := len(joiner.m.log); n != 42 {
		t.Errorf("%d commands were applied, want 42", n)
	}
}

// TestLimits: a call that exceeds a limit is refused, and the error names the limit.
func TestLimits(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 3}, 1, func(o *smr.Options) { o.CommandsMax = 3 })
	n := c.nodes[0]
	var got []error
	n.p.Serial.Do(func() {
		for range 5 {
			n.r.Propose([]byte("0 get a b"), 0, func(_ smr.Result, err error) { got = append(got, err) })
		}
		n.r.Propose(make([]byte, smr.CommandMax+1), 0, func(_ smr.Result, err error) { got = append(got, err) })
	})
	c.w.Run(time.Second)
	text := fmt.Sprint(got)
	want := fmt.Sprintf("[%v %v smr.CommandMax is %d, got %d <nil> <nil> <nil>]", wor.ErrBusy, wor.ErrBusy, smr.CommandMax, smr.CommandMax+1)
	if text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	n.p.Serial.Do(func() {
		n.r.Close()
		n.r.Propose(nil, 0, func(_ smr.Result, err error) { text = fmt.Sprint(err) })
	})
	c.w.Run(time.Second)
	if text != wor.ErrClosed.Error() {
		t.Errorf("after Close: %s", text)
	}
}
