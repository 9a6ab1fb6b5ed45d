package node

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/worm/wal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// pendingMax is no bound: admit bounds what waits for a commit before a request
// is performed, because its records must be written afterwards.
const pendingMax = math.MaxInt / 2

// openLog opens the log and learns the server's identity.
func (s *Server) openLog() error {
	log, err := wal.Open(s.opt.Env, s.opt.Dir, wal.Options{Pending: pendingMax,
		CheckpointBytes: s.opt.CheckpointBytes, Segment: s.opt.LogSegment})
	if err != nil {
		return fmt.Errorf("open the log in %s: %w", s.opt.Dir, err)
	}
	s.disk = log
	s.key, s.name, err = identity(log.Identity())
	if err != nil {
		return fmt.Errorf("open the log in %s: %w", s.opt.Dir, err)
	}
	s.id = s.key.ID()
	s.generation = log.Position().Generation
	return nil
}

// replay rebuilds the state from the log.
func (s *Server) replay() error {
	if err := s.disk.Replay(s.redo); err != nil {
		return fmt.Errorf("read the log in %s: %w", s.opt.Dir, err)
	}
	n := s.disk.Position().Records
	s.appended, s.committing, s.committed = n, n, n
	s.start = place{s.generation - 1, n}
	for _, p := range s.parts {
		p.bytes = p.group.Bytes()
		s.bytes += p.bytes
	}
	return nil
}

// append passes the records of a turn to the log.
func (s *Server) append() {
	n, err := s.disk.Append(&s.staged)
	s.pending += int64(len(s.staged.buf))
	s.counts.Records += uint64(s.staged.Len())
	s.counts.RecordBytes += uint64(len(s.staged.buf))
	s.staged.reset()
	if err != nil {
		s.fail(err)
		return
	}
	invariant.Check(n == s.appended, "record %d is number %d of the log", s.appended, n)
	s.waker.Wake()
}

// commit is the step that commits: one sync for everything that came before it
// began. Later records wait for the next.
func (s *Server) commit() (more bool) {
	s.mu.Lock()
	if s.closed || s.failed != nil || s.disk == nil {
		s.mu.Unlock()
		return false
	}
	if !s.full && s.disk.Due() {
		if s.checkpoint(); s.failed != nil {
			s.unlock()
			return false
		}
	}
	if !s.full {
		s.fly()
	}
	s.mu.Unlock()

	s.busy.Lock()
	err := s.disk.Commit()
	s.busy.Unlock()

	s.mu.Lock()
	defer s.unlock()
	if s.closed {
		return false
	}
	if errors.Is(err, env.ErrNoSpace) && s.disk.Err() == nil {
		s.noRoom(err)
		return false
	}
	if err != nil {
		s.fail(err)
		return false
	}
	if s.full {
		s.full = false
		s.warn("the disk has room again: serving")
	}
	s.release()
	s.drained()
	// After a full disk the log may be further than what has flown here.
	return s.disk.Waiting() || s.committed < s.appended
}

// fullRetry is how often a full disk is checked for room.
const fullRetry = 250 * time.Millisecond

// noRoom records that the disk is full. Until there is room, running requests
// wait, and new ones are answered StatusBusy, so that clients go to other
// servers.
func (s *Server) noRoom(err error) {
	if !s.full {
		s.full = true
		s.warn("the disk is FULL: all requests are refused here until there is room; nothing is lost: " + err.Error())
	}
	s.wheel.remove(&s.retry)
	s.wheel.add(&s.retry, s.opt.Env.Clock.Now().Add(fullRetry))
}

// fly takes what the commit that begins now makes durable.
func (s *Server) fly() {
	invariant.Check(len(s.flying) == 0, "two commits at a time")
	s.committing = s.appended
	s.flew = s.pending
	s.flying, s.holding = s.holding, s.flying
	for _, c := range s.flying {
		c.flying, c.held = c.held, c.flying
		c.noteBytes[0], c.noteBytes[1] = c.noteBytes[1], 0
		c.queued[0], c.queued[1] = true, false
	}
}

// release sends what has been committed.
func (s *Server) release() {
	n := s.committing - s.committed
	s.counts.Commits++
	s.counts.Batches[batchClass(n)]++
	s.committed = s.committing
	s.pending -= s.flew
	s.flew = 0
	for i, c := range s.flying {
		s.flying[i] = nil
		c.queued[0], c.noteBytes[0] = false, 0
		if c.closed {
			continue
		}
		if c.flying.Len() > 0 {
			c.send(&c.flying)
		}
		c.account()
	}
	s.flying = s.flying[:0]
}

// checkpoint begins to write the state anew. The whole state is passed at once;
// commits write it in pieces.
func (s *Server) checkpoint() {
	s.mark("worm/node checkpoint")
	s.counts.Checkpoints++
	err := s.disk.BeginCheckpoint()
	b := batch{}
	save := func(kind byte, n wor.Partition, record []byte) bool {
		if err != nil {
			return false
		}
		b.reset()
		b.add(kind, n, record)
		err = s.disk.Save(b.Record(0))
		return err == nil
	}
	for _, p := range s.parts {
		p.group.Save(func(record []byte) bool { return save(recordGroup, p.number, record) })
	}
	save(recordCluster, 0, s.clusterRecord())
	for _, id := range sortedKeys(s.seen) {
		save(recordWitness, 0, encodeSighting(id, s.seen[id]))
	}
	if s.rolledBack != "" {
		save(recordBehind, 0, []byte(s.rolledBack))
	}
	if err == nil {
		err = s.disk.EndCheckpoint()
	}
	if err != nil {
		s.fail(err)
	}
}
