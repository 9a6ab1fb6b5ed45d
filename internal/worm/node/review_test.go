// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestFurther: what others have seen of a server against what its disk says of its
// past: it was last begun in generation 5, by life 50, and has 100 records. It was
// opened once more since, and ended before that was written down.
func TestFurther(t *testing.T) {
	r := report{sighting{place{7, 100}, 70}, 100, sighting{place{5, 90}, 50}}
	for _, x := range []struct {
		what string
		seen sighting
		want bool
	}{
		{"nothing", sighting{}, false},
		{"an earlier life", sighting{place{4, 80}, 40}, false},
		{"the last life", sighting{place{5, 100}, 50}, false},
		{"the last life, with more than the disk has", sighting{place{5, 101}, 50}, true},
		{"another life of that generation", sighting{place{5, 95}, 51}, true},
		{"a life that told of itself, and of which the disk knows nothing", sighting{place{6, 100}, 60}, true},
		{"this one", sighting{place{7, 110}, 70}, false},
		{"another one of this generation", sighting{place{7, 110}, 71}, true},
		{"a later one", sighting{place{8, 1}, 80}, true},
	} {
		if got := r.further(x.seen); got != x.want {
			t.Errorf("%s: further is %v, want %v", x.what, got, x.want)
		}
	}
	first := report{now: sighting{place{1, 0}, 10}}
	if first.further(sighting{place{1, 5}, 10}) || !first.further(sighting{place{1, 5}, 11}) {
		t.Error("the first generation")
	}
}

// TestFalseClaimsGoFirst: a flood of claims that were found false does not have a
// true one forgotten, before the client that has a segment trimmed asks again; and
// the table is bounded whatever is in it.
func TestFalseClaimsGoFirst(t *testing.T) {
	var s Server
	b := beliefs{s: &s, claims: map[claim]verdictOfClaim{}}
	decided := claim{segment: 1}
	b.claims[decided] = claimTrue
	for i := range 3 * claimsMax {
		k := claim{segment: wor.Segment(2 + i)}
		b.investigate(k, wor.Paxos)
		if v, known := b.claims[k]; !known || v != claimAsked {
			t.Fatalf("claim %d is not looked up", i)
		}
		b.claims[k] = claimFalse
	}
	if b.claims[decided] != claimTrue || len(b.claims) > claimsMax {
		t.Fatalf("of %d claims the true one is %v", len(b.claims), b.claims[decided])
	}
	for k := range b.claims {
		b.claims[k] = claimTrue
	}
	for i := range 3 * claimsMax {
		b.investigate(claim{segment: wor.Segment(1<<20 + i)}, wor.Paxos)
	}
	if len(b.claims) > claimsMax {
		t.Errorf("%d claims are kept, at most %d", len(b.claims), claimsMax)
	}
}

// TestAFloodOfClaimsQueuesOneLook: clients claim again and again that an epoch has
// begun; one look for the highest of them is queued, whatever their number.
func TestAFloodOfClaimsQueuesOneLook(t *testing.T) {
	var s Server
	var p part
	b := beliefs{s: &s}
	for i := range 10_000 {
		b.seek(&p, wor.Epoch(i%7))
	}
	if len(s.later) != 1 || p.claimed != 6 {
		t.Errorf("%d looks are queued, up to epoch %d; want one, up to 6", len(s.later), p.claimed)
	}
}
