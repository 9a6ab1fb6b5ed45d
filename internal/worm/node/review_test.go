// SPDX-License-Identifier: Apache-2.0

package node

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestFalseClaimsGoFirst: a flood of claims that were found false does not displace a
// true one before the client that trims a segment asks again; and the table is bounded
// whatever is in it.
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

// TestInvalidConfiguration: a configuration that no server can serve does not begin, and
// the server reports it.
func TestInvalidConfiguration(t *testing.T) {
	d := newDesk(t, nil)
	d.s.beliefs.adopt(&wor.Config{Epoch: 4}) // without members
	if s := d.s.Status(); s.Partitions[0].Epoch != 0 || !strings.Contains(s.Trouble, "epoch 4 of partition 0") {
		t.Errorf("the server is in epoch %d, its trouble %q", s.Partitions[0].Epoch, s.Trouble)
	}
	next := d.s.Configs()[0]
	next.Epoch = 4
	d.s.beliefs.adopt(&next)
	if e := d.s.Configs()[0].Epoch; e != 4 {
		t.Errorf("the server is in epoch %d, want 4", e)
	}
}

// TestAFloodOfClaimsQueuesOneLook: clients claim again and again that an epoch has begun;
// the server queues one look-up, for the highest of them, whatever their number.
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
