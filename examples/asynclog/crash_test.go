// SPDX-License-Identifier: Apache-2.0

package asynclog_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/examples/asynclog"
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/mem"
	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
)

// crashData is how many blocks of data there are.
const crashData = 4

type logDo = crashtest.Do[crashtest.Access, []uint64]

// do knows the data by their distance from the first.
func do(l *asynclog.Log) logDo {
	return func(a crashtest.Access) []uint64 {
		if !a.Write {
			return []uint64{crashtest.Number(l.Read(asynclog.DataStart + a.Addrs[0]))}
		}
		addrs := slices.Clone(a.Addrs)
		var blocks [][]byte
		for i := range addrs {
			addrs[i] += asynclog.DataStart
			blocks = append(blocks, crashtest.Block(a.Numbers[i]))
		}
		l.Commit(addrs, blocks)
		return nil
	}
}

func system() crashtest.System[[]uint64, crashtest.Access, []uint64] {
	return crashtest.System[[]uint64, crashtest.Access, []uint64]{
		Name:    "asynclog",
		Spec:    crashtest.Atomic(crashData),
		Clients: 4,
		Client: func(r env.Random, _ int, do logDo) {
			a := crashtest.RandomAccess(r, crashData, 3)
			if !a.Write {
				a.Addrs = a.Addrs[:1] // a Read is of one block
			}
			do(a)
		},
		Observe: crashtest.All(crashData),
		Build: func(m *mem.Machine) func(*mem.Life) logDo {
			d := m.NewAsync(asynclog.DataStart + crashData)
			return func(l *mem.Life) logDo { return do(asynclog.Open(d.Open(l))) }
		},
		Open: func(dir string) (logDo, error) {
			d, err := disk.OpenAsync(filepath.Join(dir, "disk"), asynclog.DataStart+crashData)
			if err != nil {
				return nil, err
			}
			return do(asynclog.Open(d)), nil
		},
	}
}

func TestCrashes(t *testing.T) {
	crashtest.Simulate(t, system(), crashtest.Effort{Losses: 10}).Enough(t)
}

func TestKilled(t *testing.T) {
	kills := 60
	if testing.Short() {
		kills = 10
	}
	crashtest.Kill(t, system(), kills, 1)
}

// TestEdges: the empty transaction, the largest, and one that writes to an
// address twice.
func TestEdges(t *testing.T) {
	m := mem.NewMachine(func(int) int { return 0 })
	l := asynclog.Open(m.NewAsync(asynclog.DataStart + asynclog.MaxUpdates).Open(m.Boot(0)))
	l.Commit(nil, nil)
	var addrs []uint64
	var blocks [][]byte
	for i := range uint64(asynclog.MaxUpdates) {
		addrs = append(addrs, asynclog.DataStart+i)
		blocks = append(blocks, crashtest.Block(1000+i))
	}
	l.Commit(addrs, blocks)
	last := uint64(asynclog.DataStart + asynclog.MaxUpdates - 1)
	l.Commit([]uint64{last, last}, [][]byte{crashtest.Block(1), crashtest.Block(2)})
	for i := range uint64(asynclog.MaxUpdates) {
		want := 1000 + i
		if asynclog.DataStart+i == last {
			want = 2
		}
		if got := crashtest.Number(l.Read(asynclog.DataStart + i)); got != want {
			t.Fatalf("block %d is %d, want %d", i, got, want)
		}
	}
}
