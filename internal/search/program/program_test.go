// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// TestDue: checkpoints are made at the requested interval, and when the program
// has searched for twice as long as at the last one.
func TestDue(t *testing.T) {
	for _, c := range []struct {
		every, first time.Duration
		want         string // the seconds, of 100, at the end of which a checkpoint is made
	}{
		{0, 0, "[]"},
		{30, 0, "[30 60 90]"},
		{0, 10, "[10 20 40 80]"},
		{0, 7, "[7 14 28 56]"},
		{25, 10, "[10 20 40 65 90]"},
	} {
		now := time.Duration(0)
		due := (&Job{Every: c.every, First: c.first}).due(func() time.Duration { return now })
		var kept []int
		for ; due != nil && now <= 100; now++ {
			if due() {
				kept = append(kept, int(now))
			}
		}
		if got := fmt.Sprint(kept); got != c.want {
			t.Errorf("every %d, first %d: %s, want %s", c.every, c.first, got, c.want)
		}
	}
}

// turning is a machine for states of two words: the lower 8 bits of the first are
// 1, and the key of every state is its second word, except for those that stop.
type turning struct {
	words [2]uint64
	emit  func(int) bool
}

func (m *turning) Start(emit func(action int) bool) { m.emit = emit }
func (m *turning) Words() []uint64                  { return m.words[:] }

func (m *turning) Run(cur []uint64) bool {
	for i := range uint64(3) {
		m.words = [2]uint64{1 + i<<8, (cur[1] + i) % 5}
		if !m.emit(0) {
			break
		}
	}
	return true
}

func (m *turning) Holds(int, []uint64, []uint64) (holds, ok bool) { return true, true }

func (m *turning) Key(cur, name []uint64) bool {
	name[0] = cur[1]<<1 | 1
	return cur[1] != 4
}

// TestKeys: the keys of states are those of the machine, with the given number
// of bytes, and the search ends if it has none.
func TestKeys(t *testing.T) {
	m := &model{Sizes: Sizes{Words: 2, Bytes: 9, Key: 3}, machine: func() Machine { return new(turning) }}
	kept := []byte{0, 32} // no antecedents, and the bits of two words: of no state
	for range m.Words {
		kept = append(append(kept, make([]byte, 8)...), bytes.Repeat([]byte{0xff}, 8)...)
	}
	if err := m.Restore(bytes.NewReader(kept)); err != nil {
		t.Fatal(err)
	}
	w := m.NewWorker()
	key := w.Capabilities().Key
	if key == nil {
		t.Fatal("the worker names no states")
	}
	state := binary.LittleEndian.AppendUint64(nil, 1)
	for from, want := range []string{"[[1 0 0] [3 0 0] [5 0 0]]", "[[3 0 0] [5 0 0] [7 0 0]]", "[[5 0 0] [7 0 0]] " + errStopped.Error()} {
		var names [][]byte
		err := w.Next(append(state[:8:8], byte(from)), func(_ int, s check.State) error {
			if len(s) != 9 {
				t.Errorf("a state has %d bytes", len(s))
			}
			name, err := key()
			if err == nil {
				names = append(names, bytes.Clone(name))
			}
			return err
		})
		got := fmt.Sprint(names)
		if err != nil {
			got += " " + err.Error()
		}
		if got != want || err != nil && !errors.Is(err, errStopped) {
			t.Errorf("from %d: %s, want %s", from, got, want)
		}
	}
	if _, ors, ands := m.remarks([]check.Worker{w}); fmt.Sprint(ors, ands) != "[1 3] [1 0]" {
		t.Errorf("some and all states have the bits %x, %x", ors, ands)
	}
	m.Key = 0
	if m.NewWorker().Capabilities().Key != nil {
		t.Error("states that name themselves are named")
	}
}
