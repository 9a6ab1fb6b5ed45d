// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// language is the package whose expressions are checked.
const language = "internal/tla/core"

// evaluator is code that treats each form of expression differently.
type evaluator struct {
	name string
	pkg  string
	// functions are those whose type switches have the cases.
	functions []string
	// refused gives the reasons for the forms that may fall through to its
	// default.
	refused map[string]string
}

func evaluators() []evaluator {
	return []evaluator{
		{"the table of forms", language, []string{"form"}, nil},
		{"the printer", language, []string{"printer.expr", "printer.binder"}, nil},
		{"the reference evaluator", "internal/model/tree", []string{"Evaluator.eval1", "Evaluator.term"}, nil},
		{"the compiling evaluator", "internal/model/closure", []string{"compiler.expr", "compiler.compound"}, nil},
		{"the packed evaluator", "internal/model/pack", []string{"lowerer.expr"}, map[string]string{
			"Decimal": "has no value", "Bad": "has no value", "Lambda": "is no value", "OpRef": "is no value",
			"TemporalQuant": "has no value in a state", "Fair": "has no value in a state"}},
		{"the inference of shapes", "internal/tla/shape", []string{"inference.infer"}, nil},
		{"the compiler to Go", "internal/compile", []string{"fn.expr"}, nil},
	}
}

// formsMax is the maximum number of forms for which a function that is no
// evaluator may have cases: more is a second table of forms.
const formsMax = 24

// TestEveryEvaluatorKnowsEveryForm: a new form of expression fails here until
// each evaluator handles it.
func TestEveryEvaluatorKnowsEveryForm(t *testing.T) {
	_, files := goFiles(t)
	forms, wrong := unknownForms(files, evaluators())
	if len(forms) < 30 {
		t.Fatalf("%s declares the forms %v: were they moved?", language, forms)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

func TestTheRuleOfFormsBites(t *testing.T) {
	parse := func(pkg, text string) goFile {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		return goFile{pkg: pkg, ast: f}
	}
	files := []goFile{
		parse(language, "type (\nOld struct { At; X Expr }\nOdd struct { At }\nNew struct { At }\nNone struct { X int }\n)"),
		parse("eval", "func (e *ev) expr(x Expr) { switch x.(type) { case *core.Old, *core.Odd: } }"),
	}
	_, wrong := unknownForms(files, []evaluator{
		{"the evaluator", "eval", []string{"ev.expr"}, nil},
		{"the careful one", "eval", []string{"ev.expr"}, map[string]string{"New": "is refused", "Odd": "is refused too"}},
		{"the lost one", "eval", []string{"ev.gone"}, map[string]string{"Old": "", "Odd": "", "New": ""}},
	})
	want := []string{
		"the evaluator (ev.expr in eval) has no case for New",
		"the careful one has a case for Odd, which is listed as one that is refused too",
		"the lost one: eval has no function ev.gone",
	}
	if !slices.Equal(wrong, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(wrong, "\n"), strings.Join(want, "\n"))
	}
}

// unknownForms lists the forms that the files declare, and where the
// evaluators do not follow the rule.
func unknownForms(files []goFile, evaluators []evaluator) (forms, wrong []string) {
	declared := map[string]bool{}
	cases := map[string]map[string]bool{} // by package and function
	for _, f := range files {
		if f.test {
			continue
		}
		if f.pkg == language {
			maps.Copy(declared, formsIn(f.ast))
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				cases[f.pkg+" "+functionName(fn)] = casesIn(fn, f.pkg == language)
			}
		}
	}
	forms = slices.Sorted(maps.Keys(declared))
	listed := map[string]bool{}
	for _, e := range evaluators {
		has := map[string]bool{}
		for _, f := range e.functions {
			if cases[e.pkg+" "+f] == nil {
				wrong = append(wrong, fmt.Sprintf("%s: %s has no function %s", e.name, e.pkg, f))
			}
			maps.Copy(has, cases[e.pkg+" "+f])
			listed[e.pkg+" "+f] = true
		}
		for _, form := range forms {
			switch why, refused := e.refused[form]; {
			case !has[form] && !refused:
				wrong = append(wrong, fmt.Sprintf("%s (%s in %s) has no case for %s", e.name, strings.Join(e.functions, ", "), e.pkg, form))
			case has[form] && refused:
				wrong = append(wrong, fmt.Sprintf("%s has a case for %s, which is listed as one that %s", e.name, form, why))
			}
		}
	}
	for _, f := range slices.Sorted(maps.Keys(cases)) {
		known := 0
		for form := range cases[f] {
			if declared[form] {
				known++
			}
		}
		if known > formsMax && !listed[f] {
			wrong = append(wrong, fmt.Sprintf("%s has cases for %d forms: what all forms have in common is in %s, and what evaluates them is listed here", f, known, language))
		}
	}
	return forms, wrong
}

// formsIn are the types of a file that embed At, as all expressions do.
func formsIn(f *ast.File) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok && len(s.Fields.List) > 0 {
			first := s.Fields.List[0]
			if id, ok := first.Type.(*ast.Ident); ok && id.Name == "At" && len(first.Names) == 0 {
				out[spec.Name.Name] = true
			}
		}
		return false
	})
	return out
}

func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	recv := fn.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	if id, ok := recv.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// casesIn are the types *core.T, or *T inside the package, that type switches
// of a function have cases for.
func casesIn(fn *ast.FuncDecl, inside bool) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		clause, ok := n.(*ast.CaseClause)
		if !ok {
			return true
		}
		for _, x := range clause.List {
			star, ok := x.(*ast.StarExpr)
			if !ok {
				continue
			}
			switch x := star.X.(type) {
			case *ast.Ident:
				if inside {
					out[x.Name] = true
				}
			case *ast.SelectorExpr:
				if pkg, ok := x.X.(*ast.Ident); ok && pkg.Name == "core" {
					out[x.Sel.Name] = true
				}
			}
		}
		return true
	})
	return out
}
