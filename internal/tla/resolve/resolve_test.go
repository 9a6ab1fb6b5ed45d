// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// files is a library of the modules of one test input.
type files struct {
	names   []string
	modules map[string]*syntax.Module
	diags   map[string]*source.List
}

// split cuts the input at the headers of modules; the last one is the root.
func split(input string) (*files, *syntax.Module, *source.List) {
	f := &files{modules: map[string]*syntax.Module{}, diags: map[string]*source.List{}}
	var texts []string
	for _, line := range strings.SplitAfter(input, "\n") {
		if strings.HasPrefix(line, "---- MODULE ") || len(texts) == 0 {
			texts = append(texts, "")
		}
		texts[len(texts)-1] += line
	}
	var root *syntax.Module
	for _, t := range texts {
		name := "Root"
		if rest, ok := strings.CutPrefix(t, "---- MODULE "); ok {
			name, _, _ = strings.Cut(rest, " ")
		}
		m, list := syntax.ParseModule(source.NewFile(name+".tla", []byte(t)))
		if as := strings.Index(t, `\* file `); as >= 0 {
			name = strings.Fields(t[as:])[2]
		}
		f.names = append(f.names, name)
		f.modules[name], f.diags[name] = m, list
		root = m
	}
	return f, root, f.diags[f.names[len(f.names)-1]]
}

func (f *files) Find(name string) (*syntax.Module, bool, *source.List) {
	return f.modules[name], name == "Naturals", f.diags[name]
}
func (f *files) Searched() []string { return []string{"here", "there"} }
func (f *files) Names() []string    { return f.names }

// TestResolve runs the inputs in testdata. The commands are:
//
//	resolve   prints the diagnostics as a person sees them
//	levels    prints the levels of the root's definitions, too
func TestResolve(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			lib, root, diags := split(d.Input)
			if diags.HasErrors() {
				return "does not parse:\n" + diags.Error()
			}
			info := Resolve(root, lib, Options{}, diags)
			var b strings.Builder
			diags.Print(&b)
			if d.Cmd == "levels" {
				for _, s := range info.Root.Defined {
					fmt.Fprintf(&b, "%s: %s", s.Name, describeLevels(info.algebra, s))
				}
			}
			if b.Len() == 0 {
				return "ok\n"
			}
			return b.String()
		})
	})
}

func describeLevels(algebra *algebra, s *Symbol) string {
	if s.levels == nil {
		return "-\n"
	}
	out := s.levels.term.closed.String()
	for _, p := range s.levels.formals {
		most := TemporalLevel
		for _, b := range s.levels.bounds {
			if a := algebra.atoms[b.atom]; a.from == p && a.when == "" {
				most = min(most, b.most)
			}
		}
		if most < TemporalLevel {
			out += fmt.Sprintf(", %s at most %s", p.Name, most)
		}
	}
	for _, u := range s.levels.uses {
		if a, to := algebra.atoms[u.atom], algebra.place(u); a.from != nil {
			out += fmt.Sprintf(", %s given to %s", a.from.Name, to.op.Name)
		} else {
			out += fmt.Sprintf(", %s given to %s", a.level, to.op.Name)
		}
	}
	return out + "\n"
}

// TestCodes checks that testdata/codes shows every code of the package.
func TestCodes(t *testing.T) {
	text, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := os.ReadFile("testdata/codes")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, line := range strings.Split(string(text), "\n") {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), " source.Code = ")
		if !ok {
			continue
		}
		n++
		if rest != `"`+name+`"` {
			t.Errorf("code %s has the text %s", name, rest)
		}
		if name == "TooManyModules" || name == "TooDeep" || name == "Misplaced" {
			continue // TestLimits, TestMisplaced
		}
		if !strings.Contains(string(shown), "["+name+"]") {
			t.Errorf("no example in testdata/codes shows %s", name)
		}
	}
	if n < 20 {
		t.Errorf("got %d codes, want all of codes.go", n)
	}
}

// TestMisplaced reads forms of algorithms in places where they have no meaning.
func TestMisplaced(t *testing.T) {
	_, root, diags := split("---- MODULE A ----\n====\n")
	info := Resolve(root, &files{}, Options{}, diags)
	for _, e := range []syntax.Expr{&syntax.Dollar{Name: "$value"}, &syntax.RefArg{}, &syntax.AssumeProve{}} {
		var list source.List
		info.Expr(info.Root.Names, e, &list)
		if got := list.Error(); !strings.Contains(got, "[Misplaced]") {
			t.Errorf("%T: got %q, want Misplaced", e, got)
		}
	}
}

// many makes a chain of n modules that extend one another on demand.
type many struct{ n int }

func (m many) Find(name string) (*syntax.Module, bool, *source.List) {
	var i int
	if _, err := fmt.Sscanf(name, "M%d", &i); err != nil || i > m.n {
		return nil, false, nil
	}
	tree, list := syntax.ParseModule(source.NewFile(name+".tla", fmt.Appendf(nil, "---- MODULE %s ----\nEXTENDS M%d\n====\n", name, i+1)))
	return tree, false, list
}
func (many) Searched() []string { return nil }
func (many) Names() []string    { return nil }

// TestLimits exceeds the limits of the package.
func TestLimits(t *testing.T) {
	tree, _ := syntax.ParseModule(source.NewFile("M0.tla", []byte("---- MODULE M0 ----\nEXTENDS M1\n====\n")))
	for _, tt := range []struct {
		n    int
		want source.Code
	}{{ModulesMax + 1, TooManyModules}, {ModulesMax - 1, ModuleNotFound}} {
		var list source.List
		Resolve(tree, many{tt.n}, Options{}, &list)
		if got := list.Sorted(); len(got) != 1 || got[0].Code != tt.want {
			t.Errorf("%d modules: got %v, want one %s", tt.n, got, tt.want)
		}
	}

	var deep syntax.Expr = &syntax.Number{Base: 10, Digits: "1"}
	for range DepthMax + 1 {
		deep = &syntax.SetEnum{Elems: []syntax.Expr{deep}}
	}
	_, root, diags := split("---- MODULE A ----\n====\n")
	info := Resolve(root, &files{}, Options{}, diags)
	var list source.List
	info.Expr(info.Root.Names, deep, &list)
	if got := list.Sorted(); len(got) != 1 || got[0].Code != TooDeep {
		t.Errorf("a deep set: got %v, want one TooDeep", got)
	}
}
