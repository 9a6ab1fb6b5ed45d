// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store"
)

// TestWhatOnceFailed runs sequences that once made the store fail.
func TestWhatOnceFailed(t *testing.T) {
	put := func(k string) Op { return Op{Kind: Put, Key: k, Size: 40, Fill: 1} }
	get := func(k string) Op { return Op{Kind: Get, Key: k} }
	flush, compact := Op{Kind: Flush}, Op{Kind: Compact, End: "~"}
	for _, c := range []struct {
		name string
		ops  []Op
	}{
		// The record cache took the value below the merges.
		{"merges above the cached value", []Op{
			put("k00"), flush, {Kind: Merge, Key: "k00", Size: 9}, flush, get("k00"), get("k00"),
		}},
		// It took a value that a range delete in the same branch hides.
		{"a hidden value in the cache", []Op{
			put("k00"), {Kind: Snapshot}, {Kind: DeleteRange, Key: "k00", End: "k01"}, compact, flush, compact, get("k00"), get("k00"),
		}},
	} {
		for _, subject := range Engines() {
			s := newSession(subject, env.NoTrace{}, NewDisk(), newHistory([]string{"k00", "k04"}, 0, nil))
			if err, bad := s.open(); err != nil || bad != nil {
				t.Fatal(err, bad)
			}
			for i := range c.ops {
				if err, bad := s.exec(&c.ops[i]); err != nil || bad != nil {
					t.Errorf("%s: %s: %s: %v %v", c.name, subject.Name(), &c.ops[i], err, bad)
				}
			}
			if err, bad := s.close(); err != nil || bad != nil {
				t.Errorf("%s: %s: close: %v %v", c.name, subject.Name(), err, bad)
			}
		}
	}
}

// TestEnginesGrow: the workloads make trees of several levels in the engines with small
// partitions, and in each engine every kind of background work happens.
func TestEnginesGrow(t *testing.T) {
	for _, subject := range Engines() {
		var most store.Metrics
		for _, p := range Profiles() {
			s := newSession(subject, env.NoTrace{}, NewDisk(), newHistory(p.keys(), 0, nil))
			if err, bad := s.open(); err != nil || bad != nil {
				t.Fatal(err, bad)
			}
			ops := p.Generate(1)
			for i := range ops {
				if err, bad := s.exec(&ops[i]); err != nil || bad != nil {
					t.Fatalf("%s, %s: %s: %v %v", subject.Name(), p.Name, &ops[i], err, bad)
				}
				m := s.store.(*engine).db.Metrics()
				most.Height = max(most.Height, m.Height)
				most.Flushes, most.Compactions = max(most.Flushes, m.Flushes), max(most.Compactions, m.Compactions)
				most.Memtables, most.Checkpoints = max(most.Memtables, m.Memtables), max(most.Checkpoints, m.Checkpoints)
				most.BlobBytes, most.JournalBytes = max(most.BlobBytes, m.BlobBytes), max(most.JournalBytes, m.JournalBytes)
			}
			if err, bad := s.close(); err != nil || bad != nil {
				t.Fatal(err, bad)
			}
		}
		small := subject.(Engine).Options.Tuning.LeafBytes == 4<<10
		if small && (most.Height < 3 || most.Flushes == 0) || most.Compactions < 3 || most.Memtables < 5 || most.Checkpoints < 5 ||
			most.BlobBytes == 0 || most.JournalBytes == 0 {
			t.Errorf("%s does too little for itself: %+v", subject.Name(), most)
		}
	}
}
