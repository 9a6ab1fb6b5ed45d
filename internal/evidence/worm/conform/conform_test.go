// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// seedsVariable makes a run use more seeds than a plain test does.
const seedsVariable = "ASHLAR_CONFORM_SEEDS"

func seeds(t *testing.T, plain int) int {
	if testing.Short() {
		plain = plain/10 + 1
	}
	if text := os.Getenv(seedsVariable); text != "" {
		if _, err := fmt.Sscan(text, &plain); err != nil {
			t.Fatal(err)
		}
	}
	return plain
}

func loadSpec(t testing.TB, p wor.Protocol) *Spec {
	t.Helper()
	path := map[wor.Protocol]string{wor.Paxos: "../../../../specs/wor/RegisterTrace.tla", wor.Chain: "../../../../specs/chain/ChainTrace.tla"}[p]
	s, err := Load(files{}, path, []string{"../../../../specs/lib"}, p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// need are the kinds of events that must occur in a plain test.
func need(p wor.Protocol) []Kind {
	if p == wor.Chain {
		return []Kind{Promise, Accept, Show, Outbid, Acknowledge, Find, BeginRead, Reply, EndRead}
	}
	return []Kind{Promise, Accept, Outbid, Show, Gone, Tombstone, Propose, DecideTrim, Acknowledge, Find, Bury, BeginRead, Reply, EndRead}
}

// TestRunsConform runs clients of registers with losses and crashes. The trace of each
// register must be a behaviour of its specification.
func TestRunsConform(t *testing.T) {
	for _, p := range []wor.Protocol{wor.Paxos, wor.Chain} {
		t.Run(p.String(), func(t *testing.T) {
			spec := loadSpec(t, p)
			seen := map[Kind]int{}
			events, traces := 0, 0
			n := seeds(t, 300)
			for seed := range n {
				w, err := play(uint64(seed), p, nil)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for _, trace := range w.record.Traces() {
					r, err := spec.Check(t.Context(), trace, Options{Refine: seed%10 == 0})
					if err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					if r.Refused != nil {
						for i, e := range trace.Events[:r.Explained+1] {
							t.Log(i+1, e)
						}
						t.Fatalf("seed %d: %v", seed, r)
					}
					traces++
					events += r.Events
					for _, e := range trace.Events {
						seen[e.Kind]++
					}
				}
			}
			t.Logf("%d seeds, %d traces, %d events: %v", n, traces, events, seen)
			if n < 100 {
				return
			}
			for _, k := range need(p) {
				if seen[k] < 5 {
					t.Errorf("%s: seen %d times", k, seen[k])
				}
			}
			if seen[Reread]*10 > seen[EndRead] {
				t.Errorf("%d of %d reads ended otherwise than in the specification", seen[Reread], seen[Reread]+seen[EndRead])
			}
		})
	}
}

// TestLyingServersAreRefused makes servers break the rules. Some of the seeds must find
// it.
func TestLyingServersAreRefused(t *testing.T) {
	at := func(place int, kind wor.Kind, change func(*host, *wor.Request, *wor.Run)) func(*host, *wor.Request, *wor.Reply) {
		return func(h *host, q *wor.Request, r *wor.Reply) {
			if h.place != place || q.Kind != kind || r.Status != wor.StatusOK || q.Range.Segment != theSegment {
				return
			}
			for i := range r.Runs {
				change(h, q, &r.Runs[i])
			}
		}
	}
	for _, c := range []struct {
		name string
		p    wor.Protocol
		lie  func(*host, *wor.Request, *wor.Reply)
	}{
		{"a promise that was given away", wor.Paxos, at(2, wor.KindCapture, func(_ *host, q *wor.Request, run *wor.Run) {
			if run.Status == wor.StatusOutbid {
				*run = wor.Run{Count: run.Count, Promised: q.Ballot}
			}
		})},
		{"a promise that keeps quiet", wor.Paxos, at(2, wor.KindCapture, func(_ *host, _ *wor.Request, run *wor.Run) {
			run.Written, run.Value, run.Accepted = false, nil, wor.Ballot{}
		})},
		{"an acceptance below a promise", wor.Paxos, at(2, wor.KindWrite, func(_ *host, q *wor.Request, run *wor.Run) {
			if run.Status == wor.StatusOutbid {
				*run = wor.Run{Count: run.Count, Promised: q.Ballot, Written: true, Accepted: q.Ballot}
			}
		})},
		{"unwritten, though it is not", wor.Paxos, at(2, wor.KindRead, func(_ *host, _ *wor.Request, run *wor.Run) {
			run.Written, run.Value, run.Accepted = false, nil, wor.Ballot{}
		})},
		{"a second value on a chain", wor.Chain, at(1, wor.KindWrite, func(_ *host, q *wor.Request, run *wor.Run) {
			if run.Status == wor.StatusOutbid {
				*run = wor.Run{Count: run.Count, Promised: q.Ballot}
			}
		})},
		{"unwritten on a chain", wor.Chain, at(2, wor.KindRead, func(_ *host, _ *wor.Request, run *wor.Run) {
			run.Written, run.Value = false, nil
		})},
		{"a crash that takes what was durable", wor.Paxos, forgetful()},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := loadSpec(t, c.p)
			for seed := range uint64(200) {
				w, err := play(seed, c.p, c.lie)
				if err != nil {
					continue // the liar has stopped everything
				}
				for _, trace := range w.record.Traces() {
					r, err := spec.Check(t.Context(), trace, Options{})
					if err != nil {
						t.Fatal(err)
					}
					if r.Refused != nil {
						t.Logf("seed %d: %.400v", seed, r)
						return
					}
				}
			}
			t.Error("no run was refused")
		})
	}
}

// forgetful makes a server lose its disk now and then.
func forgetful() func(*host, *wor.Request, *wor.Reply) {
	return func(h *host, q *wor.Request, _ *wor.Reply) {
		if h.place == 2 && q.Range.Segment == theSegment && h.w.chance(.05) {
			h.disk = nil
			h.crash()
		}
	}
}

// TestBrokenTracesAreRefused takes a recorded trace and removes an event on which a later
// event depends.
func TestBrokenTracesAreRefused(t *testing.T) {
	for p, kinds := range map[wor.Protocol][]Kind{wor.Paxos: {Promise, Propose, Accept}, wor.Chain: {Accept}} {
		spec := loadSpec(t, p)
		for _, kind := range kinds {
			refused, whole := 0, 0
			for seed := range uint64(10) {
				w, err := play(seed, p, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, trace := range w.record.Traces() {
					all := trace.Events
					trace.Events = slices.DeleteFunc(slices.Clone(all), func(e Event) bool { return e.Kind == kind && e.Server != 1 && e.Server != 3 })
					if len(trace.Events) == len(all) {
						continue
					}
					whole++
					r, err := spec.Check(t.Context(), trace, Options{})
					if err != nil {
						t.Fatal(err)
					}
					if r.Refused != nil {
						refused++
					}
				}
			}
			if refused*2 < whole || refused == 0 {
				t.Errorf("%v without %s: %d of %d were refused", p, kind, refused, whole)
			}
		}
	}
}
