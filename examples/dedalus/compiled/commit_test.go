// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// transactions is a client of two-phase commit, and what it knows from outside.
type transactions struct {
	t    *testing.T
	f    *fleet
	v    variant
	c    *client.Caller
	mu   sync.Mutex
	told map[uint64]bool            // outcomes
	done map[uint64]map[string]bool // what participants have done
	more chan struct{}              // closed when something is done, and replaced
}

func begin(t *testing.T, v variant) *transactions {
	x := &transactions{t: t, f: v.fleet(t, false), v: v, told: map[uint64]bool{}, done: map[uint64]map[string]bool{}, more: make(chan struct{})}
	w := world(t, nil)
	p := x.f.program
	x.c = x.f.dial(w, "client", 300*time.Millisecond, func(p *rt.Program, r int, row []rt.Value) (string, bool) {
		if p.Relations[r].Name != "outcome" {
			return "", false
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		tx, commit := row[0].Num, row[1].Num != 0
		if was, ok := x.told[tx]; ok && was != commit {
			t.Errorf("transaction %d has both outcomes", tx)
		}
		x.told[tx] = commit
		return fmt.Sprint(tx), true
	})
	store, err := client.Open(client.Options{Env: w, Program: p, Name: "store", Nodes: x.f.reached(), Output: func(_ string, r int, row []byte) {
		values, err := rt.ReadRow(row, p.Relations[r].Columns)
		if err != nil || p.Relations[r].Name != "applied" {
			t.Errorf("%s: %v", p.Relations[r].Name, err)
			return
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		node, tx, commit := values[0].Str, values[1].Num, values[2].Num != 0
		if x.done[tx] == nil {
			x.done[tx] = map[string]bool{}
		}
		if was, ok := x.done[tx][node]; ok && was != commit {
			t.Errorf("%s both commits and aborts %d", node, tx)
		}
		x.done[tx][node] = commit
		close(x.more)
		x.more = make(chan struct{})
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return x
}

// send sends an input to instances of a component.
func (x *transactions) send(relationName string, component string, instances int, values ...rt.Value) {
	x.t.Helper()
	r := relation(x.f.program, relationName)
	row, err := rt.AppendRow(nil, x.f.program.Relations[r].Columns, values)
	for i := range instances {
		if err == nil {
			err = x.c.Send(logic.NodeName(component, i), r, row)
		}
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// begin asks for a transaction until its outcome is told.
func (x *transactions) begin(ctx context.Context, tx uint64) {
	x.t.Helper()
	r := relation(x.f.program, "begin")
	row, err := rt.AppendRow(nil, x.f.program.Relations[r].Columns, []rt.Value{{Str: "client"}, {Num: tx}})
	if err == nil {
		_, _, err = x.c.Do(ctx, fmt.Sprint(tx), r, row)
	}
	if err != nil {
		x.t.Errorf("transaction %d: %v", tx, err)
	}
}

// agree waits until all participants have done as they were told, and compares. It
// returns the outcome.
func (x *transactions) agree(ctx context.Context, tx uint64) bool {
	x.t.Helper()
	n := x.v.logic.Component("participant").Instances
	for {
		x.mu.Lock()
		done, outcome, more := len(x.done[tx]), x.told[tx], x.more
		for node, commit := range x.done[tx] {
			if commit != outcome {
				x.t.Errorf("transaction %d: the client is told %v, and %s does %v", tx, outcome, node, commit)
			}
		}
		x.mu.Unlock()
		if done == n {
			return outcome
		}
		select {
		case <-more:
		case <-ctx.Done():
			x.t.Fatalf("transaction %d: %d of %d participants", tx, done, n)
		}
	}
}

func yes(b bool) rt.Value {
	if b {
		return rt.Value{Num: 1}
	}
	return rt.Value{}
}

// TestTwoPhaseProcesses: what all want is committed; what one does not want, or says
// nothing of until the time is out, is not; and when coordinator and participants are
// killed and come back, client and participants agree.
func TestTwoPhaseProcesses(t *testing.T) {
	for _, name := range []string{"twophase", "twophasebytwophase", "twophasebytwophase12"} {
		t.Run(name, func(t *testing.T) {
			x := begin(t, find(t, name))
			ctx := ctx(t)
			var all sync.WaitGroup
			for tx := range uint64(8) {
				switch tx % 4 {
				case 0:
					x.send("ready", "resource", 2, rt.Value{Num: tx}, yes(true))
				case 1:
					x.send("ready", "resource", 2, rt.Value{Num: tx}, yes(false))
				case 2: // of one nothing is heard
					x.send("ready", "resource", 1, rt.Value{Num: tx}, yes(true))
				}
				all.Go(func() { x.begin(ctx, tx) })
			}
			all.Wait()
			for tx := range uint64(8) {
				if got, want := x.agree(ctx, tx), tx%4 == 0; got != want {
					t.Errorf("transaction %d: commit %v, want %v", tx, got, want)
				}
			}
			x.killed(ctx, func(tx uint64) { x.send("ready", "resource", 2, rt.Value{Num: tx}, yes(true)) })
			x.f.stop()
		})
	}
}

// killed has processes be killed and come back in the middle of transactions.
func (x *transactions) killed(ctx context.Context, ready func(tx uint64)) {
	x.t.Helper()
	var all sync.WaitGroup
	for tx := uint64(100); tx < 110; tx++ {
		ready(tx)
		all.Go(func() { x.begin(ctx, tx) })
	}
	var gone []string
	for i := range x.f.d.Processes {
		if s := x.f.d.Processes[i].Self; s == "coordinator/0" || s == "participant/1" {
			gone = append(gone, x.f.d.Processes[i].Node)
		}
	}
	if len(gone) < 2 {
		x.t.Fatalf("coordinator and participant are %v", gone)
	}
	for _, n := range gone {
		x.f.kill(n)
	}
	x.f.start(gone...)
	all.Wait()
	for tx := uint64(100); tx < 110; tx++ {
		x.agree(ctx, tx)
	}
}

// TestCommitProcesses: as above, with clients that give up: what was given up before it
// began is aborted.
func TestCommitProcesses(t *testing.T) {
	for _, name := range []string{"commit", "commitbycommit"} {
		t.Run(name, func(t *testing.T) {
			x := begin(t, find(t, name))
			ctx := ctx(t)
			var all sync.WaitGroup
			for tx := range uint64(8) {
				switch tx % 4 {
				case 1:
					x.send("giveUp", "coordinator", 1, rt.Value{Str: "client"}, rt.Value{Num: tx})
				case 2: // it may come too late
					x.send("refuse", "resource", 3, rt.Value{Num: tx})
				}
				all.Go(func() { x.begin(ctx, tx) })
			}
			all.Wait()
			for tx := range uint64(8) {
				got := x.agree(ctx, tx)
				if tx%4 != 2 && got != (tx%4 != 1) {
					t.Errorf("transaction %d: commit %v", tx, got)
				}
			}
			x.killed(ctx, func(uint64) {})
			x.f.stop()
		})
	}
}
