// SPDX-License-Identifier: Apache-2.0

package fast_test

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/worm/fast"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// votes calls f for every way in which n servers can hold one of the values 1 and 2 at
// ballot zero, or 0 for none.
func votes(n int, f func(held []int)) {
	held := make([]int, n)
	var fill func(i int)
	fill = func(i int) {
		if i == n {
			f(held)
			return
		}
		for held[i] = 0; held[i] <= 2; held[i]++ {
			fill(i + 1)
		}
	}
	fill(0)
}

// TestRecoveryIsRight tries all votes and all majorities that may answer a capture. The
// votes of servers outside the majority are not known: by definition a value may be
// chosen if, for some of those votes, a fast quorum has it. At most one value may be
// chosen, and the capture must adopt it; if none may be, the register is free.
func TestRecoveryIsRight(t *testing.T) {
	r, b := wor.Range{Segment: 1, Lo: 9, Hi: 10}, wor.Ballot{Round: 1, Nonce: 1}
	for n := 1; n <= 7; n++ {
		adopted, free := 0, 0
		for answering := range 1 << n {
			var inside, outside []int
			for s := range n {
				if answering>>s&1 == 1 {
					inside = append(inside, s)
				} else {
					outside = append(outside, s)
				}
			}
			if len(inside) != wor.Majority(n) {
				continue
			}
			votes(len(inside), func(held []int) {
				may := [3]bool{}
				votes(len(outside), func(others []int) {
					count := [3]int{}
					for _, v := range held {
						count[v]++
					}
					for _, v := range others {
						count[v]++
					}
					for v := 1; v <= 2; v++ {
						may[v] = may[v] || count[v] >= wor.FastQuorum(n)
					}
				})
				want := ""
				switch {
				case may[1] && may[2]:
					t.Fatalf("%d servers, of which %v hold %v: both values may be chosen", n, inside, held)
				case may[1]:
					want = "1"
				case may[2]:
					want = "2"
				}
				m := fast.Client{}.Capture(n, r, b)
				var out wor.Outbox
				m.Start(&out)
				for i, s := range inside {
					run := wor.Run{Count: 1, Promised: b}
					if held[i] > 0 {
						run.Written, run.Value = true, fmt.Append(nil, held[i])
					}
					m.Deliver(s, m.Step(), &wor.Reply{Runs: []wor.Run{run}}, &out)
				}
				if !m.Done() {
					t.Fatalf("%d servers: %v promised, and the capture is not done", n, inside)
				}
				got := m.Result()[0]
				if got.Status != wor.StatusOK || got.Written != (want != "") || string(got.Value) != want {
					t.Fatalf("%d servers, of which %v hold %v: %+v, want %q", n, inside, held, got, want)
				}
				if got.Written {
					adopted++
				} else {
					free++
				}
			})
		}
		if adopted == 0 || free == 0 {
			t.Errorf("%d servers: adopted %d times, free %d times", n, adopted, free)
		}
	}
}

// TestReadNeedsAFastQuorum: a read reports a value at ballot zero as decided exactly when
// a fast quorum has shown it.
func TestReadNeedsAFastQuorum(t *testing.T) {
	r := wor.Range{Segment: 1, Lo: 9, Hi: 10}
	for n := 1; n <= 5; n++ {
		votes(n, func(held []int) {
			m := fast.Client{}.Read(n, r)
			var out wor.Outbox
			m.Start(&out)
			step := m.Step()
			count := [3]int{}
			for s := range n {
				if m.Done() {
					break
				}
				count[held[s]]++
				run := wor.Run{Count: 1}
				if held[s] > 0 {
					run.Written, run.Value = true, fmt.Append(nil, held[s])
				}
				m.Deliver(s, step, &wor.Reply{Runs: []wor.Run{run}}, &out)
			}
			if !m.Done() {
				if count[1] > 0 && count[2] > 0 {
					t.Fatalf("%d servers hold %v: waits for nobody", n, held)
				}
				return
			}
			got := m.Result()[0]
			switch q := wor.FastQuorum(n); {
			case got.Written && (count[got.Value[0]-'0'] < q):
				t.Fatalf("%d servers hold %v: %+v", n, held, got)
			case got.Status == wor.StatusOK && !got.Written && count[0] < wor.Majority(n):
				t.Fatalf("%d servers hold %v: unwritten", n, held)
			case got.Status == wor.StatusOutbid && (count[1] == 0 || count[2] == 0):
				t.Fatalf("%d servers hold %v: outbid", n, held)
			}
		})
	}
}
