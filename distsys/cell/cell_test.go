// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys/cell"
	"github.com/ashlar-dev/ashlar/tla/typed"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// variable is what a tree has to be: a value that Apply reads and Except
// writes, and a copy of it while a transaction is running. It knows no types.
type variable struct{ cur, work value.Value }

func (v *variable) read(idx []value.Value) value.Value {
	x := v.work
	for _, i := range idx {
		x = x.Apply(i)
	}
	return x
}

func (v *variable) write(idx []value.Value, x value.Value) { v.work = v.work.Except(idx, x) }

// access reads and writes in one Go type.
type access struct {
	name  string
	read  func(t *cell.Tree, idx []value.Value) value.Value
	write func(t *cell.Tree, idx []value.Value, v value.Value)
}

func as[T any, K typed.Kind[T]](name string) access {
	var k K
	return access{name,
		func(t *cell.Tree, idx []value.Value) value.Value { return k.Value(cell.Get(t, idx, k.Value, k.Of)) },
		func(t *cell.Tree, idx []value.Value, v value.Value) { cell.Put(t, idx, k.Of(v), k.Value) },
	}
}

type (
	ints  = typed.Seq[int32, typed.Ints]
	intsK = typed.Seqs[int32, typed.Ints]
)

var accesses = []access{
	as[value.Value, typed.Values]("value"),
	as[int32, typed.Ints]("int"),
	as[ints, intsK]("sequence"),
	as[typed.Seq[ints, intsK], typed.Seqs[ints, intsK]]("sequence of sequences"),
	as[typed.Fn[int32, int32, typed.Ints, typed.Ints], typed.Fns[int32, int32, typed.Ints, typed.Ints]]("function"),
	as[typed.Fn[string, ints, typed.Strings, intsK], typed.Fns[string, ints, typed.Strings, intsK]]("function to sequences"),
	as[typed.Opt[int32], typed.Opts[int32, typed.Ints]]("optional"),
}

func random(rng *rand.Rand, depth int) value.Value {
	n := rng.IntN(4)
	some := func() []value.Value {
		out := make([]value.Value, n)
		for i := range out {
			out[i] = random(rng, depth-1)
		}
		return out
	}
	switch k := rng.IntN(8); {
	case depth == 0 || k < 2:
		return value.Int(rng.Int32N(5))
	case k == 2:
		return value.Model("none")
	case k == 3:
		return value.Set([]value.Value{value.Int(1), value.Int(rng.Int32N(4))}...)
	case k == 4:
		var fields []value.Field
		for i, v := range some() {
			fields = append(fields, value.Field{Name: string(rune('a' + i)), Val: v})
		}
		return value.Record(fields)
	case k == 5:
		var pairs []value.Pair
		for i, v := range some() {
			pairs = append(pairs, value.Pair{Key: value.Int(int32(2 * i)), Val: v})
		}
		return value.Fn(pairs)
	case k == 6 && rng.IntN(4) == 0:
		return value.LazyFn(value.Nat(), func(x value.Value) value.Value { return value.Tuple(x, x) })
	}
	return value.Tuple(some()...)
}

func index(rng *rand.Rand) []value.Value {
	var idx []value.Value
	for rng.IntN(2) == 0 && len(idx) < 3 {
		switch rng.IntN(6) {
		case 0:
			idx = append(idx, value.String(string(rune('a'+rng.IntN(3)))))
		case 1:
			idx = append(idx, value.Model("none"))
		default:
			idx = append(idx, value.Int(rng.Int32N(5)))
		}
	}
	return idx
}

// TestTreesAreVariables does random reads and writes, of parts and of the
// whole, in random types, on trees and on plain values: same answers, same
// errors, also after random commits and aborts.
func TestTreesAreVariables(t *testing.T) {
	const runs, steps = 3000, 40
	read, wrote, failed := 0, 0, 0
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 1))
		first := random(rng, 3)
		tree, model := cell.New(first), &variable{first, first}
		log := "starts as " + first.String()
		for range steps {
			a, idx := accesses[rng.IntN(len(accesses))], index(rng)
			var got, want value.Value
			var gotErr, wantErr error
			switch op := rng.IntN(8); {
			case op < 4:
				log += fmt.Sprintf("; read %v as %s", idx, a.name)
				// What is there, or else that it is not of the type.
				wantErr = value.Catch(func() { want = a.read(cell.New(model.read(idx)), nil) })
				gotErr = value.Catch(func() { got = a.read(tree, idx) })
				read++
			case op < 7:
				x := random(rng, 2)
				log += fmt.Sprintf("; write %v as %s: %v", idx, a.name, x)
				wantErr = value.Catch(func() {
					a.read(cell.New(x), nil)
					model.write(idx, x)
				})
				gotErr = value.Catch(func() { a.write(tree, idx, x) })
				wrote++
			case rng.IntN(2) == 0:
				log += "; commit"
				tree.Commit()
				model.cur = model.work
			default:
				log += "; abort"
				tree.Abort()
				model.work = model.cur
			}
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Fatalf("%s:\ngot  %v\nwant %v", log, gotErr, wantErr)
			}
			if wantErr != nil {
				failed++
			}
			check(t, log, got, want)
			check(t, log+"; committed", tree.Committed(), model.cur)
		}
	}
	if read < runs || wrote < runs || failed < runs {
		t.Errorf("%d reads, %d writes, %d errors: the test does too little", read, wrote, failed)
	}
}

func check(t *testing.T, log string, got, want value.Value) {
	t.Helper()
	if got.IsUndefined() && want.IsUndefined() {
		return
	}
	var g, w string
	gerr := value.Catch(func() { g = got.String() })
	werr := value.Catch(func() { w = want.String() })
	if g != w || (gerr == nil) != (werr == nil) {
		t.Fatalf("%s:\ngot  %s %v\nwant %s %v", log, g, gerr, w, werr)
	}
}

// TestNothingIsConverted counts conversions: one for each type at the first
// access, none later, whether the transactions commit or abort.
func TestNothingIsConverted(t *testing.T) {
	converted := 0
	to := func(s ints) value.Value { converted++; return intsK{}.Value(s) }
	from := func(v value.Value) ints { converted++; return intsK{}.Of(v) }
	for name, idx := range map[string][]value.Value{"whole": nil, "part": {value.String("a")}, "part of a part": {value.String("b"), value.Int(1)}} {
		tree := cell.New(value.Record([]value.Field{{Name: "a", Val: value.Tuple()}, {Name: "b", Val: value.Tuple(value.Tuple())}}))
		if idx == nil {
			tree = cell.New(value.Tuple())
		}
		converted = 0
		for i := range int32(100) {
			cell.Put(tree, idx, cell.Get(tree, idx, to, from).Append(i), to)
			if i%3 == 0 {
				tree.Abort()
			} else {
				tree.Commit()
			}
		}
		if converted > 1 {
			t.Errorf("%s: %d conversions", name, converted)
		}
		if n := cell.Get(tree, idx, to, from).Len(); n != 66 {
			t.Errorf("%s: %d elements, want 66", name, n)
		}
	}
}

// TestWritesReuseMemory: writing a number allocates nothing, whole or part.
func TestWritesReuseMemory(t *testing.T) {
	to, from := value.Int, value.Value.AsInt
	tree := cell.New(value.Tuple(value.Int(1), value.Int(2)))
	idx := []value.Value{value.Int(2)}
	n := testing.AllocsPerRun(100, func() {
		cell.Put(tree, idx, cell.Get(tree, idx, to, from)+1, to)
		tree.Commit()
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestPartsOfTypedValues uses a variable as a whole and by its parts in turn:
// after the first access nothing is converted, and a large function is not
// copied.
func TestPartsOfTypedValues(t *testing.T) {
	type fn = typed.Fn[int32, int32, typed.Ints, typed.Ints]
	type fns = typed.Fns[int32, int32, typed.Ints, typed.Ints]
	const keys, steps = 10_000, 300
	start := typed.MakeFn[typed.Ints](typed.Interval(1, keys), func(x int32) int32 { return x })
	tree := cell.New(fns{}.Value(start))
	converted := 0
	to := func(f fn) value.Value { converted++; return fns{}.Value(f) }
	from := func(v value.Value) fn { converted++; return fns{}.Of(v) }
	model := map[int32]int32{}
	for i := range int32(keys) {
		model[i+1] = i + 1
	}
	step := func(i int32) {
		key := i*37%keys + 1
		whole := cell.Get(tree, nil, to, from)
		if int(whole.Len()) != len(model) || whole.At(key) != model[key] {
			t.Fatalf("step %d: [%d] is %d in a function of %d, want %d of %d", i, key, whole.At(key), whole.Len(), model[key], len(model))
		}
		idx := []value.Value{value.Int(key)}
		cell.Put(tree, idx, cell.Get(tree, idx, value.Int, value.Value.AsInt)+1, value.Int)
		cell.Put(tree, nil, cell.Get(tree, nil, to, from).Put(keys+i+1, i), to)
		cell.Put(tree, idx, cell.Get(tree, idx, value.Int, value.Value.AsInt)+1, value.Int)
		if i%3 == 0 {
			tree.Abort()
			return
		}
		tree.Commit()
		model[key] += 2
		model[keys+i+1] = i
	}
	step(0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range int32(steps) {
		step(i + 1)
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / steps; got > 10_000 {
		t.Errorf("a step takes %d bytes", got)
	}
	if converted != 1 {
		t.Errorf("%d conversions, want 1", converted)
	}
}
