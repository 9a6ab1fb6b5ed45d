// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// TestAsGoodAsExhaustive compares the search with one that tries every set of rules
// of every component, two decouplings deep.
func TestAsGoodAsExhaustive(t *testing.T) {
	for _, name := range []string{"voting", "mutual", "functional", "cohash", "dependencies"} {
		t.Run(name, func(t *testing.T) {
			p, l := example(t, name)
			l.Clients, l.Commands = 4, 8
			o := Options{Machines: 12, Depth: 2}
			got, err := Optimize(t.Context(), p, l, flat(), o)
			if err != nil {
				t.Fatal(err)
			}
			o.Exhaustive = true
			want, err := Optimize(t.Context(), p, l, flat(), o)
			if err != nil {
				t.Fatal(err)
			}
			if want.Stopped != "" || want.Programs <= got.Programs {
				t.Errorf("the exhaustive search stopped (%q), or profiled no more: %d, %d", want.Stopped, want.Programs, got.Programs)
			}
			if got.After.Throughput < 0.999*want.After.Throughput {
				t.Errorf("%.0f commands/s on %d machines; there is a way to %.0f on %d: %v", got.After.Throughput, got.After.Machines,
					want.After.Throughput, want.After.Machines, stepsOf(want))
			}
		})
	}
}

func stepsOf(r *Result) string {
	var out []string
	for _, d := range r.Steps {
		out = append(out, d.Step)
	}
	return strings.Join(out, "; ")
}

// TestDeterministic: two equal searches give equal results.
func TestDeterministic(t *testing.T) {
	var texts []string
	for range 2 {
		p, l := example(t, "functional")
		r, err := Optimize(t.Context(), p, l, DefaultCalibration(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Errorf("two searches differ:\n%s\n%s", texts[0], texts[1])
	}
}

// TestStops: a search that is interrupted, or has profiled the maximum number of programs,
// reports the best result so far.
func TestStops(t *testing.T) {
	p, l := example(t, "voting")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := Optimize(ctx, p, l, flat(), Options{Progress: func(p Progress) {
		if p.Best == 0 || p.Programs == 0 {
			t.Errorf("progress without anything: %+v", p)
		}
		cancel()
	}})
	if err != nil || r.Stopped != "interrupted" {
		t.Fatalf("want a result and 'interrupted': %v, %+v", err, r)
	}
	if len(r.Steps) == 0 || r.After.Throughput <= r.Before.Throughput {
		t.Errorf("what was found after the first depth is gone: %+v", r)
	}
	r, err = Optimize(t.Context(), p, l, flat(), Options{Programs: 3})
	if err != nil || !strings.Contains(r.Stopped, "programs were profiled") {
		t.Fatalf("want a result and the bound: %v, %+v", err, r)
	}
	done, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Optimize(done, p, l, flat(), Options{}); err == nil {
		t.Error("a search that never began has no result")
	}
	if _, err := Optimize(t.Context(), p, l, flat(), Options{Machines: 3}); err == nil || !strings.Contains(err.Error(), "only 3 are allowed") {
		t.Errorf("want a refusal of too small a budget: %v", err)
	}
}

// TestBudget: no result exceeds its number of machines, and more machines never give less.
func TestBudget(t *testing.T) {
	p, l := example(t, "voting")
	before := 0.0
	for machines := 4; machines <= 24; machines += 4 {
		r, err := Optimize(t.Context(), p, l, flat(), Options{Machines: machines})
		if err != nil {
			t.Fatal(err)
		}
		if r.After.Machines > machines {
			t.Errorf("%d machines, want %d at most", r.After.Machines, machines)
		}
		if r.After.Throughput < before*0.999 {
			t.Errorf("%d machines do %.0f, fewer did %.0f", machines, r.After.Throughput, before)
		}
		before = r.After.Throughput
		for i, a := range r.Points {
			for j, b := range r.Points {
				if i != j && a.Throughput <= b.Throughput && a.Machines >= b.Machines && a.Hops >= b.Hops {
					t.Errorf("point %+v is no better than %+v in anything", a, b)
				}
			}
		}
	}
}

// TestCalibration: numbers override the defaults, and a number that is not a cost is refused.
func TestCalibration(t *testing.T) {
	c, err := ReadCalibration([]byte(`{"receive": 3, "functions": {"a.F": 2}}`))
	if err != nil || c.Receive != 3 || c.Functions["a.F"] != 2 || c.Send != DefaultCalibration().Send {
		t.Errorf("got %+v, %v", c, err)
	}
	for _, bad := range []string{`{"receive": -1}`, `{"cores": 0}`, `{"up": 2}`, `{"functions": {"f": -1}}`, `{"underWay": 0}`, `[]`, `{`} {
		if _, err := ReadCalibration([]byte(bad)); err == nil {
			t.Errorf("%s: want an error", bad)
		}
	}
}

// FuzzLoad: every text is parsed, or refused with a position.
func FuzzLoad(f *testing.F) {
	f.Add("send in(client, #, # % 2, bytes 8) to front\nwait out(#)")
	f.Add("function f 1us bytes 4\nwarm 1s // all\noutside back\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		p, _ := example(t, "cohash")
		l, errs := parseLoad(p, "p.load", text)
		if (l == nil) != strings.Contains(errs, "error:") {
			t.Errorf("%v, %q", l, errs)
		}
		if l != nil && (l.Clients < 1 || l.Clients > ClientsMax || l.Commands < 1 || l.Commands > CommandsMax || len(l.Sends) == 0) {
			t.Errorf("out of bounds: %+v", l)
		}
	})
}

// TestHotKeys: a component that receives only two keys is divided into two parts, however many
// machines there are.
func TestHotKeys(t *testing.T) {
	p := given.Program(t, `program p
component front {
  input in(c: node, id: u64, k: u64)
  output out(id: u64)
  static b(n: node) = nodes back
  async put@n(c, id, k) <- in(c, id, k), b(n)
}
component back {
  table last(k: u64, id: u64)
  next last(k, id) <- put(_, id, k)
  async out@c(id) <- put(c, id, k), not last(k, _)
  async out@c(id) <- put(c, id, k), last(k, _)
}
deploy { front: 1, back: 1 }
`)
	l := readLoad(t, p, "p.load", "clients 4\ncommands 32\nsend in(client, #, # % 2) to front\nwait out(#)\n")
	costs := flat()
	costs.Keep = 20 // so that it is not the bottleneck
	r, err := Optimize(t.Context(), p, l, costs, Options{Machines: 8})
	if err != nil {
		t.Fatal(err)
	}
	back := r.After.component("back")
	if back.Partitions != 2 || back.Hottest != 0.5 || !strings.Contains(r.Why, "50% of its messages") {
		t.Errorf("%+v, as %s", back, r.Why)
	}
}

// TestAnswersAreOnesOwn: an answer belongs to the command whose number and client it has.
func TestAnswersAreOnesOwn(t *testing.T) {
	p, l := example(t, "voting")
	row := func(n uint64) []logic.Value {
		return []logic.Value{{Kind: logic.U64, Num: n}, {Kind: logic.Bytes, Str: "x"}}
	}
	if p.Find("clientOut") == nil || !l.Waits[0].matches(row(3), 3, "client/3") || l.Waits[0].matches(row(3), 4, "client/4") {
		t.Errorf("wait %+v", l.Waits[0])
	}
}
