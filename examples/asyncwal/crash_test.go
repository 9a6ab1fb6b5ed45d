// SPDX-License-Identifier: Apache-2.0

package asyncwal_test

import (
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/examples/asyncwal"
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/mem"
	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
)

type pairDo = crashtest.Do[crashtest.Access, []uint64]

func do(p *asyncwal.Log) pairDo {
	return func(a crashtest.Access) []uint64 {
		if !a.Write {
			x, y := p.Read()
			return []uint64{crashtest.Number(x), crashtest.Number(y)}
		}
		p.Commit(crashtest.Block(a.Numbers[0]), crashtest.Block(a.Numbers[1]))
		return nil
	}
}

func system() crashtest.System[[]uint64, crashtest.Access, []uint64] {
	both := []uint64{0, 1}
	return crashtest.System[[]uint64, crashtest.Access, []uint64]{
		Name:    "asyncwal",
		Spec:    crashtest.Atomic(2),
		Clients: 3,
		Client: func(r env.Random, _ int, do pairDo) {
			if env.IntN(r, 3) == 0 {
				do(crashtest.Access{Addrs: both})
			} else {
				do(crashtest.Access{Write: true, Addrs: both, Numbers: []uint64{r.Uint64() >> 24, r.Uint64() >> 24}})
			}
		},
		Observe: func(do pairDo) { do(crashtest.Access{Addrs: both}) },
		Build: func(m *mem.Machine) func(*mem.Life) pairDo {
			d := m.NewAsync(asyncwal.Blocks)
			return func(l *mem.Life) pairDo { return do(asyncwal.Open(d.Open(l))) }
		},
		Open: func(dir string) (pairDo, error) {
			d, err := disk.OpenAsync(filepath.Join(dir, "disk"), asyncwal.Blocks)
			if err != nil {
				return nil, err
			}
			return do(asyncwal.Open(d)), nil
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
