// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/counter"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is one replica for each of some nodes. Node i has the processes 2i and 2i+1.
type cluster struct {
	t     *testing.T
	nodes []*counter.Replica
	procs []distsys.Resource
}

func newCluster(t *testing.T, n int) *cluster {
	c := &cluster{t: t}
	addresses, err := ports.Free(n)
	if err != nil {
		t.Fatal(err)
	}
	of := func(i int) []value.Value { return []value.Value{value.Int(int32(2 * i)), value.Int(int32(2*i + 1))} }
	for i := range n {
		o := counter.Options{Listen: env.Addr(addresses[i]), Local: of(i), Interval: 5 * time.Millisecond}
		for j := range n {
			if j != i {
				o.Peers = append(o.Peers, counter.Peer{Addr: env.Addr(addresses[j]), Processes: of(j)})
			}
		}
		r := open(t, o)
		t.Cleanup(func() { r.Close() })
		c.nodes = append(c.nodes, r)
		for _, self := range of(i) {
			p, err := r.Process(self)
			if err != nil {
				t.Fatal(err)
			}
			c.procs = append(c.procs, p)
		}
	}
	return c
}

func open(t *testing.T, o counter.Options) *counter.Replica {
	t.Helper()
	e := osenv.New()
	n := osenv.NewNetwork(osenv.NetworkOptions{})
	t.Cleanup(func() { n.Close() })
	e.Network = n
	o.Link = link.Options{Env: e, System: "test", Node: "n", BackoffMin: time.Millisecond, BackoffMax: 10 * time.Millisecond}
	r, err := counter.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (c *cluster) read(p int) int {
	c.t.Helper()
	v, err := c.procs[p].Read(nil, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return int(v.AsInt())
}

// TestCounter executes random sections on the processes of three nodes, and compares
// what they read with what the mapping macro allows: no less than the process has read
// or added, no more than all have added. What aborted is not counted. In the end all
// read everything.
func TestCounter(t *testing.T) {
	c := newCluster(t, 3)
	r := rand.New(rand.NewPCG(51, 52))
	seen := make([]int, len(c.procs))
	total := 0
	for range 3000 {
		p := r.IntN(len(c.procs))
		least, added := seen[p], 0
		for range 1 + r.IntN(3) { // accesses of a section
			if r.IntN(2) == 0 {
				n := r.IntN(4)
				if err := c.procs[p].Write(nil, nil, value.Int(int32(n))); err != nil {
					t.Fatal(err)
				}
				added, least = added+n, least+n
				continue
			}
			got := c.read(p)
			if got < least || got > total+added {
				t.Fatalf("process %d reads %d, want %d to %d", p, got, least, total+added)
			}
			least = got
		}
		if r.IntN(3) == 0 {
			c.procs[p].Abort(nil)
			// What it read of others stays true, and what it added does not count.
			seen[p] = max(seen[p], least-added)
			continue
		}
		if err := c.procs[p].PreCommit(nil); err != nil {
			t.Fatal(err)
		}
		c.procs[p].Commit(nil)
		seen[p], total = least, total+added
		if r.IntN(100) == 0 {
			time.Sleep(time.Millisecond) // the replicas ask each other
		}
	}
	if total < 1000 {
		t.Fatalf("only %d was added", total)
	}
	for p := range c.procs {
		for end := time.Now().Add(30 * time.Second); c.read(p) != total; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("process %d reads %d, want %d in the end", p, c.read(p), total)
			}
		}
	}
}

// TestLinger: a node that ends waits until the others have what it added.
func TestLinger(t *testing.T) {
	c := newCluster(t, 3)
	add := func(p int) {
		t.Helper()
		if err := c.procs[p].Write(nil, nil, value.Int(1)); err != nil {
			t.Fatal(err)
		}
		c.procs[p].Commit(nil)
	}
	// Node 0 has been connected to node 1 before it ends: otherwise node 1 waits for it.
	add(2)
	for end := time.Now().Add(30 * time.Second); c.read(0) != 1 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	for range 49 {
		add(0)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c.nodes[0].Linger(ctx)
	if err := c.nodes[0].Close(); err != nil {
		t.Fatal(err)
	}
	// Node 2 may lack what node 1 added.
	if mine, other := c.read(2), c.read(4); mine != 50 || other < 49 {
		t.Errorf("when the node has ended, the others read %d and %d, want 50, and 49 or 50", mine, other)
	}
	add(2)
	c.nodes[1].Linger(ctx) // for node 2, and not for node 0, which has ended
	if got := c.read(4); got != 51 || ctx.Err() != nil {
		t.Errorf("it reads %d, %v", got, ctx.Err())
	}
}

type waker chan struct{}

func (w waker) Wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// TestWakes: what another node adds wakes a section that waits.
func TestWakes(t *testing.T) {
	c := newCluster(t, 2)
	w := make(waker, 1)
	watched := c.procs[0].(distsys.Watched)
	watched.Watch(w)
	defer watched.Unwatch(w)
	if err := c.procs[2].Write(nil, nil, value.Int(7)); err != nil {
		t.Fatal(err)
	}
	c.procs[2].Commit(nil)
	select {
	case <-w:
	case <-time.After(30 * time.Second):
		t.Fatal("nothing woke the section")
	}
	if got := c.read(0); got != 7 {
		t.Errorf("it reads %d", got)
	}
}

// TestRefuses: what no counter can do is an error.
func TestRefuses(t *testing.T) {
	c := newCluster(t, 1)
	p := c.procs[0]
	for want, v := range map[string]value.Value{"natural number": value.Int(-1), "got TRUE": value.Bool(true)} {
		if err := p.Write(nil, nil, v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("adding %s: %v", v, err)
		}
	}
	if err := p.Write(nil, []value.Value{value.Int(1)}, value.Int(1)); err == nil {
		t.Error("it has an index")
	}
	for range 2 {
		if err := p.Write(nil, nil, value.Int(1<<30)); err != nil {
			if !strings.Contains(err.Error(), "would exceed") {
				t.Fatal(err)
			}
			p.Abort(nil)
			if got := c.read(0); got != 0 {
				t.Errorf("after the abort it reads %d", got)
			}
			return
		}
	}
	t.Error("it counts beyond the largest number")
}

// TestBelievesNoOther: a node is believed about its own processes only. This one says
// that it has process 2, which is another node's.
func TestBelievesNoOther(t *testing.T) {
	liar := open(t, counter.Options{Listen: "127.0.0.1:0", Local: []value.Value{value.Int(2)}})
	defer liar.Close()
	p, err := liar.Process(value.Int(2))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(nil, nil, value.Int(5)); err != nil {
		t.Fatal(err)
	}
	p.Commit(nil)
	honest := open(t, counter.Options{Listen: "127.0.0.1:0", Local: []value.Value{value.Int(3)}})
	defer honest.Close()
	q, err := honest.Process(value.Int(3))
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Write(nil, nil, value.Int(100)); err != nil {
		t.Fatal(err)
	}
	q.Commit(nil)
	r := open(t, counter.Options{Listen: "127.0.0.1:0", Local: []value.Value{value.Int(0)}, Interval: time.Millisecond, Peers: []counter.Peer{
		{Addr: liar.Addr(), Processes: []value.Value{value.Int(1)}}, {Addr: honest.Addr(), Processes: []value.Value{value.Int(3)}}}})
	defer r.Close()
	own, err := r.Process(value.Int(0))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		v, err := own.Read(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := v.AsInt(); n == 100 {
			return
		} else if n != 0 || time.Now().After(end) {
			t.Fatalf("it reads %d", n)
		}
	}
}
