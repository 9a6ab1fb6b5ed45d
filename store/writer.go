// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// writer numbers the changes, appends them to the active memtable, and queues
// its frames for the journal. The lock of all but visible is DB.mu.
type writer struct {
	db  *DB
	seq message.Seq // of the last change
	// visible is the number of the newest change that readers see.
	visible atomic.Uint64
	queue   []frame
	// unsaved are the memtables that no superblock contains, oldest first. The
	// journal may need them.
	unsaved []*mem
}

// frame is a piece of a memtable's arena that is to be written to the journal.
type frame struct {
	m      *mem
	lo, hi int // hi is the end of what is used, before padding
	first  message.Seq
	count  uint32
	blobs  bool
}

func (w *writer) init(db *DB) { w.db = db }

// resume is called by recovery with the number of the last change and the
// memtables of the journal.
func (w *writer) resume(seq message.Seq) {
	w.seq = seq
	w.visible.Store(uint64(w.seq))
}

// last is the number of the last change. The caller holds DB.mu.
func (w *writer) last() message.Seq { return w.seq }

// seen is the number of the newest change that readers see.
func (w *writer) seen() message.Seq { return message.Seq(w.visible.Load()) }

// append numbers a change and adds it to a memtable that has room for it; more
// says that the next change is of the same batch. The caller holds DB.mu.
func (w *writer) append(m *mem, kind message.Kind, key, value []byte, more bool) {
	w.seq++
	ok := m.table.AppendPart(message.Message{Key: key, Value: value, Seq: w.seq, Kind: kind}, more && w.db.history.on())
	invariant.Check(ok, "no room for a message in the memtable that was made for it")
	m.frameCount++
	if kind == message.Delete {
		m.deletes++
	}
	w.db.metrics.changes[kind]++
	w.db.metrics.userBytes += int64(len(key) + len(value))
}

// jump gives all records of an ingest the same number.
func (w *writer) jump(seq message.Seq, records, bytes int64) {
	w.seq = seq
	w.db.metrics.changes[message.Put] += records
	w.db.metrics.userBytes += bytes
}

// publish makes the changes so far visible, and returns the number of the last.
// The caller holds DB.mu.
func (w *writer) publish() message.Seq {
	w.visible.Store(uint64(w.seq))
	return w.seq
}

// closeFrame ends the open frame of a memtable and queues it. The caller holds
// DB.mu.
func (w *writer) closeFrame(m *mem) {
	w.db.mu.AssertHeld()
	if m.frameCount == 0 || m.full {
		return
	}
	w.queue = append(w.queue, frame{
		m: m, lo: m.frame, hi: m.table.Pos(), first: m.frameFirst, count: m.frameCount, blobs: len(m.blobs) > 0,
	})
	m.spans = append(m.spans, span{m.frame + frameHeader, m.table.Pos(), m.frameFirst})
	m.frame = pad(m.table.Pos())
	m.frameFirst, m.frameCount = w.seq+1, 0
	if next := m.frame + journal.HeaderSize; next >= len(m.arena) || !m.table.Skip(next) {
		m.full = true
	}
}

// pad rounds up to the unit of the journal.
func pad(n int) int { return (n + 4095) &^ 4095 }

// takeFrames empties the queue.
func (w *writer) takeFrames() []frame {
	w.db.mu.Lock()
	defer w.db.mu.Unlock()
	frames := w.queue
	w.queue = nil
	return frames
}

// returnFrames puts frames back that could not be written, before all others.
func (w *writer) returnFrames(frames []frame) {
	w.db.mu.Lock()
	defer w.db.mu.Unlock()
	w.queue = append(frames[:len(frames):len(frames)], w.queue...)
}

// cancelFrames takes the frames of memtables up to that number out of the queue:
// a superblock has made their changes durable.
func (w *writer) cancelFrames(upTo uint64) {
	w.db.mu.Lock()
	defer w.db.mu.Unlock()
	kept := w.queue[:0]
	for _, f := range w.queue {
		if f.m.number > upTo {
			kept = append(kept, f)
		}
	}
	clear(w.queue[len(kept):])
	w.queue = kept
}

// add adds memtables that no superblock contains. The caller holds DB.mu.
func (w *writer) add(mems ...*mem) { w.unsaved = append(w.unsaved, mems...) }

// saved removes the memtables of segments before that one, which a superblock
// contains, and returns them. The caller holds DB.mu.
func (w *writer) saved(segment uint64) (mems []*mem) {
	for len(w.unsaved) > 0 && w.unsaved[0].number < segment {
		mems = append(mems, w.unsaved[0])
		w.unsaved = w.unsaved[1:]
	}
	return mems
}

// behind reports whether the tree has memtables that no superblock contains: a
// checkpoint is running, or could not be made. The caller holds DB.mu.
func (w *writer) behind() bool { return len(w.unsaved) > len(w.db.current.Load().mems) }

// hasRecovered reports whether there are changes of an earlier life that no
// superblock contains.
func (w *writer) hasRecovered() bool {
	w.db.mu.Lock()
	defer w.db.mu.Unlock()
	return w.unsaved[0].recovered
}

// free gives up all memtables.
func (w *writer) free() {
	for _, m := range w.unsaved {
		w.db.unrefMem(m)
	}
}
