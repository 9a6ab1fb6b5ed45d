// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"strings"
	"testing"
)

// parse makes a history of lines: NAME BEGAN ENDED ops, where a name in brackets is of
// a transaction that did not commit. Ops are rK=V (absent: rK), sK-L=K:V,K:V, wK=V,
// aK=V, dK and DK-L. Order has the names.
func parse(text, order string) *History {
	h := &History{}
	index := map[string]int{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		t := Txn{Name: strings.Trim(f[0], "()"), Committed: f[0][0] != '('}
		if _, err := fmt.Sscan(f[1], &t.Began); err != nil {
			panic(err)
		}
		if _, err := fmt.Sscan(f[2], &t.Ended); err != nil {
			panic(err)
		}
		for _, op := range f[3:] {
			what, value, found := strings.Cut(op[1:], "=")
			key, end, _ := strings.Cut(what, "-")
			o := Op{Key: key, Value: value, End: end, Found: found}
			switch op[0] {
			case 'r':
				o.Kind = Read
			case 's':
				o.Kind, o.Value, o.Found, o.Rows = Scan, "", false, map[string]string{}
				for row := range strings.SplitSeq(value, ",") {
					if k, v, ok := strings.Cut(row, ":"); ok {
						o.Rows[k] = v
					}
				}
			case 'w':
				o.Kind = Put
			case 'a':
				o.Kind = Append
			case 'd':
				o.Kind = Delete
			case 'D':
				o.Kind = DeleteRange
			}
			t.Ops = append(t.Ops, o)
		}
		index[t.Name] = len(h.Txns)
		h.Txns = append(h.Txns, t)
	}
	for name := range strings.FieldsSeq(order) {
		h.Order = append(h.Order, index[name])
	}
	return h
}

// TestAnomalies has histories that no serial order explains, by their names in the
// literature, and the expected reports of the checker.
func TestAnomalies(t *testing.T) {
	for _, c := range []struct{ name, history, order, want string }{
		{"lost update", "T0 0 1 wx=0\nA 2 9 rx=0 wx=a\nB 3 8 rx=0 wx=b", "T0 A B", "rw"},
		{"lost append", "A 0 9 rx ax=a\nB 1 8 rx ax=b", "A B", "rw"},
		{"write skew", "T0 0 1 wx=0 wy=0\nA 2 9 rx=0 ry=0 wx=a\nB 3 8 rx=0 ry=0 wy=b", "T0 A B", "rw"},
		{"write skew by a phantom", "A 2 9 sa-c= wx=1\nB 3 8 sx-z= wa=1", "A B", "rw"},
		{"phantom between two scans", "A 0 9 sa-c= rz=1\nB 1 2 wb=1 wz=1", "B", "before each other"},
		{"phantom that is deleted", "T0 0 1 wb=0\nA 2 9 sa-c=b:0 ry=1\nB 3 4 Da-z wy=1", "T0 B", "before each other"},
		{"range delete skew", "T0 0 1 wa=0 wb=0\nA 2 9 ra=0 Db-c\nB 3 8 rb=0 Da-b", "T0 A B", "rw"},
		{"read skew", "T0 0 1 wx=0 wy=0\nA 2 9 rx=0 ry=1\nB 3 4 wx=1 wy=1", "T0 B", "before each other"},
		{"long fork", "A 0 9 wx=1\nB 0 9 wy=1\nC 1 8 rx=1 ry\nD 1 8 rx ry=1", "A B", "before each other"},
		{"two states of a key", "T0 0 1 wx=0\nA 2 9 rx=0 rx=1\nB 3 4 wx=1", "T0 B", "two states"},
		{"two states by a scan", "A 2 9 rx sa-z=x:1\nB 3 4 wx=1", "B", "two states"},
		{"dirty read", "(A) 0 9 wx=a\nB 1 8 rx=a", "", "which no transaction that committed has left"},
		{"intermediate read", "A 0 9 wx=1 wx=2\nB 1 8 rx=1", "A", "which no transaction that committed has left"},
		{"value from nowhere", "A 0 9 rx=1", "", "which no transaction that committed has left"},
		{"circular information flow", "A 0 9 wx=a ry=b\nB 1 8 wy=b rx=a", "A B", "wr"},
		{"stale read", "T0 0 1 wx=0\nA 2 3 wx=1\nB 4 5 rx=0", "T0 A", "rt"},
		{"stale absence", "A 2 3 wx=1\nB 4 5 rx", "A", "rt"},
		{"stale absence after a delete", "T0 0 1 wx=0\nA 2 3 dx\nC 4 5 wx=1\nB 6 7 rx", "T0 A C", "rt"},
		{"order against real time", "A 0 1 wx=a\nB 2 3 wx=b", "B A", "rt"},
		{"own put not seen", "A 0 9 wx=1 rx", "A", "own changes"},
		{"own delete not seen", "T0 0 1 wx=0\nA 2 9 dx rx=0", "T0 A", "own changes"},
		{"own range delete not seen", "T0 0 1 wx=0\nA 2 9 Da-z sa-z=x:0", "T0 A", "own changes"},
		{"own append not seen", "T0 0 1 wx=0\nA 2 9 ax=1 rx=0", "T0 A", "own changes"},
		{"lost transaction", "A 0 9 wx=1", "", "lost"},
		{"undead transaction", "(A) 0 9 wx=1", "A", "did not commit"},
		{"twice", "A 0 9 wx=1", "A A", "twice"},
		{"read skew without a commit", "T0 0 1 wx=0 wy=0\n(A) 2 9 rx=0 ry=1\nB 3 4 wx=1 wy=1", "T0 B", "before each other"},
		{"stale read without a commit", "T0 0 1 wx=0\nA 2 3 wx=1\n(B) 4 5 rx=0 wy=1", "T0 A", "rt"},
		{"dirty read without a commit", "(A) 0 9 wx=a\n(B) 1 8 rx=a", "", "which no transaction that committed has left"},
		{"overwritten value that another one left", "A 0 9 wx=1 wx=2\nB 1 8 rx=1\nC 2 7 wx=1", "C A", "twice"},
		{"discarded value that another one left", "(A) 0 9 wx=1\nB 1 8 rx=1\nC 2 7 wx=1", "C", "twice"},
		{"discarded operand that another one left", "(A) 0 9 ax=1\nB 1 8 rx=1\nC 2 7 wx=1", "C", "twice"},
		{"discarded sum that another one left", "(A) 0 9 wx=1 ax=2\nB 1 8 rx=12\nC 2 7 wx=12", "C", "twice"},
		{"discarded sum upon nothing", "(A) 0 9 dx ax=1 ax=2\nB 1 8 rx=12\nC 2 7 wx=12", "C", "twice"},
		{"overwritten sum that another one left", "A 0 9 wx=1 ax=2 dx\nB 1 8 rx=12\nC 2 7 wx=12", "C A", "twice"},
		{"never absent", "T0 0 1 wx=0\nA 2 3 wx=1\nB 4 5 rx", "T0 A", "rt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var a *Anomaly
			if err := Check(parse(c.history, c.order)); !errors.As(err, &a) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestSerializable has histories that a serial order explains, similar to those that none
// does.
func TestSerializable(t *testing.T) {
	for _, c := range []struct{ name, history, order string }{
		{"nothing", "", ""},
		{"update after update", "T0 0 1 wx=0\nA 2 9 rx=0 wx=a\nB 3 8 rx=a wx=b", "T0 A B"},
		{"both read, one writes", "T0 0 1 wx=0 wy=0\nA 2 9 rx=0 ry=0 wx=a\nB 3 8 rx=0 ry=0", "T0 A"},
		{"blind writes", "A 0 9 wx=a wy=a\nB 1 8 wx=b wy=b", "A B"},
		{"reader in the past of a concurrent writer", "T0 0 1 wx=0\nA 2 9 rx=0\nB 3 4 wx=1", "T0 B"},
		{"forks that join", "A 0 9 wx=1\nB 0 9 wy=1\nC 1 8 rx=1 ry\nD 1 8 rx=1 ry=1", "A B"},
		{"aborted, and read by nobody", "(A) 0 9 rx wx=a\nB 1 8 rx", ""},
		{"an aborted one that saw something", "T0 0 1 wx=0\n(A) 2 9 rx=0 wx=a\nB 3 8 rx=0 wx=b", "T0 B"},
		{"own changes", "A 0 9 wx=1 rx=1 ax=2 rx=12 dx rx ax=3 rx=3 Da-z rx wx=4 sa-z=x:4", "A"},
		{"own append upon what was", "T0 0 1 wx=0\nA 2 9 ax=1 rx=01", "T0 A"},
		{"deleted and put again", "T0 0 1 wx=0\nA 2 3 dx\nB 4 5 wx=1\nC 2 6 rx\nD 5 6 rx=1\nE 6 7 dx\nF 8 9 rx", "T0 A B E"},
		{"absent before and after", "A 0 9 rx ry=1\nT0 0 3 wx=0\nB 4 5 dx wy=1", "T0 B"},
		{"readers that follow each other", "T0 0 1 wy=0\nA 2 9 wx=1 dx dy\nB 3 4 ry\nC 5 6 rx", "T0 A"},
		{"an empty range and a neighbour", "A 2 9 sa-c= wx=1\nB 3 8 sx-z= wc=1", "B A"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := Check(parse(c.history, c.order)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRandomHistories makes histories of a serial run, whose transactions overlap in
// time but not in effect: they pass. Then one read is made to see the state of another
// moment that differs: they fail.
func TestRandomHistories(t *testing.T) {
	stale := 0
	for seed := range int64(300) {
		r := rand.New(rand.NewSource(seed))
		h := &History{}
		states := []State{{}}
		for i := range 30 {
			now := maps.Clone(states[len(states)-1])
			txn := Txn{Name: fmt.Sprint("T", i), Committed: true, Began: int64(10*i - r.Intn(20)), Ended: int64(10*i + r.Intn(20))}
			for n := range 1 + r.Intn(4) {
				o := Op{Kind: Kind(r.Intn(6)), Key: string(rune('a' + r.Intn(6))), Value: fmt.Sprintf("%d.%d,", i, n)}
				switch o.Kind {
				case Read:
					o.Value, o.Found = now[o.Key], now[o.Key] != ""
				case Scan:
					o.End = string(rune(o.Key[0] + byte(r.Intn(4))))
					o.Rows = map[string]string{}
					for k, v := range now {
						if o.in(k) {
							o.Rows[k] = v
						}
					}
				case DeleteRange:
					o.End = string(rune(o.Key[0] + byte(r.Intn(3))))
				}
				now.Apply(o)
				txn.Ops = append(txn.Ops, o)
			}
			if txn.writes() {
				h.Order = append(h.Order, i)
				states = append(states, now)
			}
			h.Txns = append(h.Txns, txn)
		}
		if got := h.After(len(h.Order)); !maps.Equal(got, states[len(states)-1]) {
			t.Fatalf("seed %d: the state after all is %v, want %v", seed, got, states[len(states)-1])
		}
		if err := Check(h); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		// A reader at the end, after all others, that sees an old state.
		old, last := states[r.Intn(len(states)-1)], states[len(states)-1]
		if maps.Equal(old, last) {
			continue
		}
		stale++
		h.Txns = append(h.Txns, Txn{Name: "R", Committed: true, Began: 1000, Ended: 1001, Ops: []Op{{Kind: Scan, Key: "a", Rows: old}}})
		if Check(h) == nil {
			t.Fatalf("seed %d: a read of %v, when the state is %v", seed, old, last)
		}
	}
	if stale < 200 {
		t.Errorf("%d histories had a stale read", stale)
	}
}
