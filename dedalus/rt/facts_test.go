// SPDX-License-Identifier: Apache-2.0

package rt_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
)

// TestSlots compares the hash table with a map, with hashes of which many are
// equal, and looks for each row after each change.
func TestSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rt.NewSlots()
		there := map[int32]uint32{}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			row := rapid.Int32Range(0, 40).Draw(t, "row")
			hash, ok := there[row]
			switch k := rapid.IntRange(0, 9).Draw(t, "what"); {
			case k == 0 && len(there) > 20:
				s.Clear()
				clear(there)
			case ok && k < 4:
				s.Remove(hash, row)
				delete(there, row)
			case ok && k < 6 && there[row+100] == 0:
				s.Replace(hash, row, row+100)
				delete(there, row)
				there[row+100] = hash
			case !ok:
				// Neighbours, the last slots of all, and far ones.
				hash := rapid.SampledFrom([]uint32{1, 2, 7, 1<<32 - 1, 1<<32 - 2, 1 << 20}).Draw(t, "hash")
				s.Add(hash, row)
				there[row] = hash
			}
			found := map[int32]uint32{}
			for _, hash := range there {
				for at := hash; ; at++ {
					row, tag := s.At(at)
					if row == 0 {
						break
					}
					if tag == hash {
						found[int32(row-1)] = tag
					}
				}
			}
			if fmt.Sprint(found) != fmt.Sprint(there) {
				t.Fatalf("found %v, want %v", found, there)
			}
		}
	})
}

// TestSlotsAreHalved: a table that was large once does not stay large forever.
func TestSlotsAreHalved(t *testing.T) {
	s := rt.NewSlots()
	for i := range int32(5000) {
		s.Add(uint32(i)*2654435761, i)
	}
	for range 20 {
		s.Clear()
		s.Add(3, 1)
	}
	places := 0
	for at := uint32(0); at < 1<<14; at++ {
		if row, _ := s.At(at); row != 0 {
			places++
		}
	}
	if places < 1<<14/512 {
		t.Errorf("a table with a row has more than %d slots", 1<<14/places)
	}
}

// support is what supports a row, in the plainest way.
type support struct {
	derived, next          int
	pulse, passed, carried bool
	is, was, durable       bool
}

// TestFacts compares Facts with a model in which all rows are looked at in each
// tick.
func TestFacts(t *testing.T) {
	const rows = 4
	rapid.Check(t, func(t *rapid.T) {
		f := rt.NewFacts(false, true)
		var model [rows]support
		at := [rows]int32{-1, -1, -1, -1} // the numbers of rows that are there
		row := func() (int, int32) {
			i := rapid.IntRange(0, rows-1).Draw(t, "row")
			if at[i] < 0 {
				at[i] = f.Row()
				for j := range at {
					if j != i && at[j] == at[i] {
						t.Fatalf("rows %d and %d have one number", i, j)
					}
				}
			}
			return i, at[i]
		}
		sign := func(n int) int32 {
			if n > 0 && rapid.Bool().Draw(t, "less") {
				return -1
			}
			return 1
		}
		for range rapid.IntRange(1, 12).Draw(t, "ticks") {
			quiet := true
			for range rapid.IntRange(0, 4).Draw(t, "supports") {
				quiet = false
				i, n := row()
				m := &model[i]
				if rapid.Bool().Draw(t, "pulse") {
					m.pulse = true
					f.Pulse(n)
				} else {
					s := sign(m.derived)
					m.derived += int(s)
					f.Derive(n, s)
				}
			}
			pending := f.Pending()
			f.Settle()
			held := 0
			changed := map[int32]bool{}
			for i := range model {
				m := &model[i]
				m.is = m.derived > 0 || m.pulse || m.carried
				if m.is {
					held++
				}
				if at[i] >= 0 && (f.Is(at[i]) != m.is || f.Was(at[i]) != m.was) {
					t.Fatalf("row %d is %v, was %v, want %+v", i, f.Is(at[i]), f.Was(at[i]), *m)
				}
				if m.is != m.was {
					changed[at[i]] = true
				}
			}
			if held != f.Held() {
				t.Fatalf("%d hold, want %d", f.Held(), held)
			}
			if got := set(f.Changes); fmt.Sprint(got) != fmt.Sprint(changed) {
				t.Fatalf("changes %v, want %v", got, changed)
			}
			if quiet && !pending && len(changed) > 0 {
				t.Fatal("changes, and nothing was pending")
			}
			for range rapid.IntRange(0, 3).Draw(t, "nexts") {
				i, n := row()
				m := &model[i]
				if rapid.Bool().Draw(t, "pass") {
					m.passed = true
					f.Pass(n)
				} else {
					s := sign(m.next)
					m.next += int(s)
					f.Next(n, s)
				}
			}
			f.Finish()
			logged := map[int32]bool{}
			for i := range model {
				m := &model[i]
				m.carried = m.next > 0 || m.passed
				if m.carried != m.durable {
					logged[at[i]] = true
					m.durable = m.carried
				}
				m.was, m.pulse, m.passed = m.is, false, false
			}
			if got := set(f.Logged); fmt.Sprint(got) != fmt.Sprint(logged) {
				t.Fatalf("logged %v, want %v", got, logged)
			}
			for i, n := range at {
				m := model[i]
				if n < 0 {
					continue
				}
				if slices.Contains(f.Gone, n) {
					if m.derived > 0 || m.next > 0 || m.carried || m.is {
						t.Fatalf("row %d is gone, and %+v", i, m)
					}
					at[i] = -1
				} else if f.OnDisk(n) != m.durable {
					t.Fatalf("row %d is on the disk: %v", i, f.OnDisk(n))
				}
			}
		}
	})
}

func set(rows []int32) map[int32]bool {
	out := map[int32]bool{}
	for _, r := range rows {
		out[r] = true
	}
	return out
}

// TestRecursion: rows that hold by each other only do not.
func TestRecursion(t *testing.T) {
	f := rt.NewFacts(true, false)
	a, b := f.Row(), f.Row()
	// derive has b hold by a, and a by b.
	derive := func(anew bool) {
		f.Begin(anew)
		for i := f.Work(); i >= 0; i = f.Work() {
			f.Recurse(a + b - i)
		}
		f.End(anew)
	}
	f.Pulse(a)
	derive(f.Lost())
	if !f.Is(a) || !f.Is(b) || f.Held() != 2 || f.Dropped() {
		t.Fatal("in the tick of the pulse", f.Is(a), f.Is(b), f.Held())
	}
	f.Finish()
	if !f.Pending() || !f.Lost() {
		t.Fatal("the pulse is over, and nothing is lost")
	}
	derive(f.Lost())
	if f.Is(a) || f.Is(b) || !f.Was(a) || !f.Was(b) || f.Held() != 0 || !f.Dropped() || len(f.Changes) != 2 {
		t.Fatal("in the tick after it", f.Is(a), f.Is(b), f.Held(), f.Changes)
	}
	f.Finish()
	if f.Pending() || len(f.Gone) != 2 {
		t.Fatal("at the end", f.Pending(), f.Gone)
	}
}

// TestHash: texts that are alike have other hashes, and equal ones the same one,
// wherever they are.
func TestHash(t *testing.T) {
	seen := map[uint32]string{}
	var texts []string
	for n := range 70 {
		b := make([]byte, n)
		texts = append(texts, string(b))
		for i := range b {
			b[i] = 1
			texts = append(texts, string(b))
			b[i] = 0
		}
	}
	equal := 0
	for _, s := range texts {
		h := rt.Hash(0).Text(s).Sum()
		if other, ok := seen[h]; ok && other != s {
			equal++
		}
		seen[h] = s
		if copied := string([]byte("x" + s)[1:]); rt.Hash(0).Text(copied).Sum() != h {
			t.Errorf("%q has two hashes", s)
		}
	}
	if equal > 2 {
		t.Errorf("%d of %d texts have the hash of another", equal, len(texts))
	}
}

// TestStrings: strings are what the bytes were, whatever becomes of these.
func TestStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s rt.Strings
		var texts, want []string
		for range rapid.IntRange(0, 200).Draw(t, "texts") {
			text := rapid.SampledFrom([]string{"", "a", "b", "node/1", "node/2", "client/17", "client/71"}).Draw(t, "text")
			if rapid.IntRange(0, 5).Draw(t, "long") == 0 {
				text = string(make([]byte, rapid.IntRange(0, 3000).Draw(t, "size")))
			}
			b := []byte(text)
			if rapid.Bool().Draw(t, "node") {
				texts = append(texts, s.Node(b))
			} else {
				texts = append(texts, s.Text(b))
			}
			want = append(want, text)
			for i := range b {
				b[i] = 'x'
			}
		}
		if !slices.Equal(texts, want) {
			t.Fatalf("%q, want %q", texts, want)
		}
	})
}
