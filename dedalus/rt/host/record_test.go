// SPDX-License-Identifier: Apache-2.0

package host

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
)

// TestRecords: the changes of ticks come back tick by tick; of a tick whose last record
// is missing nothing comes back, nor does it spoil the next one.
func TestRecords(t *testing.T) {
	p := &rt.Program{Relations: make([]rt.Relation, 3)}
	rapid.Check(t, func(t *rapid.T) {
		var got, want []string
		tell := func(c rt.Change) string {
			return fmt.Sprint(c.Relation, c.Gone, len(c.Row), bytes.TrimRight(c.Row, "\x00"))
		}
		g := group{program: p, restore: func(c rt.Change) error { got = append(got, tell(c)); return nil }}
		var r record
		for range rapid.IntRange(1, 4).Draw(t, "ticks") {
			var changes []rt.Change
			for i := range rapid.IntRange(1, 5).Draw(t, "changes") {
				row := make([]byte, rapid.SampledFrom([]int{0, 1, 300, recordTarget / 2, recordTarget + 1}).Draw(t, "row"))
				if len(row) > 0 {
					row[0] = byte(i + 1)
				}
				changes = append(changes, rt.Change{Relation: rapid.IntRange(0, 2).Draw(t, "relation"), Gone: rapid.Bool().Draw(t, "gone"), Row: row})
			}
			parts := rapid.Bool().Draw(t, "a checkpoint")
			r.set(changes, parts)
			n := r.Len()
			torn := !parts && n > 1 && rapid.Bool().Draw(t, "torn")
			if torn {
				n = rapid.IntRange(0, n-1).Draw(t, "records")
			}
			for i := range n {
				if len(r.Record(i)) > 2*recordTarget {
					t.Fatalf("a record of %d bytes", len(r.Record(i)))
				}
				if err := g.redo(r.Record(i)); err != nil {
					t.Fatal(err)
				}
			}
			if torn {
				continue
			}
			for _, c := range changes {
				want = append(want, tell(c))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("came back: %v\nwant: %v", got, want)
		}
	})
	g := group{program: p, restore: func(rt.Change) error { return nil }}
	for _, bad := range []string{"", "\x02\x00\x00", "\x07\x00\x00", "\x03\x08\x00", "\x03\x00\x01"} {
		if g.redo([]byte(bad)) == nil {
			t.Errorf("a record of %q is taken", bad)
		}
		g.begun = false
	}
}
