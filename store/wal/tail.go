// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"fmt"
	"path"

	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// tail is the end of the journal that no frame calls durable: what the last Commit
// of an earlier life has written. Its sync may have failed. A machine then takes
// the pages in its cache for clean: the next life reads them, syncs them in
// vain, and a loss of power takes them away together with what was
// acknowledged behind them. So they are written again before they are synced.
// The bytes are the same, so that a crash meanwhile does no harm.
type tail struct {
	safe   message.Seq // it and all messages before are durable
	pieces []piece
	bytes  []byte
}

// piece is a part of a segment, bytes[lo:hi] of the tail.
type piece struct {
	segment uint64
	off     int64
	lo, hi  int
	last    message.Seq
}

// frame takes the next frame, image[off:end].
func (t *tail) frame(h journal.Header, image []byte, off, end int) {
	t.safe = max(t.safe, h.Durable)
	for len(t.pieces) > 0 && t.pieces[0].last <= t.safe {
		t.pieces = t.pieces[1:]
	}
	if len(t.pieces) == 0 {
		t.bytes = t.bytes[:0]
	}
	if h.Last() <= t.safe {
		return
	}
	if off == journal.SegmentHeader {
		off = 0 // the first page came with the first frame
	}
	lo := len(t.bytes)
	t.bytes = append(t.bytes, image[off:end]...)
	t.pieces = append(t.pieces, piece{h.Segment, int64(off), lo, len(t.bytes), h.Last()})
}

// rewrite writes the tail where it was read.
func (t *tail) rewrite(l *Log) error {
	for _, p := range t.pieces {
		for _, f := range l.journal.Files() {
			if !f.Flaw.OK() || f.Info.Number != p.segment {
				continue
			}
			file, err := l.disk.Open(path.Join(l.dir, f.Name), false)
			if err != nil {
				return err
			}
			err = writeAt(file, t.bytes[p.lo:p.hi], p.off)
			if err == nil {
				err = file.Sync()
			}
			if err = errors.Join(err, file.Close()); err != nil {
				return fmt.Errorf("rewrite the end of %s: %w", f.Name, err)
			}
		}
	}
	return nil
}
