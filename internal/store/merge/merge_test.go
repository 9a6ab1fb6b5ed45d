// SPDX-License-Identifier: Apache-2.0

package merge_test

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/store/merge"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

func describe(m message.Message) string {
	return fmt.Sprintf("%q#%d %s %q", m.Key, m.Seq, m.Kind, m.Value)
}

// TestMergedIsOneList walks at random over a merger of lists and over the list
// of all their messages.
func TestMergedIsOneList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 9).Draw(t, "sources")
		lists := make([][]message.Message, n)
		var all []message.Message
		for seq := range rapid.IntRange(0, 40).Draw(t, "messages") {
			m := message.Message{Key: []byte(aKey(t, "key")), Value: fmt.Append(nil, seq), Seq: message.Seq(seq), Kind: message.Put}
			if n > 0 {
				to := rapid.IntRange(0, n-1).Draw(t, "to")
				lists[to] = append(lists[to], m)
				all = append(all, m)
			}
		}
		var sources []message.Iter
		for i := range lists {
			slices.SortFunc(lists[i], message.Compare)
			sources = append(sources, newList(lists[i]))
		}
		slices.SortFunc(all, message.Compare)
		it := merge.New(sources)
		defer it.Close()
		at := -1
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			stands := at >= 0 && at < len(all)
			var ok bool
			move := rapid.SampledFrom([]string{"next", "prev", "next", "prev", "next", "prev", "first", "last", "ge", "lt"}).Draw(t, "move")
			switch {
			case move == "next" && stands:
				ok, at = it.Next(), at+1
			case move == "prev" && stands:
				ok, at = it.Prev(), at-1
			case move == "first":
				ok, at = it.First(), 0
			case move == "last":
				ok, at = it.Last(), len(all)-1
			case move == "ge" || move == "lt":
				key := aKey(t, "seek")
				at = sort.Search(len(all), func(i int) bool { return string(all[i].Key) >= key })
				if move == "ge" {
					ok = it.SeekGE([]byte(key))
				} else {
					ok, at = it.SeekLT([]byte(key)), at-1
				}
			default:
				continue
			}
			if want := at >= 0 && at < len(all); ok != want {
				t.Fatalf("%s: got %v, want %v", move, ok, want)
			}
			if it.Err() != nil {
				t.Fatal(it.Err())
			}
			if !ok {
				continue
			}
			if got, want := describe(it.Message()), describe(all[at]); got != want {
				t.Fatalf("%s: got %s, want %s", move, got, want)
			}
		}
	})
}

// TestMergedOrdersTwins has the same message in several sources: the earlier
// source is first, forward and backward and at each turn.
func TestMergedOrdersTwins(t *testing.T) {
	var sources []message.Iter
	for i := range 5 {
		sources = append(sources, newList([]message.Message{{Key: []byte("k"), Value: []byte{byte('0' + i)}, Seq: 1, Kind: message.Put}}))
	}
	it := merge.New(sources)
	defer it.Close()
	got := ""
	note := func(ok bool) {
		if !ok {
			got += "."
			return
		}
		got += string(it.Message().Value)
	}
	note(it.First())
	for _, move := range []func() bool{it.Next, it.Next, it.Prev, it.Prev, it.Next, it.Next, it.Next, it.Next, it.Prev, it.Next, it.Next} {
		note(move())
	}
	note(it.Last())
	for _, move := range []func() bool{it.Prev, it.Next, it.Prev, it.Prev, it.Prev, it.Prev, it.Prev} {
		note(move())
	}
	if want := "01210123434." + "43432" + "10."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// failing is sources that fail at the n-th move of the list with that number.
func failing(parts []part, which, n int) []merge.Source {
	sources := sourcesOf(parts)
	sources[which].Iter.(*list).failAt = n
	return sources
}

// TestAFailureIsNoEnd fails each move of each source, in turn, until no move
// fails: whoever walks must learn of it, and must not see what is not so.
func TestAFailureIsNoEnd(t *testing.T) {
	m := model{}
	for i := range 12 {
		seq := message.Seq(i + 1)
		kind := []message.Kind{message.Put, message.Merge, message.Delete, message.Merge}[i%4]
		m = append(m, change{seq: seq, kind: kind, key: keys[1+i%5], value: fmt.Sprint(i), source: i / 4})
	}
	m = append(m, change{seq: 13, kind: message.RangeDelete, key: "aa", value: "c", source: 2})
	parts := m.parts(0, 3)
	want := m.seen(message.MaxSeq, nil, nil)
	walks := map[string]func([]merge.Source) ([]pair, error){
		"visible forward": func(s []merge.Source) ([]pair, error) {
			v := merge.NewVisible(s, merge.View{At: message.MaxSeq, Merger: appends{}})
			var got []pair
			for ok := v.First(); ok; ok = v.Next() {
				got = append(got, pair{string(v.Key()), string(v.Value())})
			}
			if v.Next() || v.Err() != nil && v.Prev() {
				t.Error("it goes on after the end")
			}
			return got, v.Err()
		},
		"visible backward": func(s []merge.Source) ([]pair, error) {
			v := merge.NewVisible(s, merge.View{At: message.MaxSeq, Merger: appends{}})
			var got []pair
			for ok := v.Last(); ok; ok = v.Prev() {
				got = append(got, pair{string(v.Key()), string(v.Value())})
			}
			slices.Reverse(got)
			return got, v.Err()
		},
		"keep": func(s []merge.Source) ([]pair, error) {
			o := merge.KeepOptions{Bottom: true, Merger: appends{}}
			for _, s := range s {
				o.Sources = append(o.Sources, s.Iter)
			}
			for _, p := range parts {
				o.Tombstones = append(o.Tombstones, p.tombstones...)
			}
			k := merge.NewKeep(o)
			var got []pair
			for k.Next() {
				got = append(got, pair{string(k.Message().Key), string(k.Message().Value)})
			}
			if k.Next() {
				t.Error("it goes on after the end")
			}
			return got, k.Err()
		},
	}
	for name, walk := range walks {
		for which := range parts {
			failed := true
			for n := 1; failed; n++ {
				sources := failing(parts, which, n)
				got, err := walk(sources)
				failed = sources[which].Iter.(*list).err != nil
				switch {
				case failed && !errors.Is(err, errList):
					t.Fatalf("%s, source %d, move %d: got error %v, want %v", name, which, n, err, errList)
				case !failed && (err != nil || !slices.Equal(got, want)):
					t.Fatalf("%s: got %v, %v, want %v", name, got, err, want)
				case failed && name != "visible backward" && !slices.Equal(got, want[:len(got)]):
					t.Fatalf("%s, source %d, move %d: got %v before the failure, want a beginning of %v", name, which, n, got, want)
				case failed && name == "visible backward" && !slices.Equal(got, want[len(want)-len(got):]):
					t.Fatalf("%s, source %d, move %d: got %v before the failure, want an end of %v", name, which, n, got, want)
				}
				if n > 200 {
					t.Fatal("it does not stop failing")
				}
			}
		}
	}
}
