package groupcommit_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/examples/groupcommit"
	"github.com/ashlar-dev/ashlar/examples/wal"
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/mem"
	"github.com/ashlar-dev/ashlar/internal/crashtest"
)

const crashData = 3

// op is a Commit of the number X at A and at the address after it, a Read of A,
// or a Flush.
type op struct {
	Name string
	A, X uint64
}

// state is what readers see, what a crash leaves, and how many changes wait.
type state struct {
	now, safe []uint64
	waiting   int
}

// perCommit is how many changes a Commit makes.
const perCommit = 2

func (o op) addrs() [perCommit]uint64 { return [perCommit]uint64{o.A, (o.A + 1) % crashData} }

// step: what Commit returns is 1 where it fits, and 0 otherwise.
func step(s state, o op, ret *uint64) []state {
	got := uint64(0)
	switch o.Name {
	case "commit":
		if s.waiting+perCommit <= wal.MaxUpdates {
			got = 1
			s.now = slices.Clone(s.now)
			for _, a := range o.addrs() {
				s.now[a] = o.X
			}
			s.waiting += perCommit
		}
	case "read":
		got = s.now[o.A]
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
			for _, a := range o.addrs() {
				addrs = append(addrs, wal.DataStart+a)
				blocks = append(blocks, crashtest.Block(o.X))
			}
			if l.Commit(addrs, blocks) {
				return 1
			}
			return 0
		case "read":
			return crashtest.Number(l.Read(wal.DataStart + o.A))
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
			name := []string{"commit", "commit", "read", "flush"}[env.IntN(r, 4)]
			do(op{name, uint64(env.IntN(r, crashData)), r.Uint64() >> 24})
		},
		Observe: func(do groupDo) {
			for a := range uint64(crashData) {
				do(op{Name: "read", A: a})
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
	for i := range uint64(wal.MaxUpdates / perCommit) {
		run(op{"commit", i % crashData, i + 1})
	}
	if run(op{"commit", 0, 7}) != 0 {
		t.Error("one more than fits")
	}
	run(op{"flush", 0, 0})
	run(op{"commit", 0, 7})
	for a := range uint64(crashData) {
		run(op{"read", a, 0})
	}
}
