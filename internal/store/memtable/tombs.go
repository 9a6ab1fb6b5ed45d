// SPDX-License-Identifier: Apache-2.0

package memtable

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// Range deletes are a chain from the newest to the oldest, by the field that
// links the versions of a key in other entries. So adding one needs no memory.
// Following the chain reads the arena all over, so there is a list as well, in
// the order of their numbers, with the first 8 bytes of both ends of each: then
// the arena is read only for those that are likely to cover a key. When the
// pool has no memory for a longer list it falls behind, and the chain leads to
// where it ends.
//
// Readers take the newest, then the list, then its length; the writer fills an
// item before it raises the length, and a longer list before it publishes that.
// As with the index, old lists are kept until Close.

const (
	tombWords   = 3 // the lower end, the upper end, the place of the entry
	tombListMin = 16
)

type tombItems struct {
	words []uint64
	n     atomic.Int64
}

// end returns the place of the newest range delete of the list, None when it is
// empty, and how many there are.
func (i *tombItems) end() (Pos, int) {
	if i == nil {
		return None, 0
	}
	n := int(i.n.Load())
	if n == 0 {
		return None, 0
	}
	return Pos(i.words[(n-1)*tombWords+2]), n
}

type tombList struct {
	newest atomic.Uint32 // Pos
	list   atomic.Pointer[tombItems]
	len    int
	mem    [][]byte
}

func (l *tombList) close(pool *slab.Pool) {
	l.newest.Store(uint32(None))
	l.list.Store(nil)
	for _, m := range l.mem {
		pool.Free(m)
	}
	l.mem = nil
}

// add publishes the entry at p, which is linked to the newest before it.
func (l *tombList) add(a arena, p Pos, pool *slab.Pool) {
	l.len++
	l.newest.Store(uint32(p))
	list := l.list.Load()
	if list == nil || len(list.words) < l.len*tombWords {
		if list = l.grow(list, pool); list == nil {
			return
		}
	}
	_, n := list.end()
	for i := l.len - 1; i >= n; i-- {
		m := a.message(p)
		w := list.words[i*tombWords:]
		w[0], _ = prefixOf(m.Key, 0)
		w[1], _ = prefixOf(m.Value, 0)
		w[2] = uint64(p)
		p = a.older(p)
	}
	list.n.Store(int64(l.len))
}

// grow publishes a list that has room for all, nil when there is no memory.
func (l *tombList) grow(old *tombItems, pool *slab.Pool) *tombItems {
	capacity := tombListMin
	for capacity < l.len {
		capacity *= 2
	}
	mem, ok := pool.Alloc(capacity * tombWords * 8)
	if !ok {
		return nil
	}
	next := &tombItems{words: slab.Uint64s(mem)}
	if _, n := old.end(); n > 0 {
		copy(next.words, old.words[:n*tombWords])
		next.n.Store(int64(n))
	}
	l.mem = append(l.mem, mem)
	l.list.Store(next)
	return next
}

func (l *tombList) covering(a arena, key []byte, at message.Seq) message.Seq {
	p := Pos(l.newest.Load())
	if p == None {
		return 0
	}
	list := l.list.Load()
	listed, n := list.end()
	for ; p > listed; p = a.older(p) {
		if seq := covers(a, p, key, at); seq > 0 {
			return seq
		}
	}
	k, _ := prefixOf(key, 0)
	for n--; n >= 0; n-- {
		w := list.words[n*tombWords : n*tombWords+tombWords]
		if k < w[0] || k > w[1] {
			continue
		}
		if seq := covers(a, Pos(w[2]), key, at); seq > 0 {
			return seq
		}
	}
	return 0
}

// covers returns the number of the range delete at p when that is up to at and
// the range holds the key, else 0.
func covers(a arena, p Pos, key []byte, at message.Seq) message.Seq {
	m := a.message(p)
	if m.Seq <= at && (message.RangeTombstone{Lo: m.Key, Hi: m.Value}).Covers(key) {
		return m.Seq
	}
	return 0
}

func (l *tombList) upTo(a arena, at message.Seq) []message.RangeTombstone {
	var out []message.RangeTombstone
	for p := Pos(l.newest.Load()); p != None; p = a.older(p) {
		if m := a.message(p); m.Seq <= at {
			out = append(out, message.RangeTombstone{Lo: m.Key, Hi: m.Value, Seq: m.Seq})
		}
	}
	slices.Reverse(out)
	return out
}

// The number of bytes that a key has behind the prefix is kept as this class
// when it is more than the prefix holds.
const classLonger = 9

// prefixOf returns the 8 bytes of the key from depth on as a number with the
// same order, padded with zeros, and as the class how many of these bytes the
// key has, or classLonger if the key continues after them. Of two keys with the
// same prefix, the one of the lower class is smaller; if both have the same
// class and do not continue, they are equal.
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
