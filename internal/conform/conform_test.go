// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"bytes"
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

func (m mail) Init() ([]State, error) { return []State{make(check.State, m.senders)}, nil }

func (m mail) Key(to []byte, s State) []byte { return append(to, s.(check.State)...) }

func (m mail) Actor(archetype string, self value.Value) (int, error) {
	if i := int(self.AsInt()); i <= m.senders {
		return i, nil
	}
	return 0, fmt.Errorf("no instance %s(%s)", archetype, self)
}

func (m mail) Step(from State, actor int, want *Section, yield func(State) error) (*Obstacle, error) {
	s := from.(check.State)
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

func (m mail) Waits(State, int) (string, *Obstacle) { return "", nil }

// Footprint: all sections but work use the mailbox.
func (m mail) Footprint(_ int, of *Section) ([]Cell, bool) {
	if of.Label == "work" {
		return nil, true
	}
	return []Cell{{Variable: "box"}}, true
}

// Broken: no process sends a 7.
func (m mail) Broken(s State) (*Invariant, error) {
	if bytes.IndexByte(s.(check.State)[m.senders:], 7) >= 0 {
		return &Invariant{Name: "NoSeven", Place: "mail:1:1", Text: "7 \\notin box"}, nil
	}
	return nil, nil
}

func (m mail) Instances() []string { return nil }

func (m mail) Hidden(State, []int, func(State) error) error { return nil }

func (m mail) Show(s State) []check.Binding {
	return []check.Binding{{Name: "box", Value: fmt.Sprint([]byte(s.(check.State)[m.senders:]))}}
}

// written is a log as a process writes it.
type written struct {
	tracelog.Header
	events []tracelog.Event
}

func newWritten(archetype string, self int) *written {
	return &written{Header: tracelog.Header{Archetype: archetype, Self: fmt.Sprint(self), Wall: "2026-01-01T00:00:00Z"}}
}

// access is an element of an event.
func access(op string, v int) tracelog.Element {
	return tracelog.Element{Op: op, Name: "box", Value: fmt.Sprint(v)}
}

// run executes the system at random and returns the logs it would write. A
// message is logged by its sender some time before it is in the mailbox, so
// that the order of the logs' times is not the order of the mailbox. With acks,
// a sender waits until it knows that its last message was received.
func run(r *rand.Rand, senders, steps int, acks bool) []*written {
	type item struct {
		from  int
		value int
		clock tracelog.Clock
	}
	waits := make([]bool, senders+1)
	var box []item
	sending := make([][]item, senders+1) // logged, not yet in the box
	logs := make([]*written, senders+1)
	clocks := make([]tracelog.Clock, senders+1)
	for i := range logs {
		kind := "Sender"
		if i == 0 {
			kind = "Receiver"
		}
		logs[i] = newWritten(kind, i)
	}
	emit := func(i, now int, label string, a ...tracelog.Element) tracelog.Clock {
		l := logs[i]
		n := uint64(len(l.events) + 1)
		clocks[i] = clocks[i].With(l.Actor(), n)
		l.events = append(l.events, tracelog.Event{N: n, Label: label, Next: label, Elements: a, End: int64(now), Clock: clocks[i]})
		return clocks[i]
	}
	for now := range steps {
		i := r.IntN(senders + 1)
		switch {
		case r.IntN(4) == 0:
			emit(i, now, "work")
		case i == 0 && len(box) > 0:
			clocks[0] = clocks[0].Merge(box[0].clock)
			emit(0, now, "receive", access(tracelog.Read, box[0].value))
			if from := box[0].from; acks {
				clocks[from], waits[from] = clocks[from].Merge(clocks[0]), false
			}
			box = box[1:]
		case i > 0 && len(sending[i]) == 0 && !waits[i]:
			waits[i] = acks
			v := r.IntN(5)
			c := emit(i, now, "send", access(tracelog.Write, v))
			sending[i] = append(sending[i], item{i, v, c})
		case i > 0:
			box = append(box, sending[i]...)
			sending[i] = nil
		}
	}
	return logs
}

// asLogs are the logs as Check takes them.
func asLogs(t *testing.T, all []*written) (out []*Log) {
	t.Helper()
	for i, w := range all {
		l, err := NewLog(fmt.Sprintf("%d.log", i), w.Header, w.events)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

func verdict(t *testing.T, senders int, logs []*written, o Options) *Report {
	t.Helper()
	rep, err := Check(context.Background(), mail{senders}, asLogs(t, logs), o)
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
		rep := verdict(t, senders, logs, Options{})
		if rep.Verdict != Accepted {
			t.Fatalf("a real run is %v:\n%s", rep.Verdict, text(rep))
		}
		if want := count(logs); rep.Sections != want || rep.Explained != want {
			t.Fatalf("%d of %d sections are explained, want %d", rep.Explained, rep.Sections, want)
		}
		if rep.Entered > 2*rep.Sections {
			t.Errorf("%d search steps for %d sections: the order of trial is wrong", rep.Entered, rep.Sections)
		}
	}
}

func count(logs []*written) (n int) {
	for _, l := range logs {
		n += len(l.events)
	}
	return n
}

// bruteForce tries every interleaving that the clocks allow, from the logs as they were written, and reports whether
// one is a behaviour, or whether all are. It shares only the definition of a step with the search.
func bruteForce(t *testing.T, spec Spec, logs []*written, all bool) bool {
	t.Helper()
	var re reader
	actors := map[string]int{}
	for i, l := range logs {
		actors[l.Actor()] = i
	}
	var from func(s State, at []int) bool
	from = func(s State, at []int) bool {
		done := true
		for i, l := range logs {
			if at[i] == len(l.events) {
				continue
			}
			e := &l.events[at[i]]
			if lacks(logs, actors, i, at[i]) {
				continue
			}
			done = false
			ready := true
			for _, c := range e.Clock {
				j, logged := actors[c.Actor]
				ready = ready && (!logged || j == i || uint64(at[j]) >= c.N)
			}
			if !ready {
				continue
			}
			section, err := re.section(e)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			spec.Step(s, i, &section, func(u State) error {
				next := append([]int(nil), at...)
				next[i]++
				found = found || from(u, next)
				return nil
			})
			if found != all {
				return found
			}
		}
		return done || all
	}
	init, _ := spec.Init()
	return from(init[0], make([]int, len(logs)))
}

// lacks reports whether something that comes before an event is in no log.
func lacks(logs []*written, actors map[string]int, i, k int) bool {
	for _, c := range logs[i].events[k].Clock {
		j, logged := actors[c.Actor]
		if logged && j != i && (c.N > uint64(len(logs[j].events)) || lacks(logs, actors, j, int(c.N)-1)) {
			return true
		}
	}
	return k > 0 && lacks(logs, actors, i, k-1)
}

// On small logs, right ones and damaged ones, the search agrees with trying
// every order.
func TestSearchAgreesWithBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	verdicts := map[Verdict]int{}
	for range 3000 {
		senders := 1 + r.IntN(3)
		logs := run(r, senders, 14, r.IntN(2) == 0)
		for range r.IntN(4) { // damage
			l := logs[r.IntN(len(logs))]
			if len(l.events) == 0 {
				continue
			}
			k := r.IntN(len(l.events))
			switch e := &l.events[k]; {
			case r.IntN(8) == 0: // the end of the log is lost
				l.events = l.events[:k]
			case len(e.Elements) > 0: // another value in some access
				e.Elements = []tracelog.Element{access(e.Elements[0].Op, r.IntN(5))}
			}
		}
		want := Rejected
		if bruteForce(t, mail{senders}, logs, false) {
			want = Accepted
		}
		for _, window := range []int{0, 1, 3} {
			rep := verdict(t, senders, logs, Options{Window: window})
			if rep.Verdict != want {
				t.Fatalf("the search with window %d says %v, trying every order says %v:\n%s", window, rep.Verdict, want, text(rep))
			}
		}
		verdicts[want]++
	}
	if verdicts[Accepted] < 500 || verdicts[Rejected] < 500 {
		t.Errorf("the runs are lopsided: %v", verdicts)
	}
}

func TestRejectionNamesTheStepAndTheValues(t *testing.T) {
	logs := run(rand.New(rand.NewPCG(5, 6)), 4, 3000, true)
	for k := range logs[0].events {
		e := &logs[0].events[k]
		if len(e.Elements) > 0 && k > 300 {
			e.Elements = []tracelog.Element{access(tracelog.Read, 9)}
			break
		}
	}
	rep := verdict(t, 4, logs, Options{})
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

// TestInvariantsAreEvaluatedOnTheWay: the step that breaks one is named, and logs
// that nothing explains are still rejected.
func TestInvariantsAreEvaluatedOnTheWay(t *testing.T) {
	for _, window := range []int{0, 1} {
		logs := run(rand.New(rand.NewPCG(15, 16)), 2, 300, true)
		at := 0
		for k := range logs[1].events {
			if e := &logs[1].events[k]; len(e.Elements) > 0 && k > 20 {
				at, e.Elements = k, []tracelog.Element{access(tracelog.Write, 7)}
				break
			}
		}
		for k := range logs[0].events { // with acks, the first that has seen it reads it
			if e := &logs[0].events[k]; e.Clock.Of(logs[1].Actor()) == uint64(at+1) && len(e.Elements) > 0 {
				e.Elements = []tracelog.Element{access(tracelog.Read, 7)}
				break
			}
		}
		rep := verdict(t, 2, logs, Options{Window: window})
		if rep.Verdict != Violated || rep.Violation.By.Line != at+2 || rep.Violation.By.Process != "Sender(1)" {
			t.Fatalf("a 7 that was sent in line %d is %v:\n%s", at+2, rep.Verdict, text(rep))
		}
		for _, want := range []string{"it breaks the invariant NoSeven", "mail:1:1: 7 \\notin box", fmt.Sprintf("after step %d of Sender(1) (1.log:%d): send", at+1, at+2), "7]"} {
			if !strings.Contains(text(rep), want) {
				t.Errorf("the report lacks %q:\n%s", want, text(rep))
			}
		}
		logs[0].events[len(logs[0].events)-1].Label = "receive"
		logs[0].events[len(logs[0].events)-1].Elements = []tracelog.Element{access(tracelog.Read, 9)}
		if rep := verdict(t, 2, logs, Options{Window: window}); rep.Verdict != Rejected {
			t.Errorf("with a forged read the logs are %v", rep.Verdict)
		}
	}
}

// Giving up is not a verdict.
func TestABudgetThatIsUsedUpIsUndecided(t *testing.T) {
	logs := run(rand.New(rand.NewPCG(7, 8)), 3, 500, false)
	if rep := verdict(t, 3, logs, Options{StepsMax: 10}); rep.Verdict != Undecided {
		t.Errorf("after 10 steps the verdict is %v", rep.Verdict)
	}
}

// Sections that depend on the lost end of a log cannot be judged; they are not wrong.
func TestWhatDependsOnALostTailIsTrimmed(t *testing.T) {
	logs := run(rand.New(rand.NewPCG(9, 10)), 2, 600, false)
	logs[1].events = logs[1].events[:len(logs[1].events)/2]
	rep := verdict(t, 2, logs, Options{})
	if rep.Verdict != Accepted || rep.Trimmed == 0 {
		t.Errorf("verdict %v, %d sections trimmed", rep.Verdict, rep.Trimmed)
	}
	if !strings.Contains(text(rep), fmt.Sprintf("not checked: %d sections", rep.Trimmed)) {
		t.Errorf("the report is silent about what it left out:\n%s", text(rep))
	}
}

func TestClocksThatContradictThemselvesAreRefused(t *testing.T) {
	for name, damage := range map[string]func(logs []*written){
		"counts 7 sections of this process": func(logs []*written) {
			logs[1].events[2].Clock = logs[1].events[2].Clock.With(logs[1].Actor(), 7)
		},
		"runs backwards": func(logs []*written) {
			l := logs[0]
			k := len(l.events) - 1
			l.events[k].Clock = tracelog.Clock(nil).With(l.Actor(), uint64(k+1))
		},
		"both logs of": func(logs []*written) { logs[1].Header = logs[0].Header },
	} {
		logs := run(rand.New(rand.NewPCG(11, 12)), 2, 200, false)
		damage(logs)
		_, err := Check(context.Background(), mail{2}, asLogs(t, logs), Options{})
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
