package distsys_test

import (
	"context"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
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

// BenchmarkShared reads and writes a shared variable that nobody else uses.
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
