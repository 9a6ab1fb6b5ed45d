// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// event is a change as the test has made it.
type event struct {
	kind       store.ChangeKind
	key, value string
	more       bool
}

// historian makes random changes, and records everything that it has requested.
type historian struct {
	t   *testing.T
	r   *rand.Rand
	db  *store.DB
	all []event
}

func historic(bytes int64) store.Options {
	o := tiny()
	o.History, o.Merger = store.History{Bytes: bytes}, sum{}
	return o
}

// draw makes a random change.
func (c *historian) draw() event {
	key := fmt.Sprintf("key%03d", c.r.Intn(300))
	switch p := c.r.Intn(100); {
	case p < 60:
		value := strings.Repeat(string(rune('a'+c.r.Intn(26))), c.r.Intn(200))
		if p < 4 {
			value = strings.Repeat(fmt.Sprint(c.r.Int()), 100+c.r.Intn(500))
		}
		return event{kind: store.ChangePut, key: key, value: value}
	case p < 80:
		return event{kind: store.ChangeDelete, key: key}
	case p < 85:
		return event{kind: store.ChangeDeleteRange, key: key, value: key + "5"}
	}
	return event{kind: store.ChangeMerge, key: "sum" + key, value: fmt.Sprintf("%08d", c.r.Intn(1e8))}
}

// commit makes a change, or several in a batch. It records the request first: a
// crash may keep it.
func (c *historian) commit() {
	n := 1
	if c.r.Intn(3) == 0 {
		n = 1 + c.r.Intn(6)
	}
	b := c.db.NewBatch()
	for i := range n {
		e := c.draw()
		e.more = i+1 < n
		c.all = append(c.all, e)
		k, v := []byte(e.key), []byte(e.value)
		switch e.kind {
		case store.ChangePut:
			b.Put(k, v)
		case store.ChangeDelete:
			b.Delete(k)
		case store.ChangeDeleteRange:
			b.DeleteRange(k, v)
		case store.ChangeMerge:
			b.Merge(k, v)
		}
	}
	if e := c.all[len(c.all)-1]; n == 1 && e.kind == store.ChangePut {
		must(c.t, c.db.Put([]byte(e.key), []byte(e.value)))
		return
	}
	must(c.t, c.db.Commit(b, store.NoSync))
}

// drain reads the changes of a store after a given one, without waiting, and
// compares them with the recorded ones. It returns the number of the last one.
func drain(t *testing.T, db *store.DB, all []event, after int, at func(number int)) int {
	t.Helper()
	now, cancel := context.WithCancel(t.Context())
	cancel()
	feed, err := db.Changes(uint64(after))
	must(t, err)
	whole := true
	for {
		c, err := feed.Next(now)
		if errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			t.Fatalf("after change %d: %v", after, err)
		}
		after++
		if at != nil {
			at(after)
		}
		if int(c.Number) != after || after > len(all) {
			t.Fatalf("change %d in the place of %d; there are %d", c.Number, after, len(all))
		}
		if e := all[after-1]; e.kind != c.Kind || e.key != string(c.Key) || e.value != string(c.Value) || e.more != c.More {
			t.Fatalf("change %d is %v %q %.20q %v, want %v %q %.20q %v", after, c.Kind, c.Key, c.Value, c.More, e.kind, e.key, e.value, e.more)
		}
		whole = !c.More
	}
	if !whole {
		t.Fatalf("the feed ends at change %d, within a batch", after)
	}
	must(t, feed.Close())
	return after
}

// Feeds return the requested changes, in order, across flushes, restarts and
// crashes, and never a change that a crash undoes.
func TestChangesAgainstAList(t *testing.T) {
	for seed := range int64(6) {
		disk := sim.NewDisk()
		o := historic(1 << 30)
		c := &historian{t: t, r: rand.New(rand.NewSource(seed)), db: open(t, disk, o)}
		seen, synced := 0, 0
		ends := []int{0} // of batches
		for step := range 4000 {
			switch p := c.r.Intn(1000); {
			case p < 960:
				c.commit()
				ends = append(ends, len(c.all))
			case p < 975:
				must(t, c.db.Sync())
				synced = len(c.all)
			case p < 980:
				must(t, c.db.Flush())
				synced = len(c.all)
			case p < 990:
				if seen = drain(t, c.db, c.all, seen, nil); seen < synced {
					t.Fatalf("the feed ends at %d, %d are durable", seen, synced)
				}
			case p < 993:
				from := ends[c.r.Intn(len(ends))]
				if got := drain(t, c.db, c.all, min(from, seen), nil); got < seen {
					t.Fatalf("another feed ends at %d, the first at %d", got, seen)
				}
			case p < 996:
				must(t, c.db.Close())
				c.db = open(t, disk, o)
				synced = len(c.all)
			default:
				disk.Crash(sim.KeepUpTo(0))
				c.db = open(t, disk, o)
				last := int(c.db.LastChange())
				if last < synced || last < seen {
					t.Fatalf("step %d: a crash leaves %d changes; %d were synced, a feed had %d", step, last, synced, seen)
				}
				c.all = c.all[:last]
				for ends[len(ends)-1] > last {
					ends = ends[:len(ends)-1]
				}
			}
		}
		must(t, c.db.Flush())
		if got := drain(t, c.db, c.all, 0, nil); got != len(c.all) {
			t.Errorf("a feed from the beginning ends at %d of %d", got, len(c.all))
		}
		if m := c.db.History(); m.Missing != 0 || m.Bytes == 0 {
			t.Errorf("%d bytes of history, %d changes missing", m.Bytes, m.Missing)
		}
		must(t, c.db.Close())
	}
}

// A loss of power at any operation of the disk leaves a history that agrees with the
// store: at once, and after the next life has used the same numbers again.
func TestCrashesOfHistory(t *testing.T) {
	disk, o := sim.NewDisk(), historic(1<<30)
	hook := &hookDisk{Disk: disk}
	var c *historian
	r := rand.New(rand.NewSource(9))
	synced, crashes, ops := 0, 0, 0
	hook.after = func(string) {
		if ops++; c == nil || ops%5 != 0 {
			return
		}
		for _, fate := range fates(r) {
			crashes++
			after := disk.Clone()
			after.Crash(fate)
			db := open(t, after, o)
			last := int(db.LastChange())
			if last < synced || last > len(c.all) {
				t.Fatalf("%d changes after a crash; %d were synced of %d", last, synced, len(c.all))
			}
			drain(t, db, c.all[:last], 0, nil)
			// Other changes with the same numbers, and another crash.
			next := &historian{t: t, r: r, db: db, all: append([]event(nil), c.all[:last]...)}
			for range 100 {
				next.commit()
				if r.Intn(40) == 0 {
					must(t, db.Flush())
				}
			}
			after.Crash(fate)
			db = open(t, after, o)
			next.all = next.all[:db.LastChange()]
			must(t, db.Flush())
			if got := drain(t, db, next.all, 0, nil); got != len(next.all) {
				t.Fatalf("the feed ends at %d of %d", got, len(next.all))
			}
			must(t, db.Close())
		}
	}
	db, err := store.Open(world(hook, 7), "db", o)
	must(t, err)
	c = &historian{t: t, r: rand.New(rand.NewSource(1)), db: db}
	for i := range 700 {
		c.commit()
		if i%50 == 49 {
			must(t, db.Sync())
			synced = len(c.all)
		}
		if i%230 == 229 {
			must(t, db.Flush())
			synced = len(c.all)
		}
	}
	must(t, db.Close())
	if crashes < 50 {
		t.Errorf("%d crashes", crashes)
	}
	t.Logf("%d operations, %d crashes", ops, crashes)
}

// A feed that is too slow gets an error, and its reader continues from a copy. The
// feed does not stop the store, and the history is bounded.
func TestSlowFeeds(t *testing.T) {
	disk, bound := sim.NewDisk(), int64(100<<10)
	o := historic(bound)
	c := &historian{t: t, r: rand.New(rand.NewSource(1)), db: open(t, disk, o)}
	slow, err := c.db.Changes(0)
	must(t, err)
	c.commit()
	must(t, c.db.Sync())
	_, err = slow.Next(t.Context())
	must(t, err)
	for range 6000 {
		c.commit()
		if n := c.db.History().Bytes; n > bound {
			t.Fatalf("%d bytes of history, the bound is %d", n, bound)
		}
	}
	must(t, c.db.Sync())
	for err == nil {
		_, err = slow.Next(t.Context())
	}
	if !errors.Is(err, store.ErrTooOld) {
		t.Fatalf("a feed that is too slow: %v", err)
	}
	_, mark := copyOf(t, c.db, nil)
	if mark.Number() != uint64(len(c.all)) {
		t.Errorf("the copy has %d changes of %d", mark.Number(), len(c.all))
	}
	for range 20 {
		c.commit()
	}
	must(t, c.db.Sync())
	if got := drain(t, c.db, c.all, int(mark.Number()), nil); got != len(c.all) {
		t.Errorf("behind the copy the feed ends at %d of %d", got, len(c.all))
	}
	if _, err := c.db.Changes(uint64(len(c.all)) + 1); err == nil {
		t.Error("a feed behind a change that was never made")
	}
	must(t, c.db.Close())
	// A life without a history discards it; the next one begins anew.
	plain := tiny()
	plain.Merger = sum{}
	db := open(t, disk, plain)
	if _, err := db.Changes(0); !errors.Is(err, store.ErrNoHistory) {
		t.Errorf("a store without history: %v", err)
	}
	must(t, db.Put([]byte("k"), []byte("v")))
	must(t, db.Close())
	c.all = append(c.all, event{kind: store.ChangePut, key: "k", value: "v"})
	c.db = open(t, disk, o)
	feed, err := c.db.Changes(mark.Number())
	must(t, err)
	if _, err := feed.Next(t.Context()); !errors.Is(err, store.ErrTooOld) {
		t.Errorf("changes of a life without history: %v", err)
	}
	from := len(c.all)
	c.commit()
	must(t, c.db.Flush())
	if got := drain(t, c.db, c.all, from, nil); got != len(c.all) {
		t.Errorf("the feed ends at %d of %d", got, len(c.all))
	}
	must(t, c.db.Close())
}

// leakDisk counts the segments that are open.
type leakDisk struct {
	env.Disk
	open *int
}

func (d leakDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	if err != nil || !strings.HasPrefix(path.Base(name), "HISTORY-") {
		return f, err
	}
	*d.open++
	return leakFile{f, d.open}, nil
}

type leakFile struct {
	env.File
	open *int
}

func (f leakFile) Close() error {
	*f.open--
	return f.File.Close()
}

// After an error a feed has no file open, whether Close is called or not.
func TestFeedsThatEndLeaveNothing(t *testing.T) {
	segments := 0
	disk, o := leakDisk{sim.NewDisk(), &segments}, historic(1<<30)
	db := open(t, disk, o)
	for range 3 {
		must(t, db.Put([]byte("k"), []byte("v")))
	}
	must(t, db.Close())
	db = open(t, disk, o)
	feed, err := db.Changes(0)
	must(t, err)
	_, err = feed.Next(t.Context())
	if must(t, err); segments != 1 {
		t.Fatalf("%d segments are open", segments)
	}
	must(t, db.Close())
	if _, err := feed.Next(t.Context()); !errors.Is(err, store.ErrClosed) || segments != 0 {
		t.Errorf("%d segments are open after %v", segments, err)
	}
}

// Damage of any bit of the history's files is found.
func TestDamagedHistory(t *testing.T) {
	disk, o := sim.NewDisk(), historic(1<<30)
	c := &historian{t: t, r: rand.New(rand.NewSource(2)), db: open(t, disk, o)}
	for range 250 {
		c.commit()
	}
	if report, err := c.db.Verify(t.Context()); err != nil || report.Err() != nil || report.Changes == 0 {
		t.Fatalf("Verify of a sound history: %d changes, %v, %v", report.Changes, report.Err(), err)
	}
	must(t, c.db.Close())
	names, err := disk.List("db")
	must(t, err)
	r := rand.New(rand.NewSource(3))
	sectors := 0
	for _, name := range names {
		if !strings.HasPrefix(name, "HISTORY-") {
			continue
		}
		f, err := disk.Open("db/"+name, false)
		must(t, err)
		size, err := f.Size()
		must(t, err)
		for at := int64(0); at < size; at += 512 {
			sectors++
			damaged := disk.Clone()
			f, err := damaged.Open("db/"+name, false)
			must(t, err)
			place, b := at+r.Int63n(min(512, size-at)), make([]byte, 1)
			if at+512 >= size {
				place = size - 1 - r.Int63n(8) // behind the last change
			}
			_, err = f.ReadAt(b, place)
			must(t, err)
			b[0] ^= 1 << r.Intn(8)
			_, err = f.WriteAt(b, place)
			must(t, err)
			db := open(t, damaged, o)
			if sectors%4 == 1 {
				if report, err := db.Verify(t.Context()); err != nil || !errors.Is(report.Err(), store.ErrCorrupt) {
					t.Fatalf("damage at byte %d: Verify finds %v, %v", place, report.Err(), err)
				}
			}
			feed, err := db.Changes(0)
			must(t, err)
			number := 0
			ctx, cancel := context.WithCancel(t.Context())
			for err == nil {
				if number == len(c.all) {
					cancel() // no more will come
				}
				var got store.Change
				if got, err = feed.Next(ctx); err == nil {
					e := c.all[number]
					if number++; int(got.Number) != number || e.key != string(got.Key) || e.value != string(got.Value) {
						t.Fatalf("damage at byte %d: change %d is wrong", place, number)
					}
				}
			}
			cancel()
			var bad *store.CorruptError
			if !errors.As(err, &bad) || bad.File != name || bad.Offset > place {
				t.Fatalf("damage at byte %d of %s: %v", place, name, err)
			}
			must(t, db.Close())
		}
	}
	if sectors < 50 {
		t.Errorf("%d sectors", sectors)
	}
}

// follow reads that many changes of counters, each together with another change.
func follow(t *testing.T, db *store.DB, total int, done *sync.WaitGroup) *store.Feed {
	defer done.Done()
	feed, err := db.Changes(0)
	if err != nil {
		t.Error(err)
		return nil
	}
	last := map[string]int{}
	for n := range total {
		c, err := feed.Next(t.Context())
		if err != nil || c.Number != uint64(n+1) || c.More != (n%2 == 0) {
			t.Errorf("change %d: %d, %v, %v", n+1, c.Number, c.More, err)
			return nil
		}
		if key := string(c.Key); key[0] == 'w' {
			var value int
			fmt.Sscan(string(c.Value), &value)
			if value != last[key] {
				t.Errorf("%s is %d, want %d", key, value, last[key])
			}
			last[key] = value + 1
		}
	}
	return feed
}

// Readers wait for what writers make durable, while memtables are flushed and the
// store is closed under them.
func TestChangesAreAwaited(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	w := osenv.New()
	w.Disk = disk
	o := historic(1 << 30)
	o.Tuning.Inline, o.Durability = false, store.ProcessCrash
	db, err := store.Open(w, "db", o)
	must(t, err)
	const writers, each, total = 3, 300, 3 * 300 * 2
	var done, read, ended sync.WaitGroup
	for i := range writers {
		done.Add(1)
		go func() {
			defer done.Done()
			for n := range each {
				b := db.NewBatch()
				b.Put(fmt.Appendf(nil, "w%d", i), fmt.Append(nil, n))
				b.Put(fmt.Appendf(nil, "v%d", i), bytes.Repeat([]byte{byte(n)}, 20+n%3*700))
				way := store.NoSync
				if n%10 == 9 {
					way = store.Sync
				}
				if err := db.Commit(b, way); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for range 3 {
		read.Add(1)
		ended.Add(1)
		go func() {
			defer ended.Done()
			feed := follow(t, db, total, &read)
			if feed == nil {
				return
			}
			if _, err := feed.Next(t.Context()); !errors.Is(err, store.ErrClosed) {
				t.Errorf("a feed of a store that was closed: %v", err)
			}
		}()
	}
	done.Wait()
	if err := db.Sync(); err != nil {
		t.Error(err)
	}
	feed, err := db.Changes(total)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error)
	go func() {
		_, err := feed.Next(ctx)
		stopped <- err
	}()
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("a feed whose context is done: %v", err)
	}
	read.Wait()
	must(t, db.Close())
	ended.Wait()
}

// A feed does not have the changes of an ingest; it reports that, and continues
// after them.
func TestChangesBehindAnIngest(t *testing.T) {
	disk, o := sim.NewDisk(), historic(1<<30)
	c := &historian{t: t, r: rand.New(rand.NewSource(2)), db: open(t, disk, o)}
	c.commit()
	before := uint64(len(c.all))
	in, err := c.db.Ingest()
	must(t, err)
	must(t, in.Put([]byte("ingested"), []byte("v")))
	must(t, in.Commit())
	after := c.db.LastChange()
	if after <= before {
		t.Fatalf("the last change is %d, it was %d before the ingest", after, before)
	}
	must(t, c.db.Put([]byte("k"), []byte("v")))
	for range 2 { // in memory, and from the file
		must(t, c.db.Sync())
		feed, err := c.db.Changes(0)
		must(t, err)
		for n := uint64(1); n <= before; n++ {
			got, err := feed.Next(t.Context())
			if must(t, err); got.Number != n {
				t.Fatalf("change %d instead of %d", got.Number, n)
			}
		}
		if _, err := feed.Next(t.Context()); !errors.Is(err, store.ErrTooOld) {
			t.Errorf("at the ingest: %v", err)
		}
		feed, err = c.db.Changes(after)
		must(t, err)
		if got, err := feed.Next(t.Context()); err != nil || got.Number != after+1 || string(got.Key) != "k" {
			t.Errorf("behind the ingest: %d %q, %v", got.Number, got.Key, err)
		}
		must(t, c.db.Flush())
	}
	must(t, c.db.Close())
}
