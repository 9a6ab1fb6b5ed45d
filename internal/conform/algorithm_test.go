// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
	"github.com/ashlar-dev/ashlar/tla/value"
)

const stepsModule = `---- MODULE steps ----
EXTENDS Naturals, Sequences
(*
--mpcal steps {
  mapping macro Link {
    read {
      await Len($variable) > 0;
      with (m = Head($variable)) {
        $variable := Tail($variable);
        yield m;
      };
    }
    write {
      yield Append($variable, $value);
    }
  }
  archetype A(ref net[_])
  variables x = 0;
  {
    one:
      x := 7;
      net[1] := 5;
      net[2] := x;
    two:
      x := net[2];
    three:
      skip;
  }
  variables boxes = [i \in 1..2 |-> <<>>];
  fair process (P = 0) == instance A(ref boxes[_])
    mapping boxes[_] via Link;
}
*)
\* BEGIN TRANSLATION
\* END TRANSLATION
====
`

// oneFile is a module that is in no file.
type oneFile struct{ name, text string }

func (f oneFile) ReadFile(name string) ([]byte, error) {
	if name != f.name {
		return nil, fs.ErrNotExist
	}
	return []byte(f.text), nil
}

func stepsAlgorithm(t *testing.T) *Algorithm {
	t.Helper()
	return algorithm(t, oneFile{"steps.tla", stepsModule}, "steps.tla", "SPECIFICATION Spec\n")
}

// fileAlgorithm is the algorithm of a module with its configuration.
func fileAlgorithm(t *testing.T, path string) *Algorithm {
	t.Helper()
	cfg, err := os.ReadFile(path + ".cfg")
	if err != nil {
		t.Fatal(err)
	}
	return algorithm(t, osFiles{}, path+".tla", string(cfg))
}

type osFiles struct{}

func (osFiles) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

func algorithm(t *testing.T, files load.Files, path, text string) *Algorithm {
	t.Helper()
	loaded, diags, err := load.Load(files, path, load.Options{Translate: trans.InMemory, Retranslate: true})
	if err != nil || diags.HasErrors() {
		t.Fatal(err, diags)
	}
	var wrong source.List
	cfg := config.Parse(source.NewFile("run.cfg", []byte(text)), &wrong)
	m, err := model.NewDirect(loaded.Spec, loaded.Plain, cfg, model.Options{})
	if err != nil || wrong.HasErrors() {
		t.Fatal(err, &wrong)
	}
	alg, err := m.Algorithm()
	if err != nil {
		t.Fatal(err)
	}
	return NewAlgorithm(m, alg)
}

// TestSections: a section is a step of the specification if and only if its
// accesses, its variables and its next label are those of the step.
func TestSections(t *testing.T) {
	a := stepsAlgorithm(t)
	actor, err := a.Actor("A", value.Int(0))
	if err != nil {
		t.Fatal(err)
	}
	first, err := a.Init()
	if err != nil || len(first) != 1 {
		t.Fatalf("%d initial states, %v", len(first), err)
	}
	of := func(write bool, index, v int32) Access {
		return Access{Write: write, Param: "net", Indices: []value.Value{value.Int(index)}, Value: value.Int(v)}
	}
	right := func() Section {
		return Section{Label: "one", Next: "two", Accesses: []Access{of(true, 1, 5), of(true, 2, 7)},
			Vars: []Var{{Name: "x", Value: value.Int(7)}}}
	}
	step := func(s State, want Section) (next []State, o *Obstacle) {
		t.Helper()
		o, err := a.Step(s, actor, &want, func(n State) error {
			next = append(next, n)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return next, o
	}
	second, o := step(first[0], right())
	if len(second) != 1 {
		t.Fatalf("the right section leads to %d states: %+v", len(second), o)
	}
	third, o := step(second[0], Section{Label: "two", Next: "three", Accesses: []Access{of(false, 2, 7)}, Vars: []Var{{Name: "x", Value: value.Int(7)}}})
	if len(third) != 1 {
		t.Fatalf("the section after it leads to %d states: %+v", len(third), o)
	}
	for name, damage := range map[string]func(s *Section){
		"another label":          func(s *Section) { s.Label = "two" },
		"another next label":     func(s *Section) { s.Next = "three" },
		"another value":          func(s *Section) { s.Accesses[1].Value = value.Int(8) },
		"another index":          func(s *Section) { s.Accesses[1].Indices = []value.Value{value.Int(1)} },
		"no index":               func(s *Section) { s.Accesses[1].Indices = nil },
		"a read for a write":     func(s *Section) { s.Accesses[0].Write = false },
		"another parameter":      func(s *Section) { s.Accesses[0].Param = "other" },
		"an access too many":     func(s *Section) { s.Accesses = append(s.Accesses, of(true, 1, 5)) },
		"an access too few":      func(s *Section) { s.Accesses = s.Accesses[:1] },
		"no access":              func(s *Section) { s.Accesses = nil },
		"accesses in turn":       func(s *Section) { slices.Reverse(s.Accesses) },
		"another variable value": func(s *Section) { s.Vars[0].Value = value.Int(8) },
		"a value of another kind": func(s *Section) {
			s.Vars[0].Value = value.String("7")
		},
		"a variable that is not there": func(s *Section) { s.Vars[0].Name = "y" },
	} {
		s := right()
		damage(&s)
		if next, o := step(first[0], s); len(next) > 0 || o == nil {
			t.Errorf("%s: the specification takes it", name)
		}
	}
}

// unlogged is a mail with a sender that wrote no log: it sends 1 when the box
// is empty.
type unlogged struct{ mail }

func (u unlogged) Survives(int) bool { return false }

func (u unlogged) Hidden(from State, _ []int, yield func(State) error) error {
	s := from.(check.State)
	if len(s) > u.senders {
		return nil
	}
	return yield(append(slices.Clone(s), 1))
}

// TestWhatIsReadMayBeHidden: a section may have read a value from a process
// without a log.
func TestWhatIsReadMayBeHidden(t *testing.T) {
	l := newWritten("Receiver", 0)
	for k := range 3 {
		l.events = append(l.events, tracelog.Event{N: uint64(k + 1), Label: "receive", Next: "receive",
			Elements: []tracelog.Element{access(tracelog.Read, 1)}, Clock: tracelog.Clock(nil).With(l.Actor(), uint64(k+1))})
	}
	r, err := Check(context.Background(), unlogged{mail{0}}, asLogs(t, []*written{l}), Options{Hidden: true})
	if err != nil || r.Verdict != Accepted {
		t.Errorf("verdict %v, %v", r.Verdict, err)
	}
}

// TestTheFirstThatIsLostIsMissed: a section that has seen just one more section
// of another log than the log still has is not judged.
func TestTheFirstThatIsLostIsMissed(t *testing.T) {
	receiver, sender := newWritten("Receiver", 0), newWritten("Sender", 1)
	receiver.events = []tracelog.Event{{N: 1, Label: "receive", Next: "receive", Elements: []tracelog.Element{access(tracelog.Read, 1)},
		Clock: tracelog.Clock(nil).With(receiver.Actor(), 1).With(sender.Actor(), 1)}}
	r := verdict(t, 1, []*written{receiver, sender}, Options{})
	if r.Verdict != Accepted || r.Trimmed != 1 {
		t.Errorf("verdict %v, %d trimmed; want one", r.Verdict, r.Trimmed)
	}
}

// TestTheOrderOfTrial: real runs are explained with few attempts, whatever the
// order in which they were logged.
func TestTheOrderOfTrial(t *testing.T) {
	for seed := range uint64(10) {
		logs := run(rand.New(rand.NewPCG(seed, 20)), 4, 400, false)
		sections := count(logs)
		if r := verdict(t, 4, logs, Options{StepsMax: 2 * sections}); r.Verdict != Accepted {
			t.Errorf("seed %d: a real run of %d sections is %v after %d attempts", seed, sections, r.Verdict, r.Entered)
		}
	}
}
