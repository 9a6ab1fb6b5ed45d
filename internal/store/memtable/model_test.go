// SPDX-License-Identifier: Apache-2.0

package memtable_test

import (
	"bytes"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// model is the model of a memtable: a sorted list of messages.
type model struct{ sorted []message.Message }

func (d *model) add(m message.Message) {
	i := sort.Search(len(d.sorted), func(i int) bool { return message.Compare(d.sorted[i], m) > 0 })
	d.sorted = slices.Insert(d.sorted, i, m)
}

func (d *model) list() []string {
	var out []string
	for _, m := range d.sorted {
		out = append(out, show(m))
	}
	return out
}

func (d *model) find(key []byte, at message.Seq) string {
	for _, m := range d.sorted {
		if bytes.Equal(m.Key, key) && m.Seq <= at && m.Kind != message.RangeDelete {
			return show(m)
		}
	}
	return "none"
}

func (d *model) covering(key []byte, at message.Seq) message.Seq {
	newest := message.Seq(0)
	for _, m := range d.sorted {
		if m.Kind == message.RangeDelete && m.Seq <= at && bytes.Compare(m.Key, key) <= 0 && bytes.Compare(key, m.Value) < 0 {
			newest = max(newest, m.Seq)
		}
	}
	return newest
}

// at is the answer of a move to message i.
func (d *model) at(i int) string {
	if i < 0 || i >= len(d.sorted) {
		return "end"
	}
	return show(d.sorted[i])
}

// seek returns the number of messages with keys below key.
func (d *model) seek(key []byte) int {
	return sort.Search(len(d.sorted), func(i int) bool { return bytes.Compare(d.sorted[i].Key, key) >= 0 })
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func (d *model) checkSeeks(t fataler, it message.Iter, key []byte) {
	t.Helper()
	i := d.seek(key)
	if got, want := moved(it, it.SeekGE(key)), d.at(i); got != want {
		t.Fatalf("SeekGE(%q): got %s, want %s", key, got, want)
	}
	if got, want := moved(it, it.SeekLT(key)), d.at(i-1); got != want {
		t.Fatalf("SeekLT(%q): got %s, want %s", key, got, want)
	}
}

func moved(it message.Iter, ok bool) string {
	if !ok {
		return "end"
	}
	return show(it.Message())
}

// machine runs a table beside the model.
type machine struct {
	pool  *slab.Pool
	arena []byte
	table *memtable.Table
	model model
	seq   message.Seq
	views []taken
	key   *rapid.Generator[[]byte]
}

// taken is a view and the messages that it must always show.
type taken struct {
	view  *memtable.View
	model model
}

func newMachine(t *rapid.T) *machine {
	x := &machine{pool: slab.New(4 << 20)}
	x.arena, _ = x.pool.Alloc(rapid.SampledFrom([]int{8 << 10, 16 << 10, 256 << 10}).Draw(t, "arena"))
	var ok bool
	if x.table, ok = memtable.New(x.arena, x.pool, base); !ok {
		t.Fatal("no table")
	}
	few := rapid.Custom(func(t *rapid.T) []byte {
		return append([]byte("user"), rapid.SliceOfN(rapid.SampledFrom([]byte("\x00ab\xff")), 0, 3).Draw(t, "key")...)
	})
	x.key = rapid.OneOf(few, rapid.SliceOfN(rapid.Byte(), 0, 30), rapid.Custom(func(t *rapid.T) []byte {
		return append([]byte("user with much in common"), byte(rapid.IntRange(0, 255).Draw(t, "last")))
	}))
	return x
}

func (x *machine) append(t *rapid.T) {
	kind := rapid.SampledFrom([]message.Kind{message.Put, message.Put, message.Put, message.Merge, message.Delete, message.Blob, message.RangeDelete}).Draw(t, "kind")
	m := message.Message{Key: x.key.Draw(t, "key"), Kind: kind}
	switch kind {
	case message.RangeDelete:
		m.Value = x.key.Draw(t, "hi")
	case message.Delete:
	default:
		m.Value = rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "value")
	}
	x.seq += message.Seq(rapid.IntRange(1, 3).Draw(t, "step"))
	m.Seq = x.seq
	size := memtable.EntrySize(len(m.Key), len(m.Value))
	pos := x.table.Pos()
	fits := pos+size <= len(x.arena)
	if got := x.table.Fits(len(m.Key), len(m.Value)); got != fits {
		t.Fatalf("fits %v, want %v", got, fits)
	}
	if got := x.table.Append(m); got != fits {
		t.Fatalf("append %v, want %v", got, fits)
	}
	if fits {
		x.model.add(m)
		pos += size
	}
	if x.table.Pos() != pos {
		t.Fatalf("at %d, want %d", x.table.Pos(), pos)
	}
}

func (x *machine) skip(t *rapid.T) {
	to := x.table.Pos() + 8*rapid.IntRange(0, 40).Draw(t, "words")
	if got, want := x.table.Skip(to), to <= len(x.arena); got != want {
		t.Fatalf("skip %v, want %v", got, want)
	}
}

func (x *machine) find(t *rapid.T) {
	key, at := x.key.Draw(t, "key"), message.Seq(rapid.Uint64Range(0, uint64(x.seq)+1).Draw(t, "at"))
	got := "none"
	if p := x.table.Find(key, at); p != memtable.None {
		got = show(x.table.At(p))
	}
	if want := x.model.find(key, at); got != want {
		t.Fatalf("find %q at %d: got %s, want %s", key, at, got, want)
	}
	if got, want := x.table.Covering(key, at), x.model.covering(key, at); got != want {
		t.Fatalf("covering %q at %d: got %d, want %d", key, at, got, want)
	}
}

func (x *machine) take(t *rapid.T) {
	v, ok := x.table.View()
	if !ok {
		t.Fatal("no memory for a view")
	}
	x.views = append(x.views, taken{v, model{slices.Clone(x.model.sorted)}})
}

func (x *machine) release(t *rapid.T) {
	if n := len(x.views); n > 0 {
		i := rapid.IntRange(0, n-1).Draw(t, "which")
		x.views[i].view.Release()
		x.views = slices.Delete(x.views, i, i+1)
	}
}

// wander moves about in a view in both directions.
func (x *machine) wander(t *rapid.T) {
	if len(x.views) == 0 {
		x.take(t)
	}
	v := rapid.SampledFrom(x.views).Draw(t, "view")
	it := v.view.Iter()
	defer it.Close()
	d, at := &v.model, -2
	for range rapid.IntRange(1, 40).Draw(t, "moves") {
		move := rapid.SampledFrom([]string{"next", "next", "prev", "prev", "first", "last", "ge", "lt"}).Draw(t, "move")
		if at < 0 || at >= len(d.sorted) {
			move = rapid.SampledFrom([]string{"first", "last", "ge", "lt"}).Draw(t, "move")
		}
		var got string
		switch move {
		case "next":
			at++
			got = moved(it, it.Next())
		case "prev":
			at--
			got = moved(it, it.Prev())
		case "first":
			at, got = 0, moved(it, it.First())
		case "last":
			at, got = len(d.sorted)-1, moved(it, it.Last())
		case "ge":
			key := x.key.Draw(t, "key")
			at, got = d.seek(key), moved(it, it.SeekGE(key))
		case "lt":
			key := x.key.Draw(t, "key")
			at, got = d.seek(key)-1, moved(it, it.SeekLT(key))
		}
		if want := d.at(at); got != want {
			t.Fatalf("%s: got %s, want %s", move, got, want)
		}
	}
}

func (x *machine) check(t *rapid.T) {
	var lo, hi message.Seq
	deletes, ranges := 0, 0
	for _, m := range x.model.sorted {
		if lo == 0 || m.Seq < lo {
			lo = m.Seq
		}
		hi = max(hi, m.Seq)
		switch m.Kind {
		case message.Delete:
			deletes++
		case message.RangeDelete:
			ranges++
		}
	}
	m := x.table
	if m.Len() != len(x.model.sorted) || m.MinSeq() != lo || m.MaxSeq() != hi || m.Deletes() != deletes || m.RangeDeletes() != ranges {
		t.Fatalf("counts %d %d %d %d %d, want %d %d %d %d %d", m.Len(), m.MinSeq(), m.MaxSeq(), m.Deletes(), m.RangeDeletes(),
			len(x.model.sorted), lo, hi, deletes, ranges)
	}
}

func (x *machine) end(t *rapid.T) {
	for _, v := range x.views {
		it := v.view.Iter()
		n := 0
		for ok := it.First(); ok; ok = it.Next() {
			if got, want := show(it.Message()), v.model.at(n); got != want {
				t.Fatalf("message %d: got %s, want %s", n, got, want)
			}
			n++
		}
		it.Close()
		if n != len(v.model.sorted) {
			t.Fatalf("%d messages, want %d", n, len(v.model.sorted))
		}
		v.view.Release()
	}
	x.table.Close()
	x.pool.Free(x.arena)
	x.pool.Close()
}

func TestAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newMachine(t)
		t.Repeat(map[string]func(*rapid.T){
			"":        x.check,
			"append":  x.append,
			"append2": x.append, // more often than the others
			"append3": x.append,
			"many": func(t *rapid.T) {
				for range rapid.IntRange(1, 60).Draw(t, "n") {
					x.append(t)
				}
			},
			"skip":    x.skip,
			"find":    x.find,
			"find2":   x.find,
			"view":    x.take,
			"release": x.release,
			"wander":  x.wander,
		})
		x.end(t)
	})
}
