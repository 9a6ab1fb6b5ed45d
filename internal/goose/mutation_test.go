// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// mutationsEnv is how many mutants each program gets; the default is for every day.
const (
	mutationsEnv     = "ASHLAR_GOOSE_MUTATIONS"
	mutationsDefault = 150
)

// TestMutants puts pieces of programs in the places of other pieces. What still
// compiles is translated or refused: the translator does not fail, and what it
// makes is valid.
func TestMutants(t *testing.T) {
	n := mutationsDefault
	if s := os.Getenv(mutationsEnv); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	compiled, translated := 0, 0
	for _, pattern := range []string{"testdata/golden/*.go", "testdata/refused/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no programs in %s: %v", pattern, err)
		}
		for i, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(uint64(i), uint64(n)))
			for range n {
				a, b := mutate(t, rnd, string(text))
				compiled += a
				translated += b
			}
		}
	}
	t.Logf("%d mutants compiled, %d of them were translated", compiled, translated)
	if n >= mutationsDefault && (compiled < 100 || translated < 20) {
		t.Errorf("only %d mutants compiled and %d were translated", compiled, translated)
	}
}

// mutate makes one to three mutations and translates the result.
func mutate(t *testing.T, rnd *rand.Rand, text string) (compiled, translated int) {
	for range 1 + rnd.IntN(3) {
		text = exchange(rnd, text)
	}
	u, err := check("mutant.go", text, "")
	if err != nil {
		return 0, 0
	}
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%v\nfor the program\n%s", r, text)
		}
	}()
	p, diags := Lower(u)
	if diags.HasErrors() {
		return 1, 0
	}
	if err := Validate(p); err != nil {
		t.Fatalf("%v\nfor the program\n%s", err, text)
	}
	_ = Encode(p).String()
	return 1, 1
}

// exchange puts the text of one node in the place of another one of its sort.
func exchange(rnd *rand.Rand, text string) string {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "m.go", text, parser.SkipObjectResolution)
	if err != nil {
		return text
	}
	sorts := map[string][]ast.Node{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n.(type) {
			case nil:
			case ast.Stmt:
				sorts["statement"] = append(sorts["statement"], n)
			case ast.Expr:
				sorts["expression"] = append(sorts["expression"], n)
			}
			return true
		})
	}
	sort := "expression"
	if rnd.IntN(3) == 0 {
		sort = "statement"
	}
	nodes := sorts[sort]
	if len(nodes) < 2 {
		return text
	}
	from, to := nodes[rnd.IntN(len(nodes))], nodes[rnd.IntN(len(nodes))]
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	piece := text[at(from.Pos()):at(from.End())]
	if sort == "expression" && rnd.IntN(4) == 0 {
		piece = fmt.Sprintf("(%s)", piece)
	}
	return text[:at(to.Pos())] + piece + text[at(to.End()):]
}
