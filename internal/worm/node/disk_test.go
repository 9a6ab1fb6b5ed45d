// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestRolledBack: a server whose disk was restored to an earlier state is mute
// permanently, whichever peer notices, and the others continue.
func TestRolledBack(t *testing.T) {
	for _, test := range []struct {
		name     string
		running  bool // the copy is made while it runs
		restarts int  // between the copy and its restoration
		alone    int  // after that, while no peer is reachable
	}{{"a generation", false, 1, 0}, {"two generations", false, 2, 0}, {"within a generation", true, 0, 0},
		{"a generation, then as many alone", false, 1, 1}, {"a generation, then more alone", false, 1, 3}} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			c := newCluster(t, 3, dir, func(o *Options) { o.TellEvery = 20 * time.Millisecond })
			k := c.client(7)
			serving := func(i int) func() bool {
				return func() bool {
					r := k.call(t, c.member(i), readOf(addr(1, 1)))
					return r != nil && r.Status == wor.StatusOK
				}
			}
			for i := range 3 {
				eventually(t, "it serves", serving(i))
			}
			save, disk := t.TempDir(), dir+"/s0"
			if !test.running {
				c.stop(0)
			}
			if err := os.CopyFS(save, os.DirFS(disk)); err != nil {
				t.Fatal(err)
			}
			for range test.restarts {
				if err := c.start(0); err != nil {
					t.Fatal(err)
				}
				eventually(t, "it serves again", serving(0))
				c.stop(0)
			}
			if test.running {
				told := func() uint64 {
					s := c.nodes[1].Server
					s.mu.Lock()
					defer s.mu.Unlock()
					return s.witness.seen[c.member(0).ID].position
				}
				if r := k.call(t, c.member(0), writeOf(addr(1, 1), 1, "forgotten")); r == nil || r.Status != wor.StatusOK {
					t.Fatalf("write: %+v", r)
				}
				position := c.nodes[0].Status().Position
				eventually(t, "the others know", func() bool { return told() >= position })
				c.stop(0)
			}
			if err := os.RemoveAll(disk); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(disk, os.DirFS(save)); err != nil {
				t.Fatal(err)
			}
			// Only its peers have seen it.
			c.nodes[0].world.Random = env.Seeded(77)
			for i := range test.alone {
				for peer := 1; i == 0 && peer < 3; peer++ {
					c.stop(peer)
				}
				c.nodes[0].world.Random = env.Seeded(uint64(80 + i))
				if err := c.start(0); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the life is written down", func() bool { s := c.nodes[0].Status(); return s.Position > 0 && s.Pending == 0 })
				c.stop(0)
			}
			for peer := 1; test.alone > 0 && peer < 3; peer++ {
				if err := c.start(peer); err != nil {
					t.Fatal(err)
				}
				c.nodes[0].world.Random = env.Seeded(90)
			}
			if err := c.start(0); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is found out", func() bool { return c.nodes[0].Status().RolledBack != "" })
			fresh := c.client(8)
			if r := fresh.call(t, c.member(0), readOf(addr(1, 1))); r != nil && r.Status != wor.StatusMute {
				t.Fatalf("it answers %+v", r)
			}
			eventually(t, "the others serve", func() bool { return serving(1)() && serving(2)() })
		})
	}
}

// TestEmptyDisk: a server whose disk was lost is a new server, and is refused.
func TestEmptyDisk(t *testing.T) {
	dir := t.TempDir()
	c := newCluster(t, 3, dir, nil)
	k := c.client(7)
	c.stop(0)
	if err := os.RemoveAll(dir + "/s0"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir+"/s0", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := c.start(0); err == nil {
		t.Fatal("an empty disk was taken for a server's")
	}
	if err := c.nodes[0].mount(); err != nil {
		t.Fatal(err)
	}
	if _, err := Format(c.nodes[0].world, "log", "s0"); err != nil {
		t.Fatal(err)
	}
	if err := c.start(0); err != nil {
		t.Fatal(err)
	}
	if r := k.call(t, c.member(0), readOf(addr(1, 1))); r != nil {
		t.Fatalf("it answers for the one that was lost: %+v", r)
	}
	me := wor.Member{ID: c.nodes[0].ID(), Addr: c.member(0).Addr}
	eventually(t, "it says that it is no member", func() bool {
		r := k.call(t, me, readOf(addr(1, 1)))
		return r != nil && r.Status == wor.StatusForeign
	})
}

// TestMuteUntilSure: a server does not answer until enough others have confirmed that its
// disk is the newest; with Alone it does.
func TestMuteUntilSure(t *testing.T) {
	c := newCluster(t, 3, t.TempDir(), nil)
	k := c.client(7)
	for i := range 3 {
		c.stop(i)
	}
	if err := c.start(0); err != nil {
		t.Fatal(err)
	}
	status := func(i int) func() wor.Status {
		return func() wor.Status {
			if r := k.call(t, c.member(i), readOf(addr(1, 1))); r != nil {
				return r.Status
			}
			return 99
		}
	}
	eventually(t, "it answers", func() bool { return status(0)() != 99 })
	if s := status(0)(); s != wor.StatusMute || !c.nodes[0].Status().Partitions[0].Unsure {
		t.Fatalf("alone it answers %v", s)
	}
	if err := c.start(1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two serve", func() bool { return status(0)() == wor.StatusOK && status(1)() == wor.StatusOK })
	c.stop(0)
	c.stop(1)
	c.change = func(o *Options) { o.Alone = true }
	if err := c.start(2); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it serves alone", func() bool { return status(2)() == wor.StatusOK })
	if len(c.nodes[2].Status().Warnings) == 0 {
		t.Fatal("nobody is warned")
	}
}
