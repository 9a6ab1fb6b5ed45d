// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// model is what a test knows of a log: everything that was appended in lives
// that were recovered from, of which the first floor records were acknowledged.
// The caller's state is the list of all records.
type model struct {
	records    []string
	floor      int
	generation uint64 // the highest that Open has answered
}

// life is one opening of a log, with the model beside it.
type life struct {
	*model
	log *Log
	// The checkpoint under way begins behind place records, and has the first
	// saved of them as its state.
	place, saved int
	seed         uint64
}

// begin opens a log and compares what comes back with the model, which is cut
// to that: what was not acknowledged may be gone, and then stays so.
func begin(d env.Disk, m *model, seed uint64) (*life, error) {
	l, err := Open(worldOn(d, seed), dir, small)
	if err != nil {
		return nil, err
	}
	var got []string
	err = l.Replay(func(r []byte) error { got = append(got, string(r)); return nil })
	if err == nil {
		err = m.compare(got, l.Position(), string(l.Identity()))
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	m.records, m.floor, m.generation = m.records[:len(got)], len(got), l.Position().Generation
	return &life{model: m, log: l, seed: seed}, nil
}

func (m *model) compare(got []string, p Position, identity string) error {
	switch {
	case len(got) < m.floor:
		return fmt.Errorf("%d records are back, %d were acknowledged: %q", len(got), m.floor, got)
	case len(got) > len(m.records) || !slices.Equal(got, m.records[:len(got)]):
		return fmt.Errorf("%q are back, %q were appended", got, m.records)
	case p.Records != uint64(len(got)) || p.Generation <= m.generation:
		return fmt.Errorf("position %+v with %d records, after generation %d", p, len(got), m.generation)
	case identity != "who":
		return fmt.Errorf("identity %q", identity)
	}
	return nil
}

func (m *model) clone() *model {
	c := *m
	c.records = slices.Clone(m.records)
	return &c
}

// play does the steps of a script, a letter each: a appends a small record, A
// one of a page and a half, L one that needs a longer segment, m five records
// together; c commits; k begins a checkpoint, s saves a part of the state, e
// saves the rest and ends it; w commits until nothing waits; x closes.
func (w *life) play(script string) error {
	for i, op := range script {
		if err := w.step(op); err != nil {
			return fmt.Errorf("step %d of %s: %w", i, script, err)
		}
	}
	return nil
}

func (w *life) step(op rune) error {
	switch op {
	case 'a':
		return w.add(10)
	case 'A':
		return w.add(6000)
	case 'L':
		return w.add(20000)
	case 'm':
		return w.add(1, 2, 3, 4, 5)
	case 'c':
		return w.commit()
	case 'w':
		for w.log.Waiting() {
			if err := w.commit(); err != nil {
				return err
			}
		}
		return nil
	case 'k':
		w.saved, w.place = 0, len(w.records)
		return w.log.BeginCheckpoint()
	case 's':
		return w.save((len(w.records) + 1) / 2)
	case 'e':
		if err := w.save(len(w.records)); err != nil {
			return err
		}
		return w.log.EndCheckpoint()
	case 'x':
		return w.log.Close()
	}
	panic("no such step: " + string(op))
}

type list [][]byte

func (l list) Len() int            { return len(l) }
func (l list) Record(i int) []byte { return l[i] }

func (w *life) add(lengths ...int) error {
	var all list
	for i, n := range lengths {
		r := fmt.Sprintf("%d.%d:", w.seed, len(w.records)+i)
		all = append(all, []byte(r+strings.Repeat(string(rune('a'+len(w.records)%26)), n)))
	}
	n, err := w.log.Append(all)
	if err != nil {
		return err
	}
	for _, r := range all {
		w.records = append(w.records, string(r))
	}
	if n != uint64(len(w.records)) {
		return fmt.Errorf("the last record is number %d, want %d", n, len(w.records))
	}
	return nil
}

func (w *life) commit() error {
	before := len(w.records)
	if err := w.log.Commit(); err != nil {
		return err
	}
	w.floor = before
	if p := w.log.Position(); p.Records != uint64(before) {
		return fmt.Errorf("position %+v after a commit of %d", p, before)
	}
	return nil
}

// save saves the state at the place of the checkpoint up to a record. The
// records that came since the place are not repeated on it: the list would have
// them twice.
func (w *life) save(upTo int) error {
	for ; w.saved < min(upTo, w.place); w.saved++ {
		if err := w.log.Save([]byte(w.records[w.saved])); err != nil {
			return err
		}
	}
	return nil
}

// hookDisk calls hook before each operation that changes something; an error of
// it is the operation's.
type hookDisk struct {
	*sim.Disk
	hook func(op string) error
}

func (d *hookDisk) Open(name string, create bool) (env.File, error) {
	if create {
		if err := d.hook("create " + name); err != nil {
			return nil, err
		}
	}
	f, err := d.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return &hookFile{f, d, name}, nil
}

func (d *hookDisk) Remove(name string) error {
	if err := d.hook("remove " + name); err != nil {
		return err
	}
	return d.Disk.Remove(name)
}

func (d *hookDisk) Rename(from, to string) error {
	if err := d.hook("rename " + to); err != nil {
		return err
	}
	return d.Disk.Rename(from, to)
}

func (d *hookDisk) SyncDir(name string) error {
	if err := d.hook("sync directory " + name); err != nil {
		return err
	}
	return d.Disk.SyncDir(name)
}

type hookFile struct {
	env.File
	d    *hookDisk
	name string
}

func (f *hookFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.d.hook("write " + f.name); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, off)
}

func (f *hookFile) Truncate(n int64) error {
	if err := f.d.hook("lengthen " + f.name); err != nil {
		return err
	}
	return f.File.Truncate(n)
}

func (f *hookFile) Sync() error {
	if err := f.d.hook("sync " + f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

// crashes calls f with disks that a crash may leave of d: of the program alone,
// of the machine after each operation, and some random ones.
func crashes(d *sim.Disk, random int, r env.Random, f func(how string, d *sim.Disk)) {
	f("program", d.Clone())
	for n := d.Ops() - uint64(d.Unsynced()); n <= d.Ops(); n++ {
		c := d.Clone()
		c.Crash(sim.KeepUpTo(n))
		f(fmt.Sprintf("machine after operation %d", n), c)
	}
	if d.Unsynced() == 0 {
		return
	}
	for i := range random {
		c := d.Clone()
		c.Crash(sim.KeepFunc(func(_ sim.Piece, ops []uint64) int { return env.IntN(r, len(ops)+1) }))
		f(fmt.Sprintf("random %d", i), c)
	}
}
