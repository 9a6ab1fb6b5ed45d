// SPDX-License-Identifier: Apache-2.0

package fpset

import (
	"sync"
	"testing"
)

// TestAdders has several goroutines add the same fingerprints, each with its own
// adder, and works out the owners as a search does: the owner of a fingerprint
// found it and lost it to no other goroutine, so it is the lowest that found it.
// The tables are as large as if one goroutine had added everything.
func TestAdders(t *testing.T) {
	for _, goroutines := range []int{1, 2, 5} {
		const each = 1 << 16
		type found struct {
			i int
			m Mark
		}
		s, alone := NewSeen(), NewSeen()
		adders := make([]*Adder, goroutines)
		for g := range adders {
			adders[g] = s.Adder()
		}
		finds, takes := make([][]found, goroutines), make([][]found, goroutines)
		added := make([]int, goroutines)
		var wg sync.WaitGroup
		for g, a := range adders {
			wg.Go(func() {
				for k := range each {
					i := k ^ g // all are at about one place
					m := seenMarkOf(g, i)
					o, was := a.Add(seenFingerprint(i), m)
					switch o {
					case Present:
						continue
					case Added:
						added[g]++
					case Lowered:
						takes[g] = append(takes[g], found{i, was})
					}
					finds[g] = append(finds[g], found{i, m})
				}
			})
		}
		wg.Wait()
		wanted := make(map[int]Mark)
		for g := range goroutines {
			for k := range each {
				i := k ^ g
				if m, ok := wanted[i]; !ok || seenMarkOf(g, i) < m {
					wanted[i] = seenMarkOf(g, i)
				}
			}
		}
		owned, total := make(map[found]int), 0
		for g := range goroutines {
			for _, f := range finds[g] {
				owned[f]++
			}
			for _, f := range takes[g] {
				owned[f]--
			}
			total += added[g]
		}
		for i, m := range wanted {
			if owned[found{i, m}] != 1 {
				t.Fatalf("%d adders: %d has %d owners with the lowest mark %d", goroutines, i, owned[found{i, m}], m)
			}
			delete(owned, found{i, m})
			alone.Add(seenFingerprint(i), Old)
		}
		for f, n := range owned {
			if n != 0 {
				t.Fatalf("%d adders: %d has %d owners with the mark %d, want %d to own it", goroutines, f.i, n, f.m, wanted[f.i])
			}
		}
		if total != len(wanted) || s.Len() != int64(len(wanted)) || s.Bytes() != alone.Bytes() {
			t.Fatalf("%d adders: %d were added, %d are there in %d bytes, want %d in %d", goroutines, total, s.Len(), s.Bytes(), len(wanted), alone.Bytes())
		}
		for part := range 3 {
			s.SettleAll(part, 3)
		}
		if s.Fresh() != int64(len(wanted)) {
			t.Fatalf("%d adders: %d are settled, want %d", goroutines, s.Fresh(), len(wanted))
		}
		for i := range wanted {
			if o, _ := adders[0].Add(seenFingerprint(i), Old); o != Present {
				t.Fatalf("%d adders: %d is not settled", goroutines, i)
			}
		}
	}
}

// TestAddersGrowTogether has adders take turns in one shard: its table is always as
// large as that of a set with one adder, however many slots others were granted.
func TestAddersGrowTogether(t *testing.T) {
	s, alone := NewSeen(), NewSeen()
	adders := []*Adder{s.Adder(), s.Adder(), s.Adder()}
	for i := range 4000 {
		fp := seenFingerprint(i) >> shardBits
		a := adders[0]
		if i%50 == 0 { // it leaves most of its grant to others
			a = adders[1+i/50%2]
		}
		if o, _ := a.Add(fp, Old); o != alone.Add(fp, Old) {
			t.Fatalf("%d: %d adders and one have different outcomes", i, len(adders))
		}
		if s.Bytes() != alone.Bytes() {
			t.Fatalf("%d: the table of %d adders takes %d bytes, that of one %d", i, len(adders), s.Bytes(), alone.Bytes())
		}
	}
}
