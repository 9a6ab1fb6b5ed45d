// SPDX-License-Identifier: Apache-2.0

package core

import (
	"strings"
	"testing"
)

func local(name string) *Local           { return &Local{Name: name} }
func ref(l *Local, args ...Expr) Expr    { return &LocalRef{Local: l, Args: args} }
func num(n int64) Expr                   { return &Int{Val: n} }
func op(o OpCode, args ...Expr) Expr     { return &Op{Op: o, Args: args} }
func call(d *Def, args ...Expr) Expr     { return &Call{Def: d, Args: args} }
func set(list ...Expr) Expr              { return &SetEnum{Elems: list} }
func in(l *Local, s Expr) Bind           { return Bind{Vars: []*Local{l}, Set: s} }
func exists(b Bind, body Expr) *Quant    { return &Quant{Exists: true, Binds: []Bind{b}, Body: body} }
func spec(defs ...*Def) *Spec            { return &Spec{Defs: defs} }
func def(name string, body Expr) *Def    { return &Def{Name: name, Body: body, Level: TemporalLevel} }
func with(d *Def, params ...*Local) *Def { d.Params = params; return d }

// validateExpr is Validate for one expression that may use the names in scope
// and the definitions, variables and constants of s.
func validateExpr(s *Spec, e Expr, scope []*Local) error {
	v := &validator{constants: map[*Constant]bool{}, variables: map[*Variable]int{}, defs: map[*Def]int{}, bound: map[*Local]int{}}
	for _, x := range s.Variables {
		v.variables[x]++
	}
	for _, c := range s.Constants {
		v.constants[c] = true
	}
	for i, d := range s.Defs {
		v.defs[d] = i
	}
	v.at = len(s.Defs)
	for _, l := range scope {
		v.bound[l]++
	}
	v.expr(e)
	return v.err()
}

func TestValidate(t *testing.T) {
	x, y := local("x"), local("y")
	f := &Local{Name: "F", Arity: 1}
	v := &Variable{Name: "v"}
	c := &Constant{Name: "C", Arity: 1}
	id := with(def("Id", ref(x)), x)
	high := with(def("High", ref(f, num(1))), f)
	loop := def("Loop", nil)
	loop.Body = call(loop)
	recursive := &Def{Name: "Rec", Recursive: true}
	recursive.Body = call(recursive)
	later := def("Later", num(1))
	letDef := with(def("L", ref(x)), x)
	stray := def("Stray", num(1))

	tests := []struct {
		name string
		spec *Spec
		want string // "" for a valid one
	}{
		{"a call", spec(id, def("A", call(id, num(1)))), ""},
		{"recursion", spec(recursive), ""},
		{"an operator argument", spec(id, high, def("A", call(high, &OpRef{Def: id}))), ""},
		{"a lambda", spec(high, def("A", call(high, &Lambda{Params: []*Local{y}, Body: ref(y)}))), ""},
		{"a let", spec(def("A", &Let{Defs: []*Def{letDef}, Body: call(letDef, num(1))})), ""},
		{"a constant operator", &Spec{Constants: []*Constant{c}, Defs: []*Def{high, def("A", call(high, &ConstRef{Const: c}))}}, ""},

		{"too few arguments", spec(id, def("A", call(id))), "Id takes 1 arguments, not 0"},
		{"a value for an operator", spec(high, def("A", call(high, num(1)))), "a *core.Int is used where an operator is expected"},
		{"an operator of the wrong arity", spec(high, def("A", call(high, &Lambda{Params: []*Local{x, y}, Body: ref(x)}))), "an operator with 1 arguments is expected, not with 2"},
		{"an operator for a value", spec(id, def("A", call(id, &OpRef{Def: id}))), "operator Id is used where a value is expected"},
		{"a lambda for a value", spec(def("A", &Lambda{Params: []*Local{x}, Body: ref(x)})), "a LAMBDA is used where a value is expected"},
		{"a name out of scope", spec(def("A", ref(x))), "x is not in scope"},
		{"a set that sees its name", spec(def("A", exists(in(x, ref(x)), ref(x)))), "x is not in scope"},
		{"a name in its own scope", spec(def("A", exists(in(x, set()), exists(in(x, set()), ref(x))))), "x is bound inside its own scope"},
		{"an unlisted definition", spec(def("A", call(stray))), "Stray is neither listed nor in scope"},
		{"a let's definition outside", spec(def("A", &And{List: []Expr{&Let{Defs: []*Def{letDef}, Body: num(1)}, call(letDef, num(1))}})), "L is neither listed nor in scope"},
		{"recursion without the word", spec(loop), "Loop uses itself and is not recursive"},
		{"a use before its place", spec(def("A", call(later)), later), "Later is used before its place"},
		{"listed twice", spec(later, later), "Later is listed twice"},
		{"an unlisted variable", spec(def("A", &VarRef{Var: v})), "variable v is not listed"},
		{"a wrong index", &Spec{Variables: []*Variable{{Name: "w", Index: 1}}}, "variable w has index 1 at place 0"},
		{"an unlisted constant", spec(def("A", &ConstRef{Const: c, Args: []Expr{num(1)}})), "constant C is not listed"},
		{"one conjunct", spec(def("A", &And{List: []Expr{num(1)}})), "a *core.And with 1 parts"},
		{"an operator's operands", spec(def("A", op(OpIn, num(1)))), `\in with 1 arguments`},
		{"no set", spec(def("A", &SetFilter{Bind: in(x, nil), Pred: ref(x)})), "a bound without a set"},
		{"no body", spec(&Def{Name: "A"}), "A has no body and is not native"},
		{"a bad part", spec(def("A", &Bad{})), "an expression that could not be lowered"},
		{"a missing part", spec(def("A", &If{Cond: num(1), Then: num(1)})), "an expression is missing"},
		{"a low level", spec(&Def{Name: "A", Body: op(OpEnabled, num(1))}), "A has level 0, its body needs 1"},
		{"an update without a path", spec(def("A", &Except{Fn: num(1), Updates: []Update{{Value: num(1)}}})), "a *core.Except with 0 parts"},
		{"a step that is nothing", spec(def("A", &Except{Fn: num(1), Updates: []Update{{Path: []Index{{}}, Value: num(1)}}})), "neither an index nor a field"},
		{"an unlisted name", &Spec{Names: map[string]*Def{"A": later}}, "the definition for name A is not listed"},
		{"parameters of a path", spec(&Def{Name: "A", Path: []Step{{Name: "I", Params: 1}}, Body: num(1)}), "I!A has fewer parameters than its instances"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Validate(tt.spec)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got %v, want nil", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if err := validateExpr(spec(id), call(id, ref(y)), []*Local{y}); err != nil {
		t.Errorf("an expression in a scope: %v", err)
	}
	if err := validateExpr(spec(id), call(id, ref(y)), nil); err == nil {
		t.Error("an expression outside its scope is valid")
	}
}

func TestSubstitute(t *testing.T) {
	x, y, z := local("x"), local("y"), local("z")
	f := &Local{Name: "F", Arity: 1}
	g := &Def{Name: "G", Params: []*Local{z}, Body: ref(z)}
	// The set {z \in {} : z = a} binds z.
	filter := func(a Expr) Expr { return &SetFilter{Bind: in(z, set()), Pred: op(OpEq, ref(z), a)} }
	nested := ref(f, ref(f, ref(x)))
	w := local("w")
	inLet := &Def{Name: "L", Params: []*Local{w}, Body: op(OpEq, ref(w), ref(x))}
	tests := []struct {
		name   string
		e      Expr
		values map[*Local]Expr
		want   string
	}{
		{"a value", op(OpEq, ref(x), ref(y)), map[*Local]Expr{x: num(1)}, "1 = y"},
		{"two at once", op(OpEq, ref(x), ref(y)), map[*Local]Expr{x: ref(y), y: ref(x)}, "y = x"},
		{"a definition for an operator", nested, map[*Local]Expr{f: &OpRef{Def: g}, x: num(1)}, "G(G(1))"},
		{"a lambda", nested, map[*Local]Expr{f: &Lambda{Params: []*Local{y}, Body: set(ref(y))}}, "{{x}}"},
		{"a lambda inside itself", nested, map[*Local]Expr{f: &Lambda{Params: []*Local{y}, Body: filter(ref(y))}},
			`{z \in {} : z = {z_1 \in {} : z_1 = x}}`},
		{"a parameter passed on", ref(f, num(1)), map[*Local]Expr{f: &LocalRef{Local: &Local{Name: "H", Arity: 1}}}, "H(1)"},
		{"a constant operator", ref(f, num(1)), map[*Local]Expr{f: &ConstRef{Const: &Constant{Name: "C", Arity: 1}}}, "C(1)"},
		{"a let", &Let{Defs: []*Def{inLet}, Body: ref(f, call(inLet, ref(x)))}, map[*Local]Expr{x: num(5), f: &OpRef{Def: g}},
			"LET L(w) == w = 5 IN G(L(5))"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Substitute(tt.e, tt.values)
			if text := Format(got, 0); text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
			scope := []*Local{x, y, f}
			for _, l := range Free(got) {
				if l != x && l != y && l != f {
					scope = append(scope, l)
				}
			}
			s := &Spec{Defs: []*Def{g}, Constants: []*Constant{}}
			if err := validateExpr(s, got, scope); err != nil && !strings.Contains(err.Error(), "constant C") {
				t.Error(err)
			}
		})
	}
}

func TestRewriteShares(t *testing.T) {
	x := local("x")
	kept := set(num(1), num(2))
	e := op(OpEq, kept, ref(x))
	got := Substitute(e, map[*Local]Expr{x: num(3)}).(*Op)
	if got.Args[0] != kept {
		t.Error("a part that does not change was copied")
	}
	d := &Def{Name: "L", Body: num(1)}
	let := &Let{Defs: []*Def{d}, Body: call(d)}
	if Rewrite(let, func(Expr) Expr { return nil }) != Expr(let) {
		t.Error("a LET that does not change was copied")
	}
	fresh := Rename(exists(in(x, set()), ref(x))).(*Quant)
	if fresh.Binds[0].Vars[0] == x || fresh.Body.(*LocalRef).Local != fresh.Binds[0].Vars[0] {
		t.Error("Rename did not bind a fresh name")
	}
}

// TestRewriteNestedLet: the definitions of an inner LET that use names of the
// outer LET use the copies of those names.
func TestRewriteNestedLet(t *testing.T) {
	v, w := &Variable{Name: "v"}, &Variable{Name: "w"}
	a := def("a", &VarRef{Var: v})
	d := def("d", op(OpNot, call(a)))
	plus := with(def("+", nil), local("x"), local("y"))
	let := &Let{Defs: []*Def{a}, Body: &Let{Defs: []*Def{d}, Body: call(plus, call(d), call(a))}}
	replace := func(e Expr, again func(Expr) Expr) Expr {
		switch e := e.(type) {
		case *VarRef:
			return &VarRef{Var: w}
		case *Call:
			if e.Def == plus {
				return call(plus, again(e.Args[0]), again(e.Args[1]))
			}
		}
		return nil
	}
	for name, e := range map[string]Expr{"transformed": Transform(let, replace), "renamed": Rename(let)} {
		if err := validateExpr(&Spec{Defs: []*Def{plus}, Variables: []*Variable{v, w}}, e, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		Calls(e, func(x *Def) {
			if x == a || x == d {
				t.Errorf("%s: %s is still called", name, x.Name)
			}
		})
	}
}

func TestFree(t *testing.T) {
	x, y, at := local("x"), local("y"), local("@")
	self := local("f")
	d := with(def("L", op(OpEq, ref(x), ref(y))), x)
	tests := []struct {
		e    Expr
		want string
	}{
		{exists(in(x, ref(y)), ref(x)), "y"},
		{exists(in(x, ref(x)), ref(x)), "x"},
		{&Lambda{Params: []*Local{x}, Body: op(OpEq, ref(x), ref(y))}, "y"},
		{&Let{Defs: []*Def{d}, Body: call(d, ref(x))}, "y x"},
		{&Fn{Self: self, Binds: []Bind{in(x, set())}, Body: &Apply{Fn: ref(self), Arg: ref(x)}}, ""},
		{&Except{Fn: ref(y), Updates: []Update{{Path: []Index{{X: ref(at)}}, At: at, Value: ref(at)}}}, "y @"},
		{&SetMap{Body: op(OpEq, ref(x), ref(y)), Binds: []Bind{in(x, set())}}, "y"},
	}
	for _, tt := range tests {
		var names []string
		for _, l := range Free(tt.e) {
			names = append(names, l.Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", Format(tt.e, 0), got, tt.want)
		}
	}
}

func TestLevelOf(t *testing.T) {
	v := &VarRef{Var: &Variable{Name: "v"}}
	action := op(OpPrime, v)
	tests := []struct {
		e    Expr
		want Level
	}{
		{num(1), ConstantLevel},
		{v, StateLevel},
		{action, ActionLevel},
		{op(OpEnabled, action), StateLevel},
		{&Box{Action: action, Sub: v}, ActionLevel},
		{op(OpAlways, v), TemporalLevel},
		{call(&Def{Name: "A", Level: ActionLevel}), ActionLevel},
		{&Let{Defs: []*Def{{Name: "L", Body: action, Level: ActionLevel}}, Body: num(1)}, ConstantLevel},
		{&Fair{Sub: v, Action: action}, TemporalLevel},
	}
	for _, tt := range tests {
		if got := LevelOf(tt.e); got != tt.want {
			t.Errorf("%s: got %d, want %d", Format(tt.e, 0), got, tt.want)
		}
	}
}

// TestFormat shows where the printer puts parentheses and breaks lines.
func TestFormat(t *testing.T) {
	x, y := &VarRef{Var: &Variable{Name: "x"}}, &VarRef{Var: &Variable{Name: "y"}}
	plus := &Def{Name: "+", Params: []*Local{local("a"), local("b")}}
	minus := &Def{Name: "-", Params: plus.Params}
	neg := &Def{Name: "-.", Params: plus.Params[:1]}
	long := &VarRef{Var: &Variable{Name: strings.Repeat("v", 45)}}
	q := local("x")
	tests := []struct {
		name string
		e    Expr
		want string
	}{
		{"a chain from the left", call(minus, call(minus, x, y), x), "x - y - x"},
		{"a chain from the right", call(minus, x, call(minus, y, x)), "x - (y - x)"},
		{"different operators of one strength", call(minus, call(plus, x, y), x), "(x + y) - x"},
		{"minus before minus", call(neg, call(neg, x)), "-(-x)"},
		{"a negative number", call(plus, x, num(-1)), "x + -1"},
		{"a negative number, primed", op(OpPrime, num(-1)), "(-1)'"},
		{"prefix after prefix", op(OpAlways, op(OpEventually, op(OpNot, x))), "[]<>~x"},
		{"prefix and infix", op(OpNot, op(OpIn, x, y)), `~x \in y`},
		{"a conjunction in a disjunction", &Or{List: []Expr{&And{List: []Expr{x, y}}, x}}, `(x /\ y) \/ x`},
		{"a quantifier as an operand", &And{List: []Expr{exists(in(local("z"), y), x), y}}, `(\E z \in y : x) /\ y`},
		{"a name of a variable", exists(in(q, y), op(OpEq, ref(q), x)), `\E x_1 \in y : x_1 = x`},
		{"a map that looks like a filter", &SetMap{Body: op(OpIn, x, y), Binds: []Bind{in(local("z"), y)}}, `{(x \in y) : z \in y}`},
		{"a set of a quantifier that is one", exists(in(local("z"), exists(in(local("w"), y), x)), x), `\E z \in (\E w \in y : x) : x`},
		{"a primed function", &Apply{Fn: op(OpPrime, x), Arg: y}, "x'[y]"},
		{"a field of a primed record", &Select{X: op(OpPrime, x), Field: "f"}, "(x').f"},
		{"a long conjunction", &And{List: []Expr{long, long, &Or{List: []Expr{long, long, long}}}},
			"/\\ LONG\n/\\ LONG\n/\\ \\/ LONG\n   \\/ LONG\n   \\/ LONG"},
		{"a list on the left of =>", op(OpImplies, &And{List: []Expr{long, long, long}}, x),
			"(/\\ LONG\n /\\ LONG\n /\\ LONG) => x"},
		{"a long IF", &If{Cond: x, Then: &And{List: []Expr{long, long, long}}, Else: y},
			"IF x\n  THEN /\\ LONG\n       /\\ LONG\n       /\\ LONG\n  ELSE y"},
		{"a long CASE", &Case{Arms: []Arm{{x, long}, {y, long}}, Other: x},
			"CASE x -> LONG\n  [] y -> LONG\n  [] OTHER -> x"},
		{"a long record", &Record{Fields: []Field{{"a", long}, {"b", long}, {"c", x}}},
			"[a |-> LONG,\n b |-> LONG,\n c |-> x]"},
		{"a string", &Str{Val: "a\"b\\c\n"}, `"a\"b\\c\n"`},
		{"a part with an error", &Bad{}, "FALSE (* not understood *)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.ReplaceAll(Format(tt.e, 0), long.Var.Name, "LONG")
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
