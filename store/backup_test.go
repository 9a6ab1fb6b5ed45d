// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// changer makes random changes to a store and to a map.
type changer struct {
	t     *testing.T
	r     *rand.Rand
	db    *store.DB
	model map[string]string
}

func (c *changer) change(n int) {
	for i := range n {
		key := fmt.Sprintf("key%04d", c.r.Intn(900))
		switch p := c.r.Intn(100); {
		case p < 75:
			value := fmt.Sprintf("%d %d %s", i, c.r.Int(), bytes.Repeat([]byte{'v'}, c.r.Intn(200)))
			if p < 4 {
				value += string(bytes.Repeat([]byte{byte(c.r.Intn(256))}, 1000+c.r.Intn(9000)))
			}
			must(c.t, c.db.Put([]byte(key), []byte(value)))
			c.model[key] = value
		case p < 98:
			must(c.t, c.db.Delete([]byte(key)))
			delete(c.model, key)
		default:
			hi := key + "9"
			must(c.t, c.db.DeleteRange([]byte(key), []byte(hi)))
			maps.DeleteFunc(c.model, func(k, _ string) bool { return key <= k && k < hi })
		}
	}
}

func copyOf(t *testing.T, db *store.DB, since *store.Mark) ([]byte, *store.Mark) {
	t.Helper()
	var out bytes.Buffer
	mark, err := db.Copy(t.Context(), &out, since)
	must(t, err)
	return out.Bytes(), mark
}

// restored returns what a restore of copies to an empty disk makes.
func restored(t *testing.T, want map[string]string, copies ...[]byte) *sim.Disk {
	t.Helper()
	disk := sim.NewDisk()
	must(t, restore(t, disk, copies...))
	disk.Crash(sim.KeepUpTo(0)) // it is durable
	db, err := store.Open(world(disk, 5), "new", tiny())
	must(t, err)
	check(t, db, want)
	must(t, db.Close())
	return disk
}

func restore(t *testing.T, disk env.Disk, copies ...[]byte) error {
	var in []io.Reader
	for _, c := range copies {
		in = append(in, bytes.NewReader(c))
	}
	_, err := store.Restore(t.Context(), world(disk, 3), "new", store.RestoreOptions{Memory: store.MemoryMin}, in...)
	return err
}

// noStore checks that a restore which failed leaves nothing but a lock file.
func noStore(t *testing.T, disk env.Disk) {
	t.Helper()
	if names, _ := disk.List("new"); len(names) > 1 || len(names) == 1 && names[0] != "LOCK" {
		t.Fatalf("a restore that failed leaves %v", names)
	}
}

// Copies and increments restore the states of their moments, whichever life of the
// store made them.
func TestCopiesAgainstAMap(t *testing.T) {
	for seed := range int64(4) {
		disk := sim.NewDisk()
		c := changer{t, rand.New(rand.NewSource(seed)), open(t, disk, tiny()), map[string]string{}}
		c.change(2000)
		whole, mark := copyOf(t, c.db, nil)
		copies, states := [][]byte{whole}, []map[string]string{maps.Clone(c.model)}
		for round := range 6 {
			switch round {
			case 1: // nothing has changed
			case 3: // the numbers of branches of a life that crashed are given out again
				must(t, c.db.Sync())
				saved := maps.Clone(c.model)
				c.change(100)
				disk.Crash(sim.KeepUpTo(0))
				c.db, c.model = open(t, disk, tiny()), saved
				c.change(100)
			case 4:
				must(t, c.db.Close())
				c.db = open(t, disk, tiny())
				c.change(300)
			default:
				c.change(300)
			}
			if round == 5 { // a difference: since the first
				first, err := store.ReadMark(bytes.NewReader(whole))
				must(t, err)
				diff, _ := copyOf(t, c.db, first)
				restored(t, c.model, whole, diff)
			}
			next, after := copyOf(t, c.db, mark)
			if round == 1 && len(next) > len(whole)/8 {
				t.Errorf("an increment without changes has %d bytes, the whole copy %d", len(next), len(whole))
			}
			copies, states, mark = append(copies, next), append(states, maps.Clone(c.model)), after
		}
		for i := range copies {
			restored(t, states[i], copies[:i+1]...)
		}
		must(t, c.db.Close())
		closed, err := store.Open(world(disk, 9), "db", readOnly())
		must(t, err)
		again, _ := copyOf(t, closed, mark) // a store that is not in use
		must(t, closed.Close())
		restored(t, c.model, append(copies, again)...)
	}
}

func readOnly() store.Options {
	o := tiny()
	o.ReadOnly = true
	return o
}

// A store may have shrunk since the previous copy was made: its file is shorter,
// and so is the new copy.
func TestCopiesOfAShrinkingStore(t *testing.T) {
	disk := sim.NewDisk()
	db := open(t, disk, tiny())
	model := map[string]string{}
	for i := range 20000 {
		key, value := fmt.Sprintf("key%05d", i), fmt.Sprintf("%0100d", i)
		must(t, db.Put([]byte(key), []byte(value)))
		model[key] = value
	}
	must(t, db.Compact(nil, nil))
	whole, mark := copyOf(t, db, nil)
	before := maps.Clone(model)
	must(t, db.DeleteRange([]byte("key01000"), []byte("key9")))
	maps.DeleteFunc(model, func(k, _ string) bool { return k >= "key01000" })
	must(t, db.Compact(nil, nil))
	less, mark := copyOf(t, db, mark)
	must(t, db.Put([]byte("more"), []byte("1")))
	model["more"] = "1"
	more, _ := copyOf(t, db, mark)
	restored(t, before, whole)
	delete(model, "more")
	restored(t, model, whole, less)
	model["more"] = "1"
	restored(t, model, whole, less, more)
	must(t, db.Close())
}

// A mark describes its copy, and survives being written.
func TestMarks(t *testing.T) {
	c := changer{t, rand.New(rand.NewSource(1)), open(t, sim.NewDisk(), tiny()), map[string]string{}}
	c.change(500)
	whole, mark := copyOf(t, c.db, nil)
	var written bytes.Buffer
	must(t, mark.Write(&written))
	if err := restore(t, sim.NewDisk(), written.Bytes()); err == nil {
		t.Error("a mark is restored")
	}
	fromMark, err := store.ReadMark(&written)
	must(t, err)
	fromCopy, err := store.ReadMark(bytes.NewReader(whole))
	must(t, err)
	c.change(50)
	for _, m := range []*store.Mark{fromMark, fromCopy} {
		if m.Number() != 500 && m.Number() != mark.Number() {
			t.Errorf("number %d, want %d", m.Number(), mark.Number())
		}
		next, _ := copyOf(t, c.db, m)
		restored(t, c.model, whole, next)
	}
}

// Copies in the wrong order, with one missing, or of different stores.
func TestCopiesThatDoNotFollow(t *testing.T) {
	c := changer{t, rand.New(rand.NewSource(1)), open(t, sim.NewDisk(), tiny()), map[string]string{}}
	c.change(300)
	a, at := copyOf(t, c.db, nil)
	c.change(30)
	b, bt := copyOf(t, c.db, at)
	c.change(30)
	d, _ := copyOf(t, c.db, bt)
	other, err := store.Open(world(sim.NewDisk(), 77), "db", tiny())
	must(t, err)
	for range 500 {
		must(t, other.Put([]byte("k"), []byte("v")))
	}
	e, _ := copyOf(t, other, nil)
	if _, err := other.Copy(t.Context(), io.Discard, at); !errors.Is(err, store.ErrBase) {
		t.Errorf("an increment of another store: %v", err)
	}
	for _, order := range [][][]byte{{b}, {a, d}, {b, a}, {a, a}, {a, b, b}, {e, b}, {a, b, e}, {}} {
		disk := sim.NewDisk()
		err := restore(t, disk, order...)
		if len(order) > 0 && !errors.Is(err, store.ErrBase) || err == nil {
			t.Errorf("%d copies: %v, want ErrBase", len(order), err)
		}
		noStore(t, disk)
	}
	restored(t, c.model, a, b, d)
	used := restored(t, c.model, a, b, d)
	if err := restore(t, used, a); err == nil {
		t.Error("a store is restored over another one")
	}
}

// Damage of any bit of a stream is found, and so is a missing end. The error shows the
// place.
func TestDamagedCopies(t *testing.T) {
	c := changer{t, rand.New(rand.NewSource(1)), open(t, sim.NewDisk(), tiny()), map[string]string{}}
	c.change(400)
	whole, mark := copyOf(t, c.db, nil)
	c.change(20)
	next, _ := copyOf(t, c.db, mark)
	r := rand.New(rand.NewSource(2))
	refused := func(place int, copies ...[]byte) {
		t.Helper()
		disk := sim.NewDisk()
		err := restore(t, disk, copies...)
		var bad *store.CorruptError
		if !errors.As(err, &bad) || bad.File != fmt.Sprintf("copy %d", len(copies)) {
			t.Fatalf("damage at byte %d of copy %d: %v", place, len(copies), err)
		}
		if bad.Offset > int64(place) || bad.Offset < int64(place)-(1<<20) {
			t.Fatalf("damage at byte %d is reported at %d", place, bad.Offset)
		}
		noStore(t, disk)
	}
	flips := 0
	for at := 0; at < len(whole); at += 512 {
		place := at + r.Intn(min(512, len(whole)-at))
		damaged := bytes.Clone(whole)
		damaged[place] ^= 1 << r.Intn(8)
		refused(place, damaged)
		if at%(8*512) == 0 {
			refused(at, whole[:at])
		}
		flips++
	}
	for at := 0; at < len(next); at += 512 {
		place := at + r.Intn(min(512, len(next)-at))
		damaged := bytes.Clone(next)
		damaged[place] ^= 1 << r.Intn(8)
		refused(place, whole, damaged)
	}
	refused(len(whole), append(bytes.Clone(whole), 0))
	refused(len(whole), append(bytes.Clone(whole), whole...))
	t.Logf("%d sectors of %d bytes", flips, len(whole))
}

// lyingDisk flips a bit in one read of a file, or in one write.
type lyingDisk struct {
	env.Disk
	reads, lie       int
	writes, lieAbout int
	bit              int
}

type lyingFile struct {
	env.File
	disk *lyingDisk
}

func (d *lyingDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	return lyingFile{f, d}, err
}

func (f lyingFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	if f.disk.reads++; f.disk.reads == f.disk.lie && n > 0 {
		bit := f.disk.bit % (8 * n)
		b[bit/8] ^= 1 << (bit % 8)
	}
	return n, err
}

func (f lyingFile) WriteAt(b []byte, off int64) (int, error) {
	if f.disk.writes++; f.disk.writes == f.disk.lieAbout {
		b = bytes.Clone(b)
		bit := f.disk.bit % (8 * len(b))
		b[bit/8] ^= 1 << (bit % 8)
	}
	return f.File.WriteAt(b, off)
}

// If a disk answers wrongly once, the copy fails or is sound: the bytes that are
// checked are the ones that are written.
func TestCopyFromADiskThatLies(t *testing.T) {
	disk := sim.NewDisk()
	c := changer{t, rand.New(rand.NewSource(3)), open(t, disk, tiny()), map[string]string{}}
	c.change(600)
	whole, mark := copyOf(t, c.db, nil)
	c.change(40)
	must(t, c.db.Close())
	lie := &lyingDisk{Disk: disk}
	db, err := store.Open(world(lie, 9), "db", readOnly())
	must(t, err)
	r := rand.New(rand.NewSource(4))
	for _, since := range []*store.Mark{nil, mark} {
		failed, lies := 0, 0
		for n := 1; ; n++ {
			lie.reads, lie.lie, lie.bit = 0, n, r.Int()
			var out bytes.Buffer
			_, err := db.Copy(t.Context(), &out, since)
			if lie.reads < n {
				break
			}
			lies++
			if err != nil {
				failed++
				if !errors.Is(err, store.ErrCorrupt) {
					t.Fatal(err)
				}
				continue
			}
			if since == nil {
				restored(t, c.model, out.Bytes())
			} else {
				restored(t, c.model, whole, out.Bytes())
			}
		}
		if failed < lies/2 || lies < 8 {
			t.Errorf("of %d lies %d were found", lies, failed)
		}
		t.Logf("%d lies, %d found", lies, failed)
	}
	lie.lie = 0
	must(t, db.Close())
}

// If a disk writes wrongly once, the restore notices it before it is done.
func TestRestoreToADiskThatLies(t *testing.T) {
	c := changer{t, rand.New(rand.NewSource(3)), open(t, sim.NewDisk(), tiny()), map[string]string{}}
	c.change(600)
	whole, _ := copyOf(t, c.db, nil)
	r := rand.New(rand.NewSource(4))
	found, n := 0, 1
	for ; ; n++ {
		disk := sim.NewDisk()
		lie := &lyingDisk{Disk: disk, lieAbout: n, bit: r.Int()}
		err := restore(t, lie, whole)
		if lie.writes < n {
			break
		}
		if err != nil {
			found++
			noStore(t, disk)
			continue
		}
		db, err := store.Open(world(disk, 5), "new", tiny())
		must(t, err)
		check(t, db, c.model)
		must(t, db.Close())
	}
	if n < 10 || found < n/2 {
		t.Errorf("of %d lies %d were found", n-1, found)
	}
	t.Logf("%d lies, %d found", n-1, found)
}

// hookDisk calls after when an operation has changed something.
type hookDisk struct {
	env.Disk
	after func(op string)
}

type hookFile struct {
	env.File
	disk *hookDisk
}

func (d *hookDisk) did(op string, err error) error {
	d.after(op)
	return err
}

func (d *hookDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	return hookFile{f, d}, d.did("open", err)
}
func (d *hookDisk) Rename(a, b string) error  { return d.did("rename", d.Disk.Rename(a, b)) }
func (d *hookDisk) Remove(name string) error  { return d.did("remove", d.Disk.Remove(name)) }
func (d *hookDisk) SyncDir(name string) error { return d.did("syncdir", d.Disk.SyncDir(name)) }
func (f hookFile) Sync() error                { return f.disk.did("sync", f.File.Sync()) }
func (f hookFile) Truncate(n int64) error     { return f.disk.did("truncate", f.File.Truncate(n)) }
func (f hookFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(b, off)
	return n, f.disk.did("write", err)
}

// fates are losses of power: all, nothing, and some of what was not synced.
func fates(r *rand.Rand) []sim.Fate {
	some := func(share int) sim.Fate {
		return sim.KeepFunc(func(_ sim.Piece, ops []uint64) int {
			if r.Intn(100) < share {
				return len(ops)
			}
			return r.Intn(len(ops) + 1)
		})
	}
	return []sim.Fate{sim.KeepAll(), sim.KeepUpTo(0), some(50), some(95)}
}

// A crash at any operation of a restore leaves no store, or the whole one; and the
// restore can be made again.
func TestCrashesOfRestore(t *testing.T) {
	c := changer{t, rand.New(rand.NewSource(1)), open(t, sim.NewDisk(), tiny()), map[string]string{}}
	c.change(150)
	whole, mark := copyOf(t, c.db, nil)
	c.change(30)
	next, _ := copyOf(t, c.db, mark)
	r := rand.New(rand.NewSource(5))
	disk := sim.NewDisk()
	crashes, done := 0, 0
	hook := &hookDisk{Disk: disk}
	hook.after = func(string) {
		for _, fate := range fates(r) {
			after := disk.Clone()
			after.Crash(fate)
			crashes++
			names, err := after.List("new")
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if !slices.Contains(names, "DATA") {
				if crashes%7 == 0 {
					must(t, restore(t, after, whole, next))
					names = append(names, "DATA")
				}
			}
			if slices.Contains(names, "DATA") {
				done++
				db, err := store.Open(world(after, 5), "new", tiny())
				must(t, err)
				check(t, db, c.model)
				must(t, db.Close())
			}
		}
	}
	must(t, restore(t, hook, whole, next))
	if crashes < 60 || done < 10 {
		t.Errorf("%d crashes, %d of them with a store", crashes, done)
	}
	t.Logf("%d crashes, a store after %d", crashes, done)
}

// crashingWriter loses the power of the source at each section.
type crashingWriter struct {
	after func()
	out   bytes.Buffer
}

func (w *crashingWriter) Write(b []byte) (int, error) {
	w.after()
	return w.out.Write(b)
}

// A crash of the source at any moment of a copy does not harm the source, and the
// copy is of its moment, whatever is written meanwhile.
func TestCopyWhileWriting(t *testing.T) {
	disk := sim.NewDisk()
	c := changer{t, rand.New(rand.NewSource(1)), open(t, disk, tiny()), map[string]string{}}
	c.change(300)
	want := maps.Clone(c.model)
	must(t, c.db.Flush())
	n := 0
	w := &crashingWriter{after: func() {
		n++
		c.change(5)
		if n%10 == 0 {
			must(t, c.db.Flush())
		}
		if n%25 == 0 {
			must(t, c.db.Sync())
			after := disk.Clone()
			after.Crash(sim.KeepUpTo(0))
			db := open(t, after, tiny())
			check(t, db, c.model)
			must(t, db.Close())
		}
	}}
	mark, err := c.db.Copy(t.Context(), w, nil)
	must(t, err)
	restored(t, want, w.out.Bytes())
	next, _ := copyOf(t, c.db, mark)
	restored(t, c.model, w.out.Bytes(), next)
	must(t, c.db.Close())
	if n < 50 {
		t.Errorf("%d writes", n)
	}
}
