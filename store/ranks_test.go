// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package store

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

// Each lock of an open store has its place in the order: if any two are taken in
// the wrong order, the second one panics.
func TestLocksHaveAnOrder(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	db, err := Open(env.Env{Disk: disk, Clock: osenv.NewClock(), Random: osenv.NewRandom()}, "db", Options{Memory: MemoryMin, Tuning: Tuning{Inline: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	it, err := db.Iter(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	type lock interface {
		Lock()
		Unlock()
	}
	// As ranks.go has it; those in one row exclude each other.
	rows := [][]lock{
		{&db.room.mu}, {&db.room.tight}, {&db.checkpoints.mu}, {&db.journal.mu}, {&it.mu}, {&db.space.growing}, {&db.mu}, {&db.views.mu},
		{&db.durable.mu, &db.space.mu, &db.readers.mu, &db.work.alarm.mu},
	}
	try := func(outer, inner lock) (panics bool) {
		outer.Lock()
		defer outer.Unlock()
		defer func() {
			if p, ok := recover().(string); ok && strings.Contains(p, "is taken while") {
				panics = true
			}
		}()
		inner.Lock()
		inner.Unlock() //nolint:staticcheck // whether it can be taken is the question
		return false
	}
	for i := range rows {
		for k := range rows {
			for _, a := range rows[i] {
				for _, b := range rows[k] {
					if a == b {
						continue
					}
					if got, want := try(a, b), i >= k; got != want {
						t.Errorf("a lock of row %d while one of row %d is held: panics: %v, want %v", k, i, got, want)
					}
				}
			}
		}
	}
}
