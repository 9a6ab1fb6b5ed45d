// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// shortStore is a store on which a merge is due: some branches of the same keys.
func shortStore(t *testing.T, disk env.Disk) *DB {
	t.Helper()
	o := Options{Memory: 64 << 20, Tuning: Tuning{MemtableBytes: 32 << 10, LeafBytes: 16 << 10, Fanout: 4, Runs: 3, BlobBytes: 1 << 10, Inline: true}}
	db, err := Open(env.Env{Disk: disk, Clock: osenv.NewClock(), Random: osenv.NewRandom()}, "db", o)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		for i := range 100 {
			if err := db.Put(fmt.Appendf(nil, "key%03d", i), fmt.Appendf(nil, "%d %0100d", round, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.flushMems(false); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// A merge that finds no memory to read its inputs is an error of the caller that
// wants it, and is made as soon as there is memory: it is neither taken for
// damage, nor tried again and again.
func TestMergesWithoutMemory(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	db := shortStore(t, disk)
	for name, call := range map[string]func() error{
		"wait": db.Wait,
		"inline": func() error {
			for {
				if did, err := db.step(alphaIdle); err != nil || !did {
					return err
				}
				if err := db.inline(); err != nil {
					return err
				}
			}
		},
		"make room": func() error {
			for {
				if did, err := db.makeRoom(forDeletes); err != nil || !did {
					return err
				}
			}
		},
	} {
		// The system has no memory: no limit may be exceeded. A call that does not
		// end gets its memory in the end.
		const shortagesMax = 1000
		shortages := 0
		db.pool.OnShortage(func(int) slab.Answer {
			if shortages++; shortages > shortagesMax {
				return slab.Exceed
			}
			return slab.Refuse
		})
		var held [][]byte
		for n := 1 << 20; n >= 64; n /= 2 {
			for {
				b, ok := db.pool.Try(n)
				if !ok {
					break
				}
				held = append(held, b)
			}
		}
		err := call()
		for _, b := range held {
			db.pool.Free(b)
		}
		db.pool.OnShortage(db.relieve)
		if shortages > shortagesMax {
			t.Fatalf("%s does not end without memory", name)
		}
		if !errors.Is(err, ErrMemory) {
			t.Errorf("%s: %v, want %v", name, err, ErrMemory)
		}
	}
	if err := db.Wait(); err != nil {
		t.Fatal(err)
	}
	if runs := db.tree.runs(); runs != 1 || db.Metrics().Compactions == 0 {
		t.Errorf("%d runs are left when there is memory again", runs)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// An input that cannot be read is not asked for again, whatever the disk says:
// even that it has no room.
func TestReadsWithoutRoom(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	db := shortStore(t, disk)
	j := db.nextJob(alphaIdle)
	if j == nil {
		t.Fatal("no merge is due")
	}
	for cause, spoiled := range map[error]bool{env.ErrNoSpace: true, fs.ErrInvalid: true} {
		db.tree.spoiled = nil
		err := db.mergeError(j, fmt.Errorf("merge: %w", readError{cause}))
		var unreadable readError
		if !errors.As(err, &unreadable) || !errors.Is(err, cause) || !strings.HasPrefix(err.Error(), "compaction: ") || db.tree.isSpoiled(j) != spoiled {
			t.Errorf("%v: %v, spoiled %v", cause, err, db.tree.isSpoiled(j))
		}
	}
	if err := db.err(); err != nil {
		t.Error(err)
	}
	db.tree.finish(j, nil, false)
	for _, r := range j.Inputs {
		db.unrefBranch(r.Branch)
	}
	db.tree.spoiled = []*trunk.Job{}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
