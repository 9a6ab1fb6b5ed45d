// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
)

// hookMerger calls a function before each operand is applied to a value.
type hookMerger struct{ hook func() }

func (*hookMerger) Name() string { return "hook" }

func (*hookMerger) Combine(dst, _, older, newer []byte) []byte {
	return append(append(dst, older...), newer...)
}

func (m *hookMerger) Apply(dst, _, value []byte, _ bool, operand []byte) []byte {
	if m.hook != nil {
		m.hook()
	}
	return append(append(dst, value...), operand...)
}

// TestAComparisonHoldsNoState: Commit compares what a transaction has read, key by key,
// with the present values. Meanwhile a flush replaces the state with which it began:
// that state is no longer held when the next key is compared.
func TestAComparisonHoldsNoState(t *testing.T) {
	merger := &hookMerger{}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := Open(env.Env{Disk: sim.NewDisk(), Clock: osenv.NewClock(), Random: env.Seeded(1), Tracer: env.NoTrace{}}, "db",
		Options{Memory: 64 << 20, Merger: merger, Tuning: Tuning{MemtableBytes: 128 << 10, LeafBytes: 64 << 10, Fanout: 4, Runs: 3, BlobBytes: 1 << 10, Inline: true}})
	must(err)
	const keys = 4
	key := func(i int) []byte { return fmt.Appendf(nil, "key%d", i) }
	for i := range keys {
		must(db.Merge(key(i), []byte("+")))
	}
	tx := db.Begin()
	for i := range keys {
		_, err := tx.Get(key(i), nil)
		must(err)
	}
	must(tx.Put([]byte("mine"), nil))
	must(db.Put([]byte("other"), nil))
	must(db.Flush()) // so that Commit must compare
	before := db.current.Load()
	calls := 0
	merger.hook = func() {
		switch calls++; {
		case calls == 1:
			must(db.Put([]byte("other"), []byte("again")))
			must(db.Flush())
			if db.current.Load() == before {
				t.Error("a flush has replaced no state")
			}
		case calls > 2: // of the second key on
			if n := before.pins.Load(); n != 0 {
				t.Errorf("application %d of an operand: the state of before has %d pins", calls, n)
			}
		}
	}
	must(tx.Commit(NoSync))
	merger.hook = nil
	if calls <= 2 {
		t.Errorf("%d operands were applied", calls)
	}
	must(db.Close())
}

// TestWhyATransactionGetsNoMemory: the error shows whether transactions have used
// up their part, or others the memory of the store.
func TestWhyATransactionGetsNoMemory(t *testing.T) {
	db, err := Open(env.Env{Disk: sim.NewDisk(), Clock: osenv.NewClock(), Random: env.Seeded(1), Tracer: env.NoTrace{}}, "db",
		Options{Memory: 64 << 20, Tuning: Tuning{Inline: true}})
	if err != nil {
		t.Fatal(err)
	}
	tx := db.Begin()
	for err = nil; err == nil; {
		err = tx.Put([]byte("key"), make([]byte, 1<<20))
	}
	if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "transactions use") {
		t.Errorf("when transactions have used up their part: %v", err)
	}
	tx.Discard()
	taken := int64(0)
	for n := db.pool.Limit(); n > 0; n /= 2 {
		for db.pool.Charge(n) {
			taken += n
		}
	}
	tx = db.Begin()
	err = tx.Put([]byte("key"), make([]byte, 100))
	if !errors.Is(err, ErrMemory) || strings.Contains(err.Error(), "transactions use") {
		t.Errorf("when others have used up the memory: %v", err)
	}
	tx.Discard()
	db.pool.Discharge(taken)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
