// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

// treesAgree loads a module with the declarations of its algorithm, and again
// with the text printed for them. It returns the number of definitions
// compared, or 0 if the module is refused.
func treesAgree(t *testing.T, files load.Files, path string) int {
	t.Helper()
	f, diags, err := Translate(files, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		return 0
	}
	loaded, diags, err := load.Load(files, path, load.Options{Retranslate: true, Translate: InMemory})
	if err != nil || diags.HasErrors() {
		t.Fatalf("with trees: %v %v", err, diags.Sorted())
	}
	printed, diags, err := load.Load(overlay{files, path, f.Content}, path, load.Options{})
	if err != nil || diags.HasErrors() {
		t.Fatalf("with text: %v %v", err, diags.Sorted())
	}
	if err := core.Validate(loaded.Spec); err != nil {
		t.Errorf("the specification with trees is not valid: %v", err)
	}
	if got, want := declarations(loaded.Spec), declarations(printed.Spec); got != want {
		t.Errorf("declared are %s, in the text %s", got, want)
	}
	ours := f.Result.module.defs
	for _, d := range ours {
		tree, text := loaded.Spec.Names[d.Name], printed.Spec.Names[d.Name]
		if tree == nil || text == nil {
			t.Errorf("%s is in one of the two only", d.Name)
			continue
		}
		if tree.Level != text.Level || len(tree.Params) != len(text.Params) {
			t.Errorf("%s has level %d and %d parameters, in the text %d and %d", d.Name, tree.Level, len(tree.Params), text.Level, len(text.Params))
		}
		if got, want := plainly(tree), plainly(text); got != want {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			from := max(at-60, 0)
			t.Errorf("%s is\n... %.160s\nand in the text\n... %.160s", d.Name, got[from:], want[from:])
		}
		stands(t, loaded.Root.Algorithm.Span(), d.Name, tree.Body)
	}
	return len(ours)
}

// declarations are the constants and variables of a specification in order.
func declarations(s *core.Spec) string {
	var out []string
	for _, c := range s.Constants {
		out = append(out, "CONSTANT "+c.Name)
	}
	for _, v := range s.Variables {
		out = append(out, v.Name)
	}
	return strings.Join(out, ", ")
}

// plainly is the body of a definition with all parentheses, in which nested
// lists of conjuncts are one list, bound names are numbers, and an assertion
// does not state its position.
func plainly(d *core.Def) string {
	flat := *d
	flat.Body = core.Transform(d.Body, func(x core.Expr, again func(core.Expr) core.Expr) core.Expr {
		switch x := x.(type) {
		case *core.And:
			if list, nested := spread(x.List, func(e core.Expr) []core.Expr {
				if a, ok := e.(*core.And); ok {
					return a.List
				}
				return nil
			}); nested {
				return again(&core.And{At: x.At, List: list})
			}
		case *core.Or:
			if list, nested := spread(x.List, func(e core.Expr) []core.Expr {
				if o, ok := e.(*core.Or); ok {
					return o.List
				}
				return nil
			}); nested {
				return again(&core.Or{At: x.At, List: list})
			}
		}
		return nil
	})
	// Two texts may need different numbers to keep the same names apart.
	body, n := core.Rename(flat.Body), 0
	core.Scoped(body, func(names []*core.Local, by int) {
		for _, l := range names {
			if by > 0 {
				n++
				l.Name = fmt.Sprintf("bound%d", n)
			}
		}
	}, func(core.Expr) {})
	text := core.FormatParenthesized(body, 0)
	return assertPlace.ReplaceAllString(strings.Join(strings.Fields(text), " "), "")
}

func spread(list []core.Expr, parts func(core.Expr) []core.Expr) (out []core.Expr, nested bool) {
	for _, x := range list {
		if inner := parts(x); inner != nil {
			out, nested = append(out, inner...), true
		} else {
			out = append(out, x)
		}
	}
	return out, nested
}

// stands checks that every part of a made definition is from the algorithm, or from
// a mapping macro of the module AshlarResources, which the algorithm may use.
func stands(t *testing.T, algorithm source.Span, name string, e core.Expr) {
	t.Helper()
	core.Walk(e, func(x core.Expr) bool {
		if at := x.Span(); !contains(algorithm, at) && !(at.IsValid() && at.File.Name == "AshlarResources.tla") {
			t.Errorf("%s has a part %s at %s, which is not in the algorithm", name, core.Format(x, 0), x.Span())
		}
		return true
	})
}

// TestTreesAreThoseOfTheText compares the two on the algorithms of the corpus,
// of the specifications, and of the files that other tests run.
func TestTreesAreThoseOfTheText(t *testing.T) {
	compared := 0
	whole := func(t *testing.T, path string) {
		n := treesAgree(t, osFiles{}, path)
		if n == 0 {
			t.Error("the module is refused")
		}
		compared += n
	}
	if _, err := os.Stat(corpus); err == nil {
		for _, name := range algorithms {
			t.Run(filepath.Base(name), func(t *testing.T) { whole(t, filepath.Join(corpus, name)) })
		}
	}
	for _, dir := range []string{"../../../specs", "../../../examples", "../../model/testdata", "../../compile/testdata"} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".tla") {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil && regexp.MustCompile(`--(fair )?(algorithm|mpcal) `).Match(text) {
				t.Run(path, func(t *testing.T) { whole(t, path) })
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"testdata", "../../model/testdata/direct"} {
		datadriven.Walk(t, dir, func(t *testing.T, path string) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				compared += treesAgree(t, oneFile(inModule(d.Input)), "T.tla")
				if t.Failed() {
					t.Logf("at %s", d.Pos)
				}
				return d.Expected
			})
		})
	}
	if compared < 1000 {
		t.Errorf("only %d definitions were compared", compared)
	}
	t.Logf("%d definitions", compared)
}

// TestRecursiveBehindTheAlgorithm: the algorithm uses an operator that
// RECURSIVE announces before it and the text after it defines.
func TestRecursiveBehindTheAlgorithm(t *testing.T) {
	const module = `---- MODULE T ----
EXTENDS Integers
RECURSIVE Half(_)
(* --algorithm A { variables x = Half(9); define { Small == x < 9 } { a: await Small; x := Half(x); } } *)
Kept == Small
Half(n) == IF n < 2 THEN 0 ELSE 1 + Half(n - 2)
====
`
	if treesAgree(t, oneFile(module), "T.tla") == 0 {
		t.Fatal("the module is refused")
	}
	loaded, _, err := load.Load(oneFile(module), "T.tla", load.Options{Translate: InMemory})
	if err != nil {
		t.Fatal(err)
	}
	half := loaded.Spec.Names["Half"]
	if half.Body == nil || len(half.Params) != 1 {
		t.Errorf("Half has %d parameters and the body %v", len(half.Params), half.Body)
	}
	found := false
	core.Calls(loaded.Spec.Names["Init"].Body, func(d *core.Def) { found = found || d == half })
	if !found {
		t.Error("Init uses another Half")
	}
}

// TestSelectedTextOfATranslation: a module may select parts of its translation,
// which needs a written translation.
func TestSelectedTextOfATranslation(t *testing.T) {
	const module = `---- MODULE T ----
EXTENDS Integers
(* --algorithm A { variables x = 0; { a: x := 1; } } *)
Assigned == a!2
====
`
	_, diags, err := load.Load(oneFile(module), "T.tla", load.Options{Translate: InMemory})
	if err != nil || !strings.Contains(shown(diags), "NoText") {
		t.Errorf("in memory: got %v, %s", err, shown(diags))
	}
	f := translated(t, oneFile(module), "T.tla")
	if _, diags, err = load.Load(oneFile(f.Content), "T.tla", load.Options{Translate: InMemory}); err != nil || diags.HasErrors() {
		t.Errorf("from its translation: got %v, %s", err, shown(diags))
	}
}
