// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"sort"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// tiny are sizes with which few changes reach every part of the store.
func tiny() store.Options {
	return store.Options{
		Memory: 64 << 20,
		Tuning: store.Tuning{MemtableBytes: 32 << 10, LeafBytes: 16 << 10, Fanout: 4, Runs: 3, BlobBytes: 1 << 10, Inline: true, CacheBytes: 256 << 10},
	}
}

func world(disk env.Disk, seed uint64) env.Env {
	return env.Env{Clock: osenv.NewClock(), Random: env.Seeded(seed), Disk: disk, Tracer: env.NoTrace{}}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// check compares the store with a map, by point reads and scans in both
// directions.
func check(t *testing.T, db *store.DB, want map[string]string) {
	t.Helper()
	keys := make([]string, 0, len(want))
	for k := range want {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		got, err := db.Get([]byte(k), nil)
		if err != nil || string(got) != want[k] {
			t.Fatalf("get %q: %d bytes %.20q, %v; want %d bytes %.20q", k, len(got), got, err, len(want[k]), want[k])
		}
	}
	it, err := db.Iter(nil, nil)
	must(t, err)
	i := 0
	for ok := it.First(); ok; ok = it.Next() {
		if i >= len(keys) || string(it.Key()) != keys[i] || string(it.Value()) != want[keys[i]] {
			t.Fatalf("scan: %d is %q", i, it.Key())
		}
		i++
	}
	if i != len(keys) {
		t.Fatalf("scan found %d keys, want %d: %v", i, len(keys), it.Err())
	}
	for ok := it.Last(); ok; ok = it.Prev() {
		i--
		if i < 0 || string(it.Key()) != keys[i] || string(it.Value()) != want[keys[i]] {
			t.Fatalf("backward scan: %d is %q", i, it.Key())
		}
	}
	if i != 0 {
		t.Fatalf("backward scan left %d keys: %v", i, it.Err())
	}
	must(t, it.Close())
}

func TestAgainstAMap(t *testing.T) {
	for _, seed := range []int64{1, 2, 3} {
		disk := sim.NewDisk()
		r := rand.New(rand.NewSource(seed))
		db, err := store.Open(world(disk, 1), "db", tiny())
		must(t, err)
		model := map[string]string{}
		for i := range 6000 {
			key := fmt.Sprintf("key%04d", r.Intn(700))
			switch p := r.Intn(1000); {
			case p < 700:
				value := string(bytes.Repeat([]byte{byte('a' + i%26)}, r.Intn(300)))
				if p < 10 {
					value = string(bytes.Repeat([]byte{byte('a' + i%26)}, 1000+r.Intn(9000)))
				}
				must(t, db.Put([]byte(key), []byte(value)))
				model[key] = value
			case p < 960:
				must(t, db.Delete([]byte(key)))
				delete(model, key)
			case p < 970:
				hi := fmt.Sprintf("key%04d", r.Intn(700))
				if hi < key {
					key, hi = hi, key
				}
				must(t, db.DeleteRange([]byte(key), []byte(hi)))
				for k := range model {
					if k >= key && k < hi {
						delete(model, k)
					}
				}
			case p < 980:
				must(t, db.Sync())
			case p < 983:
				must(t, db.Flush())
			case p < 990:
				b := db.NewBatch()
				for range 5 {
					k := fmt.Sprintf("key%04d", r.Intn(700))
					b.Put([]byte(k), []byte(key))
					model[k] = key
				}
				must(t, db.Commit(b, store.NoSync))
			case p < 995:
				check(t, db, model)
			case p < 997:
				must(t, db.Wait())
			default:
				must(t, db.Close())
				db, err = store.Open(world(disk, uint64(i)), "db", tiny())
				must(t, err)
			}
			if _, err := db.Get([]byte("absent"), nil); !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
		}
		check(t, db, model)
		t.Logf("%+v", db.Metrics())
		must(t, db.Close())
	}
}
