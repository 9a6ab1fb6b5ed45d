// SPDX-License-Identifier: Apache-2.0

package crashtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
)

// regOp is an operation on a register with a cache: a crash may lose a write until a
// flush has taken effect.
type regOp struct {
	Name string // read, write, flush
	X    int
}

type regState struct{ now, safe int }

func cachedRegister() crashtest.Spec[regState, regOp, int] {
	return crashtest.Spec[regState, regOp, int]{
		Step: func(s regState, op regOp, ret *int) []regState {
			switch op.Name {
			case "read":
				if ret != nil && *ret != s.now {
					return nil
				}
			case "write":
				s.now = op.X
			case "flush":
				s.safe = s.now
			}
			return []regState{s}
		},
		Crash: func(s regState, _ []regOp) []regState {
			return []regState{s, {s.safe, s.safe}}
		},
		Key: func(s regState) string { return fmt.Sprint(s) },
	}
}

// asPorcupine converts a history for porcupine: an operation that a crash interrupts ends
// with the crash and has any result, or did not happen; the crash is an operation that
// overlaps none.
func asPorcupine(events []crashtest.Event[regOp, int]) []porcupine.Operation {
	var ops []porcupine.Operation
	open := map[int]int{}
	for at, e := range events {
		now := int64(2 * at)
		switch e.Kind {
		case crashtest.Call:
			open[e.Client] = len(ops)
			ops = append(ops, porcupine.Operation{ClientId: e.Client, Input: e.Op, Call: now})
		case crashtest.Return:
			op := &ops[open[e.Client]]
			ret := e.Ret
			op.Output, op.Return = &ret, now
			delete(open, e.Client)
		case crashtest.Crash:
			for _, i := range open {
				ops[i].Output, ops[i].Return = (*int)(nil), now-1
			}
			clear(open)
			ops = append(ops, porcupine.Operation{ClientId: 63, Input: "crash", Output: (*int)(nil), Call: now, Return: now})
		}
	}
	return ops
}

func porcupineModel(spec crashtest.Spec[regState, regOp, int]) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{spec.Init} },
		Step: func(state, input, output any) []any {
			s, ret := state.(regState), output.(*int)
			var after []regState
			switch op := input.(type) {
			case string:
				after = spec.Crash(s, nil)
			case regOp:
				after = spec.Step(s, op, ret)
				if ret == nil {
					after = append(after, s)
				}
			}
			var out []any
			for _, x := range after {
				out = append(out, x)
			}
			return out
		},
	}
	return m.ToModel()
}

// TestCheckAgreesWithPorcupine compares both checkers on histories of runs, and on
// histories with wrong results.
func TestCheckAgreesWithPorcupine(t *testing.T) {
	spec := cachedRegister()
	model := porcupineModel(spec)
	verdicts := map[bool]int{}
	for seed := range uint64(2000) {
		events := randomHistory(env.Seeded(seed))
		_, err := crashtest.CheckHistory(spec, events)
		complete := append(slices.Clone(events), crashtest.Event[regOp, int]{Kind: crashtest.Crash}) // ends the open operations
		want := porcupine.CheckOperations(model, asPorcupine(complete))
		if got := err == nil; got != want {
			t.Fatalf("seed %d: explained: %v, porcupine says %v\n%v\n%v", seed, got, want, events, err)
		}
		verdicts[want]++
	}
	if verdicts[true] < 200 || verdicts[false] < 200 {
		t.Errorf("verdicts %v: too one-sided to mean anything", verdicts)
	}
}

// randomHistory is a run of the register, in which some results may then be changed.
func randomHistory(r env.Random) []crashtest.Event[regOp, int] {
	spec := cachedRegister()
	var events []crashtest.Event[regOp, int]
	type running struct {
		op   regOp
		done bool
		ret  int
	}
	s := spec.Init
	open := map[int]*running{}
	for range 1 + env.IntN(r, 60) {
		client := env.IntN(r, 3)
		u := open[client]
		switch {
		case env.IntN(r, 10) == 0:
			events = append(events, crashtest.Event[regOp, int]{Kind: crashtest.Crash})
			s = spec.Crash(s, nil)[env.IntN(r, 2)]
			clear(open)
		case u == nil:
			op := regOp{[]string{"read", "write", "flush"}[env.IntN(r, 3)], env.IntN(r, 4)}
			open[client] = &running{op: op}
			events = append(events, crashtest.Event[regOp, int]{Kind: crashtest.Call, Client: client, Op: op})
		case !u.done:
			if u.op.Name == "read" {
				u.ret = s.now
			}
			s, u.done = spec.Step(s, u.op, nil)[0], true
		default:
			events = append(events, crashtest.Event[regOp, int]{Kind: crashtest.Return, Client: client, Ret: u.ret})
			delete(open, client)
		}
	}
	if env.IntN(r, 2) == 0 {
		for i := range events {
			if events[i].Kind == crashtest.Return && env.IntN(r, 3) == 0 {
				events[i].Ret = env.IntN(r, 10)
			}
		}
	}
	return events
}

// TestViolationShowsTheEvent: a lost write that had been flushed.
func TestViolationShowsTheEvent(t *testing.T) {
	events := []crashtest.Event[regOp, int]{
		{Kind: crashtest.Call, Client: 1, Op: regOp{"write", 7}},
		{Kind: crashtest.Return, Client: 1},
		{Kind: crashtest.Call, Client: 2, Op: regOp{"flush", 0}},
		{Kind: crashtest.Return, Client: 2},
		{Kind: crashtest.Crash},
		{Kind: crashtest.Call, Client: 1, Op: regOp{"read", 0}},
		{Kind: crashtest.Return, Client: 1, Ret: 0},
	}
	_, err := crashtest.CheckHistory(cachedRegister(), events)
	if err == nil || !strings.Contains(err.Error(), "event 6 has no explanation") {
		t.Errorf("the verdict is %v", err)
	}
	if n, err := crashtest.CheckHistory(cachedRegister(), slices.Concat(events[:2], events[4:])); n != 1 || err != nil {
		t.Errorf("without the flush: %d states, %v", n, err)
	}
}
