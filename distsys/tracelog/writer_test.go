// SPDX-License-Identifier: Apache-2.0

package tracelog_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
)

type lines []string

func (l *lines) Append(b []byte) error { *l = append(*l, string(b)); return nil }

// TestLinesAreJSON reads random events, of which the strings have anything in
// them, with encoding/json: the writer has an encoder of its own.
func TestLinesAreJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	alphabet := []rune("ab01<>&/ \\\"\n\t\x00\x1f\x7f\u00e9\u2028\u65e5\U0001F600")
	text := func() string {
		var b strings.Builder
		for range rng.IntN(6) {
			b.WriteRune(alphabet[rng.IntN(len(alphabet))])
		}
		return b.String()
	}
	texts := func() (out []string) {
		for range rng.IntN(3) {
			out = append(out, text())
		}
		return out
	}
	var got lines
	w, err := tracelog.NewWriter(&got, tracelog.Header{System: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		e := tracelog.Event{N: rng.Uint64() >> rng.IntN(64), Label: text(), Next: text(), Kept: rng.IntN(2) == 0, Start: rng.Int64() - rng.Int64(), End: rng.Int64()}
		for range rng.IntN(3) {
			e.Elements = append(e.Elements, tracelog.Element{Op: text(), Name: text(), Indices: texts(), Value: text()})
		}
		for range rng.IntN(3) {
			e.Vars = append(e.Vars, tracelog.Var{Name: text(), Value: text()})
		}
		for range rng.IntN(3) {
			e.Clock = append(e.Clock, tracelog.Tick{Actor: text(), N: rng.Uint64()})
		}
		if rng.IntN(4) == 0 {
			e.Aborted = text()
		}
		if err := w.Record(&e); err != nil {
			t.Fatal(err)
		}
		line := got[len(got)-1]
		var back tracelog.Event
		if err := json.Unmarshal([]byte(line), &back); err != nil || strings.IndexByte(line, '\n') != len(line)-1 {
			t.Fatalf("%q: %v", line, err)
		}
		if diff := cmp.Diff(e, back); diff != "" {
			t.Fatalf("%q: %s", line, diff)
		}
	}
}

// TestRecordAllocatesNothing: the events of a running system.
func TestRecordAllocatesNothing(t *testing.T) {
	w, err := tracelog.NewWriter(discard{}, tracelog.Header{System: "s"})
	if err != nil {
		t.Fatal(err)
	}
	e := tracelog.Event{N: 1, Label: "a", Next: "b", Clock: tracelog.Clock{{Actor: "A(1)", N: 1}},
		Elements: []tracelog.Element{{Op: tracelog.Write, Name: "net", Indices: []string{"1"}, Value: `<<1, 2>>`}}}
	if n := testing.AllocsPerRun(200, func() {
		if err := w.Record(&e); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

type discard struct{}

func (discard) Append([]byte) error { return nil }
