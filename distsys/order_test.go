// SPDX-License-Identifier: Apache-2.0

package distsys_test

import (
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// diary is a resource that writes down how its sections end.
type diary struct {
	name string
	says *[]string
}

func (d *diary) Read(*distsys.Tx, []value.Value) (value.Value, error) { return value.Int(0), nil }
func (d *diary) Write(*distsys.Tx, []value.Value, value.Value) error  { return nil }
func (d *diary) PreCommit(*distsys.Tx) error                          { return nil }
func (d *diary) Commit(*distsys.Tx)                                   { *d.says = append(*d.says, "commit "+d.name) }
func (d *diary) Abort(*distsys.Tx)                                    { *d.says = append(*d.says, "abort "+d.name) }

// TestAbortOrder: what was touched last is undone first, so that a resource
// that stands on another one finds it as it left it. Commits come in the order
// of access.
func TestAbortOrder(t *testing.T) {
	var says []string
	var refs []distsys.Ref
	for _, name := range []string{"a", "b", "c"} {
		refs = append(refs, distsys.NewRef(name, &diary{name, &says}))
	}
	in := instance(t, archetype(func(*int, *distsys.Tx) (distsys.Label, error) { return 1, nil },
		func(tries *int, tx *distsys.Tx) (distsys.Label, error) {
			for _, r := range refs {
				if _, err := tx.Read(r); err != nil {
					return 0, err
				}
			}
			k, err := tx.Choose(2)
			if err != nil {
				return 0, err
			}
			if k == 0 {
				return distsys.Blocked()
			}
			return distsys.Done, nil
		}), 0, distsys.Options{})
	for seed := 0; !slices.Contains(says, "abort a"); seed++ {
		if seed == 100 {
			t.Fatal("no section aborted")
		}
		says = nil
		in.Reset()
		if err := in.Run(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"abort c", "abort b", "abort a", "commit a", "commit b", "commit c"}
	if !slices.Equal(says, want) {
		t.Errorf("%q, want %q", says, want)
	}
}

// TestBranchesAlternate: a branch that was taken is not the first to be tried
// when its branch point comes again, but for the random starts.
func TestBranchesAlternate(t *testing.T) {
	const turns = 1000
	var taken []int
	in := instance(t, archetype(func(left *int, tx *distsys.Tx) (distsys.Label, error) {
		if *left == 0 {
			return distsys.Done, nil
		}
		*left--
		k, err := tx.Choose(2)
		taken = append(taken, k)
		return 0, err
	}), turns, distsys.Options{Env: env.Env{Clock: osenv.NewClock(), Random: env.Seeded(1)}})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	again := 0
	for i := 1; i < len(taken); i++ {
		if taken[i] == taken[i-1] {
			again++
		}
	}
	if len(taken) != turns || again > turns/8 {
		t.Errorf("of %d turns %d took the branch of the turn before", len(taken), again)
	}
}

// TestNoWakeupIsLostBeforeSleep: what changes after a section has looked and
// before it sleeps wakes it.
func TestNoWakeupIsLostBeforeSleep(t *testing.T) {
	q := queue.New(queue.Limits{})
	ref := distsys.NewRef("q", q.In())
	looks := 0
	in := instance(t, archetype(func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		_, err := tx.Read(ref)
		if looks++; looks == 2 {
			q.Force(queue.Message{Value: value.Int(1)})
		}
		return distsys.Done, err
	}), 0, distsys.Options{})
	status := distsys.Running
	for range 5 {
		status = in.Step()
	}
	if status != distsys.Finished {
		t.Errorf("status %v after %d looks", status, looks)
	}
}

// door is a resource that is asked twice before it lets a section through: it
// is shut at the first look, and refuses what the second look asks.
type door struct {
	looks, asked int
	tx           *distsys.Tx
	watchers     []env.Waker
}

func (d *door) Read(*distsys.Tx, []value.Value) (value.Value, error) { return value.Value{}, nil }

func (d *door) Write(tx *distsys.Tx, _ []value.Value, _ value.Value) error {
	d.tx = tx
	if d.looks++; d.looks == 1 {
		return distsys.ErrBlocked
	}
	return nil
}

func (d *door) PreCommit(*distsys.Tx) error {
	switch d.asked++; d.asked {
	case 1:
		return distsys.ErrPending
	case 2:
		return distsys.ErrBlocked
	}
	return nil
}

func (d *door) Commit(*distsys.Tx) {}
func (d *door) Abort(*distsys.Tx)  {}
func (d *door) Watch(w env.Waker)  { d.watchers = append(d.watchers, w) }
func (d *door) Unwatch(env.Waker)  { d.watchers = nil }

// TestNoWakeupIsLostBesideAnAnswer: a change that comes together with the
// answer to a pre-commit wakes the section that the answer sends to sleep.
func TestNoWakeupIsLostBesideAnAnswer(t *testing.T) {
	d := &door{}
	ref := distsys.NewRef("door", d)
	in := instance(t, archetype(func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		return distsys.Done, tx.Write(ref, value.Int(1))
	}), 0, distsys.Options{})
	for d.asked == 0 {
		in.Step()
	}
	// It is refused, and in the same moment there is room again.
	d.tx.Answered().Wake()
	for _, w := range d.watchers {
		w.Wake()
	}
	status := distsys.Waiting
	for range 5 {
		status = in.Step()
	}
	if status != distsys.Finished {
		t.Errorf("status %v after %d looks", status, d.looks)
	}
}
