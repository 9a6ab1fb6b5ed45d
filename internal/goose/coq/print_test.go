// SPDX-License-Identifier: Apache-2.0

package coq_test

import (
	"strings"
	"testing"

	. "github.com/ashlar-dev/ashlar/internal/goose/coq"
)

const (
	x   = Atom(`"x"`)
	y   = Atom(`"y"`)
	z   = Atom(`"z"`)
	f   = Atom("f")
	u   = Atom("#()")
	if0 = Atom("#true")
)

func infix(op string, a, b Expr) Expr { return Infix{Op: op, X: a, Y: b} }

// TestParentheses: they stand where the notations' levels ask for them, and
// nowhere else but around operators within operators.
func TestParentheses(t *testing.T) {
	load := Prefix{Op: "![T]", X: x}
	call := App{Fun: f, Args: []Expr{x}}
	field := Field{X: x, Struct: "S", Name: "a"}
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{infix("+", infix("*", x, y), z), `("x" * "y") + "z"`},
		{infix("+", x, infix("*", y, z)), `"x" + ("y" * "z")`},
		{infix("+", load, call), `![T] "x" + f "x"`},
		{App{Fun: f, Args: []Expr{load, call, infix("+", x, y), u}}, `f (![T] "x") (f "x") ("x" + "y") #()`},
		{App{Fun: load, Args: []Expr{y}}, `(![T] "x") "y"`},
		{field, `"x".[S, "a"]`},
		{Prefix{Op: "![T]", X: field}, `![T] ("x".[S, "a"])`},
		{Field{X: field, Struct: "R", Name: "b"}, `("x".[S, "a"]).[R, "b"]`},
		{App{Fun: f, Args: []Expr{field}}, `f ("x".[S, "a"])`},
		{infix("<-[T]", field, infix("+", x, y)), `"x".[S, "a"] <-[T] "x" + "y"`},
		{infix("<-[T]", load, Not{X: x}), `![T] "x" <-[T] (~ "x")`},
		{Not{X: infix("=", x, y)}, `~ ("x" = "y")`},
		{infix("&&", Not{X: x}, infix("<", x, y)), `(~ "x") && ("x" < "y")`},
		{If{Cond: infix("<", x, y), Yes: x, No: Return{X: y}}, `if: "x" < "y" then "x" else return: "y"`},
		{infix("+", If{Cond: x, Yes: y, No: z}, x), `(if: "x" then "y" else "z") + "x"`},
		{App{Fun: f, Args: []Expr{Lam{Params: []string{"<>"}, Body: infix("<-[T]", x, y)}}}, `f (λ: <>, "x" <-[T] "y")`},
		{Tuple{x, Tuple{infix("+", x, y), u}}, `("x", ("x" + "y", #()))`},
		{App{Fun: f, Args: []Expr{Raw("structT S")}}, `f (structT S)`},
		{Return{X: Tuple{x, y}}, `return: ("x", "y")`},
	} {
		if got := Print(c.e); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestLayout: statements stand below one another; an if that something follows
// stands in parentheses, since it would take that into its else.
func TestLayout(t *testing.T) {
	store := infix("<-[T]", x, y)
	branch := If{Cond: if0, Yes: store, No: u}
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{Seq{X: branch, Body: x}, "(if: #true then \"x\" <-[T] \"y\" else #());;\n\"x\""},
		{Then{X: If{Cond: if0, Yes: Return{X: x}, No: Atom("go_on")}, Body: y},
			"(if: #true then return: \"x\" else go_on);;;\n\"y\""},
		{Let{Name: `"x"`, X: Seq{X: store, Body: x}, Body: x}, "let: \"x\" :=\n  (\"x\" <-[T] \"y\";;\n   \"x\") in\n\"x\""},
		{Let{Name: `"x"`, Second: "<>", X: x, Body: u}, "let2: \"x\" <> := \"x\" in\n#()"},
		{If{Cond: x, Yes: Seq{X: store, Body: u}, No: Seq{X: store, Body: u}},
			"if: \"x\" then\n  \"x\" <-[T] \"y\";;\n  #()\nelse\n\"x\" <-[T] \"y\";;\n#()"},
		{If{Cond: x, Yes: y, No: If{Cond: y, Yes: x, No: z}}, "if: \"x\" then\n  \"y\"\nelse if: \"y\" then\n  \"x\"\nelse \"z\""},
		{Note{Text: "why", Body: x}, "(* why *)\n\"x\""},
		{App{Fun: f, Args: []Expr{x, Lam{Params: []string{`"i"`}, Body: Seq{X: store, Body: u}}}},
			"f \"x\"\n  (λ: \"i\",\n     \"x\" <-[T] \"y\";;\n     #())"},
	} {
		if got := Print(c.e); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
	long := Atom(strings.Repeat("x", 60))
	if got := Print(App{Fun: f, Args: []Expr{long, long}}); got != "f "+string(long)+"\n  "+string(long) {
		t.Errorf("a long application is laid out as\n%s", got)
	}
}

func TestFile(t *testing.T) {
	file := File{Header: []string{"Header."}, Requires: []string{"Require x."}, Defs: []Def{
		{Doc: "Limit is one.\n\nOr so.", Place: "a.go:1:2", Name: "Limit", Type: "Z", Body: "5"},
		{Name: "f", Type: "val", Params: []string{`"x"`}, Self: `"f"`, Value: App{Fun: Atom(`"f"`), Args: []Expr{x}}},
		{Name: "g", Type: "val", Params: []string{"<>"}, Value: u},
	}}
	want := `(* Header. *)
Require x.

(** Limit is one.

    Or so. *)
(* a.go:1:2 *)
Definition Limit : Z := 5.

Definition f : val :=
  rec: "f" "x" :=
    "f" "x".

Definition g : val :=
  λ: <>,
    #().
`
	if got := file.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// readComment reads s as Coq reads a comment, and says where it ends.
func readComment(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case quoted:
		case strings.HasPrefix(s[i:], "(*"):
			depth++
			i++
		case strings.HasPrefix(s[i:], "*)"):
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// FuzzComment: whatever the text, the comment ends where it should.
func FuzzComment(f *testing.F) {
	for _, s := range []string{"", "*", "(", "(*", "*)", "((**))", `"`, `"*)"`, `a "b`, "(*)", "***", `*")`, "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range []string{Comment(s), DocComment(s)} {
			if got := readComment(c); got != len(c) {
				t.Errorf("%q ends at %d of %d", c, got, len(c))
			}
		}
	})
}

func TestQuote(t *testing.T) {
	if got, want := Quote(`say "x"`), `"say ""x"""`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
