// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
)

// failoverCommands is how long the log is when the leader is killed; ASHLAR_FAILOVER has
// another number.
const failoverCommands = 4000

// failoverClients is how many commands are under way.
const failoverClients = 256

// answersAgainWithin is when no answer has come permanently. What was measured is in
// docs/decisions/dedalus.md; a machine that does other things takes what it takes.
const answersAgainWithin = 2 * time.Minute

// progress is who waits for answers.
type progress struct {
	mu       sync.Mutex
	answered int
	slots    map[uint64]uint64
	want     int
	there    chan struct{}
}

func (p *progress) answer(n uint64, _ int, row []rt.Value) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if other, ok := p.slots[row[0].Num]; ok && other != n {
		return fmt.Errorf("commands %d and %d have slot %d", other, n, row[0].Num)
	}
	p.slots[row[0].Num] = n
	if p.answered++; p.answered == p.want {
		close(p.there)
	}
	return nil
}

// wait waits until some more are answered, and says how many are then.
func (p *progress) wait(t *testing.T, more int) int {
	t.Helper()
	p.mu.Lock()
	from := p.answered
	p.want, p.there = from+more, make(chan struct{})
	there := p.there
	p.mu.Unlock()
	select {
	case <-there:
	case <-time.After(answersAgainWithin):
		p.mu.Lock()
		defer p.mu.Unlock()
		t.Fatalf("%d of %d answers came, and then none for %v", p.answered-from, more, answersAgainWithin)
	}
	return from + more
}

// TestLeaderKilled: processes of multi-Paxos whose leader is killed when the log is long, and trimmed.
// The other proposer takes over, and when it is killed in turn the first one does, which
// has started anew: nothing stops permanently, and no slot has two commands.
func TestLeaderKilled(t *testing.T) {
	commands := failoverCommands
	if text := os.Getenv("ASHLAR_FAILOVER"); text != "" {
		var err error
		if commands, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	f := newFleet(t, "multipaxos")
	v := variant{name: "multipaxos", example: "multipaxos", logic: load(t, program{source: "multipaxos.ded"})}
	sends, waits := loadgen.Commands(v.logic, v.load(t))
	p := &progress{slots: map[uint64]uint64{}}
	c, err := loadgen.Open(loadgen.Options{Env: world(t, nil), Program: f.program, Name: "client", Nodes: f.reached(), Sends: sends, Waits: waits,
		Clients: failoverClients, Retry: time.Second, Answer: p.answer})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	log := map[uint64]bool{}
	a := &applier{env: world(t, nil), program: f.program, nodes: f.reached(), to: []string{"proposer/0", "proposer/1"},
		told: func(slot uint64, _ string) { log[slot] = true }, knows: func(slot uint64) bool { return log[slot] }}
	if err := a.open(); err != nil {
		t.Fatal(err)
	}
	defer a.close()
	c.Begin()
	begun := time.Now()
	p.wait(t, commands)
	t.Logf("%d commands in %v", commands, time.Since(begun))
	for range 2 {
		leads := "proposer/0"
		if f.sent("proposer/1") > f.sent(leads) {
			leads = "proposer/1"
		}
		f.kill(leads)
		killed := time.Now()
		// As many as were under way may have been answered before.
		at := p.wait(t, 2*failoverClients)
		t.Logf("%s killed: answers again after %v, %d in all", leads, time.Since(killed), at)
		f.start(leads)
	}
	c.Stop()
	// What did not reach the applier, it asks for.
	for begun := time.Now(); a.applied() < uint64(commands)/2; time.Sleep(appliesEvery) {
		if time.Since(begun) > answersAgainWithin {
			t.Fatalf("the log is applied up to slot %d, of %d commands", a.applied(), commands)
		}
	}
	t.Logf("the log is applied up to slot %d", a.applied())
	f.stop()
}

// sent is how many messages a process has sent.
func (f *fleet) sent(node string) uint64 {
	f.t.Helper()
	counts, _ := f.status(node)
	return counts["sent"]
}
