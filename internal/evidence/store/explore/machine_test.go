// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store"
	"pgregory.net/rapid"
)

// machine is a store and a map with the same operations, with snapshots and iterators of
// both. Unlike those of the workloads, its keys and values are any bytes, also empty
// ones, and ranges and iterators have any bounds.
type machine struct {
	disk *Disk
	db   *store.DB
	o    store.Options
	m    map[string]string
	old  []frozenMap
	its  []*iterator
}

type frozenMap struct {
	s *store.Snapshot
	m map[string]string
}

type iterator struct {
	it     *store.Iterator
	keys   []string
	m      map[string]string
	at     int
	placed bool
}

func (m *machine) open(t *rapid.T) {
	db, err := store.Open(env.Env{Clock: still{}, Random: env.Seeded(m.disk.number()), Disk: m.disk, Tracer: env.NoTrace{}}, "m", m.o)
	if err != nil {
		t.Fatal(err)
	}
	m.db = db
}

func (m *machine) shut(t *rapid.T) {
	for _, i := range m.its {
		if err := i.it.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range m.old {
		f.s.Close()
	}
	m.its, m.old = nil, nil
	if err := m.db.Close(); err != nil {
		t.Fatal(err)
	}
	if m.disk.handles != 0 {
		t.Fatalf("%d files are open after Close", m.disk.handles)
	}
}

func aKey() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		if rapid.Bool().Draw(t, "short") {
			return rapid.SliceOfN(rapid.SampledFrom([]byte("ab\x00\xff")), 0, 3).Draw(t, "key")
		}
		return append([]byte("common/beginning/"), rapid.SliceOfN(rapid.SampledFrom([]byte("abc")), 0, 3).Draw(t, "key")...)
	})
}

func aValue() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		b := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "value")
		if rapid.IntRange(0, 3).Draw(t, "long") == 0 {
			b = bytes.Repeat(append(b, 1), rapid.IntRange(1, 900).Draw(t, "times"))
		}
		return b
	})
}

func must(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// change draws a change and makes it in the map.
func (m *machine) change(t *rapid.T, put func(k, v []byte), del func(k []byte), rng func(lo, hi []byte), mrg func(k, v []byte)) {
	k := aKey().Draw(t, "k")
	switch rapid.SampledFrom([]string{"put", "put", "put", "delete", "range", "merge"}).Draw(t, "what") {
	case "put":
		v := aValue().Draw(t, "v")
		m.m[string(k)] = string(v)
		put(k, v)
	case "delete":
		delete(m.m, string(k))
		del(k)
	case "range":
		lo, hi := k, append(aKey().Draw(t, "hi"), 'x')
		if bytes.Compare(lo, hi) > 0 {
			lo, hi = hi, lo
		}
		if len(hi) == 0 {
			return
		}
		maps.DeleteFunc(m.m, func(x, _ string) bool { return string(lo) <= x && x < string(hi) })
		rng(lo, hi)
	case "merge":
		v := aValue().Draw(t, "v")
		m.m[string(k)] += string(v)
		mrg(k, v)
	}
}

func (m *machine) One(t *rapid.T) {
	m.change(t,
		func(k, v []byte) { must(t, m.db.Put(k, v)) }, func(k []byte) { must(t, m.db.Delete(k)) },
		func(lo, hi []byte) { must(t, m.db.DeleteRange(lo, hi)) }, func(k, v []byte) { must(t, m.db.Merge(k, v)) })
}

func (m *machine) Many(t *rapid.T) {
	b := m.db.NewBatch()
	for range rapid.IntRange(0, 5).Draw(t, "n") {
		m.change(t, b.Put, b.Delete, b.DeleteRange, b.Merge)
	}
	must(t, m.db.Commit(b, store.Write(rapid.IntRange(0, 1).Draw(t, "sync"))))
}

// Fill writes so much that memtables and partitions overflow.
func (m *machine) Fill(t *rapid.T) {
	n := rapid.IntRange(1, 40).Draw(t, "n")
	for i := range n {
		k := []byte("fill/" + string(rune('a'+i*7%26)) + string(rune('a'+i%26)))
		v := value(i, 1000, rapid.Uint64().Draw(t, "fill"))
		m.m[string(k)] = string(v)
		must(t, m.db.Put(k, v))
	}
}

func (m *machine) Flush(t *rapid.T)   { must(t, m.db.Flush()) }
func (m *machine) Sync(t *rapid.T)    { must(t, m.db.Sync()) }
func (m *machine) Wait(t *rapid.T)    { must(t, m.db.Wait()) }
func (m *machine) Compact(t *rapid.T) { must(t, m.db.Compact(nil, nil)) }

func (m *machine) Reopen(t *rapid.T) {
	m.shut(t)
	m.open(t)
}

func (m *machine) Snapshot(t *rapid.T) {
	if len(m.old) < 4 {
		m.old = append(m.old, frozenMap{m.db.Snapshot(), maps.Clone(m.m)})
		return
	}
	m.old[0].s.Close()
	m.old = m.old[1:]
}

func check(t *rapid.T, what string, get func(k, dst []byte) ([]byte, error), m map[string]string, k []byte) {
	got, err := get(k, []byte("dst"))
	want, ok := m[string(k)]
	switch {
	case !ok && !errors.Is(err, store.ErrNotFound):
		t.Fatalf("%s.Get(%q): %d bytes, %v; want ErrNotFound", what, k, len(got), err)
	case ok && (err != nil || string(got) != "dst"+want):
		t.Fatalf("%s.Get(%q): %.40q (%d bytes), %v; want %.40q (%d bytes) after dst", what, k, got, len(got), err, want, len(want))
	}
}

func (m *machine) Get(t *rapid.T) {
	k := aKey().Draw(t, "k")
	check(t, "DB", m.db.Get, m.m, k)
	for _, f := range m.old {
		check(t, "Snapshot", f.s.Get, f.m, k)
	}
}

// Iter makes an iterator of the store or of a snapshot.
func (m *machine) Iter(t *rapid.T) {
	if len(m.its) >= 3 {
		must(t, m.its[0].it.Close())
		m.its = m.its[1:]
		return
	}
	var lo, hi []byte
	if rapid.Bool().Draw(t, "bounded") {
		lo, hi = aKey().Draw(t, "lo"), append(aKey().Draw(t, "hi"), 'b')
		if bytes.Compare(lo, hi) > 0 {
			lo, hi = hi, lo
		}
		if rapid.Bool().Draw(t, "open") {
			hi = nil
		}
	}
	from, make := m.m, m.db.Iter
	if n := len(m.old); n > 0 && rapid.Bool().Draw(t, "snapshot") {
		f := m.old[rapid.IntRange(0, n-1).Draw(t, "which")]
		from, make = f.m, f.s.Iter
	}
	it, err := make(lo, hi)
	must(t, err)
	i := &iterator{it: it, m: maps.Clone(from)}
	for k := range from {
		if k >= string(lo) && (hi == nil || k < string(hi)) {
			i.keys = append(i.keys, k)
		}
	}
	slices.Sort(i.keys)
	m.its = append(m.its, i)
}

// Move moves iterators, each pair in the same way.
func (m *machine) Move(t *rapid.T) {
	move := rapid.SampledFrom([]string{"First", "Last", "Next", "Next", "Prev", "Prev", "SeekGE", "SeekLT"}).Draw(t, "move")
	k := aKey().Draw(t, "k")
	for range rapid.IntRange(1, 5).Draw(t, "times") {
		for n, i := range m.its {
			i.move(t, n, move, k)
		}
	}
}

func (i *iterator) move(t *rapid.T, n int, move string, k []byte) {
	var ok bool
	switch move {
	case "First":
		i.at, ok = 0, i.it.First()
	case "Last":
		i.at, ok = len(i.keys)-1, i.it.Last()
	case "SeekGE":
		i.at, _ = slices.BinarySearch(i.keys, string(k))
		ok = i.it.SeekGE(k)
	case "SeekLT":
		i.at, _ = slices.BinarySearch(i.keys, string(k))
		i.at--
		ok = i.it.SeekLT(k)
	default:
		if !i.placed {
			return // only from a place
		}
		if move == "Next" {
			i.at, ok = i.at+1, i.it.Next()
		} else {
			i.at, ok = i.at-1, i.it.Prev()
		}
	}
	i.placed = i.at >= 0 && i.at < len(i.keys)
	switch {
	case i.it.Err() != nil:
		t.Fatal(i.it.Err())
	case ok != i.placed:
		t.Fatalf("iterator %d: %s answers %v at %d of %d", n, move, ok, i.at, len(i.keys))
	case ok && (string(i.it.Key()) != i.keys[i.at] || string(i.it.Value()) != i.m[i.keys[i.at]]):
		t.Fatalf("iterator %d: %s comes to %q, want %q: or the value is wrong: %d bytes, want %d", n, move, i.it.Key(), i.keys[i.at], len(i.it.Value()), len(i.m[i.keys[i.at]]))
	}
}

// Check reads everything.
func (m *machine) Check(t *rapid.T) {
	it, err := m.db.Iter(nil, nil)
	must(t, err)
	i := &iterator{it: it, m: m.m, keys: slices.Sorted(maps.Keys(m.m))}
	i.move(t, -1, "First", nil)
	for i.placed {
		i.move(t, -1, "Next", nil)
	}
	must(t, it.Close())
}

// TestTheStoreIsAMap is a state machine test: the store and a map give the same results.
func TestTheStoreIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := env.Seeded(rapid.Uint64().Draw(t, "options"))
		m := &machine{disk: NewDisk(), o: randomEngine(r).Options, m: map[string]string{}}
		m.o.Memory, m.o.Merger = engineMemory, Concat{}
		m.open(t)
		t.Repeat(map[string]func(*rapid.T){
			"One": m.One, "Many": m.Many, "Fill": m.Fill, "Flush": m.Flush, "Sync": m.Sync, "Wait": m.Wait,
			"Compact": m.Compact, "Reopen": m.Reopen, "Snapshot": m.Snapshot, "Get": m.Get, "Get again": m.Get,
			"Iter": m.Iter, "Move": m.Move, "Move again": m.Move, "": m.Check,
		})
		m.shut(t)
	})
}
