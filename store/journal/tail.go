package journal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/store/message"
)

// tailFrame is a frame that Replay has given and no header calls durable.
type tailFrame struct {
	slot     *slot
	off, end int64
	sum      uint32
	last     message.Seq
}

// The sync of an earlier life may have failed, and the machine may take for clean
// what that has not written: then this life reads it, syncs it in vain, and
// acknowledges what comes behind it; a loss of power takes all of that. So the
// first Begin or Sync writes the tail once more. The bytes are the same: a crash meanwhile
// does no harm.

// tail adds a frame, image[off:end], and forgets those that are durable.
func (r *replay) tail(s *slot, h Header, image []byte, off, end int) {
	r.safe = max(r.safe, h.Durable)
	for len(r.frames) > 0 && r.frames[0].last <= r.safe {
		r.frames = r.frames[1:]
	}
	if h.Last() <= r.safe {
		return
	}
	if off == SegmentHeader {
		off = 0 // the first page was written with the first frame
	}
	r.frames = append(r.frames, tailFrame{s, int64(off), int64(end), crc32.Checksum(image[off:end], castagnoli()), h.Last()})
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// rewrite writes the tail again where it stands. It is called with mu held, before
// there is a Segment that could be using the buffer: by the first Begin or Sync.
func (l *Log) rewrite() error {
	for _, f := range l.tail {
		if f.slot.state != live { // it is retired, so that nobody counts on it
			continue
		}
		if err := l.rewriteFrame(f); err != nil {
			return fmt.Errorf("write %s again, from %d to %d: %w", f.slot.name, f.off, f.end, err)
		}
	}
	l.tail = nil
	return nil
}

// errTail says that a file has no longer what was recovered from it: it was in a
// cache only, and is gone.
var errTail = errors.New("what was recovered from there is not there any more")

func (l *Log) rewriteFrame(f tailFrame) error {
	var sum uint32
	b := l.opt.Buffer
	l.zeroed = false
	invariant.Check((f.end-f.off)%PageSize == 0, "a frame of %d bytes", f.end-f.off)
	for off := f.off; off < f.end; {
		piece := b[:min(int64(len(b)), f.end-off)]
		if _, err := f.slot.file.ReadAt(piece, off); err != nil && err != io.EOF {
			return err
		}
		sum = crc32.Update(sum, castagnoli(), piece)
		if err := writeAt(f.slot, piece, off); err != nil {
			return err
		}
		off += int64(len(piece))
	}
	if sum != f.sum {
		return errTail
	}
	return nil
}
