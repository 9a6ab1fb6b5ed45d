// SPDX-License-Identifier: Apache-2.0

package memtable_test

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// scarce is a table with a pool that the test can run dry.
type scarce struct {
	*memtable.Table
	t    *testing.T
	pool *slab.Pool
	held [][]byte
	seq  message.Seq
}

func newScarce(t *testing.T) *scarce {
	x := &scarce{t: t, pool: slab.New(256 << 10)}
	arena, _ := x.pool.Alloc(128 << 10)
	var ok bool
	if x.Table, ok = memtable.New(arena, x.pool, base); !ok {
		t.Fatal("no table")
	}
	t.Cleanup(func() {
		x.Close()
		x.free(len(x.held))
		x.pool.Free(arena)
		x.pool.Close()
	})
	return x
}

// drain takes all there is in pieces of n bytes.
func (x *scarce) drain(n int) {
	for {
		b, ok := x.pool.Alloc(n)
		if !ok {
			return
		}
		x.held = append(x.held, b)
	}
}

// free frees the n pieces that were allocated last.
func (x *scarce) free(n int) {
	for range n {
		x.pool.Free(x.held[len(x.held)-1])
		x.held = x.held[:len(x.held)-1]
	}
}

func (x *scarce) add(n int) {
	x.t.Helper()
	for range n {
		x.seq++
		mustAppend(x.t, x.Table, put(fmt.Sprintf("%04d", uint64(x.seq)*7919%10000), "", x.seq))
	}
}

func (x *scarce) checkView() {
	x.t.Helper()
	v := view(x.t, x.Table)
	defer v.Release()
	if got := len(walk(x.t, v)); got != x.Len() {
		x.t.Errorf("%d messages in the view, want %d", got, x.Len())
	}
}

func TestNoMemoryForATable(t *testing.T) {
	if _, ok := memtable.New(make([]byte, base), slab.New(64), base); ok {
		t.Error("an index out of nothing")
	}
}

func TestNoMemoryForTheIndex(t *testing.T) {
	x := newScarce(t)
	x.drain(64)
	key := func(i message.Seq) []byte { return fmt.Appendf(nil, "%05d", i) }
	for x.Fits(5, 0) && x.Append(message.Message{Key: key(x.seq), Seq: x.seq + 1, Kind: message.Put}) {
		x.seq++
	}
	if want := message.Seq(512 / 16 * 15); x.seq != want {
		t.Errorf("%d messages before the index was full, want %d", x.seq, want)
	}
	if x.Reserve(1, 8) {
		t.Error("a reservation in a full index")
	}
	for i := range x.seq {
		if x.Find(key(i), message.MaxSeq) == memtable.None || x.Find(key(i+10000), message.MaxSeq) != memtable.None {
			t.Fatalf("find in a crowded index is wrong at %d", i)
		}
	}
	x.free(len(x.held))
	if !x.Reserve(1000, 8000) {
		t.Error("no room, though the pool has memory again")
	}
	x.add(100)
	x.checkView()
}

// TestNoMemoryForRangeDeletes: they need none, only looking for them is slower.
func TestNoMemoryForRangeDeletes(t *testing.T) {
	x := newScarce(t)
	x.drain(2048)
	key := func(i int) []byte { return fmt.Appendf(nil, "z%04d", i) }
	const n = 300
	for i := range n {
		if !x.Append(message.Message{Key: key(i), Value: []byte("z9"), Seq: message.Seq(i + 1), Kind: message.RangeDelete}) {
			t.Fatal("no room for a range delete")
		}
		if i == 50 { // the list catches up, and falls behind again
			x.free(2)
		}
		for _, k := range []int{0, i / 2, i} {
			if c := x.Covering(key(k), message.Seq(i+1)); c != message.Seq(k+1) {
				t.Errorf("%d covered by %d, want %d", k, c, k+1)
			}
			if c := x.Covering([]byte("z8"), message.Seq(k+1)); c != message.Seq(k+1) {
				t.Errorf("covered at %d by %d", k+1, c)
			}
		}
		if c := x.Covering([]byte("a"), message.MaxSeq); c != 0 {
			t.Errorf("covered by %d", c)
		}
	}
	if got := len(x.Tombstones(n)); got != n || x.RangeDeletes() != n {
		t.Errorf("%d and %d range deletes, want %d", got, x.RangeDeletes(), n)
	}
}

// TestNoMemoryForMerging leaves runs as they are, until they are too many.
func TestNoMemoryForMerging(t *testing.T) {
	x := newScarce(t)
	x.add(100)
	x.checkView()
	x.drain(4096)
	x.free(1)
	x.drain(64)
	for range 15 {
		x.free(1)
		x.add(1)
		x.checkView()
	}
	x.free(1)
	x.add(1)
	used := x.pool.Used()
	for range 2 {
		if _, ok := x.View(); ok {
			t.Error("a view of more runs than there may be")
		}
	}
	if x.pool.Used() != used {
		t.Error("a refused view keeps memory")
	}
	x.free(len(x.held))
	x.checkView()
}

func TestNoMemoryForSorting(t *testing.T) {
	x := newScarce(t)
	x.add(60)
	x.drain(4096)
	x.free(1)
	x.drain(1024)
	x.free(1)
	for range 3 { // a piece for the run, none for the scratch
		if _, ok := x.View(); ok {
			t.Error("sorted without room")
		}
	}
	x.free(1)
	x.checkView()
}

func TestMisuseIsOurBug(t *testing.T) {
	for _, c := range []struct {
		name, want string
		do         func(m *memtable.Table)
	}{
		{"number again", "invariant: memtable: number 7 after 7, a key of 1 bytes, a value of 0, put",
			func(m *memtable.Table) { m.Append(put("a", "", 7)) }},
		{"no kind", "invariant: memtable: number 8 after 7, a key of 0 bytes, a value of 0, unknown kind",
			func(m *memtable.Table) { m.Append(message.Message{Seq: 8}) }},
		{"long key", "invariant: memtable: number 8 after 7, a key of 65536 bytes, a value of 0, put",
			func(m *memtable.Table) { m.Append(put(string(make([]byte, 1<<16)), "", 8)) }},
		{"skip back", "invariant: memtable: skip from 4192 to 4160", func(m *memtable.Table) { m.Skip(base) }},
		{"skip to an odd place", "invariant: memtable: skip from 4192 to 4196", func(m *memtable.Table) { m.Skip(4196) }},
		{"base 0", "invariant: memtable: base 0 of 4096 bytes",
			func(m *memtable.Table) { memtable.New(make([]byte, 4096), slab.New(1<<20), 0) }},
		{"next nowhere", "invariant: memtable: Next on an iterator that is not at a message", func(m *memtable.Table) {
			it := view(t, m).Iter()
			it.Next()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}()
			pool := slab.New(1 << 20)
			m, _ := memtable.New(make([]byte, 16<<10), pool, base)
			mustAppend(t, m, put("z", "", 7))
			c.do(m)
		})
	}
}
