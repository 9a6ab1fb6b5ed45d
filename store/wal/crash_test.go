// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// explorer crashes lives before each operation of their disk, and the lives that
// recover from that.
type explorer struct {
	t      *testing.T
	r      env.Random
	random []int // crashes at random, by depth
	then   []string
	states int
	// what came about, so that the test is known to have tested it
	lost, kept int
	deep       int // how often to go on from a state, one of so many
}

// run plays a script on a disk and crashes it everywhere.
func (e *explorer) run(d *sim.Disk, m *model, depth int, script, trail string) {
	m = m.clone()
	crash := func(op string) error {
		crashes(d, e.random[depth], e.r, func(how string, left *sim.Disk) {
			e.check(left, m, depth, trail+"/"+script+" before "+op+", "+how)
		})
		return nil
	}
	h := &hookDisk{Disk: d, hook: crash}
	w, err := begin(h, m, uint64(depth)+2)
	if err == nil {
		err = w.play(script)
	}
	if err != nil {
		e.t.Fatalf("%s/%s: %v", trail, script, err)
	}
	crash("the end")
}

// check recovers from a crash.
func (e *explorer) check(left *sim.Disk, m *model, depth int, trail string) {
	e.states++
	d := left.Clone()
	after := m.clone()
	w, err := begin(left, after, uint64(depth)+100)
	if err != nil {
		e.t.Fatalf("%s: %v", trail, err)
	}
	switch {
	case len(after.records) < len(m.records):
		e.lost++
	case len(m.records) > m.floor:
		e.kept++
	}
	// The log continues from there.
	if err := errors.Join(w.play("ac"), w.log.Close()); err != nil {
		e.t.Fatalf("%s: afterwards: %v", trail, err)
	}
	if w, err = begin(left, after, uint64(depth)+200); err != nil {
		e.t.Fatalf("%s: afterwards: %v", trail, err)
	}
	must(e.t, w.log.Close())
	if depth+1 < len(e.random) && e.states%e.deep == 0 {
		for _, script := range e.then {
			e.run(d.Clone(), m, depth+1, script, trail)
		}
	}
}

// TestCrashes: after a crash before any operation, in any life and in the
// recovery from another crash, what was acknowledged is there, what is there is
// the beginning of what was appended, and the log goes on.
func TestCrashes(t *testing.T) {
	for name, c := range map[string]struct {
		before  []string
		scripts []string
		random  []int
		then    []string
		deep    int
	}{
		"records":          {nil, []string{"acaacmc", "AcAAcAc", "aLc", "acx"}, []int{6}, nil, 1},
		"a checkpoint":     {nil, []string{"aacakcaesacaw", "AAckseawac", "acksacacseacwax", "ackeAAAcwac"}, []int{4}, nil, 1},
		"many checkpoints": {[]string{"mckewmckewacx"}, []string{"acksaewackeaw", "kewkewkew"}, []int{3}, nil, 1},
		"two lives":        {[]string{"mcx"}, []string{"acAc", "acakeacaw"}, []int{2, 2}, []string{"aAc", "akeaw"}, 23},
		"three lives":      {[]string{"mcAckewx"}, []string{"acAkew"}, []int{1, 1, 1}, []string{"ac"}, 41},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			d, m := newDisk(t), &model{}
			for i, script := range c.before {
				w, err := begin(d, m, uint64(i)+1000)
				must(t, err)
				must(t, w.play(script))
			}
			e := &explorer{t: t, r: env.Seeded(1), random: c.random, then: c.then, deep: c.deep}
			for _, script := range c.scripts {
				e.run(d.Clone(), m, 0, script, name)
			}
			if e.lost == 0 || e.kept == 0 {
				t.Errorf("%d states: in %d something was lost, in %d something not acknowledged was kept; want some of each", e.states, e.lost, e.kept)
			}
			t.Logf("%d states, %d lost something, %d kept more than was acknowledged", e.states, e.lost, e.kept)
		})
	}
}

// TestFormatCrashes: after a crash there is a log or none, and none can be made
// again.
func TestFormatCrashes(t *testing.T) {
	r := env.Seeded(1)
	none, some := 0, 0
	d := sim.NewDisk()
	crash := func(string) error {
		crashes(d, 20, r, func(how string, left *sim.Disk) {
			_, err := begin(left, &model{}, 1)
			switch {
			case err == nil:
				some++
				return
			case !errors.Is(err, ErrNone):
				t.Fatalf("%s: %v", how, err)
			}
			none++
			must(t, Format(worldOn(left, 5), dir, []byte("who")))
			left.Crash(sim.KeepUpTo(0))
			if _, err := begin(left, &model{}, 1); err != nil {
				t.Fatalf("%s: %v", how, err)
			}
		})
		return nil
	}
	must(t, Format(worldOn(&hookDisk{Disk: d, hook: crash}, 1), dir, []byte("who")))
	if none == 0 || some == 0 {
		t.Errorf("%d times there was none, %d times one", none, some)
	}
	d.Crash(sim.KeepUpTo(0))
	if _, err := begin(d, &model{}, 1); err != nil {
		t.Errorf("it was not durable: %v", err)
	}
}

var errFault = errors.New("the disk has failed")

// TestTheLogEndsWithAFault fails each operation in turn: the log has ended
// permanently, the disk is left unchanged, and everything acknowledged is
// there.
func TestTheLogEndsWithAFault(t *testing.T) {
	for _, fault := range []error{errFault, env.ErrNoSpace} {
		for n := 1; ; n++ {
			d, m := newDisk(t), &model{}
			ops := 0
			h := &hookDisk{Disk: d, hook: func(string) error {
				if ops++; ops == n {
					return fault
				}
				return nil
			}}
			w, err := begin(h, m, 7)
			if err != nil {
				if !errors.Is(err, fault) {
					t.Fatalf("fault %d: %v", n, err)
				}
				continue
			}
			err = w.play("aAckaceaAwackew")
			if err == nil && ops < n {
				break
			}
			if errors.Is(err, errNoRoom) && fault == env.ErrNoSpace && w.log.Err() == nil {
				continue // it waits for room: TestFullDiskWaits
			}
			if !errors.Is(err, fault) || !errors.Is(err, ErrStopped) || w.log.Err() == nil {
				t.Fatalf("fault %d: %v, and the log's end is %v", n, err, w.log.Err())
			}
			after := ops
			_, add := w.log.Append(One("x"))
			for what, err := range map[string]error{"append": add, "commit": w.log.Commit(), "save": w.log.Save(nil),
				"begin": w.log.BeginCheckpoint(), "end": w.log.EndCheckpoint()} {
				if !errors.Is(err, ErrStopped) || !errors.Is(err, fault) {
					t.Errorf("fault %d: %s answers %v", n, what, err)
				}
			}
			if w.log.Waiting() || w.log.Due() {
				t.Errorf("fault %d: the log has something to do", n)
			}
			must(t, w.log.Close())
			if ops != after {
				t.Errorf("fault %d: the disk was written afterwards", n)
			}
			crashes(d, 3, env.Seeded(uint64(n)), func(how string, left *sim.Disk) {
				if _, err := begin(left, m.clone(), 8); err != nil {
					t.Fatalf("fault %d, %s: %v", n, how, err)
				}
			})
		}
	}
}

// TestFullDiskWaits finds no room for the n-th file or its space, n = 1, 2, ..., for
// some commits: the log has not ended, nothing counts as durable meanwhile that is
// not, and when there is room all is, in order, also after a crash at any time.
func TestFullDiskWaits(t *testing.T) {
	waits := 0
	for n := 1; ; n++ {
		d, m := newDisk(t), &model{}
		ops, until := 0, 0
		h := &hookDisk{Disk: d, hook: func(string) error {
			if ops++; ops >= n && ops < until {
				return env.ErrNoSpace
			}
			return nil
		}}
		w, err := begin(h, m, 7)
		if err != nil {
			t.Fatal(err)
		}
		if ops >= n {
			continue // opening needs no space
		}
		until = n + 3
		for _, op := range "aAckaceaAwacLLcLckAewLLcaLc" {
			err := w.step(op)
			for tries := 0; errors.Is(err, errNoRoom) && w.log.Err() == nil; tries++ {
				waits++
				if tries == 1 { // others go on meanwhile
					must(t, w.add(10))
				}
				if tries > 5 {
					t.Fatalf("operation %d: %v, and there is room", n, err)
				}
				if !w.log.Waiting() {
					t.Fatalf("operation %d: nothing waits for room", n)
				}
				crashes(d, 2, env.Seeded(uint64(n)), func(how string, left *sim.Disk) {
					if _, err := begin(left, m.clone(), 8); err != nil {
						t.Fatalf("operation %d, %s: %v", n, how, err)
					}
				})
				err = w.step('w')
			}
			if err != nil {
				if !errors.Is(err, ErrStopped) || !errors.Is(err, env.ErrNoSpace) {
					t.Fatalf("operation %d: %v", n, err)
				}
				break // it was no room for a segment that was missing
			}
		}
		until = 0
		if w.log.Err() == nil {
			must(t, w.step('w'))
		}
		must(t, w.log.Close())
		if _, err := begin(d, m.clone(), 9); err != nil {
			t.Fatalf("operation %d, at the end: %v", n, err)
		}
		if ops < n {
			break
		}
	}
	if waits < 10 {
		t.Errorf("the log has waited %d times, so that little was shown", waits)
	}
}
