// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

// small are sizes with which the workers have work.
func small(d store.Durability) store.Options {
	return store.Options{
		Memory: 64 << 20, Durability: d,
		Tuning: store.Tuning{MemtableBytes: 256 << 10, LeafBytes: 256 << 10, Fanout: 4, Runs: 4, BlobBytes: 4 << 10, CacheBytes: 4 << 20, Workers: 2},
	}
}

// TestConcurrentUse has writers that move amounts between accounts in batches, and
// readers that check with snapshots, iterators and point reads that nothing is
// lost, half done, or older than before.
func TestConcurrentUse(t *testing.T) {
	defer goleak.VerifyNone(t)
	const (
		accounts = 300
		writers  = 3
		amount   = 1000
	)
	rounds := 1500
	if testing.Short() {
		rounds = 500
	}
	for _, durability := range []store.Durability{store.SyncOnDemand, store.ProcessCrash, store.EveryCommit} {
		disk, err := osenv.OpenDisk(t.TempDir())
		must(t, err)
		db, err := store.Open(world(disk, 1), "db", small(durability))
		must(t, err)
		name := func(i int) []byte { return fmt.Appendf(nil, "account%04d", i) }
		value := func(n uint64, r *rand.Rand) []byte {
			b := binary.LittleEndian.AppendUint64(nil, n)
			return append(b, make([]byte, r.Intn(600))...)
		}
		b := db.NewBatch()
		for i := range accounts {
			b.Put(name(i), value(amount, rand.New(rand.NewSource(1))))
		}
		must(t, db.Commit(b, store.Sync))
		var wg sync.WaitGroup
		done := make(chan struct{})
		fail := func(format string, args ...any) { t.Errorf(format, args...) }
		for w := range writers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				r := rand.New(rand.NewSource(int64(w)))
				b := db.NewBatch()
				for range rounds {
					// Each writer has accounts of its own, so that reading
					// and writing need no lock.
					from, to := r.Intn(accounts/writers)*writers+w, r.Intn(accounts/writers)*writers+w
					if from == to {
						continue
					}
					x, err1 := db.Get(name(from), nil)
					y, err2 := db.Get(name(to), nil)
					if err := errors.Join(err1, err2); err != nil {
						fail("get: %v", err)
						return
					}
					a, c := binary.LittleEndian.Uint64(x), binary.LittleEndian.Uint64(y)
					move := uint64(r.Intn(int(a + 1)))
					b.Reset()
					b.Put(name(from), value(a-move, r))
					b.Put(name(to), value(c+move, r))
					if err := db.Commit(b, store.NoSync); err != nil {
						fail("commit: %v", err)
						return
					}
				}
			}()
		}
		var readers sync.WaitGroup
		for g := range 2 {
			readers.Add(1)
			go func() {
				defer readers.Done()
				r := rand.New(rand.NewSource(int64(100 + g)))
				for {
					select {
					case <-done:
						return
					default:
					}
					s := db.Snapshot()
					var sum uint64
					if g == 0 {
						it, err := s.Iter(nil, nil)
						if err != nil {
							fail("iter: %v", err)
							return
						}
						n := 0
						for ok := it.First(); ok; ok = it.Next() {
							sum += binary.LittleEndian.Uint64(it.Value())
							n++
						}
						if err := it.Close(); err != nil || n != accounts {
							fail("%d accounts: %v", n, err)
						}
					} else {
						for _, i := range r.Perm(accounts) {
							v, err := s.Get(name(i), nil)
							if err != nil {
								fail("snapshot get: %v", err)
								return
							}
							sum += binary.LittleEndian.Uint64(v)
						}
					}
					s.Close()
					if sum != accounts*amount {
						fail("the accounts hold %d, want %d", sum, accounts*amount)
						return
					}
				}
			}()
		}
		wg.Wait()
		close(done)
		readers.Wait()
		must(t, db.Sync())
		must(t, db.Wait())
		report, err := db.Verify(t.Context())
		must(t, err)
		must(t, report.Err())
		m := db.Metrics()
		if m.Memtables == 0 || m.Compactions == 0 {
			t.Errorf("the workers had nothing to do: %+v", m)
		}
		must(t, db.Close())
		db, err = store.Open(world(disk, 2), "db", small(durability))
		must(t, err)
		var sum uint64
		for i := range accounts {
			v, err := db.Get(name(i), nil)
			must(t, err)
			sum += binary.LittleEndian.Uint64(v)
		}
		if sum != accounts*amount {
			t.Errorf("after opening again the accounts hold %d, want %d", sum, accounts*amount)
		}
		must(t, db.Close())
		must(t, disk.Close())
	}
}

// TestGroupCommit has many clients that sync each change: they share syncs.
func TestGroupCommit(t *testing.T) {
	defer goleak.VerifyNone(t)
	disk, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	db, err := store.Open(world(disk, 1), "db", small(store.EveryCommit))
	must(t, err)
	const clients, each = 16, 20
	var wg sync.WaitGroup
	for c := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range each {
				if err := db.Put(fmt.Appendf(nil, "%d-%d", c, i), []byte("x")); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	if n := db.Metrics().Syncs; n >= clients*each {
		t.Errorf("%d syncs for %d changes", n, clients*each)
	}
	must(t, db.Close())
}
