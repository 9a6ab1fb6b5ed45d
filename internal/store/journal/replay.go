// SPDX-License-Identifier: Apache-2.0

package journal

// Where the log ends, and how replay knows whether frames after that end were lost.
//
// A crash leaves any subset of the sectors that were not synced. So a frame that does
// not continue the chain is not by itself a sign of damage. Let M be the first message
// that is missing because of it.
//
// # A witness is proof
//
// Call a message safe once it is on stable storage: in a synced frame all of
// whose predecessors are synced, or in the tree of a durable superblock. A
// header calls only safe messages durable (Header.Durable). A safe message
// stays safe: every later life recovers it or refuses to open, and the segment
// that has it is retired only when the tree of a durable superblock has the
// message. So if any header that this store has ever sealed calls M durable,
// and M is neither in the tree nor in the chain, then something that was on
// stable storage is gone, which a crash cannot cause.
//
// The argument requires only that this store has sealed the header, the witness. It
// does not matter whether the frame is whole, in the chain, of this session, of an
// abandoned earlier life, or left in a file from an earlier use: the header was true
// when it was sealed, and stays true. A frame from an earlier use calls lower messages
// durable, which the tree has. An abandoned frame calls messages durable that were
// safe in its life, and these are recovered before any later life uses the numbers
// above them. The checksum of the header shows that this store has sealed it: its seed
// is the store's identity and the page. So bytes that a user has stored, even a copy of
// a journal, do not pass, unless they are a header of this store for this very page,
// and then they are true.
//
// # When there is no witness
//
// A frame sealed after the Sync that made X safe calls X durable. So the loss of
// X is reported if the header of one such frame is left. If none was sealed, or
// none is left, nothing in the journal distinguishes the loss of X from a Sync that
// never finished: this is the case for the frames of the very last Sync. For them the
// caller may keep a witness elsewhere (Options.Witness), which it writes after the
// Sync has returned and need not sync: one that a crash has kept is true by the
// argument above, and one that is lost proves nothing. Without a witness the log ends
// before X, and the recovered messages are still a prefix of those that were sealed.
//
// If the first page of a file is sound and names a segment below the superblock's,
// replay reads only the first frame of the file. If that frame is of a later segment,
// the segment was begun in the file and its first page is missing: it was never synced,
// and then nothing in the segment was, or the disk has lost it. Then replay looks for
// witnesses in the file.
//
// # An abandoned segment stays abandoned
//
// Sessions. A life begins a new segment, with a number above all that it has
// seen, and a start as its first frame; all frames of a segment have the session
// of its first page. So a frame of another life is never taken for one of this
// segment, even if it is in the right place with the right numbers: for example, a
// life may have written the same as the previous one, and crashed; then frames of both
// may be left in one file.
//
// Order. Segments are tried in the order of their numbers. A segment that a life
// has found and abandoned has a lower number than those of later lives, so it is
// never tried after them. It was abandoned because its first frame was broken or was
// not the next one. A broken frame stays broken as long as no life writes to the file.
// A frame that was not the next one stays so: the first frame that was recovered
// in its place has the same First and a higher number, and segments that are tried
// later have a higher First.
//
// Files. A new segment in a file overwrites an old one, and a crash may keep any
// sectors of both, in the first page and in the frames:
//   - The old segment is retired: its number is below the superblock's. With the
//     old first page replay ignores its frames; with the new one the old frames
//     have the wrong number and session.
//   - The old segment is dead: it was abandoned, and its number is not below. Its broken
//     first frame could become whole: if it lacks a sector, the new frame may
//     have the same bytes there. With the old first page, that would bring the
//     abandoned segment back. So Begin writes and syncs the new first page before
//     anything else is written; then old frames have the wrong session.
//   - The first page is invalid. A crash can only turn it into the new one: everything
//     that counts in it is in one sector.
//   - The file is new. Its name, its size, its first page and its frames may be
//     there or not; without a first page it has no segment, with one it has as
//     many frames as continue the chain.
// In each case nothing of the new segment was acknowledged, because Sync answers
// after the frames, the first page and the name are durable.
//
// # Recovery writes nothing
//
// So the frames that it has read may be only in the machine's cache, if the process of
// the previous life ended without a crash of the machine. Therefore the first Sync of a
// life syncs all live files, and their names. Otherwise, frames of this life could be
// acknowledged and survive a crash that loses the frames before them.

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

const readUnit = 1 << 20

// Loader gives the memory for a segment: an image of size bytes at least, into
// which the segment is read, and a function that is called for each frame in
// image[off:end], padding included; its messages are at off+HeaderSize to
// off+h.Len. An error of either ends the replay. Possibly no frame
// follows. When the replay has ended, the image is zero after the last frame,
// if it was before.
type Loader func(info SegmentInfo, size int) (image []byte, frame func(h Header, off, end int) error, err error)

// Replay reads the segments that continue the chain, oldest first, and returns
// the state that the next frame must continue. It writes nothing. The chain is
// that of a superblock, which must be durable before Begin is called: from then
// on files of segments below chain.Segment are overwritten.
//
// Reading does not make the data durable, because the process that wrote them
// may have ended without a sync while the machine went on: the first Sync makes
// them durable. Until then no Durable may include them.
//
// With a *Corrupt, Replay returns the chain up to the damage, and Begin must not
// be called. A repair takes the messages that were read, makes a superblock
// durable whose tree has them, and calls Remove.
func (l *Log) Replay(chain ChainState, load Loader) (ChainState, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return chain, l.err
	}
	invariant.Check(!l.replayed, "journal: replayed twice")
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
	if size < SegmentHeader+PageSize {
		// The file has its first page and did not become as long as it was to
		// be. No memory is asked for what holds no frame.
		step := r.scan.Step(nil)
		s.state = dead
		r.blame, r.at, r.flaw = s, int64(step.Off), step.Flaw
		return nil
	}
	image, frame, err := r.load(s.info, size)
	if err != nil {
		return err
	}
	invariant.Check(len(image) >= size, "journal: memory of %d bytes for a segment of %d bytes", len(image), size)
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
		if s.state == live && s != r.last {
			continue
		}
		if s.flaw.OK() && s.info.Number < r.from {
			later, err := r.beheaded(s)
			if err != nil {
				return fmt.Errorf("read %s: %w", s.name, err)
			}
			if !later {
				continue
			}
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
			return r.corrupt(slots, Testimony{File: s.name, Offset: at, Durable: h.Durable})
		}
	}
	if w := r.log.opt.Witness; w.Durable >= r.scan.Chain().Next {
		return r.corrupt(slots, w)
	}
	return nil
}

// beheaded says whether a file has the first frame of a later segment than its
// first page names.
func (r *replay) beheaded(s *slot) (bool, error) {
	b := r.log.opt.Buffer[:PageSize]
	if s.size < SegmentHeader+PageSize {
		return false, nil
	}
	if n, err := s.file.ReadAt(b, SegmentHeader); err != nil && (err != io.EOF || n < len(b)) {
		return false, err
	}
	h, flaw := readHeader(b, r.log.opt.Store, SegmentHeader)
	return flaw.OK() && h.Segment > s.info.Number, nil
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

// corrupt is the error for a loss that a witness proves.
func (r *replay) corrupt(slots []*slot, w Testimony) error {
	c := &Corrupt{Segment: r.from, Missing: r.scan.Chain().Next, Want: "a segment", Found: "none", Witness: w}
	if r.blame != nil {
		c.Segment, c.File, c.Offset = r.blame.info.Number, r.blame.name, r.at
		c.Want, c.Found = r.flaw.Want(), r.flaw.Found()
	}
	for _, s := range slots {
		if s.flaw.OK() {
			continue
		}
		first, found, err := r.headless(s)
		if err != nil {
			return fmt.Errorf("read %s: %w", s.name, err)
		}
		if found {
			c.Segment, c.File, c.Offset, c.Want, c.Found = first.Segment, s.name, 0, s.flaw.Want(), s.flaw.Found()
		}
	}
	return c
}

// headless returns the first frame of a segment whose first page is broken, if
// it continues the chain.
func (r *replay) headless(s *slot) (Header, bool, error) {
	b := r.log.opt.Buffer[:PageSize]
	if s.size < SegmentHeader+PageSize {
		return Header{}, false, nil
	}
	if n, err := s.file.ReadAt(b, SegmentHeader); err != nil && (err != io.EOF || n < len(b)) {
		return Header{}, false, err
	}
	h, flaw := readHeader(b, r.log.opt.Store, SegmentHeader)
	if chain := r.scan.Chain(); !flaw.OK() || h.First != chain.Next || h.Prev != chain.Prev {
		return Header{}, false, nil
	}
	return h, true, nil
}
