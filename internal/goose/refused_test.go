// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// expectation is what a comment WANT Code "pattern" ... asks for its line.
type expectation struct {
	line    int
	codes   string
	pattern *regexp.Regexp
	met     bool
}

var (
	wantComment = regexp.MustCompile(`// WANT (.*)$`)
	wantItem    = regexp.MustCompile(`([A-Za-z|]+) "((?:[^"\\]|\\.)*)"`)
)

func expectations(t *testing.T, text string) []*expectation {
	t.Helper()
	var out []*expectation
	for i, line := range strings.Split(text, "\n") {
		m := wantComment.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		items := wantItem.FindAllStringSubmatch(m[1], -1)
		if len(items) == 0 {
			t.Fatalf("line %d: nothing is wanted", i+1)
		}
		for _, item := range items {
			out = append(out, &expectation{line: i + 1, codes: item[1],
				pattern: regexp.MustCompile(strings.ReplaceAll(item[2], `\\`, `\`))})
		}
	}
	return out
}

// TestRefusals translates the programs of testdata/refused: each is refused with
// just what its comments say, all in one run.
func TestRefusals(t *testing.T) {
	files, err := filepath.Glob("testdata/refused/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	seen := map[source.Code]bool{}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := expectations(t, string(text))
			_, diags := Lower(mustCheck(t, filepath.Base(name), string(text), ""))
			for _, d := range diags.Sorted() {
				seen[d.Code] = true
				if !meet(want, d) {
					t.Errorf("not wanted: %s: %s [%s]", d.Span, d.Message, d.Code)
				}
				if !d.Span.IsValid() {
					t.Errorf("without a place: %s [%s]", d.Message, d.Code)
				}
			}
			for _, w := range want {
				if !w.met {
					t.Errorf("line %d: nothing with code %s and %q", w.line, w.codes, w.pattern)
				}
			}
		})
	}
	// These need more than a file; the tests below see to them.
	for _, code := range []source.Code{GoError, LeftOut, LanguageVersion, TooDeep} {
		seen[code] = true
	}
	for _, code := range allCodes(t) {
		if !seen[code] {
			t.Errorf("no program is refused with %s", code)
		}
	}
}

func meet(want []*expectation, d source.Diagnostic) bool {
	for _, w := range want {
		if w.line == d.Span.From().Line && !w.met && w.pattern.MatchString(d.Message) {
			for _, code := range strings.Split(w.codes, "|") {
				if code == string(d.Code) {
					w.met = true
					return true
				}
			}
		}
	}
	return false
}

// allCodes are the codes that code.go declares, each of which has a comment with
// an example.
func allCodes(t *testing.T) []source.Code {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out []source.Code
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if v.Type == nil {
				continue
			}
			name := v.Names[0].Name
			if !strings.Contains(v.Doc.Text(), "Example:") {
				t.Errorf("the comment of %s has no example", name)
			}
			out = append(out, source.Code(name))
		}
	}
	if len(out) < 30 {
		t.Fatalf("found %d codes", len(out))
	}
	return out
}

func TestOldLanguageIsRefused(t *testing.T) {
	u := mustCheck(t, "old.go", "package old\n\nfunc f() {}\n", "go1.21")
	_, diags := Lower(u)
	if got := diags.Error(); !strings.Contains(got, "[LanguageVersion]") || !strings.Contains(got, "old.go:1:9") {
		t.Errorf("got %q", got)
	}
}

func TestDeepNestingIsRefused(t *testing.T) {
	for _, c := range []struct{ name, body string }{
		{"parentheses", "return " + strings.Repeat("(", 300) + "x" + strings.Repeat(")", 300)},
		{"negations", "return " + strings.Repeat("-(", 300) + "x" + strings.Repeat(")", 300)},
		{"ifs", strings.Repeat("if x > 5 {\n", 300) + "x = 1\n" + strings.Repeat("}\n", 300) + "return x"},
		{"else ifs", "if x > 5 {\n}" + strings.Repeat(" else if x > 6 {\n}", 300) + "\nreturn x"},
		{"loops", strings.Repeat("for {\n", 300) + strings.Repeat("}\n", 300) + "return x"},
		{"fields", "var t *node\n_ = t" + strings.Repeat(".next", 300) + "\nreturn x"},
		{"sums", "return x" + strings.Repeat("+x", 300)},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf("package deep\n\ntype node struct{ next *node }\n\nfunc f(x int) int {\n%s\n}\n", c.body)
			_, diags := Lower(mustCheck(t, "deep.go", text, ""))
			if got := diags.Error(); !strings.Contains(got, "[TooDeep]") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestRepairsAreSaid: most diagnostics say what to write instead.
func TestRepairsAreSaid(t *testing.T) {
	text, err := os.ReadFile("testdata/refused/statements.go")
	if err != nil {
		t.Fatal(err)
	}
	_, diags := Lower(mustCheck(t, "statements.go", string(text), ""))
	var without []string
	for _, d := range diags.Sorted() {
		if d.Repair == "" {
			without = append(without, d.Message)
		}
	}
	sort.Strings(without)
	if len(without) > 0 {
		t.Errorf("no repair for: %v", without)
	}
}
