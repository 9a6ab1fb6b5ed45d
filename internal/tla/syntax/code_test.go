// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// wholeFiles are the inputs for codes whose comment describes the failing
// input instead of showing it.
var wholeFiles = map[string]string{
	"FileTooLarge":     strings.Repeat(" ", source.FileBytesMax+1),
	"NestingTooDeep":   "---- MODULE M ----\nA == " + strings.Repeat("(", 2000) + "1" + strings.Repeat(")", 2000) + "\n====\n",
	"ModuleMissing":    "A == 1\n",
	"ModuleEndMissing": "---- MODULE M ----\nA == 1\n",
	"BulletMisaligned": "---- MODULE M ----\nA ==\n  /\\ a\n /\\ b\n====\n",
	"MarkersBroken":    "---- MODULE M ----\n\\* BEGIN TRANSLATION\n====\n",
}

// TestCodes runs the failing example in the comment of every code.
func TestCodes(t *testing.T) {
	tree, err := goparser.ParseFile(gotoken.NewFileSet(), "code.go", nil, goparser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	ast.Inspect(tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		seen++
		name := spec.Names[0].Name
		text, whole := wholeFiles[name]
		if !whole {
			_, example, ok := strings.Cut(spec.Doc.Text(), ": ")
			if !ok {
				t.Errorf("%s: the comment shows no example", name)
				return true
			}
			text = "---- MODULE M ----\n" + strings.TrimSpace(example) + "\n====\n"
		}
		warning := strings.Contains(spec.Doc.Text(), "(a warning)")
		_, errs := ParseModule(source.NewFile("M.tla", []byte(text)))
		if errs.Len() == 0 {
			t.Errorf("%s: the example parses", name)
			return true
		}
		d := errs.Sorted()[0]
		if string(d.Code) != name || (d.Severity == source.Warning) != warning {
			t.Errorf("%s: the example gives %s %s: %s", name, d.Severity, d.Code, d.Message)
		}
		return true
	})
	if seen < 30 {
		t.Errorf("found %d codes", seen)
	}
}

// TestDiagnostics checks the messages for common mistakes.
func TestDiagnostics(t *testing.T) {
	for _, c := range []struct{ name, units, want string }{
		{"one = in a definition", "A = 1", "M.tla:2:3: error: expected `==` in a definition, found `=` [DefineExpected]\n    A = 1\n      ^\n    repair: write ==\n"},
		{"bracket", "A == [x \\in S |-> {1, 2]", "M.tla:2:24: error: expected `}`, found `]` [BracketUnclosed]\n    A == [x \\in S |-> {1, 2]\n                           ^\n    repair: write `}` before it\n  M.tla:2:19: `{` was opened here\n    A == [x \\in S |-> {1, 2]\n                      ^\n"},
		{"conflict", "A == a = b = c", "M.tla:2:12: error: `=` after `=` without parentheses: it does not associate [PrecedenceConflict]\n    A == a = b = c\n               ^\n    repair: put one of the two in parentheses\n  M.tla:2:8: the other operator\n    A == a = b = c\n           ^\n"},
		{"reserved word", "VARIABLE x, UNION", "M.tla:2:13: error: expected the name of a variable, but `UNION` is a reserved word [NameReserved]\n    VARIABLE x, UNION\n                ^^^^^\n    repair: choose another name\n"},
		{"missing ELSE", "A == IF b THEN c", "M.tla:3:1: error: expected ELSE after the THEN part: every IF has both parts, found the end of the module [TokenExpected]\n    ====\n    ^^^^\n    repair: write ELSE\n"},
		{"left of the bullet", "A ==\n  /\\ f(x) =\n  3", "M.tla:4:3: error: expected an expression, found the number 3, which is left of the list's bullets and so ends the list [ExpressionExpected]\n      3\n      ^\n"},
		{"assignment", "A == x := 1", "M.tla:2:8: warning: `:=` assigns in PlusCal only; here it is an operator that some module must define [AssignPlace]\n    A == x := 1\n           ^^\n    repair: write = or ==\n"},
		{"comparison as a definition", "A == x == 0", "M.tla:2:8: error: expected a declaration, a definition or the end of the module, found `==` [UnitExpected]\n    A == x == 0\n           ^^\n    repair: write = to compare; == defines\n"},
		{"unequal in C", "A == x != 0", "M.tla:2:8: error: `!=` is not a symbol of the language [UnitExpected]\n    A == x != 0\n           ^^\n    repair: write # or /=\n"},
		{"and in C", "A == x = 1 && y = 2", "M.tla:2:12: error: `&&` is an operator that binds tighter than those around it [PrecedenceConflict]\n    A == x = 1 && y = 2\n               ^^\n    repair: write /\\, or parentheses\n"},
		{"or in C", "A == x = 1 || y < 2", "M.tla:2:12: error: `||` is an operator that binds tighter than those around it [PrecedenceConflict]\n    A == x = 1 || y < 2\n               ^^\n    repair: write \\/, or parentheses\n"},
		{"semicolon", "A == 0;", "M.tla:2:7: error: expected a declaration, a definition or the end of the module, found `;` [UnitExpected]\n    A == 0;\n          ^\n    repair: remove it: definitions need no separator\n"},
		{"string in single quotes", "A == 'a'", "M.tla:2:6: error: expected an expression, found `'` [ExpressionExpected]\n    A == 'a'\n         ^\n    repair: write \" around a string\n"},
		{"comma after the last variable", "VARIABLES x, y,\nA == x", "M.tla:2:15: error: expected another name after the comma, found `A`, which starts something else [NameExpected]\n    VARIABLES x, y,\n                  ^\n    repair: remove the comma\n"},
		{"comma after the last constant", "CONSTANTS C, D(_),\nVARIABLE x", "M.tla:2:18: error: expected another name after the comma, found `VARIABLE`, which starts something else [NameExpected]\n    CONSTANTS C, D(_),\n                     ^\n    repair: remove the comma\n"},
		{"variables without a comma", "VARIABLES x y\nA == x", "M.tla:2:13: error: expected `,` between two names, found `y` [TokenExpected]\n    VARIABLES x y\n                ^\n    repair: write `,`\n"},
		{"half the end of a tuple", "A == <<1, 2>\nB == A", "M.tla:2:12: error: expected `>>`, found `>` [BracketUnclosed]\n    A == <<1, 2>\n               ^\n    repair: write `>>`\n  M.tla:2:6: `<<` was opened here\n    A == <<1, 2>\n         ^^\n"},
		{"comment to the end", "A == 1 (* B", "M.tla:2:8: error: this comment is not closed: expected *) [UnterminatedComment]\n    A == 1 (* B\n           ^^\n    repair: write *)\n"},
		{"missing end of record", "A == [a |-> 1", "M.tla:3:1: error: expected `]`, found the end of the module [BracketUnclosed]\n    ====\n    ^^^^\n    repair: write `]` before it\n  M.tla:2:6: `[` was opened here\n    A == [a |-> 1\n         ^\n"},
	} {
		_, errs := ParseModule(source.NewFile("M.tla", []byte("---- MODULE M ----\n"+c.units+"\n====\n")))
		var b strings.Builder
		errs.Print(&b)
		if b.String() != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, b.String(), c.want)
		}
	}
}

// TestRecovery checks that one mistake costs one diagnostic and one unit.
func TestRecovery(t *testing.T) {
	text := `---- MODULE M ----
EXTENDS Naturals,
VARIABLES x, 3
A == (1 + 2
B == 2
C(x == 3
D == LET y == 1
         z = 2
     IN  y +
E == 5
)
F == [a |-> 1, b -> 2]
THEOREM T == E = 5 = 6
G == 7
====
`
	m, errs := ParseModule(source.NewFile("M.tla", []byte(text)))
	var got []string
	for _, d := range errs.Sorted() {
		got = append(got, d.Span.From().String()+" "+string(d.Code))
	}
	want := "2:17 NameExpected, 3:14 NameExpected, 5:1 BracketUnclosed, 6:5 BracketUnclosed, 8:12 DefineExpected, " +
		"10:1 ExpressionExpected, 11:1 BracketUnmatched, 12:18 TokenExpected, 13:20 PrecedenceConflict"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	defs := map[string]bool{}
	for _, u := range m.Units {
		if d, ok := u.(*OperatorDef); ok {
			defs[d.Name.Text] = true
		}
	}
	for _, name := range []string{"A", "B", "D", "E", "F", "G"} {
		if !defs[name] {
			t.Errorf("%s is lost", name)
		}
	}
}
