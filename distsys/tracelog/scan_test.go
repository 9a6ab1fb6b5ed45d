// SPDX-License-Identifier: Apache-2.0

package tracelog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// agree checks that encoding/json reads a line that the scanner reads, and the
// same in it. It reports whether the scanner read it.
func agree(t *testing.T, s *scanner, line []byte) bool {
	t.Helper()
	var got, want Event
	if !s.event(line, &got) {
		return false
	}
	if err := decode(line, &want); err != nil {
		t.Fatalf("the scanner reads %q, encoding/json says %v", line, err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%q: encoding/json, then the scanner:\n%s", line, diff)
	}
	return true
}

// TestScannerReadsAsJSON: what a Writer writes is read as encoding/json reads it,
// and so is whatever else the scanner reads of lines with other bytes in them.
func TestScannerReadsAsJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	text := func() string {
		return pick("x", "", `[from |-> 1, type |-> "lock"]`, "<<1, 2>>", `a\b`, "tab\there", "{}", fmt.Sprint(r.IntN(1e9)))
	}
	var s scanner
	written, changed := 0, 0
	for range 3000 {
		e := Event{N: r.Uint64N(1e6), Label: text(), Next: text(), Kept: r.IntN(2) == 0, Start: r.Int64N(1e15), End: r.Int64N(1e15)}
		for range r.IntN(3) {
			x := Element{Op: pick(Read, Write), Name: text(), Value: text()}
			for range r.IntN(3) {
				x.Indices = append(x.Indices, text())
			}
			e.Elements = append(e.Elements, x)
		}
		for range r.IntN(3) {
			e.Vars = append(e.Vars, Var{text(), text()})
		}
		for range r.IntN(4) {
			e.Clock = append(e.Clock, Tick{text(), r.Uint64N(100)})
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if agree(t, &s, line) {
			written++
		} else if !bytes.Contains(line, []byte(`\t`)) && !bytes.Contains(line, []byte(`"clock":null`)) {
			t.Fatalf("a plain line is not read: %s", line)
		}
		for range 4 {
			other := bytes.Clone(line)
			for range 1 + r.IntN(2) {
				at := r.IntN(len(other))
				switch r.IntN(4) {
				case 0:
					other[at] = `{}[]",:\0159aet`[r.IntN(15)]
				case 1:
					other[at] = byte(r.IntN(256))
				case 2:
					other = append(other[:at], other[min(at+1+r.IntN(8), len(other)):]...)
				case 3: // twice
					to := min(at+r.IntN(30), len(other))
					other = append(other[:to:to], other[at:]...)
				}
				if len(other) == 0 {
					break
				}
			}
			if agree(t, &s, other) {
				changed++
			}
		}
	}
	if written < 500 || changed < 200 {
		t.Errorf("the scanner read %d lines and %d damaged ones, want 500 and 200", written, changed)
	}
}
