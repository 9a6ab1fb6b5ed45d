// SPDX-License-Identifier: Apache-2.0

package primitive_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/internal/model"
	"github.com/ashlar-dev/ashlar/goose/primitive/mem"
	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
)

// These tests compare the primitives with their models, on the machine and in
// memory, as the packages above are compared with their specifications.

const blocks = 3

func kills() int {
	if testing.Short() {
		return 10
	}
	return 80
}

func together[S, Op, Ret any](t *testing.T, sys crashtest.System[S, Op, Ret]) {
	t.Helper()
	rounds := 1000
	if testing.Short() {
		rounds = 50
	}
	for seed := range uint64(3) {
		crashtest.Together(t, sys, rounds, seed)
	}
}

type access = crashtest.Access

func diskSystem() crashtest.System[[]uint64, access, []uint64] {
	do := func(d *disk.Disk) crashtest.Do[access, []uint64] {
		return func(a access) []uint64 {
			if a.Write {
				d.Write(a.Addrs[0], crashtest.Block(a.Numbers[0]))
				return nil
			}
			return []uint64{crashtest.Number(d.Read(a.Addrs[0]))}
		}
	}
	return crashtest.System[[]uint64, access, []uint64]{
		Name: "disk", Spec: model.Disk(blocks), Clients: 4,
		Client: func(r env.Random, _ int, do crashtest.Do[access, []uint64]) {
			do(crashtest.RandomAccess(r, blocks, 1))
		},
		Observe: crashtest.All(blocks),
		Build: func(m *mem.Machine) func(*mem.Life) crashtest.Do[access, []uint64] {
			d := m.NewDisk(blocks)
			return func(l *mem.Life) crashtest.Do[access, []uint64] { return do(d.Open(l)) }
		},
		Open: func(dir string) (crashtest.Do[access, []uint64], error) {
			d, err := disk.Open(filepath.Join(dir, "disk"), blocks)
			if err != nil {
				return nil, err
			}
			return do(d), nil
		},
	}
}

func TestDisk(t *testing.T)       { together(t, diskSystem()) }
func TestDiskKilled(t *testing.T) { crashtest.Kill(t, diskSystem(), kills(), 1) }
func TestDiskInMemory(t *testing.T) {
	crashtest.Simulate(t, diskSystem(), crashtest.Effort{Losses: -1})
}

type asyncDo = crashtest.Do[model.AsyncOp, []uint64]

func asyncSystem() crashtest.System[[]model.AsyncBlock, model.AsyncOp, []uint64] {
	do := func(d *disk.Async) asyncDo {
		return func(o model.AsyncOp) []uint64 {
			switch {
			case o.Barrier:
				d.Barrier()
			case o.Write:
				d.Write(o.Addrs[0], crashtest.Block(o.Numbers[0]))
			default:
				return []uint64{crashtest.Number(d.Read(o.Addrs[0]))}
			}
			return nil
		}
	}
	return crashtest.System[[]model.AsyncBlock, model.AsyncOp, []uint64]{
		Name: "async", Spec: model.Async(blocks), Clients: 3,
		Client: func(r env.Random, _ int, do asyncDo) {
			if env.IntN(r, 4) == 0 {
				do(model.AsyncOp{Barrier: true})
			} else {
				do(model.AsyncOp{Access: crashtest.RandomAccess(r, blocks, 1)})
			}
		},
		Observe: func(do asyncDo) {
			crashtest.All(blocks)(func(a access) []uint64 { return do(model.AsyncOp{Access: a}) })
		},
		Build: func(m *mem.Machine) func(*mem.Life) asyncDo {
			d := m.NewAsync(blocks)
			return func(l *mem.Life) asyncDo { return do(d.Open(l)) }
		},
		Open: func(dir string) (asyncDo, error) {
			d, err := disk.OpenAsync(filepath.Join(dir, "disk"), blocks)
			if err != nil {
				return nil, err
			}
			return do(d), nil
		},
	}
}

func TestAsync(t *testing.T)       { together(t, asyncSystem()) }
func TestAsyncKilled(t *testing.T) { crashtest.Kill(t, asyncSystem(), kills(), 1) }
func TestAsyncInMemory(t *testing.T) {
	crashtest.Simulate(t, asyncSystem(), crashtest.Effort{Losses: 4})
}

// TestProcessEndLosesNothing: writes to an asynchronous disk survive the end of
// the process, although the model does not promise it.
func TestProcessEndLosesNothing(t *testing.T) {
	s := asyncSystem()
	s.Spec.Crash = nil
	crashtest.Kill(t, s, kills(), 2)
}

// TestMemoryLosesWrites: the asynchronous disk in memory does lose writes, so
// that tests on it mean something.
func TestMemoryLosesWrites(t *testing.T) {
	m := mem.NewMachine(func(n int) int { return n - 1 })
	d := m.NewAsync(2)
	l := m.Boot(0)
	h := d.Open(l)
	h.Write(0, crashtest.Block(1))
	h.Barrier()
	h.Write(0, crashtest.Block(2))
	h.Write(1, crashtest.Block(3))
	l.Crash()
	h = d.Open(m.Boot(0))
	if a, b := crashtest.Number(h.Read(0)), crashtest.Number(h.Read(1)); a != 1 || b != 0 {
		t.Errorf("found %d and %d, want 1 and 0", a, b)
	}
}

type twoDo = crashtest.Do[model.TwoOp, model.TwoRet]

func doTwo(d *disk.Two) twoDo {
	return func(o model.TwoOp) model.TwoRet {
		which := uint64(o.Which)
		switch {
		case o.Size:
			return model.TwoRet{Size: d.Size()}
		case o.Write:
			d.Write(which, o.Addr, crashtest.Block(o.Number))
			return model.TwoRet{}
		}
		b, ok := d.Read(which, o.Addr)
		return model.TwoRet{Number: crashtest.Number(b), OK: ok}
	}
}

// twoPaths gives each disk a directory of its own.
func twoPaths(dir string) (string, string) {
	return filepath.Join(dir, "a", "disk"), filepath.Join(dir, "b", "disk")
}

func makeTwo(dir string) error {
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o700); err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(dir, "b"), 0o700)
}

func twoSystem() crashtest.System[model.TwoState, model.TwoOp, model.TwoRet] {
	return crashtest.System[model.TwoState, model.TwoOp, model.TwoRet]{
		Name: "two", Spec: model.Two(blocks), Clients: 4,
		Client: func(r env.Random, _ int, do twoDo) {
			do(model.TwoOp{
				Write: env.IntN(r, 2) == 0, Size: env.IntN(r, 20) == 0, Which: env.IntN(r, 2),
				Addr: uint64(env.IntN(r, blocks)), Number: r.Uint64() >> 24,
			})
		},
		Observe: func(do twoDo) {
			for which := range 2 {
				for a := range uint64(blocks) {
					do(model.TwoOp{Which: which, Addr: a})
				}
			}
		},
		Build: func(m *mem.Machine) func(*mem.Life) twoDo {
			d := m.NewTwo(blocks)
			return func(l *mem.Life) twoDo { return doTwo(d.Open(l)) }
		},
		Prepare: makeTwo,
		Open: func(dir string) (twoDo, error) {
			a, b := twoPaths(dir)
			d, err := disk.OpenTwo(a, b, blocks)
			if err != nil {
				return nil, err
			}
			return doTwo(d), nil
		},
	}
}

func TestTwo(t *testing.T)       { together(t, twoSystem()) }
func TestTwoKilled(t *testing.T) { crashtest.Kill(t, twoSystem(), kills(), 1) }

func TestTwoInMemory(t *testing.T) {
	accesses := 4
	if testing.Short() {
		accesses = 2
	}
	for which := range 2 {
		for access := range accesses {
			s := twoSystem()
			s.Clients = 3
			s.Build = func(m *mem.Machine) func(*mem.Life) twoDo {
				d := m.NewTwo(blocks)
				d.FailAt(which, access) // 0: never
				return func(l *mem.Life) twoDo { return doTwo(d.Open(l)) }
			}
			crashtest.Simulate(t, s, crashtest.Effort{Losses: -1, Workloads: 1, Seeds: 30})
		}
	}
}

// TestTwoKilledAndOneIsGone: a disk that is removed between two lives has
// failed, and stays failed.
func TestTwoKilledAndOneIsGone(t *testing.T) {
	for _, gone := range []string{"a", "b"} {
		t.Run(gone, func(t *testing.T) {
			s, n := twoSystem(), kills()
			s.Between = func(dir string, life int) error {
				switch life {
				case n / 3:
					return os.Rename(filepath.Join(dir, gone), filepath.Join(dir, "away"))
				case 2 * n / 3: // it is back, with what it had then
					return os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, gone))
				}
				return nil
			}
			crashtest.Kill(t, s, n, 3)
		})
	}
}

// TestTwoFailsForGood: an error fails the disk, and its contents are never read
// again, even if it works again.
func TestTwoFailsForGood(t *testing.T) {
	for which := range uint64(2) {
		dir := t.TempDir()
		if err := makeTwo(dir); err != nil {
			t.Fatal(err)
		}
		a, b := twoPaths(dir)
		d, err := disk.OpenTwo(a, b, blocks)
		if err != nil {
			t.Fatal(err)
		}
		d.Write(0, 1, crashtest.Block(5))
		d.Write(1, 1, crashtest.Block(5))
		bad := []string{a, b}[which]
		whole, err := os.ReadFile(bad)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(bad, 0); err != nil {
			t.Fatal(err)
		}
		check := func(when string) {
			t.Helper()
			x, ok := d.Read(which, 1)
			y, other := d.Read(1-which, 1)
			if ok || crashtest.Number(x) != 0 || !other || crashtest.Number(y) != 5 {
				t.Errorf("%s, disk %d that fails reads %d, %v, the other %d, %v", when, which, crashtest.Number(x), ok, crashtest.Number(y), other)
			}
		}
		check("at once")
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(bad, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err = disk.OpenTwo(a, b, blocks); err != nil {
			t.Fatal(err)
		}
		check("repaired and open again")
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove([]string{a, b}[1-which]); err != nil {
			t.Fatal(err)
		}
		if _, err := disk.OpenTwo(a, b, blocks); err == nil || !strings.Contains(err.Error(), "both disks have failed") {
			t.Errorf("with the other gone: %v", err)
		}
	}
}

// TestMakingTwoIsCutShort: between the two renames that give new disks their
// names.
func TestMakingTwoIsCutShort(t *testing.T) {
	for which := range uint64(2) {
		dir := t.TempDir()
		if err := makeTwo(dir); err != nil {
			t.Fatal(err)
		}
		a, b := twoPaths(dir)
		d, err := disk.OpenTwo(a, b, blocks)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		late := []string{a, b}[which]
		if err := os.Rename(late, late+".new"); err != nil {
			t.Fatal(err)
		}
		if d, err = disk.OpenTwo(a, b, blocks); err != nil {
			t.Fatal(err)
		}
		if _, ok := d.Read(which, 0); !ok {
			t.Errorf("disk %d has failed", which)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDiskMisuse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "disk")
	d, err := disk.Open(path, blocks)
	if err != nil {
		t.Fatal(err)
	}
	if d.Size() != blocks {
		t.Errorf("size %d", d.Size())
	}
	mustPanic(t, "read after the end", func() { d.Read(blocks) })
	mustPanic(t, "write after the end", func() { d.Write(blocks, crashtest.Block(1)) })
	mustPanic(t, "short write", func() { d.Write(0, make([]byte, 10)) })
	if _, err := disk.Open(path, blocks); err == nil {
		t.Error("open twice")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Open(path, blocks+1); err == nil {
		t.Error("a disk of another size")
	}
	if _, err := disk.Open(path, 1<<60); err == nil {
		t.Error("a disk larger than a file can be")
	}
	if _, err := disk.Open(filepath.Join(dir, "none", "disk"), blocks); err == nil {
		t.Error("a directory that is not there")
	}
	b := []byte(crashtest.Block(7))
	if d, err = disk.Open(path, blocks); err != nil {
		t.Fatal(err)
	}
	d.Write(0, b)
	b[0]++
	got := d.Read(0)
	if got[0]++; crashtest.Number(d.Read(0)) != 7 {
		t.Error("a slice of the caller's is a part of the disk")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}
