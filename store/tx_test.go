// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// conflict is a case of TestConflicts: what a transaction reads, and what is changed
// before it commits.
type conflict struct {
	name   string
	read   func(tx *store.Tx) error
	change func(b *store.Batch)
	want   bool
}

func reading(key string) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		if _, err := tx.Get([]byte(key), nil); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return nil
	}
}

// walking makes an iterator and some moves: g seeks to "d" or above, l below "d".
func walking(lo, hi, moves string) func(*store.Tx) error {
	bound := func(s string) []byte {
		if s == "" {
			return nil
		}
		return []byte(s)
	}
	return func(tx *store.Tx) error {
		it, err := tx.Iter(bound(lo), bound(hi))
		if err != nil {
			return err
		}
		for _, m := range moves {
			switch m {
			case 'f':
				it.First()
			case 'e':
				it.Last()
			case 'n':
				it.Next()
			case 'p':
				it.Prev()
			case 'g':
				it.SeekGE([]byte("d"))
			case 'l':
				it.SeekLT([]byte("d"))
			case 'c':
				if err := it.Close(); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func put(key string) func(*store.Batch) {
	return func(b *store.Batch) { b.Put([]byte(key), []byte("changed")) }
}

func conflicts() []conflict {
	remove := func(key string) func(*store.Batch) { return func(b *store.Batch) { b.Delete([]byte(key)) } }
	removeRange := func(lo, hi string) func(*store.Batch) {
		return func(b *store.Batch) { b.DeleteRange([]byte(lo), []byte(hi)) }
	}
	merge := func(key string) func(*store.Batch) {
		return func(b *store.Batch) { b.Merge([]byte(key), []byte("+")) }
	}
	large := func(b *store.Batch) { b.Put([]byte("c"), make([]byte, 5000)) }
	// The keys are b, c, d, e, f and g.
	return []conflict{
		{"put of a key that was read", reading("c"), put("c"), true},
		{"large value of a key that was read", reading("c"), large, true},
		{"delete of a key that was read", reading("c"), remove("c"), true},
		{"merge of a key that was read", reading("c"), merge("c"), true},
		{"range delete over a key that was read", reading("c"), removeRange("b", "d"), true},
		{"range delete that begins at it", reading("c"), removeRange("c", "d"), true},
		{"range delete that ends before it", reading("c"), removeRange("b", "c"), false},
		{"put of an absent key that was read", reading("cc"), put("cc"), true},
		{"put of another key", reading("c"), put("d"), false},
		{"put of a key that begins with it", reading("c"), put("c\x00"), false},
		{"put of a key that it begins with", reading("cc"), put("c"), false},
		{"phantom in a range", walking("", "", "fnnnnnn"), put("cc"), true},
		{"phantom at the end", walking("", "", "fnnnnnn"), put("z"), true},
		{"phantom before the first", walking("", "", "f"), put("a"), true},
		{"phantom behind where the iterator stands", walking("", "", "f"), put("bb"), false},
		{"change of where it stands", walking("", "", "fn"), put("c"), true},
		{"change of the next key", walking("", "", "fn"), put("d"), false},
		{"delete of the next key", walking("", "", "fn"), remove("d"), false},
		{"phantom at the upper bound", walking("b", "d", "fnnn"), put("d"), false},
		{"phantom below the upper bound", walking("b", "d", "fnnn"), put("cz"), true},
		{"phantom at the lower bound", walking("bb", "d", "f"), put("bb"), true},
		{"phantom below the lower bound", walking("bb", "d", "f"), put("ba"), false},
		{"phantom where a seek lands further", walking("", "", "gnpp"), put("cc"), true},
		{"backwards", walking("", "", "ep"), put("ff"), true},
		{"backwards, and not seen", walking("", "", "ep"), put("ee"), false},
		{"backwards to the beginning", walking("", "", "epppppp"), put("a"), true},
		{"backwards behind the last", walking("", "", "e"), put("z"), true},
		{"below a seek", walking("", "", "l"), put("cc"), true},
		{"at a seek below", walking("", "", "l"), put("d"), false},
		{"two places of one iterator, the first", walking("", "", "fe"), put("b"), true},
		{"two places of one iterator, between", walking("", "", "fe"), put("d"), false},
		{"a closed iterator", walking("", "", "fnnnnnnc"), put("cc"), true},
		{"range delete over a part of what was passed", walking("", "", "fnn"), removeRange("cc", "d\x00"), true},
		{"range delete after what was passed", walking("", "", "fnn"), removeRange("d\x00", "z"), false},
		{"range delete of nothing in an empty range", walking("ca", "cz", "f"), removeRange("cb", "cc"), true},
		{"an iterator that was never moved", walking("", "", ""), put("c"), false},
		{"own changes were read", func(tx *store.Tx) error {
			return errors.Join(tx.Put([]byte("c"), []byte("mine")), reading("c")(tx))
		}, put("c"), false},
		{"own range delete was read", func(tx *store.Tx) error {
			return errors.Join(tx.DeleteRange([]byte("c"), []byte("d")), reading("c")(tx))
		}, put("c"), false},
		{"own operand was read", func(tx *store.Tx) error {
			return errors.Join(tx.Merge([]byte("c"), []byte("+")), reading("c")(tx))
		}, put("c"), true},
		{"own operand was not read", func(tx *store.Tx) error { return tx.Merge([]byte("c"), []byte("+")) }, put("c"), false},
	}
}

// TestConflicts makes a transaction, and a change before it commits: it checks what
// is a conflict and what is not, and the same when the memtables with the change have
// been flushed.
func TestConflicts(t *testing.T) {
	for _, between := range []string{"", "flush"} {
		for _, c := range conflicts() {
			t.Run(strings.TrimSpace(c.name+" "+between), func(t *testing.T) {
				o := tiny()
				o.Merger = concat{}
				db := open(t, sim.NewDisk(), o)
				defer func() { must(t, db.Close()) }()
				for _, k := range []string{"b", "c", "d", "e", "f", "g"} {
					must(t, db.Put([]byte(k), []byte(k)))
				}
				tx := db.Begin()
				must(t, c.read(tx))
				must(t, tx.Put([]byte("x-mine"), nil))
				b := db.NewBatch()
				c.change(b)
				must(t, db.Commit(b, store.NoSync))
				want := c.want
				if between != "" {
					must(t, db.Flush())
					if strings.HasPrefix(c.name, "range delete of nothing") {
						want = false // what was read is the same
					}
				}
				err := tx.Commit(store.NoSync)
				if errors.Is(err, store.ErrConflict) != want || err != nil && !want {
					t.Errorf("commit: %v, want a conflict: %t", err, want)
				}
				if _, err := db.Get([]byte("x-mine"), nil); errors.Is(err, store.ErrNotFound) != want {
					t.Errorf("the transaction's change: %v", err)
				}
				if m := db.Metrics(); m.Transactions != 1 || m.Conflicts != count(want) {
					t.Errorf("%d transactions, %d conflicts", m.Transactions, m.Conflicts)
				}
			})
		}
	}
}

func count(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// TestUpdatesCount has goroutines that add to counters by reading and putting, while
// memtables are flushed: no addition is lost.
func TestUpdatesCount(t *testing.T) {
	defer goleak.VerifyNone(t)
	const clients, rounds, counters = 6, 150, 3
	db := open(t, &sharedDisk{disk: sim.NewDisk()}, small(store.SyncOnDemand))
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range rounds {
				key := fmt.Appendf(nil, "counter%d", (c+i)%counters)
				err := db.Update(context.Background(), store.NoSync, func(tx *store.Tx) error {
					value, err := tx.Get(key, nil)
					if err != nil && !errors.Is(err, store.ErrNotFound) {
						return err
					}
					n := uint64(0)
					if err == nil {
						n = number(value)
					}
					return tx.Put(key, binary.LittleEndian.AppendUint64(nil, n+1))
				})
				if err != nil {
					t.Error(err)
					return
				}
				if i%50 == 0 {
					if err := db.Flush(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	sum := uint64(0)
	for i := range counters {
		value, err := db.Get(fmt.Appendf(nil, "counter%d", i), nil)
		must(t, err)
		sum += number(value)
	}
	if sum != clients*rounds {
		t.Errorf("%d additions, counted %d", clients*rounds, sum)
	}
	must(t, db.Close())
}

// TestConditionalWrites checks all results of the three calls.
func TestConditionalWrites(t *testing.T) {
	db := open(t, sim.NewDisk(), tiny())
	k, empty, one, two := []byte("k"), []byte{}, []byte("one"), []byte("two")
	expect := func(what string, want bool, wantValue []byte) func(bool, error) {
		return func(did bool, err error) {
			t.Helper()
			must(t, err)
			value, err := db.Get(k, nil)
			if did != want || string(value) != string(wantValue) || (err == nil) != (wantValue != nil) {
				t.Errorf("%s: %t, now %q, %v; want %t, %q", what, did, value, err, want, wantValue)
			}
		}
	}
	expect("swap an absent key for empty", false, nil)(db.CompareAndSwap(k, nil, one))
	expect("delete an absent key", false, nil)(db.CompareAndDelete(k, nil))
	expect("put where absent", true, empty)(db.PutIfAbsent(k, nil))
	expect("put where an empty value is", false, empty)(db.PutIfAbsent(k, one))
	expect("swap another value", false, empty)(db.CompareAndSwap(k, one, two))
	expect("swap the empty value", true, one)(db.CompareAndSwap(k, nil, one))
	expect("swap", true, two)(db.CompareAndSwap(k, one, two))
	expect("delete another value", false, two)(db.CompareAndDelete(k, one))
	expect("delete", true, nil)(db.CompareAndDelete(k, two))
	must(t, db.Close())
	if _, err := db.PutIfAbsent(k, one); !errors.Is(err, store.ErrClosed) {
		t.Errorf("put in a closed store: %v", err)
	}
}

// TestPutIfAbsentHasOneWinner: several goroutines put the same keys, and one of them
// succeeds for each.
func TestPutIfAbsentHasOneWinner(t *testing.T) {
	defer goleak.VerifyNone(t)
	const clients, keys = 4, 100
	db := open(t, &sharedDisk{disk: sim.NewDisk()}, small(store.SyncOnDemand))
	var won [clients][keys]bool
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for k := range keys {
				put, err := db.PutIfAbsent(fmt.Appendf(nil, "key%d", k), []byte{byte(c)})
				if err != nil {
					t.Error(err)
				}
				won[c][k] = put
			}
		})
	}
	wg.Wait()
	for k := range keys {
		value, err := db.Get(fmt.Appendf(nil, "key%d", k), nil)
		must(t, err)
		for c := range clients {
			if won[c][k] != (value[0] == byte(c)) {
				t.Errorf("key %d has the value of client %d; client %d was answered %t", k, value[0], c, won[c][k])
			}
		}
	}
	must(t, db.Close())
}

// TestTransactionsAreBounded: the memory of transactions is limited and is freed, and
// a transaction in which a change was refused does not commit the others.
func TestTransactionsAreBounded(t *testing.T) {
	o := tiny()
	o.Memory, o.Tuning.MemtableBytes = 0, 0
	o.Memory = store.MemoryMin
	db := open(t, sim.NewDisk(), o)
	before := db.Metrics().MemoryBytes
	limit := db.Metrics().MemoryLimit / 8
	for _, how := range []struct {
		name string
		one  func(tx *store.Tx, i int) error
	}{
		{"keys read", func(tx *store.Tx, i int) error {
			if _, err := tx.Get(fmt.Appendf(nil, "%0100d", i*2), nil); !errors.Is(err, store.ErrNotFound) {
				return err
			}
			return nil
		}},
		{"ranges read", func(tx *store.Tx, i int) error {
			it, err := tx.Iter(fmt.Appendf(nil, "%0100d", i*2), fmt.Appendf(nil, "%0100d", i*2+1))
			if err != nil {
				return err
			}
			it.First()
			return it.Close()
		}},
		{"puts", func(tx *store.Tx, i int) error { return tx.Put(fmt.Appendf(nil, "%0100d", i), make([]byte, 100)) }},
		{"range deletes", func(tx *store.Tx, i int) error {
			return tx.DeleteRange(fmt.Appendf(nil, "%0100d", i*2), fmt.Appendf(nil, "%0100d", i*2+1))
		}},
	} {
		tx, i := db.Begin(), 0
		var err error
		for ; i < 1<<20 && err == nil; i++ {
			err = how.one(tx, i)
		}
		if used := db.Metrics().MemoryBytes - before; !errors.Is(err, store.ErrMemory) || used > limit || used < limit-64<<10 {
			t.Errorf("%s: after %d: %v, %d bytes of %d", how.name, i, err, used, limit)
		}
		second := db.Begin()
		if err := second.Put([]byte("k"), []byte("v")); !errors.Is(err, store.ErrMemory) {
			t.Errorf("%s: another transaction: %v", how.name, err)
		}
		if err := second.Commit(store.NoSync); !errors.Is(err, store.ErrMemory) {
			t.Errorf("%s: commit of a transaction without its change: %v", how.name, err)
		}
		tx.Discard()
		if used := db.Metrics().MemoryBytes; used != before {
			t.Errorf("%s: %d bytes in use after the end, %d before", how.name, used, before)
		}
	}
	// One key read again and again needs no more memory.
	tx := db.Begin()
	for range 1 << 17 {
		if _, err := tx.Get([]byte("k"), nil); !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if used := db.Metrics().MemoryBytes - before; used > 64<<10 {
		t.Errorf("a transaction that has read one key uses %d bytes", used)
	}
	must(t, tx.Commit(store.NoSync))
	must(t, db.Close())
}

// TestEndedTransactions: calls after the end do nothing, and Discard may be deferred.
func TestEndedTransactions(t *testing.T) {
	db := open(t, sim.NewDisk(), tiny())
	k := []byte("k")
	for name, end := range map[string]func(*store.Tx) error{
		"commit":  func(tx *store.Tx) error { return tx.Commit(store.Sync) },
		"discard": func(tx *store.Tx) error { tx.Discard(); return nil },
	} {
		tx := db.Begin()
		must(t, tx.Put(k, []byte(name)))
		it, err := tx.Iter(nil, nil)
		must(t, err)
		must(t, end(tx))
		_, getErr := tx.Get(k, nil)
		_, iterErr := tx.Iter(nil, nil)
		for what, err := range map[string]error{
			"get": getErr, "iter": iterErr, "put": tx.Put(k, k), "commit": tx.Commit(store.NoSync), "iterator": it.Err(),
		} {
			if !errors.Is(err, store.ErrClosed) {
				t.Errorf("%s after %s: %v", what, name, err)
			}
		}
		must(t, it.Close())
		tx.Discard()
	}
	check(t, db, map[string]string{"k": "commit"})
	refused := errors.New("refused")
	if err := db.Update(context.Background(), store.NoSync, func(tx *store.Tx) error {
		must(t, tx.Put(k, []byte("update")))
		return refused
	}); !errors.Is(err, refused) {
		t.Errorf("update: %v", err)
	}
	tries := 0
	err := db.Update(context.Background(), store.NoSync, func(tx *store.Tx) error {
		tries++
		must(t, reading("k")(tx))
		must(t, db.Put(k, []byte("in its own way")))
		return tx.Put(k, nil)
	})
	if !errors.Is(err, store.ErrConflict) || tries != store.UpdateTriesMax {
		t.Errorf("an update in its own way: %v after %d tries", err, tries)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := db.Update(ctx, store.NoSync, func(*store.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("an update with a done context: %v", err)
	}
	open := db.Begin()
	must(t, reading("k")(open))
	must(t, open.Put(k, k))
	must(t, db.Close())
	if err := open.Commit(store.NoSync); !errors.Is(err, store.ErrClosed) {
		t.Errorf("commit in a closed store: %v", err)
	}
}

// TestReadersCommitAnywhere: a transaction that only reads commits in a read-only store,
// too, and not in one that was closed.
func TestReadersCommitAnywhere(t *testing.T) {
	disk := sim.NewDisk()
	db := open(t, disk, tiny())
	must(t, db.Put([]byte("k"), []byte("v")))
	must(t, db.Close())
	o := tiny()
	for _, o.ReadOnly = range []bool{true, false} {
		db := open(t, disk, o)
		for _, w := range []store.Write{store.NoSync, store.Sync} {
			tx, late := db.Begin(), db.Begin()
			for _, tx := range []*store.Tx{tx, late} {
				if v, err := tx.Get([]byte("k"), nil); err != nil || string(v) != "v" {
					t.Errorf("read only %t: %q, %v", o.ReadOnly, v, err)
				}
			}
			if err := tx.Commit(w); err != nil {
				t.Errorf("read only %t, write %d: %v", o.ReadOnly, w, err)
			}
			if w == store.NoSync {
				late.Discard()
				continue
			}
			last := db.Begin()
			must(t, db.Close())
			for w, tx := range map[store.Write]*store.Tx{store.NoSync: late, store.Sync: last} {
				if err := tx.Commit(w); !errors.Is(err, store.ErrClosed) {
					t.Errorf("read only %t, write %d, in a closed store: %v", o.ReadOnly, w, err)
				}
			}
		}
	}
}
