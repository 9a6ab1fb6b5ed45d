// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"math/rand"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

// Every operation that runs when the store is closed ends with ErrClosed.
func TestCloseBesideEverything(t *testing.T) {
	defer goleak.VerifyNone(t)
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	disk, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	defer disk.Close()
	for round := range rounds {
		o := small(store.Durability(round % 3))
		o.Tuning.MemtableBytes = 64 << 10
		db, err := store.Open(world(disk, uint64(round)), "db", o)
		must(t, err)
		var wg sync.WaitGroup
		calls := map[string]func(r *rand.Rand) error{
			"put":    func(r *rand.Rand) error { return db.Put(fmt.Appendf(nil, "k%d", r.Intn(2000)), make([]byte, 300)) },
			"large":  func(r *rand.Rand) error { return db.Put(fmt.Appendf(nil, "k%d", r.Intn(2000)), make([]byte, 200_000)) },
			"delete": func(r *rand.Rand) error { return db.DeleteRange([]byte("k1"), []byte("k11")) },
			"get": func(r *rand.Rand) error {
				_, err := db.Get(fmt.Appendf(nil, "k%d", r.Intn(2000)), nil)
				return err
			},
			"snapshot": func(r *rand.Rand) error {
				s := db.Snapshot()
				defer s.Close()
				_, err := s.Get(fmt.Appendf(nil, "k%d", r.Intn(2000)), nil)
				return err
			},
			"scan": func(r *rand.Rand) error {
				it, err := db.Iter(nil, nil)
				if err != nil {
					return err
				}
				for n, ok := 0, it.First(); ok && n < 50; n, ok = n+1, it.Next() {
					_ = it.Value()
				}
				defer time.Sleep(20 * time.Millisecond) // a store with iterators is not closed
				return it.Close()
			},
			"sync":    func(*rand.Rand) error { return db.Sync() },
			"flush":   func(*rand.Rand) error { return db.Flush() },
			"compact": func(*rand.Rand) error { return db.Compact(nil, nil) },
			"verify": func(*rand.Rand) error {
				report, err := db.Verify(t.Context())
				return errors.Join(err, report.Err())
			},
			"scrub": func(*rand.Rand) error {
				report, err := db.Scrub(t.Context(), 1<<30)
				return errors.Join(err, report.Err())
			},
			"wait": func(*rand.Rand) error { return db.Wait() },
		}
		for name, call := range calls {
			wg.Add(1)
			go func() {
				defer wg.Done()
				r := rand.New(rand.NewSource(int64(round)))
				for {
					err := call(r)
					if errors.Is(err, store.ErrClosed) {
						return
					}
					if err != nil && !errors.Is(err, store.ErrNotFound) {
						t.Errorf("%s: %v", name, err)
						return
					}
				}
			}()
		}
		time.Sleep(time.Duration(20+round*25) * time.Millisecond)
		within(t, 30*time.Second, func() {
			for {
				err := db.Close()
				if err == nil {
					return
				}
				if _, err := db.Get([]byte("k"), nil); errors.Is(err, store.ErrClosed) {
					t.Errorf("close: %v", err)
					return
				}
			}
		})
		within(t, 30*time.Second, wg.Wait)
	}
}
