// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

// BenchmarkCommit appends that many records of 100 bytes, and commits them, to
// files that are never synced, and to a directory of the machine.
func BenchmarkCommit(b *testing.B) {
	for _, where := range []string{"memory", "directory"} {
		for _, batch := range []int{1, 64, 1024} {
			b.Run(fmt.Sprintf("%s/%d", where, batch), func(b *testing.B) {
				d, err := osenv.OpenDisk(b.TempDir())
				must(b, err)
				defer d.Close()
				var disk env.Disk = d
				if where == "memory" {
					disk = lazyDisk{d}
				}
				must(b, Format(worldOn(disk, 1), dir, nil))
				l, err := Open(worldOn(disk, 2), dir, Options{})
				must(b, err)
				must(b, l.Replay(nil))
				var record Records = One(make([]byte, 100))
				b.ReportAllocs()
				for b.Loop() {
					for range batch {
						if _, err := l.Append(record); err != nil {
							b.Fatal(err)
						}
					}
					must(b, l.Commit())
					if l.Due() { // of an empty state
						must(b, l.BeginCheckpoint())
						must(b, l.EndCheckpoint())
					}
				}
				b.ReportMetric(float64(batch)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
				must(b, l.Close())
			})
		}
	}
}

// BenchmarkReplay opens a log of a state and of records of 100 bytes, so many of
// each.
func BenchmarkReplay(b *testing.B) {
	const n = 200_000
	d, err := osenv.OpenDisk(b.TempDir())
	must(b, err)
	defer d.Close()
	disk := lazyDisk{d}
	must(b, Format(worldOn(disk, 1), dir, nil))
	l, err := Open(worldOn(disk, 2), dir, Options{})
	must(b, err)
	must(b, l.Replay(nil))
	must(b, l.BeginCheckpoint())
	var record Records = One(make([]byte, 100))
	for range n {
		must(b, l.Save(record.Record(0)))
	}
	must(b, l.EndCheckpoint())
	for i := range n {
		_, err := l.Append(record)
		must(b, err)
		if i%1000 == 0 {
			must(b, l.Commit())
		}
	}
	for l.Waiting() {
		must(b, l.Commit())
	}
	must(b, l.Close())
	b.ReportAllocs()
	for b.Loop() {
		l, err := Open(worldOn(disk, 3), dir, Options{})
		must(b, err)
		seen := 0
		must(b, l.Replay(func([]byte) error { seen++; return nil }))
		if seen != 2*n {
			b.Fatalf("%d records, want %d", seen, 2*n)
		}
		must(b, l.Close())
	}
	b.ReportMetric(2*n*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// lazyDisk is a disk that leaves all to the machine's memory: nothing is synced.
type lazyDisk struct{ *osenv.Disk }

type lazyFile struct{ env.File }

func (lazyFile) Sync() error { return nil }

func (d lazyDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return lazyFile{f}, nil
}

func (lazyDisk) SyncDir(string) error { return nil }
