// SPDX-License-Identifier: Apache-2.0

package memtable_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

const base = 4096 + 64

// table returns a table with an arena of that many bytes, and ends it with the
// test; the pool then asserts that all was freed.
func table(t testing.TB, arenaBytes int) *memtable.Table {
	t.Helper()
	pool := slab.New(int64(arenaBytes)*3 + 1<<20)
	arena, ok := pool.Alloc(arenaBytes)
	if !ok {
		t.Fatal("no arena")
	}
	m, ok := memtable.New(arena, pool, base)
	if !ok {
		t.Fatal("no table")
	}
	t.Cleanup(func() {
		m.Close()
		pool.Free(arena)
		pool.Close()
	})
	return m
}

func put(key, value string, seq message.Seq) message.Message {
	return message.Message{Key: []byte(key), Value: []byte(value), Seq: seq, Kind: message.Put}
}

func mustAppend(t testing.TB, m *memtable.Table, ms ...message.Message) {
	t.Helper()
	for _, x := range ms {
		if !m.Append(x) {
			t.Fatalf("no room for %s", show(x))
		}
	}
}

func show(m message.Message) string {
	return fmt.Sprintf("%q %d %v %q", m.Key, m.Seq, m.Kind, m.Value)
}

// walk lists a view in order.
func walk(t testing.TB, v *memtable.View) []string {
	t.Helper()
	it := v.Iter()
	defer it.Close()
	var out []string
	for ok := it.First(); ok; ok = it.Next() {
		out = append(out, show(it.Message()))
	}
	if it.Err() != nil {
		t.Error(it.Err())
	}
	return out
}

func view(t testing.TB, m *memtable.Table) *memtable.View {
	t.Helper()
	v, ok := m.View()
	if !ok {
		t.Fatal("no memory for a view")
	}
	return v
}

func diff(t testing.TB, what string, got, want []string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%s: got\n%s\nwant\n%s", what, g, w)
	}
}

// TestTheEntryIsTheJournalsPayload pins the bytes: they are on disk.
func TestTheEntryIsTheJournalsPayload(t *testing.T) {
	m := table(t, 16<<10)
	mustAppend(t, m,
		put("key", "value", 0x0102030405),
		message.Message{Key: []byte("key"), Seq: 0x0102030406, Kind: message.Delete},
		message.Message{Key: []byte("a"), Value: []byte("z"), Seq: message.MaxSeq, Kind: message.RangeDelete})
	want := "00000000" + "05000000" + "0205040302010000" + "0300" + "1aa5" + "00000000" + "6b657976616c7565" +
		"40100000" + "00000000" + "0106040302010000" + "0300" + "1aa5" + "00000000" + "6b65790000000000" +
		"00000000" + "01000000" + "05ffffffffffffff" + "0100" + "1aa5" + "00000000" + "617a000000000000"
	if got := hex.EncodeToString(m.Bytes(base, m.Pos())); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEntrySize(t *testing.T) {
	for _, c := range []struct{ key, value, want int }{
		{0, 0, 24}, {1, 0, 32}, {3, 5, 32}, {4, 5, 40}, {24, 512, 560}, {65535, 1 << 30, 65560 + 1<<30},
	} {
		if got := memtable.EntrySize(c.key, c.value); got != c.want {
			t.Errorf("EntrySize(%d, %d) = %d, want %d", c.key, c.value, got, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	m := table(t, 64<<10)
	mustAppend(t, m,
		put("a", "1", 10),
		put("b", "2", 11),
		put("a", "3", 12),
		message.Message{Key: []byte("a"), Value: []byte("c"), Seq: 13, Kind: message.RangeDelete},
		message.Message{Key: []byte("a"), Seq: 14, Kind: message.Delete},
		put("", "empty", 15),
		message.Message{Key: []byte("a"), Value: []byte("+1"), Seq: 20, Kind: message.Merge})
	for _, c := range []struct {
		key  string
		at   message.Seq
		want string
	}{
		{"a", 9, "none"},
		{"a", 10, `"a" 10 put "1"`},
		{"a", 11, `"a" 10 put "1"`},
		{"a", 13, `"a" 12 put "3"`},
		{"a", 19, `"a" 14 delete ""`},
		{"a", message.MaxSeq, `"a" 20 merge "+1"`},
		{"b", message.MaxSeq, `"b" 11 put "2"`},
		{"c", message.MaxSeq, "none"},
		{"", 14, "none"},
		{"", 15, `"" 15 put "empty"`},
		{"\x00", message.MaxSeq, "none"},
	} {
		got := "none"
		if p := m.Find([]byte(c.key), c.at); p != memtable.None {
			got = show(m.At(p))
		}
		if got != c.want {
			t.Errorf("find %q at %d: got %s, want %s", c.key, c.at, got, c.want)
		}
	}
	var chain []string
	for p := m.Find([]byte("a"), 99); p != memtable.None; p = m.Older(p) {
		chain = append(chain, show(m.At(p)))
	}
	diff(t, "versions", chain, []string{`"a" 20 merge "+1"`, `"a" 14 delete ""`, `"a" 12 put "3"`, `"a" 10 put "1"`})
	got := fmt.Sprint(m.Len(), m.MinSeq(), m.MaxSeq(), m.Deletes(), m.RangeDeletes())
	if want := "7 10 20 1 1"; got != want {
		t.Errorf("counts %s, want %s", got, want)
	}
}

func TestRangeDeletes(t *testing.T) {
	m := table(t, 64<<10)
	del := func(lo, hi string, seq message.Seq) message.Message {
		return message.Message{Key: []byte(lo), Value: []byte(hi), Seq: seq, Kind: message.RangeDelete}
	}
	if m.Covering([]byte("a"), 99) != 0 || m.Tombstones(99) != nil {
		t.Error("an empty table covers something")
	}
	mustAppend(t, m,
		del("common prefix b", "common prefix d", 5),
		put("common prefix c", "x", 6),
		del("common prefix c", "common prefix e", 7),
		del("z", "a", 8), // covers nothing
		del("", "\xff", 9))
	for _, c := range []struct {
		key      string
		at, want message.Seq
	}{
		{"common prefix c", 4, 0},
		{"common prefix c", 5, 5},
		{"common prefix c", 6, 5},
		{"common prefix c", 7, 7},
		{"common prefix c", 8, 7},
		{"common prefix c", 9, 9},
		{"common prefix a", 8, 0},
		{"common prefix b", 8, 5},
		{"common prefix d", 8, 7},
		{"common prefix d", 6, 0},
		{"common prefix e", 8, 0},
		{"common prefix bb", 8, 5},
		{"", 9, 9},
		{"\xfe\xff\xff\xff\xff\xff\xff\xff\xff", 9, 9},
		{"\xff", 9, 0},
		{"\xff\x00", 9, 0},
	} {
		if got := m.Covering([]byte(c.key), c.at); got != c.want {
			t.Errorf("covering %q at %d: got %d, want %d", c.key, c.at, got, c.want)
		}
	}
	var got []string
	for _, s := range m.Tombstones(8) {
		got = append(got, fmt.Sprintf("%q %q %d", s.Lo, s.Hi, s.Seq))
	}
	diff(t, "tombstones", got, []string{
		`"common prefix b" "common prefix d" 5`, `"common prefix c" "common prefix e" 7`, `"z" "a" 8`})
	if m.Tombstones(4) != nil {
		t.Error("tombstones before the first")
	}
	v := view(t, m)
	defer v.Release()
	diff(t, "view", walk(t, v), []string{
		`"" 9 range delete "\xff"`,
		`"common prefix b" 5 range delete "common prefix d"`,
		`"common prefix c" 7 range delete "common prefix e"`,
		`"common prefix c" 6 put "x"`,
		`"z" 8 range delete "a"`})
}

func TestFull(t *testing.T) {
	const arenaBytes = 8 << 10
	m := table(t, arenaBytes)
	value := strings.Repeat("v", 1000)
	seq := message.Seq(0)
	for m.Fits(4, 1000) {
		seq++
		mustAppend(t, m, put(fmt.Sprintf("%04d", seq), value, seq))
	}
	if want := message.Seq((arenaBytes - base) / 1032); seq != want {
		t.Errorf("%d messages, want %d", seq, want)
	}
	pos, n := m.Pos(), m.Len()
	if m.Append(put("last", value, seq+1)) || m.Reserve(1, 1032) || m.Skip(arenaBytes+8) {
		t.Error("room in a full table")
	}
	if m.Pos() != pos || m.Len() != n || m.MaxSeq() != seq || m.Find([]byte("last"), seq+1) != memtable.None {
		t.Error("a refused message left a trace")
	}
	rest := arenaBytes - pos - 24
	mustAppend(t, m, put("fits", value[:rest-4], seq+1))
	if m.Pos() != arenaBytes || m.Fits(0, 0) {
		t.Errorf("%d of %d bytes, and room for more", m.Pos(), arenaBytes)
	}
}

// TestSkip leaves holes as the frames of the journal do, fills them as Seal
// does, and reads over them.
func TestSkip(t *testing.T) {
	m := table(t, 64<<10)
	var want []string
	for i := range message.Seq(20) {
		x := put(fmt.Sprintf("key %02d", i), "v", i+1)
		mustAppend(t, m, x)
		want = append(want, show(x))
		if i%3 == 0 {
			end := (m.Pos() + 511) &^ 511
			if !m.Skip(end) || !m.Skip(end+64) || m.Pos() != end+64 {
				t.Fatal("no skip")
			}
			header := m.Bytes(end, end+64)
			if len(bytes.Trim(header, "\x00")) > 0 {
				t.Error("skipped bytes are not zero")
			}
			for k := range header {
				header[k] = 0xA5
			}
		}
		if i%7 == 0 {
			v := view(t, m)
			diff(t, "view", walk(t, v), want)
			v.Release()
		}
	}
	v := view(t, m)
	defer v.Release()
	diff(t, "view", walk(t, v), want)
}

func TestViewsStayAsTheyAre(t *testing.T) {
	m := table(t, 256<<10)
	type taken struct {
		v    *memtable.View
		want []string
	}
	var views []taken
	model := model{}
	empty := view(t, m)
	for i := range message.Seq(1000) {
		x := put(fmt.Sprintf("key %03d", (i*7919)%500), fmt.Sprint(i), i+1)
		mustAppend(t, m, x)
		model.add(x)
		if i%37 == 0 {
			views = append(views, taken{view(t, m), model.list()})
		}
	}
	for _, x := range views {
		diff(t, "a view taken earlier", walk(t, x.v), x.want)
		if x.v.Len() != len(x.want) {
			t.Errorf("length %d, want %d", x.v.Len(), len(x.want))
		}
	}
	a, b := view(t, m), view(t, m)
	if a != b {
		t.Error("nothing was added, and the view is another")
	}
	it := a.Iter()
	a.Release()
	b.Release()
	if !it.Last() || show(it.Message()) != `"key 499" 322 put "321"` {
		t.Errorf("an iterator does not hold its view: %s", show(it.Message()))
	}
	it.Close()
	diff(t, "the empty view", walk(t, empty), nil)
	it = empty.Iter()
	if it.First() || it.Last() || it.SeekGE(nil) || it.SeekLT([]byte("x")) {
		t.Error("an empty view has a message")
	}
	it.Close()
	empty.Release()
	for _, x := range views {
		x.v.Release()
	}
}

// TestKeysThatShareMuch sorts keys that the prefixes hardly distinguish.
func TestKeysThatShareMuch(t *testing.T) {
	long := strings.Repeat("x", 300)
	for name, key := range map[string]func(i int) string{
		"one key":           func(int) string { return "the same key" },
		"one long key":      func(int) string { return long },
		"zeros of length":   func(i int) string { return strings.Repeat("\x00", i%40) },
		"x of length":       func(i int) string { return long[:(i*31)%300] },
		"deep difference":   func(i int) string { return long[:100] + fmt.Sprintf("%03d", (i*7)%1000) + long[:50] },
		"groups":            func(i int) string { return fmt.Sprintf("g%07d", i%5) + long[:20] + fmt.Sprint((i*13)%700) },
		"zeros behind":      func(i int) string { return "key" + strings.Repeat("\x00", i%23) + string(long[:i%2]) },
		"bytes of all kind": func(i int) string { return string([]byte{byte(i * 37), byte(i >> 8), byte(i * 3)}) },
	} {
		t.Run(name, func(t *testing.T) {
			m := table(t, 1<<20)
			model := model{}
			for i := range 1500 {
				x := put(key(i), "", message.Seq(i+1))
				mustAppend(t, m, x)
				model.add(x)
				if i%400 == 399 {
					v := view(t, m)
					diff(t, "view", walk(t, v), model.list())
					v.Release()
				}
			}
			v := view(t, m)
			defer v.Release()
			diff(t, "view", walk(t, v), model.list())
			it := v.Iter()
			defer it.Close()
			for i := range 1500 {
				model.checkSeeks(t, it, []byte(key(i)))
				model.checkSeeks(t, it, append([]byte(key(i)), 0))
			}
		})
	}
}
