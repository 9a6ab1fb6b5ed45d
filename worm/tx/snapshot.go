// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A snapshot is a partition's state in the registers of a segment of its own.
// The owner writes it bucket by bucket while transactions continue. Each key
// has the value of some moment after the Cut, and a takeover redoes the votes
// since the Cut on top, in order. Votes carry images, so redoing a vote twice
// has the same result as once.

const (
	// chunkSize is about the length of a piece of a snapshot, in bytes.
	// chunksMax is the maximum number of pieces.
	chunkSize = 256 << 10
	chunksMax = 1 << 16
	// chunksAhead is the number of pieces that are written or read at a time.
	chunksAhead = 8
)

// snapshotRef locates a snapshot. It is the state that the shard passes to
// Checkpointed.
type snapshotRef struct {
	number uint64
	chunks uint32
}

func (r *snapshotRef) encode() []byte {
	var e encoder
	e.uint(r.number)
	e.uint(uint64(r.chunks))
	return e.b
}

func (r *snapshotRef) decode(b []byte) bool {
	d := &decoder{b: b}
	r.number = d.uint()
	r.chunks = d.u32()
	return d.done() && r.chunks <= chunksMax
}

// snapshot describes a shard's snapshots: the last one, and those to trim when
// the next one is valid.
type snapshot struct {
	// last is the highest number in use. oldest is the lowest snapshot that
	// must not be trimmed yet.
	last, oldest uint64
	// Snapshots below keep are trimmed once the published base has reached
	// base.
	keep, base uint64
	trimming   bool
}

// Checkpoint implements Checkpointer.
func (k *KV) Checkpoint(rm RM) {
	s := k.shards[rm]
	if s == nil || !s.open {
		k.engine.after(k.opt.PingEvery, func() { k.engine.Uncheckpointed(rm) })
		return
	}
	w := &saving{s: s, base: k.engine.Cut(rm)}
	w.allocate(s.snapshot.last + 1)
}

// saving is the writing of a snapshot.
type saving struct {
	s      *shard
	base   uint64
	number uint64
	bucket int
	chunk  encoder
	chunks uint32
	busy   int
	failed bool
}

func (w *saving) segment() wor.Segment { return w.s.kv.engine.StateSegment(w.s.rm, w.number) }

// allocate allocates a segment with an unused number.
func (w *saving) allocate(n uint64) {
	k := w.s.kv
	w.number = n
	m := wor.Meta{
		Owner: k.random.Uint64(), Partition: wor.Partition(n % uint64(k.opt.Engine.Partitions)),
		Protocol: k.opt.Engine.Protocol, Size: chunksMax,
	}
	k.opt.Engine.Space.Alloc(w.segment(), m, 0, func(_ wor.Meta, err error) {
		w.s.snapshot.last = max(w.s.snapshot.last, n)
		switch {
		case !w.s.open:
		case err == nil:
			w.next()
		default:
			// An earlier owner has used this number, perhaps for a snapshot
			// that it did not finish, or the outcome is unknown.
			k.engine.after(k.engine.jitter(k.opt.Engine.ResolveAfter/64), func() { w.allocate(n + 1) })
		}
	})
}

// next encodes and writes pieces, a few at a time.
func (w *saving) next() {
	if !w.s.open || w.failed {
		return
	}
	full := func() {
		if len(w.chunk.b) >= chunkSize {
			w.write()
		}
	}
	for w.busy < chunksAhead && w.bucket <= bucketCount {
		if w.bucket < bucketCount {
			w.s.state.saveBucket(w.bucket, &w.chunk, full)
		} else {
			w.s.state.saveRest(&w.chunk, full)
			if len(w.chunk.b) > 0 {
				w.write()
			}
		}
		w.bucket++
	}
	if w.busy == 0 && w.bucket > bucketCount {
		w.finish()
	}
}

// write writes a piece. Only this process writes this segment, and it writes
// each register once.
func (w *saving) write() {
	k, b, n := w.s.kv, w.chunk.b, w.chunks
	w.chunk = encoder{}
	w.chunks++
	if w.chunks > chunksMax {
		w.fail()
		return
	}
	w.busy++
	var try func()
	try = func() {
		k.opt.Engine.Space.WriteUnsafe(wor.Addr{Segment: w.segment(), Offset: n}, b, 0, func(err error) {
			switch {
			case !w.s.open || w.failed:
			case err == nil:
				w.busy--
				w.next()
			case errors.Is(err, wor.ErrTrimmed), errors.Is(err, wor.ErrWritten), errors.Is(err, wor.ErrLimit):
				w.fail()
			default:
				k.engine.after(k.engine.jitter(k.opt.Engine.ResolveAfter/4), try)
			}
		})
	}
	try()
}

func (w *saving) fail() {
	w.failed = true
	w.s.kv.engine.Uncheckpointed(w.s.rm)
}

func (w *saving) finish() {
	s := w.s
	w.failed = true // nothing follows
	ref := snapshotRef{w.number, w.chunks}
	s.snapshot.keep, s.snapshot.base = w.number, w.base
	s.kv.engine.Checkpointed(s.rm, w.base, ref.encode())
}

// load reads the snapshot that a takeover has found.
func (s *shard) load(b []byte, done func(error)) {
	if len(b) == 0 {
		done(nil)
		return
	}
	var ref snapshotRef
	if !ref.decode(b) {
		done(errGarbled)
		return
	}
	s.snapshot.last, s.snapshot.oldest = ref.number, ref.number
	k := s.kv
	id := k.engine.StateSegment(s.rm, ref.number)
	var read func(lo uint32)
	read = func(lo uint32) {
		if lo >= ref.chunks {
			done(nil)
			return
		}
		r := wor.Range{Segment: id, Lo: lo, Hi: min(lo+chunksAhead, ref.chunks)}
		k.opt.Engine.Space.ReadRange(r, 0, func(cells []wor.Cell, err error) {
			for i := range cells {
				if err == nil {
					err = cells[i].Err
				}
				if err == nil && !s.state.load(cells[i].Value) {
					err = errGarbled
				}
			}
			if err != nil {
				done(err)
				return
			}
			read(r.Hi)
		})
	}
	read(0)
}

// sweep trims snapshots that no takeover can need any more.
func (k *KV) sweep() {
	for rm, s := range k.shards {
		if s == nil || !s.open || s.snapshot.trimming {
			continue
		}
		x := &s.snapshot
		if x.oldest < x.keep && k.engine.Published(RM(rm)) >= x.base {
			x.trimming = true
			n := x.oldest
			k.opt.Engine.Space.Trim(k.engine.StateSegment(RM(rm), n), 0, func(err error) {
				x.trimming = false
				if err == nil || errors.Is(err, wor.ErrTrimmed) || errors.Is(err, wor.ErrUnallocated) {
					x.oldest = max(x.oldest, n+1)
				}
			})
		}
	}
}

// sortedKeys are the keys of a map, in order.
func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
