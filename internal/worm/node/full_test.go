// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// tightDisk has no room for new data while it is full.
type tightDisk struct {
	*osenv.Disk
	full *atomic.Bool
	// refused may be nil. Before a call is refused, it gets a channel, and the call waits
	// until that channel is closed.
	refused chan chan struct{}
}

type tightFile struct {
	env.File
	disk tightDisk
}

func (d tightDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return tightFile{f, d}, nil
}

func (f tightFile) Truncate(size int64) error {
	if f.disk.full.Load() {
		if f.disk.refused != nil {
			proceed := make(chan struct{})
			f.disk.refused <- proceed
			<-proceed
		}
		return fmt.Errorf("truncate: %w", env.ErrNoSpace)
	}
	return f.File.Truncate(size)
}

// TestFullDisk: a server whose disk is full refuses requests, so that clients continue with
// the other servers, and reports why; it does not end, and serves as soon as there is room.
// Everything that it has acknowledged is still there.
func TestFullDisk(t *testing.T) {
	var full atomic.Bool
	var ended atomic.Int64
	c := newCluster(t, 3, t.TempDir(), func(o *Options) {
		o.LogSegment = 64 << 10
		o.Fatal = func(error) { ended.Add(1) }
	})
	c.stop(0)
	n := c.nodes[0]
	n.root = "" // it gets its disk here
	n.world.Disk = tightDisk{Disk: n.world.Disk.(*osenv.Disk), full: &full}
	if err := c.start(0); err != nil {
		t.Fatal(err)
	}
	k := c.client(7)
	value := strings.Repeat("v", 8<<10)
	write := func(i int, offset int) wor.Status {
		if r := k.call(t, c.member(i), writeOf(addr(1, offset), 1, value)); r != nil {
			return r.Status
		}
		return 99
	}
	for i := range 3 {
		eventually(t, "it serves", func() bool { return write(i, 0) == wor.StatusOK })
	}
	full.Store(true)
	acknowledged := []int{}
	at := 0
	eventually(t, "its disk is full", func() bool {
		if at++; write(0, at) == wor.StatusOK {
			acknowledged = append(acknowledged, at)
		}
		return c.nodes[0].Status().Full
	})
	if s := write(0, 1000); s != wor.StatusBusy {
		t.Errorf("a server whose disk is full answers %v, want %v at once", s, wor.StatusBusy)
	}
	for i := 1; i < 3; i++ {
		if s := write(i, 1000); s != wor.StatusOK {
			t.Errorf("server %d, whose disk has room, answers %v", i, s)
		}
	}
	if w := c.nodes[0].Status().Warnings; len(w) == 0 || !strings.Contains(w[0], "FULL") {
		t.Errorf("warnings: %q", w)
	}
	full.Store(false)
	eventually(t, "it serves again", func() bool { return write(0, 2000) == wor.StatusOK })
	for _, o := range acknowledged {
		if r := k.call(t, c.member(0), readOf(addr(1, o))); r == nil || r.Status != wor.StatusOK || len(r.Runs) != 1 || string(r.Runs[0].Value) != value {
			t.Fatalf("register %d was acknowledged: %+v", o, r)
		}
	}
	if len(acknowledged) == 0 || ended.Load() > 0 || c.nodes[0].Status().Full {
		t.Errorf("%d acknowledged, ended %d times, %+v", len(acknowledged), ended.Load(), c.nodes[0].Status().Full)
	}
}

// TestRepliesHeldByAFullDiskLeave: a record that arrived while a commit found no room is
// durable with the first commit that finds room; its reply leaves then, even if nothing else
// arrives.
func TestRepliesHeldByAFullDiskLeave(t *testing.T) {
	var full atomic.Bool
	refused := make(chan chan struct{})
	c := newCluster(t, 1, t.TempDir(), func(o *Options) { o.LogSegment = 64 << 10 })
	c.stop(0)
	n := c.nodes[0]
	n.root = "" // it gets its disk here
	n.world.Disk = tightDisk{Disk: n.world.Disk.(*osenv.Disk), full: &full, refused: refused}
	if err := c.start(0); err != nil {
		t.Fatal(err)
	}
	k := c.client(7)
	value := strings.Repeat("v", 8<<10)
	write := func(offset int) chan *wor.Reply {
		over := make(chan *wor.Reply, 1)
		q := writeOf(addr(1, offset), 1, value)
		k.serial.Do(func() { k.Call(c.member(0), &q, 5*time.Second, func(r *wor.Reply) { over <- r }) })
		return over
	}
	eventually(t, "it serves", func() bool { r := <-write(0); return r != nil && r.Status == wor.StatusOK })
	full.Store(true)
	for at := 1; ; at++ {
		if at == 100 {
			t.Fatal("the log never grew")
		}
		first := write(at)
		var proceed chan struct{}
		select {
		case r := <-first:
			if r == nil || r.Status != wor.StatusOK {
				t.Fatalf("write %d: %+v", at, r)
			}
			continue
		case proceed = <-refused:
		}
		records := c.nodes[0].Status().Counts.Records
		second := write(at + 1)
		eventually(t, "the second write has a record", func() bool { return c.nodes[0].Status().Counts.Records > records })
		close(proceed)
		// The second write has woken the server, which tries again without success. After
		// that, it tries when its retry is due.
		proceed = <-refused
		full.Store(false)
		close(proceed)
		for i, over := range []chan *wor.Reply{first, second} {
			if r := <-over; r == nil || r.Status != wor.StatusOK {
				t.Errorf("write %d, which waited for room: %+v", at+i, r)
			}
		}
		return
	}
}
