// SPDX-License-Identifier: Apache-2.0

package core

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// samples has one node of every form, with every field set.
func samples() map[string]Expr {
	next := int64(0)
	n := func() Expr { next++; return num(next) }
	one := func(name string) Bind { return in(local(name), n()) }
	two := func() []Bind {
		return []Bind{one("x"), {Vars: []*Local{local("y"), local("z")}, Tuple: true, Set: n()}}
	}
	list := func() []Expr { return []Expr{n(), n(), n()} }
	fields := func() []Field { return []Field{{"a", n()}, {"b", n()}} }
	out := map[string]Expr{}
	for _, e := range []Expr{
		&Int{}, &Decimal{}, &Str{}, &Bool{}, &VarRef{Var: &Variable{}}, &OpRef{Def: &Def{}}, &Bad{},
		&ConstRef{Const: &Constant{}, Args: list()}, &LocalRef{Local: local("f"), Args: list()}, &Call{Def: &Def{}, Args: list()},
		&Lambda{Params: []*Local{local("x"), local("y")}, Body: n()},
		&Op{Op: OpCup, Args: list()}, &And{List: list()}, &Or{List: list()}, &If{Cond: n(), Then: n(), Else: n()},
		&Case{Arms: []Arm{{n(), n()}, {n(), n()}}, Other: n()},
		&Let{Defs: []*Def{with(def("A", n()), local("x")), def("B", n())}, Body: n()},
		&Quant{Binds: two(), Body: n()}, &TemporalQuant{Vars: []*Variable{{}}, Body: n()}, &Choose{Bind: one("x"), Body: n()},
		&SetEnum{Elems: list()}, &SetFilter{Bind: one("x"), Pred: n()}, &SetMap{Binds: two(), Body: n()},
		&Fn{Self: local("f"), Binds: two(), Body: n()}, &FnSet{Dom: n(), Rng: n()}, &Apply{Fn: n(), Arg: n()},
		&Record{Fields: fields()}, &RecordSet{Fields: fields()}, &Select{X: n(), Field: "a"},
		&Except{Fn: n(), Updates: []Update{
			{Path: []Index{{X: n()}, {Field: "a"}}, At: local("@"), Value: n()}, {Path: []Index{{X: n()}, {X: n()}}, Value: n()}}},
		&Tuple{Elems: list()}, &Times{Sets: list()}, &Box{Action: n(), Sub: n()}, &Angle{Action: n(), Sub: n()},
		&Fair{Sub: n(), Action: n(), Possible: n()},
	} {
		out[reflect.TypeOf(e).Elem().Name()] = e
	}
	return out
}

// TestEveryFormHasASample compares the samples with the types that core.go
// declares.
func TestEveryFormHasASample(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "core.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var forms []string
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		s, ok := spec.Type.(*ast.StructType)
		if ok && len(s.Fields.List) > 0 && len(s.Fields.List[0].Names) == 0 {
			forms = append(forms, spec.Name.Name)
		}
		return false
	})
	slices.Sort(forms)
	if got := slices.Sorted(maps.Keys(samples())); len(forms) < 30 || !slices.Equal(got, forms) {
		t.Errorf("the samples are\n%v\nand the forms\n%v", got, forms)
	}
}

// anatomy is what reflection finds in a node: the expressions in the order of
// the fields, which is the order of the text, and the names that are not
// references.
type anatomy struct {
	parts []Expr
	names []*Local
}

func dissect(e Expr) anatomy {
	var a anatomy
	var see func(v reflect.Value)
	see = func(v reflect.Value) {
		switch x := v.Interface().(type) {
		case Expr:
			a.parts = append(a.parts, x)
			return
		case *Local:
			if x != nil {
				a.names = append(a.names, x)
			}
			return
		case *Def:
			if _, defines := e.(*Let); !defines {
				return
			}
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				see(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				see(v.Index(i))
			}
		}
	}
	node := reflect.ValueOf(e).Elem()
	for i := range node.NumField() {
		if _, ref := e.(*LocalRef); ref && node.Type().Field(i).Name == "Local" {
			continue
		}
		if node.Type().Field(i).Name != "At" {
			see(node.Field(i))
		}
	}
	return a
}

// TestFormsMissNothing compares the table of forms with the types.
func TestFormsMissNothing(t *testing.T) {
	for name, e := range samples() {
		want := dissect(e)
		if got := slices.Collect(Children(e, TextOrder)); !slices.Equal(got, want.parts) {
			t.Errorf("%s: the parts in text order are %v, want %v", name, got, want.parts)
		}
		var parts []Expr
		var names []*Local
		for p := range Parts(e, EvaluationOrder) {
			parts, names = append(parts, p.Expr), append(names, p.Names...)
		}
		if name == "SetMap" {
			want.parts = append(want.parts[1:], want.parts[0])
		}
		if !slices.Equal(parts, want.parts) {
			t.Errorf("%s: the parts in evaluation order are %v, want %v", name, parts, want.parts)
		}
		if len(names) != len(want.names) {
			t.Errorf("%s: binds %d names, want %d", name, len(names), len(want.names))
		}
		for _, l := range want.names {
			if !slices.Contains(names, l) {
				t.Errorf("%s: does not bind %s", name, l.Name)
			}
		}
	}
}

// TestRewriteReachesEveryPart changes one part of a node at a time.
func TestRewriteReachesEveryPart(t *testing.T) {
	for name, e := range samples() {
		before := dissect(e)
		for i, part := range before.parts {
			to := num(1000)
			got := Rewrite(e, func(x Expr) Expr {
				if x == part {
					return to
				}
				return nil
			})
			want := slices.Clone(before.parts)
			want[i] = to
			if after := dissect(got); !slices.Equal(after.parts, want) || !slices.Equal(after.names, before.names) {
				t.Errorf("%s: after a change of part %d it has %v, want %v", name, i, after, want)
			}
			if now := dissect(e); !reflect.DeepEqual(now, before) {
				t.Errorf("%s: a change of part %d changed the original", name, i)
			}
		}
		if got := Rewrite(e, func(Expr) Expr { return nil }); got != e {
			t.Errorf("%s: was copied, and nothing changed", name)
		}
	}
}

// TestRenameRenamesEveryName refers to each name from each part that sees it.
func TestRenameRenamesEveryName(t *testing.T) {
	for name, e := range samples() {
		seen := map[Expr][]*Local{}
		for p := range Parts(e, EvaluationOrder) {
			seen[p.Expr] = p.Names
		}
		used := Rewrite(e, func(x Expr) Expr {
			if x == e {
				return nil
			}
			refs := []Expr{x}
			for _, l := range seen[x] {
				refs = append(refs, ref(l))
			}
			return &Tuple{Elems: refs}
		})
		before, after := dissect(used), dissect(Rename(used))
		if len(after.names) != len(before.names) {
			t.Fatalf("%s: %d names became %d", name, len(before.names), len(after.names))
		}
		to := map[*Local]*Local{}
		for i, l := range before.names {
			if slices.Contains(before.names, after.names[i]) {
				t.Errorf("%s: the name %s is not a fresh one", name, l.Name)
			}
			to[l] = after.names[i]
		}
		for i, x := range before.parts {
			for j, y := range x.(*Tuple).Elems[1:] {
				if got := after.parts[i].(*Tuple).Elems[1+j].(*LocalRef).Local; got != to[y.(*LocalRef).Local] {
					t.Errorf("%s: part %d refers to another %s than the one that is bound", name, i, got.Name)
				}
			}
		}
	}
}

// TestASharedSetIsOnePart: x, y \in S has one S, before and after a change.
func TestASharedSetIsOnePart(t *testing.T) {
	s := num(1)
	e := &Quant{Binds: []Bind{in(local("x"), s), in(local("y"), s), in(local("z"), num(2))}, Body: num(3)}
	if n := len(slices.Collect(Children(e, TextOrder))); n != 3 {
		t.Errorf("%d parts, want two sets and a body", n)
	}
	got := Rewrite(e, func(x Expr) Expr {
		if x == s {
			return num(10)
		}
		return nil
	}).(*Quant)
	if got.Binds[0].Set == s || got.Binds[0].Set != got.Binds[1].Set || got.Binds[2].Set != e.Binds[2].Set {
		t.Errorf("the sets became %v", got.Binds)
	}
	if e.Binds[0].Set != s || e.Binds[1].Set != s {
		t.Error("the original changed")
	}
}
