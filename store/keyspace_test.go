// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
	"github.com/ashlar-dev/ashlar/store/repair"
)

// readable is what a DB, a Keyspace and a KeyspaceSnapshot have in common.
type readable interface {
	Get(key, dst []byte) ([]byte, error)
	Iterate(o store.IterOptions) (*store.Iterator, error)
}

// reads compares everything in a keyspace with a map.
func reads(t *testing.T, from readable, want map[string]string) {
	t.Helper()
	keys := slices.Sorted(maps.Keys(want))
	for _, reverse := range []bool{false, true} {
		it, err := from.Iterate(store.IterOptions{Reverse: reverse})
		must(t, err)
		n := 0
		for ok := it.First(); ok; ok = it.Next() {
			if n >= len(keys) || string(it.Key()) != keys[n] || string(it.Value()) != want[keys[n]] {
				t.Fatalf("number %d is %q: %.30q; want one of %d keys", n, it.Key(), it.Value(), len(keys))
			}
			n++
		}
		must(t, it.Close())
		if n != len(keys) {
			t.Fatalf("%d keys, want %d", n, len(keys))
		}
		slices.Reverse(keys)
	}
	for _, k := range keys {
		if v, err := from.Get([]byte(k), nil); err != nil || string(v) != want[k] {
			t.Fatalf("get %q: %.30q, %v; want %.30q", k, v, err, want[k])
		}
	}
	if _, err := from.Get([]byte("absent"), nil); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("get of an absent key: %v", err)
	}
}

// city is a store with keyspaces beside maps of maps. The keyspace "" is the default
// one.
type city struct {
	db   *store.DB
	want map[string]map[string]string
}

func (c *city) check(t *testing.T) {
	t.Helper()
	names, err := c.db.Keyspaces()
	must(t, err)
	want := slices.DeleteFunc(slices.Sorted(maps.Keys(c.want)), func(n string) bool { return n == "" })
	if !slices.Equal(names, want) {
		t.Fatalf("keyspaces %q, want %q", names, want)
	}
	for name, keys := range c.want {
		if name == "" {
			reads(t, c.db, keys)
			continue
		}
		k, err := c.db.Keyspace(name)
		must(t, err)
		reads(t, k, keys)
	}
}

// change makes a batch of random changes in several keyspaces.
func (c *city) change(t *testing.T, r *rand.Rand) {
	t.Helper()
	b := c.db.NewBatch()
	names := slices.Sorted(maps.Keys(c.want))
	for range 1 + r.Intn(6) {
		name := names[r.Intn(len(names))]
		keys := c.want[name]
		key := fmt.Sprintf("key%03d", r.Intn(150))
		if r.Intn(10) == 0 {
			key = "\xff\xff" + key
		}
		value := strings.Repeat(string(rune('a'+r.Intn(26))), r.Intn(300))
		if r.Intn(20) == 0 {
			value = strings.Repeat(value, 10)
		}
		var in interface {
			Put(key, value []byte)
			Delete(key []byte)
			DeleteRange(lo, hi []byte)
			Merge(key, operand []byte)
		} = b
		if name != "" {
			k, err := c.db.Keyspace(name)
			must(t, err)
			in = b.In(k)
		}
		switch r.Intn(12) {
		case 0, 1:
			in.Delete([]byte(key))
			delete(keys, key)
		case 2:
			hi := []byte(key + "~")
			if name != "" && r.Intn(3) == 0 {
				hi = nil
			}
			in.DeleteRange([]byte(key), hi)
			maps.DeleteFunc(keys, func(k, _ string) bool { return k >= key && (hi == nil || k < string(hi)) })
		case 3:
			in.Merge([]byte(key), []byte("<"))
			keys[key] += "<" + key
		default:
			in.Put([]byte(key), []byte(value))
			keys[key] = value
		}
	}
	must(t, c.db.Commit(b, store.NoSync))
}

// keyed is a merger whose results contain the key as its user knows it.
type keyed struct{}

func (keyed) Name() string { return "keyed" }

func (keyed) Combine(dst, _, older, newer []byte) []byte {
	return append(append(dst, older...), newer...)
}

func (keyed) Apply(dst, key, value []byte, _ bool, operand []byte) []byte {
	return append(append(dst, value...), bytes.ReplaceAll(operand, []byte("<"), append([]byte("<"), key...))...)
}

// Each keyspace is like a map of its own, with batches over several of them, drops,
// new ones of the same name, snapshots from before a drop, and restarts.
func TestKeyspacesAgainstMaps(t *testing.T) {
	for seed := range int64(3) {
		r := rand.New(rand.NewSource(seed))
		disk := sim.NewDisk()
		o := tiny()
		o.Merger = keyed{}
		c := city{db: open(t, disk, o), want: map[string]map[string]string{"": {}}}
		for i := range 900 {
			name := fmt.Sprintf("space%d", r.Intn(4))
			switch p := r.Intn(100); {
			case p < 4:
				_, err := c.db.Keyspace(name)
				must(t, err)
				if c.want[name] == nil {
					c.want[name] = map[string]string{}
				}
			case p < 6 && c.want[name] != nil:
				k, err := c.db.Keyspace(name)
				must(t, err)
				s, before := c.db.Snapshot(), maps.Clone(c.want[name])
				late := c.db.NewBatch()
				late.In(k).Put([]byte("late"), nil)
				late.Put([]byte("late"), nil)
				must(t, k.Drop())
				for what, err := range map[string]error{
					"put": k.Put([]byte("k"), nil), "batch": c.db.Commit(late, store.NoSync), "drop": k.Drop(), "delete": k.DeleteRange(nil, nil),
				} {
					if !errors.Is(err, store.ErrNoKeyspace) {
						t.Fatalf("%s in a dropped keyspace: %v", what, err)
					}
				}
				if _, err := k.Get([]byte("k"), nil); !errors.Is(err, store.ErrNoKeyspace) {
					t.Fatalf("get in a dropped keyspace: %v", err)
				}
				delete(c.want, name)
				reads(t, s.In(k), before)
				if r.Intn(2) == 0 { // again, and empty
					again, err := c.db.Keyspace(name)
					must(t, err)
					c.want[name] = map[string]string{}
					reads(t, again, nil)
					reads(t, s.In(again), nil)
				}
				s.Close()
			case p < 8 && c.want[name] != nil:
				k, err := c.db.Keyspace(name)
				must(t, err)
				in, err := k.Ingest()
				must(t, err)
				records := some(r, 50)
				for _, key := range slices.Sorted(maps.Keys(records)) {
					must(t, in.Put([]byte(key), []byte(records[key])))
				}
				must(t, in.Commit())
				maps.Copy(c.want[name], records)
			case p < 10:
				must(t, c.db.Flush())
			case i%300 == 299:
				must(t, c.db.Wait())
			case p < 12:
				must(t, c.db.Close())
				c.db = open(t, disk, o)
			case p < 16:
				c.check(t)
			default:
				c.change(t, r)
			}
		}
		must(t, c.db.Compact(nil, nil))
		c.check(t)
		report, err := c.db.Verify(context.Background())
		must(t, err)
		must(t, report.Err())
		must(t, c.db.Checkpoint("copy"))
		must(t, c.db.Close())
		c.db, err = store.Open(world(disk, 9), "copy", o)
		must(t, err)
		c.check(t)
		must(t, c.db.Close())
		if !loseSuperblock(t, disk) {
			t.Fatal("there is one superblock only")
		}
		_, err = repair.Store(world(disk, 10), "db", o)
		must(t, err)
		c.db = open(t, disk, o)
		c.check(t)
		must(t, c.db.Close())
	}
}

// A loss of power at any operation of the disk leaves batches over keyspaces whole, and
// a keyspace as it was, dropped, or dropped and made again, in the order of
// the changes.
func TestKeyspaceCrashes(t *testing.T) {
	for _, o := range []store.Options{tiny(), everyCommit()} {
		disk := sim.NewDisk()
		var states []string // after each change
		var synced int      // how many are durable
		describe := func(db *store.DB) string {
			names, err := db.Keyspaces()
			must(t, err)
			var b strings.Builder
			for _, name := range append([]string{""}, names...) {
				var from readable = db
				if name != "" {
					from, err = db.Keyspace(name)
					must(t, err)
				}
				it, err := from.Iterate(store.IterOptions{})
				must(t, err)
				fmt.Fprintf(&b, "%q:", name)
				for ok := it.First(); ok; ok = it.Next() {
					fmt.Fprintf(&b, " %s=%d", it.Key(), len(it.Value()))
				}
				must(t, it.Close())
				b.WriteString("\n")
			}
			return b.String()
		}
		type outcome struct {
			got    string
			synced int
		}
		var found []outcome
		crashes(disk, func(d env.Disk) {
			db := open(t, d, o)
			done := func(err error) {
				t.Helper()
				must(t, err)
				states = append(states, describe(db))
				if o.Durability == store.EveryCommit {
					synced = len(states) - 1
				}
			}
			done(nil)
			done(db.Put([]byte("k"), []byte("default")))
			a, err := db.Keyspace("a")
			done(err)
			b, err := db.Keyspace("b")
			done(err)
			for i := range 12 {
				batch := db.NewBatch()
				batch.In(a).Put(fmt.Appendf(nil, "k%02d", i), make([]byte, 700*(i%3)))
				batch.In(b).Put([]byte("k"), make([]byte, i))
				batch.Put([]byte("k"), make([]byte, i))
				done(db.Commit(batch, store.NoSync))
				if i%4 == 3 {
					must(t, db.Sync())
					synced = len(states) - 1
				}
			}
			done(a.Drop())
			a, err = db.Keyspace("a")
			done(err)
			done(a.Put([]byte("new"), []byte("a")))
			must(t, db.Sync())
			synced = len(states) - 1
			done(b.Drop())
			must(t, db.Close())
			synced = len(states) - 1
		}, func(crashed *sim.Disk, moment int) {
			db, err := store.Open(world(crashed, uint64(1000+moment)), "db", o)
			must(t, err)
			got := describe(db)
			found = append(found, outcome{got, synced})
			// Keyspaces can be used, made and dropped.
			k, err := db.Keyspace("next")
			must(t, err)
			must(t, k.Put([]byte("k"), []byte("v")))
			reads(t, k, map[string]string{"k": "v"})
			must(t, k.Drop())
			must(t, db.Sync())
			crashed.Crash(sim.KeepUpTo(0))
			db, err = store.Open(world(crashed, uint64(2000+moment)), "db", o)
			must(t, err)
			if now := describe(db); now != got {
				t.Fatalf("moment %d: the life after has\n%swant\n%s", moment, now, got)
			}
			must(t, db.Close())
		})
		lost := 0
		for _, f := range found {
			if !slices.Contains(states[f.synced:], f.got) {
				t.Fatalf("after a loss of power the store has\n%swhich it did not have after state %d", f.got, f.synced)
			}
			if f.got != states[len(states)-1] {
				lost++
			}
		}
		if len(found) < 150 || lost < len(found)/2 {
			t.Fatalf("%d losses of power, %d before the end: the test is empty", len(found), lost)
		}
		t.Logf("%d states of the store, %d losses of power", len(states), len(found))
	}
}

// A drop costs one small batch, and its space is freed, mostly without reading it;
// even if nothing else is written.
func TestADropIsShort(t *testing.T) {
	o := tiny()
	o.Tuning.MemtableBytes, o.Tuning.LeafBytes = 256<<10, 64<<10
	db := open(t, sim.NewDisk(), o)
	k, err := db.Keyspace("large")
	must(t, err)
	r, value, rest := rand.New(rand.NewSource(1)), make([]byte, 100), map[string]string{}
	for i := range 20_000 {
		r.Read(value)
		must(t, k.Put(fmt.Appendf(nil, "key%06d", i*7919%20_000), value))
		if i%100 == 0 {
			key := fmt.Sprintf("rest%06d", i)
			must(t, db.Put([]byte(key), []byte("stays")))
			rest[key] = "stays"
		}
	}
	must(t, db.Flush())
	must(t, db.Wait())
	before := db.Metrics()
	must(t, k.Drop())
	reads(t, db, rest)
	must(t, db.Wait())
	after := db.Metrics()
	used := func(m store.Metrics) int64 { return m.FileBytes - m.FreeBytes - m.RetiredBytes - table.FirstPage*4096 }
	if changes := after.Deletes + after.RangeDeletes - before.Deletes - before.RangeDeletes; changes != 2 {
		t.Errorf("a drop made %d changes", changes)
	}
	if used(before) < 1<<20 || used(after) > used(before)/16 {
		t.Errorf("%d bytes are in use after a drop, %d were before", used(after), used(before))
	}
	if read := after.CompactionBytes - before.CompactionBytes; read > used(before)/8 {
		t.Errorf("%d bytes were read to give back %d", read, used(before))
	}
	t.Logf("%d bytes were in use, %d after a drop; merges read %d", used(before), used(after), after.CompactionBytes-before.CompactionBytes)
	must(t, db.Close())
}

// The errors of keyspaces, and what the default keyspace refuses once there are others.
func TestKeyspacesRefuse(t *testing.T) {
	disk := sim.NewDisk()
	reserved := bytes.Repeat([]byte{0xff}, 12)
	db := open(t, disk, tiny())
	must(t, db.Put(reserved, []byte("mine")))
	if _, err := db.Keyspace("a"); !errors.Is(err, store.ErrReserved) {
		t.Errorf("a keyspace where its keys are taken: %v", err)
	}
	if v, err := db.Get(reserved, nil); err != nil || string(v) != "mine" {
		t.Errorf("the key that is in the way is lost: %q, %v", v, err)
	}
	must(t, db.Put(append(reserved, 1), nil))
	must(t, db.DeleteRange(reserved, append(reserved, 2)))
	for _, name := range []string{"", strings.Repeat("n", 256)} {
		if _, err := db.Keyspace(name); !errors.Is(err, store.ErrNoKeyspace) {
			t.Errorf("a name of %d bytes: %v", len(name), err)
		}
	}
	k, err := db.Keyspace(strings.Repeat("n", 255))
	must(t, err)
	must(t, k.Put([]byte("k"), []byte("v")))
	b := db.NewBatch()
	b.Put([]byte("x"), nil)
	b.Delete(reserved)
	for what, err := range map[string]error{
		"put": db.Put(reserved, nil), "merge of a batch": db.Commit(b, store.NoSync), "delete": db.Delete(append(reserved, "abc"...)),
		"range": db.DeleteRange(nil, append(reserved, 0)),
	} {
		if !errors.Is(err, store.ErrReserved) {
			t.Errorf("%s of what is reserved: %v", what, err)
		}
	}
	if _, err := db.Get(append(reserved, 0, 0, 0, 1, 'k'), nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the default keyspace shows another one's key: %v", err)
	}
	in, err := db.Ingest()
	must(t, err)
	must(t, in.Put(append(reserved, 0, 0, 0, 1, 'k'), nil))
	if err := in.Commit(); !errors.Is(err, store.ErrReserved) {
		t.Errorf("an ingest of what is reserved: %v", err)
	}
	must(t, db.DeleteRange(nil, reserved)) // all that can be in the default one
	reads(t, db, nil)
	reads(t, k, map[string]string{"k": "v"})
	it, err := db.Iter([]byte("b"), nil)
	must(t, err)
	must(t, it.SetBounds(nil, nil))
	if it.Last() || it.SeekGE(reserved) {
		t.Errorf("an iterator of the default keyspace is at %q", it.Key())
	}
	must(t, it.Close())
	if err := k.Put(make([]byte, store.KeyspaceKeyMax+1), nil); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("a key that is too long: %v", err)
	}
	must(t, k.Put(bytes.Repeat([]byte{0xff}, 5000), nil))
	must(t, db.Close())
	o := tiny()
	o.ReadOnly = true
	db = open(t, disk, o)
	if _, err := db.Keyspace("absent"); !errors.Is(err, store.ErrNoKeyspace) {
		t.Errorf("an absent keyspace of a store that is open for reading: %v", err)
	}
	_, err = db.Keyspace(strings.Repeat("n", 255))
	must(t, err)
	must(t, db.Close())
}

// Transactions over keyspaces see their own changes and their snapshot, in random
// programs compared with maps; and a change meanwhile is a conflict only in its own
// keyspace.
func TestTransactionsInKeyspaces(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	o := tiny()
	o.Merger = keyed{}
	db := open(t, sim.NewDisk(), o)
	a, err := db.Keyspace("a")
	must(t, err)
	b, err := db.Keyspace("b")
	must(t, err)
	spaces := []*store.Keyspace{a, b}
	want := []map[string]string{{}, {}}
	conflicts := 0
	for i := range 300 {
		tx := db.Begin()
		own := []map[string]string{maps.Clone(want[0]), maps.Clone(want[1])}
		for range r.Intn(8) {
			n, key := r.Intn(2), fmt.Sprintf("key%02d", r.Intn(40))
			in, m := tx.In(spaces[n]), own[n]
			switch r.Intn(5) {
			case 0:
				must(t, in.Delete([]byte(key)))
				delete(m, key)
			case 1:
				must(t, in.DeleteRange([]byte(key), nil))
				maps.DeleteFunc(m, func(k, _ string) bool { return k >= key })
			case 2:
				must(t, in.Merge([]byte(key), []byte("<")))
				m[key] += "<" + key
			default:
				must(t, in.Put([]byte(key), fmt.Append(nil, i)))
				m[key] = fmt.Sprint(i)
			}
		}
		// What it sees: all of one keyspace, and so nothing of the other.
		read := r.Intn(2)
		it, err := tx.In(spaces[read]).Iter(nil, nil)
		must(t, err)
		keys := slices.Sorted(maps.Keys(own[read]))
		n := 0
		for ok := it.First(); ok; ok = it.Next() {
			if n >= len(keys) || string(it.Key()) != keys[n] || string(it.Value()) != own[read][keys[n]] {
				t.Fatalf("number %d is %q: %q", n, it.Key(), it.Value())
			}
			n++
		}
		at, _ := slices.BinarySearch(keys, "key20")
		if ok := it.SeekLT([]byte("key20")); ok != (at > 0) || ok && string(it.Key()) != keys[at-1] {
			t.Fatalf("the key before key20: %v", ok)
		}
		if ok := it.SeekGE([]byte("key20")); ok != (at < len(keys)) || ok && string(it.Key()) != keys[at] {
			t.Fatalf("the key from key20 on: %v", ok)
		}
		must(t, it.Close())
		if n != len(keys) {
			t.Fatalf("%d keys, want %d", n, len(keys))
		}
		for k, v := range own[1-read] { // those that it has made: no more is read
			if want[1-read][k] == v {
				continue
			}
			if got, err := tx.In(spaces[1-read]).Get([]byte(k), nil); err != nil || string(got) != v {
				t.Fatalf("get %q: %q, %v; want %q", k, got, err, v)
			}
			break
		}
		must(t, tx.In(spaces[0]).Put([]byte("last"), fmt.Append(nil, i)))
		own[0]["last"] = fmt.Sprint(i)
		other := r.Intn(3)
		if other < 2 {
			must(t, spaces[other].Put([]byte("new"), fmt.Append(nil, i)))
			want[other]["new"] = fmt.Sprint(i)
			if r.Intn(3) == 0 {
				must(t, db.Flush()) // Commit compares with the tree
			}
		}
		err = tx.Commit(store.NoSync)
		switch {
		case other == read && errors.Is(err, store.ErrConflict):
			conflicts++
		case other == read:
			t.Fatalf("what came into the keyspace that was read: %v", err)
		case errors.Is(err, store.ErrConflict) && other < 2:
			t.Fatalf("what came into the other keyspace: %v", err)
		default:
			must(t, err)
			if other < 2 && has(own[other], "new") == has(want[other], "new") {
				own[other]["new"] = want[other]["new"]
			} else if other < 2 {
				must(t, spaces[other].Delete([]byte("new")))
				delete(own[other], "new")
			}
			want = own
		}
	}
	if conflicts == 0 {
		t.Fatal("no conflicts: the test is empty")
	}
	late := db.Begin()
	must(t, late.In(b).Put([]byte("k"), nil))
	must(t, b.Drop())
	if err := late.Commit(store.NoSync); !errors.Is(err, store.ErrNoKeyspace) {
		t.Errorf("a transaction in a keyspace that was dropped: %v", err)
	}
	reads(t, a, want[0])
	must(t, db.Close())
}
