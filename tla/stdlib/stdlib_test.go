// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// operators are the operators that @name refers to.
func operators() map[string]Operator {
	return map[string]Operator{
		"even":    func(a []Value) Value { return value.Bool(a[0].AsInt()%2 == 0) },
		"double":  func(a []Value) Value { return value.Mul(a[0], value.Int(2)) },
		"same":    func(a []Value) Value { return a[0] },
		"one":     func([]Value) Value { return value.Int(1) },
		"nothing": func([]Value) Value { value.Fail("there is nothing"); return Value{} },
		"first":   func(a []Value) Value { return a[0].Elems()[0] },
		"clock":   func(a []Value) Value { return a[0].Field("c") },
		"minus":   func(a []Value) Value { return value.Sub(a[0], a[1]) },
		"greater": func(a []Value) Value { return value.Bool(value.Greater(a[0], a[1])) },
		"leq":     func(a []Value) Value { return value.Bool(value.Leq(a[0], a[1])) },
		"next":    func(a []Value) Value { return value.Bool(a[0].AsInt()+1 == a[1].AsInt()) },
	}
}

// memory is a file system.
type memory map[string][]byte

func (m memory) ReadFile(name string) ([]byte, error) {
	if data, ok := m[name]; ok {
		return data, nil
	}
	return nil, fmt.Errorf("no such file: %w", fs.ErrNotExist)
}

func (m memory) WriteFile(name string, data []byte, appending bool) error {
	if appending {
		data = append(m[name], data...)
	}
	m[name] = data
	return nil
}

// world is a Context whose random numbers are 0.
func world(t *testing.T, printed *[]string) *Context {
	registers := map[string]Value{}
	return &Context{
		Print: func(line string) { *printed = append(*printed, line) },
		Register: func(k Value) (Value, bool) {
			v, ok := registers[k.String()]
			return v, ok
		},
		SetRegister: func(k, v Value) { registers[k.String()] = v },
		Random:      func(n int64) int64 { return 0 },
		Now:         func() int32 { return 42 },
		Trace:       func() Value { return parse(t, "<<[x |-> 1]>>") },
		Files: memory{
			"bad.json": []byte("[1.5]"), "null.json": []byte("[null]"), "cut.json": []byte(`{"a":[1`),
		},
		Environment: func() map[string]string { return map[string]string{"HOME": "/h"} },
		Execute: func(command []string, env map[string]string) (int, string, string, error) {
			stderr := ""
			for k, v := range env {
				stderr = k + "=" + v
			}
			return 3, strings.Join(command, " "), stderr, nil
		},
	}
}

func parse(t *testing.T, text string) Value {
	t.Helper()
	switch text {
	case "R":
		text = "(<<1, 1>> :> FALSE @@ <<1, 2>> :> TRUE @@ <<2, 1>> :> FALSE @@ <<2, 2>> :> FALSE)"
	case "R3":
		n := func(i, j int32) value.Pair {
			return value.Pair{Key: value.Tuple(value.Int(i), value.Int(j)), Val: value.Bool(i+1 == j)}
		}
		return value.Fn([]value.Pair{n(1, 1), n(1, 2), n(1, 3), n(2, 1), n(2, 2), n(2, 3), n(3, 1), n(3, 2), n(3, 3)})
	}
	v, err := value.Parse(text)
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return v
}

// TestOperators runs the cases, and requires one for each operator.
func TestOperators(t *testing.T) {
	var printed []string
	ctx := world(t, &printed)
	ops, tested := operators(), map[*Op]bool{}
	for _, line := range strings.Split(cases, "\n") {
		if line == "" {
			continue
		}
		parts := strings.Split(line, " | ")
		if strings.HasPrefix(line, "Bitwise | | |") {
			parts = append([]string{"Bitwise", "|"}, strings.Split(strings.TrimPrefix(line, "Bitwise | | | "), " | ")...)
		}
		op := Lookup(parts[0], parts[1])
		if op == nil {
			t.Errorf("%s: no such operator", line)
			continue
		}
		tested[op] = true
		want, given := strings.TrimPrefix(parts[len(parts)-1], "?"), parts[2:len(parts)-1]
		got := Value{}
		err := value.Catch(func() {
			var args []Arg
			for _, text := range given {
				if f := ops[strings.TrimPrefix(text, "@")]; strings.HasPrefix(text, "@") {
					args = append(args, Arg{Op: f})
				} else if strings.Contains(line, "!cannot compare") {
					args = append(args, Arg{Val: value.Set(value.Int(1), value.String("a"))})
				} else {
					args = append(args, Arg{Val: parse(t, text)})
				}
			}
			checkParams(t, op, args)
			got = op.Call(ctx, args)
		})
		switch {
		case strings.HasPrefix(want, "!"):
			if err == nil || !strings.Contains(err.Error(), want[1:]) {
				t.Errorf("%s: got %v, error %v", line, got, err)
			}
		case err != nil:
			t.Errorf("%s: %v", line, err)
		case want == "TLCFP":
			same := op.F1(value.Union(value.Set(value.Int(2)), value.Set(value.Int(1))))
			other := op.F1(value.Set(value.Int(2)))
			if !value.Equal(got, same) || value.Equal(got, other) {
				t.Errorf("%s: %v, %v, %v", line, got, same, other)
			}
		case !value.Equal(got, parse(t, want)):
			t.Errorf("%s: got %v", line, got)
		}
	}
	for _, op := range All() {
		if !tested[op] {
			t.Errorf("%s!%s has no test", op.Module, op.Name)
		}
	}
	want := []string{`1  "x"`, `"x"`, "AssertEq: 1 is not 2"}
	if strings.Join(printed, ";") != strings.Join(want, ";") {
		t.Errorf("printed %q, want %q", printed, want)
	}
	if svg := string(ctx.Files.(memory)["frame7.svg"]); svg != "<g></g>\n" {
		t.Errorf("the drawing is %q", svg)
	}
}

// checkParams: an operator states which of its parameters are operators.
func checkParams(t *testing.T, op *Op, args []Arg) {
	t.Helper()
	for i, a := range args {
		if higher := op.Params != nil && op.Params[i] > 0 || op.Lazy && i == len(args)-1; higher != (a.Op != nil) {
			t.Errorf("%s!%s: parameter %d is an operator: %v", op.Module, op.Name, i+1, higher)
		}
	}
}

func TestForms(t *testing.T) {
	for _, op := range All() {
		forms := 0
		for _, set := range []bool{op.F0 != nil, op.F1 != nil, op.F2 != nil, op.F3 != nil, op.FN != nil} {
			if set {
				forms++
			}
		}
		if forms != 1 {
			t.Errorf("%s!%s has %d implementations", op.Module, op.Name, forms)
		}
	}
	for _, name := range []string{"=<", `\leq`, `\geq`} {
		if Lookup("Naturals", name) == nil {
			t.Errorf("%s is not known", name)
		}
	}
	if Lookup("Naturals", "Len") != nil || Lookup("Nothing", "+") != nil {
		t.Error("an operator that is not there was found")
	}
}

// TestLarge: sets that cannot be enumerated have a size, a minimum and a
// maximum.
func TestLarge(t *testing.T) {
	huge := value.Interval(1, 1<<30)
	if v := Lookup("FiniteSetsExt", "Max").F1(huge); v.AsInt() != 1<<30 {
		t.Errorf("the maximum of %v is %v", huge, v)
	}
	if v := Lookup("FiniteSets", "Cardinality").F1(value.Subsets(value.Interval(1, 30))); v.AsInt() != 1<<30 {
		t.Errorf("the cardinality of SUBSET (1..30) is %v", v)
	}
	if v := Lookup("FiniteSets", "IsFiniteSet").F1(huge); !v.IsTrue() {
		t.Errorf("%v is not finite", huge)
	}
}

// TestNoWorld: without a Context, an operator that needs the outside world
// fails with a clear error.
func TestNoWorld(t *testing.T) {
	file, none := value.String("f"), value.Tuple()
	for name, call := range map[string]func() Value{
		"TLC TLCGet": func() Value { return Lookup("TLC", "TLCGet").Call(nil, []Arg{{Val: value.Int(1)}}) },
		"TLC TLCSet": func() Value {
			return Lookup("TLC", "TLCSet").Call(nil, []Arg{{Val: value.Int(1)}, {Val: none}})
		},
		"TLC JavaTime": func() Value { return Lookup("TLC", "JavaTime").Call(nil, nil) },
		"TLC RandomElement": func() Value {
			return Lookup("TLC", "RandomElement").Call(nil, []Arg{{Val: value.Set(file)}})
		},
		"TLCExt Trace":         func() Value { return Lookup("TLCExt", "Trace").Call(nil, nil) },
		"IOUtils IOEnv":        func() Value { return Lookup("IOUtils", "IOEnv").Call(nil, nil) },
		"IOUtils IOExec":       func() Value { return Lookup("IOUtils", "IOExec").Call(nil, []Arg{{Val: value.Tuple(file)}}) },
		"Json JsonDeserialize": func() Value { return Lookup("Json", "JsonDeserialize").Call(nil, []Arg{{Val: file}}) },
		"Json JsonSerialize": func() Value {
			return Lookup("Json", "JsonSerialize").Call(nil, []Arg{{Val: file}, {Val: none}})
		},
	} {
		err := value.Catch(func() { call() })
		if err == nil || !strings.Contains(err.Error(), strings.Fields(name)[1]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v := Lookup("TLC", "PrintT").Call(nil, []Arg{{Val: file}}); !v.IsTrue() {
		t.Error("PrintT without output is not TRUE")
	}
}

// TestRandom: random elements and subsets of sets that cannot be enumerated.
func TestRandom(t *testing.T) {
	state := uint64(7)
	ctx := &Context{Random: func(n int64) int64 {
		state = state*6364136223846793005 + 1442695040888963407
		return int64(state>>33) % n
	}}
	huge := value.FnSet(value.Interval(1, 50), value.Interval(0, 9))
	x := Lookup("TLC", "RandomElement").Call(ctx, []Arg{{Val: huge}})
	y := Lookup("TLC", "RandomElement").Call(ctx, []Arg{{Val: huge}})
	if !value.Contains(huge, x) || value.Equal(x, y) {
		t.Errorf("%v and %v of %v", x, y, huge)
	}
	some := Lookup("Randomization", "RandomSubset").Call(ctx, []Arg{{Val: value.Int(20)}, {Val: huge}})
	if value.Cardinality(some) != 20 || !value.Subseteq(some, huge) {
		t.Errorf("a subset of %d elements", value.Cardinality(some))
	}
	seen := map[string]int{}
	for range 6000 {
		s := Lookup("Randomization", "RandomSubset").Call(ctx, []Arg{{Val: value.Int(2)}, {Val: value.Interval(1, 4)}})
		seen[s.String()]++
	}
	for s, n := range seen {
		if n < 800 || n > 1200 {
			t.Errorf("the subset %s of six came %d times of 6000", s, n)
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d different subsets", len(seen))
	}
}
