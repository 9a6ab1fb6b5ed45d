// SPDX-License-Identifier: Apache-2.0

package fpset

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// TestSeenAgainstAMap does what a search does with a set, and compares it with
// a map.
func TestSeenAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, want := NewSeen(), map[uint64]Mark{}
		// Few shards, so that they grow; neighbouring values, so that they
		// collide.
		fingerprint := rapid.Custom(func(t *rapid.T) uint64 {
			return rapid.SampledFrom([]uint64{0, 1 << 56, 0xff << 56}).Draw(t, "shard") | rapid.Uint64Range(0, 300).Draw(t, "low")<<rapid.SampledFrom([]int{0, 40}).Draw(t, "by")
		})
		for range rapid.IntRange(1, 12).Draw(t, "segments") {
			var found []uint64
			alone := rapid.IntRange(0, 3).Draw(t, "alone") == 0
			for range rapid.IntRange(0, 200).Draw(t, "candidates") {
				fp, m := fingerprint.Draw(t, "fp"), FirstPiece+Mark(rapid.IntRange(0, PiecesMax-1).Draw(t, "piece"))
				if alone {
					m = Old
				}
				old, ok := want[fp]
				outcome := Present
				switch {
				case !ok:
					outcome = Added
				case m < old:
					outcome = Lowered
				}
				if outcome != Present {
					want[fp] = m
					found = append(found, fp)
				}
				if got := s.Add(fp, m); got != outcome {
					t.Fatalf("Add(%x, %d) with %d: %d, want %d", fp, m, old, got, outcome)
				}
			}
			for _, fp := range found {
				m := want[fp]
				if m < FirstPiece {
					continue
				}
				if rapid.IntRange(0, 5).Draw(t, "known") == 0 {
					s.Recall(fp)
					want[fp] = Cached
				}
				if s.Settle(fp, m+1) && m < 255 {
					t.Fatalf("%x is settled by who does not own it", fp)
				}
				if got := s.Settle(fp, m); got != (want[fp] == m) {
					t.Fatalf("Settle(%x, %d): %v with %d", fp, m, got, want[fp])
				}
				if want[fp] == m {
					want[fp] = Old
				}
			}
			seenMove(t, s, want)
			fresh := int64(0)
			for _, m := range want {
				if m == Old {
					fresh++
				}
			}
			if s.Len() != int64(len(want)) || s.Fresh() != fresh {
				t.Fatalf("%d fingerprints, %d of them in no run, want %d and %d", s.Len(), s.Fresh(), len(want), fresh)
			}
		}
	})
}

// seenMove writes or drops fingerprints as a store would.
func seenMove(t *rapid.T, s *Seen, want map[uint64]Mark) {
	drop := rapid.Bool().Draw(t, "drop")
	forget := func() {
		for fp, m := range want {
			if m == Cached {
				delete(want, fp)
			}
		}
	}
	switch rapid.IntRange(0, 3).Draw(t, "move") {
	case 0:
		forget()
		s.Drop()
	case 1:
		var written, old []uint64
		if err := s.Write(drop, func(fp uint64) error { written = append(written, fp); return nil }); err != nil {
			t.Fatal(err)
		}
		if drop {
			forget()
		}
		for fp, m := range want {
			if m == Old {
				old = append(old, fp)
				want[fp] = Cached
			}
		}
		slices.Sort(old)
		if !slices.Equal(written, old) {
			t.Fatalf("written %x, want %x", written, old)
		}
	}
}

// TestSeenLowestMarkStays has several goroutines add the same fingerprints; the
// lowest mark of each stays, and each is added once.
func TestSeenLowestMarkStays(t *testing.T) {
	const goroutines, each = 8, 20000
	s := NewSeen()
	added := make([]int, goroutines)
	lowest := make([]Mark, each)
	for i := range lowest {
		lowest[i] = 255
		for g := range goroutines {
			lowest[i] = min(lowest[i], seenMarkOf(g, i))
		}
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				if s.Add(seenFingerprint(i), seenMarkOf(g, i)) == Added {
					added[g]++
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range added {
		total += n
	}
	if total != each || s.Len() != each {
		t.Errorf("%d were added, %d are there, want %d", total, s.Len(), each)
	}
	for i := range each {
		if !s.Settle(seenFingerprint(i), lowest[i]) {
			t.Fatalf("the mark of %d is not %d", i, lowest[i])
		}
	}
}

func seenFingerprint(i int) uint64 { return Hash([]byte(fmt.Sprint(i))) }

func seenMarkOf(g, i int) Mark { return FirstPiece + Mark((g*7919+i*31)%PiecesMax) }

// TestSeenBytes: a fingerprint takes 8 to 13 bytes, whatever their number.
func TestSeenBytes(t *testing.T) {
	s := NewSeen()
	for i := range 1 << 20 {
		s.Add(seenFingerprint(i), Old)
		if i > 1<<14 && i%9973 == 0 {
			if per := float64(s.Bytes()) / float64(s.Len()); per < 8 || per > 13 {
				t.Fatalf("%d fingerprints take %.1f bytes each", s.Len(), per)
			}
		}
	}
}

func BenchmarkSeen(b *testing.B) {
	s := NewSeen()
	for i := range b.N {
		s.Add(Hash([]byte{byte(i), byte(i >> 8), byte(i >> 16), byte(i >> 24)}), Old)
	}
	b.ReportMetric(float64(s.Bytes())/float64(s.Len()), "B/state")
}
