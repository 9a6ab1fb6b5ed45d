// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"testing"

	"pgregory.net/rapid"
)

// TestReplica: a log in another order, with what is told twice, gives the same store;
// a command counts where it is first, and noops do not.
func TestReplica(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.Custom(func(t *rapid.T) string {
			o := Op{Key: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key"), Value: rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "value")}
			return o.Command(rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "name"))
		})
		log := rapid.SliceOfN(rapid.OneOf(op, rapid.Just("noop")), 0, 12).Draw(t, "log")
		want, store := map[string]string{}, map[string]string{}
		for _, c := range log {
			o, ok := Parse(c)
			if _, again := want[c]; again || !ok {
				continue
			}
			want[c] = store[o.Key]
			if o.Value != "" {
				store[o.Key] = o.Value
			}
		}
		r := NewReplica()
		var slots []int
		for i := range log {
			slots = append(slots, i, i)
		}
		for _, i := range rapid.Permutation(slots).Draw(t, "order") {
			if err := r.Tell(uint64(i), log[i]); err != nil {
				t.Fatal(err)
			}
		}
		if r.Applied() != uint64(len(log)) {
			t.Fatalf("%d of %d are applied", r.Applied(), len(log))
		}
		for c, v := range want {
			if got, ok := r.Before(c); !ok || got != v {
				t.Fatalf("before %q: %q, %v; want %q", c, got, ok, v)
			}
		}
	})
}

// TestTwoCommands: a slot with two commands is found, and a gap is waited for.
func TestTwoCommands(t *testing.T) {
	r := NewReplica()
	a, b := Op{"k", "1"}.Command("a"), Op{"k", ""}.Command("b")
	if err := r.Tell(1, b); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Before(b); ok || r.Applied() != 0 {
		t.Error("what comes after a gap is applied")
	}
	if err := r.Tell(0, a); err != nil {
		t.Fatal(err)
	}
	if v, ok := r.Before(b); !ok || (Op{"k", ""}).Result(v) != "1" || (Op{"k", "2"}).Result(v) != "2" {
		t.Errorf("%q, %v", v, ok)
	}
	if r.Tell(1, a) == nil {
		t.Error("a slot has two commands")
	}
}
