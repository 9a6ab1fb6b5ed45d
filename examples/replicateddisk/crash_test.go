// SPDX-License-Identifier: Apache-2.0

package replicateddisk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/examples/replicateddisk"
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/mem"
	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
)

const crashBlocks = 3

func do(d *replicateddisk.Disk) crashtest.Do[crashtest.Access, []uint64] {
	return func(a crashtest.Access) []uint64 {
		if !a.Write {
			return []uint64{crashtest.Number(d.Read(a.Addrs[0]))}
		}
		d.Write(a.Addrs[0], crashtest.Block(a.Numbers[0]))
		return nil
	}
}

func system() crashtest.System[[]uint64, crashtest.Access, []uint64] {
	path := func(dir string, which string) string { return filepath.Join(dir, which, "disk") }
	return crashtest.System[[]uint64, crashtest.Access, []uint64]{
		Name:    "replicateddisk",
		Spec:    crashtest.Atomic(crashBlocks),
		Clients: 4,
		Client: func(r env.Random, _ int, do crashtest.Do[crashtest.Access, []uint64]) {
			do(crashtest.RandomAccess(r, crashBlocks, 1))
		},
		Observe: crashtest.All(crashBlocks),
		Build: func(m *mem.Machine) func(*mem.Life) crashtest.Do[crashtest.Access, []uint64] {
			two := m.NewTwo(crashBlocks)
			return func(l *mem.Life) crashtest.Do[crashtest.Access, []uint64] {
				return do(replicateddisk.Open(two.Open(l)))
			}
		},
		Prepare: func(dir string) error {
			if err := os.Mkdir(filepath.Join(dir, "a"), 0o700); err != nil {
				return err
			}
			return os.Mkdir(filepath.Join(dir, "b"), 0o700)
		},
		Open: func(dir string) (crashtest.Do[crashtest.Access, []uint64], error) {
			two, err := disk.OpenTwo(path(dir, "a"), path(dir, "b"), crashBlocks)
			if err != nil {
				return nil, err
			}
			return do(replicateddisk.Open(two)), nil
		},
	}
}

func TestCrashes(t *testing.T) {
	crashtest.Simulate(t, system(), crashtest.Effort{Losses: -1}).Enough(t)
}

// TestCrashesAndAFailure: each disk fails at its first access, and at its
// second, and so on, while the machine crashes everywhere.
func TestCrashesAndAFailure(t *testing.T) {
	var total crashtest.Report
	for which := range 2 {
		for access := 1; access <= failures(t); access++ {
			s := system()
			s.Build = func(m *mem.Machine) func(*mem.Life) crashtest.Do[crashtest.Access, []uint64] {
				two := m.NewTwo(crashBlocks)
				two.FailAt(which, access)
				return func(l *mem.Life) crashtest.Do[crashtest.Access, []uint64] {
					return do(replicateddisk.Open(two.Open(l)))
				}
			}
			total.Add(crashtest.Simulate(t, s, crashtest.Effort{Losses: -1, Workloads: 1, Seeds: 20}))
			if t.Failed() {
				t.Fatalf("when disk %d fails at access %d", which, access)
			}
		}
	}
	total.Enough(t)
}

func TestKilled(t *testing.T) {
	crashtest.Kill(t, system(), kills(t), 1)
}

// TestKilledAndADiskIsGone: one disk is taken away after some kills.
func TestKilledAndADiskIsGone(t *testing.T) {
	for i, gone := range []string{"a", "b"} {
		t.Run(gone, func(t *testing.T) {
			s, n := system(), kills(t)
			s.Between = func(dir string, life int) error {
				if life == n/3 {
					return os.RemoveAll(filepath.Join(dir, gone))
				}
				return nil
			}
			crashtest.Kill(t, s, n, uint64(10+i))
		})
	}
}

func failures(t *testing.T) int {
	if testing.Short() {
		return 6
	}
	return 24
}

func kills(t *testing.T) int {
	if testing.Short() {
		return 10
	}
	return 60
}
