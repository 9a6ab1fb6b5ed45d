// SPDX-License-Identifier: Apache-2.0

package pcal_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// oneFile is a file system with a single file.
type oneFile string

func (f oneFile) ReadFile(name string) ([]byte, error) {
	if name != "T.tla" {
		return nil, fs.ErrNotExist
	}
	return []byte(f), nil
}

// lowered lowers the algorithm in a text.
func lowered(t *testing.T, text string) *pcal.Algorithm {
	t.Helper()
	text = "---- MODULE T ----\nEXTENDS Integers, Sequences, TLC\n(*\n" + text + "\n*)\n====\n"
	var a *pcal.Algorithm
	_, diags, err := load.Load(oneFile(text), "T.tla", load.Options{Retranslate: true,
		Translate: func(u *load.Untranslated, _ *source.List) load.Translation {
			a = u.Program.AlgorithmOf(u.Module.Algorithm, u.Scope)
			return load.Translation{}
		}})
	if err != nil || a == nil {
		t.Fatal(err, diags)
	}
	return a
}

// none is no name of the specification.
func none(string) bool { return false }

// TestAlgorithms runs the files in testdata. "hoist" shows the archetypes and
// procedures with their reads as statements, "expand" the plain algorithm, and
// "names" the plain algorithm with unique names.
func TestAlgorithms(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			a := lowered(t, d.Input)
			var diags source.List
			if d.Cmd != "hoist" {
				a = pcal.Expand(a, pcal.Names{Written: none, Declared: none}, &diags)
			}
			switch d.Cmd {
			case "hoist":
				for _, x := range a.Archetypes {
					x.Blocks = pcal.Hoist(x.Params, x.Blocks)
				}
				for _, p := range a.Procedures {
					p.Blocks = pcal.Hoist(p.Params, p.Blocks)
				}
				a.Mappings = nil
			case "names":
				a, _ = pcal.Disambiguate(a)
			case "expand":
			default:
				t.Fatalf("unknown command %s", d.Cmd)
			}
			if diags.HasErrors() {
				return diags.Error() + "\n"
			}
			if err := pcal.Validate(a); err != nil {
				t.Errorf("%s: %v", d.Pos, err)
			}
			return pcal.Describe(a)
		})
	})
}

// TestValidate breaks an algorithm in every way that Validate looks for.
func TestValidate(t *testing.T) {
	const text = `--mpcal A {
  procedure Q(ref r, n) { q: r := n; return; }
  mapping macro M { read { yield $variable; } write { yield $value; } }
  archetype B(ref r, n) variables x = 0; { a: if (x = 0) { x := r; } else { skip; }; b: call Q(ref r, n); c: skip; }
  variables g = 0;
  process (P = 1) == instance B(ref g, 2) mapping g via M;
}`
	x := &core.Bool{Val: true}
	a := func(b *pcal.Algorithm) *pcal.Archetype { return b.Archetypes[0] }
	body := func(list ...pcal.Stmt) func(*pcal.Algorithm) {
		return func(b *pcal.Algorithm) { a(b).Blocks[0].Body = list }
	}
	out := &pcal.Goto{Label: "b"}
	for _, test := range []struct {
		name, want string
		change     func(*pcal.Algorithm)
	}{
		{"as it is", "", func(*pcal.Algorithm) {}},
		{"pc", "no pc or stack", func(b *pcal.Algorithm) { b.PC = nil }},
		{"no blocks", "has no block", func(b *pcal.Algorithm) { a(b).Blocks = nil }},
		{"label twice", "label b occurs twice", func(b *pcal.Algorithm) { a(b).Blocks[0].Label = "b" }},
		{"no jump", "label a has a path without a jump", body(&pcal.Skip{})},
		{"jump into nothing", "goto z has no target", body(&pcal.Goto{Label: "z"})},
		{"after a jump", "a statement after a jump", body(out, &pcal.Skip{})},
		{"half a jump", "some paths jump and some do not", body(&pcal.If{Cond: x, Then: []pcal.Stmt{out}}, out)},
		{"half a choice", "some paths jump and some do not", body(&pcal.Either{Branches: [][]pcal.Stmt{{out}, {}}}, out)},
		{"return", "return outside a procedure", body(&pcal.Return{})},
		{"tail call", "tail call outside a procedure", func(b *pcal.Algorithm) { a(b).Blocks[1].Body[0].(*pcal.Call).Return = "" }},
		{"call into nothing", "call returns to z", func(b *pcal.Algorithm) { a(b).Blocks[1].Body[0].(*pcal.Call).Return = "z" }},
		{"arguments", "1 arguments for 2 parameters", func(b *pcal.Algorithm) { c := a(b).Blocks[1].Body[0].(*pcal.Call); c.Args = c.Args[1:] }},
		{"instance", "1 arguments for 2 parameters", func(b *pcal.Algorithm) { b.Instances[0].Args = b.Instances[0].Args[1:] }},
		{"ref of a value", "argument 2 is ref and its parameter is not", func(b *pcal.Algorithm) {
			b.Instances[0].Args[1] = pcal.Arg{Ref: b.Globals[0].Var}
		}},
		{"neither", "argument 2 is neither ref nor value", func(b *pcal.Algorithm) { b.Instances[0].Args[1] = pcal.Arg{} }},
		{"yield in a block", "a yield where no value is asked for", body(&pcal.Yield{X: x}, out)},
		{"read without yield", "its read part has a path without a yield", func(b *pcal.Algorithm) { b.Mappings[0].Read = nil }},
		{"after a yield", "a statement after a yield", func(b *pcal.Algorithm) {
			b.Mappings[0].Read = append(b.Mappings[0].Read, &pcal.Skip{})
		}},
		{"half a yield", "some paths yield and some do not", func(b *pcal.Algorithm) {
			b.Mappings[0].Read = []pcal.Stmt{&pcal.If{Cond: x, Then: []pcal.Stmt{&pcal.Yield{X: x}}}}
		}},
		{"write jumps", "goto Done has no target", func(b *pcal.Algorithm) {
			b.Mappings[0].Write = []pcal.Stmt{&pcal.Goto{Label: pcal.LabelDone}}
		}},
		{"condition", "if without condition", body(&pcal.If{}, out)},
		{"with", "with without a name or a value", body(&pcal.With{}, out)},
		{"read", "read of nothing", body(&pcal.Read{Dst: &core.Local{}}, out)},
		{"write", "write without a resource or a value", body(&pcal.Write{}, out)},
		{"assignment", "assignment without target or value", body(&pcal.Assign{Pairs: []pcal.Assignment{{}}}, out)},
		{"element of nothing", "variable x is an element of nothing", func(b *pcal.Algorithm) { a(b).Locals[0].In, a(b).Locals[0].Init = true, nil }},
		{"indices", "parameter n has indices and is not a ref", func(b *pcal.Algorithm) { a(b).Params[1].Mapping = 1 }},
		{"self", "has no self", func(b *pcal.Algorithm) { a(b).Self = nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := lowered(t, text)
			test.change(b)
			err := pcal.Validate(b)
			if test.want == "" && err == nil {
				return
			}
			if err == nil || test.want == "" || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
