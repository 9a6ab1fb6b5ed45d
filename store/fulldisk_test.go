// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// A load fills a disk until it is refused.
type load struct {
	name string
	key  func(r *rand.Rand, i int) string
	size func(r *rand.Rand) int
	// squeezable is the fraction of the values that compress well.
	squeezable float64
}

func drawn(n int) func(*rand.Rand, int) string {
	return func(r *rand.Rand, _ int) string { return fmt.Sprintf("key%08d", r.Intn(n)) }
}

func counted(_ *rand.Rand, i int) string { return fmt.Sprintf("key%08d", i) }

func between(lo, hi int) func(*rand.Rand) int {
	return func(r *rand.Rand) int { return lo + r.Intn(hi-lo) }
}

func loads() []load {
	return []load{
		{name: "small", key: drawn(1 << 26), size: between(0, 60)},
		{name: "in order", key: counted, size: between(100, 800)},
		{name: "middling", key: drawn(1 << 26), size: between(300, 900), squeezable: 0.5},
		{name: "a page and a bit", key: drawn(1 << 26), size: between(3900, 4400)},
		{name: "large", key: drawn(1 << 26), size: between(2000, 40000)},
		{name: "overwrites", key: drawn(1500), size: func(r *rand.Rand) int { return r.Intn(1 << r.Intn(15)) }},
		{name: "squeezed", key: drawn(1 << 26), size: between(200, 3000), squeezable: 1},
	}
}

// fullDiskCase is a store on a small disk beside a map.
type fullDiskCase struct {
	*testing.T
	load
	r       *rand.Rand
	disk    *smallDisk // or nil: a real one
	real    env.Disk
	pages   int
	o       store.Options
	db      *store.DB
	model   map[string]string
	seed    int
	refused error // the last
}

func (c *fullDiskCase) value() string {
	b := make([]byte, c.size(c.r))
	if c.r.Float64() >= c.squeezable {
		c.r.Read(b)
	}
	return string(b)
}

// fill puts records until the disk is full, and returns the number of accepted bytes.
func (c *fullDiskCase) fill() (taken int) {
	c.Helper()
	for i := 0; ; i++ {
		k, v := c.key(c.r, i+c.seed), c.value()
		err := c.db.Put([]byte(k), []byte(v))
		if errors.Is(err, env.ErrNoSpace) {
			refused := err
			c.refused = err
			// A refusal is final: the background makes no room by itself. Nothing is read
			// before: reads of absent keys make merges due.
			if err := c.db.Wait(); err != nil && !errors.Is(err, env.ErrNoSpace) {
				c.Fatal(err)
			}
			if err := c.db.Put([]byte(k), []byte(v)); !errors.Is(err, env.ErrNoSpace) {
				c.Fatalf("put %d was refused, and ends with %v when the background has done its work: %v", i, err, refused)
			}
			got, err := c.db.Get([]byte(k), nil)
			if old, had := c.model[k]; had != (err == nil) || had && string(got) != old {
				c.Fatalf("a put that was refused has left %d bytes, %v: %v", len(got), err, refused)
			}
			c.seed += i
			return taken
		}
		must(c.T, err)
		c.model[k] = v
		taken += len(k) + len(v)
		if i%997 == 996 {
			c.do("sync", c.db.Sync())
		}
		if taken > 3*c.pages*4096 {
			if c.name != "overwrites" {
				c.Fatal("the disk is never full")
			}
			return taken
		}
	}
}

// do is for what must never be refused.
func (c *fullDiskCase) do(what string, err error) {
	c.Helper()
	if err != nil {
		c.Fatalf("%s on a full disk of %d pages: %v\n%+v", what, c.pages, err, c.db.Metrics())
	}
}

func (c *fullDiskCase) keys() []string {
	keys := make([]string, 0, len(c.model))
	for k := range c.model {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// bytes is the total size of the records.
func (c *fullDiskCase) bytes() (n int) {
	for k, v := range c.model {
		n += len(k) + len(v)
	}
	return n
}

// empty deletes half of the records, in one of several ways.
func (c *fullDiskCase) empty(how int) {
	c.Helper()
	keys := c.keys()
	switch how % 4 {
	case 0: // every second one
		for i, k := range keys {
			if i%2 == 0 {
				c.do("delete", c.db.Delete([]byte(k)))
				delete(c.model, k)
			}
		}
	case 1: // one range
		lo, hi := keys[len(keys)/4], keys[len(keys)*3/4]
		c.do("delete a range", c.db.DeleteRange([]byte(lo), []byte(hi)))
		for _, k := range keys {
			if lo <= k && k < hi {
				delete(c.model, k)
			}
		}
	case 2: // the first half, in batches, in the wrong order
		for i := len(keys) / 2; i > 0; {
			b := c.db.NewBatch()
			for n := 0; n < 50 && i > 0; n++ {
				i--
				b.Delete([]byte(keys[i]))
				delete(c.model, keys[i])
			}
			c.do("a batch of deletes", c.db.Commit(b, store.Write(i%2)))
		}
	case 3: // many small ranges
		for i := 0; i+10 < len(keys); i += 10 {
			c.do("delete a range", c.db.DeleteRange([]byte(keys[i]), []byte(keys[i+5])))
			for _, k := range keys[i : i+5] {
				delete(c.model, k)
			}
		}
	}
}

// again ends this life of the store, and begins another.
func (c *fullDiskCase) again(how int) {
	c.Helper()
	if c.disk == nil {
		c.do("close", c.db.Close())
		c.db = open(c.T, c.real, c.o)
		return
	}
	switch how % 3 {
	case 0:
		c.do("close", c.db.Close())
	case 1: // the power fails
		c.do("sync", c.db.Sync())
		next := c.disk.clone()
		_ = c.db.Close()
		c.disk = next
		c.disk.crash(c.T, sim.KeepUpTo(0))
	case 2: // the process ends
		c.do("sync", c.db.Sync())
		next := c.disk.clone()
		_ = c.db.Close()
		c.disk = next
		c.disk.crash(c.T, sim.KeepAll())
	}
	c.db = open(c.T, c.disk, c.o)
}

// verify compares the store with the model, and its parts with each other.
func (c *fullDiskCase) verify() {
	c.Helper()
	check(c.T, c.db, c.model)
	report, err := c.db.Verify(c.Context())
	must(c.T, err)
	if len(report.Problems) > 0 {
		c.Fatal(report.Problems[0])
	}
}

func (c *fullDiskCase) run(rounds int) {
	if c.disk != nil {
		c.pages = c.disk.pages
		c.db = open(c.T, c.disk, c.o)
	} else {
		c.db = open(c.T, c.real, c.o)
	}
	for round := range rounds {
		c.refused = nil
		c.fill()
		held := c.bytes()
		c.Logf("round %d: %d of %d bytes are %d keys and values", round, held, c.pages*4096, len(c.model))
		// If each short record is synced, its frame takes a page of the journal, and
		// with short memtables each partition holds few of them (docs/store.md).
		least := 0.4
		switch short := c.o.Tuning.MemtableBytes <= 64<<10; {
		case c.load.name == "small" && short:
			least = 0.04
		case c.load.name == "small":
			least = 0.2
		case short:
			least = 0.15
		}
		if share := float64(held) / float64(c.pages*4096); c.refused != nil && share < least {
			c.Errorf("the disk is full when %.2f of it are used: %+v", share, c.db.Metrics())
		}
		how := c.r.Intn(1 << 20)
		if how&1 == 0 {
			c.do("flush", c.db.Flush())
		}
		if how&2 == 0 {
			c.do("compact", c.db.Compact(nil, nil))
		}
		if how&4 == 0 {
			c.again(how >> 3)
		}
		c.empty(round + how>>5)
		if how&16 == 0 {
			c.do("compact", c.db.Compact(nil, nil))
		}
		c.again(how >> 6)
		deleted := held - c.bytes()
		if got := c.fill(); got < deleted/3 {
			c.Errorf("after %d bytes were deleted, %d are taken: %v; %+v", deleted, got, c.refused, c.db.Metrics())
		}
		c.do("sync", c.db.Sync())
		c.verify()
	}
	c.do("delete all", c.db.DeleteRange(nil, []byte("z")))
	clear(c.model)
	c.do("compact", c.db.Compact(nil, nil))
	before := c.fill()
	if c.disk != nil {
		c.disk.pages *= 2
		c.pages *= 2
		if more := c.fill(); more < before/2 {
			c.Errorf("a disk of twice the size takes %d bytes more than %d", more, before)
		}
	}
	c.do("flush", c.db.Flush())
	c.verify()
	must(c.T, c.db.Close())
}

// TestFullDiskIsEmptied fills disks, and empties them from inside: each load with
// one size and durability, with ASHLAR_FULL_DISKS with all, and with -short two
// loads only.
func TestFullDiskIsEmptied(t *testing.T) {
	sizes := []struct{ memtable, pages int }{{32 << 10, 700}, {128 << 10, 2000}, {1 << 20, 6000}}
	for n, l := range loads() {
		if testing.Short() && l.name != "large" && l.name != "squeezed" {
			continue
		}
		for k, size := range sizes {
			for durability := store.SyncOnDemand; durability <= store.EveryCommit; durability++ {
				if os.Getenv("ASHLAR_FULL_DISKS") == "" && ((n+1)%3 != k || (n/2+1)%3 != int(durability)) {
					continue
				}
				pages := size.pages
				if l.name == "small" {
					pages /= 2 // many records fill it
				}
				inline := (n+k+int(durability))%2 == 0
				t.Run(fmt.Sprintf("%s/%d/%d/%v", l.name, size.memtable, durability, inline), func(t *testing.T) {
					o := store.Options{Memory: 64 << 20, Durability: durability, Tuning: store.Tuning{MemtableBytes: size.memtable, Inline: inline}}
					if n%2 == 0 {
						o.Compression = store.None
					}
					r := rand.New(rand.NewSource(int64(n*100 + k*10 + int(durability))))
					c := &fullDiskCase{T: t, load: l, r: r, disk: newSmallDisk(pages), o: o, model: map[string]string{}}
					c.run(2)
				})
			}
		}
	}
}

// TestWritesThatAreRefused: if the disk refuses to write pages that the file has, like
// one that never writes in place, a large value is refused after a few attempts, and
// accepted when the disk accepts it.
func TestWritesThatAreRefused(t *testing.T) {
	disk := newSmallDisk(20000)
	db, err := store.Open(env.Env{Clock: osenv.NewClock(), Random: osenv.NewRandom(), Disk: disk}, "db", tinyMemtables)
	must(t, err)
	defer db.Close()
	value := make([]byte, 200<<10)
	must(t, db.Put([]byte("before"), value))
	must(t, db.Sync())
	disk.mu.Lock()
	disk.long = 32 << 10
	disk.mu.Unlock()
	if err := db.Put([]byte("refused"), value); !errors.Is(err, env.ErrNoSpace) {
		t.Fatalf("a put without room: %v", err)
	}
	disk.mu.Lock()
	refusals := disk.refusals
	disk.long = 0
	disk.mu.Unlock()
	if refusals > 3 {
		t.Errorf("one put was tried %d times", refusals)
	}
	must(t, db.Put([]byte("refused"), value))
}

var tinyMemtables = store.Options{Memory: 64 << 20, Tuning: store.Tuning{MemtableBytes: 128 << 10, Inline: true}}

// TestCopyOnAFullDisk: a copy of a store with many free pages between others can be
// emptied on a full disk like the store itself: its free pages have room.
func TestCopyOnAFullDisk(t *testing.T) {
	disk := newSmallDisk(1 << 20)
	world := env.Env{Clock: osenv.NewClock(), Random: osenv.NewRandom(), Disk: disk}
	db, err := store.Open(world, "db", tinyMemtables)
	must(t, err)
	r := rand.New(rand.NewSource(1))
	value := make([]byte, 700)
	key := func(i int) []byte { return fmt.Appendf(nil, "key%06d", i) }
	for i := range 6000 {
		r.Read(value)
		must(t, db.Put(key(i), value))
	}
	for i := range 6000 {
		if i%10 < 6 {
			must(t, db.Delete(key(i)))
		}
	}
	must(t, db.Compact(nil, nil))
	must(t, db.Checkpoint("copy"))
	must(t, db.Close())
	if n := disk.partly("copy/DATA", 64); n > 0 {
		t.Errorf("%d granules of the copy have room for some of their pages only", n)
	}
	copied, err := store.Open(world, "copy", tinyMemtables)
	must(t, err)
	disk.mu.Lock()
	disk.pages = disk.taken + 600
	disk.mu.Unlock()
	for i := range 6000 {
		if err := copied.Put(fmt.Appendf(nil, "more%06d", i), value); errors.Is(err, env.ErrNoSpace) {
			break
		} else {
			must(t, err)
		}
	}
	for i := range 6000 {
		must(t, copied.Delete(key(i)))
	}
	must(t, copied.Flush())
	must(t, copied.Compact(nil, nil))
	must(t, copied.Put([]byte("again"), value))
	must(t, copied.Close())
}

// TestFullFileSystemIsEmptied is the same on a file system of 24 MiB, which this
// process mounts where no other process sees it.
func TestFullFileSystemIsEmptied(t *testing.T) {
	const dirVar = "ASHLAR_SMALL_FILE_SYSTEM"
	dir := os.Getenv(dirVar)
	if dir == "" {
		dir := t.TempDir()
		unshare := []string{"--mount"}
		if os.Geteuid() != 0 {
			unshare = append(unshare, "--map-root-user")
		}
		mount := fmt.Sprintf("mount -t tmpfs -o size=24m tmpfs %s", dir)
		if out, err := exec.Command("unshare", append(unshare, "sh", "-c", mount)...).CombinedOutput(); err != nil {
			t.Skipf("did not run: no small file system here: %v %s", err, out)
		}
		me, err := os.Executable()
		must(t, err)
		cmd := exec.Command("unshare", append(unshare, "sh", "-c", mount+` && exec "$0" -test.v -test.run '^TestFullFileSystemIsEmptied$'`, me)...)
		cmd.Env = append(os.Environ(), dirVar+"="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestFullFileSystemIsEmptied/") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	for _, l := range loads()[2:5] {
		t.Run(l.name, func(t *testing.T) {
			disk, err := osenv.OpenDisk(dir)
			must(t, err)
			defer disk.Close()
			c := &fullDiskCase{
				T: t, load: l, r: rand.New(rand.NewSource(1)), real: disk, pages: 24 << 20 / 4096, model: map[string]string{},
				o: store.Options{Memory: 64 << 20, Tuning: store.Tuning{MemtableBytes: 1 << 20}},
			}
			c.run(1)
			must(t, os.RemoveAll(filepath.Join(dir, "db")))
		})
	}
}

// TestFullDiskRefusesInTurn refuses each call that asks a nearly full disk for
// room, once or from then on: no change is half done, every error is a lack of
// room, and the refused change succeeds when there is room again.
func TestFullDiskRefusesInTurn(t *testing.T) {
	l := load{key: drawn(2000), size: between(0, 3000)}
	o := store.Options{Memory: 64 << 20, Tuning: store.Tuning{MemtableBytes: 32 << 10, Inline: true}}
	full := &fullDiskCase{T: t, load: l, r: rand.New(rand.NewSource(1)), disk: newSmallDisk(600), pages: 600, o: o, model: map[string]string{}}
	full.db = open(t, full.disk, o)
	full.fill()
	must(t, full.db.Sync())
	refusals, step := 0, 1
	if testing.Short() {
		step = 7
	}
	for n := 1; ; n += step {
		struck := false
		for _, once := range []bool{true, false} {
			c := &fullDiskCase{T: t, load: l, r: rand.New(rand.NewSource(1)), disk: full.disk.clone(), o: o, model: maps.Clone(full.model)}
			c.disk.crash(t, sim.KeepAll())
			c.disk.pages += 100
			c.disk.refuse, c.disk.once = n, once
			db, err := store.Open(world(c.disk, 1), "db", o)
			must(t, err)
			c.db = db
			keys := c.keys()
			try := func(what string, err error) bool {
				if err != nil && !errors.Is(err, env.ErrNoSpace) {
					t.Fatalf("refusal %d, %s: %v", n, what, err)
				}
				if err != nil {
					refusals++
				}
				return err == nil
			}
			for i, k := range keys[:40] {
				if i%2 == 0 && try("delete", db.Delete([]byte(k))) {
					delete(c.model, k)
				}
				if v := c.value(); try("put", db.Put([]byte(k+"new"), []byte(v))) {
					c.model[k+"new"] = v
				}
				if i%13 == 12 {
					try("sync", db.Sync())
				}
			}
			lo, hi := keys[50], keys[80]
			if try("delete a range", db.DeleteRange([]byte(lo), []byte(hi))) {
				for _, k := range c.keys() {
					if lo <= k && k < hi {
						delete(c.model, k)
					}
				}
			}
			try("flush", db.Flush())
			try("compact", db.Compact(nil, nil))
			struck = struck || c.disk.asked >= n
			c.disk.refuse, c.disk.pages = 0, 10000
			must(t, db.Flush())
			must(t, db.Put([]byte("again"), make([]byte, 3000)))
			c.model["again"] = string(make([]byte, 3000))
			must(t, db.Compact(nil, nil))
			c.verify()
			c.again(n)
			c.verify()
			must(t, c.db.Close())
		}
		if !struck {
			t.Logf("%d calls, %d refusals", n-1, refusals)
			break
		}
	}
	if refusals == 0 {
		t.Error("nothing was refused")
	}
}
