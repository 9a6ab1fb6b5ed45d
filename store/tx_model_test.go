// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// txChanges is what a Batch, a Tx and a map have in common.
type txChanges interface {
	put(key, value []byte)
	remove(key []byte)
	removeRange(lo, hi []byte)
	merge(key, operand []byte)
}

type batchChanges struct{ *store.Batch }

func (b batchChanges) put(k, v []byte)         { b.Put(k, v) }
func (b batchChanges) remove(k []byte)         { b.Delete(k) }
func (b batchChanges) removeRange(l, h []byte) { b.DeleteRange(l, h) }
func (b batchChanges) merge(k, v []byte)       { b.Merge(k, v) }

type changesOfTx struct {
	t *testing.T
	*store.Tx
}

func (x changesOfTx) put(k, v []byte)         { must(x.t, x.Put(k, v)) }
func (x changesOfTx) remove(k []byte)         { must(x.t, x.Delete(k)) }
func (x changesOfTx) removeRange(l, h []byte) { must(x.t, x.DeleteRange(l, h)) }
func (x changesOfTx) merge(k, v []byte)       { must(x.t, x.Merge(k, v)) }

type mapChanges map[string]string

func (m mapChanges) put(k, v []byte) { m[string(k)] = string(v) }
func (m mapChanges) remove(k []byte) { delete(m, string(k)) }
func (m mapChanges) removeRange(l, h []byte) {
	for k := range m {
		if string(l) <= k && k < string(h) {
			delete(m, k)
		}
	}
}
func (m mapChanges) merge(k, v []byte) { m[string(k)] += string(v) }

// recorder keeps changes, to make them once more.
type recorder struct{ again []func(txChanges) }

func (c *recorder) put(k, v []byte) { c.again = append(c.again, func(to txChanges) { to.put(k, v) }) }
func (c *recorder) remove(k []byte) { c.again = append(c.again, func(to txChanges) { to.remove(k) }) }
func (c *recorder) removeRange(l, h []byte) {
	c.again = append(c.again, func(to txChanges) { to.removeRange(l, h) })
}
func (c *recorder) merge(k, v []byte) {
	c.again = append(c.again, func(to txChanges) { to.merge(k, v) })
}

// concat appends operands.
type concat struct{}

func (concat) Name() string { return "concat" }
func (concat) Combine(dst, _, older, newer []byte) []byte {
	return append(append(dst, older...), newer...)
}
func (concat) Apply(dst, _, value []byte, _ bool, operand []byte) []byte {
	return append(append(dst, value...), operand...)
}

// txKey returns one of so few keys that changes meet; some are prefixes of others.
func txKey(r *rand.Rand) []byte {
	k := fmt.Appendf(nil, "k%d", r.Intn(8))
	if r.Intn(2) == 0 {
		k = fmt.Appendf(k, "/%d", r.Intn(6))
	}
	return k
}

// txBound is a key, or nil.
func txBound(r *rand.Rand) []byte {
	if r.Intn(4) == 0 {
		return nil
	}
	return txKey(r)
}

func randomChange(r *rand.Rand, to ...txChanges) {
	k, l := txKey(r), txKey(r)
	value := fmt.Appendf(nil, "%x.", r.Intn(1<<16))
	if r.Intn(12) == 0 {
		value = bytes.Repeat(value, 600) // a large one
	}
	kind := r.Intn(10)
	for _, c := range to {
		switch {
		case kind < 5:
			c.put(k, value)
		case kind < 7:
			c.remove(k)
		case kind < 9:
			c.merge(k, value[:min(len(value), 8)])
		case bytes.Compare(k, l) <= 0:
			c.removeRange(k, l)
		default:
			c.removeRange(l, k)
		}
	}
}

// TestTransactionsSeeTheirChanges compares what a transaction reads, by keys and by
// iterators that turn and jump, with a map, while other changes are made and
// memtables are flushed.
func TestTransactionsSeeTheirChanges(t *testing.T) {
	for seed := range int64(40) {
		r := rand.New(rand.NewSource(seed))
		o := tiny()
		o.Merger = concat{}
		db := open(t, sim.NewDisk(), o)
		now := mapChanges{}
		outside := func() {
			b := db.NewBatch()
			randomChange(r, batchChanges{b}, now)
			must(t, db.Commit(b, store.NoSync))
			if r.Intn(20) == 0 {
				must(t, db.Flush())
			}
		}
		for range 60 {
			outside()
		}
		for range 10 {
			tx := db.Begin()
			seen := maps.Clone(now)
			var made recorder
			var its []*txWalk
			for range 30 {
				switch n := r.Intn(12); {
				case n < 4:
					randomChange(r, changesOfTx{t, tx}, seen, &made)
				case n < 6:
					k := txKey(r)
					value, err := tx.Get(k, []byte("before "))
					want, ok := seen[string(k)]
					if ok != (err == nil) || err != nil && !errors.Is(err, store.ErrNotFound) || string(value) != "before "+want {
						t.Fatalf("seed %d: get %q: %.40q, %v; want %.40q, %t", seed, k, value, err, want, ok)
					}
				case n == 6:
					its = append(its, newTxWalk(t, tx, seen, txBound(r), txBound(r)))
				case n < 9:
					for range r.Intn(8) {
						if len(its) > 0 {
							its[r.Intn(len(its))].step(t, r)
						}
					}
				default:
					outside()
				}
			}
			if r.Intn(2) == 0 {
				tx.Discard()
			} else if err := tx.Commit(store.NoSync); err == nil {
				for _, change := range made.again {
					change(now)
				}
			} else if !errors.Is(err, store.ErrConflict) {
				t.Fatal(err)
			}
			for _, w := range its {
				if w.it.Next() || !errors.Is(w.it.Err(), store.ErrClosed) {
					t.Fatalf("an iterator goes on after the end of its transaction: %v", w.it.Err())
				}
				must(t, w.it.Close())
			}
		}
		check(t, db, now)
		must(t, db.Close())
	}
}

// txWalk is an iterator and the array of its expected keys.
type txWalk struct {
	it   *store.TxIterator
	keys []string
	seen map[string]string
	at   int // -1 and len(keys) are beyond the ends
	new  bool
	// First, Last, Next and Prev go the other way.
	reverse bool
}

func newTxWalk(t *testing.T, tx *store.Tx, seen mapChanges, lo, hi []byte) *txWalk {
	if lo != nil && hi != nil && bytes.Compare(lo, hi) > 0 {
		lo, hi = hi, lo
	}
	o := store.IterOptions{Lo: lo, Hi: hi, KeysOnly: len(seen)%5 == 0, Reverse: len(seen)%3 == 0}
	if len(seen)%7 == 0 {
		o.Prefix = []byte("k3")
	}
	it, err := tx.Iterate(o)
	must(t, err)
	w := &txWalk{it: it, seen: maps.Clone(seen), new: true, reverse: o.Reverse}
	for k := range seen {
		if k >= string(lo) && (hi == nil || k < string(hi)) && strings.HasPrefix(k, string(o.Prefix)) {
			w.keys = append(w.keys, k)
		}
		if o.KeysOnly {
			w.seen[k] = ""
		}
	}
	slices.Sort(w.keys)
	return w
}

func (w *txWalk) step(t *testing.T, r *rand.Rand) {
	t.Helper()
	ok, how := false, ""
	first, last, next, prev := w.it.First, w.it.Last, w.it.Next, w.it.Prev
	if w.reverse {
		first, last, next, prev = last, first, prev, next
	}
	switch n := r.Intn(10); {
	case n == 0:
		how, ok, w.at = "to the least", first(), 0
	case n == 1:
		how, ok, w.at = "to the greatest", last(), len(w.keys)-1
	case n == 2:
		k := txKey(r)
		how, ok = fmt.Sprintf("SeekGE %q", k), w.it.SeekGE(k)
		w.at, _ = slices.BinarySearch(w.keys, string(k))
	case n == 3:
		k := txKey(r)
		how, ok = fmt.Sprintf("SeekLT %q", k), w.it.SeekLT(k)
		w.at, _ = slices.BinarySearch(w.keys, string(k))
		w.at--
	case n < 7:
		how, ok = "up", next()
		if w.at = min(w.at+1, len(w.keys)); w.new {
			w.at = 0
		}
	default:
		how, ok = "down", prev()
		if w.at = max(w.at-1, -1); w.new {
			w.at = len(w.keys) - 1
		}
	}
	w.new = false
	if in := w.at >= 0 && w.at < len(w.keys); ok != in {
		t.Fatalf("%s answers %t, want %t at %d of %q: %v", how, ok, in, w.at, w.keys, w.it.Err())
	} else if in {
		if k := w.keys[w.at]; string(w.it.Key()) != k || string(w.it.Value()) != w.seen[k] {
			t.Fatalf("%s: at %q %.40q, want %q %.40q", how, w.it.Key(), w.it.Value(), k, w.seen[k])
		}
	}
}

// TestBlindTransactionsAreBatches: a transaction that reads nothing has the same
// effect as the batch of its changes, whatever other changes are made meanwhile.
func TestBlindTransactionsAreBatches(t *testing.T) {
	for seed := range int64(20) {
		r := rand.New(rand.NewSource(seed))
		o := tiny()
		o.Merger = concat{}
		one, other := open(t, sim.NewDisk(), o), open(t, sim.NewDisk(), o)
		want := mapChanges{}
		for range 30 {
			tx, b := one.Begin(), other.NewBatch()
			late := one.NewBatch()
			for range 1 + r.Intn(3) {
				randomChange(r, batchChanges{late}, batchChanges{b}, want)
			}
			for range 1 + r.Intn(8) {
				randomChange(r, changesOfTx{t, tx}, batchChanges{b}, want)
			}
			must(t, one.Commit(late, store.NoSync))
			must(t, tx.Commit(store.NoSync))
			must(t, other.Commit(b, store.NoSync))
		}
		check(t, one, want)
		check(t, other, want)
		m, n := one.Metrics(), other.Metrics()
		if m.Puts != n.Puts || m.Deletes != n.Deletes || m.Merges != n.Merges || m.RangeDeletes != n.RangeDeletes {
			t.Errorf("the transactions made other changes than the batches: %+v, %+v", m, n)
		}
		must(t, one.Close())
		must(t, other.Close())
	}
}
