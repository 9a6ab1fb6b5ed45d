// SPDX-License-Identifier: Apache-2.0

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/evidence/worm/history"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// finish ends the workers, reads everything again with a new client, and checks all
// histories.
func (w *workload) finish(c *cluster) {
	t := w.t
	t.Helper()
	w.wait.Wait()
	reader := c.client()
	defer reader.Close()
	c.serving(reader, patience)
	w.readRegisters(reader)
	w.readLog(reader)
	judge(t, "registers", registerModel(), w.registers.acts)
	judge(t, "keys", keyModel(), w.keys.acts)
	judgeMachine(t, w.machine.acts)
	if found := history.Check(w.txns); len(found) > 0 {
		t.Errorf("transactions:\n%s", history.Describe(found, 5))
	}
}

// readRegisters reads each register of the history once more.
func (w *workload) readRegisters(c *worm.Client) {
	last := wor.Segment(time.Since(w.start)/segmentEvery) + 1
	for s := wor.Segment(1); s <= last; s++ {
		r := wor.Range{Segment: s, Hi: registersEach}
		await(w.t, fmt.Sprint("read of segment ", s), patience, func(ctx context.Context) error {
			call := w.registers.now()
			cells, err := c.ReadRange(ctx, r)
			if errors.Is(err, wor.ErrUnallocated) {
				return nil
			}
			for i, cell := range cells {
				if isNothing(cell.Err) || errors.Is(cell.Err, wor.ErrUnknown) {
					return cell.Err
				}
				a := wor.Addr{Segment: s, Offset: uint32(i)}
				w.registers.register(act{what: "read", client: 99, on: onRegister(a), value: string(cell.Value), call: call}, cell.Err)
			}
			return err
		})
	}
}

// readLog reads the whole log, and checks what was appended, where and in which order.
func (w *workload) readLog(c *worm.Client) {
	t := w.t
	var l *worm.Log
	var tail log.Position
	await(t, "the tail of the log", patience, func(ctx context.Context) (err error) {
		if l == nil {
			if l, err = c.Log(ctx, theLog, worm.LogOptions{}); err != nil {
				return err
			}
		}
		tail, err = l.Tail(ctx)
		return err
	})
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	at := map[string]log.Position{} // where entries are
	var before log.Position
	for e, err := range l.Entries(ctx, 0, tail) {
		if err != nil {
			t.Fatalf("the log from %v on, of %v: %v", before, tail, err)
		}
		if v := string(e.Data); at[v] != 0 {
			t.Errorf("%q is at %v and at %v", v, at[v], e.Position)
		} else if at[v] = e.Position; e.Position <= before && before > 0 {
			t.Errorf("%v follows %v", e.Position, before)
		}
		before = e.Position
	}
	judgeLog(t, w.log.acts, at)
}

// judgeLog checks the history of a log that has the values in the end.
func judgeLog(t judgeT, acts []act, at map[string]log.Position) {
	t.Helper()
	var order, contents []act
	known := map[string]bool{}
	for _, a := range acts {
		p := log.Position(a.number)
		switch a.what {
		case "tail":
			order = append(order, a)
			continue
		case "read":
			if contents = append(contents, a); a.value == "junk" || a.value == "mark" {
				contents = append(contents, act{what: "write", on: a.on, value: a.value, err: wor.ErrUnknown, ret: never})
			}
			continue
		}
		there := at[a.value]
		known[a.value] = true
		switch {
		case a.err == nil && there != p:
			t.Errorf("%v: in the end it is at %v", a, there)
		case errors.Is(a.err, errNothing) && there != 0:
			t.Errorf("%v: but it is at %v", a, there)
		case a.err != nil && there == 0:
			continue
		}
		a.number, a.on = int64(there), ""
		order = append(order, a)
		a.what, a.on = "write", there.String()
		contents = append(contents, a)
	}
	for v, p := range at {
		if !known[v] {
			t.Errorf("%q at %v was appended by nobody", v, p)
		}
	}
	judge(t, "contents of the log", registerModel(), contents)
	// A tail comes before an append at its position, and after all appends below it.
	inRow(t, "the log", order, func(a act) int64 {
		if a.what == "tail" {
			return 2*a.number - 1
		}
		return 2 * a.number
	})
}

// summary reports what was done, and fails the test if it was too little to mean
// anything.
func (w *workload) summary(t *testing.T, least int) {
	t.Helper()
	committed, unknown := 0, 0
	for i := range w.txns {
		switch w.txns[i].Status {
		case history.Committed:
			committed++
		case history.Unknown:
			unknown++
		}
	}
	t.Logf("registers %v", w.registers.seen)
	t.Logf("log %v", w.log.seen)
	t.Logf("keys %v, transactions: %d committed, %d unknown, %d in all", w.keys.seen, committed, unknown, len(w.txns))
	t.Logf("state machine %v", w.machine.seen)
	for name, n := range map[string]int{
		"writes": w.registers.count("write ok"), "reads": w.registers.count("read ok"), "appends": w.log.count("append ok"),
		"tails": w.log.count("tail ok"), "transactions": committed, "keys": w.keys.count("incr ok"), "commands": w.machine.count("command ok"),
	} {
		if n < least {
			t.Errorf("%d %s: too few to mean anything", n, name)
		}
	}
}
