// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/examples/dedalus/keys"
	"github.com/ashlar-dev/ashlar/internal/evidence/faultproxy"
)

const (
	keyClients = 4
	keyCount   = 3
	// opsMax bounds the history of a run.
	opsMax = 3000
	// trouble is how long what goes wrong goes on where clients do not get on, and
	// gettingOn how many operations end it before.
	trouble   = 1200 * time.Millisecond
	gettingOn = 40
	// patience bounds the wait for clients to get on when nothing is wrong.
	patience = 90 * time.Second
)

// keeping is clients of a store of keys, and what happens to its processes meanwhile.
type keeping struct {
	t     *testing.T
	f     *fleet
	s     *keys.Store
	begun time.Time
	rng   *rand.Rand

	mu      sync.Mutex
	history []porcupine.Operation
	done    int
	on      chan struct{} // closed when an operation is done, and replaced
	cuts    int           // connections that were cut
}

// client does operations until the context is over. One that has no answer then may have
// its effect at any time.
func (k *keeping) client(ctx context.Context, i int) {
	rng := rand.New(rand.NewPCG(uint64(i), 5))
	for n := 0; ctx.Err() == nil; n++ {
		o := keys.Op{Key: fmt.Sprint("k", rng.IntN(keyCount))}
		if rng.IntN(2) == 0 {
			o.Value = fmt.Sprintf("%d.%d", i, n)
		}
		call := time.Since(k.begun)
		got, err := k.s.Do(ctx, i, o)
		op := porcupine.Operation{ClientId: i, Input: o, Call: int64(call), Output: got, Return: int64(time.Since(k.begun))}
		if err != nil {
			if ctx.Err() == nil {
				k.t.Errorf("%v: %v", o, err)
				return
			}
			op.Output, op.Return = nil, math.MaxInt64
		}
		k.mu.Lock()
		k.history = append(k.history, op)
		k.done++
		full := k.done >= opsMax
		close(k.on)
		k.on = make(chan struct{})
		k.mu.Unlock()
		if full {
			return
		}
	}
}

// wait waits until so many more operations are done, but no longer than that; it says
// whether they are.
func (k *keeping) wait(more int, most time.Duration) bool {
	late := time.NewTimer(most)
	defer late.Stop()
	k.mu.Lock()
	want := k.done + more
	k.mu.Unlock()
	for {
		k.mu.Lock()
		done, on := k.done, k.on
		k.mu.Unlock()
		if done >= min(want, opsMax) {
			return true
		}
		select {
		case <-on:
		case <-late.C:
			return false
		}
	}
}

// weather sets that of the links for which it is, and calms the others.
func (k *keeping) weather(which func(from, to string) bool, w faultproxy.Faults) {
	for to, links := range k.f.links {
		for from, l := range links {
			if which(from, to) {
				l.Set(w)
			} else {
				l.Set(faultproxy.Faults{})
			}
		}
	}
}

// of are the processes that stand for one of the nodes of the program as it was written.
func (k *keeping) of(self ...string) (nodes []string) {
	for i := range k.f.d.Processes {
		for _, s := range self {
			if k.f.d.Processes[i].Self == s {
				nodes = append(nodes, k.f.d.Processes[i].Node)
			}
		}
	}
	if len(nodes) < len(self) {
		k.t.Fatalf("processes for %v: %v", self, nodes)
	}
	return nodes
}

// killed kills processes, and starts them again.
func (k *keeping) killed(nodes ...string) func() (end func()) {
	return func() func() {
		for _, n := range nodes {
			k.f.kill(n)
		}
		return func() { k.f.start(nodes...) }
	}
}

// apart lets nothing pass between some processes, with some of the clients' links, and
// the others.
func (k *keeping) apart(nodes ...string) func() (end func()) {
	in := func(n string) bool { return strings.Contains(" "+strings.Join(nodes, " ")+" ", " "+n+" ") }
	return func() func() {
		k.weather(func(from, to string) bool { return in(from) != in(to) }, faultproxy.Faults{Blackhole: true})
		return k.calm
	}
}

func (k *keeping) calm() { k.weather(func(string, string) bool { return false }, faultproxy.Faults{}) }

// everything is all processes.
func (k *keeping) everything() (nodes []string) {
	for i := range k.f.d.Processes {
		nodes = append(nodes, k.f.d.Processes[i].Node)
	}
	return nodes
}

// troubles are what happens to a program, one after the other.
func (k *keeping) troubles() []func() (end func()) {
	all := k.everything()
	return []func() func(){
		k.killed(k.of("acceptor/0")...),
		k.apart(k.of("proposer/0")...),
		k.killed(k.of("proposer/1")...),
		k.apart(k.of("acceptor/1")...),
		func() func() { // connections are cut, in the middle of frames too
			k.weather(func(string, string) bool { return k.rng.IntN(2) == 0 }, faultproxy.Faults{Cut: 1000, Delay: 5 * time.Millisecond, Piece: 300})
			return k.calm
		},
		k.killed(append(k.of("proposer/0"), k.of("acceptor/1")...)...),
		k.apart(all[k.rng.IntN(len(all))]),
		k.killed(all[k.rng.IntN(len(all))]),
		k.killed(all...),
	}
}

// run has clients do operations while things go wrong, and judges what they saw.
func (k *keeping) run() {
	t := k.t
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	for i := range keyClients {
		clients.Go(func() { k.client(ctx, i) })
	}
	if !k.wait(gettingOn, patience) {
		t.Fatalf("%d operations in the beginning", k.done)
	}
	for i, trouble1 := range k.troubles() {
		end := trouble1()
		k.wait(gettingOn, trouble)
		end()
		if !k.wait(gettingOn/4, patience) {
			t.Fatalf("clients do not get on after trouble %d", i)
		}
	}
	cancel()
	clients.Wait()
	k.s.Close()
	k.f.stop()
	if err := k.s.Err(); err != nil {
		t.Error(err)
	}
	if err := judge(k.history); err != nil {
		t.Error(err)
	}
	for _, links := range k.f.links {
		for _, l := range links {
			k.cuts += l.Cuts()
		}
	}
	t.Logf("%d operations, %d asked again, %d connections cut", len(k.history), k.s.Resent(), k.cuts)
}

// TestKeys: a store of keys on the programs that decide a log, as they were written and
// as the tool has rewritten them, in processes that are killed and come back with what
// is on their disks, whose connections are cut, and which do not hear each other: what
// clients see is linearizable, and when nothing is wrong they get on.
func TestKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: runs processes of six programs and kills them")
	}
	cuts := 0
	for _, name := range []string{"paxos", "paxosbypaxos", "paxosbypaxos29", "multipaxos", "multipaxosbymultipaxos29", "comppaxos"} {
		t.Run(name, func(t *testing.T) {
			v := find(t, name)
			f := v.fleet(t, true)
			o := keys.Options{Env: world(t, nil), Program: f.program, Nodes: f.reached(), To: (&cluster{d: f.d}).nodes(true, false), Retry: 300 * time.Millisecond}
			for i := range keyClients {
				o.Clients = append(o.Clients, fmt.Sprint("c", i))
			}
			s, err := keys.OpenStore(o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			k := &keeping{t: t, f: f, s: s, begun: time.Now(), rng: rand.New(rand.NewPCG(1, uint64(len(name)))), on: make(chan struct{})}
			k.run()
			cuts += k.cuts
		})
	}
	if cuts == 0 {
		t.Error("no connection was cut")
	}
}
