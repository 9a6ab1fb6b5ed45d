// SPDX-License-Identifier: Apache-2.0

package merge_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/store/merge"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// watcher is a function as a BlobWatcher.
type watcher func(message.BlobRef)

func (w watcher) Dropped(r message.BlobRef) { w(r) }

// kept returns the messages that Keep passes on.
type kept struct {
	part
	counts  merge.Counts
	dropped []message.BlobRef
	in      int
}

func keep(t *rapid.T, parts []part, o merge.KeepOptions) kept {
	t.Helper()
	var out kept
	for _, p := range parts {
		o.Sources = append(o.Sources, newList(p.messages))
		o.Tombstones = append(o.Tombstones, p.tombstones...)
		for _, m := range p.messages {
			if (o.Lo == nil || bytes.Compare(o.Lo, m.Key) <= 0) && (o.Hi == nil || bytes.Compare(m.Key, o.Hi) < 0) {
				out.in++
			}
		}
	}
	o.Merger = appends{}
	o.Blobs = watcher(func(r message.BlobRef) { out.dropped = append(out.dropped, r) })
	k := merge.NewKeep(o)
	defer k.Close()
	for k.Next() {
		m := k.Message()
		if n := len(out.messages); n > 0 && message.Compare(out.messages[n-1], m) >= 0 {
			t.Fatalf("%s comes after %s", describe(m), describe(out.messages[n-1]))
		}
		if n := len(out.messages); k.Starts() != (n == 0 || !bytes.Equal(out.messages[n-1].Key, m.Key)) {
			t.Fatalf("%s: starts is %v", describe(m), k.Starts())
		}
		out.messages = append(out.messages, message.Message{Key: bytes.Clone(m.Key), Value: bytes.Clone(m.Value), Seq: m.Seq, Kind: m.Kind})
		out.newest = max(out.newest, m.Seq)
	}
	if k.Next() || k.Err() != nil {
		t.Fatalf("after the end: %v", k.Err())
	}
	out.counts = k.Counts()
	out.tombstones = k.Tombstones()
	return out
}

func someSnapshots(t *rapid.T, m model) []message.Seq {
	var out []message.Seq
	for range rapid.IntRange(0, 3).Draw(t, "snapshots") {
		if len(m) > 0 {
			out = append(out, message.Seq(rapid.IntRange(0, int(m[len(m)-1].seq)+1).Draw(t, "snapshot")))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestKeepChangesNothing compacts some neighbouring sources and compares what
// is seen before and after, at every snapshot and now.
func TestKeepChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const sources = 5
		m := aHistory(t, sources)
		from := rapid.IntRange(0, sources-1).Draw(t, "from")
		to := rapid.IntRange(from+1, sources).Draw(t, "to")
		o := merge.KeepOptions{
			Snapshots: someSnapshots(t, m), Bottom: from == 0 && rapid.Bool().Draw(t, "bottom"),
			Lo: aBound(t, "lo"), Hi: aBound(t, "hi"),
		}
		o.Apply = o.Bottom && rapid.Bool().Draw(t, "apply")
		out := keep(t, m.parts(from, to), o)
		for _, at := range append(slices.Clone(o.Snapshots), message.MaxSeq) {
			parts := append(m.parts(to, sources), out.part)
			parts = append(parts, m.parts(0, from)...)
			v := merge.NewVisible(sourcesOf(parts), merge.View{At: at, Lo: o.Lo, Hi: o.Hi, Merger: appends{}})
			got, err := all(v)
			v.Close()
			if err != nil {
				t.Fatal(err)
			}
			if want := m.seen(at, o.Lo, o.Hi); !slices.Equal(got, want) {
				t.Fatalf("at %d, sources %d to %d, %+v:\ngot  %v\nwant %v\nkept %v\ntombstones %v", at, from, to, o, got, want, out.messages, out.tombstones)
			}
		}
		if n := out.counts; n.In != int64(out.in) || n.Out != int64(len(out.messages)) ||
			n.In+n.Applied != n.Out+n.Shadowed+n.Hidden+n.Deletes+n.Combined {
			t.Fatalf("%d in, %d out, counted %+v", out.in, len(out.messages), n)
		}
		checkBlobs(t, m.parts(from, to), out, o)
		checkTombstones(t, out, o)
	})
}

// TestTombstonesAreApplied compacts small histories at the bottom, with snapshots: no
// tombstone is left, and every snapshot and the present see what they saw.
func TestTombstonesAreApplied(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	applied := int64(0)
	for range 20_000 {
		var m model
		for seq := range message.Seq(1 + r.IntN(7)) {
			c := change{seq: seq + 1, key: keys[1+r.IntN(2)], value: fmt.Sprint(seq)}
			switch c.kind = []message.Kind{message.Put, message.Merge, message.Delete, message.RangeDelete}[r.IntN(4)]; c.kind {
			case message.Delete:
				c.value = ""
			case message.RangeDelete:
				c.value = keys[3+r.IntN(2)]
			}
			m = append(m, c)
		}
		o := merge.KeepOptions{Bottom: true, Apply: true, Merger: appends{}}
		for seq := range message.Seq(7) {
			if r.IntN(3) == 0 {
				o.Snapshots = append(o.Snapshots, seq+1)
			}
		}
		var before, after part
		for _, p := range m.parts(0, 1) {
			before = p
		}
		o.Sources, o.Tombstones = []message.Iter{newList(before.messages)}, before.tombstones
		k := merge.NewKeep(o)
		for k.Next() {
			x := k.Message()
			after.messages = append(after.messages, message.Message{Key: bytes.Clone(x.Key), Value: bytes.Clone(x.Value), Seq: x.Seq, Kind: x.Kind})
		}
		if k.Err() != nil || len(k.Tombstones()) > 0 {
			t.Fatalf("%v: %v, tombstones %v", m, k.Err(), k.Tombstones())
		}
		applied += k.Counts().Applied
		k.Close()
		for _, at := range append(slices.Clone(o.Snapshots), message.MaxSeq) {
			v := merge.NewVisible(sourcesOf([]part{after}), merge.View{At: at, Merger: appends{}})
			got, err := all(v)
			v.Close()
			if want := m.seen(at, nil, nil); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v, snapshots %v, at %d: %v, %v, want %v\nkept %v", m, o.Snapshots, at, got, err, want, after.messages)
			}
		}
	}
	if applied < 1000 {
		t.Errorf("%d deletes were made of tombstones, want many", applied)
	}
}

// checkBlobs compares what was dropped with what is no longer there.
func checkBlobs(t *rapid.T, parts []part, out kept, o merge.KeepOptions) {
	t.Helper()
	gone := map[message.BlobRef]int{}
	for _, p := range parts {
		for _, m := range p.messages {
			if ref, ok := message.DecodeBlobRef(m.Value); ok && m.Kind == message.Blob &&
				(o.Lo == nil || bytes.Compare(o.Lo, m.Key) <= 0) && (o.Hi == nil || bytes.Compare(m.Key, o.Hi) < 0) {
				gone[ref]++
			}
		}
	}
	for _, m := range out.messages {
		if ref, ok := message.DecodeBlobRef(m.Value); ok && m.Kind == message.Blob {
			gone[ref]--
		}
	}
	for _, ref := range out.dropped {
		gone[ref]--
	}
	for ref, n := range gone {
		if n != 0 {
			t.Fatalf("blob %v: %d neither kept nor dropped", ref, n)
		}
	}
}

// checkTombstones demands that they lie in the bounds, and disjoint in each
// stripe.
func checkTombstones(t *rapid.T, out kept, o merge.KeepOptions) {
	t.Helper()
	if (len(o.Snapshots) == 0 && o.Bottom || o.Apply) && len(out.tombstones) > 0 {
		t.Fatalf("tombstones at the bottom that no reader needs: %v", out.tombstones)
	}
	for i, a := range out.tombstones {
		if bytes.Compare(a.Lo, a.Hi) >= 0 || o.Lo != nil && bytes.Compare(a.Lo, o.Lo) < 0 || o.Hi != nil && bytes.Compare(a.Hi, o.Hi) > 0 {
			t.Fatalf("tombstone %v is empty or out of bounds", a)
		}
		for _, b := range out.tombstones[:i] {
			overlap := bytes.Compare(a.Lo, b.Hi) < 0 && bytes.Compare(b.Lo, a.Hi) < 0
			if overlap && stripe(o, a.Seq) == stripe(o, b.Seq) {
				t.Fatalf("tombstones %v and %v of one stripe overlap", a, b)
			}
		}
	}
}

func stripe(o merge.KeepOptions, seq message.Seq) int {
	n := 0
	for _, s := range o.Snapshots {
		if s < seq {
			n++
		}
	}
	return n
}

// TestKeepKeepsNoMore bounds what is kept: of each key and stripe one message,
// or operands with the blob to which they apply; and at the bottom, when nobody
// looks back, the live keys alone, each as a value.
func TestKeepKeepsNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := aHistory(t, 4)
		o := merge.KeepOptions{Snapshots: someSnapshots(t, m), Bottom: rapid.Bool().Draw(t, "bottom")}
		out := keep(t, m.parts(0, 4), o)
		for i := 1; i < len(out.messages); i++ {
			a, b := out.messages[i-1], out.messages[i]
			if !bytes.Equal(a.Key, b.Key) || stripe(o, a.Seq) != stripe(o, b.Seq) {
				continue
			}
			if a.Kind != message.Merge || b.Kind != message.Blob {
				t.Fatalf("%s and %s are both kept, with snapshots %v", describe(a), describe(b), o.Snapshots)
			}
		}
		if again := keep(t, []part{out.part}, o); !slices.EqualFunc(again.messages, out.messages, sameMessage) {
			t.Fatalf("what is kept is not kept the second time:\n%v\n%v", out.messages, again.messages)
		}
		if len(o.Snapshots) > 0 || !o.Bottom {
			return
		}
		var got []pair
		onBlob := false
		for _, m := range out.messages {
			switch m.Kind {
			case message.Put:
				got = append(got, pair{string(m.Key), string(m.Value)})
			case message.Merge:
				onBlob = true
				got = append(got, pair{string(m.Key), string(m.Value)})
			case message.Blob:
				ref, _ := message.DecodeBlobRef(m.Value)
				if onBlob {
					got[len(got)-1].value = blobText(ref) + got[len(got)-1].value
				} else {
					got = append(got, pair{string(m.Key), blobText(ref)})
				}
				onBlob = false
			default:
				t.Fatalf("%s is kept at the bottom", describe(m))
			}
		}
		if want := m.seen(message.MaxSeq, nil, nil); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func sameMessage(a, b message.Message) bool { return describe(a) == describe(b) }

// TestKeepByExample says what becomes of one key, in the words of the messages.
func TestKeepByExample(t *testing.T) {
	ref := string(message.BlobRef{Addr: 4096, Len: 9}.Append(nil))
	for _, c := range []struct {
		name      string
		messages  []change
		snapshots []message.Seq
		bottom    bool
		want      string
		counts    string
	}{
		{"the newest put", []change{{seq: 3, kind: message.Put, value: "c"}, {seq: 2, kind: message.Put, value: "b"}}, nil, false,
			`put#3 "c"`, "1 shadowed"},
		{"what a snapshot sees", []change{{seq: 3, kind: message.Put, value: "c"}, {seq: 2, kind: message.Put, value: "b"}, {seq: 1, kind: message.Put, value: "a"}}, []message.Seq{2}, false,
			`put#3 "c" put#2 "b"`, "1 shadowed"},
		{"a delete above the bottom", []change{{seq: 2, kind: message.Delete}, {seq: 1, kind: message.Put, value: "a"}}, nil, false,
			`delete#2 ""`, "1 shadowed"},
		{"a delete at the bottom", []change{{seq: 2, kind: message.Delete}, {seq: 1, kind: message.Put, value: "a"}}, nil, true,
			``, "1 shadowed, 1 deletes"},
		{"a delete at the bottom that a snapshot does not see", []change{{seq: 2, kind: message.Delete}, {seq: 1, kind: message.Put, value: "a"}}, []message.Seq{1}, true,
			`delete#2 "" put#1 "a"`, ""},
		{"two deletes are one", []change{{seq: 3, kind: message.Delete}, {seq: 2, kind: message.Delete}, {seq: 1, kind: message.Put, value: "a"}}, []message.Seq{1, 2}, true,
			`delete#2 "" put#1 "a"`, "1 deletes"},
		{"operands above the bottom", []change{{seq: 3, kind: message.Merge, value: "c"}, {seq: 2, kind: message.Merge, value: "b"}}, nil, false,
			`merge#3 "bc"`, "1 combined"},
		{"operands at the bottom", []change{{seq: 3, kind: message.Merge, value: "c"}, {seq: 2, kind: message.Merge, value: "b"}}, nil, true,
			`put#3 "~bc"`, "1 combined"},
		{"operands on a value", []change{{seq: 3, kind: message.Merge, value: "c"}, {seq: 2, kind: message.Merge, value: "b"}, {seq: 1, kind: message.Put, value: "a"}}, nil, false,
			`put#3 "abc"`, "2 combined"},
		{"operands on a delete", []change{{seq: 3, kind: message.Merge, value: "c"}, {seq: 2, kind: message.Delete}}, nil, false,
			`put#3 "~c"`, "1 shadowed"},
		{"operands on a delete of another stripe", []change{{seq: 3, kind: message.Merge, value: "c"}, {seq: 2, kind: message.Delete}}, []message.Seq{2}, false,
			`put#3 "~c" delete#2 ""`, ""},
		{"operands on a blob", []change{{seq: 3, kind: message.Merge, value: "c"}, {seq: 2, kind: message.Blob, value: ref}}, nil, true,
			`merge#3 "c" blob#2 ` + fmt.Sprintf("%q", ref), ""},
		{"operands of two stripes", []change{{seq: 4, kind: message.Merge, value: "d"}, {seq: 3, kind: message.Merge, value: "c"}, {seq: 2, kind: message.Merge, value: "b"}, {seq: 1, kind: message.Put, value: "a"}}, []message.Seq{2}, false,
			`merge#4 "cd" put#2 "ab"`, "2 combined"},
		{"a tombstone below operands", []change{{seq: 4, kind: message.Merge, value: "d"}, {seq: 3, kind: message.RangeDelete, value: "l"}, {seq: 2, kind: message.Put, value: "b"}}, nil, false,
			`put#4 "~d"`, "1 shadowed"},
		{"a value under a tombstone", []change{{seq: 3, kind: message.RangeDelete, value: "l"}, {seq: 2, kind: message.Put, value: "b"}}, nil, false,
			``, "1 hidden"},
		{"a tombstone that a snapshot does not see", []change{{seq: 4, kind: message.Merge, value: "d"}, {seq: 3, kind: message.RangeDelete, value: "l"}, {seq: 2, kind: message.Put, value: "b"}}, []message.Seq{2}, true,
			`put#4 "~d" put#2 "b"`, ""},
		{"a delete over a tombstone", []change{{seq: 4, kind: message.Delete}, {seq: 3, kind: message.RangeDelete, value: "l"}}, nil, false,
			``, "1 deletes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var o merge.KeepOptions
			var messages []message.Message
			for _, c := range c.messages {
				c.key = "k"
				if c.kind == message.RangeDelete {
					o.Tombstones = append(o.Tombstones, message.RangeTombstone{Lo: []byte("j"), Hi: []byte(c.value), Seq: c.seq})
				} else {
					messages = append(messages, c.message())
				}
			}
			o.Sources = []message.Iter{newList(messages)}
			o.Snapshots, o.Bottom, o.Merger = c.snapshots, c.bottom, appends{}
			k := merge.NewKeep(o)
			got := ""
			for k.Next() {
				m := k.Message()
				got += fmt.Sprintf(" %s#%d %q", m.Kind, m.Seq, m.Value)
			}
			if k.Err() != nil {
				t.Fatal(k.Err())
			}
			if got != "" {
				got = got[1:]
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			n := k.Counts()
			counts := ""
			for _, c := range []struct {
				n    int64
				name string
			}{{n.Shadowed, "shadowed"}, {n.Hidden, "hidden"}, {n.Deletes, "deletes"}, {n.Combined, "combined"}} {
				if c.n > 0 {
					counts += fmt.Sprintf(", %d %s", c.n, c.name)
				}
			}
			if counts != "" {
				counts = counts[2:]
			}
			if counts != c.counts {
				t.Errorf("got %s, want %s", counts, c.counts)
			}
		})
	}
}

// TestTombstonesAreCut gives Keep tombstones and reads what it passes on.
func TestTombstonesAreCut(t *testing.T) {
	for _, c := range []struct {
		name, in  string
		snapshots []message.Seq
		bottom    bool
		want      string
	}{
		{"none", "", nil, false, ""},
		{"an old one in a new one", "a-z#5 c-d#3", nil, false, "a-z#5"},
		{"a new one in an old one", "c-d#5 a-z#3", nil, false, "a-c#3 c-d#5 d-z#3"},
		{"overlapping", "a-m#3 k-z#5", nil, false, "a-k#3 k-z#5"},
		{"touching", "a-m#3 m-z#3 z-zz#4", nil, false, "a-z#3 z-zz#4"},
		{"apart", "x-z#2 a-b#3", nil, false, "a-b#3 x-z#2"},
		{"empty", "b-b#3 c-a#4", nil, false, ""},
		{"clipped", "!-b#3 y-~~#4", nil, false, "a-b#3 y-zz#4"},
		{"outside", "!-A#3 zzz-~#4", nil, false, ""},
		{"many with one beginning", "a-b#1 a-c#2 a-d#3 a-e#4 a-f#5", nil, false, "a-f#5"},
		{"many with one end", "a-z#1 b-z#2 c-z#3 d-z#4", nil, false, "a-b#1 b-c#2 c-d#3 d-z#4"},
		{"stairs down", "a-e#4 a-g#3 b-i#2 b-k#1", nil, false, "a-e#4 e-g#3 g-i#2 i-k#1"},
		{"one stripe each", "a-m#3 a-m#5", []message.Seq{4}, false, "a-m#3 a-m#5"},
		{"the first stripe at the bottom", "a-m#3 a-m#5", []message.Seq{4}, true, "a-m#5"},
		{"one at the snapshot", "a-m#4 a-m#3", []message.Seq{4}, false, "a-m#4"},
		{"at the bottom", "a-m#3", nil, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := merge.KeepOptions{Lo: []byte("a"), Hi: []byte("zz"), Snapshots: c.snapshots, Bottom: c.bottom}
			for _, f := range strings.Fields(c.in) {
				var seq message.Seq
				ends, number, _ := strings.Cut(f, "#")
				lo, hi, _ := strings.Cut(ends, "-")
				if _, err := fmt.Sscan(number, &seq); err != nil {
					t.Fatal(err)
				}
				o.Tombstones = append(o.Tombstones, message.RangeTombstone{Lo: []byte(lo), Hi: []byte(hi), Seq: seq})
			}
			var got []string
			for _, s := range merge.NewKeep(o).Tombstones() {
				got = append(got, fmt.Sprintf("%s-%s#%d", s.Lo, s.Hi, s.Seq))
			}
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestFoldIsTheModel reads each key by itself.
func TestFoldIsTheModel(t *testing.T) {
	var f merge.Fold
	rapid.Check(t, func(t *rapid.T) {
		const sources = 4
		m := aHistory(t, sources)
		at := aMoment(t, m)
		want := map[string]string{}
		for _, p := range m.seen(at, nil, nil) {
			want[p.key] = p.value
		}
		for _, key := range keys {
			f.Reset([]byte(key), []byte(">"), appends{})
			readOne(&f, m.parts(0, sources), key, at)
			value, exists, err := f.Value()
			if err != nil {
				t.Fatal(err)
			}
			if ref, ok := f.Blob(); ok {
				if string(value) != ">" || !exists {
					t.Fatalf("%q at %d: a blob has the value %q, %v", key, at, value, exists)
				}
				value = f.Over([]byte(blobText(ref)))
			}
			expected, there := want[key]
			if exists != there || string(value) != ">"+expected {
				t.Fatalf("%q at %d: got %q, %v, want %q, %v", key, at, value, exists, expected, there)
			}
		}
	})
}

// readOne asks one source after the other, as a point read does.
func readOne(f *merge.Fold, parts []part, key string, at message.Seq) {
	for _, p := range parts {
		for _, s := range p.tombstones {
			if s.Seq <= at && s.Covers([]byte(key)) {
				f.Cover(s.Seq)
			}
		}
		l := newList(p.messages)
		for ok := l.SeekGE([]byte(key)); ok; ok = l.Next() {
			m := l.Message()
			if string(m.Key) != key {
				break
			}
			if m.Seq <= at && !f.Add(m) {
				return
			}
		}
	}
}
