// SPDX-License-Identifier: Apache-2.0

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/evidence/faultproxy"
	"github.com/ashlar-dev/ashlar/internal/evidence/worm/history"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/smr"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// longVariable makes the tests run for minutes.
const longVariable = "ASHLAR_LONG"

// patience bounds every wait for an event that must happen, also on a busy machine.
const patience = 3 * time.Minute

// nemesis causes the trouble of a cluster, one kind after another.
type nemesis struct {
	t        *testing.T
	c        *cluster
	operator *worm.Client
	r        *rand.Rand
	load     *workload
	done     map[string]int
	order    []int // the order of the next kinds of trouble
}

// handles are a client's log and keys, opened anew when the servers have changed: open
// handles know only the earlier servers.
type handles struct {
	client *worm.Client
	mu     sync.Mutex
	l      *worm.Log
	kv     *worm.KV
	old    []func()
}

func (h *handles) renew(t *testing.T) {
	t.Helper()
	var l *worm.Log
	var kv *worm.KV
	await(t, "log and keys", patience, func(ctx context.Context) (err error) {
		if l == nil {
			if l, err = h.client.Log(ctx, theLog, worm.LogOptions{}); err != nil {
				return err
			}
		}
		kv, err = h.client.KV(ctx)
		return err
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.l, h.kv, h.old = l, kv, append(h.old, l.Close, kv.Close)
}

func (h *handles) theLog() *worm.Log {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.l
}

func (h *handles) theKV() *worm.KV {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.kv
}

func (h *handles) close() {
	for _, f := range h.old {
		f()
	}
}

// lives waits until all operations make progress again.
func (w *workload) lives() {
	w.t.Helper()
	counts := func() map[string]int {
		w.mu.Lock()
		n := 0
		for i := range w.txns {
			if w.txns[i].Status == history.Committed {
				n++
			}
		}
		w.mu.Unlock()
		return map[string]int{
			"writes": w.registers.count("write ok"), "appends": w.log.count("append ok"), "tails": w.log.count("tail ok"),
			"transactions": n, "sums": w.keys.count("incr ok"), "commands": w.machine.count("command ok"),
		}
	}
	before := counts()
	await(w.t, "everything gets on", patience, func(context.Context) error {
		for what, n := range counts() {
			if n < before[what]+3 {
				return fmt.Errorf("%d %s, %d before", n, what, before[what])
			}
		}
		return nil
	})
}

// begin starts clients of all kinds on a cluster: each of two connections has workers of
// all kinds.
func (w *workload) begin(c *cluster) (closed func()) {
	w.t.Helper()
	var closes []func()
	for i := range 2 {
		client := c.client()
		number := 10 * (i + 1)
		h := &handles{client: client}
		w.handles = append(w.handles, h)
		h.renew(w.t)
		machine := &counter{}
		replica, err := client.Replica(smr.Options{
			ID: theMachine, Machine: machine, Leadership: smr.Nobody, Size: 100, Snapshots: smr.Snapshots{Every: 2},
		})
		if err != nil {
			w.t.Fatal(err)
		}
		for j := range 3 {
			w.run(client, number+j, (*worker).register)
		}
		w.run(client, number+3, func(k *worker) { k.append(h) })
		w.run(client, number+4, func(k *worker) { k.append(h); k.look(h.theLog()) })
		w.run(client, number+5, func(k *worker) { k.transact(h.theKV()) })
		w.run(client, number+6, func(k *worker) { k.transact(h.theKV()) })
		w.run(client, number+7, func(k *worker) { k.key(h.theKV()) })
		w.run(client, number+8, func(k *worker) { k.command(replica, machine) })
		closes = append(closes, func() {
			replica.Close()
			h.close()
			client.Close()
		})
	}
	return func() {
		for _, f := range closes {
			f()
		}
	}
}

// TestNemesis runs clients of all kinds while servers and links suffer all kinds of
// trouble.
func TestNemesis(t *testing.T) {
	rounds, moment := 6, 1200*time.Millisecond
	if os.Getenv(longVariable) != "" {
		rounds, moment = 40, 2*time.Second
	}
	if testing.Short() {
		t.Skip("real processes take half a minute")
	}
	c := newCluster(t, 5)
	n := &nemesis{t: t, c: c, operator: c.client(), r: rand.New(rand.NewPCG(1, 2)), done: map[string]int{}}
	defer n.operator.Close()
	c.serving(n.operator, patience)
	stop, end := context.WithCancel(context.Background())
	defer end()
	w := newWorkload(t, stop)
	closed := w.begin(c)
	n.load = w
	misfortunes := []func(){n.dead, n.empty, n.old, n.drainAll, n.killAll}
	for round := range rounds {
		for range 2 {
			n.trouble(moment)
		}
		misfortunes[round%len(misfortunes)]()
		if t.Failed() {
			break
		}
	}
	c.calm()
	w.lives()
	end()
	w.finish(c)
	closed()
	w.summary(t, 5)
	t.Logf("nemesis %v, %d connections cut, checkpoints %v", n.done, n.cuts(), n.checkpoints())
}

func (n *nemesis) cuts() int {
	sum := 0
	for _, h := range n.c.hosts {
		for _, k := range h.links {
			sum += k.Cuts()
		}
	}
	return sum
}

func (n *nemesis) checkpoints() (of []uint64) {
	for _, h := range n.c.hosts {
		of = append(of, h.ask().Checkpoints)
	}
	return of
}

// pause waits up to that long.
func (n *nemesis) pause(most time.Duration) { time.Sleep(time.Duration(n.r.Int64N(int64(most)))) }

func (n *nemesis) any() *host { return n.c.hosts[n.r.IntN(len(n.c.hosts))] }

// trouble causes one kind of trouble for a moment.
func (n *nemesis) trouble(moment time.Duration) {
	kinds := []struct {
		name string
		do   func()
	}{
		{"kill", func() {
			h := n.any()
			h.kill()
			n.pause(moment / 3)
			h.start()
			n.pause(moment)
		}},
		{"kill two", func() {
			i := n.r.IntN(len(n.c.hosts))
			a, b := n.c.hosts[i], n.c.hosts[(i+1)%len(n.c.hosts)]
			a.kill()
			b.kill()
			n.pause(moment / 2)
			a.start()
			b.start()
			n.pause(moment)
		}},
		{"stop", func() {
			h := n.any()
			h.signal(syscall.SIGSTOP)
			n.pause(2 * moment)
			h.signal(syscall.SIGCONT)
			n.pause(moment)
		}},
		{"stop and kill", func() {
			h := n.any()
			h.signal(syscall.SIGSTOP)
			n.pause(moment)
			h.kill()
			h.start()
			n.pause(moment)
		}},
		{"cut off", func() { // from all others, both ways
			h := n.any()
			n.links(func(from int, to *host) bool { return to == h || from == h.number }, faultproxy.Faults{Blackhole: true})
			n.pause(2 * moment)
		}},
		{"halves", func() { // two servers of five on one side, with or without the clients
			i, with := n.r.IntN(5), n.r.IntN(2) == 0
			few := func(j int) bool { return j == i || j == (i+1)%5 || j == len(n.c.hosts) && with }
			n.links(func(from int, to *host) bool { return few(from) != few(to.number) }, faultproxy.Faults{Blackhole: true})
			n.pause(2 * moment)
		}},
		{"one way", func() { // a client that asks it hangs, although it can ask others
			h := n.any()
			n.links(func(from int, to *host) bool { return to == h }, faultproxy.Faults{Blackhole: true})
			n.pause(2 * moment)
		}},
		{"resets", func() {
			for range 5 {
				n.links(func(int, *host) bool { return false }, faultproxy.Faults{})
				for _, k := range n.any().links {
					k.Reset()
				}
				n.pause(moment / 3)
			}
		}},
		{"bad lines", func() {
			n.links(func(int, *host) bool { return n.r.IntN(2) == 0 }, faultproxy.Faults{Cut: 20_000, Delay: 20 * time.Millisecond, Piece: 700})
			time.Sleep(moment)
		}},
	}
	if len(n.order) == 0 {
		n.order = n.r.Perm(len(kinds))
	}
	k := kinds[n.order[0]]
	n.order = n.order[1:]
	n.done[k.name]++
	k.do()
	n.c.calm()
	if n.r.IntN(2) == 0 {
		n.pause(moment / 2)
	}
}

// links sets the faults of the chosen links, and removes those of the others.
func (n *nemesis) links(which func(from int, to *host) bool, w faultproxy.Faults) {
	for _, h := range n.c.hosts {
		for from, k := range h.links {
			if which(from, h) {
				k.Set(w)
			} else {
				k.Set(faultproxy.Faults{})
			}
		}
	}
}

// member returns a server that is a member, and spare one that is not.
func (n *nemesis) member() *host {
	for {
		if h := n.any(); n.isMember(h) {
			return h
		}
	}
}

func (n *nemesis) spare() *host {
	for _, h := range n.c.hosts {
		if !n.isMember(h) {
			return h
		}
	}
	n.t.Fatal("no server is a spare one")
	return nil
}

func (n *nemesis) isMember(h *host) bool {
	for p := range n.c.genesis.Partitions {
		cfg, err := n.operator.Config(wor.Partition(p))
		if err != nil {
			n.t.Fatal(err)
		}
		for _, m := range cfg.Members {
			if m.ID == h.member.ID {
				return true
			}
		}
	}
	return false
}

// replace replaces a server by another, under load.
func (n *nemesis) replace(dead wor.ServerID, with wor.Member) {
	n.t.Helper()
	await(n.t, "replace", patience, func(ctx context.Context) error {
		err := n.operator.Replace(ctx, dead, with, nil)
		if err != nil {
			return fmt.Errorf("%v by %v: %w", dead, with.ID, err)
		}
		return nil
	})
	n.c.serving(n.operator, patience)
	n.c.renew(n.operator)
	for _, h := range n.load.handles {
		h.renew(n.t)
	}
}

// dead kills a server permanently, and a spare one replaces it. A new disk makes the dead
// one the spare.
func (n *nemesis) dead() {
	n.done["dead"]++
	h, with := n.member(), n.spare()
	h.kill()
	n.pause(300 * time.Millisecond)
	n.replace(h.member.ID, with.member)
	h.format()
	h.start()
}

// empty replaces a server's disk by an empty one. No peer takes it for the server that
// was lost; it becomes a member under its own identity.
func (n *nemesis) empty() {
	n.done["empty disk"]++
	h := n.member()
	lost := h.member
	h.kill()
	h.format()
	h.start()
	n.pause(time.Second)
	if c := h.ask(); c.Serving > 0 {
		n.t.Errorf("a server with an empty disk serves: %+v", c)
	}
	for p := range n.c.genesis.Partitions {
		s, err := n.operator.Probe(lost, wor.Partition(p))
		if err != nil {
			n.t.Fatal(err)
		}
		if s.Answers && s.Standing == wor.StatusOK {
			n.t.Errorf("an empty disk answers for the one that was lost: %+v", s)
		}
	}
	n.replace(lost.ID, h.member)
}

// old restores a disk to an earlier state. Its server finds out, and does not answer;
// another one replaces it.
func (n *nemesis) old() {
	n.done["old disk"]++
	// The disk has a life that all others know; after the restoration the disk has
	// forgotten that life.
	h := n.member()
	n.c.serving(n.operator, patience)
	h.kill()
	copied := h.dir + "-old"
	if out, err := exec.Command("cp", "-a", h.dir, copied).CombinedOutput(); err != nil {
		n.t.Fatalf("%v: %s", err, out)
	}
	h.start()
	n.c.serving(n.operator, patience)
	n.pause(time.Second)
	h.kill()
	if err := errors.Join(os.RemoveAll(h.dir), os.Rename(copied, h.dir)); err != nil {
		n.t.Fatal(err)
	}
	h.start()
	await(n.t, "a server finds that its disk is an old one", patience, func(context.Context) error {
		switch c := h.ask(); {
		case c.Serving > 0:
			n.t.Errorf("a server with an old disk serves: %+v", c)
		case c.RolledBack == "":
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
	with := n.spare()
	dead := h.member.ID
	h.kill()
	n.replace(dead, with.member)
	h.format()
	h.start()
}

// drainAll ends all servers in order, and starts them again.
func (n *nemesis) drainAll() {
	n.done["drain all"]++
	n.c.all((*host).drain)
	n.c.startAll()
	n.c.serving(n.operator, patience)
}

// killAll kills all servers, like a loss of power.
func (n *nemesis) killAll() {
	n.done["kill all"]++
	n.c.all((*host).kill)
	n.c.startAll()
	n.c.serving(n.operator, patience)
}
