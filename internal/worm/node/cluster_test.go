// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/worm/paxos"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

func addr(seg, off int) wor.Addr { return wor.Addr{Segment: wor.Segment(seg), Offset: uint32(off)} }

func written(t testing.TB, runs []wor.Run, value string) {
	t.Helper()
	if len(runs) != 1 || runs[0].Status != wor.StatusOK || !runs[0].Written || string(runs[0].Value) != value {
		t.Fatalf("read %+v, want %q", runs, value)
	}
}

func accepted(t testing.TB, runs []wor.Run) {
	t.Helper()
	if len(runs) != 1 || runs[0].Status != wor.StatusOK {
		t.Fatalf("got %+v, want ok", runs)
	}
}

// modes runs a test on servers in memory and on durable ones.
func modes(t *testing.T, test func(t *testing.T, dir string)) {
	t.Run("memory", func(t *testing.T) { test(t, "") })
	t.Run("durable", func(t *testing.T) { test(t, t.TempDir()) })
}

func TestRegister(t *testing.T) {
	modes(t, func(t *testing.T, dir string) {
		c := newCluster(t, 3, dir, nil)
		k := c.client(7)
		for i := range 20 {
			b := wor.Ballot{Round: 1, Nonce: 7}
			r := wor.One(addr(1, i))
			accepted(t, k.wait(t, paxos.Client{}.Capture(3, r, b)))
			accepted(t, k.wait(t, paxos.Client{}.Write(3, r, b, fmt.Append(nil, "v", i))))
			written(t, k.wait(t, paxos.Client{}.Read(3, r)), fmt.Sprint("v", i))
		}
	})
}

func TestRestart(t *testing.T) {
	c := newCluster(t, 3, t.TempDir(), nil)
	k := c.client(7)
	b := wor.Ballot{Round: 1, Nonce: 7}
	for round := range 4 {
		r := wor.One(addr(1, round))
		accepted(t, k.wait(t, paxos.Client{}.Capture(3, r, b)))
		accepted(t, k.wait(t, paxos.Client{}.Write(3, r, b, []byte("v"))))
		for i := range 3 {
			c.stop(i)
		}
		for i := range 3 {
			if err := c.start(i); err != nil {
				t.Fatal(err)
			}
		}
		for j := range round + 1 {
			written(t, k.wait(t, paxos.Client{}.Read(3, wor.One(addr(1, j)))), "v")
		}
	}
}
