// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// TestDocCommentsNameWhatTheyDocument: a renamed declaration keeps its comment, which
// then names something that no longer exists.
func TestDocCommentsNameWhatTheyDocument(t *testing.T) {
	fset, files := goFiles(t)
	for _, f := range files {
		if ast.IsGenerated(f.ast) {
			continue
		}
		for _, w := range misnamed(fset, f) {
			t.Error(w)
		}
	}
}

// misnamed lists the doc comments of a file that begin with a name other than the
// documented one, and the exported functions and types without a comment. A comment
// that begins in lower case begins with a name: a sentence would not.
func misnamed(fset *token.FileSet, f goFile) (wrong []string) {
	report := func(name *ast.Ident, why string) {
		wrong = append(wrong, fmt.Sprintf("%s: %s %s", fset.Position(name.Pos()), name.Name, why))
	}
	check := func(name *ast.Ident, doc *ast.CommentGroup) {
		words := strings.Fields(doc.Text())
		if len(words) == 0 {
			return
		}
		promised := name.IsExported() && !f.test
		if article := []string{"A", "An", "The"}; promised && len(words) > 1 && slices.Contains(article, words[0]) {
			words = words[1:]
		}
		first := strings.TrimRight(words[0], ",.:;")
		first, _ = strings.CutSuffix(first, "'s")
		if first != name.Name && (promised || first != "" && strings.ToLower(first[:1]) == first[:1] && ast.IsExported(strings.ToUpper(first))) {
			report(name, "has a comment that begins with "+words[0])
		}
	}
	exists := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		if name.IsExported() && !f.test && !slices.ContainsFunc(docs, func(c *ast.CommentGroup) bool { return strings.TrimSpace(c.Text()) != "" }) {
			report(name, "is exported and has no comment")
		}
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			check(d.Name, d.Doc)
			if d.Recv == nil {
				exists(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					check(s.Name, docOf(d, s.Doc))
					exists(s.Name, s.Doc, s.Comment, d.Doc)
				case *ast.ValueSpec:
					if len(s.Names) == 1 {
						check(s.Names[0], docOf(d, s.Doc))
					}
				}
			}
		}
	}
	structsOf(f.ast, func(_ string, s *ast.StructType) {
		for _, field := range s.Fields.List {
			first, _, _ := strings.Cut(field.Doc.Text(), " ")
			for _, name := range field.Names {
				if strings.EqualFold(first, name.Name) && first != name.Name {
					report(name, "has a comment that begins with "+first)
				}
			}
		}
	})
	return wrong
}

// docOf is the comment above one of the names that d declares: its own, or the one above
// d if d declares nothing else.
func docOf(d *ast.GenDecl, own *ast.CommentGroup) *ast.CommentGroup {
	if own == nil && !d.Lparen.IsValid() {
		return d.Doc
	}
	return own
}

// TestTheRuleOfCommentsBites shows what it finds.
func TestTheRuleOfCommentsBites(t *testing.T) {
	for text, want := range map[string]string{
		"// old does it.\nfunc new() {}":                      "new has a comment that begins with old",
		"// Old does it.\nfunc New() {}":                      "New has a comment that begins with Old",
		"// A new one.\nfunc new() {}":                        "",
		"// New does it.\nfunc New() {}":                      "",
		"// A New is one.\ntype New struct{}":                 "",
		"// The new one.\ntype New struct{}":                  "New has a comment that begins with new",
		"func New() {}":                                       "New is exported and has no comment",
		"//nolint:all\nfunc New() {}":                         "New is exported and has no comment",
		"//\nfunc New() {}":                                   "New is exported and has no comment",
		"type New int //nolint:all":                           "New is exported and has no comment",
		"// ... it is.\nfunc old() {}":                        "",
		"// ... it is.\nfunc New() {}":                        "New has a comment that begins with ...",
		"// Ärger is.\nfunc old() {}":                         "",
		"type (\n// One is.\nOne int\nTwo int // is\n)":       "",
		"// Two of them.\ntype (\nOne int\n)":                 "",
		"type (\nOne int\n)":                                  "One is exported and has no comment",
		"// old is.\nvar x int":                               "x has a comment that begins with old",
		"// Sizes, in bytes.\nconst (\n\ta = 1\n)":            "",
		"// xs are many.\nconst a, b = 1, 2":                  "",
		"type t struct {\n\t// end is the end.\n\tEnd int\n}": "End has a comment that begins with end",
		"type t struct {\n\t// both are.\n\tA, B int\n}":      "",
		"// x's own.\nvar x int":                              "",
		"// 3 at most.\nconst x = 3":                          "",
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "f.go", "package p\n"+text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, w := range misnamed(fset, goFile{ast: f}) {
			_, w, _ = strings.Cut(w, " ")
			got += w
		}
		if got != want {
			t.Errorf("%s\nis reported as %q, want %q", text, got, want)
		}
	}
}
