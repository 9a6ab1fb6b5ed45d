// SPDX-License-Identifier: Apache-2.0

// Package durable is the journal of a node: it stores the durable variables of
// the node's instances on a disk.
//
// In: an env.Env and env.Tasks; a directory in which Format has made a journal,
// and the identity of the journal's owner; the changes of sections, one after the
// other. Out: a distsys.Journal.
//
// Promised: every later life recovers what Durable has reported as durable. The
// recovered variables of an instance are those that some section left, with the
// effects of all sections before it and of none after it. One write and one sync
// of the disk serve all changes that were appended meanwhile. When the journal
// has grown by 64 MiB, and to twice the size of the variables, a checkpoint
// writes all values again and frees the space of the older records. While the
// disk is full, nothing more becomes durable, and the sections that depend on the
// journal wait.
//
// Refused: the journal of another system or node; a journal that is damaged or
// that another process has open (wal.ErrCorrupt, wal.ErrLocked); a directory
// without a journal (wal.ErrNone), because a lost disk must not pass for a first
// start.
//
// The journal uses store/wal, which writes records in groups, distinguishes a
// torn end from corruption, and truncates the log at checkpoints.
// docs/format/durable.md describes the records.
package durable

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store/wal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Options are the options of a Log. Env's Disk, Clock and Random and Tasks are
// needed.
type Options struct {
	Env env.Env
	// Tasks runs the writer, which blocks on the disk.
	Tasks env.Tasks
	// Dir is the directory on the disk.
	Dir string
	// System and Node identify the owner of the journal. Open refuses a journal
	// of another owner.
	System, Node string
	// CheckpointBytes is the growth of the journal that triggers a checkpoint;
	// 0 is the default of store/wal.
	CheckpointBytes int64
	// Segment is the size of a journal file, in bytes; 0 is the default of
	// store/wal.
	Segment int
}

// identity is the owner that the journal records.
func (o Options) identity() []byte {
	return []byte("distsys\n" + o.System + "\n" + o.Node)
}

// Format makes the journal of a node that has none. When it returns nil, the
// journal is durable. If a journal exists already, Format returns wal.ErrExists
// and changes nothing.
func Format(o Options) error { return wal.Format(o.Env, o.Dir, o.identity()) }

// Log is an open journal.
type Log struct {
	clock env.Clock
	wal   *wal.Log
	life  uint64
	wake  env.Waker // of the writer

	mu      sync.Mutex
	kept    map[string]*distsys.Kept // as it was when the journal was opened
	now     map[string]*entry        // with all that was appended since
	durable uint64
	err     error
	waits   []waiter
	retry   env.Timer
	closed  bool
}

var _ distsys.Journal = (*Log)(nil)

type waiter struct {
	n uint64
	w env.Waker
}

// entry is the state of an instance for the next checkpoint.
type entry struct {
	life, n uint64
	done    bool
	vars    map[string][]byte   // in the encoding of values
	seqs    map[string][][]byte // sequences of which an end has changed: their elements, likewise
}

// retryAfter is how long the writer waits before it tries a full disk again.
const retryAfter = 100 * time.Millisecond

// Open opens a journal and begins a new life of the node, which is durable when
// Open returns.
func Open(o Options) (l *Log, err error) {
	w, err := wal.Open(o.Env, o.Dir, wal.Options{Pending: math.MaxInt / 2, CheckpointBytes: o.CheckpointBytes, Segment: o.Segment})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l, err = nil, errors.Join(err, w.Close())
		}
	}()
	if got, want := w.Identity(), o.identity(); !bytes.Equal(got, want) {
		return nil, fmt.Errorf("open the journal in %s: it belongs to %q, not to %q", o.Dir, got, want)
	}
	l = &Log{clock: o.Env.Clock, wal: w, life: w.Position().Generation, kept: map[string]*distsys.Kept{}, now: map[string]*entry{}}
	var g group
	if err := w.Replay(func(record []byte) error { return g.redo(record, l.redo) }); err != nil {
		return nil, err
	}
	for name, e := range l.now {
		if l.kept[name], err = e.decode(); err != nil {
			return nil, fmt.Errorf("open the journal in %s: %s: %w", o.Dir, name, err)
		}
	}
	l.durable = w.Position().Records
	l.wake = o.Tasks.Task(l.write)
	return l, nil
}

// decode decodes the stored values of an instance.
func (e *entry) decode() (*distsys.Kept, error) {
	k := &distsys.Kept{Life: e.life, N: e.n, Done: e.done}
	for name, b := range e.whole() {
		v, rest, err := value.ParseWire(b)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("%d extra bytes", len(rest))
		}
		if err != nil {
			return nil, fmt.Errorf("the value of %s: %w", name, err)
		}
		k.Vars = append(k.Vars, distsys.Var{Name: name, Value: v})
	}
	sort.Slice(k.Vars, func(i, j int) bool { return k.Vars[i].Name < k.Vars[j].Name })
	return k, nil
}

// apply adds a record to the state for the next checkpoint.
func (l *Log) apply(c change) error {
	e := l.entry(c.instance)
	e.life, e.n, e.done = c.life, c.n, c.done
	e.set(c.own)
	if len(c.shared.names) > 0 {
		l.entry("").set(c.shared)
	}
	for _, t := range c.tails {
		if err := e.change(t); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) entry(instance string) *entry {
	e := l.now[instance]
	if e == nil {
		e = &entry{vars: map[string][]byte{}, seqs: map[string][][]byte{}}
		l.now[instance] = e
	}
	return e
}

func (e *entry) set(v variables) {
	for i, name := range v.names {
		e.vars[name] = v.values[i]
		delete(e.seqs, name)
	}
}

// Life implements distsys.Journal.
func (l *Log) Life() uint64 { return l.life }

// Recall implements distsys.Journal.
func (l *Log) Recall(instance string) *distsys.Kept { return l.kept[instance] }

// Append implements distsys.Journal.
func (l *Log) Append(instance string, k distsys.Kept) (uint64, error) {
	c := change{instance: instance, life: k.Life, n: k.N, done: k.Done}
	for _, v := range k.Vars {
		c.own.add(v.Name, value.AppendWire(nil, v.Value))
	}
	for _, v := range k.Shared {
		c.shared.add(v.Name, value.AppendWire(nil, v.Value))
	}
	for _, t := range k.Tails {
		c.tails = append(c.tails, newTail(t))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.wal.Append(l.shorten(c).records())
	if err != nil {
		return 0, l.fail(err)
	}
	if err := l.apply(c); err != nil {
		return 0, l.fail(err)
	}
	l.wake.Wake()
	return n, nil
}

// Durable implements distsys.Journal.
func (l *Log) Durable(n uint64, w env.Waker) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.durable >= n {
		return true, nil
	}
	if l.err != nil {
		return false, l.err
	}
	l.waits = append(l.waits, waiter{n, w})
	return false, nil
}

// fail ends the journal with an error. The caller holds the lock.
func (l *Log) fail(err error) error {
	if l.err == nil {
		l.err = err
	}
	for _, w := range l.waits {
		w.w.Wake()
	}
	l.waits = nil
	return l.err
}

// write makes the appended records durable. It is the step of a task.
func (l *Log) write() (more bool) {
	l.mu.Lock()
	if l.closed || l.err != nil {
		l.mu.Unlock()
		return false
	}
	var err error
	if l.wal.Due() {
		err = l.checkpoint()
	}
	l.mu.Unlock()
	if err == nil {
		err = l.wal.Commit() // appends go on meanwhile, and are the next group
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.durable = l.wal.Position().Records
	left := l.waits[:0]
	for _, w := range l.waits {
		if w.n <= l.durable {
			w.w.Wake()
		} else {
			left = append(left, w)
		}
	}
	l.waits = left
	switch {
	case err != nil && errors.Is(err, env.ErrNoSpace) && !errors.Is(err, wal.ErrStopped):
		if !l.closed {
			l.retry = l.clock.After(retryAfter, l.wake)
		}
		return false
	case err != nil:
		l.fail(err)
		return false
	}
	return l.wal.Waiting()
}

// checkpoint hands the current state to the log, to replace everything appended
// so far. The caller holds the lock.
func (l *Log) checkpoint() error {
	if err := l.wal.BeginCheckpoint(); err != nil {
		return err
	}
	instances := make([]string, 0, len(l.now))
	for name := range l.now {
		instances = append(instances, name)
	}
	sort.Strings(instances)
	for _, name := range instances {
		e := l.now[name]
		c := change{instance: name, life: e.life, n: e.n, done: e.done}
		whole := e.whole()
		for v := range whole {
			c.own.names = append(c.own.names, v)
		}
		sort.Strings(c.own.names)
		for _, v := range c.own.names {
			c.own.values = append(c.own.values, whole[v])
		}
		r := c.records()
		for i := range r.Len() {
			if err := l.wal.Save(r.Record(i)); err != nil {
				return err
			}
		}
	}
	return l.wal.EndCheckpoint()
}

// Close closes the journal. Changes that are not durable are lost.
func (l *Log) Close() error {
	l.mu.Lock()
	l.closed = true
	if l.retry != nil {
		l.retry.Stop()
	}
	l.fail(wal.ErrStopped)
	l.mu.Unlock()
	return l.wal.Close()
}
