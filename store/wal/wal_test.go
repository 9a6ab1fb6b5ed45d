// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const dir = "data/log"

func worldOn(d env.Disk, seed uint64) env.Env {
	return env.Env{Disk: d, Random: env.Seeded(seed)}
}

// newDisk is a disk with a log.
func newDisk(t testing.TB) *sim.Disk {
	d := sim.NewDisk()
	must(t, Format(worldOn(d, 1), dir, []byte("who")))
	return d
}

var small = Options{Segment: 3 * 4096, Piece: 2000, CheckpointBytes: 40 << 10, CheckpointFactor: 1}

// open opens and replays a log, and answers what came back.
func open(d env.Disk, seed uint64) (*Log, []string, error) {
	l, err := Open(worldOn(d, seed), dir, small)
	if err != nil {
		return nil, nil, err
	}
	var got []string
	if err := l.Replay(func(r []byte) error { got = append(got, string(r)); return nil }); err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return l, got, nil
}

func appendOne(t testing.TB, l *Log, s string) uint64 {
	t.Helper()
	n, err := l.Append(One(s))
	must(t, err)
	return n
}

// TestWhatWasCommittedComesBack: over lives, checkpoints and segments.
func TestWhatWasCommittedComesBack(t *testing.T) {
	d := newDisk(t)
	var want []string
	records := uint64(0)
	for life := range 5 {
		l, got, err := open(d, uint64(life)+10)
		must(t, err)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("life %d: got %.300q, want %.300q", life, got, want)
		}
		if p := l.Position(); p != (Position{uint64(life) + 1, records}) || string(l.Identity()) != "who" {
			t.Fatalf("life %d: position %+v, identity %q", life, p, l.Identity())
		}
		for i := range 50 {
			s := fmt.Sprintf("record %d of life %d %0*d", i, life, i*30, 0)
			want = append(want, s)
			records++
			if n := appendOne(t, l, s); n != records {
				t.Fatalf("record %d has number %d", records, n)
			}
			if i%3 == 0 {
				must(t, l.Commit())
			}
			if l.Due() {
				must(t, l.BeginCheckpoint())
				for _, r := range want {
					must(t, l.Save([]byte(r)))
				}
				must(t, l.EndCheckpoint())
			}
		}
		for l.Waiting() {
			must(t, l.Commit())
		}
		must(t, l.Close())
		d.Crash(sim.KeepUpTo(0))
	}
	names, err := d.List(dir)
	must(t, err)
	if len(names) > 80 {
		t.Errorf("%d files", len(names))
	}
}
