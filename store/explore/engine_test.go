package explore

import (
	"testing"

	"github.com/ashlar-dev/ashlar/env"
)

// TestWhatOnceFailed does sequences in which the store was once wrong.
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
