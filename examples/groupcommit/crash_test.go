// SPDX-License-Identifier: Apache-2.0

package groupcommit_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/examples/groupcommit"
	"github.com/ashlar-dev/ashlar/examples/wal"
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/mem"
	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
)

const crashData = 3

// op is a Commit of blocks, which may be none or twice the same, a Read of the
// first address, or a Flush.
type op struct {
	Name           string
	Addrs, Numbers []uint64
}

// state is what readers see, what a crash leaves, and how many changes wait.
type state struct {
	now, safe []uint64
	waiting   int
}

// step: what Commit returns is 1 where it fits, and 0 otherwise.
func step(s state, o op, ret *uint64) []state {
	got := uint64(0)
	switch o.Name {
	case "commit":
		if s.waiting+len(o.Addrs) <= wal.MaxUpdates {
			got = 1
			s.now = crashtest.Access{Write: true, Addrs: o.Addrs, Numbers: o.Numbers}.On(s.now)
			s.waiting += len(o.Addrs)
		}
	case "read":
		got = s.now[o.Addrs[0]]
	case "flush":
		s.safe, s.waiting = s.now, 0
	}
	if ret != nil && *ret != got {
		return nil
	}
	return []state{s}
}

type groupDo = crashtest.Do[op, uint64]

func do(l *groupcommit.Log) groupDo {
	return func(o op) uint64 {
		switch o.Name {
		case "commit":
			var addrs []uint64
			var blocks [][]byte
			for i, a := range o.Addrs {
				addrs = append(addrs, wal.DataStart+a)
				blocks = append(blocks, crashtest.Block(o.Numbers[i]))
			}
			if l.Commit(addrs, blocks) {
				return 1
			}
			return 0
		case "read":
			return crashtest.Number(l.Read(wal.DataStart + o.Addrs[0]))
		}
		l.Flush()
		return 0
	}
}

func system() crashtest.System[state, op, uint64] {
	return crashtest.System[state, op, uint64]{
		Name: "groupcommit",
		Spec: crashtest.Spec[state, op, uint64]{
			Init:  state{now: make([]uint64, crashData), safe: make([]uint64, crashData)},
			Step:  step,
			Crash: func(s state, _ []op) []state { return []state{{now: s.safe, safe: s.safe}} },
			Key:   func(s state) string { return fmt.Sprint(s) },
		},
		Clients: 4,
		Client: func(r env.Random, _ int, do groupDo) {
			switch a := crashtest.RandomAccess(r, crashData, 3); {
			case env.IntN(r, 4) == 0:
				do(op{Name: "flush"})
			case !a.Write:
				do(op{Name: "read", Addrs: a.Addrs})
			case env.IntN(r, 10) == 0:
				do(op{Name: "commit"})
			default:
				do(op{"commit", a.Addrs, a.Numbers})
			}
		},
		Observe: func(do groupDo) {
			for a := range uint64(crashData) {
				do(op{Name: "read", Addrs: []uint64{a}})
			}
		},
		Build: func(m *mem.Machine) func(*mem.Life) groupDo {
			d := m.NewDisk(wal.DataStart + crashData)
			return func(l *mem.Life) groupDo { return do(groupcommit.Open(d.Open(l))) }
		},
		Open: func(dir string) (groupDo, error) {
			d, err := disk.Open(filepath.Join(dir, "disk"), wal.DataStart+crashData)
			if err != nil {
				return nil, err
			}
			return do(groupcommit.Open(d)), nil
		},
	}
}

func TestCrashes(t *testing.T) {
	crashtest.Simulate(t, system(), crashtest.Effort{Losses: -1, Rounds: 6}).Enough(t)
}

func TestKilled(t *testing.T) {
	kills := 60
	if testing.Short() {
		kills = 10
	}
	crashtest.Kill(t, system(), kills, 1)
}

// TestFull: a Commit that finds no room does nothing, until a Flush makes room.
func TestFull(t *testing.T) {
	s := system()
	m := mem.NewMachine(func(int) int { return 0 })
	do := s.Build(m)(m.Boot(0))
	spec := []state{s.Spec.Init}
	run := func(o op) uint64 {
		ret := do(o)
		spec = s.Spec.Step(spec[0], o, &ret)
		if len(spec) == 0 {
			t.Fatalf("%v returns %d", o, ret)
		}
		return ret
	}
	commit := func(n int, number uint64) uint64 {
		o := op{Name: "commit"}
		for i := range uint64(n) {
			o.Addrs, o.Numbers = append(o.Addrs, i%crashData), append(o.Numbers, number+i)
		}
		return run(o)
	}
	commit(wal.MaxUpdates-2, 1000)
	if commit(3, 2000) != 0 {
		t.Error("one more than fits")
	}
	if commit(2, 3000) != 1 {
		t.Error("as many as fit, and they do not")
	}
	if commit(1, 4000) != 0 || commit(0, 0) != 1 {
		t.Error("what fits when there is no room")
	}
	run(op{Name: "flush"})
	if commit(1, 5000) != 1 {
		t.Error("a Flush makes no room")
	}
	for a := range uint64(crashData) {
		run(op{Name: "read", Addrs: []uint64{a}})
	}
}
