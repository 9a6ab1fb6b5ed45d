// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

const (
	// prefetchLeast is the first read of more than one block, in bytes.
	prefetchLeast = 32 << 10
	// cachedWindows is how many reads of a walk go to the cache: short scans
	// over what is asked for often find it there, and long ones pass by.
	cachedWindows = 2
	// flightLeast is from which length on a read is begun before it is needed.
	flightLeast = 256 << 10
)

// IterOptions are how an Iterator walks. Lo and Hi must stay as they are until
// Close.
type IterOptions struct {
	// Cache, which may be nil, is asked for each block. Blocks that are read
	// singly, and those of the first reads of a walk, are added to it; blocks that
	// are read further ahead are not, so that a scan does not evict blocks in
	// frequent use.
	Cache Cache
	// Prefetch is how many bytes are read at once at most when walking forward;
	// below 32 KiB: one block.
	Prefetch int
	// Eager reads 32 KiB at once where a walk begins, instead of one block: for
	// branches of which a short walk needs several blocks.
	Eager bool
	// Go, which may be nil, runs a task beside the caller: then long reads ahead
	// are begun while the blocks before them are walked over, and take twice
	// the memory.
	Go func(task func())
	// Lo and Hi bound the keys, Hi excluded; nil is open. Nothing is read that
	// is wholly outside.
	Lo, Hi []byte
}

// Iterator walks over the messages of a branch. Forward it reads one block,
// then twice 32 KiB, then twice as much each time; without a Cache, or Eager,
// 32 KiB at once.
// Backward it reads block by block. When the pool has no memory for more, it
// reads less at once. After an error it is nowhere and stays so.
type Iterator struct {
	x *Index
	o IterOptions

	first, last int     // blocks within the bounds; last < first: none
	bounded     bool    // they are set, which may need a read
	fences      *fences // that lead to blk
	cur         int     // block that blk is; -1: none
	blk         block.Block
	from, to    int // messages of blk within the bounds
	i           int
	m           message.Message
	key         []byte // of m; begins with the block's prefix
	err         error

	scratch     Scratch
	window      []byte // as allocated
	ahead, upto int    // blocks that lie in the window
	aheadAt     uint32 // the page of the first
	windows     int    // reads ahead so far
	flight      *flight
	spare       []byte // the window before, for the next flight
	expect      int    // the block behind the last one: going there is walking on
}

var _ message.Iter = (*Iterator)(nil)

// Iter returns an iterator over the branch, which must not be closed before.
func (x *Index) Iter(o IterOptions) message.Iter {
	it := new(Iterator)
	it.Reset(x, o)
	return it
}

// Reset makes it an iterator over x, as if new. It is for an Iterator that is
// new or was closed: one can be used again without allocating.
func (it *Iterator) Reset(x *Index, o IterOptions) {
	*it = Iterator{x: x, o: o, cur: -1, expect: -1, key: it.key[:0], first: 0, last: x.n - 1}
}

// bound finds the blocks within the bounds. After an error there are none.
func (it *Iterator) bound() bool {
	if it.bounded || it.err != nil {
		return it.err == nil
	}
	x, o := it.x, &it.o
	if o.Lo != nil {
		var b int
		if b, it.err = x.seek(o.Lo, o.Cache, &it.scratch); it.err == nil {
			it.first = max(b, 0)
		}
	}
	if o.Hi != nil && it.err == nil {
		it.last, it.err = x.seekBelow(o.Hi, o.Cache, &it.scratch)
	}
	if it.err != nil || o.Lo != nil && o.Hi != nil && bytes.Compare(o.Lo, o.Hi) >= 0 {
		it.last = it.first - 1
	}
	it.bounded = true
	return it.err == nil
}

// seek is the block that may hold key first, or with below, the last with a key below it.
func (it *Iterator) seek(key []byte, below bool) (b int, ok bool) {
	if !it.bound() {
		return 0, it.nowhere()
	}
	if below {
		b, it.err = it.x.seekBelow(key, it.o.Cache, &it.scratch)
	} else {
		b, it.err = it.x.seek(key, it.o.Cache, &it.scratch)
	}
	if it.err != nil {
		return 0, it.nowhere()
	}
	return b, true
}

// Close gives the memory back.
func (it *Iterator) Close() {
	it.land()
	it.scratch.Close()
	for _, b := range []*[]byte{&it.window, &it.spare} {
		if *b != nil {
			it.x.pool.Free(*b)
			*b = nil
		}
	}
	it.blk, it.m = block.Block{}, message.Message{}
}

// Err is why the last move answered false, if not for the end.
func (it *Iterator) Err() error { return it.err }

// Message is the message it is on. It is valid until the next move.
func (it *Iterator) Message() message.Message { return it.m }

// First moves to the first message.
func (it *Iterator) First() bool {
	return it.bound() && it.enter(it.first, true) && it.settleForward(it.from)
}

// Last moves to the last message.
func (it *Iterator) Last() bool {
	return it.bound() && it.enter(it.last, false) && it.settleBackward(it.to-1)
}

// SeekGE moves to the first message with a key at or above key.
func (it *Iterator) SeekGE(key []byte) bool {
	b, ok := it.seek(key, false)
	if !ok || !it.enter(max(b, it.first), true) {
		return false
	}
	return it.settleForward(max(it.blk.Seek(key), it.from))
}

// SeekLT moves to the last message with a key below key.
func (it *Iterator) SeekLT(key []byte) bool {
	b, ok := it.seek(key, true)
	if !ok || !it.enter(min(b, it.last), false) {
		return false
	}
	return it.settleBackward(min(it.blk.Seek(key), it.to) - 1)
}

// Next moves to the next message.
func (it *Iterator) Next() bool {
	if it.i++; it.i < it.to {
		it.set()
		return true
	}
	return it.cur >= 0 && it.settleForward(it.i)
}

// Prev moves to the message before.
func (it *Iterator) Prev() bool {
	if it.i--; it.i >= it.from {
		it.set()
		return true
	}
	return it.cur >= 0 && it.settleBackward(it.i)
}

// settleForward is on message i of the block, or on the first one behind.
func (it *Iterator) settleForward(i int) bool {
	for i >= it.to {
		if !it.enter(it.cur+1, true) {
			return false
		}
		i = it.from
	}
	it.i = i
	it.set()
	return true
}

// settleBackward is on message i of the block, or on the last one before.
func (it *Iterator) settleBackward(i int) bool {
	for i < it.from {
		if !it.enter(it.cur-1, false) {
			return false
		}
		i = it.to - 1
	}
	it.i = i
	it.set()
	return true
}

// set makes m of message i.
func (it *Iterator) set() {
	it.key = append(it.key[:len(it.blk.Prefix())], it.blk.Suffix(it.i)...)
	it.m.Key, it.m.Value = it.key, it.blk.Value(it.i)
	it.m.Seq, it.m.Kind = it.blk.Tag(it.i)
}

// nowhere leaves the iterator without a message.
func (it *Iterator) nowhere() bool {
	it.cur, it.i, it.from, it.to = -1, 0, 0, 0
	it.m = message.Message{}
	return false
}

// enter makes b the current block.
func (it *Iterator) enter(b int, forward bool) bool {
	if it.err != nil || b < it.first || b > it.last {
		return it.nowhere()
	}
	if b == it.cur {
		return true
	}
	blk, err := block.Block{}, error(nil)
	if it.fences, err = it.x.holding(b, it.o.Cache, &it.scratch); err == nil {
		blk, err = it.load(b, forward)
	}
	if err != nil {
		it.err = err
		return it.nowhere()
	}
	it.blk, it.cur = blk, b
	it.key = append(it.key[:0], blk.Prefix()...)
	it.from, it.to = 0, blk.Len()
	if b == it.first && it.o.Lo != nil {
		it.from = it.blk.Seek(it.o.Lo)
	}
	if b == it.last && it.o.Hi != nil {
		it.to = it.blk.Seek(it.o.Hi)
	}
	return true
}

// load opens block b: from the window, from the cache, or from the file,
// together with those behind it when the walk goes on forward.
func (it *Iterator) load(b int, forward bool) (block.Block, error) {
	x := it.x
	on := forward && (b == it.expect || it.o.Cache == nil || it.o.Eager)
	it.expect = b + 1
	if b >= it.ahead && b < it.upto {
		return it.fromWindow(b)
	}
	if it.o.Cache != nil {
		if blk, ok, err := x.fromCache(it.fences, b, it.o.Cache, &it.scratch); ok || err != nil {
			return blk, err
		}
	}
	if on && it.o.Prefetch >= prefetchLeast {
		done, err := it.readAhead(b)
		if err != nil {
			return block.Block{}, err
		}
		if done {
			return it.fromWindow(b)
		}
	}
	return x.fetch(it.fences, b, it.o.Cache, &it.scratch)
}

// flight is a read ahead that was begun before it is needed.
type flight struct {
	buf         []byte
	first, upto int // blocks
	done        chan struct{}
	// Set when done is closed: what readFull has answered.
	found string
	err   error
}

// land waits for the flight, if there is one, and answers it.
func (it *Iterator) land() *flight {
	f := it.flight
	if f != nil {
		<-f.done
		it.flight, it.spare = nil, f.buf
	}
	return f
}

// launch begins to read the blocks behind the window.
func (it *Iterator) launch() {
	if it.o.Go == nil || it.want() < flightLeast || it.upto > it.last || !it.fences.has(it.upto) {
		return
	}
	upto, n := it.stretch(it.upto)
	if upto <= it.upto+1 || !it.widen(&it.spare, n) {
		return
	}
	f := &flight{buf: it.spare, first: it.upto, upto: upto, done: make(chan struct{})}
	it.flight, it.spare = f, nil
	file, addr := it.x.file, it.fences.run(f.first).Addr()
	it.o.Go(func() {
		f.found, f.err = readFull(file, f.buf[:n], addr)
		close(f.done)
	})
}

// want is how many bytes the next read ahead is to have.
func (it *Iterator) want() int {
	size := prefetchLeast
	for i := 1; i < it.windows && size < it.o.Prefetch; i++ {
		size *= 2
	}
	return min(size, it.o.Prefetch)
}

// stretch is the blocks from b up to upto that follow each other in the file,
// within what the next read ahead is to have, and their length. It ends where
// the fences at hand do.
func (it *Iterator) stretch(b int) (upto, bytes int) {
	f, want := it.fences, int64(it.want())
	start := f.run(b)
	upto, end := b, uint64(start.Page)
	for upto <= it.last && f.has(upto) {
		r := f.run(upto)
		if uint64(r.Page) != end || int64(r.End()-uint64(start.Page))*block.PageSize > want {
			break
		}
		upto, end = upto+1, r.End()
	}
	return upto, int(end-uint64(start.Page)) * block.PageSize
}

// readAhead makes the blocks from b on the window, in one read; false: the
// memory or the file does not give more than one.
func (it *Iterator) readAhead(b int) (bool, error) {
	if f := it.land(); f != nil && f.first == b && f.err == nil && f.found == "" {
		it.window, it.spare = f.buf, it.window
		it.ahead, it.upto, it.aheadAt = b, f.upto, it.fences.run(b).Page
		it.windows++
		it.launch()
		return true, nil
	}
	upto, n := it.stretch(b)
	if upto <= b+1 {
		return false, nil
	}
	it.ahead, it.upto = 0, 0
	if !it.widen(&it.window, n) {
		return false, nil
	}
	found, err := readFull(it.x.file, it.window[:n], it.fences.run(b).Addr())
	if err != nil {
		return false, fmt.Errorf("branch %d, blocks %d to %d: %w", it.x.id, b, upto-1, err)
	}
	if found != "" {
		// Reading the block alone finds out which one is missing.
		return false, nil
	}
	it.ahead, it.upto, it.aheadAt = b, upto, it.fences.run(b).Page
	it.windows++
	it.launch()
	return true, nil
}

// widen makes a buffer at least n bytes long, as long as the next read is to be
// if there is memory.
func (it *Iterator) widen(buf *[]byte, n int) bool {
	if len(*buf) >= n {
		return true
	}
	if *buf != nil {
		it.x.pool.Free(*buf)
		*buf = nil
	}
	for _, size := range [2]int{it.want(), n} {
		if b, ok := it.x.pool.Try(size); ok {
			*buf = b
			return true
		}
	}
	it.windows = 0
	return false
}

// fromWindow opens block b, which is in the window.
func (it *Iterator) fromWindow(b int) (block.Block, error) {
	x := it.x
	r := it.fences.run(b)
	at := int(r.Page-it.aheadAt) * block.PageSize
	if it.fences.span(b)&spanPacked != 0 && !it.scratch.resize(x.pool, block.MaxBytes, 0) {
		return block.Block{}, ErrMemory
	}
	blk, err := x.open(it.fences, b, it.window[at:at+int(r.Bytes())], &it.scratch)
	if err == nil && it.o.Cache != nil && it.windows <= cachedWindows && len(blk.Image()) <= block.MaxBytes {
		it.o.Cache.PutBlock(x.id, uint32(b), blk.Image())
	}
	return blk, err
}
