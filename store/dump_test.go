// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/inspect"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/store"
)

// TestMessagesMakeTheStore combines all messages and compares the result with that of
// reads.
func TestMessagesMakeTheStore(t *testing.T) {
	h := live(t, 9)
	o := tiny()
	o.ReadOnly = true
	db := open(t, h.disk, o)
	for _, bounds := range [][2]string{{"", ""}, {"key0300", "key0500"}, {"key0899", ""}, {"", "key0001"}} {
		var lo, hi []byte
		if bounds[0] != "" {
			lo = []byte(bounds[0])
		}
		if bounds[1] != "" {
			hi = []byte(bounds[1])
		}
		var all []message.Message
		sources := map[string]int{}
		must(t, db.Messages(lo, hi, func(where string, m message.Message) bool {
			m.Key, m.Value = bytes.Clone(m.Key), bytes.Clone(m.Value)
			if m.Kind != message.RangeDelete && (string(m.Key) < bounds[0] || hi != nil && string(m.Key) >= bounds[1]) {
				t.Fatalf("key %s in %q", m.Key, bounds)
			}
			all = append(all, m)
			sources[strings.Fields(where)[0]]++
			return true
		}))
		sort.SliceStable(all, func(i, j int) bool { return all[i].Seq < all[j].Seq })
		got := map[string]bool{}
		for _, m := range all {
			switch m.Kind {
			case message.Delete:
				delete(got, string(m.Key))
			case message.RangeDelete:
				for k := range got {
					if k >= string(m.Key) && k < string(m.Value) {
						delete(got, k)
					}
				}
			default:
				got[string(m.Key)] = true
			}
		}
		want := 0
		for k := range h.model {
			if k >= bounds[0] && (hi == nil || k < bounds[1]) {
				want++
				if !got[k] {
					t.Errorf("%q: no %s", bounds, k)
				}
			}
		}
		if len(got) != want || lo == nil && hi == nil && (sources["memtable"] == 0 || sources["branch"] == 0) {
			t.Errorf("%q: %d keys, want %d; %v", bounds, len(got), want, sources)
		}
	}
	n := 0
	must(t, db.Messages(nil, nil, func(string, message.Message) bool { n++; return n < 5 }))
	if n != 5 {
		t.Errorf("%d messages after the last one wanted", n)
	}
	if err := db.Messages([]byte("b"), []byte("a"), nil); !errors.Is(err, store.ErrBounds) {
		t.Error(err)
	}
	must(t, db.Close())
}

func TestLook(t *testing.T) {
	h := live(t, 9)
	p := dissect(t, h.disk)
	a, err := inspect.Look(h.disk, "db")
	must(t, err)
	if a.Used != p.newer || a.Slots[0].Super.Seq != p.supers[0].Seq || len(a.Branches) != len(p.metas) || a.Root == nil || len(a.Damage) > 0 {
		t.Fatalf("%+v", a)
	}
	frames, last := 0, message.Seq(0)
	for _, s := range a.Journal {
		if frames += s.Frames; s.Frames > 0 {
			last = max(last, s.Last)
		}
	}
	if frames == 0 || int(last) != len(h.states)-1 {
		t.Errorf("%d frames up to change %d, want %d", frames, last, len(h.states)-1)
	}
	for i, m := range a.Branches {
		if m.ID != p.metas[i].ID || m.Records != p.metas[i].Records {
			t.Errorf("branch %d is %+v", i, m)
		}
	}
	// Without the newer superblock, the store is that of the older one.
	edit(t, h.disk, "DATA", []int64{table.SlotA, table.SlotB}[p.newer], 4096, flip)
	a, err = inspect.Look(h.disk, "db")
	must(t, err)
	if a.Used == p.newer || a.Slots[p.newer].Err == nil || a.Table == nil {
		t.Errorf("%+v", a)
	}
	edit(t, h.disk, "DATA", a.Slots[a.Used].Super.Chunks[0].Addr, 4096, flip)
	a, err = inspect.Look(h.disk, "db")
	must(t, err)
	if a.Table != nil || len(a.Damage) != 1 {
		t.Errorf("%+v", a)
	}
	if _, err := inspect.Look(h.disk, "nothing"); err == nil {
		t.Error("a store that is not there")
	}
	if s, err := inspect.Superblock(h.disk, "db"); err != nil || fmt.Sprint(s.Seq) != fmt.Sprint(p.supers[1-p.newer].Seq) {
		t.Errorf("inspect: %v, %v", s, err)
	}
}
