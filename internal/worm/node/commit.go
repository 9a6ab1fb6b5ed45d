// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/store/wal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// pendingMax is no bound here: admit bounds the bytes that wait for a commit
// before a request is performed, because the records of a performed request
// must be written.
const pendingMax = math.MaxInt / 2

// commits carries records to the disk, and holds output until the records before
// it are durable. Records are numbered: those up to appended are staged or in
// the log, those up to committed are durable, and those up to committing will be
// when the running commit is done. Server.mu guards all but busy.
type commits struct {
	s     *Server
	disk  *wal.Log  // nil in memory
	waker env.Waker // of step
	// busy is held while a commit is running. It and Server.mu are never held at
	// the same time.
	busy sync.Mutex

	staged                          batch // records of this turn
	appended, committing, committed uint64
	pending, flew                   int64   // bytes that are not durable; those of them in the running commit
	flying, holding                 []*conn // with output for the running commit, for the next one
	full                            bool    // the disk has no room for the log
	retry                           entry   // in the wheel: to check for room again
}

// last is the number of the newest record, durable that of the newest durable
// one.
func (k *commits) last() uint64    { return k.appended }
func (k *commits) durable() uint64 { return k.committed }

// held counts the connections with replies that wait for a commit.
func (k *commits) held() int { return len(k.flying) + len(k.holding) }

// idle reports whether nothing waits for the disk.
func (k *commits) idle() bool { return k.committed == k.appended && k.held() == 0 }

// waiting is the number of bytes that are not durable.
func (k *commits) waiting() int64 { return k.pending }

// blocked reports whether the disk is full.
func (k *commits) blocked() bool { return k.full }

// open opens the log, and returns what Format wrote into it and how often it was
// opened.
func (k *commits) open() (identity []byte, generation uint64, err error) {
	o := &k.s.opt
	log, err := wal.Open(o.Env, o.Dir, wal.Options{Pending: pendingMax, CheckpointBytes: o.CheckpointBytes, Segment: o.LogSegment})
	if err != nil {
		return nil, 0, err
	}
	k.disk = log
	return log.Identity(), log.Position().Generation, nil
}

// replay rebuilds the state from the log, and returns the number of its records.
func (k *commits) replay(redo func(record []byte) error) (uint64, error) {
	if err := k.disk.Replay(redo); err != nil {
		return 0, fmt.Errorf("read the log in %s: %w", k.s.opt.Dir, err)
	}
	n := k.disk.Position().Records
	k.appended, k.committing, k.committed = n, n, n
	return n, nil
}

// run begins to commit what is staged.
func (k *commits) run(tasks env.Tasks) {
	k.waker = tasks.Task(k.step)
	k.retry.due = k.waker.Wake
}

// close closes the log after a running commit has ended. The caller must not
// hold Server.mu.
func (k *commits) close() error {
	if k.disk == nil {
		return nil
	}
	k.busy.Lock()
	defer k.busy.Unlock()
	return k.disk.Close()
}

// stage makes a record. In memory, the record counts as durable at once.
func (k *commits) stage(kind byte, n wor.Partition, record []byte) {
	s := k.s
	k.appended++
	if k.disk == nil {
		s.counts.Records++
		k.committing, k.committed = k.appended, k.appended
		return
	}
	k.staged.add(kind, n, record)
}

// outlet returns the connection's buffer for output that may leave when all records so far are
// durable.
func (k *commits) outlet(c *conn) *wire.Encoder {
	switch {
	case k.appended <= k.committed:
		return &c.now
	case k.appended <= k.committing:
		if !c.queued[0] {
			c.queued[0] = true
			k.flying = append(k.flying, c)
		}
		return &c.flying
	}
	if !c.queued[1] {
		c.queued[1] = true
		k.holding = append(k.holding, c)
	}
	return &c.held
}

// append passes the records of a turn to the log.
func (k *commits) append() {
	s := k.s
	if k.staged.Len() == 0 || s.failed != nil || s.closed {
		return
	}
	n, err := k.disk.Append(&k.staged)
	k.pending += int64(len(k.staged.buf))
	s.counts.Records += uint64(k.staged.Len())
	s.counts.RecordBytes += uint64(len(k.staged.buf))
	k.staged.reset()
	if err != nil {
		s.fail(err)
		return
	}
	invariant.Check(n == k.appended, "record %d is number %d of the log", k.appended, n)
	k.waker.Wake()
}

// step commits: one sync covers all records that were staged before it began.
// Later records wait for the next commit.
func (k *commits) step() (more bool) {
	s := k.s
	s.mu.Lock()
	if s.closed || s.failed != nil || k.disk == nil {
		s.mu.Unlock()
		return false
	}
	if !k.full && k.disk.Due() {
		if k.checkpoint(); s.failed != nil {
			s.unlock()
			return false
		}
	}
	if !k.full {
		k.fly()
	}
	s.mu.Unlock()

	k.busy.Lock()
	err := k.disk.Commit()
	k.busy.Unlock()

	s.mu.Lock()
	defer s.unlock()
	if s.closed {
		return false
	}
	if errors.Is(err, env.ErrNoSpace) && k.disk.Err() == nil {
		k.noRoom(err)
		return false
	}
	if err != nil {
		s.fail(err)
		return false
	}
	if k.full {
		k.full = false
		s.warn("the disk has room again: serving")
	}
	k.release()
	s.drain.proceed()
	// After the disk was full, the log may be ahead of the commits recorded
	// here.
	return k.disk.Waiting() || k.committed < k.appended
}

// fullRetry is how often a full disk is checked for room.
const fullRetry = 250 * time.Millisecond

// noRoom records that the disk is full. Until there is room, running requests
// wait, and new ones are answered StatusBusy, so that clients go to other
// servers.
func (k *commits) noRoom(err error) {
	s := k.s
	if !k.full {
		k.full = true
		s.warn("the disk is FULL: all requests are refused here until there is room; nothing is lost: " + err.Error())
	}
	s.wheel.remove(&k.retry)
	s.wheel.add(&k.retry, s.opt.Env.Clock.Now().Add(fullRetry))
}

// fly takes the output and records that the next commit makes durable.
func (k *commits) fly() {
	invariant.Check(len(k.flying) == 0, "two commits at once")
	k.committing = k.appended
	k.flew = k.pending
	k.flying, k.holding = k.holding, k.flying
	for _, c := range k.flying {
		c.flying, c.held = c.held, c.flying
		c.noteBytes[0], c.noteBytes[1] = c.noteBytes[1], 0
		c.queued[0], c.queued[1] = true, false
	}
}

// release sends the output that has become durable.
func (k *commits) release() {
	s := k.s
	n := k.committing - k.committed
	s.counts.Commits++
	s.counts.Batches[batchClass(n)]++
	k.committed = k.committing
	k.pending -= k.flew
	k.flew = 0
	for i, c := range k.flying {
		k.flying[i] = nil
		c.queued[0], c.noteBytes[0] = false, 0
		if c.closed {
			continue
		}
		if c.flying.Len() > 0 {
			c.send(&c.flying)
		}
		c.account()
	}
	k.flying = k.flying[:0]
	s.witness.committed()
}

// checkpoint begins to write the state anew. The whole state is passed at once;
// commits write it in pieces.
func (k *commits) checkpoint() {
	s := k.s
	s.mark("worm/node checkpoint")
	s.counts.Checkpoints++
	err := k.disk.BeginCheckpoint()
	b := batch{}
	save := func(kind byte, n wor.Partition, record []byte) bool {
		if err != nil {
			return false
		}
		b.reset()
		b.add(kind, n, record)
		err = k.disk.Save(b.Record(0))
		return err == nil
	}
	for _, p := range s.registers.all() {
		p.group.Save(func(record []byte) bool { return save(recordGroup, p.number, record) })
	}
	save(recordCluster, 0, s.clusterRecord())
	s.witness.save(func(kind byte, record []byte) { save(kind, 0, record) })
	if err == nil {
		err = k.disk.EndCheckpoint()
	}
	if err != nil {
		s.fail(err)
	}
}
