// SPDX-License-Identifier: Apache-2.0

package fpset

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// TestAgainstMap runs the set beside a map from fingerprints to claims.
func TestAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, model := New(), map[uint64]uint32{}
		// Few fingerprints, in few shards and slots, so that they meet.
		fps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) uint64 {
			return rapid.Uint64Range(0, 3).Draw(t, "shard")<<62 | rapid.Uint64Range(0, 40).Draw(t, "slot")
		}), 1, 300).Draw(t, "fps")
		for _, fp := range fps {
			claim := rapid.Uint32Range(0, 9).Draw(t, "claim")
			key := fp
			if key == 0 {
				key = 1
			}
			was, ok := model[key]
			want := Present
			switch {
			case !ok:
				want, model[key] = Added, claim
			case claim < was:
				want, model[key] = Lowered, claim
			}
			if got := s.Add(fp, claim); got != want {
				t.Fatalf("Add(%x, %d) = %d, want %d", fp, claim, got, want)
			}
		}
		if got := s.Len(); got != int64(len(model)) {
			t.Fatalf("Len() = %d, want %d", got, len(model))
		}
		for fp, want := range model {
			if got, ok := s.Claim(fp); !ok || got != want {
				t.Fatalf("Claim(%x) = %d, %v, want %d", fp, got, ok, want)
			}
		}
		if _, ok := s.Claim(77 << 40); ok {
			t.Fatal("a fingerprint that was not added is in the set")
		}
	})
}

// TestConcurrentAdds lets goroutines claim the same fingerprints in different
// orders: each is added once and keeps its lowest claim.
func TestConcurrentAdds(t *testing.T) {
	const workers, n = 4, 20000
	s := New()
	added := make([]int, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range n {
				k := (i*7919 + w*n/workers) % n
				if s.Add(Hash(binary.LittleEndian.AppendUint32(nil, uint32(k))), uint32(w+k)) == Added {
					added[w]++
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, a := range added {
		total += a
	}
	if total != n || s.Len() != n {
		t.Errorf("added %d, Len() = %d, want %d", total, s.Len(), n)
	}
	for k := range n {
		if got, ok := s.Claim(Hash(binary.LittleEndian.AppendUint32(nil, uint32(k)))); !ok || got != uint32(k) {
			t.Fatalf("claim of %d: %d, %v", k, got, ok)
		}
	}
}

// TestHashTellsStatesApart hashes inputs that differ little: no two collide,
// and the bits that choose shard and slot are evenly distributed.
func TestHashTellsStatesApart(t *testing.T) {
	seen := map[uint64]string{}
	var high, low [256]int
	n := 0
	try := func(b []byte) {
		h := Hash(b)
		if was, ok := seen[h]; ok && was != string(b) {
			t.Fatalf("%x and %x have the same hash", was, b)
		}
		if _, ok := seen[h]; !ok {
			seen[h] = string(b)
			high[h>>56]++
			low[h&255]++
			n++
		}
	}
	for length := range 70 {
		try(make([]byte, length)) // zeros differ by length only
		for i := range length {
			for bit := range 8 {
				b := make([]byte, length)
				b[i] = 1 << bit
				try(b)
				for j := range i {
					b[j] = 1
					try(b)
					b[j] = 0
				}
			}
		}
	}
	for i := range uint32(200000) {
		try(binary.LittleEndian.AppendUint32([]byte("counter"), i))
	}
	for name, count := range map[string][256]int{"high": high, "low": low} {
		want, chi := float64(n)/256, 0.0
		for _, c := range count {
			chi += (float64(c) - want) * (float64(c) - want) / want
		}
		// With 255 degrees of freedom chi square exceeds 400 once in 10^8.
		if chi > 400 {
			t.Errorf("%s bits: chi square is %.0f over 255 degrees of freedom", name, chi)
		}
	}
}

// TestHashAvalanche flips each bit of an input: about half of the hash flips.
func TestHashAvalanche(t *testing.T) {
	for _, length := range []int{1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64} {
		total, flips := 0, 0
		for trial := range 64 {
			b := make([]byte, length)
			for i := range b {
				b[i] = byte(trial*31 + i*17)
			}
			h := Hash(b)
			for bit := range 8 * length {
				b[bit/8] ^= 1 << (bit % 8)
				flips += bits.OnesCount64(h ^ Hash(b))
				total += 64
				b[bit/8] ^= 1 << (bit % 8)
			}
		}
		if ratio := float64(flips) / float64(total); math.Abs(ratio-0.5) > 0.02 {
			t.Errorf("length %d: a flipped bit flips %.3f of the hash", length, ratio)
		}
	}
}

func TestCollision(t *testing.T) {
	for _, tt := range []struct {
		n    int64
		want string
	}{{0, "0"}, {1, "0"}, {2, "5.42e-20"}, {1 << 32, "0.5"}, {1 << 40, "1"}} {
		if got := fmt.Sprintf("%.3g", Collision(tt.n)); got != tt.want {
			t.Errorf("Collision(%d) = %s, want %s", tt.n, got, tt.want)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	for _, n := range []int{8, 32, 64, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			data := make([]byte, n)
			b.SetBytes(int64(n))
			var sum uint64
			for i := range b.N {
				data[0] = byte(i)
				sum += Hash(data)
			}
			if sum == 1 {
				b.Log(sum)
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	s := New()
	for i := range b.N {
		x := uint64(i)
		s.Add(Hash(binary.LittleEndian.AppendUint64(nil, x)), 1)
	}
	b.ReportMetric(float64(s.Bytes())/float64(s.Len()), "B/state")
}
