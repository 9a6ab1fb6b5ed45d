// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

var _ Records = (*wor.Log)(nil)

// TestModel: a log is a list, whatever happens in which order: appends, commits,
// checkpoints that are saved in pieces, closes and crashes.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, m := sim.NewDisk(), &model{}
		if err := Format(worldOn(d, 1), dir, []byte("who")); err != nil {
			t.Fatal(err)
		}
		seed := rapid.Uint64Range(1, 1<<40).Draw(t, "seed")
		r := env.Seeded(seed)
		var w *life
		begun := false
		start := func() {
			var err error
			seed++
			if w, err = begin(d, m, seed); err != nil {
				t.Fatal(err)
			}
			begun = false
		}
		start()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			op := rapid.SampledFrom([]string{"a", "a", "A", "L", "m", "c", "c", "k", "s", "e", "w", "x", "!", "?"}).Draw(t, "op")
			_, underWay := w.log.Saved()
			switch op {
			case "k":
				if underWay {
					continue
				}
				begun = true
			case "s", "e":
				if !begun {
					continue
				}
				begun = op == "s"
			case "!": // a crash of the machine, which leaves anything
				d.Crash(sim.KeepFunc(func(_ sim.Piece, ops []uint64) int { return env.IntN(r, len(ops)+1) }))
				start()
				continue
			case "?": // a crash of the program
				d.Crash(sim.KeepAll())
				start()
				continue
			}
			if err := w.play(op); err != nil {
				t.Fatal(err)
			}
			if op == "x" {
				m.records = m.records[:m.floor] // no chance is left
				start()
			}
		}
	})
}

// TestOneAtATime: two cannot have one log, and a lock ends with its holder.
func TestOneAtATime(t *testing.T) {
	d := newDisk(t)
	l, _, err := open(d, 1)
	must(t, err)
	if _, _, err := open(d, 2); !errors.Is(err, ErrLocked) {
		t.Errorf("a second one opens it: %v", err)
	}
	if err := Format(worldOn(d, 2), dir, nil); !errors.Is(err, ErrLocked) {
		t.Errorf("a second one makes it: %v", err)
	}
	must(t, l.Close())
	must(t, l.Close())
	if _, err := l.Append(One("x")); !errors.Is(err, ErrStopped) {
		t.Errorf("append after close: %v", err)
	}
	l, _, err = open(d, 3)
	must(t, err)
	must(t, l.Close())
	type plain struct{ env.Disk }
	if _, _, err := open(plain{d}, 4); err == nil {
		t.Error("a disk without locks is taken")
	}
}

// TestWhatIsNoLog: none of these is taken for an empty log.
func TestWhatIsNoLog(t *testing.T) {
	d := sim.NewDisk()
	if _, _, err := open(d, 1); !errors.Is(err, ErrNone) {
		t.Errorf("no directory: %v", err)
	}
	if names, _ := d.List("."); len(names) > 0 {
		t.Errorf("looking for it has made %v", names)
	}
	must(t, d.MakeDir(dir))
	if _, _, err := open(d, 1); !errors.Is(err, ErrNone) {
		t.Errorf("an empty directory: %v", err)
	}
	f, err := d.Open(path.Join(dir, superName), true)
	must(t, err)
	if _, _, err := open(d, 1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("an empty file: %v", err)
	}
	must(t, f.Truncate(superFileSize))
	if _, _, err := open(d, 1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a file of zeros: %v", err)
	}
	if err := Format(worldOn(d, 2), dir, nil); !errors.Is(err, ErrExists) {
		t.Errorf("it is made over that: %v", err)
	}
}

// TestIdentity: what Format was given comes back, up to its limit.
func TestIdentity(t *testing.T) {
	for _, n := range []int{0, 1, 500, IdentityMax} {
		d := sim.NewDisk()
		who := []byte(strings.Repeat("x", n))
		must(t, Format(worldOn(d, 1), dir, who))
		if err := Format(worldOn(d, 1), dir, []byte("another")); !errors.Is(err, ErrExists) {
			t.Errorf("a second time: %v", err)
		}
		l, err := Open(worldOn(d, 2), dir, small)
		must(t, err)
		if string(l.Identity()) != string(who) {
			t.Errorf("%d bytes come back as %d", n, len(l.Identity()))
		}
		must(t, l.Close())
	}
	if err := Format(worldOn(sim.NewDisk(), 1), dir, make([]byte, IdentityMax+1)); !errors.Is(err, ErrLimit) {
		t.Errorf("too long: %v", err)
	}
}

// TestAppendIsBounded: what waits is bounded, a long batch alone is not, and a
// record is.
func TestAppendIsBounded(t *testing.T) {
	d := newDisk(t)
	l, err := Open(worldOn(d, 1), dir, Options{Segment: 8192, Pending: 1000})
	must(t, err)
	must(t, l.Replay(nil))
	long := list{make([]byte, 700), make([]byte, 700)}
	n, err := l.Append(long)
	if n != 2 || err != nil {
		t.Errorf("a long batch: %d, %v", n, err)
	}
	for _, r := range []Records{One("x"), long} {
		if _, err := l.Append(r); err != ErrFull {
			t.Errorf("then %d records: %v", r.Len(), err)
		}
	}
	must(t, l.Commit())
	if n, err := l.Append(list{}); n != 2 || err != nil {
		t.Errorf("no records: %d, %v", n, err)
	}
	if p := l.Position(); p != (Position{1, 2}) {
		t.Errorf("position %+v", p)
	}
	for range 10 {
		_, err = l.Append(One(make([]byte, 100)))
	}
	if err != ErrFull {
		t.Errorf("10 times 100 bytes: %v", err)
	}
	must(t, l.Commit())
	if _, err := l.Append(list{[]byte("x"), make([]byte, RecordMax+1)}); !errors.Is(err, ErrLimit) {
		t.Errorf("too long a record: %v", err)
	}
	must(t, l.BeginCheckpoint())
	if err := l.Save(make([]byte, RecordMax+1)); !errors.Is(err, ErrLimit) {
		t.Errorf("too long a record of the state: %v", err)
	}
	n, err = l.Append(One(make([]byte, RecordMax)))
	must(t, err)
	must(t, l.Commit())
	must(t, l.Close())
	var last int
	l, err = Open(worldOn(d, 2), dir, small)
	must(t, err)
	must(t, l.Replay(func(r []byte) error { last = len(r); return nil }))
	if last != RecordMax || l.Position() != (Position{2, n}) {
		t.Errorf("a record of %d bytes comes back, at %+v; want %d, %d", last, l.Position(), RecordMax, n)
	}
}

// TestOptions: what makes no sense is refused.
func TestOptions(t *testing.T) {
	for _, o := range []Options{{Segment: 4096}, {Segment: 10000}, {Segment: -8192}, {Segment: 2 << 30}, {Pending: -1}, {Piece: -1},
		{CheckpointBytes: -1}, {CheckpointFactor: -1}} {
		d := newDisk(t)
		if l, err := Open(worldOn(d, 1), dir, o); err == nil {
			t.Errorf("%+v is taken", o)
			must(t, l.Close())
		}
	}
}

// TestAFaultyRedo: an error of redo ends the replay, from the state and from the
// records, and the log with it.
func TestAFaultyRedo(t *testing.T) {
	d, m := newDisk(t), &model{}
	w, err := begin(d, m, 1)
	must(t, err)
	must(t, w.play("ackewacx"))
	for after := range 2 {
		l, err := Open(worldOn(d, 2), dir, small)
		must(t, err)
		n := 0
		err = l.Replay(func([]byte) error {
			if n++; n > after {
				return errFault
			}
			return nil
		})
		if _, add := l.Append(One("x")); !errors.Is(err, errFault) || !errors.Is(add, ErrStopped) {
			t.Errorf("after %d records: %v, then %v", after, err, add)
		}
		must(t, l.Close())
	}
	if _, err := begin(d, m, 3); err != nil {
		t.Error(err)
	}
}

// TestDue: a checkpoint is asked for when the log has grown, again in the next
// life, and not when one is under way or done.
func TestDue(t *testing.T) {
	d, m := newDisk(t), &model{}
	w, err := begin(d, m, 1)
	must(t, err)
	for i := 0; !w.log.Due(); i++ {
		if i > 20 {
			t.Fatal("a checkpoint is never due")
		}
		must(t, w.play("Ac"))
	}
	must(t, w.log.Close())
	w, err = begin(d, m, 2)
	must(t, err)
	if !w.log.Due() {
		t.Error("not due in the next life")
	}
	must(t, w.play("k"))
	if w.log.Due() {
		t.Error("due while one is under way")
	}
	must(t, w.play("sacsw"))
	if n, underWay := w.log.Saved(); n != 0 || !underWay {
		t.Errorf("before the end %d bytes wait, under way: %v", n, underWay)
	}
	must(t, w.play("e"))
	if n, underWay := w.log.Saved(); n == 0 || !underWay {
		t.Errorf("%d bytes wait, under way: %v", n, underWay)
	}
	must(t, w.play("w"))
	if n, underWay := w.log.Saved(); n != 0 || underWay || w.log.Due() {
		t.Errorf("afterwards %d bytes wait, under way: %v, due: %v", n, underWay, w.log.Due())
	}
	must(t, w.log.Close())
	w, err = begin(d, m, 3)
	must(t, err)
	if w.log.Due() {
		t.Error("due in the life after")
	}
}

// TestPiecesAreBounded: a checkpoint comes with the Commits of records in pieces,
// and these do not wait for all of it.
func TestPiecesAreBounded(t *testing.T) {
	d := newDisk(t)
	l, err := Open(worldOn(d, 1), dir, Options{Segment: 64 << 10, Piece: 5000})
	must(t, err)
	must(t, l.Replay(nil))
	must(t, l.BeginCheckpoint())
	for range 1000 {
		must(t, l.Save(make([]byte, 100)))
	}
	must(t, l.EndCheckpoint())
	commits := 0
	before, _ := l.Saved()
	for l.Waiting() {
		n := appendOne(t, l, "x")
		must(t, l.Commit())
		commits++
		after, _ := l.Saved()
		if before-after > 5200 || l.Position().Records != n {
			t.Fatalf("a commit writes %d bytes of the checkpoint; position %+v after record %d", before-after, l.Position(), n)
		}
		before = after
	}
	if commits < 20 {
		t.Errorf("%d commits", commits)
	}
	must(t, l.Close())
	_, got, err := open(d, 2)
	if err != nil || len(got) != 1000+commits {
		t.Errorf("%d records come back, want %d: %v", len(got), 1000+commits, err)
	}
}

// TestAtOnce: appends go on while another goroutine commits and checkpoints.
func TestAtOnce(t *testing.T) {
	d := newDisk(t)
	l, err := Open(worldOn(d, 1), dir, Options{Segment: 64 << 10, CheckpointBytes: 1 << 20})
	must(t, err)
	must(t, l.Replay(nil))
	const writers, each = 4, 500
	var mu sync.Mutex // of the state
	var state []string
	var wg sync.WaitGroup
	done, committed := make(chan struct{}), make(chan struct{})
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range each {
				r := fmt.Sprintf("%d.%d %01000d", w, i, 0)
				mu.Lock()
				n, err := l.Append(One(r))
				if err == nil {
					state = append(state, r)
				}
				if err != nil || n != uint64(len(state)) {
					t.Errorf("record %d: %d, %v", len(state), n, err)
				}
				if i == 100*(w+1) {
					if _, underWay := l.Saved(); !underWay {
						err := l.BeginCheckpoint()
						for _, r := range state {
							err = errors.Join(err, l.Save([]byte(r)))
						}
						if err = errors.Join(err, l.EndCheckpoint()); err != nil {
							t.Error(err)
						}
					}
				}
				mu.Unlock()
			}
		}()
	}
	go func() {
		defer close(committed)
		for last := false; ; {
			if err := l.Commit(); err != nil {
				t.Error(err)
				return
			}
			if last && !l.Waiting() {
				return
			}
			select {
			case <-done:
				last = true
			default:
			}
		}
	}()
	wg.Wait()
	close(done)
	<-committed
	if p := l.Position(); p.Records != writers*each {
		t.Errorf("position %+v", p)
	}
	if l.top.super.checkpoint == 0 {
		t.Error("there was no checkpoint")
	}
	must(t, l.Close())
	_, got, err := open(d, 2)
	if err != nil || !slices.Equal(got, state) {
		t.Errorf("%d records come back, want %d: %v", len(got), len(state), err)
	}
}

// TestAppendDuringCommit: what is appended while a Commit is at the disk is not
// acknowledged by it.
func TestAppendDuringCommit(t *testing.T) {
	d := newDisk(t)
	var l *Log
	during := 0
	h := &hookDisk{Disk: d, hook: func(op string) error {
		if l != nil && strings.HasPrefix(op, "sync ") && during < 3 {
			during++
			_, err := l.Append(One("during"))
			return err
		}
		return nil
	}}
	opened, _, err := open(h, 1)
	must(t, err)
	l = opened
	n := appendOne(t, l, "before")
	must(t, l.Commit())
	if p := l.Position(); p.Records != n || during == 0 || !l.Waiting() {
		t.Errorf("position %+v after %d records, and %d more during the commit", p, n, during)
	}
	l = nil
	must(t, opened.Commit())
	if p := opened.Position(); p.Records != n+uint64(during) {
		t.Errorf("position %+v after all", p)
	}
	d.Crash(sim.KeepUpTo(0))
	if _, got, err := open(d, 2); err != nil || len(got) != 1+during {
		t.Errorf("%q, %v", got, err)
	}
}

// TestMisuse: our own mistakes are found where they are made.
func TestMisuse(t *testing.T) {
	for name, f := range map[string]func(l *Log){
		"replay twice":         func(l *Log) { l.Replay(nil) },
		"begin twice":          func(l *Log) { l.BeginCheckpoint(); l.BeginCheckpoint() },
		"save for none":        func(l *Log) { l.Save(nil) },
		"end none":             func(l *Log) { l.EndCheckpoint() },
		"save after the end":   func(l *Log) { l.BeginCheckpoint(); l.EndCheckpoint(); l.Save(nil) },
		"end twice":            func(l *Log) { l.BeginCheckpoint(); l.EndCheckpoint(); l.EndCheckpoint() },
		"append before replay": func(l *Log) { l.replayed = false; l.Append(One("x")) },
		"commit before replay": func(l *Log) { l.replayed = false; l.Commit() },
	} {
		l, _, err := open(newDisk(t), 1)
		must(t, err)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: nothing happens", name)
				}
			}()
			f(l)
		}()
	}
}

// TestOnTheMachine: the same on the file system, with its locks.
func TestOnTheMachine(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	defer disk.Close()
	must(t, Format(worldOn(disk, 1), dir, []byte("who")))
	m := &model{}
	for i, script := range []string{"aAcmcx", "acksacewLx", "acx"} {
		w, err := begin(disk, m, uint64(i)+1)
		must(t, err)
		if _, _, err := open(disk, 9); !errors.Is(err, ErrLocked) {
			t.Errorf("a second one opens it: %v", err)
		}
		must(t, w.play(script))
	}
	w, err := begin(disk, m, 9)
	must(t, err)
	must(t, w.log.Close())
}
