// SPDX-License-Identifier: Apache-2.0

package merge_test

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/store/merge"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// valueOf is the value at which v stands, with the blob's text for a blob.
func valueOf(v *merge.Visible) string {
	if ref, ok := v.Blob(); ok {
		return string(v.Over(nil, []byte(blobText(ref))))
	}
	return string(v.Value())
}

// all is everything v sees, forward.
func all(v *merge.Visible) ([]pair, error) {
	got := []pair{}
	for ok := v.First(); ok; ok = v.Next() {
		got = append(got, pair{string(v.Key()), valueOf(v)})
	}
	return got, v.Err()
}

// TestVisibleIsTheModel walks at random over sources and over the answer that
// comes from doing all changes one by one.
func TestVisibleIsTheModel(t *testing.T) {
	var v merge.Visible // one for all: nothing may be left from the last use
	rapid.Check(t, func(t *rapid.T) {
		sources := rapid.IntRange(1, 5).Draw(t, "sources")
		m := aHistory(t, sources)
		view := merge.View{At: aMoment(t, m), Lo: aBound(t, "lo"), Hi: aBound(t, "hi"), Merger: appends{}}
		want := m.seen(view.At, view.Lo, view.Hi)
		from := sourcesOf(m.parts(0, sources))
		if rapid.Bool().Draw(t, "unknown numbers") {
			for i := range from {
				from[i].MaxSeq = 0
			}
		}
		v.Reset(from, view)
		defer v.Close()
		// at is the place in want; -1 and len(want) are beyond the ends.
		at, placed := 0, false
		for range rapid.IntRange(1, 50).Draw(t, "moves") {
			var ok bool
			move := rapid.SampledFrom([]string{"next", "prev", "next", "prev", "next", "prev", "first", "last", "ge", "lt"}).Draw(t, "move")
			switch move {
			case "next":
				ok = v.Next()
				if at = min(at+1, len(want)); !placed {
					at = 0
				}
			case "prev":
				ok = v.Prev()
				if at = max(at-1, -1); !placed {
					at = len(want) - 1
				}
			case "first":
				ok, at = v.First(), 0
			case "last":
				ok, at = v.Last(), len(want)-1
			case "ge", "lt":
				key := aKey(t, "seek")
				at = sort.Search(len(want), func(i int) bool { return want[i].key >= key })
				if move == "ge" {
					ok = v.SeekGE([]byte(key))
				} else {
					ok, at = v.SeekLT([]byte(key)), at-1
				}
			}
			placed = true
			if v.Err() != nil {
				t.Fatal(v.Err())
			}
			if stands := at >= 0 && at < len(want); ok != stands {
				t.Fatalf("%s: got %v, want %v: place %d in %v", move, ok, stands, at, want)
			}
			if !ok {
				continue
			}
			if got := (pair{string(v.Key()), valueOf(&v)}); got != want[at] {
				t.Fatalf("%s: got %v, want %v", move, got, want[at])
			}
		}
	})
}

// deleted is n records in an old source under one tombstone of a newer one,
// which also has a record of its own in the middle, from after the tombstone.
func deleted(n int) []part {
	key := func(i int) []byte { return fmt.Appendf(nil, "key-%08d", i) }
	var records []message.Message
	for i := range n {
		records = append(records, message.Message{Key: key(i), Value: []byte("old"), Seq: message.Seq(i + 1), Kind: message.Put})
	}
	s := message.Seq(n + 1)
	return []part{
		{
			messages:   []message.Message{{Key: key(n / 2), Value: []byte("new"), Seq: s + 1, Kind: message.Put}},
			tombstones: []message.RangeTombstone{{Lo: key(10), Hi: key(n - 10), Seq: s}},
			newest:     s + 1,
		},
		{messages: records, newest: s - 1},
	}
}

// TestATombstoneIsJumpedOver counts the moves over many deleted keys, and sees
// what was written into the range after the tombstone.
func TestATombstoneIsJumpedOver(t *testing.T) {
	const n = 10_000
	for _, backward := range []bool{false, true} {
		sources := sourcesOf(deleted(n))
		v := merge.NewVisible(sources, merge.View{At: message.MaxSeq})
		var got []string
		if backward {
			for ok := v.Last(); ok; ok = v.Prev() {
				got = append(got, string(v.Key())+string(v.Value()))
			}
		} else {
			for ok := v.First(); ok; ok = v.Next() {
				got = append(got, string(v.Key())+string(v.Value()))
			}
		}
		if v.Err() != nil {
			t.Fatal(v.Err())
		}
		if len(got) != 21 || got[10] != "key-00005000new" {
			t.Errorf("backward %v: got %d keys: %v", backward, len(got), got)
		}
		if moves := sources[1].Iter.(*list).moves; moves > 25 {
			t.Errorf("backward %v: the old source was moved %d times, want at most 25: 20 records and the jump", backward, moves)
		}
		v.Close()
	}
}

// TestTombstonesThatTouchAreOneJump has a tombstone for each ten keys, without
// a gap between them.
func TestTombstonesThatTouchAreOneJump(t *testing.T) {
	const n = 10_000
	parts := deleted(n)
	parts[0].tombstones = nil
	for i := 0; i < n; i += 10 {
		parts[0].tombstones = append(parts[0].tombstones, message.RangeTombstone{
			Lo: fmt.Appendf(nil, "key-%08d", i), Hi: fmt.Appendf(nil, "key-%08d", i+10), Seq: message.Seq(n + 1 + i%7)})
	}
	parts[0].messages[0].Seq = 2 * n
	parts[0].newest = 2 * n
	for _, backward := range []bool{false, true} {
		sources := sourcesOf(parts)
		v := merge.NewVisible(sources, merge.View{At: message.MaxSeq})
		move, ok := v.Next, v.First
		if backward {
			move, ok = v.Prev, v.Last
		}
		if !ok() || string(v.Value()) != "new" || move() || v.Err() != nil {
			t.Errorf("backward %v: want the one new record", backward)
		}
		if moves := sources[1].Iter.(*list).moves; moves > 5 {
			t.Errorf("backward %v: the old source was moved %d times, want at most 5", backward, moves)
		}
		v.Close()
	}
}

// TestAJumpEndsWhereItMust has tombstones over an old source with gaps between
// them, and touching ones that are older than some of the source's messages.
func TestAJumpEndsWhereItMust(t *testing.T) {
	key := func(i int) []byte { return fmt.Appendf(nil, "%02d", i) }
	tombstones := []message.RangeTombstone{
		{Lo: key(30), Hi: key(35), Seq: 30}, {Lo: key(25), Hi: key(30), Seq: 53}, {Lo: key(15), Hi: key(20), Seq: 52},
		{Lo: key(12), Hi: key(15), Seq: 30}, {Lo: key(5), Hi: key(10), Seq: 51},
	}
	old := part{newest: 50}
	var want []string
	for i := range 40 {
		m := message.Message{Key: key(i), Value: []byte("v"), Seq: message.Seq(i*17%40 + 11), Kind: message.Put}
		old.messages = append(old.messages, m)
		if !slices.ContainsFunc(tombstones, func(s message.RangeTombstone) bool { return s.Covers(m.Key) && s.Seq > m.Seq }) {
			want = append(want, string(m.Key))
		}
	}
	parts := []part{{newest: 53, tombstones: tombstones}, old}
	v := merge.NewVisible(sourcesOf(parts), merge.View{At: message.MaxSeq})
	defer v.Close()
	var forward, backward []string
	for ok := v.First(); ok; ok = v.Next() {
		forward = append(forward, string(v.Key()))
	}
	for ok := v.Last(); ok; ok = v.Prev() {
		backward = append(backward, string(v.Key()))
	}
	slices.Reverse(backward)
	if !slices.Equal(forward, want) || !slices.Equal(backward, want) {
		t.Errorf("forward  %v\nbackward %v\nwant     %v", forward, backward, want)
	}
}

// TestManyVersionsArePassed counts the moves over the versions of one key that
// nobody wants.
func TestManyVersionsArePassed(t *testing.T) {
	const n = 10_000
	var hot []message.Message
	for i := n; i > 0; i-- {
		hot = append(hot, message.Message{Key: []byte("b"), Value: fmt.Append(nil, i), Seq: message.Seq(i), Kind: message.Put})
	}
	hot = append(hot, message.Message{Key: []byte("c"), Value: []byte("end"), Seq: n + 1, Kind: message.Put})
	source := newList(hot)
	v := merge.NewVisible([]merge.Source{{Iter: source}}, merge.View{At: message.MaxSeq})
	got, err := all(v)
	if want := []pair{{"b", "10000"}, {"c", "end"}}; err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("forward: got %v, %v, want %v", got, err, want)
	}
	if source.moves > 40 {
		t.Errorf("forward: %d moves, want at most 40", source.moves)
	}
	v.Close()

	source = newList(hot)
	v = merge.NewVisible([]merge.Source{{Iter: source}}, merge.View{At: 3})
	if !v.SeekLT([]byte("c")) || string(v.Value()) != "3" || v.Prev() || v.Err() != nil {
		t.Errorf("backward: want the one record of the snapshot, and then the end")
	}
	if source.moves > 40 {
		t.Errorf("backward: %d moves, want at most 40", source.moves)
	}
	v.Close()
}

// TestDeletedKeysCostNoAllocation scans over deletes, over a tombstone and over
// operands, with buffers that have been used before.
func TestDeletedKeysCostNoAllocation(t *testing.T) {
	// The runtime allocates now and then, too: few is none.
	const n, few = 100_000, 10
	var deletes []message.Message
	for i := range n {
		key := fmt.Appendf(nil, "key-%08d", i)
		kind := message.Delete
		if i%1000 == 0 {
			kind = message.Merge
		}
		deletes = append(deletes, message.Message{Key: key, Value: []byte("operand")[:7*int(kind-1)/2], Seq: message.Seq(2*i + 2), Kind: kind},
			message.Message{Key: key, Value: []byte("old"), Seq: message.Seq(2*i + 1), Kind: message.Put})
	}
	source := newList(deletes)
	v := merge.NewVisible([]merge.Source{{Iter: source}, {Iter: newList(nil)}}, merge.View{At: message.MaxSeq, Merger: appends{}})
	defer v.Close()
	found := 0
	if got := testing.AllocsPerRun(1, func() {
		found = 0
		for ok := v.First(); ok; ok = v.Next() {
			found++
		}
	}); got > few {
		t.Errorf("forward: %v allocations", got)
	}
	if found != n/1000 {
		t.Errorf("forward: got %d keys, want %d", found, n/1000)
	}
	if got := testing.AllocsPerRun(1, func() {
		found = 0
		for ok := v.Last(); ok; ok = v.Prev() {
			found++
		}
	}); got > few {
		t.Errorf("backward: %v allocations", got)
	}
	if found != n/1000 {
		t.Errorf("backward: got %d keys, want %d", found, n/1000)
	}
}

// TestWhatDoesNotBelongIsAnError gives Visible, Keep and Fold messages that they
// must refuse, by name.
func TestWhatDoesNotBelongIsAnError(t *testing.T) {
	for _, c := range []struct {
		name string
		m    message.Message
		want string
	}{
		{"merge without a merger", message.Message{Key: []byte("kay"), Value: []byte("x"), Seq: 1, Kind: message.Merge}, `key "kay": there is a merge message but no Merger`},
		{"range delete", message.Message{Key: []byte("kay"), Value: []byte("x"), Seq: 1, Kind: message.RangeDelete}, `key "kay": want a delete, put, merge or blob message, found kind 5 (range delete)`},
		{"no reference", message.Message{Key: []byte("kay"), Value: []byte("x"), Seq: 1, Kind: message.Blob}, `key "kay": want a blob reference of 16 bytes, found 1 bytes that do not encode one`},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := func() []message.Message { return []message.Message{c.m} }
			check := func(who string, err error) {
				t.Helper()
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: got error %v, want %s", who, err, c.want)
				}
				if (c.m.Kind == message.Merge) != errors.Is(err, merge.ErrNoMerger) {
					t.Errorf("%s: %v is, or is not, ErrNoMerger", who, err)
				}
			}
			v := merge.NewVisible([]merge.Source{{Iter: newList(source())}}, merge.View{At: message.MaxSeq})
			if v.First() || v.Next() {
				t.Error("it stands on it, forward")
			}
			check("forward", v.Err())
			if v.Last() || v.Prev() {
				t.Error("it stands on it, backward")
			}
			check("backward", v.Err())
			k := merge.NewKeep(merge.KeepOptions{Sources: []message.Iter{newList(source())}})
			for range 2 { // the error stays
				if k.Next() {
					t.Error("it is kept")
				}
			}
			check("keep", k.Err())
			var f merge.Fold
			f.Reset(c.m.Key, nil, nil)
			for range 2 {
				if f.Add(c.m) {
					t.Error("it wants more")
				}
			}
			_, exists, err := f.Value()
			check("fold", err)
			if exists {
				t.Error("it is folded into a value")
			}
		})
	}
	// A blob that is dropped is looked at as well; operands over what is no
	// reference are an error in both directions.
	bad := []message.Message{
		{Key: []byte("k"), Value: []byte("+"), Seq: 2, Kind: message.Merge},
		{Key: []byte("k"), Value: []byte("x"), Seq: 1, Kind: message.Blob},
	}
	v := merge.NewVisible([]merge.Source{{Iter: newList(bad)}}, merge.View{At: message.MaxSeq, Merger: appends{}})
	if v.First() || v.Err() == nil || v.Last() || v.Err() == nil {
		t.Error("operands over what is no reference are seen")
	}
	bad[0].Kind = message.Put
	k := merge.NewKeep(merge.KeepOptions{Sources: []message.Iter{newList(bad)}, Blobs: watcher(func(message.BlobRef) { t.Error("it is notified of what is no reference") })})
	if !k.Next() || k.Next() || k.Err() == nil {
		t.Error("what is no reference is dropped in silence")
	}
}
