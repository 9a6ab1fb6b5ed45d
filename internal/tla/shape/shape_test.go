// SPDX-License-Identifier: Apache-2.0

package shape_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

type disk struct{}

func (disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// read loads a module and its algorithm, if it has one.
func read(t *testing.T, path string) (*core.Spec, *pcal.Algorithm) {
	t.Helper()
	var spec *core.Spec
	var alg *pcal.Algorithm
	loaded, diags, err := load.Load(disk{}, path, load.Options{Retranslate: true,
		Translate: func(u *load.Untranslated, list *source.List) load.Translation {
			made := trans.InMemory(u, list)
			spec, alg = u.Program.Spec(), made.Algorithm
			return made
		}})
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if alg == nil {
		return loaded.Spec, nil
	}
	return spec, alg
}

// TestInfer shows shapes. The command "archetype" takes declarations and
// statements of an archetype A(ref net[_]) with "variables", the command
// "module" takes text before the algorithm, which the next archetype sees.
func TestInfer(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, file string) {
		before := ""
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "module":
				before = d.Input
				return ""
			case "archetype":
				text := "---- MODULE m ----\nEXTENDS Integers, Sequences, FiniteSets, TLC, Bags, SequencesExt\n" + before +
					"\n(* --mpcal m {\narchetype A(ref net[_])\n" + d.Input + "\nvariables n = [i \\in 1..3 |-> <<>>];\n" +
					"process (P = 1) == instance A(ref n[_]);\n} *)\n\\* BEGIN TRANSLATION\n\\* END TRANSLATION\n====\n"
				path := filepath.Join(t.TempDir(), "m.tla")
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return describe(read(t, path))
			}
			return "unknown command " + d.Cmd
		})
	})
}

func describe(spec *core.Spec, alg *pcal.Algorithm) string {
	r := shape.Infer(shape.Program{Spec: spec, Algorithm: alg})
	var b strings.Builder
	a := alg.Archetypes[0]
	sc := r.Archetype(a)
	for _, c := range spec.Constants {
		fmt.Fprintf(&b, "CONSTANT %s: %s\n", c.Name, r.Const(c))
	}
	for _, v := range a.Locals {
		fmt.Fprintf(&b, "%s: %s", v.Var.Name, sc.Var(v.Var))
		if d := sc.VarDomain(v.Var).String(); d != "" {
			fmt.Fprintf(&b, " in %s", d)
		}
		b.WriteByte('\n')
		for _, f := range sc.FallbacksOf(v.Var.Name, v.Var) {
			why := strings.NewReplacer(filepath.Dir(f.Span.File.Name)+"/", "").Replace(f.Why)
			fmt.Fprintf(&b, "  %s %s\n", f.Path, why)
		}
	}
	if ref := sc.Ref(a.Params[0].Var); ref.Read.Kind != shape.Seq {
		fmt.Fprintf(&b, "net: read %s, write %s\n", ref.Read, ref.Write)
	}
	return b.String()
}

// TestTwoPhase infers the variables of a specification without an algorithm.
func TestTwoPhase(t *testing.T) {
	spec, _ := read(t, "../../../specs/twophase/twophase.tla")
	rms := &shape.Sample{Kind: shape.Set}
	for _, n := range []string{"r1", "r2"} {
		rms.Elems = append(rms.Elems, &shape.Sample{Name: n})
	}
	constants := map[string]*shape.Sample{}
	for _, c := range spec.Constants {
		constants[c.Name] = rms
	}
	var roots []*core.Def
	for _, name := range []string{"Init", "Next", "TypeOK"} {
		if d := spec.Names[name]; d != nil {
			roots = append(roots, d)
		}
	}
	r := shape.Infer(shape.Program{Spec: spec, Constants: constants, Roots: roots})
	var got []string
	for _, v := range spec.Variables {
		s := r.Root().Var(v)
		if s.Mixed() {
			t.Errorf("%s: %s", v.Name, s)
		}
		got = append(got, v.Name+": "+s.String())
	}
	if len(got) < 3 {
		t.Errorf("variables: %v", got)
	}
	t.Log(strings.Join(got, "\n"))
}

// TestInstancesAreBounded has operators that call each other twice: they would
// have 2^40 instances.
func TestInstancesAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("---- MODULE m ----\nEXTENDS Integers\nF0(x) == x + 1\n")
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&b, "F%d(x) == F%d(x) + F%d(x)\n", i, i-1, i-1)
	}
	b.WriteString("(* --mpcal m {\narchetype A() variables v = 0; { l: v := F40(1); }\nprocess (P = 1) == instance A();\n} *)\n\\* BEGIN TRANSLATION\n\\* END TRANSLATION\n====\n")
	path := filepath.Join(t.TempDir(), "m.tla")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	spec, alg := read(t, path)
	r := shape.Infer(shape.Program{Spec: spec, Algorithm: alg})
	a := alg.Archetypes[0]
	if got := r.Archetype(a).Var(a.Locals[0].Var).String(); got != "Int" {
		t.Errorf("v: %s", got)
	}
}

// TestSharedPartsStaySmall has a tuple of tuples whose text would be 2^40 bytes
// long.
func TestSharedPartsStaySmall(t *testing.T) {
	var b strings.Builder
	b.WriteString("---- MODULE m ----\nEXTENDS Integers\nF0 == <<1, 2>>\n")
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&b, "F%d == LET x == F%d IN <<x, x>>\n", i, i-1)
	}
	b.WriteString("(* --mpcal m {\narchetype A() variables v = 0, w = 1; { l: v := F40; w := F40; await v = w; }\nprocess (P = 1) == instance A();\n} *)\n\\* BEGIN TRANSLATION\n\\* END TRANSLATION\n====\n")
	path := filepath.Join(t.TempDir(), "m.tla")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	spec, alg := read(t, path)
	sc := shape.Infer(shape.Program{Spec: spec, Algorithm: alg}).Archetype(alg.Archetypes[0])
	v := alg.Archetypes[0].Locals[0].Var
	if got := sc.Var(v).String(); len(got) > 1000 {
		t.Errorf("v: a text of %d bytes", len(got))
	}
	sc.VarDomain(v)
	if n := len(sc.FallbacksOf("v", v)); n > 10 {
		t.Errorf("%d fallbacks", n)
	}
}
