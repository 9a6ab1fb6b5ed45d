// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// orderKey has the names of all transactions that committed changes: each of them
// appends its name, blindly, so that no two conflict because of it.
const orderKey = "~order"

type concat struct{}

func (concat) Name() string { return "concat" }
func (concat) Combine(dst, _, older, newer []byte) []byte {
	return append(append(dst, older...), newer...)
}
func (concat) Apply(dst, _, value []byte, _ bool, operand []byte) []byte {
	return append(append(dst, value...), operand...)
}

// run is a store and the history of its clients.
type run struct {
	db    *store.DB
	clock atomic.Int64
	keys  int

	mu     sync.Mutex
	txns   []Txn
	synced string // the last transaction whose Commit has returned with Sync
}

func (r *run) now() int64 { return r.clock.Add(1) }

func (r *run) record(t Txn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.txns = append(r.txns, t)
}

// client makes transactions, one at a time, in steps.
type client struct {
	run   *run
	rand  *rand.Rand
	name  string
	count int
	tx    *store.Tx // nil: none is open
	txn   Txn
	walks []walk
}

// walk is an iterator that moves in one direction, and the Scan that it makes.
type walk struct {
	it     *store.TxIterator
	op     int
	lo, hi string
	up     bool
	moved  bool
}

// nowhere is a Scan of no key.
var nowhere = Op{Kind: Scan, Key: "\xff", End: "\x00"}

func (c *client) key() string { return fmt.Sprintf("k%02d", c.rand.Intn(c.run.keys)) }

// bounds returns the bounds of a range of some of the keys; "l" is above them all.
func (c *client) bounds() (lo, hi string) {
	lo, hi = c.key(), c.key()
	if c.rand.Intn(4) == 0 {
		hi = "l"
	}
	return min(lo, hi), max(lo, hi)
}

// value returns a new one.
func (c *client) value() string {
	v := fmt.Sprintf("%s.%d.%d,", c.name, c.count, len(c.txn.Ops))
	if c.rand.Intn(10) == 0 {
		v += strings.Repeat(".", 3000) + ","
	}
	return v
}

// step does the next operation.
func (c *client) step() error {
	if c.tx == nil {
		return c.begin()
	}
	switch n := c.rand.Intn(16); {
	case n < 4:
		return c.read(c.tx.Get)
	case n < 5:
		return c.walk()
	case n < 9 && len(c.walks) > 0:
		return c.move()
	case n < 13:
		return c.change()
	}
	return c.end()
}

func (c *client) begin() error {
	c.count++
	c.txn = Txn{Name: fmt.Sprintf("%s%d", c.name, c.count), Began: c.run.now()}
	switch c.rand.Intn(8) {
	case 0:
		return c.batch()
	case 1:
		s := c.run.db.Snapshot()
		defer s.Close()
		for range 1 + c.rand.Intn(4) {
			if err := c.read(s.Get); err != nil {
				return err
			}
		}
	case 2:
		if err := c.read(c.run.db.Get); err != nil {
			return err
		}
	default:
		c.tx, c.walks = c.run.db.Begin(), nil
		return nil
	}
	c.done(true)
	return nil
}

func (c *client) done(committed bool) {
	c.txn.Committed, c.txn.Ended = committed, c.run.now()
	c.run.record(c.txn)
	c.tx = nil
}

func (c *client) read(get func(key, dst []byte) ([]byte, error)) error {
	key := c.key()
	value, err := get([]byte(key), nil)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	c.txn.Ops = append(c.txn.Ops, Op{Kind: Read, Key: key, Value: string(value), Found: err == nil})
	return nil
}

func (c *client) walk() error {
	lo, hi := c.bounds()
	it, err := c.tx.Iter([]byte(lo), []byte(hi))
	c.walks = append(c.walks, walk{it: it, op: len(c.txn.Ops), lo: lo, hi: hi, up: c.rand.Intn(2) == 0})
	c.txn.Ops = append(c.txn.Ops, nowhere)
	return err
}

// move moves an iterator some keys on: what it passes over is what its Scan has seen.
func (c *client) move() error {
	w := &c.walks[c.rand.Intn(len(c.walks))]
	op := &c.txn.Ops[w.op]
	for range 1 + c.rand.Intn(4) {
		next := w.it.Prev // from nowhere, that is the greatest
		if w.up {
			next = w.it.Next
		}
		if !w.moved {
			op.Key, op.End, op.Rows, w.moved = w.lo, w.hi, map[string]string{}, true
		}
		if !next() {
			op.Key, op.End = w.lo, w.hi
			return w.it.Err()
		}
		key := string(w.it.Key())
		op.Rows[key] = string(w.it.Value())
		if w.up {
			op.End = key + "\x00"
		} else {
			op.Key = key
		}
	}
	return nil
}

// changer is a store.Batch or a store.Tx.
type changer struct {
	put, merge func(k, v []byte) error
	remove     func(k []byte) error
	clear      func(lo, hi []byte) error
}

func (c *client) change() error {
	return c.changeBy(changer{c.tx.Put, c.tx.Merge, c.tx.Delete, c.tx.DeleteRange})
}

func (c *client) changeBy(to changer) error {
	o := Op{Key: c.key()}
	k := []byte(o.Key)
	switch n := c.rand.Intn(12); {
	case n < 5:
		o.Kind, o.Value = Put, c.value()
		c.txn.Ops = append(c.txn.Ops, o)
		return to.put(k, []byte(o.Value))
	case n < 8:
		o.Kind, o.Value = Append, fmt.Sprintf("%s.%d.%d,", c.name, c.count, len(c.txn.Ops))
		c.txn.Ops = append(c.txn.Ops, o)
		return to.merge(k, []byte(o.Value))
	case n < 10:
		o.Kind = Delete
		c.txn.Ops = append(c.txn.Ops, o)
		return to.remove(k)
	}
	o.Kind = DeleteRange
	o.Key, o.End = c.bounds()
	c.txn.Ops = append(c.txn.Ops, o)
	return to.clear([]byte(o.Key), []byte(o.End))
}

// batch commits changes that are not a transaction.
func (c *client) batch() error {
	b := c.run.db.NewBatch()
	for range 1 + c.rand.Intn(3) {
		_ = c.changeBy(changer{
			func(k, v []byte) error { b.Put(k, v); return nil }, func(k, v []byte) error { b.Merge(k, v); return nil },
			func(k []byte) error { b.Delete(k); return nil }, func(lo, hi []byte) error { b.DeleteRange(lo, hi); return nil },
		})
	}
	b.Merge([]byte(orderKey), []byte(c.txn.Name+","))
	if err := c.run.db.Commit(b, store.NoSync); err != nil {
		return err
	}
	c.done(true)
	return nil
}

// end ends the transaction.
func (c *client) end() error {
	if c.rand.Intn(8) == 0 {
		c.tx.Discard()
		c.done(false)
		return nil
	}
	if c.txn.writes() {
		if err := c.tx.Merge([]byte(orderKey), []byte(c.txn.Name+",")); err != nil {
			return err
		}
	}
	w := store.NoSync
	if c.rand.Intn(6) == 0 {
		w = store.Sync
	}
	err := c.tx.Commit(w)
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return err
	}
	c.done(err == nil)
	if err == nil && w == store.Sync && c.txn.writes() {
		c.run.mu.Lock()
		c.run.synced = c.txn.Name
		c.run.mu.Unlock()
	}
	return nil
}

// order reads the names of the transactions with changes.
func order(t *testing.T, db *store.DB) []string {
	t.Helper()
	value, err := db.Get([]byte(orderKey), nil)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(value), func(c rune) bool { return c == ',' })
}

// rows reads all keys.
func rows(t *testing.T, db *store.DB) State {
	t.Helper()
	it, err := db.Iter([]byte("k"), []byte("l"))
	if err != nil {
		t.Fatal(err)
	}
	all := State{}
	for ok := it.First(); ok; ok = it.Next() {
		all[string(it.Key())] = string(it.Value())
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// history returns that of the run, with a last read of everything.
func (r *run) history(t *testing.T, names []string) *History {
	t.Helper()
	h := &History{Txns: r.txns}
	index := map[string]int{}
	for i := range h.Txns {
		index[h.Txns[i].Name] = i
	}
	for _, name := range names {
		i, ok := index[name]
		if !ok {
			t.Fatalf("the store has changes of %s, which was never run", name)
		}
		h.Order = append(h.Order, i)
	}
	last := Op{Kind: Scan, Key: "k", End: "l", Rows: rows(t, r.db)}
	h.Txns = append(h.Txns, Txn{Name: "last", Committed: true, Began: r.now(), Ended: r.now(), Ops: []Op{last}})
	return h
}

// tally counts the outcomes of transactions that read and changed keys.
type tally struct{ committed, conflicts, phantoms int }

func (n *tally) add(h *History) {
	for i := range h.Txns {
		t := &h.Txns[i]
		scans := slices.ContainsFunc(t.Ops, func(o Op) bool { return o.Kind == Scan && o.Rows != nil })
		switch {
		case !t.writes():
		case t.Committed && scans:
			n.phantoms++
			fallthrough
		case t.Committed:
			n.committed++
		default:
			n.conflicts++
		}
	}
}

func options(memtable int) store.Options {
	return store.Options{Memory: 8 << 20, Merger: concat{}, Tuning: store.Tuning{
		MemtableBytes: memtable, LeafBytes: 16 << 10, Fanout: 4, Runs: 2, BlobBytes: 2 << 10, CacheBytes: 256 << 10, Inline: true,
	}}
}

func open(t *testing.T, disk env.Disk, o store.Options, seed uint64) *store.DB {
	t.Helper()
	db, err := store.Open(env.Env{Clock: osenv.NewClock(), Random: env.Seeded(seed), Disk: disk, Tracer: env.NoTrace{}}, "db", o)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// interleave runs the steps of some clients in an order that the seed determines, in one
// goroutine: between any two operations of a transaction others may commit, memtables may
// be flushed and branches merged.
func interleave(t *testing.T, r *run, seed int64, steps int) {
	t.Helper()
	rnd := rand.New(rand.NewSource(seed))
	var clients []*client
	for i := range 2 + rnd.Intn(4) {
		clients = append(clients, &client{run: r, rand: rnd, name: string(rune('a' + i))})
	}
	for range steps {
		if err := clients[rnd.Intn(len(clients))].step(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var err error
		switch rnd.Intn(60) {
		case 0:
			err = r.db.Flush()
		case 1:
			err = r.db.Compact(nil, nil)
		case 2:
			err = r.db.Sync()
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	for _, c := range clients {
		for c.tx != nil {
			if err := c.end(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

// TestSchedules checks many short histories, each with another interleaving.
func TestSchedules(t *testing.T) {
	seeds := int64(400)
	if testing.Short() {
		seeds = 100
	}
	var n tally
	for seed := range seeds {
		memtable := 32 << 10
		if seed%2 == 0 {
			memtable = 256 << 10
		}
		r := &run{db: open(t, sim.NewDisk(), options(memtable), 1), keys: 3 + int(seed%9)}
		interleave(t, r, seed, 150)
		h := r.history(t, order(t, r.db))
		if err := Check(h); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		n.add(h)
		if err := r.db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%+v", n)
	if n.committed < int(seeds) || n.conflicts < int(seeds) || n.phantoms < int(seeds)/4 {
		t.Errorf("too little happened: %+v", n)
	}
}

// TestClients checks the histories of concurrent clients, on a real disk, while the
// goroutines of the store run.
func TestClients(t *testing.T) {
	const clients, steps = 6, 1200
	for round, durability := range []store.Durability{store.SyncOnDemand, store.ProcessCrash, store.EveryCommit} {
		disk, err := osenv.OpenDisk(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		o := options(64 << 10)
		o.Tuning.Inline, o.Durability = false, durability
		r := &run{db: open(t, disk, o, 1), keys: 8 + 12*round}
		var wait sync.WaitGroup
		for i := range clients {
			wait.Go(func() {
				c := &client{run: r, rand: rand.New(rand.NewSource(int64(i + 100*round))), name: string(rune('a' + i))}
				for n := 0; n < steps || c.tx != nil; n++ {
					err := c.step()
					if err == nil && c.rand.Intn(200) == 0 {
						err = r.db.Flush()
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wait.Wait()
		if t.Failed() {
			return
		}
		h := r.history(t, order(t, r.db))
		if err := Check(h); err != nil {
			t.Fatal(err)
		}
		var n tally
		n.add(h)
		t.Logf("%+v", n)
		if n.committed < clients || n.conflicts < clients {
			t.Errorf("too little happened: %+v", n)
		}
		if err := r.db.Close(); err != nil {
			t.Error(err)
		}
		if err := disk.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPowerIsLost takes the power away in the middle of a run. The state that is left is
// that after the first n transactions, complete, and these include every transaction that
// was synced.
func TestPowerIsLost(t *testing.T) {
	lost, kept := 0, 0
	for seed := range int64(150) {
		rnd := rand.New(rand.NewSource(seed))
		disk, o := sim.NewDisk(), options(32<<10)
		o.Durability = store.Durability(seed % 2)
		r := &run{db: open(t, disk, o, uint64(seed)), keys: 12}
		interleave(t, r, seed, 50+rnd.Intn(150))
		before := order(t, r.db)
		h := r.history(t, before)
		disk.Crash([]sim.Fate{
			sim.KeepUpTo(0), sim.KeepUpTo(disk.Ops() - uint64(rnd.Intn(disk.Unsynced()+1))),
			sim.KeepFunc(func(_ sim.Piece, ops []uint64) int { return rnd.Intn(len(ops) + 1) }),
		}[rnd.Intn(3)])
		db := open(t, disk, o, uint64(seed)+1000)
		after := order(t, db)
		synced := slices.Index(before, r.synced) + 1
		if len(after) > len(before) || !slices.Equal(after, before[:len(after)]) || len(after) < synced {
			t.Fatalf("seed %d: transactions %v, before the crash %v, of which %d were synced", seed, after, before, synced)
		}
		if got, want := rows(t, db), h.After(len(after)); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: after %d transactions the store has %.200q, want %.200q", seed, len(after), got, want)
		}
		lost += len(before) - len(after)
		kept += len(after)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d transactions kept, %d lost", kept, lost)
	if lost < 100 || kept < 100 {
		t.Errorf("too little happened: %d transactions kept, %d lost", kept, lost)
	}
}
