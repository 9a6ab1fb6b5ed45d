// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// parse reads a history: a line is "begin end status op op ...", an op is x+1 or
// x=1,2.
func parse(t *testing.T, text string) []Txn {
	t.Helper()
	var out []Txn
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Fields(line)
		x := Txn{Status: map[string]Status{"ok": Committed, "no": Aborted, "?": Unknown}[f[2]]}
		x.Begin, _ = strconv.ParseInt(f[0], 10, 64)
		x.End, _ = strconv.ParseInt(f[1], 10, 64)
		for _, o := range f[3:] {
			if k, v, ok := strings.Cut(o, "+"); ok {
				x.Ops = append(x.Ops, Op{Key: k, Append: v})
			} else if k, v, ok := strings.Cut(o, "="); ok {
				op := Op{Key: k}
				if v != "" {
					op.List = strings.Split(v, ",")
				}
				x.Ops = append(x.Ops, op)
			} else {
				t.Fatalf("op %q", o)
			}
		}
		out = append(out, x)
	}
	return out
}

func TestAnomalies(t *testing.T) {
	for _, c := range []struct{ name, history, want string }{
		{"serial", `
			0 1 ok x+1 y+1
			2 3 ok x=1 y=1 x+2 x=1,2
			4 5 ok x=1,2 y=1`, ""},
		{"overlapping in either order", `
			0 9 ok x+1
			0 9 ok x+2
			0 9 ok x=2,1`, ""},
		{"an unknown one that was read", `
			0 1 ? x+1
			2 3 ok x=
			4 5 ok x=1`, ""},
		{"an unknown one that was not", `
			0 1 ? x+1
			2 3 ok x=`, ""},
		{"internal: own append is missing", `
			0 1 ok x+1 x=`, "internal: T0 read [] of \"x\", after its own appends [\"1\"]"},
		{"internal: two reads differ", `
			0 1 ok x+1
			2 3 ok x= x=1`, "internal: T1 read [\"1\"] of \"x\", after its own appends []\nG-single: T1 -rw(x)-> T0 -wr(x)-> T1"},
		{"garbage", `
			0 1 ok x=7`, "garbage: T0 read \"7\" in \"x\", which nobody appended"},
		{"twice", `
			0 1 ok x+1
			2 3 ok x=1,1`, "garbage: T1 read \"1\" twice in \"x\""},
		{"incompatible", `
			0 9 ok x+1
			0 9 ok x+2
			0 9 ok x=1
			0 9 ok x=2`, "incompatible order: of \"x\" T3 read [\"2\"] and T2 [\"1\"]"},
		{"G1a", `
			0 1 no x+1
			2 3 ok x=1`, "G1a: T1 read \"1\" in \"x\", of T0, which was aborted"},
		{"G1b", `
			0 9 ok x+1 x+2
			0 9 ok x=1
			0 9 ok x=1,2`, "G1b: T1 read \"x\" up to \"1\", in the middle of T0\nG-single: T1 -rw(x)-> T0 -wr(x)-> T1"},
		{"G0", `
			0 9 ok x+1 y+1
			0 9 ok x+2 y+2
			0 9 ok x=1,2
			0 9 ok y=2,1`, "G0: T0 -ww(x)-> T1 -ww(y)-> T0"},
		{"G1c", `
			0 9 ok x+1 y=1
			0 9 ok x=1 y+1`, "G1c: T0 -wr(x)-> T1 -wr(y)-> T0"},
		{"G-single: lost update", `
			0 9 ok x= x+1
			0 9 ok x= x+2
			0 9 ok x=1,2`, "G-single: T1 -rw(x)-> T0 -ww(x)-> T1"},
		{"G-single: read skew", `
			0 9 ok x+1 y+1
			0 9 ok x= y=1`, "G-single: T1 -rw(x)-> T0 -wr(y)-> T1"},
		{"G2: write skew", `
			0 9 ok x= y+1
			0 9 ok y= x+1
			0 9 ok x=1 y=1`, "G2: T0 -rw(x)-> T1 -rw(y)-> T0"},
		{"stale read", `
			0 1 ok x+1
			2 3 ok x=`, "G-single-realtime: T1 -rw(x)-> T0 -rt-> T1"},
		{"an append before another that had ended", `
			0 1 ok x+1
			2 3 ok x+2
			4 5 ok x=2,1`, "G0-realtime: T0 -rt-> T1 -ww(x)-> T0"},
		{"read from the future", `
			0 1 ok x=1
			2 3 ok x+1`, "G1c-realtime: T0 -rt-> T1 -wr(x)-> T0"},
		{"two reads missed in turn", `
			0 9 ok x+1
			0 9 ok y+1
			1 2 ok x= y=1
			3 4 ok x=1 y=`, "G2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.TrimSpace(Describe(Check(parse(t, c.history)), 9))
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestSerialHistoriesPass runs transactions one at a time, and their clients learn the
// results sooner or later.
func TestSerialHistoriesPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := serial(t)
		if found := Check(h); len(found) > 0 {
			t.Fatalf("%s\n%+v", Describe(found, 3), h)
		}
	})
}

// TestSwappedReadsAreFound takes the last read of a serial history, of a list of at least
// two elements, and changes its result to the list before the last append, although that
// append had ended.
func TestSwappedReadsAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := serial(t)
		for i := range h {
			h[i].Begin, h[i].End = int64(10*i), int64(10*i+5)
			h[i].Status = Committed
		}
		for i := range h {
			if len(h[i].Ops) != 1 || len(h[i].Ops[0].List) == 0 {
				continue
			}
			o := &h[i].Ops[0]
			o.List = o.List[:len(o.List)-1]
			if len(Check(h)) == 0 {
				t.Fatalf("a read that misses the last append passes: %d of %+v", i, h)
			}
			return
		}
	})
}

func serial(t *rapid.T) []Txn {
	lists := map[string][]string{}
	var h []Txn
	n := rapid.IntRange(1, 30).Draw(t, "txns")
	for i := range n {
		x := Txn{Begin: int64(10*i - rapid.IntRange(0, 50).Draw(t, "early")), End: int64(10*i + rapid.IntRange(1, 50).Draw(t, "late"))}
		if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
			x.Status = Unknown
		}
		for j := range rapid.IntRange(1, 4).Draw(t, "ops") {
			k := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "key")
			if rapid.Bool().Draw(t, "append") {
				v := fmt.Sprint(i, ".", j)
				lists[k] = append(lists[k], v)
				x.Ops = append(x.Ops, Op{Key: k, Append: v})
			} else {
				x.Ops = append(x.Ops, Op{Key: k, List: slices.Clone(lists[k])})
			}
		}
		h = append(h, x)
	}
	return h
}
