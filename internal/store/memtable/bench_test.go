// SPDX-License-Identifier: Apache-2.0

package memtable_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

const (
	benchArena = 64 << 20
	benchValue = 512
)

// benchKeys are keys of 24 bytes in the order of a load: at random.
func benchKeys(n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "user%020d", r.Uint64())
	}
	return keys
}

// full returns a full table of 64 MiB and its keys.
func full(b *testing.B) (*memtable.Table, [][]byte) {
	m := table(b, benchArena)
	keys := benchKeys((benchArena - base) / memtable.EntrySize(24, benchValue))
	value := make([]byte, benchValue)
	for i, k := range keys {
		mustAppend(b, m, message.Message{Key: k, Value: value, Seq: message.Seq(i + 1), Kind: message.Put})
	}
	return m, keys
}

func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name  string
		value int
	}{{"512", 512}, {"100", 100}, {"8", 8}} {
		b.Run(c.name, func(b *testing.B) {
			pool := slab.New(4 * benchArena)
			keys := benchKeys((benchArena - base) / memtable.EntrySize(24, c.value))
			value := make([]byte, c.value)
			var m *memtable.Table
			var arena []byte
			end := func() {
				if m != nil {
					m.Close()
					pool.Free(arena)
				}
			}
			i := len(keys)
			b.ReportAllocs()
			for b.Loop() {
				if i == len(keys) {
					end()
					arena, _ = pool.Alloc(benchArena)
					m, _ = memtable.New(arena, pool, base)
					i = 0
				}
				mustAppend(b, m, message.Message{Key: keys[i], Value: value, Seq: message.Seq(i + 1), Kind: message.Put})
				i++
			}
			end()
			pool.Close()
		})
	}
}

func BenchmarkFind(b *testing.B) {
	m, keys := full(b)
	absent := benchKeys(2 * len(keys))[len(keys):]
	// In the order of the arena the processor would have read ahead.
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, c := range []struct {
		name string
		keys [][]byte
		hit  bool
	}{
		{"hit/hot", keys[:500], true},
		{"hit/cold", keys, true},
		{"miss/hot", absent[:500], false},
		{"miss/cold", absent, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if (m.Find(c.keys[i], message.MaxSeq) != memtable.None) != c.hit {
					b.Fatal("found wrong")
				}
				if i++; i == len(c.keys) {
					i = 0
				}
			}
		})
	}
}

// BenchmarkSort is the first view of a full table.
func BenchmarkSort(b *testing.B) {
	pool := slab.New(2 * benchArena)
	arena, _ := pool.Alloc(benchArena)
	from, _ := full(b)
	copy(arena, from.Bytes(0, from.Pos()))
	for b.Loop() {
		b.StopTimer()
		m, _ := memtable.New(arena, pool, base)
		if err := m.Load(base, from.Pos(), nil); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		v := view(b, m)
		b.StopTimer()
		v.Release()
		m.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(from.Len()), "ns/message")
	pool.Free(arena)
	pool.Close()
}

// BenchmarkWalk reads a full table in order, as the writer of a branch does.
func BenchmarkWalk(b *testing.B) {
	m, _ := full(b)
	v := view(b, m)
	defer v.Release()
	sum := 0
	for b.Loop() {
		it := v.Iter()
		for ok := it.First(); ok; ok = it.Next() {
			x := it.Message()
			sum += int(x.Key[0]) + int(x.Value[0]) + int(x.Value[len(x.Value)-1])
		}
		it.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(m.Len()), "ns/message")
}

// BenchmarkView takes a view after so many appends, of a table that is on the
// average half full; the time is for all of them and the view.
func BenchmarkView(b *testing.B) {
	keys := benchKeys(1 << 17)
	for _, every := range []int{1, 50} {
		b.Run(fmt.Sprintf("every%d", every), func(b *testing.B) {
			pool := slab.New(2 * benchArena)
			var m *memtable.Table
			var arena []byte
			end := func() {
				if m != nil {
					m.Close()
					pool.Free(arena)
				}
			}
			i := len(keys)
			b.ReportAllocs()
			for b.Loop() {
				for range every {
					if i == len(keys) {
						end()
						arena, _ = pool.Alloc(benchArena)
						m, _ = memtable.New(arena, pool, base)
						i = 0
					}
					mustAppend(b, m, message.Message{Key: keys[i], Seq: message.Seq(i + 1), Kind: message.Put})
					i++
				}
				view(b, m).Release()
			}
			end()
			pool.Close()
		})
	}
}

// BenchmarkScan measures a short scan: a view, a seek, 50 steps.
func BenchmarkScan(b *testing.B) {
	for _, messages := range []int{0, 1, 50} { // appended before each
		b.Run(fmt.Sprintf("after%d", messages), func(b *testing.B) {
			m := table(b, benchArena)
			keys := benchKeys(1 << 19)
			i := 0
			add := func(n int) {
				for range n {
					if i < len(keys) && m.Fits(24, 8) {
						mustAppend(b, m, message.Message{Key: keys[i], Value: make([]byte, 8), Seq: message.Seq(i + 1), Kind: message.Put})
						i++
					}
				}
			}
			add(100000)
			view(b, m).Release()
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				add(messages)
				b.StartTimer()
				v := view(b, m)
				it := v.Iter()
				n++
				ok := it.SeekGE(keys[n%len(keys)])
				for range 50 {
					if !ok {
						break
					}
					_ = it.Message()
					ok = it.Next()
				}
				it.Close()
				v.Release()
			}
		})
	}
}
