// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// dump shows how an expression was read: every operator in parentheses, lists
// in square brackets.
func dump(x Expr) string {
	join := func(list []Expr, sep string) string {
		var out []string
		for _, e := range list {
			out = append(out, dump(e))
		}
		return strings.Join(out, sep)
	}
	switch x := x.(type) {
	case *Infix:
		return fmt.Sprintf("(%s %s %s)", dump(x.Left), x.Op.Text, dump(x.Right))
	case *Prefix:
		return fmt.Sprintf("(%s %s)", x.Op.Text, dump(x.X))
	case *Postfix:
		return fmt.Sprintf("(%s %s)", dump(x.X), x.Op.Text)
	case *Junction:
		return fmt.Sprintf("[%s %s]", x.Op.Text, join(x.Items, "; "))
	case *Product:
		return fmt.Sprintf("(X %s)", join(x.Factors, " "))
	case *Apply:
		return fmt.Sprintf("%s(%s)", x.Op.Text, join(x.Args, ", "))
	case *Index:
		return fmt.Sprintf("%s[%s]", dump(x.Fn), join(x.Args, ", "))
	case *Field:
		return fmt.Sprintf("%s.%s", dump(x.X), x.Name.Text)
	case *Quant:
		return fmt.Sprintf("(Q%d %s)", x.Kind, dump(x.Body))
	case *If:
		return fmt.Sprintf("(if %s %s %s)", dump(x.Cond), dump(x.Then), dump(x.Else))
	case *Let:
		return fmt.Sprintf("(let %d %s)", len(x.Units), dump(x.Body))
	case *Label:
		return fmt.Sprintf("(%s:: %s)", x.Name.Text, dump(x.Body))
	case *Case:
		var b strings.Builder
		for _, a := range x.Arms {
			fmt.Fprintf(&b, " %s->%s", dump(a.Guard), dump(a.Value))
		}
		if x.Other != nil {
			fmt.Fprintf(&b, " other->%s", dump(x.Other))
		}
		return "(case" + b.String() + ")"
	case *SetEnum:
		return fmt.Sprintf("{%s}", join(x.Elems, ", "))
	case *Tuple:
		return fmt.Sprintf("<<%s>>", join(x.Elems, ", "))
	case *BadExpr:
		return "?"
	}
	return Format(x)
}

func parseExpr(t *testing.T, text string) (Expr, *source.List) {
	t.Helper()
	return ParseExpr(source.NewFile("test", []byte(text)))
}

// mustExpr parses text without diagnostics and checks that printing keeps it.
func mustExpr(t *testing.T, text string) Expr {
	t.Helper()
	x, errs := parseExpr(t, text)
	if errs.Len() > 0 {
		t.Errorf("%s: %v", text, errs)
		return x
	}
	printed := Format(x)
	again, errs := parseExpr(t, printed)
	if errs.HasErrors() {
		t.Errorf("%s: printed as\n%s\n%v", text, printed, errs)
	} else if d := difference(x, again); d != "" {
		t.Errorf("%s: printed as\n%s\nwhich differs: %s", text, printed, d)
	}
	return x
}

func TestPrecedence(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`a + b * c`, `(a + (b * c))`},
		{`a * b + c`, `((a * b) + c)`},
		{`a - b - c`, `((a - b) - c)`},
		{`a + b - c`, `(a + (b - c))`}, // minus binds tighter: 11 against 10
		{`a - b + c`, `((a - b) + c)`},
		{`a => b \/ c`, `(a => (b \/ c))`},
		{`a /\ b => c /\ d`, `((a /\ b) => (c /\ d))`},
		{`a /\ b /\ c`, `((a /\ b) /\ c)`},
		{`~a /\ b`, `((~ a) /\ b)`},
		{`~a = b`, `(~ (a = b))`},
		{`~~a`, `(~ (~ a))`},
		{`a = ~b`, `(a = (~ b))`},
		{`a = b /\ c # d`, `((a = b) /\ (c /= d))`},
		{`x \in S \cup T`, `(x \in (S \cup T))`},
		{`UNION a \cup b`, `((UNION a) \cup b)`},
		{`SUBSET S \X T`, `(SUBSET (X S T))`},
		{`DOMAIN f \cup g`, `((DOMAIN f) \cup g)`},
		{`a \X b \X c`, `(X a b c)`},
		{`(a \X b) \X c`, `(X (X a b) c)`},
		{`a \X (b \X c)`, `(X a (X b c))`},
		{`-a + b`, `((-. a) + b)`},
		{`-a * b`, `(-. (a * b))`},
		{`a * -b`, `(a * (-. b))`},
		{`- -a`, `(-. (-. a))`},
		{`a ^ b'`, `(a ^ (b '))`},
		{`-x'`, `(-. (x '))`},
		{`f[x]'`, `(f[x] ')`},
		{`f'[x].g`, `(f ')[x].g`},
		{`r^+ ^*`, `((r ^+) ^*)`},
		{`[]<>a`, `([] (<> a))`},
		{`[]a /\ b`, `(([] a) /\ b)`},
		{`[](a = b) ~> c`, `(([] (a = b)) ~> c)`},
		{`UNCHANGED x /\ y`, `((UNCHANGED x) /\ y)`},
		{`ENABLED A => b`, `((ENABLED A) => b)`},
		{`a :> b @@ c :> d`, `((a :> b) @@ (c :> d))`},
		{`a \o b \o c`, `((a \o b) \o c)`},
		{`1..n+1`, `(1 .. (n + 1))`},
		{`a \cdot b \cdot c`, `((a \cdot b) \cdot c)`},
		{`a <=> b => c`, `((a <=> b) => c)`},
		{`a => b <=> c`, `(a => (b <=> c))`},
		{`\A x \in S : a => b`, `(Q0 (a => b))`},
		{`a /\ \E x : b /\ c`, `(a /\ (Q1 (b /\ c)))`},
		{`\AA x : \EE y : a`, `(Q2 (Q3 a))`},
		{`IF a THEN b ELSE c + d`, `(if a b (c + d))`},
		{`CASE a -> b [] c -> d [] OTHER -> e`, `(case a->b c->d other->e)`},
		{`CASE a -> CASE b -> c [] d -> e`, `(case a->(case b->c d->e))`},
		{`CASE a -> (CASE b -> c) [] d -> e`, `(case a->(case b->c) d->e)`},
		{`l1:: a /\ l2(x):: b`, `(l1:: (a /\ (l2:: b)))`},
		{`r.f[i].g`, `r.f[i].g`},
		{`a M!+ b`, `M!+(a, b)`},
		{`a + b M!* c`, `(a + M!*(b, c))`},
		{`a M!* b + c = d`, `((M!*(a, b) + c) = d)`},
		{`a M!N(x, +)!++ b M!N(x, +)!++ c`, `M!N(x, + )!++(M!N(x, + )!++(a, b), c)`},
		{`a M!^# + f[i] M!^+.g`, `(M!^#(a) + M!^+(f[i]).g)`},
		{`M!-. a + b`, `(M!-.(a) + b)`},
		{`a = M!Op /\ M!-.(a) > 0`, `((a = M!Op) /\ (M!-.(a) > 0))`},
		{`+(a, b) * c`, `((a + b) * c)`},
		{`a * \cup(b, c)`, `(a * (b \cup c))`},
		{`\X(a, b)`, `(X a b)`},
		{`f[a, b](c)`, ``}, // not possible: only a name can be applied
		{`a \prec b /\ c ?? d = e`, `((a \prec b) /\ ((c ?? d) = e))`},
		{`a (+) b \oplus c`, `((a (+) b) (+) c)`},
		{`a ## b ## c`, `((a ## b) ## c)`},
		{`a \ b`, `(a \ b)`},
		{`a || b || c`, `((a || b) || c)`},
		{`F(+, a, -)`, `F(+, a, -)`},
		{`F( * , \cup)`, `F(*, \cup)`},
		{`F(LAMBDA x, y : x + y, 3)`, `F(LAMBDA x, y : x + y, 3)`},
		{`F(-.)`, `F(-.)`},
	} {
		if c.want == "" {
			if _, errs := parseExpr(t, c.in); !errs.HasErrors() {
				t.Errorf("%s: no error", c.in)
			}
			continue
		}
		if got := dump(mustExpr(t, c.in)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestPrecedenceConflicts(t *testing.T) {
	for _, in := range []string{
		`a = b = c`, `a => b => c`, `a /\ b \/ c`, `a \/ b /\ c`, `a \cup b \cap c`, `a .. b .. c`, `a < b = c`,
		`a \div b \div c`, `a * b \div c`, `a % b % c`, `a ~> b <=> c`, `[]a = b`, `UNCHANGED a = b`, `a \in b \in c`,
		`a + b % c`, `a ^ b ^ c`, `a :> b :> c`, `a \ b \ c`,
	} {
		x, errs := parseExpr(t, in)
		if got := errs.Len(); got != 1 {
			t.Errorf("%s: got %d diagnostics, want 1", in, got)
			continue
		}
		d := errs.Sorted()[0]
		if d.Code != PrecedenceConflict || d.Repair == "" || len(d.Related) != 1 {
			t.Errorf("%s: got %+v", in, d)
		}
		if _, bad := x.(*BadExpr); bad {
			t.Errorf("%s: the expression was given up", in)
		}
	}
}

// TestOperatorTable reads every operator in every spelling between operands.
func TestOperatorTable(t *testing.T) {
	spellings := map[string][]string{}
	for _, op := range operators {
		spellings[op.Name] = append(spellings[op.Name], op.Name)
	}
	for s, name := range synonyms {
		spellings[name] = append(spellings[name], s)
	}
	for _, op := range operators {
		for _, s := range spellings[op.Name] {
			text, want := "", ""
			switch op.Fixity {
			case InfixOp:
				text, want = "a "+s+" b", "(a "+op.Name+" b)"
				if op.Name == `\X` {
					want = "(X a b)"
				}
			case PrefixOp:
				text, want = s+" b", "("+op.Name+" b)"
			case PostfixOp:
				text, want = "a"+s, "(a "+op.Name+")"
			}
			x, errs := parseExpr(t, text)
			if errs.HasErrors() || dump(x) != want {
				t.Errorf("%s: got %s, want %s; %v", text, dump(x), want, errs.Err())
			}
		}
	}
}

// TestPrintParenthesizes puts every operator under every other and checks
// that the printed tree parses to itself.
func TestPrintParenthesizes(t *testing.T) {
	id := func(s string) Expr { return &Ident{Name: s} }
	op := func(o Operator) Name { return Name{Text: o.Name} }
	build := func(o Operator, x, y Expr) Expr {
		switch {
		case o.Fixity == PrefixOp:
			return &Prefix{Op: op(o), X: x}
		case o.Fixity == PostfixOp:
			return &Postfix{Op: op(o), X: x}
		case o.Name == `\X`:
			return &Product{Factors: []Expr{x, y}}
		}
		return &Infix{Op: op(o), Left: x, Right: y}
	}
	check := func(x Expr) {
		text := Format(x)
		again, errs := parseExpr(t, text)
		if errs.HasErrors() || dump(again) != dump(x) {
			t.Errorf("%s: printed as %s, read as %s", dump(x), text, dump(again))
		}
	}
	for _, a := range operators {
		for _, b := range operators {
			inner := build(b, id("x"), id("y"))
			check(build(a, inner, id("z")))
			if a.Fixity == InfixOp {
				check(build(a, id("z"), inner))
			}
			if b.Fixity == PrefixOp { // a chain of prefixes between infixes
				for _, c := range operators {
					check(build(a, build(c, inner, id("u")), id("v")))
					check(build(a, build(c, id("u"), inner), id("v")))
				}
			}
		}
		for _, open := range []Expr{
			&Quant{Bounds: []Bound{{Names: []Name{{Text: "q"}}}}, Body: id("x")},
			&If{Cond: id("c"), Then: id("x"), Else: id("y")},
			&Case{Arms: []Arm{{Guard: id("c"), Value: id("x")}}},
			&Junction{Op: Name{Text: `/\`}, Items: []Expr{id("x"), id("y")}},
		} {
			check(build(a, open, open))
			check(&Junction{Op: Name{Text: `\/`}, Items: []Expr{build(a, open, open), open}})
			check(&Case{Arms: []Arm{{Guard: open, Value: open}, {Guard: id("d"), Value: build(a, id("x"), open)}}, Other: open})
		}
	}
}

func TestJunctions(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"two items", "/\\ a\n/\\ b", `[/\ a; b]`},
		{"one item", "/\\ a", `[/\ a]`},
		{"infix on the same line", "/\\ a /\\ b\n/\\ c", `[/\ (a /\ b); c]`},
		{"infix further right on the next line", "/\\ a\n  /\\ b\n/\\ c", `[/\ (a /\ b); c]`},
		{"nested", "/\\ \\/ a\n   \\/ b\n/\\ c", `[/\ [\/ a; b]; c]`},
		{"nested of the same kind", "/\\ /\\ a\n   /\\ b\n/\\ c", `[/\ [/\ a; b]; c]`},
		{"implication inside an item", "/\\ a\n   => b\n/\\ c", `[/\ (a => b); c]`},
		{"operator left of the bullets ends the list", "  /\\ a\n  /\\ b\n=> c", `([/\ a; b] => c)`},
		{"operator in the bullets' column ends the list", "/\\ a\n/\\ b\n=> c", `([/\ a; b] => c)`},
		{"closing bracket ends the list", "(/\\ a\n /\\ b) => c", `([/\ a; b] => c)`},
		{"brackets lift the fence", "/\\ f(\na)\n/\\ b", `[/\ f(a); b]`},
		{"list in brackets in a list", "/\\ x = {\n  /\\ a\n  /\\ b}\n/\\ c", `[/\ (x = {[/\ a; b]}); c]`},
		{"other operator's bullets nest", "\\/ /\\ a\n   /\\ b\n\\/ c", `[\/ [/\ a; b]; c]`},
		{"quantifier body stops at the next bullet", "/\\ \\E x : p\n/\\ q", `[/\ (Q1 p); q]`},
		{"let in an item", "/\\ LET x == 1\n   IN  x\n/\\ q", `[/\ (let 1 x); q]`},
		{"if in an item", "/\\ IF a\n   THEN /\\ b\n        /\\ c\n   ELSE d\n/\\ q", `[/\ (if a [/\ b; c] d); q]`},
		{"case in an item", "/\\ CASE a -> b\n   [] c -> d\n/\\ q", `[/\ (case a->b c->d); q]`},
		{"after an infix operator", "x =>\n  /\\ a\n  /\\ b", `(x => [/\ a; b])`},
		{"tabs go to multiples of eight", "\t/\\ a\n        /\\ b", `[/\ a; b]`},
		{"tab after blanks", "   \t/\\ a\n\t/\\ b", `[/\ a; b]`},
		{"unicode counts characters", "⟨1⟩ = x ⇒ ∧ a\n          ∧ b", `((<<1>> = x) => [/\ a; b])`},
		{"mixed spellings align", "∧ a\n/\\ b\n\\land c", `[/\ a; b; c]`},
		{"comment before a bullet", "/\\ a (* no *)\n(* x *) /\\ b", `[/\ (a /\ b)]`},
		{"label in an item", "/\\ l:: a\n/\\ b", `[/\ (l:: a); b]`},
	} {
		x, errs := parseExpr(t, c.in)
		if errs.HasErrors() {
			t.Errorf("%s: %v", c.name, errs)
			continue
		}
		if got := dump(x); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		mustExpr(t, Format(x))
	}
}

func TestJunctionErrors(t *testing.T) {
	for _, c := range []struct {
		name, in string
		code     source.Code
		at       string
	}{
		{"bracket not closed before the next bullet", "/\\ f(a\n/\\ b", BracketUnclosed, "2:1"},
		{"bracket not closed, nested", "/\\ f({a\n/\\ b", BracketUnclosed, "2:1"},
		{"THEN left of the bullets", "  /\\ IF a\n THEN b ELSE c", TokenExpected, "2:2"},
		{"empty item", "/\\ a\n/\\\n/\\ b", ExpressionExpected, "3:1"},
		{"misaligned", "  /\\ a\n /\\ b", BulletMisaligned, "2:2"},
	} {
		_, errs := parseExpr(t, c.in)
		if errs.Len() != 1 {
			t.Errorf("%s: got %d diagnostics: %v", c.name, errs.Len(), errs)
			continue
		}
		if d := errs.Sorted()[0]; d.Code != c.code || d.Span.From().String() != c.at {
			t.Errorf("%s: got %s at %s, want %s at %s", c.name, d.Code, d.Span.From(), c.code, c.at)
		}
	}
}

func TestNumbersAndStrings(t *testing.T) {
	for _, c := range []struct {
		in, digits, fraction string
		base                 int
	}{
		{"0", "0", "", 10}, {"42", "42", "", 10}, {"3.14", "3", "14", 10}, {".5", "0", "5", 10},
		{`\b101`, "101", "", 2}, {`\B1`, "1", "", 2}, {`\o17`, "17", "", 8}, {`\O7`, "7", "", 8},
		{`\h1F`, "1F", "", 16}, {`\HfF`, "fF", "", 16}, {"12345678901234567890", "12345678901234567890", "", 10},
	} {
		n, ok := mustExpr(t, c.in).(*Number)
		if !ok || n.Digits != c.digits || n.Fraction != c.fraction || n.Base != c.base {
			t.Errorf("%s: got %+v", c.in, n)
		}
	}
	for _, c := range []struct{ in, want string }{
		{`""`, ""}, {`"abc"`, "abc"}, {`"a\"b\\c"`, `a"b\c`}, {`"\t\n\f\r"`, "\t\n\f\r"},
		{`"(* no comment *) \\* nor this"`, `(* no comment *) \* nor this`}, {`"žluť"`, "žluť"},
	} {
		s, ok := mustExpr(t, c.in).(*String)
		if !ok || s.Value != c.want {
			t.Errorf("%s: got %+v, want %q", c.in, s, c.want)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"1a", "1a"}, {"_x", "_x"}, {"x_1", "x_1"}, {"2x3", "2x3"}, {"ℕ", "Nat"}, {"WFx", "WFx"}, {"\\AxyA : y", ""},
	} {
		x, errs := parseExpr(t, c.in)
		if c.want == "" {
			if _, ok := x.(*Quant); !ok || errs.HasErrors() {
				t.Errorf("%s: got %T", c.in, x)
			}
			continue
		}
		if id, ok := x.(*Ident); !ok || id.Name != c.want {
			t.Errorf("%s: got %+v", c.in, x)
		}
	}
}

// TestForms reads one example of every construct and names the node.
func TestForms(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{}`, "*syntax.SetEnum"},
		{`{x \in S}`, "*syntax.SetEnum"},
		{`{x \in S, y}`, "*syntax.SetEnum"},
		{`{\A x \in S : p}`, "*syntax.SetEnum"},
		{`{CHOOSE x : p}`, "*syntax.SetEnum"},
		{`{x \in S : p}`, "*syntax.SetFilter"},
		{`{x \in S : y \in T}`, "*syntax.SetFilter"},
		{`{<<x, y>> \in S : p}`, "*syntax.SetFilter"},
		{`{x \in S \X T : p}`, "*syntax.SetFilter"},
		{`{(x \in S) : y \in T}`, "*syntax.SetMap"},
		{`{<<x, 1>> \in S : y \in T}`, "*syntax.SetMap"},
		{`{f(x, y) : x, y \in S, <<a, b>> \in T}`, "*syntax.SetMap"},
		{`[x \in S |-> e]`, "*syntax.Fn"},
		{`[x, y \in S, <<a, b>> \in T |-> [z \in U |-> e]]`, "*syntax.Fn"},
		{`[S -> T]`, "*syntax.FnSet"},
		{`[x \in S -> T]`, "*syntax.FnSet"},
		{`[a |-> 1, b |-> [c |-> 2]]`, "*syntax.Record"},
		{`[a : S, b : T]`, "*syntax.RecordSet"},
		{`[f EXCEPT ![1] = 2, !.a[i, j].b = @ + 1]`, "*syntax.Except"},
		{`[A]_v`, "*syntax.Action"},
		{`[x' = 1 /\ [y -> z] = 3]_<<x, y>>`, "*syntax.Action"},
		{`<<A>>_v`, "*syntax.Action"},
		{`<<A>>_(v \o w)`, "*syntax.Action"},
		{`[A]_I!v`, "*syntax.Action"},
		{`[A]_v[i].f`, "*syntax.Action"},
		{`<<>>`, "*syntax.Tuple"},
		{`<<<<a>>, <<b>>>>`, "*syntax.Tuple"},
		{`WF_v(A)`, "*syntax.Fairness"},
		{`SF_<<x, y>>(A /\ B)`, "*syntax.Fairness"},
		{`WF_(v)(A)`, "*syntax.Fairness"},
		{`WF_I!vars(I!Next)`, "*syntax.Fairness"},
		{`WF_I(3)!vars(c)(A)`, "*syntax.Fairness"},
		{`WF_vars(i)(A)`, "*syntax.Fairness"},
		{`SF_x[i](A)`, "*syntax.Fairness"},
		{`A!B`, "*syntax.Path"},
		{`A!B(x)!C(y, +)`, "*syntax.Path"},
		{`Op!1!2`, "*syntax.Path"},
		{`Op(3)!lab!<<!>>!:!@`, "*syntax.Path"},
		{`Op!(x, y)!1`, "*syntax.Path"},
		{`M!+(a, b)`, "*syntax.Path"},
		{`CHOOSE x : p`, "*syntax.Choose"},
		{`CHOOSE x \in S : p`, "*syntax.Choose"},
		{`CHOOSE <<x, y>> \in S : p`, "*syntax.Choose"},
		{`LET f(x) == x + 1 g[i \in S] == i RECURSIVE h(_) h(n) == h(n) I == INSTANCE N a \prec b == a IN f(g[1])`, "*syntax.Let"},
		{`@`, "*syntax.At"},
		{`\A x, y \in S, <<a, b>> \in T : p`, "*syntax.Quant"},
		{`\E x, y : p`, "*syntax.Quant"},
		{`lab(x, y) :: x = y`, "*syntax.Label"},
	} {
		if got := fmt.Sprintf("%T", mustExpr(t, c.in)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestExprShape(t *testing.T) {
	f := mustExpr(t, `WF_vars(i)(A)`).(*Fairness)
	if got := dump(f.Vars) + " " + dump(f.Body); got != "vars(i) A" {
		t.Errorf("WF with an argument: got %s", got)
	}
	p := mustExpr(t, `A!B(x)!2!<<!(y)`).(*Path)
	var kinds []StepKind
	for _, s := range p.Steps {
		kinds = append(kinds, s.Kind)
	}
	if fmt.Sprint(kinds) != fmt.Sprint([]StepKind{StepName, StepName, StepIndex, StepLeft, StepArgs}) || p.Steps[2].Index != 2 {
		t.Errorf("path: got %+v", p.Steps)
	}
	e := mustExpr(t, `[f EXCEPT !.a[i, j].b = @]`).(*Except)
	if path := e.Updates[0].Path; len(path) != 3 || path[0].Field.Text != "a" || len(path[1].Index) != 2 || path[2].Field.Text != "b" {
		t.Errorf("EXCEPT: got %+v", path)
	}
	x := mustExpr(t, "(a + b) * c")
	if got := x.Span().Text(); got != "(a + b) * c" {
		t.Errorf("the span of an operation includes its operands' parentheses: got %q", got)
	}
	if got := x.(*Infix).Left.Span().Text(); got != "a + b" {
		t.Errorf("the span of an operand excludes its parentheses: got %q", got)
	}
}

func TestLimits(t *testing.T) {
	deep := func(open, close string, n int) string {
		return strings.Repeat(open, n) + "x" + strings.Repeat(close, n)
	}
	for _, c := range []struct{ name, in string }{
		{"parentheses", deep("(", ")", 2000)},
		{"unclosed parentheses", strings.Repeat("(", 100_000)},
		{"prefixes", strings.Repeat("~", 100_000) + "x"},
		{"quantifiers", deep(`\A x : `, "", 100_000)},
		{"right operands", strings.Repeat("a => b = c + d * ", 50_000) + "x"},
		{"brackets of all kinds", deep("{[x \\in <<", ">> |-> 1]}", 5_000)},
		{"rows of operators", deep("", " + x", 200_000)},
		{"rows of primes", deep("", "'", 200_000)},
		{"rows of fields", deep("", ".f", 200_000)},
		{"labels", deep("l:: ", "", 100_000)},
		{"lambda", deep("F(LAMBDA x : ", ")", 100_000)},
		{"let", deep("LET y == ", " IN y", 100_000)},
		{"lists", strings.Repeat("/\\ ", 100_000) + "x"},
	} {
		_, errs := parseExpr(t, c.in)
		if !errs.HasErrors() {
			t.Errorf("%s: no diagnostic", c.name)
			continue
		}
		if c.name == "right operands" || strings.HasPrefix(c.name, "unclosed") {
			continue // conflicts or missing brackets come first
		}
		if d := errs.Sorted()[0]; d.Code != NestingTooDeep {
			t.Errorf("%s: got %s: %s", c.name, d.Code, d.Message)
		}
	}
	for _, c := range []struct{ name, in string }{
		{"parentheses", deep("(", ")", 900)},
		{"a long row", deep("", " + x", 5_000)},
	} {
		if _, errs := parseExpr(t, c.in); errs.HasErrors() {
			t.Errorf("%s within the limits: %v", c.name, errs.Sorted()[0].Message)
		}
	}
}

func TestTooManyTokens(t *testing.T) {
	text := "---- MODULE M ----\n" + strings.Repeat("A == 1\n", TokensMax/3+1) + "====\n"
	m, errs := ParseModule(source.NewFile("M.tla", []byte(text)))
	if errs.Len() == 0 || errs.Sorted()[0].Code != FileTooLarge || len(m.Units) < TokensMax/4 {
		t.Errorf("got %d units, %v", len(m.Units), errs)
	}
}

func TestCarriageReturns(t *testing.T) {
	text := "---- MODULE M ----\r\nA ==\r\n  /\\ a\r\n  /\\ b\r\n\\* BEGIN TRANSLATION\r\nB == 1\r\n\\* END TRANSLATION\r\n====\r\n"
	m, errs := ParseModule(source.NewFile("M.tla", []byte(text)))
	if errs.Len() > 0 || len(m.Units) != 2 || m.Translation == nil || dump(m.Units[0].(*OperatorDef).Body) != `[/\ a; b]` {
		t.Errorf("got %d units, %v", len(m.Units), errs)
	}
}
