// SPDX-License-Identifier: Apache-2.0

package distsys_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/tla/typed"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func runBenchmark[S any](b *testing.B, s S, run section[S]) {
	b.Helper()
	left := b.N
	in := instance(b, archetype(func(s *S, tx *distsys.Tx) (distsys.Label, error) {
		if left == 0 {
			return distsys.Done, nil
		}
		left--
		return run(s, tx)
	}), s, distsys.Options{})
	b.ReportAllocs()
	b.ResetTimer()
	if err := in.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkFunctionUpdate is "f[k] := f[k] + 1" for a function of five keys,
// as a Go array and as a value.
func BenchmarkFunctionUpdate(b *testing.B) {
	const keys = 5
	b.Run("typed", func(b *testing.B) {
		k := 0
		runBenchmark(b, [keys]int32{}, func(f *[keys]int32, _ *distsys.Tx) (distsys.Label, error) {
			f[k] = value.AddInt(f[k]&0xffff, 1)
			k = (k + 1) % keys
			return 0, nil
		})
	})
	b.Run("value", func(b *testing.B) {
		elems := make([]value.Value, keys)
		for i := range elems {
			elems[i] = value.Int(0)
		}
		k := int32(0)
		runBenchmark(b, value.TupleOf(elems), func(f *value.Value, _ *distsys.Tx) (distsys.Label, error) {
			k = k%keys + 1
			i := value.Int(k)
			*f = f.ExceptIndex(i, value.Int(f.Apply(i).AsInt()&0xffff+1))
			return 0, nil
		})
	})
}

// BenchmarkEither takes one of two branches.
func BenchmarkEither(b *testing.B) {
	runBenchmark(b, [2]int{}, func(n *[2]int, tx *distsys.Tx) (distsys.Label, error) {
		k, err := tx.Choose(2)
		if err != nil {
			return 0, err
		}
		n[k]++
		return 0, nil
	})
}

// BenchmarkShared reads and writes a shared variable that no other process
// uses.
func BenchmarkShared(b *testing.B) {
	ref := distsys.NewRef("x", local.NewShared(value.Int(0)))
	runBenchmark(b, 0, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		v, err := distsys.Read(tx, ref, distsys.Int())
		if err != nil {
			return 0, err
		}
		return 0, distsys.Write(tx, ref, distsys.Int(), v&0xffff+1)
	})
}

// BenchmarkToken is one hand-over between two instances that wait for each
// other: a write, a wake-up, a read.
func BenchmarkToken(b *testing.B) {
	ref := distsys.NewRef("token", local.NewShared(value.Int(0)))
	player := func(mine int32) *distsys.Instance[int] {
		return instance(b, archetype(func(n *int, tx *distsys.Tx) (distsys.Label, error) {
			if *n == b.N {
				return distsys.Done, nil
			}
			v, err := distsys.Read(tx, ref, distsys.Int())
			if err != nil {
				return 0, err
			}
			if v != mine {
				return distsys.Blocked()
			}
			*n++
			return 0, distsys.Write(tx, ref, distsys.Int(), 1-mine)
		}), 0, distsys.Options{})
	}
	p, q := player(0), player(1)
	b.ResetTimer()
	if err := distsys.Run(context.Background(), p, q); err != nil {
		b.Fatal(err)
	}
}

type (
	numbers     = typed.Seq[int32, typed.Ints]
	numbersKind = typed.Seqs[int32, typed.Ints]
)

var numbersShape = distsys.Shape[numbers]{To: numbersKind{}.Value, From: numbersKind{}.Of}

// appender appends to a sequence, first in an attempt that is given up.
func appender(ref distsys.Ref, idx ...value.Value) section[int32] {
	return func(n *int32, tx *distsys.Tx) (distsys.Label, error) {
		log, err := distsys.Read(tx, ref, numbersShape, idx...)
		if err != nil {
			return 0, err
		}
		if err := distsys.Write(tx, ref, numbersShape, log.Append(*n), idx...); err != nil {
			return 0, err
		}
		*n++
		if k, err := tx.Choose(2); err != nil || k == 0 {
			return 0, distsys.ErrBlocked
		}
		return 0, nil
	}
}

// logs are the places where a sequence can be kept, empty.
func logs() map[string]section[int32] {
	f := value.Fn([]value.Pair{{Key: value.Int(7), Val: value.Tuple()}, {Key: value.Int(9), Val: value.Tuple()}})
	var own numbers
	return map[string]section[int32]{
		"shared":   appender(distsys.NewRef("log", local.NewShared(value.Tuple()))),
		"part":     appender(distsys.NewRef("log", local.NewShared(f)), value.Int(7)),
		"variable": appender(distsys.NewRef("log", local.NewVariable(value.Tuple()))),
		"own": func(n *int32, _ *distsys.Tx) (distsys.Label, error) {
			own = own.Append(*n)
			*n++
			return 0, nil
		},
	}
}

// BenchmarkAppend appends to sequences, of which every second attempt is given
// up.
func BenchmarkAppend(b *testing.B) {
	for name, run := range logs() {
		b.Run(name, func(b *testing.B) { runBenchmark(b, 0, run) })
	}
}

// BenchmarkLarge changes shared variables of a million elements: f[k] := v, f :=
// (k :> v) @@ f with a new key, s := s \\cup {x}, s := s \\ {x}, q := Append(q, x).
// The places are random.
func BenchmarkLarge(b *testing.B) {
	type (
		fn    = typed.Fn[int32, int32, typed.Ints, typed.Ints]
		fns   = typed.Fns[int32, int32, typed.Ints, typed.Ints]
		set   = typed.Set[int32, typed.Ints]
		setsK = typed.Sets[int32, typed.Ints]
	)
	const n = 700_000
	fnShape := distsys.Shape[fn]{To: fns{}.Value, From: fns{}.Of}
	setShape := distsys.Shape[set]{To: setsK{}.Value, From: setsK{}.Of}
	even := typed.Collect[typed.Ints](typed.Interval(1, n), func(x int32) int32 { return 2 * x })
	f := fns{}.Value(typed.MakeFn[typed.Ints](even, func(x int32) int32 { return x }))
	q := numbersKind{}.Value(typed.MakeSeq[typed.Ints](n, func(x int32) int32 { return x }))
	for name, run := range map[string]func(distsys.Ref, *distsys.Tx) error{
		"put": func(x distsys.Ref, tx *distsys.Tx) error {
			return distsys.Write(tx, x, distsys.Int(), 7, value.Int(2+2*rand.Int32N(n)))
		},
		"put-new": func(x distsys.Ref, tx *distsys.Tx) error {
			f, err := distsys.Read(tx, x, fnShape)
			if err != nil || f.Len() > 999_990 {
				return err
			}
			return distsys.Write(tx, x, fnShape, f.Put(2*rand.Int32N(n)+1, 7))
		},
		"add": func(x distsys.Ref, tx *distsys.Tx) error {
			s, err := distsys.Read(tx, x, setShape)
			if err != nil || s.Size() > 999_990 {
				return err
			}
			return distsys.Write(tx, x, setShape, s.Add(2*rand.Int32N(n)+1))
		},
		"remove": func(x distsys.Ref, tx *distsys.Tx) error {
			s, err := distsys.Read(tx, x, setShape)
			if err != nil {
				return err
			}
			return distsys.Write(tx, x, setShape, s.Remove(2+2*rand.Int32N(n)))
		},
		"append": func(x distsys.Ref, tx *distsys.Tx) error {
			q, err := distsys.Read(tx, x, numbersShape)
			if err != nil {
				return err
			}
			return distsys.Write(tx, x, numbersShape, q.Append(7))
		},
	} {
		b.Run(name, func(b *testing.B) {
			first := map[string]value.Value{"append": q, "add": setsK{}.Value(even), "remove": setsK{}.Value(even)}
			v, ok := first[name]
			if !ok {
				v = f
			}
			x := distsys.NewRef("x", local.NewShared(v))
			warm := instance(b, archetype(func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
				if ok {
					return distsys.Done, run(x, tx)
				}
				_, err := distsys.Read(tx, x, fnShape)
				return distsys.Done, err
			}), 0, distsys.Options{})
			if err := warm.Run(context.Background()); err != nil {
				b.Fatal(err)
			}
			before := processorTime(b)
			runBenchmark(b, 0, func(_ *int, tx *distsys.Tx) (distsys.Label, error) { return 0, run(x, tx) })
			b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// processorTime is what the process has used so far. A busy machine stretches
// it less than the time on the clock.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestAppendsAreLinear counts the bytes that appends take, attempts that are
// given up included: the last thousand of sixteen thousand take little more
// than the first.
func TestAppendsAreLinear(t *testing.T) {
	for name, run := range logs() {
		in := instance(t, archetype(run), 0, distsys.Options{})
		thousand := func(to int32) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for in.State() < to {
				if in.Step() == distsys.Finished {
					t.Fatal(in.Err())
				}
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		thousand(1000)
		early := thousand(2000)
		thousand(15_000)
		if late := thousand(16_000); late > 2*early+100_000 {
			t.Errorf("%s: a thousand appends take %d bytes at length 1000, %d at 15000", name, early, late)
		}
	}
}
