// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// record writes the i-th of n records: a key of 24 bytes in no order, and 512
// bytes that do not compress.
func record(i uint64, key, value []byte) {
	h := i * 0x9e3779b97f4a7c15
	h ^= h >> 29
	copy(key, "user")
	const digits = "0123456789abcdef"
	for d := range 16 {
		key[4+d] = digits[h>>(60-4*d)&15]
	}
	copy(key[20:], "0000")
	x := i + 1
	for at := 0; at < len(value); at += 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		binary.LittleEndian.PutUint64(value[at:], x)
	}
}

func benchStore(b *testing.B, o store.Options) *store.DB {
	disk, err := osenv.OpenDisk(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	db, err := store.Open(world(disk, 1), "db", o)
	if err != nil {
		b.Fatal(err)
	}
	return db
}

// BenchmarkLoad puts records in random order, with the journal on, and then
// reads some of them.
func BenchmarkLoad(b *testing.B) {
	for _, d := range []store.Durability{store.SyncOnDemand, store.ProcessCrash} {
		b.Run(fmt.Sprint("durability=", d), func(b *testing.B) {
			db := benchStore(b, store.Options{Memory: 128 << 20, Durability: d})
			key, value := make([]byte, 24), make([]byte, 512)
			b.SetBytes(536)
			for i := range b.N {
				record(uint64(i), key, value)
				if err := db.Put(key, value); err != nil {
					b.Fatal(err)
				}
			}
			if err := db.Sync(); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			m := db.Metrics()
			b.ReportMetric(m.WriteAmplification(), "write-amp")
			if err := db.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	const records = 200_000
	db := benchStore(b, store.Options{Memory: 64 << 20})
	key, value := make([]byte, 24), make([]byte, 512)
	for i := range uint64(records) {
		record(i, key, value)
		if err := db.Put(key, value); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(db.Flush(), db.Wait()); err != nil {
		b.Fatal(err)
	}
	for _, set := range []int{1000, records} {
		b.Run(fmt.Sprint("keys=", set), func(b *testing.B) {
			r := rand.New(rand.NewSource(1))
			var dst []byte
			b.ReportAllocs()
			for range b.N {
				record(uint64(r.Intn(set)), key, nil)
				got, err := db.Get(key, dst[:0])
				if err != nil || len(got) != 512 {
					b.Fatal(err)
				}
				dst = got
			}
		})
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkScan(b *testing.B) {
	const records = 200_000
	db := benchStore(b, store.Options{Memory: 64 << 20})
	key, value := make([]byte, 24), make([]byte, 512)
	for i := range uint64(records) {
		record(i, key, value)
		if err := db.Put(key, value); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(db.Flush(), db.Wait()); err != nil {
		b.Fatal(err)
	}
	for _, want := range []int{50, records} {
		b.Run(fmt.Sprint("keys=", want), func(b *testing.B) {
			r := rand.New(rand.NewSource(1))
			b.ReportAllocs()
			total := 0
			for range b.N {
				record(uint64(r.Intn(records)), key, nil)
				if want == records {
					clear(key)
				}
				it, err := db.Iter(key, nil)
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for ok := it.First(); ok && n < want; ok = it.Next() {
					if len(it.Value()) != 512 {
						b.Fatal("a value is not whole")
					}
					n++
				}
				if err := it.Close(); err != nil {
					b.Fatal(err)
				}
				total += n
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(total), "ns/record")
		})
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkIngest brings records in the order of their keys into a store, by Put and
// by an Ingest, and waits until they are merged.
func BenchmarkIngest(b *testing.B) {
	for _, how := range []string{"put", "ingest"} {
		b.Run(how, func(b *testing.B) {
			db := benchStore(b, store.Options{Memory: 64 << 20, Durability: store.ProcessCrash})
			key, value := make([]byte, 24), make([]byte, 96)
			put, end := db.Put, db.Sync
			if how == "ingest" {
				i, err := db.Ingest()
				if err != nil {
					b.Fatal(err)
				}
				put, end = i.Put, i.Commit
			}
			for i := range b.N {
				record(uint64(i), key, value)
				copy(key, fmt.Sprintf("%012d", i))
				if err := put(key, value); err != nil {
					b.Fatal(err)
				}
			}
			if err := end(); err != nil {
				b.Fatal(err)
			}
			if err := db.Wait(); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			m := db.Metrics()
			b.ReportMetric(float64(m.JournalBytes+m.BranchBytes+m.TableBytes+m.BlobBytes)/float64(b.N), "written/op")
			if err := db.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkValidation commits transactions that have read one key, after so many
// changes of others.
func BenchmarkValidation(b *testing.B) {
	for _, changes := range []int{0, 100, 10_000} {
		b.Run(fmt.Sprint("changes=", changes), func(b *testing.B) {
			db := benchStore(b, store.Options{Memory: 128 << 20})
			key, value := make([]byte, 24), make([]byte, 96)
			for b.Loop() {
				b.StopTimer()
				tx := db.Begin()
				if _, err := tx.Get([]byte("key"), nil); err != nil && !errors.Is(err, store.ErrNotFound) {
					b.Fatal(err)
				}
				if err := tx.Put([]byte("key"), value); err != nil {
					b.Fatal(err)
				}
				for i := range changes {
					record(uint64(i), key, value)
					if err := db.Put(key, value); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				if err := tx.Commit(store.NoSync); err != nil {
					b.Fatal(err)
				}
			}
			if changes > 0 {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*changes), "ns/change")
			}
			if err := db.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkExpiry deletes 100,000 records of 128 bytes: by dropping their keyspace,
// or one by one. It reports bytes read and written for each record.
func BenchmarkExpiry(b *testing.B) {
	for _, drop := range []bool{true, false} {
		b.Run(fmt.Sprint("drop=", drop), func(b *testing.B) {
			const n = 100_000
			var bytes int64
			for range b.N {
				b.StopTimer()
				db, err := store.Open(world(sim.NewDisk(), 1), "db", store.Options{Memory: 64 << 20, Tuning: store.Tuning{Inline: true}})
				if err != nil {
					b.Fatal(err)
				}
				k, err := db.Keyspace("hour")
				key, value := make([]byte, 24), make([]byte, 104)
				for i := range n {
					record(uint64(i), key, value)
					err = errors.Join(err, k.Put(key, value))
				}
				err = errors.Join(err, db.Flush(), db.Wait())
				before := db.Metrics()
				b.StartTimer()
				if drop {
					err = errors.Join(err, k.Drop())
				} else {
					it, e := k.Iterate(store.IterOptions{KeysOnly: true})
					for ok := e == nil && it.First(); ok; ok = it.Next() {
						e = errors.Join(e, k.Delete(it.Key()))
					}
					err = errors.Join(err, e, it.Close())
				}
				if err = errors.Join(err, db.Flush(), db.Wait()); err != nil {
					b.Fatal(err)
				}
				after := db.Metrics()
				bytes += after.BranchBytes + after.TableBytes + after.CompactionBytes - before.BranchBytes - before.TableBytes - before.CompactionBytes
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(bytes)/float64(b.N)/n, "bytes/record")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
		})
	}
}

// BenchmarkSyncedPut puts records of 536 bytes, each durable when the call returns, into a
// journal whose files are new, and into one whose files are used again: the first write of a
// page of a file is preceded by one of zeros, since a sync of space that the file system has
// never seen written costs about twice as much.
func BenchmarkSyncedPut(b *testing.B) {
	for _, c := range []struct {
		name   string
		before uint64 // puts that are not measured
	}{{"new files", 0}, {"used files", 3000}} {
		b.Run(c.name, func(b *testing.B) {
			disk, err := osenv.OpenDisk(b.TempDir())
			must(b, err)
			defer disk.Close()
			db, err := store.Open(world(disk, 1), "db", store.Options{
				Memory: 64 << 20, Durability: store.EveryCommit, Tuning: store.Tuning{MemtableBytes: 1 << 20},
			})
			must(b, err)
			defer db.Close()
			key, value := make([]byte, 24), make([]byte, 512)
			put := func(i uint64) {
				record(i, key, value)
				must(b, db.Put(key, value))
			}
			for i := range c.before {
				put(i)
			}
			start := writtenBytes()
			b.ResetTimer()
			for i := range uint64(b.N) {
				put(c.before + i)
			}
			b.ReportMetric(float64(writtenBytes()-start)/float64(b.N), "written-B/op")
		})
	}
}

// writtenBytes is the number of bytes that the process has written to disks; 0 if the system
// does not report it.
func writtenBytes() (n int64) {
	text, _ := os.ReadFile("/proc/self/io")
	for _, line := range strings.Split(string(text), "\n") {
		_, _ = fmt.Sscanf(line, "write_bytes: %d", &n)
	}
	return n
}
