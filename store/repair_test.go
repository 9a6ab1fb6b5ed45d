// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"path"
	"sort"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
	"github.com/ashlar-dev/ashlar/store/repair"
)

// past is a store with all kinds of changes, and its content after each.
type past struct {
	disk   *sim.Disk
	states []map[string]string // after change i; change numbers count from 1
	model  map[string]string
}

func (h *past) done() {
	now := make(map[string]string, len(h.model))
	for k, v := range h.model {
		now[k] = v
	}
	h.states = append(h.states, now)
}

// live makes a store with a long past: branches on several levels, range deletes,
// large values, two superblocks and a journal.
func live(t *testing.T, seed int64) *past {
	t.Helper()
	h := &past{disk: sim.NewDisk(), model: map[string]string{}}
	h.done()
	r := rand.New(rand.NewSource(seed))
	o := tiny()
	o.Tuning.LeafBytes, o.Tuning.Runs, o.Compression = 12<<10, 6, store.None
	db := open(t, h.disk, o)
	change := func() {
		n := r.Intn(900)
		key := fmt.Sprintf("key%04d", n)
		switch p := r.Intn(1000); {
		case p < 850:
			value := fmt.Sprintf("%s is %d %s", key, len(h.states), bytes.Repeat([]byte{byte('a' + p%26)}, r.Intn(200)))
			if p < 20 {
				value = strings.Repeat(value, 40)
			}
			must(t, db.Put([]byte(key), []byte(value)))
			h.model[key] = value
		case p < 992:
			must(t, db.Delete([]byte(key)))
			delete(h.model, key)
		default:
			hi := fmt.Sprintf("key%04d", n+1+r.Intn(60))
			must(t, db.DeleteRange([]byte(key), []byte(hi)))
			for k := range h.model {
				if k >= key && k < hi {
					delete(h.model, k)
				}
			}
		}
		h.done()
	}
	for i := range 2500 {
		change()
		if i%700 == 699 {
			must(t, db.Flush())
		}
	}
	must(t, db.Flush())
	must(t, db.Flush())
	for i := range 60 {
		change()
		if i%5 == 4 {
			must(t, db.Sync())
		}
	}
	must(t, db.Sync())
	// The power fails, and all of the journal is there.
	h.disk.Crash(sim.KeepUpTo(0))
	return h
}

// edit changes a file's durable bytes.
func edit(t *testing.T, disk *sim.Disk, name string, off int64, n int, change func(b []byte)) {
	t.Helper()
	f, err := disk.Open(path.Join("db", name), false)
	must(t, err)
	b := make([]byte, n)
	if _, err := f.ReadAt(b, off); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	change(b)
	_, err = f.WriteAt(b, off)
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
}

func flip(b []byte) { b[len(b)/3] ^= 4 }
func zero(b []byte) { clear(b) }

// parts are the places of the pages of each kind in the data file of a store that
// is not open.
type parts struct {
	supers  [2]table.Superblock
	newer   int
	chunks  []table.Chunk
	metas   []branch.Meta
	blocks  map[uint64][]int64 // by branch
	blobs   []int64
	journal string // the segment with frames
}

func content(t *testing.T, disk *sim.Disk, name string) []byte {
	t.Helper()
	f, err := disk.Open(path.Join("db", name), false)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	must(t, f.Close())
	return b
}

func dissect(t *testing.T, disk *sim.Disk) parts {
	t.Helper()
	data := content(t, disk, "DATA")
	p := parts{blocks: map[uint64][]int64{}}
	for i, at := range []int{table.SlotA, table.SlotB} {
		s, err := table.DecodeSuper(data[at : at+table.SuperSize])
		must(t, err)
		p.supers[i] = s
	}
	if p.supers[1].Seq > p.supers[0].Seq {
		p.newer = 1
	}
	super := p.supers[p.newer]
	p.chunks = super.Chunks
	tab, err := table.Load(super, func(l table.Loc) ([]byte, error) { return data[l.Addr : l.Addr+int64(l.Len)], nil })
	must(t, err)
	for _, o := range tab.Objects() {
		if o.Kind != table.Branch {
			continue
		}
		m, err := branch.DecodeMeta(o.Body)
		must(t, err)
		p.metas = append(p.metas, m)
		for _, r := range m.Blobs {
			p.blobs = append(p.blobs, r.Addr())
		}
		for _, r := range m.Runs {
			for at := r.Addr(); at < r.Addr()+r.Bytes(); {
				head, err := block.ReadHeader(data[at:])
				must(t, err)
				if head.Content == block.Messages {
					p.blocks[m.ID] = append(p.blocks[m.ID], at)
				}
				at += int64(head.Bytes())
			}
		}
	}
	names, err := disk.List("db")
	must(t, err)
	for _, name := range names {
		if b := []byte(nil); strings.HasPrefix(name, "JOURNAL-") {
			if b = content(t, disk, name); len(b) > 8192 && bytes.Equal(b[4096:4100], []byte("ASJF")) {
				p.journal = name
			}
		}
	}
	return p
}

// repaired repairs, and checks everything that a repair promises.
func repaired(t *testing.T, h *past, disk *sim.Disk) repair.Report {
	t.Helper()
	report, err := repair.Store(world(disk, 99), "db", tiny())
	must(t, err)
	if !report.Repaired || len(report.Damage) == 0 || len(report.Saved) == 0 {
		t.Fatalf("not repaired: %v", &report)
	}
	disk.Crash(sim.KeepUpTo(0)) // it is durable
	sound(t, h, disk, &report)
	// It is a normal store, and sound.
	again, err := repair.Store(world(disk, 100), "db", tiny())
	must(t, err)
	if again.Repaired || len(again.Damage) > 0 {
		t.Fatalf("a second repair: %v", &again)
	}
	return report
}

// sound checks that the store is sound, and that each key that the report does
// not list has the value that it had.
func sound(t *testing.T, h *past, disk *sim.Disk, report *repair.Report) {
	t.Helper()
	db, err := store.Open(world(disk, 101), "db", tiny())
	must(t, err)
	v, err := db.Verify(t.Context())
	must(t, err)
	must(t, v.Err())
	exact(t, db, h.model, report)
	must(t, db.Put([]byte("key0000"), []byte("after the repair")))
	must(t, db.Compact(nil, nil))
	if got, err := db.Get([]byte("key0000"), nil); err != nil || string(got) != "after the repair" {
		t.Fatalf("a change after the repair: %q, %v", got, err)
	}
	v, err = db.Verify(t.Context())
	must(t, err)
	must(t, v.Err())
	must(t, db.Close())
}

func exact(t *testing.T, db *store.DB, want map[string]string, report *repair.Report) {
	t.Helper()
	covered := func(k string) bool { return report != nil && report.Covers([]byte(k)) }
	for i := range 900 {
		k := fmt.Sprintf("key%04d", i)
		v, there := want[k]
		got, err := db.Get([]byte(k), nil)
		switch {
		case covered(k):
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("get %s: %v", k, err)
			}
		case there && (err != nil || string(got) != v), !there && !errors.Is(err, store.ErrNotFound):
			t.Fatalf("get %s: %.30q, %v; want %.30q, %v\n%v", k, got, err, v, there, report)
		}
	}
	var keys []string
	for k := range want {
		if !covered(k) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	it, err := db.Iter(nil, nil)
	must(t, err)
	i := 0
	for ok := it.First(); ok; ok = it.Next() {
		if k := string(it.Key()); !covered(k) {
			if i >= len(keys) || keys[i] != k || string(it.Value()) != want[k] {
				t.Fatalf("scan: %d is %s", i, k)
			}
			i++
		}
	}
	must(t, it.Close())
	if i != len(keys) {
		t.Fatalf("scan found %d keys, want %d", i, len(keys))
	}
}

// damages are ways to damage each kind of page. whole reports that the report must
// not list any loss, all that everything may be older.
func damages(t *testing.T, h *past, p parts) []damage {
	t.Helper()
	slot := func(i int) int64 { return []int64{table.SlotA, table.SlotB}[i] }
	var out []damage
	for i, how := range []struct {
		name   string
		change func([]byte)
	}{{"flip", flip}, {"zero", zero}} {
		data := func(what string, at int64, n int, o outcome) {
			out = append(out, damage{what + "/" + how.name, o, func(d *sim.Disk) { edit(t, d, "DATA", at, n, how.change) }})
		}
		data("newer superblock", slot(p.newer), 4096, everything)
		data("older superblock", slot(1-p.newer), 4096, everything)
		out = append(out, damage{"both superblocks/" + how.name, everything, func(d *sim.Disk) {
			edit(t, d, "DATA", table.SlotA, 4096, how.change)
			edit(t, d, "DATA", table.SlotB, 4096, how.change)
		}})
		last := p.chunks[len(p.chunks)-1]
		data("newest chunk of the table", last.Addr, 4096, anything)
		data("first chunk of the table", p.chunks[0].Addr, 4096, everything)
		for k, m := range p.metas {
			if k%2 == i {
				continue
			}
			data(fmt.Sprintf("index of branch %d", m.ID), m.Index.Addr, 4096, nothing)
			for i, at := range p.blocks[m.ID] {
				if i == 1 || i+1 == len(p.blocks[m.ID]) {
					data(fmt.Sprintf("block %d of branch %d", i, m.ID), at, 4096, something)
					out = append(out, damage{fmt.Sprintf("block %d and index of branch %d/%s", i, m.ID, how.name), something, func(d *sim.Disk) {
						edit(t, d, "DATA", at, 4096, how.change)
						edit(t, d, "DATA", m.Index.Addr, 4096, how.change)
					}})
				}
			}
		}
		for i, at := range p.blobs {
			if i < 3 {
				data(fmt.Sprintf("large value at %d", at), at, 4096, something)
			}
		}
		for _, frame := range []int64{0, 1, 2} {
			at := 4096 + frame*4096
			out = append(out, damage{fmt.Sprintf("frame at %d/%s", at, how.name), everything, func(d *sim.Disk) {
				edit(t, d, p.journal, at, 4096, how.change)
			}})
		}
		out = append(out, damage{"first page of the journal/" + how.name, everything, func(d *sim.Disk) {
			edit(t, d, p.journal, 0, 48, how.change)
		}})
	}
	return append(out, swaps(t, p)...)
}

// swaps exchange the places of two pages.
func swaps(t *testing.T, p parts) []damage {
	t.Helper()
	swap := func(a, b int64) func(d *sim.Disk) {
		return func(d *sim.Disk) {
			var pages [2][]byte
			edit(t, d, "DATA", a, 4096, func(x []byte) { pages[0] = bytes.Clone(x) })
			edit(t, d, "DATA", b, 4096, func(x []byte) { pages[1] = bytes.Clone(x); copy(x, pages[0]) })
			edit(t, d, "DATA", a, 4096, func(x []byte) { copy(x, pages[1]) })
		}
	}
	var out []damage
	m, n := p.metas[0], p.metas[len(p.metas)-1]
	out = append(out,
		damage{"superblocks/swap", nothingWrong, swap(table.SlotA, table.SlotB)},
		damage{"indexes/swap", nothing, swap(m.Index.Addr, n.Index.Addr)},
		damage{"blocks of two branches/swap", something, swap(p.blocks[m.ID][0], p.blocks[n.ID][0])},
		damage{"index and block/swap", something, swap(m.Index.Addr, p.blocks[m.ID][0])},
	)
	for _, k := range p.metas {
		if at := p.blocks[k.ID]; len(at) > 1 {
			out = append(out, damage{fmt.Sprintf("blocks of branch %d/swap", k.ID), something, swap(at[0], at[1])})
		}
	}
	return out
}

type outcome uint8

const (
	nothing      outcome = iota // is lost
	something                   // is lost, in some range
	everything                  // may be older
	anything                    // nothing or everything
	nothingWrong                // there is no damage
)

type damage struct {
	name    string
	outcome outcome
	do      func(d *sim.Disk)
}

func TestRepairOfEachKindOfPage(t *testing.T) {
	h := live(t, 5)
	p := dissect(t, h.disk)
	if len(p.metas) < 6 || len(p.blobs) < 6 || p.journal == "" || len(p.chunks) < 2 {
		t.Fatalf("%d branches, %d large values, journal %q, %d chunks", len(p.metas), len(p.blobs), p.journal, len(p.chunks))
	}
	list := damages(t, h, p)
	seen := map[outcome]int{}
	lost := 0
	for _, d := range list {
		t.Run(strings.ReplaceAll(d.name, " ", "_"), func(t *testing.T) {
			disk := h.disk.Clone()
			d.do(disk)
			if d.outcome == nothingWrong {
				report, err := repair.Store(world(disk, 3), "db", tiny())
				must(t, err)
				if report.Repaired || len(report.Damage) > 0 {
					t.Fatal(&report)
				}
				return
			}
			report := repaired(t, h, disk)
			all := report.Covers(nil) && report.Covers([]byte("zzz"))
			switch d.outcome {
			case nothing:
				if len(report.Lost) > 0 {
					t.Errorf("lost: %v", &report)
				}
			case something:
				// Data that compactions have merged elsewhere are not lost.
				if all {
					t.Errorf("lost: %v", &report)
				}
				lost += len(report.Lost)
			case everything:
				if !all {
					t.Errorf("lost: %v", &report)
				}
				prefix(t, h, disk, &report, d.name)
			case anything:
				if len(report.Lost) > 0 && !all {
					t.Errorf("lost: %v", &report)
				}
			}
		})
		seen[d.outcome]++
	}
	if lost < seen[something] {
		t.Errorf("%d losses in %d damaged places", lost, seen[something])
	}
	for o := nothing; o <= nothingWrong; o++ {
		if seen[o] == 0 {
			t.Errorf("no damage of outcome %d", o)
		}
	}
}

// prefix checks that a store in which only the newest changes are lost has the
// state of some moment. Without a table, it need not.
func prefix(t *testing.T, h *past, disk *sim.Disk, report *repair.Report, name string) {
	t.Helper()
	if strings.HasPrefix(report.From, "a search") {
		return
	}
	if report.LastChange >= uint64(len(h.states)) {
		t.Fatalf("%s: last change %d of %d", name, report.LastChange, len(h.states)-1)
	}
	db, err := store.Open(world(disk, 102), "db", tiny())
	must(t, err)
	want := h.states[report.LastChange]
	want["key0000"] = "after the repair"
	exact(t, db, want, nil)
	must(t, db.Close())
}

func TestRepairWithoutATable(t *testing.T) {
	h := live(t, 6)
	edit(t, h.disk, "DATA", table.SlotA, 4096, zero)
	edit(t, h.disk, "DATA", table.SlotB, 4096, flip)
	report, err := repair.Store(world(h.disk, 99), "db", tiny())
	must(t, err)
	if !strings.HasPrefix(report.From, "a search") || !report.Covers([]byte("key")) || report.JournalMessages == 0 {
		t.Fatal(&report)
	}
	// Nothing else was damaged: every key that had a value has that value.
	db, err := store.Open(world(h.disk, 101), "db", tiny())
	must(t, err)
	for k, v := range h.model {
		if got, err := db.Get([]byte(k), nil); err != nil || string(got) != v {
			t.Fatalf("get %s: %.40q, %v; want %.40q", k, got, err, v)
		}
	}
	must(t, db.Close())
}

func TestRepairDoesNotGuess(t *testing.T) {
	o := tiny()
	o.Merger = sum{}
	o.Tuning.LeafBytes, o.Tuning.Runs = 1<<20, 100 // nothing is merged
	disk := sim.NewDisk()
	db := open(t, disk, o)
	one := []byte{1, 0, 0, 0, 0, 0, 0, 0}
	for i := range 2000 {
		must(t, db.Merge(fmt.Appendf(nil, "key%03d", i%300), one))
	}
	must(t, db.Flush())
	must(t, db.Close())
	// With a table the repair need not guess, and needs no merger.
	whole := disk.Clone()
	data := content(t, whole, "DATA")
	super, _, err := table.Choose(data[:4096], data[table.SlotB:table.SlotB+4096])
	must(t, err)
	tab, err := table.Load(super, func(l table.Loc) ([]byte, error) { return data[l.Addr : l.Addr+int64(l.Len)], nil })
	must(t, err)
	for _, obj := range tab.Objects() {
		if obj.Kind == table.Branch {
			m, err := branch.DecodeMeta(obj.Body)
			must(t, err)
			edit(t, whole, "DATA", m.Index.Addr, 4096, flip)
			break
		}
	}
	report, err := repair.Store(world(whole, 1), "db", tiny())
	must(t, err)
	if !report.Repaired || len(report.Lost) > 0 {
		t.Fatal(&report)
	}
	db = open(t, whole, o)
	for i := range 300 {
		got, err := db.Get(fmt.Appendf(nil, "key%03d", i), nil)
		if want := uint64((2000 + 299 - i) / 300); err != nil || number(got) != want {
			t.Fatalf("counter %d is %d, %v; want %d", i, number(got), err, want)
		}
	}
	must(t, db.Close())
	// Without a table, operands cannot be distinguished from their combination.
	edit(t, disk, "DATA", table.SlotA, 4096, flip)
	edit(t, disk, "DATA", table.SlotB, 4096, flip)
	before := content(t, disk, "DATA")
	_, err = repair.Store(world(disk, 1), "db", tiny())
	if !errors.Is(err, repair.ErrAmbiguous) || !strings.Contains(err.Error(), `key "key`) {
		t.Errorf("repair: %v", err)
	}
	if !bytes.Equal(before, content(t, disk, "DATA")) {
		t.Error("a repair that refused has changed the store")
	}
}

// TestRepairOfManyPages damages pages wherever they are.
func TestRepairOfManyPages(t *testing.T) {
	for seed := int64(100); seed < 103; seed++ {
		h := live(t, seed)
		size := len(content(t, h.disk, "DATA"))
		r := rand.New(rand.NewSource(seed))
		for range 4 {
			disk := h.disk.Clone()
			for range 1 + r.Intn(12) {
				page := 512 + r.Intn(size/4096-512)
				if r.Intn(20) == 0 {
					page = []int{0, 256}[r.Intn(2)]
				}
				change := []func([]byte){flip, zero, func(b []byte) { r.Read(b) }}[r.Intn(3)]
				edit(t, disk, "DATA", int64(page)*4096, 4096, change)
			}
			report, err := repair.Store(world(disk, 99), "db", tiny())
			must(t, err)
			if len(report.Damage) > 0 && !report.Repaired {
				t.Fatal(fmt.Sprint(&report))
			}
			sound(t, h, disk, &report)
		}
	}
}

// TestRepairSurvivesACrash ends a repair at each change of the disk. After that,
// the store is the old one or the repaired one.
func TestRepairSurvivesACrash(t *testing.T) {
	h := live(t, 7)
	p := dissect(t, h.disk)
	m := p.metas[len(p.metas)/2]
	edit(t, h.disk, "DATA", p.blocks[m.ID][0], 4096, flip)
	full := h.disk.Clone()
	from := full.Ops()
	report, err := repair.Store(world(full, 99), "db", tiny())
	must(t, err)
	to := full.Ops()
	old := content(t, h.disk, "DATA")
	var asBefore, asAfter, between int
	for n := from; n <= to; n++ {
		if n%3 > 0 && n < to-24 {
			continue // the new file is being written; nothing else has changed
		}
		for _, fate := range []sim.Fate{sim.KeepUpTo(0), sim.KeepUpTo(n), odd(n)} {
			disk := &stopDisk{Disk: h.disk.Clone(), last: n}
			_, err := repair.Store(world(disk, 99), "db", tiny())
			if n < to && !errors.Is(err, errPower) {
				t.Fatalf("stopped after %d of %d: %v", n-from, to-from, err)
			}
			disk.Crash(fate)
			names, err := disk.List("db")
			must(t, err)
			joined := strings.Join(names, " ") + " "
			saved := strings.Contains(joined, "DATA.damaged-1 ")
			switch {
			case strings.Contains(joined, "DATA ") && !saved:
				asBefore++
				if !bytes.Equal(old, content(t, disk.Disk, "DATA")) {
					t.Fatalf("stopped after %d: DATA is neither old nor saved", n-from)
				}
				if n%7 == 0 {
					r, err := repair.Store(world(disk.Disk, 98), "db", tiny())
					must(t, err)
					sound(t, h, disk.Disk, &r)
				}
				continue
			case strings.Contains(joined, "DATA "):
				asAfter++
			default:
				between++
			}
			if !bytes.Equal(old, content(t, disk.Disk, "DATA.damaged-1")) {
				t.Fatalf("stopped after %d: what was there is not saved", n-from)
			}
			sound(t, h, disk.Disk, &report)
		}
	}
	if asBefore == 0 || asAfter == 0 || between == 0 {
		t.Errorf("%d times the old store, %d times the new one, %d times between", asBefore, asAfter, between)
	}
	t.Logf("%d moments: %d times the old store, %d times the new one, %d times between", to-from+1, asBefore, asAfter, between)
}

// odd keeps every other operation of those that are not durable.
func odd(n uint64) sim.Fate {
	return sim.KeepFunc(func(p sim.Piece, ops []uint64) int {
		return len(ops) * int((p.File+uint64(p.Sector)+uint64(len(p.Name))+n)&1)
	})
}

var errPower = errors.New("the power is gone")

// stopDisk is a disk that makes no more changes after the last one.
type stopDisk struct {
	*sim.Disk
	last uint64
}

func (d *stopDisk) gone() bool { return d.Ops() >= d.last }

func (d *stopDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	if create && d.gone() {
		return nil, false, errPower
	}
	f, direct, err := d.Disk.OpenDirect(name, create)
	return &stopFile{f, d}, direct, err
}

func (d *stopDisk) Open(name string, create bool) (env.File, error) {
	if create && d.gone() {
		return nil, errPower
	}
	return d.Disk.Open(name, create)
}

func (d *stopDisk) Rename(old, new string) error {
	if d.gone() {
		return errPower
	}
	return d.Disk.Rename(old, new)
}

func (d *stopDisk) Remove(name string) error {
	if d.gone() {
		return errPower
	}
	return d.Disk.Remove(name)
}

func (d *stopDisk) SyncDir(name string) error {
	if d.gone() {
		return errPower
	}
	return d.Disk.SyncDir(name)
}

type stopFile struct {
	env.File
	disk *stopDisk
}

func (f *stopFile) WriteAt(b []byte, off int64) (int, error) {
	if f.disk.gone() {
		return 0, errPower
	}
	return f.File.WriteAt(b, off)
}

func (f *stopFile) Truncate(size int64) error {
	if f.disk.gone() {
		return errPower
	}
	return f.File.Truncate(size)
}

func (f *stopFile) Sync() error {
	if f.disk.gone() {
		return errPower
	}
	return f.File.Sync()
}

func TestRepairReport(t *testing.T) {
	h := live(t, 8)
	p := dissect(t, h.disk)
	m := p.metas[0]
	edit(t, h.disk, "DATA", p.blocks[m.ID][0], 4096, flip)
	report := repaired(t, h, h.disk)
	text := report.String()
	for _, want := range []string{
		"damage: 1\n", fmt.Sprintf("block 0 of branch %d", m.ID), "lost: 1 blocks", "all other keys kept their values",
		"repaired; the previous files are kept as DATA.damaged-1, JOURNAL-",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	b, err := json.Marshal(report)
	must(t, err)
	var got struct {
		Repaired bool
		Damage   []string
		Lost     []struct {
			Lo, Hi, Reason string
			Older          bool
		}
		LostBlocks int64
	}
	must(t, json.Unmarshal(b, &got))
	if !got.Repaired || len(got.Damage) != 1 || len(got.Lost) == 0 || got.LostBlocks != 1 || got.Lost[0].Lo != string(report.Lost[0].Lo) {
		t.Errorf("%s", b)
	}
	if repair.EscapeKey([]byte("a\"\x00ü\xff")) != `a\"\x00\u00fc\xff` {
		t.Error(repair.EscapeKey([]byte("a\"\x00ü\xff")))
	}
}

// badDisk is a disk that cannot read a page of a file.
type badDisk struct {
	*sim.Disk
	name string
	page int64
}

func (d *badDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, direct, err := d.Disk.OpenDirect(name, create)
	return d.wrap(f, name), direct, err
}

func (d *badDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	return d.wrap(f, name), err
}

func (d *badDisk) wrap(f env.File, name string) env.File {
	if f == nil || path.Base(name) != d.name {
		return f
	}
	return &badFile{f, d.page}
}

type badFile struct {
	env.File
	page int64
}

func (f *badFile) ReadAt(b []byte, off int64) (int, error) {
	if off < f.page+4096 && off+int64(len(b)) > f.page {
		return 0, errIO
	}
	return f.File.ReadAt(b, off)
}

// TestRepairOfPagesThatCannotBeRead: a repair treats them like damaged ones.
func TestRepairOfPagesThatCannotBeRead(t *testing.T) {
	h := live(t, 11)
	p := dissect(t, h.disk)
	m := p.metas[len(p.metas)-1]
	for _, c := range []struct {
		what, name string
		page       int64
		some       bool // something is lost, but not everything may be
		all        bool
	}{
		{"superblock", "DATA", []int64{table.SlotA, table.SlotB}[p.newer], false, true},
		{"table", "DATA", p.chunks[0].Addr, false, true},
		{"index", "DATA", m.Index.Addr, false, false},
		{"block", "DATA", p.blocks[m.ID][0], true, false},
		{"large value", "DATA", p.blobs[len(p.blobs)-1], true, false},
		{"frame", p.journal, 8192, false, true},
		{"first page", p.journal, 0, false, true},
	} {
		t.Run(strings.ReplaceAll(c.what, " ", "_"), func(t *testing.T) {
			disk := h.disk.Clone()
			report, err := repair.Store(world(&badDisk{disk, c.name, c.page}, 99), "db", tiny())
			must(t, err)
			all := report.Covers(nil) && report.Covers([]byte("zzz"))
			if !report.Repaired || !strings.Contains(report.String(), errIO.Error()) || all != c.all || (len(report.Lost) > 0) != (c.some || c.all) {
				t.Errorf("%v", &report)
			}
			sound(t, h, disk, &report)
		})
	}
}
