// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// mail is a Spec written in Go: senders put numbers into one mailbox, a
// receiver takes them out in their order. A state is the mailbox, a byte an
// item, after the count of what each sender has sent.
type mail struct{ senders int }

func (m mail) Init() ([]check.State, error) { return []check.State{make(check.State, m.senders)}, nil }

func (m mail) Actor(archetype string, self value.Value) (int, error) {
	if i := int(self.AsInt()); i <= m.senders {
		return i, nil
	}
	return 0, fmt.Errorf("no instance %s(%s)", archetype, self)
}

func (m mail) Step(s check.State, actor int, want Section, yield func(check.State) error) (*Obstacle, error) {
	if want.Label == "work" || want.Label == "" {
		return nil, yield(s)
	}
	a := want.Accesses[0]
	item := byte(a.Value.AsInt())
	if actor == 0 { // the receiver
		switch box := s[m.senders:]; {
		case len(box) == 0:
			return &Obstacle{Text: "await Len(box) > 0", Reason: "the condition is false"}, nil
		case box[0] != item:
			return &Obstacle{Text: "read box", Reason: fmt.Sprintf("the specification reads %d here, the log has %d", box[0], item)}, nil
		}
		return nil, yield(append(append(check.State{}, s[:m.senders]...), s[m.senders+1:]...))
	}
	t := append(append(check.State{}, s...), item)
	t[actor-1]++
	return nil, yield(t)
}

func (m mail) Survives(int) bool { return false }

func (m mail) Hidden(check.State, []int, func(check.State) error) error { return nil }

func (m mail) Show(s check.State) []check.Binding {
	return []check.Binding{{Name: "box", Value: fmt.Sprint([]byte(s[m.senders:]))}}
}

// run executes the system at random and returns the logs it would write. A
// message is logged by its sender some time before it is in the mailbox, so
// that the order of the logs' times is not the order of the mailbox. With acks,
// a sender waits until its last message was received, and knows it.
func run(r *rand.Rand, senders, steps int, acks bool) []*Log {
	type item struct {
		from  int
		value byte
		clock tracelog.Clock
	}
	waits := make([]bool, senders+1)
	var box []item
	sending := make([][]item, senders+1) // logged, not yet in the box
	logs := make([]*Log, senders+1)
	clocks := make([]tracelog.Clock, senders+1)
	for i := range logs {
		kind := "Sender"
		if i == 0 {
			kind = "Receiver"
		}
		h := tracelog.Header{Archetype: kind, Self: fmt.Sprint(i)}
		logs[i] = &Log{Name: fmt.Sprintf("%d.log", i), Actor: h.Actor(), Archetype: kind, Self: value.Int(int32(i))}
	}
	emit := func(i, now int, label string, a ...Access) tracelog.Clock {
		l := logs[i]
		clocks[i] = clocks[i].With(l.Actor, uint64(len(l.Events)+1))
		l.Events = append(l.Events, Event{Section: Section{Label: label, Next: label, Accesses: a}, Line: len(l.Events) + 2, end: int64(now), clock: clocks[i]})
		return clocks[i]
	}
	for now := range steps {
		i := r.IntN(senders + 1)
		switch {
		case r.IntN(4) == 0:
			emit(i, now, "work")
		case i == 0 && len(box) > 0:
			clocks[0] = clocks[0].Merge(box[0].clock)
			emit(0, now, "receive", Access{Param: "box", Value: value.Int(int32(box[0].value))})
			if from := box[0].from; acks {
				clocks[from], waits[from] = clocks[from].Merge(clocks[0]), false
			}
			box = box[1:]
		case i > 0 && len(sending[i]) == 0 && !waits[i]:
			waits[i] = acks
			v := byte(r.IntN(5))
			c := emit(i, now, "send", Access{Write: true, Param: "box", Value: value.Int(int32(v))})
			sending[i] = append(sending[i], item{i, v, c})
		case i > 0:
			box = append(box, sending[i]...)
			sending[i] = nil
		}
	}
	return logs
}

func clone(logs []*Log) []*Log {
	out := make([]*Log, len(logs))
	for i, l := range logs {
		c := *l
		c.Events = append([]Event(nil), l.Events...)
		out[i] = &c
	}
	return out
}

func verdict(t *testing.T, senders int, logs []*Log, budget int) *Report {
	t.Helper()
	rep, err := Check(context.Background(), mail{senders}, clone(logs), Options{StepsMax: budget})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// What a system did is accepted, quickly: hardly any order but the right one
// is tried.
func TestRealRunsAreAccepted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		senders := 1 + r.IntN(4)
		logs := run(r, senders, 2000, r.IntN(2) == 0)
		rep := verdict(t, senders, logs, 0)
		if rep.Verdict != Accepted {
			t.Fatalf("a real run is %v:\n%s", rep.Verdict, text(rep))
		}
		if len(rep.Witness) != rep.Sections {
			t.Fatalf("the witness has %d steps for %d sections", len(rep.Witness), rep.Sections)
		}
		if rep.Entered > 2*rep.Sections {
			t.Errorf("%d search steps for %d sections: the order of trial is wrong", rep.Entered, rep.Sections)
		}
	}
}

// bruteForce tries every interleaving that the clocks allow.
func bruteForce(spec Spec, logs []*Log) bool {
	processes, err := join(spec, logs)
	if err != nil {
		panic(err)
	}
	if _, err := link(processes); err != nil {
		panic(err)
	}
	logs = nil
	for _, p := range processes {
		logs = append(logs, p.log)
	}
	var from func(s check.State, at []int) bool
	from = func(s check.State, at []int) bool {
		done := true
		for i, l := range logs {
			if at[i] == len(l.Events) {
				continue
			}
			done = false
			e := &l.Events[at[i]]
			ready := true
			for j, n := range e.needs {
				ready = ready && (j == i || at[j] >= n)
			}
			if !ready {
				continue
			}
			found := false
			spec.Step(s, i, e.Section, func(u check.State) error {
				next := append([]int(nil), at...)
				next[i]++
				found = found || from(append(check.State{}, u...), next)
				return nil
			})
			if found {
				return true
			}
		}
		return done
	}
	init, _ := spec.Init()
	return from(init[0], make([]int, len(logs)))
}

// On small logs, right ones and damaged ones, the search agrees with trying
// every order.
func TestSearchAgreesWithBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	count := map[Verdict]int{}
	for range 3000 {
		senders := 1 + r.IntN(3)
		logs := run(r, senders, 14, r.IntN(2) == 0)
		for range r.IntN(3) { // damage: another value in some access
			l := logs[r.IntN(len(logs))]
			if len(l.Events) == 0 {
				continue
			}
			e := &l.Events[r.IntN(len(l.Events))]
			if len(e.Accesses) > 0 {
				a := e.Accesses[0]
				a.Value = value.Int(int32(r.IntN(5)))
				e.Accesses = []Access{a}
			}
		}
		want := Rejected
		if bruteForce(mail{senders}, clone(logs)) {
			want = Accepted
		}
		rep := verdict(t, senders, logs, 0)
		if rep.Verdict != want {
			t.Fatalf("the search says %v, trying every order says %v:\n%s", rep.Verdict, want, text(rep))
		}
		count[want]++
	}
	if count[Accepted] < 500 || count[Rejected] < 500 {
		t.Errorf("the runs are lopsided: %v", count)
	}
}

func TestRejectionNamesTheStepAndTheValues(t *testing.T) {
	logs := run(rand.New(rand.NewPCG(5, 6)), 4, 3000, true)
	for k := range logs[0].Events {
		e := &logs[0].Events[k]
		if len(e.Accesses) > 0 && k > 300 {
			a := e.Accesses[0]
			a.Value = value.Int(9)
			e.Accesses = []Access{a}
			break
		}
	}
	rep := verdict(t, 4, logs, 0)
	if rep.Verdict != Rejected {
		t.Fatalf("a forged read is %v", rep.Verdict)
	}
	out := text(rep)
	for _, want := range []string{"Receiver(0) cannot take its step", "the log has 9", "box = ["} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
}

// Giving up is not a verdict.
func TestABudgetThatIsUsedUpIsUndecided(t *testing.T) {
	logs := run(rand.New(rand.NewPCG(7, 8)), 3, 500, false)
	if rep := verdict(t, 3, logs, 10); rep.Verdict != Undecided {
		t.Errorf("after 10 steps the verdict is %v", rep.Verdict)
	}
}

// A log that was cut off makes what depends on it unjudgeable, not wrong.
func TestWhatDependsOnALostTailIsTrimmed(t *testing.T) {
	logs := run(rand.New(rand.NewPCG(9, 10)), 2, 600, false)
	lost := len(logs[1].Events) / 2
	logs[1].Events = logs[1].Events[:lost]
	rep := verdict(t, 2, logs, 0)
	if rep.Verdict != Accepted || rep.Trimmed == 0 {
		t.Errorf("verdict %v, %d sections trimmed", rep.Verdict, rep.Trimmed)
	}
	if !strings.Contains(text(rep), fmt.Sprintf("not checked: %d sections", rep.Trimmed)) {
		t.Errorf("the report is silent about what it left out:\n%s", text(rep))
	}
}

func TestClocksThatContradictThemselvesAreRefused(t *testing.T) {
	for name, damage := range map[string]func(logs []*Log){
		"counts 7 sections of its own": func(logs []*Log) {
			logs[1].Events[2].clock = logs[1].Events[2].clock.With(logs[1].Actor, 7)
		},
		"runs backwards": func(logs []*Log) {
			l := logs[0]
			k := len(l.Events) - 1
			l.Events[k].clock = tracelog.Clock(nil).With(l.Actor, uint64(k+1))
		},
		"both logs of": func(logs []*Log) { logs[1].Actor = logs[0].Actor },
	} {
		logs := run(rand.New(rand.NewPCG(11, 12)), 2, 200, false)
		damage(logs)
		_, err := Check(context.Background(), mail{2}, logs, Options{})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error that says %q, got %v", name, err)
		}
	}
}

func text(r *Report) string {
	var b strings.Builder
	r.Print(&b)
	return b.String()
}
