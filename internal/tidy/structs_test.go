// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// fieldsMax is the maximum number of fields of a struct that is not generated. One
// with more has several jobs, and must be split into parts: by locks, by users, by
// lifetimes.
const fieldsMax = 40

// largeStructs may have more, each for a reason.
var largeStructs = map[string]string{
	"store.Metrics": "a list of counters and sizes, each of which means something without the others",
}

// structsOf calls visit with every struct type that a file declares and its name.
func structsOf(f *ast.File, visit func(name string, s *ast.StructType)) {
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if s, ok := spec.Type.(*ast.StructType); ok {
				visit(spec.Name.Name, s)
			}
		}
		return true
	})
}

// fieldNames are the fields of a struct; an embedded one has the name of its type.
func fieldNames(s *ast.StructType) (names []string) {
	for _, f := range s.Fields.List {
		for _, id := range f.Names {
			names = append(names, id.Name)
		}
		if len(f.Names) == 0 {
			names = append(names, typeName(f.Type))
		}
	}
	return names
}

// typeName is the last part of a type's name, or "" if it has none.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// TestStructsHaveFewFields: exactly the structs named here have more than 40 fields.
func TestStructsHaveFewFields(t *testing.T) {
	fset, files := goFiles(t)
	unused := maps.Clone(largeStructs)
	for _, f := range files {
		if ast.IsGenerated(f.ast) {
			continue
		}
		structsOf(f.ast, func(name string, s *ast.StructType) {
			n := s.Fields.NumFields()
			if n <= fieldsMax {
				return
			}
			if largeStructs[f.pkg+"."+name] == "" {
				t.Errorf("%s: %s has %d fields, at most %d: cut it into parts, or say in largeStructs why not", fset.Position(s.Pos()), name, n, fieldsMax)
			}
			delete(unused, f.pkg+"."+name)
		})
	}
	for name := range unused {
		t.Errorf("%s has at most %d fields, and need not be in largeStructs", name, fieldsMax)
	}
}

// cutStructs were cut into parts: other files reach a part by its methods only.
var cutStructs = map[string][]string{
	"internal/check.search": {"level", "segment", "marks", "report", "ending", "progress"},
	"dedalus/rt/host.Host": {"peers", "clients", "inbox", "resends", "timers", "incarnation", "ending",
		"tally", "dice"},
	"store.DB":                  {"writer", "tree", "work", "checkpoints", "journal", "durable", "space", "room", "pacing", "views", "readers"},
	"internal/worm/node.Server": {"registers", "commits", "witness", "beliefs", "conns", "listeners", "services", "drain"},
}

// TestPartsAreReachedByMethods: the code that guards the fields of a part is beside
// them.
func TestPartsAreReachedByMethods(t *testing.T) {
	fset, files := goFiles(t)
	for name, parts := range cutStructs {
		dot := strings.LastIndex(name, ".")
		var pkg []goFile
		for _, f := range files {
			if f.pkg == name[:dot] && !f.test {
				pkg = append(pkg, f)
			}
		}
		reached, missing := partsReached(pkg, name[dot+1:], parts)
		for _, n := range reached {
			t.Errorf("%s: a field of a part of %s is used outside its file; give the part a method", fset.Position(n.Pos()), name)
		}
		for _, part := range missing {
			t.Errorf("%s has no part %s, whose type is a struct of the package", name, part)
		}
	}
}

// partsReached finds selectors of the form x.part.field outside the file that declares
// the type of the part, and parts that do not exist.
func partsReached(files []goFile, owner string, parts []string) (reached []ast.Node, missing []string) {
	types := map[string]*ast.StructType{}
	place := map[string]string{}
	for _, f := range files {
		structsOf(f.ast, func(name string, s *ast.StructType) { types[name], place[name] = s, f.path })
	}
	typeOf := map[string]string{}
	if s := types[owner]; s != nil {
		for _, f := range s.Fields.List {
			for _, id := range f.Names {
				typeOf[id.Name] = typeName(f.Type)
			}
		}
	}
	for _, part := range parts {
		typ := typeOf[part]
		if types[typ] == nil {
			missing = append(missing, part)
			continue
		}
		fields := fieldNames(types[typ])
		for _, f := range files {
			if f.path == place[typ] {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if outer, ok := n.(*ast.SelectorExpr); ok {
					inner, ok := outer.X.(*ast.SelectorExpr)
					if ok && inner.Sel.Name == part && slices.Contains(fields, outer.Sel.Name) {
						reached = append(reached, n)
					}
				}
				return true
			})
		}
	}
	return reached, missing
}

// TestThePartsRuleBites shows what it finds.
func TestThePartsRuleBites(t *testing.T) {
	files := func(uses string) (files []goFile) {
		fset := token.NewFileSet()
		for name, text := range map[string]string{"part.go": "type part struct { n, m int }\nfunc (p *part) size() int { return p.n }",
			"owner.go": "type owner struct { in part }\nfunc use(o *owner) int { return " + uses + " }"} {
			f, err := parser.ParseFile(fset, name, "package p\n"+text, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, goFile{path: name, ast: f})
		}
		return files
	}
	for uses, want := range map[string]int{"o.in.size()": 0, "o.in.n": 1, "o.in.n + o.in.m": 2, "o.n": 0} {
		if got, missing := partsReached(files(uses), "owner", []string{"in"}); len(got) != want || len(missing) > 0 {
			t.Errorf("%s: %d uses of fields, want %d; missing: %v", uses, len(got), want, missing)
		}
	}
	if _, missing := partsReached(files("0"), "owner", []string{"in", "out"}); !slices.Equal(missing, []string{"out"}) {
		t.Errorf("missing: %v", missing)
	}
}
