// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// device is what the storage below -dir does, around the page cache.
type device struct {
	WriteMBps  float64 // 1 MiB sequential writes, with the sync that ends them
	ReadP50    float64 // µs of a random read of 4 KiB, one at a time
	SyncP50    float64 // µs of 4 KiB written over and synced
	HarnessUs  float64 // CPU µs to make a record and account for it, no store
	Impossible string  `json:",omitempty"`
}

func (d device) String() string {
	if d.Impossible != "" {
		return "not measured: " + d.Impossible
	}
	return fmt.Sprintf("sequential write %.0f MB/s, random 4 KiB read p50 %.0f µs, 4 KiB write and fdatasync p50 %.0f µs; this program %.2f µs per record",
		d.WriteMBps, d.ReadP50, d.SyncP50, d.HarnessUs)
}

// calibrate measures the device in a file of its own, each part for at most
// the given time.
func calibrate(dir string, part time.Duration) (d device) {
	name := filepath.Join(dir, "calibration")
	f, err := openDirect(name)
	if err != nil {
		d.Impossible = err.Error()
		return d
	}
	err = errors.Join(d.measure(f, part), f.Close(), os.Remove(name))
	if err != nil {
		return device{Impossible: err.Error()}
	}
	d.HarnessUs = harnessCost()
	return d
}

const calibrationBytes = 256 << 20

func (d *device) measure(f *os.File, part time.Duration) error {
	big, err := pages(1 << 20)
	if err != nil {
		return err
	}
	s := newSource(1)
	for i := range big {
		big[i] = byte(s.next())
	}
	start, size := time.Now(), int64(0)
	for size < calibrationBytes && time.Since(start) < part {
		if _, err := f.WriteAt(big, size); err != nil {
			return err
		}
		size += int64(len(big))
	}
	if err := datasync(f); err != nil {
		return err
	}
	d.WriteMBps = float64(size) / 1e6 / time.Since(start).Seconds()
	small := big[:4096]
	d.ReadP50, err = medianOf(part, func() error {
		_, err := f.ReadAt(small, int64(s.below(uint64(size)/4096))*4096)
		return err
	})
	if err != nil {
		return err
	}
	d.SyncP50, err = medianOf(part, func() error {
		if _, err := f.WriteAt(small, int64(s.below(uint64(size)/4096))*4096); err != nil {
			return err
		}
		return datasync(f)
	})
	return err
}

// medianOf repeats something for a time and returns the median in µs.
func medianOf(part time.Duration, do func() error) (float64, error) {
	var took []time.Duration
	for start := time.Now(); time.Since(start) < part; {
		before := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(before))
	}
	slices.Sort(took)
	return float64(took[len(took)/2].Nanoseconds()) / 1000, nil
}

// nothing is a store that keeps nothing: what is left is this program.
type nothing struct{}

func (nothing) put(_, _ []byte) error                                { return nil }
func (nothing) get(_, dst []byte) ([]byte, error)                    { return dst, errAbsent }
func (nothing) scan([]byte, int, func(key, value []byte) bool) error { return nil }
func (nothing) sync() error                                          { return nil }
func (nothing) settle(func() bool) error                             { return nil }
func (nothing) close() error                                         { return nil }

// harnessCost is the CPU time of an insert into nothing, in µs.
func harnessCost() float64 {
	const n = 50_000
	load, _ := workloadNamed("load")
	p := &phase{spec: spec{Ops: n, Limit: time.Minute, Format: format{ValueSize: valueSize}, Settings: settings{Clients: 1}},
		load: load, ledger: newLedger(n, 1), store: nothing{}}
	p.prepare()
	if err := p.operations(); err != nil {
		return 0
	}
	return p.result.CPUSeconds * 1e6 / n
}
