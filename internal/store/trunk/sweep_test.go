// SPDX-License-Identifier: Apache-2.0

package trunk

import (
	"fmt"
	"math/rand"
	"testing"
)

// space counts what the branches of the tree hold, and what of it is the newest of its
// key, from what the test itself has put in.
func (m *machine) space() (held, live int) {
	m.trunk.Root().Branches(func(b *Branch) { held += 100 * len(b.keys.(content)) })
	return held, 100 * len(m.newest)
}

// settle does all jobs.
func (m *machine) settle(p Policy) (merged int) {
	m.t.Helper()
	for n := 0; ; n++ {
		j := m.trunk.Next(p)
		if j == nil {
			m.check()
			return merged
		}
		if n > 500 {
			m.t.Fatalf("there is always something to do: %+v", j)
		}
		if !j.Flush {
			merged += int(j.Bytes())
		}
		m.run(j)
	}
}

// Overwrites of all keys, or of a few side by side, leave no more dead than the model of the cost
// allows, and new keys are merged no more often because of sweeps.
func TestSweepsBoundDeadSpace(t *testing.T) {
	const keys = 600
	policy := Policy{Alpha: 2}
	for _, load := range []struct {
		name      string
		pick      func(r *rand.Rand) int
		most      float64 // held by live, at rest
		mergedMax float64 // bytes read by merges for each byte attached
	}{
		{"all alike", func(r *rand.Rand) int { return r.Intn(keys) }, 1.85, 5},
		{"some side by side", func(r *rand.Rand) int { return 150 + r.Intn(100) }, 1.45, 2},
		{"one end", func(r *rand.Rand) int { return keys - 1 - r.Intn(50) }, 1.4, 2},
	} {
		t.Run(load.name, func(t *testing.T) {
			r := rand.New(rand.NewSource(3))
			m := newMachine(t, Shape{Fanout: 6, LeafBytes: 3000, Runs: 12})
			var all []string
			for i := range keys {
				all = append(all, fmt.Sprintf("k%04d", i))
			}
			r.Shuffle(keys, func(i, j int) { all[i], all[j] = all[j], all[i] })
			for i := 0; i < keys; i += 30 {
				m.attach(all[i : i+30])
				m.settle(policy)
			}
			attached, merged := 0, 0
			for round := range 100 {
				batch := map[string]bool{}
				for len(batch) < 30 {
					batch[fmt.Sprintf("k%04d", load.pick(r))] = true
				}
				var some []string
				for k := range batch {
					some = append(some, k)
				}
				m.attach(some)
				n := m.settle(policy)
				if round < 50 {
					continue // how much is overwritten is not known yet
				}
				attached, merged = attached+30*100, merged+n
				if held, live := m.space(); float64(held) > load.most*float64(live) {
					t.Errorf("round %d: %d bytes are held for %d that are live", round, held, live)
				}
			}
			t.Logf("merges read %.2f bytes for each", float64(merged)/float64(attached))
			if ratio := float64(merged) / float64(attached); ratio > load.mergedMax {
				t.Errorf("merges read %.1f bytes for each, the bound is %.1f", ratio, load.mergedMax)
			}
		})
	}
}

// A branch of which all but one partition have merged their part is given back although that
// one would not be merged for long: the partition writes its few messages anew.
func TestASweepReleasesSharedBranches(t *testing.T) {
	m := newMachine(t, Shape{Fanout: 6, LeafBytes: 6000, Runs: 12})
	var hot, cold []string
	for i := range 60 {
		cold = append(cold, fmt.Sprintf("a%04d", i))
		hot = append(hot, fmt.Sprintf("z%04d", i))
	}
	policy := Policy{Alpha: 2}
	m.attach(cold)
	m.attach(hot)
	m.settle(Policy{Alpha: 0.01})
	for round := range 40 {
		m.attach(append(append([]string{}, hot...), cold[round%5]))
		m.settle(policy)
	}
	held, live := m.space()
	if 2*held > 5*live {
		t.Errorf("%d bytes are held for %d that are live", held, live)
	}
	old := 0
	m.trunk.Root().Branches(func(b *Branch) {
		if len(b.keys.(content)) == 61 {
			old++
		}
	})
	if old > 3 {
		t.Errorf("%d branches that hardly anything needs are still there", old)
	}
}

// A sweep ends although merges drop nothing and branches are longer than what the
// partitions' parts of them add up to.
func TestASweepEnds(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 5 {
		m := newMachine(t, Shape{Fanout: 4, LeafBytes: 1500, Runs: 3})
		for range 40 {
			var some []string
			for _, i := range r.Perm(300)[:1+r.Intn(20)] {
				some = append(some, fmt.Sprintf("k%04d", i))
			}
			m.attach(some)
			m.trunk.Root().Branches(func(b *Branch) {
				if b.Meta.Bytes == uint64(100*len(b.keys.(content))) {
					b.Meta.Bytes *= 5
					m.trunk.held += int64(b.Meta.Bytes) * 4 / 5
				}
			})
			m.settle(Policy{Alpha: 2})
		}
	}
}

// What the tree counts as held is what its branches hold.
func TestHeldIsCounted(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	m := newMachine(t, Shape{Fanout: 4, LeafBytes: 1500, Runs: 3})
	for range 100 {
		var some []string
		for _, i := range r.Perm(600)[:1+r.Intn(20)] {
			some = append(some, fmt.Sprintf("k%04d", i))
		}
		m.attach(some)
		if j := m.trunk.Next(Policy{Alpha: 1}); j != nil {
			m.run(j)
		}
		m.check()
		if held, _ := m.space(); int64(held) != m.trunk.Space().Held {
			t.Fatalf("%d bytes are held, and %d counted", held, m.trunk.Space().Held)
		}
		loaded := Load(m.shape, m.next, m.trunk.Root())
		if loaded.Space().Held != m.trunk.Space().Held {
			t.Fatal("a tree that is loaded holds something else")
		}
	}
}

// A load of new keys in any order leaves nothing dead but parts of branches that others have
// merged: it reads no more for sweeps than it would for its merges anyway.
func TestLoadsAreNotSwept(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	m := newMachine(t, Shape{Fanout: 6, LeafBytes: 3000, Runs: 12})
	merged := 0
	keys := r.Perm(3000)
	for i := 0; i < len(keys); i += 30 {
		var some []string
		for _, k := range keys[i : i+30] {
			some = append(some, fmt.Sprintf("k%04d", k))
		}
		m.attach(some)
		merged += m.settle(Policy{Alpha: 2})
	}
	ratio := float64(merged) / float64(100*len(keys))
	t.Logf("merges read %.2f bytes for each", ratio)
	if ratio > 2 {
		t.Errorf("merges read %.1f bytes for each byte of a load", ratio)
	}
}

// Reads that search branches in vain pay for merges: in a store that is at rest for any, and
// while changes come for those that will not have to be made again at once.
func TestPaidMerges(t *testing.T) {
	const n = 60
	for _, c := range []struct {
		newer int
		idle  bool
		want  bool
	}{{10, false, false}, {10, true, true}, {n, false, true}, {n, true, true}} {
		m := newMachine(t, Shape{Fanout: 6, LeafBytes: 6000, Runs: 12})
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("k%04d", i))
		}
		m.attach(all)
		m.settle(Policy{Alpha: 0.01})
		for _, b := range m.all {
			b.Heat(1000)
		}
		m.attach(all[:c.newer])
		// Nothing is known of what is dead: a merge is made only because it is paid.
		m.trunk.yields = yields{}
		if j := m.trunk.Next(Policy{Alpha: 2, Idle: c.idle}); (j != nil) != c.want {
			t.Errorf("%d newer messages of %d, idle %v: the next job is %+v", c.newer, n, c.idle, j)
		}
	}
}

// The bytes that a merge reads are estimated. Where nothing is dead, estimates that err
// both ways make nothing dead; and whatever they say, not less than nothing is.
func TestErrorsCancelOut(t *testing.T) {
	var y yields
	for i := range 400 {
		dead := int64(50)
		if i%2 == 1 {
			dead = -50
		}
		y.add(100, dead, 4000)
	}
	if rate := y.rate(); rate > 0.02 {
		t.Errorf("of new bytes alone, a share of %.2f is taken for dead", rate)
	}
	for range 100 {
		y.add(100, -50, 4000)
	}
	if rate := y.rate(); rate != 0 {
		t.Errorf("the share of dead bytes is %.2f", rate)
	}
	for range 400 {
		y.add(100, 70, 4000)
	}
	if rate := y.rate(); rate < 0.65 || rate > 0.75 {
		t.Errorf("the share of dead bytes is %.2f, want 0.7", rate)
	}
}
