// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
)

// home is the directory of the store on its disk.
const home = "db"

// session is an open store on a disk, with the history of the operations on it.
type session struct {
	subject Subject
	tracer  env.Tracer
	disk    *Disk
	store   Store
	h       *history
	scan    *scanner

	made   bool // the store has been opened once: from now on it exists
	acked  int  // the last moment that is promised to be durable
	before int  // the one promised before that
	views  []held
	copies []copied
	trail  []*Op  // the operations, for reports
	marks  []int  // and the moment after it
	during string // what the disk was doing last
	reads  uint64 // that gave the right answer
}

type held struct {
	view View
	pos  int
}

// copied is a checkpoint, with its expected content: the history may drop that.
type copied struct {
	dir     string
	content []record
}

func newSession(subject Subject, tracer env.Tracer, disk *Disk, h *history) *session {
	s := &session{subject: subject, tracer: tracer, disk: disk, h: h, acked: h.base, before: h.base, scan: &scanner{}}
	disk.epoch = s.acked
	return s
}

// open opens the store. A store that is there is opened without a change.
func (s *session) open() (err, bad error) {
	mutations := s.disk.mutations
	s.store, err = s.subject.Open(s.disk, home, hearing{s.tracer, s.disk})
	switch {
	case err != nil:
		s.store = nil
		return err, nil
	case s.made && s.disk.mutations != mutations:
		return nil, fmt.Errorf("Open has changed the disk (%s): recovery writes nothing", s.disk.lastChange())
	}
	s.made = true
	return nil, nil
}

// hearing passes events on as long as the disk works: the end of an abandoned store is of
// no interest.
type hearing struct {
	env.Tracer
	disk *Disk
}

// Trace implements env.Tracer.
func (h hearing) Trace(e env.Event) {
	if h.disk.dead == nil {
		h.Tracer.Trace(e)
	}
}

// lastChange names the last change that is not durable.
func (d *Disk) lastChange() string {
	if n := len(d.units); n > 0 {
		return d.units[n-1].what
	}
	return "synced"
}

// exec does an operation. The first error is the store's; the second reports what the
// store has done wrong.
func (s *session) exec(o *Op) (err, bad error) {
	s.trail = append(s.trail, o)
	if o.Kind.Changes() {
		s.h.do(o)
	}
	s.marks = append(s.marks, s.h.last)
	switch o.Kind {
	case Sync:
		err = s.store.Sync()
	case Flush:
		err = s.store.Flush()
	case Compact:
		err = s.store.Compact([]byte(o.Key), []byte(o.End))
	case Wait:
		err = s.store.Wait()
	case Checkpoint:
		dir := fmt.Sprintf("copy-%d-%d", s.h.last, len(s.copies))
		if err = s.store.Checkpoint(dir); err == nil {
			s.copies = append(s.copies, copied{dir, s.h.content(s.h.last)})
		}
	case Reopen:
		err, bad = s.reopen()
	case Kill:
		err, bad = s.kill()
	case Snapshot:
		err, bad = s.snapshot()
	case Scan:
		err, bad = s.scanAll(s.store, s.h.last)
	case Get:
		err, bad = s.get(s.store, o.Key, s.h.last)
	default:
		err = s.store.Commit(s.changes(o), o.Kind != Batch, o.Sync)
	}
	if err == nil && bad == nil && (o.Sync || s.subject.Durable(o.Kind)) {
		s.ack()
	}
	return err, bad
}

func (s *session) ack() {
	if s.h.since(s.acked) {
		s.before, s.acked = s.acked, s.h.last
		s.disk.epoch = s.acked
	}
}

func (s *session) changes(o *Op) (out []Change) {
	o.each(func(o *Op) {
		c := Change{Kind: o.Kind, Key: []byte(o.Key)}
		switch o.Kind {
		case Put, Merge:
			c.Value = o.value(s.h.last)
		case DeleteRange:
			c.Value = []byte(o.End)
		}
		out = append(out, c)
	})
	return out
}

func (s *session) reopen() (err, bad error) {
	if err, bad = s.close(); err != nil || bad != nil {
		return err, bad
	}
	if err, bad = s.open(); err != nil || bad != nil {
		return err, bad
	}
	return s.scanAll(s.store, s.h.last)
}

// kill ends the process: everything that it has written is on the disk or in the
// machine's memory, and can be read. Changes that it had not written are removed from the
// history.
func (s *session) kill() (err, bad error) {
	hook := s.disk.hook
	s.abandon()
	s.views = nil
	s.disk.hook, s.disk.dead = hook, nil
	s.disk.handles, s.disk.locks = 0, map[string]bool{}
	if err, bad = s.open(); err != nil || bad != nil {
		return err, bad
	}
	last, _, err, bad := s.recovered(s.acked, 1)
	if err == nil && bad == nil {
		s.h.forget(last)
	}
	return err, bad
}

// close closes snapshots and store.
func (s *session) close() (err, bad error) {
	for _, v := range s.views {
		err = errors.Join(err, v.view.Close())
	}
	s.views = nil
	err = errors.Join(err, s.store.Close())
	s.store = nil
	if err == nil && (s.disk.handles != 0 || len(s.disk.locks) != 0) {
		return nil, fmt.Errorf("after Close %d files are open and %d locks are held", s.disk.handles, len(s.disk.locks))
	}
	return err, nil
}

// abandon frees the store's memory without letting it touch the disk.
func (s *session) abandon() {
	s.disk.hook, s.disk.dead = nil, errAbandoned
	if s.store != nil {
		for _, v := range s.views {
			v.view.Close()
		}
		// A store whose disk has failed does not need to close.
		_ = s.store.Commit([]Change{{Kind: Delete, Key: []byte("end")}}, true, true)
		_ = s.store.Close()
		s.store = nil
	}
}

func (s *session) snapshot() (err, bad error) {
	v, err := s.store.Snapshot()
	if err != nil {
		return err, nil
	}
	s.views = append(s.views, held{v, s.h.last})
	if len(s.views) < 3 {
		return nil, nil
	}
	old := s.views[0]
	s.views = s.views[1:]
	err, bad = s.scanAll(old.view, old.pos)
	if bad != nil {
		bad = fmt.Errorf("a snapshot of moment %d: %w", old.pos, bad)
	}
	if e := old.view.Close(); err == nil {
		err = e
	}
	return err, bad
}

func (s *session) get(r Reader, key string, pos int) (err, bad error) {
	got, ok, err := r.Get([]byte(key))
	if err != nil {
		return err, nil
	}
	if !ok {
		got = nil
	} else if got == nil {
		got = []byte{}
	}
	if want := s.h.at(s.h.index[key], pos); !same(got, want) {
		return nil, fmt.Errorf("Get(%q) gives %s, want %s", key, describe(got), describe(want))
	}
	s.reads++
	return nil, nil
}

// scanAll compares a reader with a moment: forward, backward, and by seeks.
func (s *session) scanAll(r Reader, pos int) (err, bad error) {
	c, err := r.Iter()
	if err != nil {
		return err, nil
	}
	err, bad = s.walk(c, s.h.content(pos))
	if e := c.Close(); err == nil {
		err = e
	}
	return err, bad
}

func (s *session) walk(c Cursor, want []record) (err, bad error) {
	is := func(ok bool, move string, i int) bool {
		var got []byte
		if ok {
			got = c.Value() // which may read, and fail
		}
		switch {
		case c.Err() != nil:
			err = c.Err()
		case ok != (i >= 0 && i < len(want)):
			bad = fmt.Errorf("%s answers %v at record %d of %d", move, ok, i, len(want))
		case ok && !bytes.Equal(c.Key(), want[i].key):
			bad = fmt.Errorf("%s gives key %q, want %q", move, c.Key(), want[i].key)
		case ok && !same(got, want[i].value):
			bad = fmt.Errorf("%s at %q gives %s, want %s", move, c.Key(), describe(got), describe(want[i].value))
		default:
			s.reads++
			return true
		}
		return false
	}
	for i := 0; i <= len(want); i++ {
		ok := i > 0 && c.Next() || i == 0 && c.First()
		if !is(ok, "the walk forward", i) {
			return err, bad
		}
	}
	for i := len(want) - 1; i >= -1; i-- {
		ok := i < len(want)-1 && c.Prev() || i == len(want)-1 && c.Last()
		if !is(ok, "the walk backward", i) {
			return err, bad
		}
	}
	for n, k := range s.h.keys {
		i := 0
		for i < len(want) && string(want[i].key) < k {
			i++
		}
		if n%2 == 0 && (!is(c.SeekGE([]byte(k)), "SeekGE "+k, i) || i < len(want) && !is(c.Next(), "Next after SeekGE "+k, i+1)) {
			return err, bad
		}
		if n%2 == 1 && (!is(c.SeekLT([]byte(k)), "SeekLT "+k, i-1) || i > 0 && !is(c.Prev(), "Prev after SeekLT "+k, i-2)) {
			return err, bad
		}
	}
	return nil, nil
}

// recovered compares a store that was just opened with the history: a scan
// must be the content of a moment in the window, and Get must agree with it.
// It returns the last such moment and the content.
func (s *session) recovered(lo int, each int) (last int, found []record, err, bad error) {
	found, err = s.scan.scan(s.store)
	if err != nil {
		return 0, nil, err, nil
	}
	_, last, bad = s.h.moments(found, lo, s.h.last)
	if bad != nil {
		return 0, nil, nil, bad
	}
	for i, k := range s.h.keys {
		if i%each != last%each {
			continue
		}
		got, ok, err := s.store.Get([]byte(k))
		if err != nil {
			return 0, nil, err, nil
		}
		var want []byte
		if f := s.h.found[i]; f >= 0 {
			want = found[f].value
		}
		if ok != (want != nil) || ok && !bytes.Equal(got, want) {
			return 0, nil, nil, fmt.Errorf("Get(%q) says %v with %d bytes, a scan says %s", k, ok, len(got), describe(want))
		}
		s.reads++
	}
	return last, found, nil, nil
}
