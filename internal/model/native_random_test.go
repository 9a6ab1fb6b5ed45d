// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/pack"
)

// nativeAsked is one question to compiled code, and what the closures of the
// same code say; Pred is askNext where successors are asked for, and askKey where
// it is the name of a state.
type nativeAsked struct {
	model int
	query nativeQuery
	want  nativeReply
	text  string // of the state
}

type nativeQuery struct {
	Model, Pred int
	Cur, Next   []uint64
}

const (
	askNext = -1
	askKey  = -2
)

type nativeReply struct {
	Actions     []int
	Words       [][]uint64
	Whole       bool
	Holds, Good bool
}

// nativeShim is what the programs of models are linked with instead of the
// engine of the checker: it answers questions.
const nativeShim = `package program

import (
	"encoding/gob"
	"os"
	"slices"
)

type Machine interface {
	Start(emit func(action int) bool)
	Run(cur []uint64) (whole bool)
	Words() []uint64
	Holds(i int, cur, nxt []uint64) (holds, ok bool)
}

type query struct {
	Model, Pred int
	Cur, Next   []uint64
}

type reply struct {
	Actions     []int
	Words       [][]uint64
	Whole       bool
	Holds, Good bool
}

type KeyMachine interface {
	Key(cur, name []uint64) (ok bool)
}

type Sizes struct{ Words, Bytes, Key int }

var (
	made  []func() Machine
	sizes []Sizes
)

func Main(s Sizes, machine func() Machine) {
	made, sizes = append(made, machine), append(sizes, s)
}

func Answer() {
	machines := make([]Machine, len(made))
	for i, m := range made {
		machines[i] = m()
	}
	var queries []query
	if err := gob.NewDecoder(os.Stdin).Decode(&queries); err != nil {
		panic(err)
	}
	replies := make([]reply, len(queries))
	for i, q := range queries {
		m, r := machines[q.Model], &replies[i]
		if q.Pred == -2 {
			name := make([]uint64, (sizes[q.Model].Key+7)/8)
			if r.Good = m.(KeyMachine).Key(q.Cur, name); r.Good {
				r.Words = [][]uint64{name}
			}
			continue
		}
		if q.Pred >= 0 {
			r.Holds, r.Good = m.Holds(q.Pred, q.Cur, q.Next)
			continue
		}
		m.Start(func(action int) bool {
			r.Actions = append(r.Actions, action)
			r.Words = append(r.Words, slices.Clone(m.Words()))
			return true
		})
		r.Whole = m.Run(q.Cur)
	}
	if err := gob.NewEncoder(os.Stdout).Encode(replies); err != nil {
		panic(err)
	}
}
`

// nativeQuestions explores a packed model and writes down what its closures say
// of some states: the successors, in their order, and every predicate of each.
func nativeQuestions(m *Model, number, most int) (out []nativeAsked) {
	machine, words := pack.NewMachine(m.packed.code), make([]uint64, m.packed.layout.Words())
	var states, steps []int
	add := func(to *[]int, fs ...*formula) {
		for _, f := range fs {
			if f != nil && m.packed.preds[f.id] >= 0 {
				*to = append(*to, m.packed.preds[f.id])
			}
		}
	}
	add(&states, m.constraints...)
	add(&states, m.invariants...)
	add(&steps, m.actionConstraints...)
	for _, a := range m.antecedents {
		add(&states, a.f)
	}
	for _, s := range m.steps {
		add(&steps, s.next)
	}
	seen, queue := map[string]bool{}, []check.State(nil)
	visit := func(_ int, s check.State) error {
		if !seen[string(s)] && len(seen) < most {
			seen[string(s)] = true
			queue = append(queue, slices.Clone(s))
		}
		return nil
	}
	w := m.newPackedWorker()
	err := w.Init(visit)
	for ; err == nil && len(queue) > 0; queue = queue[1:] {
		if !m.packed.layout.LoadBytes(words, queue[0]) {
			continue
		}
		cur, r := slices.Clone(words), nativeReply{}
		machine.Start(func(action int) bool {
			r.Actions = append(r.Actions, action)
			r.Words = append(r.Words, slices.Clone(machine.Words()))
			return true
		})
		r.Whole = machine.Run(cur)
		text := fmt.Sprint(m.Decode(queue[0]))
		ask := func(q nativeQuery, r nativeReply) { out = append(out, nativeAsked{number, q, r, text}) }
		ask(nativeQuery{number, askNext, cur, nil}, r)
		if name, good := nativeName(m, machine, cur); name != nil {
			r := nativeReply{Good: good}
			if good {
				r.Words = [][]uint64{name}
			}
			ask(nativeQuery{number, askKey, cur, nil}, r)
		}
		for _, next := range r.Words {
			for _, p := range states {
				holds, good := machine.Holds(p, next, nil)
				ask(nativeQuery{number, p, next, nil}, nativeReply{Holds: holds && good, Good: good})
			}
			for _, p := range steps {
				holds, good := machine.Holds(p, cur, next)
				ask(nativeQuery{number, p, cur, next}, nativeReply{Holds: holds && good, Good: good})
			}
		}
		_ = w.Next(queue[0], visit) // an error of the model ends its successors
	}
	return out
}

// nativeName is what closures name a packed state by, nil where that is itself.
func nativeName(m *Model, machine *pack.Machine, cur []uint64) (name []uint64, good bool) {
	if l := m.packed.code.ViewLayout(); l != nil {
		name = make([]uint64, l.Words())
		return name, machine.View(cur, name)
	}
	if m.packed.images == nil || len(m.symmetry) == 0 {
		return nil, false
	}
	name = make([]uint64, len(cur))
	m.packed.images.Least(cur, name, make([]uint64, len(cur)))
	return name, true
}

// nativeProgram compiles the sources of several models as one program.
func nativeProgram(t *testing.T, sources [][]byte) string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no Go toolchain to compile models with")
	}
	dir := t.TempDir()
	write := func(name string, text string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var imports, calls strings.Builder
	for i, s := range sources {
		text := string(s)
		for _, change := range [][2]string{
			{"package main\n", fmt.Sprintf("package m%d\n", i)},
			{"func main() {", "func Main() {"},
			{`"github.com/ashlar-dev/ashlar/internal/search/program"`, `"models/program"`},
		} {
			if strings.Count(text, change[0]) != 1 {
				t.Fatalf("a program has not one %q:\n%.2000s", change[0], text)
			}
			text = strings.Replace(text, change[0], change[1], 1)
		}
		write(fmt.Sprintf("m%d/m.go", i), text)
		fmt.Fprintf(&imports, "\t\"models/m%d\"\n", i)
		fmt.Fprintf(&calls, "\tm%d.Main()\n", i)
	}
	write("go.mod", "module models\n\ngo 1.26.0\n")
	write("program/program.go", nativeShim)
	write("main.go", "package main\n\nimport (\n\t\"models/program\"\n"+imports.String()+")\n\nfunc main() {\n"+calls.String()+"\tprogram.Answer()\n}\n")
	build := exec.Command(tool, "build", "-trimpath", "-o", "models", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("compile the models: %v\n%.4000s", err, said)
	}
	return filepath.Join(dir, "models")
}

// askNative compares what compiled code says with what closures say. Various says
// that some predicates are false, and that states were named.
func askNative(t *testing.T, sources [][]byte, asked []nativeAsked, text func(model int) string) (various bool) {
	t.Helper()
	run := exec.Command(nativeProgram(t, sources))
	var in, out bytes.Buffer
	queries := make([]nativeQuery, len(asked))
	for i, a := range asked {
		queries[i] = a.query
	}
	if err := gob.NewEncoder(&in).Encode(queries); err != nil {
		t.Fatal(err)
	}
	run.Stdin, run.Stdout = &in, &out
	if err := run.Run(); err != nil {
		t.Fatal(err)
	}
	var replies []nativeReply
	if err := gob.NewDecoder(&out).Decode(&replies); err != nil {
		t.Fatal(err)
	}
	if len(replies) != len(asked) {
		t.Fatalf("%d answers to %d questions", len(replies), len(asked))
	}
	whole, steps, known, holds, named := 0, 0, 0, 0, 0
	for i, a := range asked {
		r := replies[i]
		r.Holds = r.Holds && r.Good
		if fmt.Sprint(r) != fmt.Sprint(a.want) {
			t.Fatalf("model %d, predicate %d of %x %x in %s:\ncompiled %+v\nclosures %+v\n%s",
				a.model, a.query.Pred, a.query.Cur, a.query.Next, a.text, r, a.want, text(a.model))
		}
		if a.query.Pred == askKey {
			named += len(r.Words)
			continue
		}
		steps += len(r.Words)
		for b, n := range map[*int]bool{&whole: r.Whole, &known: r.Good, &holds: r.Holds} {
			if n {
				*b++
			}
		}
	}
	t.Logf("%d models, %d questions: %d states expanded wholly, %d successors, %d predicates known, %d of them true, %d states named",
		len(sources), len(asked), whole, steps, known, holds, named)
	if whole == 0 || steps == 0 || known == 0 || holds == 0 {
		t.Error("that says nothing")
	}
	return holds < known && named > 0
}

// TestNativeAgreesOnRandomModels compiles many random models as one program and
// compares what it says with the closures, which other tests compare with the
// evaluator on models of the same kinds: successors in their order, where the
// code stops, predicates, and the names of states under a view or a symmetry.
// ASHLAR_SEED has it take more of them, from another seed.
func TestNativeAgreesOnRandomModels(t *testing.T) {
	rounds, seed := randomRounds(t)
	var sources [][]byte
	var asked []nativeAsked
	var texts []string
	for round := range rounds + rounds/2 {
		var module, cfg string
		switch r := rand.New(rand.NewPCG(seed, uint64(9000+round))); {
		case round >= rounds && round%2 == 0:
			module, cfg = viewedModel(r)
		case round >= rounds:
			module, cfg = symmetricModel(r)
		case round%2 == 0:
			module, cfg = wideModel(r)
		default:
			module, cfg = narrowModel(r)
		}
		spec, _ := loadText(t, module, cfg)
		m := packedModel(t, newModel(t, spec, parseConfig(t, "test.cfg", cfg), Options{}), 1+round%30)
		if m.packed == nil {
			continue
		}
		asked = append(asked, nativeQuestions(m, len(sources), 120)...)
		sources, texts = append(sources, pack.Source(m.packed.lowered, m.packed.images)), append(texts, module)
	}
	if len(sources) < rounds/3 {
		t.Errorf("%d of %d models were packed", len(sources), rounds)
	}
	if !askNative(t, sources, asked, func(model int) string { return fmt.Sprintf("seed %d:\n%s", seed, texts[model]) }) {
		t.Error("no predicate is false, or no state was named")
	}
}

// TestNativeAgreesOnTheCorpus does the same for the models of the corpus.
func TestNativeAgreesOnTheCorpus(t *testing.T) {
	if os.Getenv("ASHLAR_NATIVE") == "" {
		t.Skip("it compiles some 60 models, which takes minutes; set ASHLAR_NATIVE to run it")
	}
	var sources [][]byte
	var asked []nativeAsked
	var names []string
	for _, row := range corpusModels(t) {
		if row.seconds == 0 || strings.Contains(row.cfg, "Random") || corpusLong[filepath.Base(row.cfg)] {
			continue
		}
		spec, cfg := loadFiles(t, row.module, row.cfg)
		m := packedModel(t, newModel(t, spec, cfg, Options{}), 300)
		if m.packed == nil {
			continue
		}
		asked = append(asked, nativeQuestions(m, len(sources), 200)...)
		sources, names = append(sources, pack.Source(m.packed.lowered, m.packed.images)), append(names, row.cfg)
	}
	if len(sources) < 50 {
		t.Errorf("%d models were packed, there are more", len(sources))
	}
	if !askNative(t, sources, asked, func(model int) string { return names[model] }) {
		t.Error("no predicate is false, or no state was named")
	}
}
