// SPDX-License-Identifier: Apache-2.0

package typed

import (
	"math/rand/v2"
	"testing"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestTail: a sequence is the kept start of its previous value followed by the
// tail, and no longer start could be kept.
func TestTail(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s Seq[int32, Ints]
	for range 3000 {
		was := s
		if rng.IntN(10) == 0 {
			s = s.Sub(1, rng.Int32N(s.Len()+1))
		}
		if rng.IntN(20) == 0 && s.Len() > 0 {
			s = s.With(1+rng.Int32N(s.Len()), -1)
		}
		for range rng.IntN(40) {
			s = s.Append(rng.Int32N(3))
		}
		keep, tail := Tail(was, s)
		if keep > int(min(was.Len(), s.Len())) || keep+len(tail) != int(s.Len()) {
			t.Fatalf("of %d elements %d were kept, and %d follow: there are %d", was.Len(), keep, len(tail), s.Len())
		}
		for i := int32(1); i <= s.Len(); i++ {
			switch {
			case int(i) <= keep && was.At(i) != s.At(i), int(i) > keep && !value.Equal(tail[int(i)-keep-1], value.Int(s.At(i))):
				t.Fatalf("element %d is wrong: %d were kept", i, keep)
			}
		}
		if k := int32(keep); k < min(was.Len(), s.Len()) && was.At(k+1) == s.At(k+1) {
			t.Fatalf("%d were kept, and one more is as it was", keep)
		}
	}
}
