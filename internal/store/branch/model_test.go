// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

func drawKey(t *rapid.T) []byte {
	return rapid.SliceOfN(rapid.SampledFrom([]byte("aab\x00\xff")), 0, 7).Draw(t, "key")
}

// drawMessages are few keys with many versions, of values that make blocks of
// every size.
func drawMessages(t *rapid.T) []message.Message {
	most := rapid.SampledFrom([]int{0, 40, 700, 5000, 50_000}).Draw(t, "values up to")
	all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message.Message {
		m := message.Message{
			Key:  drawKey(t),
			Seq:  message.Seq(rapid.IntRange(1, 200).Draw(t, "seq")),
			Kind: rapid.SampledFrom([]message.Kind{message.Put, message.Delete, message.Merge}).Draw(t, "kind"),
		}
		if n := rapid.IntRange(0, most).Draw(t, "value"); rapid.Bool().Draw(t, "compressible") {
			m.Value = bytes.Repeat([]byte{'v'}, n)
		} else {
			m.Value = random(n, uint64(n))
		}
		return m
	}), 0, 150).Draw(t, "messages")
	slices.SortFunc(all, message.Compare)
	return slices.CompactFunc(all, func(a, b message.Message) bool { return message.Compare(a, b) == 0 })
}

// walk is a sorted list with the moves of an iterator.
type walk struct {
	all    []message.Message
	lo, hi []byte
	at     int
}

func (w *walk) in(i int) bool {
	return i >= 0 && i < len(w.all) && (w.lo == nil || bytes.Compare(w.all[i].Key, w.lo) >= 0) &&
		(w.hi == nil || bytes.Compare(w.all[i].Key, w.hi) < 0)
}

func (w *walk) first(from []byte) bool {
	for w.at = 0; w.at < len(w.all); w.at++ {
		if w.in(w.at) && bytes.Compare(w.all[w.at].Key, from) >= 0 {
			return true
		}
	}
	return false
}

func (w *walk) lastBelow(to []byte) bool {
	for w.at = len(w.all) - 1; w.at >= 0; w.at-- {
		if w.in(w.at) && (to == nil || bytes.Compare(w.all[w.at].Key, to) < 0) {
			return true
		}
	}
	return false
}

func (w *walk) step(by int) bool {
	w.at += by
	return w.in(w.at)
}

func drawBound(t *rapid.T) []byte {
	if rapid.Bool().Draw(t, "open") {
		return nil
	}
	return drawKey(t)
}

func TestAgainstASortedList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlace(t)
		if rapid.Bool().Draw(rt, "scattered") {
			p.top = 3000
		}
		all := drawMessages(rt)
		o := p.options()
		o.Last = rapid.Bool().Draw(rt, "last level")
		if rapid.Bool().Draw(rt, "uncompressed") {
			o.Compression = None
		}
		meta, x := write(t, p, o, 1, all)
		x.Close()
		decoded, err := DecodeMeta(meta.Append(nil))
		if err != nil {
			rt.Fatal(err)
		}
		if rapid.Bool().Draw(rt, "paged") {
			o.Resident, o.partBlocks = 1, rapid.IntRange(1, 5).Draw(rt, "blocks in a part")
		}
		if x, err = OpenIndex(o, &decoded); err != nil {
			rt.Fatal(err)
		}
		defer x.Close()
		checkAll(t, x)
		var cache Cache
		if rapid.Bool().Draw(rt, "cached") {
			cache = newMapCache()
		}
		checkGets(rt, x, cache, all)
		for range 3 {
			checkMoves(rt, x, cache, all)
		}
		checkRanges(rt, x, all)
	})
}

func checkGets(t *rapid.T, x *Index, cache Cache, all []message.Message) {
	var s Scratch
	defer s.Close()
	for range 20 {
		key := drawKey(t)
		at := message.Seq(rapid.IntRange(0, 250).Draw(t, "at"))
		var want []message.Message
		for _, m := range all {
			if bytes.Equal(m.Key, key) && m.Seq <= at {
				want = append(want, m)
			}
		}
		got, err := get(x, key, at, cache, &s)
		if err != nil || !slices.EqualFunc(got, want, same) {
			t.Fatalf("get %q at %d: %d messages, want %d, %v", key, at, len(got), len(want), err)
		}
	}
}

func checkMoves(t *rapid.T, x *Index, cache Cache, all []message.Message) {
	o := IterOptions{Cache: cache, Prefetch: rapid.SampledFrom([]int{0, 32 << 10, 256 << 10}).Draw(t, "prefetch")}
	o.Lo, o.Hi = drawBound(t), drawBound(t)
	it := x.Iter(o)
	defer it.Close()
	w := walk{all: all, lo: o.Lo, hi: o.Hi}
	stands := false
	for range 40 {
		move := rapid.SampledFrom([]string{"first", "last", "seekGE", "seekLT", "next", "next", "next", "prev", "prev"}).Draw(t, "move")
		if !stands && (move == "next" || move == "prev") {
			continue
		}
		var want, got bool
		switch move {
		case "first":
			want, got = w.first(nil), it.First()
		case "last":
			want, got = w.lastBelow(nil), it.Last()
		case "seekGE":
			key := drawKey(t)
			want, got = w.first(key), it.SeekGE(key)
		case "seekLT":
			key := append(drawKey(t), 'a')
			want, got = w.lastBelow(key), it.SeekLT(key)
		case "next":
			want, got = w.step(1), it.Next()
		case "prev":
			want, got = w.step(-1), it.Prev()
		}
		if got != want || it.Err() != nil {
			t.Fatalf("%s: %v, want %v, %v", move, got, want, it.Err())
		}
		if stands = want; stands && !same(it.Message(), all[w.at]) {
			t.Fatalf("%s: stands on %q at %d, want %q at %d", move, it.Message().Key, it.Message().Seq, all[w.at].Key, all[w.at].Seq)
		}
	}
}

// checkRanges compares the index's results for ranges with the content.
func checkRanges(t *rapid.T, x *Index, all []message.Message) {
	for range 10 {
		lo, hi := drawBound(t), drawBound(t)
		w := walk{all: all, lo: lo, hi: hi}
		inside := 0
		for i := range all {
			if w.in(i) {
				inside++
			}
		}
		if inside > 0 && !x.Overlaps(lo, hi) {
			t.Fatalf("[%q, %q) holds %d messages and does not overlap", lo, hi, inside)
		}
		size, blocks := x.Span(lo, hi)
		if inside > 0 && (blocks == 0 || size == 0) {
			t.Fatalf("[%q, %q) holds %d messages in %d blocks of %d bytes", lo, hi, inside, blocks, size)
		}
		if lo == nil && hi == nil && blocks != x.n {
			t.Fatalf("everything is %d blocks of %d", blocks, x.n)
		}
	}
}

func TestTombstonesAgainstAList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlace(t)
		tombs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message.RangeTombstone {
			return message.RangeTombstone{Lo: drawKey(t), Hi: drawKey(t), Seq: message.Seq(rapid.IntRange(1, 50).Draw(t, "seq"))}
		}), 0, 40).Draw(rt, "tombstones")
		all := drawMessages(rt)
		o := p.options()
		meta, x := write(t, p, o, 1, all, tombs...)
		x.Close()
		x, err := OpenIndex(o, &meta)
		if err != nil {
			rt.Fatal(err)
		}
		defer x.Close()
		checkAll(t, x)
		compare(t, x, IterOptions{}, all)
		var want []message.RangeTombstone
		for _, s := range tombs {
			if bytes.Compare(s.Lo, s.Hi) < 0 {
				want = append(want, s)
			}
		}
		slices.SortFunc(want, compareTombstones)
		want = slices.CompactFunc(want, func(a, b message.RangeTombstone) bool {
			return a.Seq == b.Seq && bytes.Equal(a.Lo, b.Lo) // the first is the longest
		})
		got := x.Tombstones()
		if !slices.EqualFunc(got, want, func(a, b message.RangeTombstone) bool { return compareTombstones(a, b) == 0 }) {
			rt.Fatalf("tombstones: %v, want %v", got, want)
		}
		if meta.RangeDeletes != uint64(len(want)) {
			rt.Fatalf("%d range deletes, want %d", meta.RangeDeletes, len(want))
		}
		for range 30 {
			key, at := drawKey(rt), message.Seq(rapid.IntRange(0, 60).Draw(rt, "at"))
			newest := message.Seq(0)
			for _, s := range want {
				if s.Covers(key) && s.Seq <= at {
					newest = max(newest, s.Seq)
				}
			}
			if got := x.Covering(key, at); got != newest {
				rt.Fatalf("covering %q at %d: %d, want %d", key, at, got, newest)
			}
			if newest > 0 && (!x.Overlaps(key, append(bytes.Clone(key), 0)) || bytes.Compare(meta.Lo, key) > 0 || bytes.Compare(key, meta.Hi) > 0) {
				rt.Fatalf("%q is covered and outside of the bounds %q to %q", key, meta.Lo, meta.Hi)
			}
		}
	})
}

// TestManyTombstones has enough of them for several blocks.
func TestManyTombstones(t *testing.T) {
	p := newPlace(t)
	w, err := NewWriter(p.options(), 1, 7, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		lo := fmt.Appendf(nil, "key%06d", i*7919%3000)
		tomb := message.RangeTombstone{Lo: lo, Hi: append(bytes.Clone(lo), '~'), Seq: message.Seq(i + 1)}
		if err := w.AddTombstone(tomb); err != nil {
			t.Fatal(err)
		}
	}
	meta, x, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if x.Blocks() < 2 || meta.Records != 0 || meta.RangeDeletes != 3000 || meta.MaxSeq != 3000 || string(meta.Lo) != "key000000" {
		t.Errorf("%d blocks, %+v", x.Blocks(), meta)
	}
	checkAll(t, x)
	for i := range 3000 {
		if got := x.Covering(fmt.Appendf(nil, "key%06d*", i), message.MaxSeq); got == 0 {
			t.Fatalf("key %d is not covered", i)
		}
		if got := x.Covering(fmt.Appendf(nil, "key%06d~", i), message.MaxSeq); got != 0 {
			t.Fatalf("the end of %d is covered", i)
		}
	}
	if may(t, x, 1, nil) {
		t.Error("a branch without messages may have one")
	}
	compare(t, x, IterOptions{}, nil)
}

func TestAnEmptyBranch(t *testing.T) {
	p := newPlace(t)
	meta, x := write(t, p, p.options(), 1, nil)
	x.Close()
	x, err := OpenIndex(p.options(), &meta)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	compare(t, x, IterOptions{Lo: []byte("a"), Hi: []byte("b")}, nil)
	if x.Overlaps(nil, nil) || may(t, x, 3, nil) || x.Covering(nil, message.MaxSeq) != 0 {
		t.Error("an empty branch has something")
	}
	if size, blocks := x.Span(nil, nil); size != 0 || blocks != 0 {
		t.Errorf("an empty branch spans %d bytes in %d blocks", size, blocks)
	}
	var s Scratch
	defer s.Close()
	if got, err := get(x, []byte("a"), message.MaxSeq, nil, &s); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
}
