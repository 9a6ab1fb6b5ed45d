package journal

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/store/message"
)

const readUnit = 1 << 20

// Loader gives the memory for a segment: an image of size bytes at least, into
// which the segment is read, and a function that is told of each frame in
// image[off:end], padding included; its messages are at off+HeaderSize to
// off+h.Len. An error of either ends the replay. It may be that no frame
// follows. What is behind the last frame in the image is zero when the replay
// has ended, if it was before.
type Loader func(info SegmentInfo, size int) (image []byte, frame func(h Header, off, end int) error, err error)

// Replay reads the segments that continue the chain, oldest first, and answers
// what the next frame must continue. It writes nothing. The chain is that of a
// superblock, which must be durable before Begin is called: files of segments
// below chain.Segment are written over from then on.
//
// What was read is not durable by that, since the life that has written it may
// have ended without the machine: the first Sync sees to it. Until then no
// Durable may speak of it.
//
// With a *Corrupt the answer is the chain up to there, and nothing can be begun.
// A repair takes what was read, makes a superblock durable whose tree has it,
// and calls Remove.
func (l *Log) Replay(chain ChainState, load Loader) (ChainState, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return chain, l.err
	}
	invariant.Check(!l.replayed, "a journal is replayed twice")
	r := replay{log: l, scan: NewScanner(l.opt.Store, chain), load: load, from: chain.Segment}
	err := r.run()
	end := r.scan.Chain()
	for _, s := range l.slots {
		if s.flaw.OK() {
			end.Segment = max(end.Segment, s.info.Number+1)
		}
	}
	l.replayed, l.next = err == nil, end.Segment
	return end, err
}

// replay is the state of one Replay.
type replay struct {
	log  *Log
	scan Scanner
	load Loader
	from uint64
	// last is the file of the last frame, and end where it ends.
	last *slot
	end  int64
	// blame is where the chain stopped.
	blame *slot
	at    int64
	flaw  Flaw
}

func (r *replay) run() error {
	slots := slices.Clone(r.log.slots)
	slices.SortStableFunc(slots, func(a, b *slot) int { return cmp.Compare(a.info.Number, b.info.Number) })
	for _, s := range slots {
		switch {
		case !s.flaw.OK() || s.info.Number < r.from:
			s.state = spare
			continue
		case !r.scan.Enter(s.info, int(min(s.size, int64(s.info.Size)))&^(PageSize-1)).OK():
			s.state = dead
			continue
		}
		if err := r.walk(s); err != nil {
			return fmt.Errorf("read journal segment %d in %s: %w", s.info.Number, s.name, err)
		}
	}
	return r.cross(slots)
}

// walk reads a segment as far as it continues the chain.
func (r *replay) walk(s *slot) error {
	size := r.scan.size
	image, frame, err := r.load(s.info, size)
	if err != nil {
		return err
	}
	invariant.Check(len(image) >= size, "memory of %d bytes for a segment of %d", len(image), size)
	s.state = dead
	have, end := 0, 0
	for {
		step := r.scan.Step(image[:have])
		switch step.Kind {
		case More:
			upTo := min(max(step.End, have+readUnit), size)
			n, err := s.file.ReadAt(image[have:upTo], int64(have))
			if err == io.EOF {
				clear(image[have+n : upTo])
			} else if err != nil {
				return err
			}
			have = upTo
		case Next:
			if err := frame(step.Header, step.Off, step.End); err != nil {
				return err
			}
			s.state, s.unsynced = live, true
			end = step.End
			r.last, r.end = s, int64(end)
		case Stop:
			clear(image[end:have])
			r.blame, r.at, r.flaw = s, int64(step.Off), step.Flaw
			return nil
		}
	}
}

// cross asks all that recovery may look at whether the end of the chain was
// synced once.
func (r *replay) cross(slots []*slot) error {
	for _, s := range slots {
		switch {
		case s.flaw.OK() && s.info.Number < r.from, s.state == live && s != r.last:
			continue
		}
		off := int64(SegmentHeader)
		if s == r.last {
			off = r.end
		}
		h, at, found, err := r.witness(s, off, r.scan.Chain().Next)
		if err != nil {
			return fmt.Errorf("read %s: %w", s.name, err)
		}
		if found {
			return r.corrupt(s, at, h)
		}
	}
	return nil
}

// witness looks for one in a file from an offset on.
func (r *replay) witness(s *slot, off int64, missing message.Seq) (Header, int64, bool, error) {
	b := r.log.opt.Buffer
	for ; off+PageSize <= s.size; off += int64(len(b)) {
		n, err := s.file.ReadAt(b[:min(int64(len(b)), s.size-off)&^(PageSize-1)], off)
		if err != nil && err != io.EOF {
			return Header{}, 0, false, err
		}
		if h, at, found := Witness(r.log.opt.Store, b[:n&^(PageSize-1)], int(off), missing); found {
			return h, off + int64(at), true, nil
		}
	}
	return Header{}, 0, false, nil
}

// corrupt is the error for what the witness h in s has seen.
func (r *replay) corrupt(s *slot, at int64, h Header) error {
	c := &Corrupt{Segment: r.from, Missing: r.scan.Chain().Next, Want: "a segment", Found: "none",
		Witness: s.name, WitnessOffset: at, Durable: h.Durable}
	switch {
	case !s.flaw.OK():
		c.Segment, c.File, c.Want, c.Found = h.Segment, s.name, s.flaw.Want(), s.flaw.Found()
	case r.blame != nil:
		c.Segment, c.File, c.Offset = r.blame.info.Number, r.blame.name, r.at
		c.Want, c.Found = r.flaw.Want(), r.flaw.Found()
	}
	return c
}

