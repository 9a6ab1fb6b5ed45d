// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// cells is a Spec written in Go: processes set cells and read them. With loose, a
// cell that is set may also keep its old value, which no log shows.
type cells struct {
	n     int
	loose bool
}

func (c cells) Init() ([]State, error)                        { return []State{make(check.State, c.n)}, nil }
func (c cells) Key(to []byte, s State) []byte                 { return append(to, s.(check.State)...) }
func (c cells) Actor(_ string, self value.Value) (int, error) { return int(self.AsInt()), nil }
func (c cells) Instances() []string                           { return nil }
func (c cells) Survives(int) bool                             { return false }
func (c cells) Hidden(State, []int, func(State) error) error  { return nil }
func (c cells) Waits(State, int) (string, *Obstacle)          { return "", nil }
func (c cells) Broken(State) (*Invariant, error)              { return nil, nil }
func (c cells) Show(s State) []check.Binding {
	return []check.Binding{{Name: "c", Value: fmt.Sprint(s)}}
}
func (c cells) Footprint(_ int, of *Section) (out []Cell, known bool) {
	for _, a := range of.Accesses {
		out = append(out, Cell{a.Param, a.Indices})
	}
	return out, true
}

func (c cells) Step(from State, _ int, want *Section, yield func(State) error) (*Obstacle, error) {
	s := from.(check.State)
	for k, a := range want.Accesses {
		i, v := a.Indices[0].AsInt(), byte(a.Value.AsInt())
		switch {
		case !a.Write && s[i] != v:
			return &Obstacle{Matched: k, Reason: "another value"}, nil
		case a.Write:
			if c.loose {
				if err := yield(s); err != nil {
					return nil, err
				}
			}
			s = slices.Clone(s)
			s[i] = v
		}
	}
	return nil, yield(s)
}

// drawn is a random run of processes on cells. A process has seen what it has
// read, and sometimes more.
func (c cells) drawn(r *rand.Rand, processes, steps int) []*written {
	logs := make([]*written, processes)
	for i := range logs {
		logs[i] = newWritten("P", i)
	}
	state, wrote := make([]int, c.n), make([]tracelog.Clock, c.n)
	clocks := make([]tracelog.Clock, processes)
	for range steps {
		i, at := r.IntN(processes), r.IntN(c.n)
		l := logs[i]
		e := tracelog.Event{N: uint64(len(l.events) + 1), Label: "l", Next: "l"}
		x := tracelog.Element{Op: tracelog.Write, Name: "c", Indices: []string{fmt.Sprint(at)}, Value: fmt.Sprint(r.IntN(2))}
		switch r.IntN(3) {
		case 0:
			x.Op, x.Value = tracelog.Read, fmt.Sprint(state[at])
			clocks[i] = clocks[i].Merge(wrote[at])
			fallthrough
		case 1:
			e.Elements = append(e.Elements, x)
		}
		if r.IntN(3) == 0 {
			clocks[i] = clocks[i].Merge(clocks[r.IntN(processes)])
		}
		clocks[i] = clocks[i].With(l.Actor(), e.N)
		if e.Clock = clocks[i]; len(e.Elements) > 0 && x.Op == tracelog.Write {
			fmt.Sscan(x.Value, &state[at])
			wrote[at] = e.Clock
		}
		l.events = append(l.events, e)
	}
	return logs
}

// TestAllOrdersAgreesWithBruteForce: on small logs the verdict about all orders
// agrees with trying every order.
func TestAllOrdersAgreesWithBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	verdicts := map[Verdict]int{}
	for range 3000 {
		spec := cells{n: 1 + r.IntN(3)}
		logs := spec.drawn(r, 1+r.IntN(3), 3+r.IntN(7))
		want := Rejected
		if bruteForce(t, spec, logs, true) {
			want = Accepted
		}
		rep, err := Check(context.Background(), spec, asLogs(t, logs), Options{AllOrders: true})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Verdict != want {
			t.Fatalf("the search says %v, trying every order says %v:\n%s", rep.Verdict, want, text(rep))
		}
		one, err := Check(context.Background(), spec, asLogs(t, logs), Options{})
		if err != nil || want == Accepted && one.Verdict != Accepted {
			t.Fatalf("every order is a behaviour, and one is %v, %v", one.Verdict, err)
		}
		verdicts[want]++
	}
	if verdicts[Accepted] < 300 || verdicts[Rejected] < 300 {
		t.Errorf("the runs are lopsided: %v", verdicts)
	}
}

// TestAllOrdersKeepsAllStates: if the specification has a choice that no log
// shows, an order is a behaviour if some choice explains it.
func TestAllOrdersKeepsAllStates(t *testing.T) {
	spec := cells{n: 1, loose: true}
	l := newWritten("P", 0)
	for k, x := range []tracelog.Element{{Op: tracelog.Write, Value: "1"}, {Op: tracelog.Read, Value: "0"}} {
		x.Name, x.Indices = "c", []string{"0"}
		l.events = append(l.events, tracelog.Event{N: uint64(k + 1), Label: "l", Next: "l", Elements: []tracelog.Element{x},
			Clock: tracelog.Clock(nil).With(l.Actor(), uint64(k+1))})
	}
	rep, err := Check(context.Background(), spec, asLogs(t, []*written{l}), Options{AllOrders: true})
	if err != nil || rep.Verdict != Accepted {
		t.Errorf("verdict %v, %v", rep.Verdict, err)
	}
}

// TestIndependentSectionsAreNotPermuted: processes on separate cells need as many
// steps as they have sections; shared cells need one more for each order.
func TestIndependentSectionsAreNotPermuted(t *testing.T) {
	const processes, steps = 8, 30
	logs := make([]*written, processes)
	for i := range logs {
		logs[i] = newWritten("P", i)
		for k := range steps {
			logs[i].events = append(logs[i].events, tracelog.Event{N: uint64(k + 1), Label: "l", Next: "l",
				Elements: []tracelog.Element{{Op: tracelog.Write, Name: "c", Indices: []string{fmt.Sprint(i)}, Value: "1"}},
				Clock:    tracelog.Clock(nil).With(logs[i].Actor(), uint64(k+1))})
		}
	}
	spec := cells{n: processes}
	rep, err := Check(context.Background(), spec, asLogs(t, logs), Options{AllOrders: true})
	if err != nil || rep.Verdict != Accepted || rep.Entered != processes*steps {
		t.Errorf("verdict %v after %d steps, %v; want %d", rep.Verdict, rep.Entered, err, processes*steps)
	}
	for i := range logs {
		for k := range logs[i].events {
			logs[i].events[k].Elements[0].Indices[0] = "0"
		}
	}
	rep, err = Check(context.Background(), spec, asLogs(t, logs), Options{AllOrders: true, StepsMax: 1000})
	if err != nil || rep.Verdict != Undecided || !strings.Contains(text(rep), fmt.Sprintf("undecided beyond %d of %d sections", rep.Explained, processes*steps)) {
		t.Errorf("verdict %v, %v:\n%s", rep.Verdict, err, text(rep))
	}
}

// TestFootprints: a section touches the cells that its accesses name. A crash, and
// a procedure with parameters of its own, may touch anything.
func TestFootprints(t *testing.T) {
	a := stepsAlgorithm(t)
	actor, err := a.Actor("A", value.Int(0))
	if err != nil {
		t.Fatal(err)
	}
	of := Section{Label: "one", Accesses: []Access{{Param: "net", Indices: []value.Value{value.Int(2)}, Value: value.Int(5)}}}
	out, known := a.Footprint(actor, &of)
	if !known || len(out) != 1 || out[0].Variable != "boxes" || len(out[0].Indices) != 1 || !same(out[0].Indices[0], value.Int(2)) {
		t.Errorf("the footprint is %v, %v", out, known)
	}
	for _, strange := range []Section{{Crash: true}, {Label: "in a procedure", Accesses: []Access{{Param: "its own"}}}} {
		if out, known := a.Footprint(actor, &strange); known {
			t.Errorf("the footprint of %v is %v", strange, out)
		}
	}
}
