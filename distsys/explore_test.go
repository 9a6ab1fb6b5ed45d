// SPDX-License-Identifier: Apache-2.0

package distsys_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestBranchesTakeTurns: branches that stay enabled are taken equally often,
// but for the random starts.
func TestBranchesTakeTurns(t *testing.T) {
	const turns = 4000
	type state struct {
		left  int
		count [4]int
	}
	in := instance(t, archetype(func(s *state, tx *distsys.Tx) (distsys.Label, error) {
		if s.left == 0 {
			return distsys.Done, nil
		}
		s.left--
		k, err := tx.Choose(4)
		if err != nil {
			return 0, err
		}
		if k == 2 {
			return distsys.Blocked()
		}
		s.count[k]++
		return 0, nil
	}), state{left: turns}, distsys.Options{Env: env.Env{Clock: osenv.NewClock(), Random: env.Seeded(1)}})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	s := in.State()
	if s.count[2] != 0 {
		t.Errorf("the blocked branch was taken: %v", s.count)
	}
	// The branch behind the blocked one has its turn as well as its own.
	for k, n := range s.count {
		if k != 2 && n < turns/5 {
			t.Errorf("branch %d was taken %d times of %d: %v", k, n, turns, s.count)
		}
	}
}

// tree is a section made of nested choices. Where there are no kids it is a
// leaf, or, with the number -1, an empty set to choose from.
type tree struct {
	kids   []*tree
	leaf   int
	closed bool
}

func drawTree(t *rapid.T, depth int, leaves *[]*tree) *tree {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		l := &tree{leaf: len(*leaves), closed: rapid.Bool().Draw(t, "closed")}
		*leaves = append(*leaves, l)
		return l
	}
	n := &tree{leaf: -1}
	for range rapid.IntRange(0, 3).Draw(t, "kids") {
		n.kids = append(n.kids, drawTree(t, depth-1, leaves))
	}
	return n
}

func (n *tree) choose(tx *distsys.Tx) (*tree, error) {
	for n.leaf < 0 {
		k, err := tx.Choose(len(n.kids))
		if err != nil {
			return nil, err
		}
		n = n.kids[k]
	}
	return n, nil
}

// TestEveryEnabledBranchIsTaken: whatever the tree of choices, the leaves that
// are taken are those that are open; when there is none the section waits.
func TestEveryEnabledBranchIsTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var leaves []*tree
		root := drawTree(t, 3, &leaves)
		taken := make([]int, len(leaves))
		open := 0
		for _, l := range leaves {
			if !l.closed {
				open++
			}
		}
		turns := 400 * max(open, 1)
		a := archetype(func(left *int, tx *distsys.Tx) (distsys.Label, error) {
			l, err := root.choose(tx)
			if err != nil {
				return 0, err
			}
			if l.closed {
				return distsys.Blocked()
			}
			taken[l.leaf]++
			if *left--; *left == 0 {
				return distsys.Done, nil
			}
			return 0, nil
		})
		e := env.Env{Clock: osenv.NewClock(), Random: env.Seeded(rapid.Uint64().Draw(t, "seed"))}
		in, err := distsys.New(a, value.Int(1), turns, distsys.Options{Env: e})
		if err != nil {
			t.Fatal(err)
		}
		status := distsys.Running
		for steps := 0; status == distsys.Running; steps++ {
			if steps > 200*turns {
				t.Fatal("it does not end")
			}
			status = in.Step()
		}
		if want := open > 0; (status == distsys.Finished) != want {
			t.Fatalf("status %v with %d open leaves", status, open)
		}
		for i, l := range leaves {
			if l.closed && taken[i] > 0 {
				t.Errorf("leaf %d is closed and was taken", i)
			}
			if !l.closed && taken[i] == 0 {
				t.Errorf("leaf %d of %d is open and was never taken in %d turns", i, len(leaves), turns)
			}
		}
	})
}

// TestSinglesDoNotDisturbTurns: branch points with one branch, of which there
// are many, leave the turns of the others alone.
func TestSinglesDoNotDisturbTurns(t *testing.T) {
	leaf := func(i int) *tree { return &tree{leaf: i} }
	inner := func(kids ...*tree) *tree { return &tree{leaf: -1, kids: kids} }
	root := inner(inner(leaf(0), leaf(1), leaf(2)), inner(inner(leaf(3))))
	const turns = 1200
	var taken [4]int
	in := instance(t, archetype(func(left *int, tx *distsys.Tx) (distsys.Label, error) {
		l, err := root.choose(tx)
		if err != nil {
			return 0, err
		}
		taken[l.leaf]++
		if *left--; *left == 0 {
			return distsys.Done, nil
		}
		return 0, nil
	}), turns, distsys.Options{Env: env.Env{Clock: osenv.NewClock(), Random: env.Seeded(0)}})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	for i, n := range taken {
		if share := map[bool]int{true: turns / 2, false: turns / 6}[i == 3]; n < share*3/4 {
			t.Errorf("leaf %d was taken %d times, want about %d", i, n, share)
		}
	}
}

// TestChangingSetsStarveNobody: sets whose size changes in time with the turns
// are where a plain counter would always meet the same element.
func TestChangingSetsStarveNobody(t *testing.T) {
	sizes := []int{1, 2, 1, 3, 2, 5}
	seen := map[[2]int]int{}
	turn := 0
	in := instance(t, archetype(func(left *int, tx *distsys.Tx) (distsys.Label, error) {
		n := sizes[turn%len(sizes)]
		k, err := tx.Choose(n)
		if err != nil {
			return 0, err
		}
		if k >= n {
			t.Fatalf("element %d of %d", k, n)
		}
		seen[[2]int{turn % len(sizes), k}]++
		turn++
		if *left--; *left == 0 {
			return distsys.Done, nil
		}
		return 0, nil
	}), 20_000, distsys.Options{Env: env.Env{Clock: osenv.NewClock(), Random: env.Seeded(3)}})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	for i, n := range sizes {
		for k := range n {
			if seen[[2]int{i, k}] == 0 {
				t.Errorf("element %d of the set of size %d at position %d was never chosen", k, n, i)
			}
		}
	}
}

// TestSetsThatShrinkWhileExplored: the set is smaller each time the section is
// tried; exploration ends all the same.
func TestSetsThatShrinkWhileExplored(t *testing.T) {
	size := 10
	in := instance(t, archetype(func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		if size > 0 {
			size--
		}
		if _, err := tx.Choose(size); err != nil {
			return 0, err
		}
		return distsys.Blocked()
	}), 0, distsys.Options{})
	for i := 0; in.Step() == distsys.Running; i++ {
		if i > 1000 {
			t.Fatal("it does not end")
		}
	}
}

func TestChooseFromTakesElementsInOrder(t *testing.T) {
	set := value.Set(value.Int(3), value.Int(1), value.Int(2))
	seen := map[int32]bool{}
	in := instance(t, archetype(func(left *int, tx *distsys.Tx) (distsys.Label, error) {
		v, err := tx.ChooseFrom(set)
		if err != nil {
			return 0, err
		}
		seen[v.AsInt()] = true
		if *left--; *left == 0 {
			return distsys.Done, nil
		}
		return 0, nil
	}), 200, distsys.Options{})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 3 {
		t.Errorf("chosen: %v", seen)
	}
}
