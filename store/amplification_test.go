// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// countedDisk counts the bytes that are written to its files.
type countedDisk struct {
	env.Disk
	written int64
}

func (d *countedDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return countedFile{f.(env.SpaceFile), d}, nil
}

type countedFile struct {
	env.SpaceFile
	disk *countedDisk
}

func (f countedFile) WriteAt(p []byte, off int64) (int, error) {
	f.disk.written += int64(len(p))
	return f.SpaceFile.WriteAt(p, off)
}

// A long run of puts, deletes, reads and scans, nine tenths of them on a tenth of the keys, with
// a memtable of a seventh to a twelfth of the live data: the space of dead data is reused, and
// the cost of that is bounded. The callers do all the work, so that the figures are the same in
// each run. The live bytes are those of a map; the disk counts the written ones.
func TestOverwritesAreBounded(t *testing.T) {
	const superblocks = 2 << 20 // the beginning of the data file, which is as long in a store of any size
	for _, load := range []struct {
		name      string
		keys, hot int
		scattered bool // hot keys have cold ones between them
		scans     bool
		// The bounds on the mean and the maximum of the bytes in use per live byte, and on the
		// bytes written per byte of changes, the journal included.
		mean, most, written float64
	}{
		{"hot keys everywhere", 24000, 2400, true, true, 1.6, 2.3, 3.8},
		{"hot keys side by side", 24000, 2400, false, false, 1.6, 2.3, 3.3},
		{"all keys alike", 5000, 5000, true, false, 1.75, 2.3, 3.8},
	} {
		t.Run(load.name, func(t *testing.T) {
			disk := &countedDisk{Disk: sim.NewDisk()}
			db := open(t, disk, store.Options{
				Memory: 64 << 20, Durability: store.ProcessCrash, Compression: store.None,
				Tuning: store.Tuning{MemtableBytes: 512 << 10, Inline: true},
			})
			rng := rand.New(rand.NewPCG(1, 2))
			model, live, user := map[int]int{}, 0, 0
			value := make([]byte, 2100)
			for i := range value {
				value[i] = byte(rng.Uint32())
			}
			var most, sum, samples float64
			var before struct{ written, user int64 }
			const ops = 100000
			for i := range ops {
				k := rng.IntN(load.keys)
				if rng.IntN(10) > 0 {
					if k %= load.hot; load.scattered {
						k *= load.keys / load.hot
					}
				}
				key := fmt.Appendf(nil, "key-%08d", k)
				switch p := rng.IntN(100); {
				case p < 35:
					size := 100 + rng.IntN(2000)
					must(t, db.Put(key, value[:size]))
					live, user = live+size+len(key)-model[k], user+size+len(key)
					model[k] = size + len(key)
				case p < 45:
					must(t, db.Delete(key))
					live, user = live-model[k], user+len(key)
					delete(model, k)
				case p < 50 && load.scans:
					it, err := db.Iter(key, nil)
					must(t, err)
					for j, ok := 0, it.First(); ok && j < 50; j, ok = j+1, it.Next() {
					}
					must(t, it.Close())
				default:
					if v, _ := db.Get(key, nil); len(v) != max(model[k]-len(key), 0) {
						t.Fatalf("a value of %d bytes, expected %d", len(v), model[k]-len(key))
					}
				}
				if i == ops/2 {
					before.written, before.user = disk.written, int64(user)
				}
				if i > ops/2 && i%50 == 0 {
					m := db.Metrics()
					space := float64(m.FileBytes-m.FreeBytes-superblocks) / float64(live)
					most, sum, samples = max(most, space), sum+space, samples+1
				}
			}
			written := float64(disk.written-before.written) / float64(int64(user)-before.user)
			t.Logf("space %.2f on average, %.2f at most; written %.2f", sum/samples, most, written)
			if sum/samples > load.mean || most > load.most {
				t.Errorf("the store takes %.2f times its live data on average, %.2f at most; the bounds are %.2f and %.2f", sum/samples, most, load.mean, load.most)
			}
			if written > load.written {
				t.Errorf("%.2f bytes are written for each byte, the bound is %.2f", written, load.written)
			}
			must(t, db.Close())
		})
	}
}
