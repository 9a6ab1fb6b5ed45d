// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
)

// killEvery is how often a process is killed.
const killEvery = 5 * time.Second

// killedMemoryMB is how much memory a process may have, however many commands there were: of
// what is kept, and of what has come and was not looked at, as when a process starts again.
const killedMemoryMB = 512

// residentMB is the memory of a process.
func residentMB(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	var size, resident int
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * os.Getpagesize() >> 20
}

// TestKilledForLong kills a process of multi-Paxos every five seconds, each in its turn, for as
// long as ASHLAR_KILLS says (10m), while clients ask and the log is trimmed: what was answered is
// in the log, and memory is bounded. It says how long nobody was answered. It needs Linux.
func TestKilledForLong(t *testing.T) {
	text := os.Getenv("ASHLAR_KILLS")
	if text == "" {
		t.Skip("a long test: make dedalus-kills")
	}
	span, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	f := newFleet(t, "multipaxos")
	v := variant{name: "multipaxos", example: "multipaxos", logic: load(t, program{source: "multipaxos.ded"})}
	sends, waits := loadgen.Commands(v.logic, v.load(t))
	var mu sync.Mutex
	log, answers := map[uint64]string{}, map[uint64]string{}
	last, gap, count := time.Now(), time.Duration(0), 0
	answer := func(_ uint64, _ int, row []rt.Value) error {
		mu.Lock()
		defer mu.Unlock()
		if was, ok := answers[row[0].Num]; ok && was != row[1].Str {
			return fmt.Errorf("slot %d has two commands", row[0].Num)
		}
		answers[row[0].Num] = row[1].Str
		now := time.Now()
		gap, last, count = max(gap, now.Sub(last)), now, count+1
		return nil
	}
	a := &applier{env: world(t, nil), program: f.program, nodes: f.reached(), to: []string{"proposer/0", "proposer/1"},
		told: func(slot uint64, v string) {
			if was, ok := log[slot]; ok && was != v {
				t.Errorf("slot %d of the log has two commands", slot)
			}
			log[slot] = v
		}, knows: func(slot uint64) bool { _, ok := log[slot]; return ok }}
	if err := a.open(); err != nil {
		t.Fatal(err)
	}
	defer a.close()
	c, err := loadgen.Open(loadgen.Options{Env: world(t, nil), Program: f.program, Name: "client", Nodes: f.reached(), Sends: sends, Waits: waits,
		Clients: failoverClients, Retry: time.Second, Answer: answer})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Begin()
	for begun, n := time.Now(), 0; time.Since(begun) < span; n++ {
		time.Sleep(killEvery)
		node := f.d.Processes[n%len(f.d.Processes)].Node
		mu.Lock()
		t.Logf("%v: %d answers, none for %v at most; now %s is killed", time.Since(begun).Round(time.Second), count, gap.Round(time.Millisecond), node)
		gap = 0
		mu.Unlock()
		for node, r := range f.running {
			if mb := residentMB(t, r.PID()); mb > killedMemoryMB {
				t.Errorf("%s has %d MB", node, mb)
			} else {
				t.Logf("%s has %d MB", node, mb)
			}
		}
		f.kill(node)
		f.start(node)
	}
	c.Stop()
	time.Sleep(killEvery) // the log hears of the last ones
	a.mu.Lock()
	mu.Lock()
	for slot, v := range answers {
		if slot < a.next && log[slot] != v {
			t.Errorf("slot %d was answered, and the log has another command there", slot)
		}
	}
	t.Logf("%d answers; the log is applied up to slot %d of %d", count, a.next, len(log))
	if count == 0 || a.next < uint64(len(answers)) {
		t.Errorf("%d slots were answered, and the log is applied up to %d", len(answers), a.next)
	}
	mu.Unlock()
	a.mu.Unlock()
	f.stop()
}
