// SPDX-License-Identifier: Apache-2.0

package check

import (
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/check/fpset"
)

// segment is the part of a level that is being explored. Workers take its chunks in
// order. The list of chunks changes only while the segment is closed. While it is
// open, a chunk belongs to the worker that took it; the counters may be used from
// any goroutine.
type segment struct {
	chunks []chunk
	share  int64        // the bytes that a worker may find before the segment is full
	taken  atomic.Int64 // chunks given out
	last   atomic.Int64 // no chunk after this one is needed
	full   atomic.Bool  // the segment ends with the chunks taken so far
	open   atomic.Bool  // workers explore it
}

// chunk is a part of a segment with the results of its exploration.
type chunk struct {
	// The states, their number, the first one's number, and where in the level they
	// end.
	data   []byte
	size   int
	number uint32
	end    position

	done      bool
	worker    int
	mark      fpset.Mark
	from, to  int // in the worker's candidates
	counts    []int64
	expanded  int
	violation *violation
	notes     []*violation

	// The states that the chunk owns in the end: their number by action and in
	// all, the first of them among the worker's candidates, the parent of the
	// last, and their bytes in the worker's records and states.
	kept            []int64
	found, first    int
	lastParent      uint32
	records, states [2]int
}

// reset empties the chunk.
func (c *chunk) reset() { *c = chunk{counts: c.counts[:0], kept: c.kept[:0]} }

const (
	// chunkStatesMax bounds how many states a worker takes at once:
	// neighbouring states have many successors in common, which one worker
	// finds in its cache.
	chunkStatesMax = 512
	// A segment has at most chunksMin chunks, so that the marks suffice for two of
	// them, or chunksEach for each worker, if that is more.
	chunksMin, chunksEach = fpset.PiecesMax / 2, 8
)

// chunksMax is the maximum number of chunks of a segment.
func chunksMax(workers int) int {
	return min(fpset.PiecesMax, max(chunksMin, chunksEach*workers))
}

// clear removes the chunks.
func (g *segment) clear() { g.chunks = g.chunks[:0] }

// add adds an empty chunk.
func (g *segment) add() *chunk {
	if len(g.chunks) < cap(g.chunks) {
		g.chunks = g.chunks[:len(g.chunks)+1]
	} else {
		g.chunks = append(g.chunks, chunk{})
	}
	c := &g.chunks[len(g.chunks)-1]
	c.reset()
	return c
}

// size is the number of chunks, and chunk returns one of them.
func (g *segment) size() int            { return len(g.chunks) }
func (g *segment) chunk(k int64) *chunk { return &g.chunks[k] }

// begin makes the chunks available to workers.
func (g *segment) begin() {
	g.taken.Store(0)
	g.last.Store(int64(len(g.chunks)))
	g.full.Store(false)
}

// explore has every worker call do, and returns when all have.
func (g *segment) explore(workers []*worker, do func(*worker)) {
	g.open.Store(true)
	inParallel(workers, do)
	g.open.Store(false)
}

// inParallel has every worker do something, and returns when all are done.
func inParallel(workers []*worker, do func(*worker)) {
	var wg sync.WaitGroup
	for _, w := range workers[1:] {
		wg.Go(func() { do(w) })
	}
	do(workers[0])
	wg.Wait()
}

// closed reports whether no worker explores the segment.
func (g *segment) closed() bool { return !g.open.Load() }

// take hands out the next chunk as long as one is needed.
func (g *segment) take() (k int64, ok bool) {
	if g.full.Load() {
		return 0, false
	}
	k = g.taken.Add(1) - 1
	return k, k < int64(len(g.chunks)) && g.needs(k)
}

// needs reports whether no chunk before k has ended the search.
func (g *segment) needs(k int64) bool { return k <= g.last.Load() }

// endWith makes k the last chunk that is needed, unless an earlier one already
// is.
func (g *segment) endWith(k int64) {
	for {
		was := g.last.Load()
		if k >= was || g.last.CompareAndSwap(was, k) {
			return
		}
	}
}

// allow sets how many bytes a worker may find or read, and allowed returns that.
func (g *segment) allow(bytes int64) { g.share = bytes }
func (g *segment) allowed() int64    { return g.share }

// tooMuch reports whether the given number of bytes is more than a worker may find
// or read, and fill ends the segment with the chunks taken so far, at their current
// states.
func (g *segment) tooMuch(bytes int64) bool { return bytes > g.share }

func (g *segment) fill(bytes int64) {
	if g.tooMuch(bytes) {
		g.full.Store(true)
	}
}
