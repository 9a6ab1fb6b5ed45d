package memtable

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/store/message"
	"github.com/ashlar-dev/ashlar/store/slab"
)

// Range deletes stand in a list in the order of their numbers. Each has the
// first 8 bytes of both ends in the list itself, so that looking for the one
// that covers a key reads the arena only for those that are likely to.
//
// Readers take a list and then its length; the writer fills an item before it
// raises the length, and a longer list before it publishes that. As with the
// index, old lists are kept until Close.

const (
	tombWords   = 3 // the lower end, the upper end, the place of the entry
	tombListMin = 16
)

type tombItems struct {
	words []uint64
	n     atomic.Int64
}

type tombList struct {
	now atomic.Pointer[tombItems] // nil: none yet
	mem [][]byte
}

func (l *tombList) len() int {
	if now := l.now.Load(); now != nil {
		return int(now.n.Load())
	}
	return 0
}

func (l *tombList) close(pool *slab.Pool) {
	l.now.Store(nil)
	for _, m := range l.mem {
		pool.Free(m)
	}
	l.mem = nil
}

// room makes room for n more.
func (l *tombList) room(n int, pool *slab.Pool) bool {
	have, capacity := 0, 0
	now := l.now.Load()
	if now != nil {
		have, capacity = int(now.n.Load()), len(now.words)/tombWords
	}
	if have+n <= capacity {
		return true
	}
	capacity = max(2*capacity, tombListMin)
	for have+n > capacity {
		capacity *= 2
	}
	mem, ok := pool.Alloc(capacity * tombWords * 8)
	if !ok {
		return false
	}
	next := &tombItems{words: slab.Uint64s(mem)}
	if now != nil {
		copy(next.words, now.words[:have*tombWords])
		next.n.Store(int64(have))
	}
	l.mem = append(l.mem, mem)
	l.now.Store(next)
	return true
}

// add appends the entry at p; room said yes before.
func (l *tombList) add(a arena, p Pos) {
	now := l.now.Load()
	n := now.n.Load()
	m := a.message(p)
	w := now.words[n*tombWords:]
	w[0], _ = prefixOf(m.Key, 0)
	w[1], _ = prefixOf(m.Value, 0)
	w[2] = uint64(p)
	now.n.Store(n + 1)
}

func (l *tombList) covering(a arena, key []byte, at message.Seq) message.Seq {
	now := l.now.Load()
	if now == nil {
		return 0
	}
	k, _ := prefixOf(key, 0)
	for i := now.n.Load() - 1; i >= 0; i-- {
		w := now.words[i*tombWords : i*tombWords+tombWords]
		if k < w[0] || k > w[1] {
			continue
		}
		m := a.message(Pos(w[2]))
		if m.Seq <= at && (message.RangeTombstone{Lo: m.Key, Hi: m.Value}).Covers(key) {
			return m.Seq
		}
	}
	return 0
}

func (l *tombList) upTo(a arena, at message.Seq) []message.RangeTombstone {
	now := l.now.Load()
	if now == nil {
		return nil
	}
	n := int(now.n.Load())
	for n > 0 && a.seq(Pos(now.words[(n-1)*tombWords+2])) > at {
		n--
	}
	if n == 0 {
		return nil
	}
	out := make([]message.RangeTombstone, n)
	for i := range out {
		m := a.message(Pos(now.words[i*tombWords+2]))
		out[i] = message.RangeTombstone{Lo: m.Key, Hi: m.Value, Seq: m.Seq}
	}
	return out
}

// The number of bytes that a key has behind the prefix is kept as this class
// when it is more than the prefix holds.
const classLonger = 9

// prefixOf returns the 8 bytes of the key from depth on as a number that is
// ordered as they are, with zeros where the key ends, and how many of them the
// key has: classLonger when it goes on behind them. Of two keys with one
// prefix the one of the lower class is the smaller, and two of one class that
// do not go on are equal.
func prefixOf(key []byte, depth int) (prefix uint64, class int) {
	rest := key[depth:]
	if len(rest) > 8 {
		return binary.BigEndian.Uint64(rest), classLonger
	}
	if len(rest) == 8 {
		return binary.BigEndian.Uint64(rest), 8
	}
	for _, c := range rest {
		prefix = prefix<<8 | uint64(c)
	}
	return prefix << (8 * (8 - len(rest)) & 63), len(rest)
}
