// SPDX-License-Identifier: Apache-2.0

package space

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// lru is a map that drops the least recently used entries. Its entries form a
// ring.
type lru[K comparable, V any] struct {
	byKey map[K]*entry[K, V]
	ring  entry[K, V] // next is the newest, prev the oldest
}

type entry[K comparable, V any] struct {
	key        K
	value      V
	prev, next *entry[K, V]
}

func (l *lru[K, V]) init() {
	l.byKey = map[K]*entry[K, V]{}
	l.ring.prev, l.ring.next = &l.ring, &l.ring
}

func (l *lru[K, V]) unlink(e *entry[K, V]) {
	e.prev.next, e.next.prev = e.next, e.prev
}

func (l *lru[K, V]) front(e *entry[K, V]) {
	e.prev, e.next = &l.ring, l.ring.next
	e.prev.next, e.next.prev = e, e
}

// get returns an entry and makes it the newest; nil if there is none.
func (l *lru[K, V]) get(k K) *entry[K, V] {
	e := l.byKey[k]
	if e != nil && l.ring.next != e {
		l.unlink(e)
		l.front(e)
	}
	return e
}

// put adds an entry, which must not be present.
func (l *lru[K, V]) put(k K, v V) *entry[K, V] {
	e := &entry[K, V]{key: k, value: v}
	l.byKey[k] = e
	l.front(e)
	return e
}

// oldest returns the least recently used entry; nil if there is none.
func (l *lru[K, V]) oldest() *entry[K, V] {
	if l.ring.prev == &l.ring {
		return nil
	}
	return l.ring.prev
}

func (l *lru[K, V]) drop(e *entry[K, V]) {
	l.unlink(e)
	delete(l.byKey, e.key)
}

// known is a cache of decided values. A decided value never changes; an
// unwritten register may, so it is never cached.
type known struct {
	lru[wor.Addr, []byte]
	bytes, max int64
}

// knownEntry is roughly the memory that an entry takes besides its value, in bytes.
const knownEntry = 128

func (k *known) get(a wor.Addr) ([]byte, bool) {
	if e := k.lru.get(a); e != nil {
		return e.value, true
	}
	return nil, false
}

func (k *known) add(a wor.Addr, v []byte) {
	cost := int64(len(v)) + knownEntry
	if cost > k.max || k.lru.get(a) != nil {
		return
	}
	for k.bytes+cost > k.max {
		e := k.oldest()
		k.bytes -= int64(len(e.value)) + knownEntry
		k.drop(e)
	}
	k.bytes += cost
	k.put(a, v)
}

// used keeps which value was written with which token: a ballot with two values
// for one register would make two values decided (rule c). It keeps a hash of each
// value, for groups of registers. When it overflows, it forgets the hashes of the
// oldest group and keeps only that the token was used there: what a token has
// forgotten are runs of groups, which are few where it writes one register after the
// other. When there are more runs than groups, they are forgotten too, and with them
// all tokens of their clients with lower or equal rounds: these count as used.
type used struct {
	lru[usedKey, *[UsedGroup]uint64]
	n, max int
	seed   uint64
	gone   map[usedToken]runs // where tokens were used, beyond the groups that are kept
	runs   int                // in gone
	floors map[uint64]uint64  // the highest dropped round, by a client's nonce
}

type usedToken struct {
	segment wor.Segment
	ballot  wor.Ballot
}

type usedKey struct {
	usedToken
	group uint32
}

func (u *used) begin(most int, seed uint64) {
	u.init()
	u.max, u.seed, u.gone, u.floors = most, seed, map[usedToken]runs{}, map[uint64]uint64{}
}

// floorsMax is the number of clients in floors.
const floorsMax = 1 << 16

// claim reports whether the value may be written with the ballot.
func (u *used) claim(a wor.Addr, b wor.Ballot, value []byte) error {
	k := usedKey{usedToken{a.Segment, b}, a.Offset / UsedGroup}
	e := u.lru.get(k)
	if e == nil {
		group := new([UsedGroup]uint64)
		if u.n == u.max {
			old := u.oldest()
			if err := u.forget(old.key); err != nil {
				return err
			}
			u.drop(old)
			u.n--
			group = old.value
			*group = [UsedGroup]uint64{}
		}
		if u.forgot(k) {
			return wor.ErrToken
		}
		u.n++
		e = u.put(k, group)
	}
	at, h := &e.value[a.Offset%UsedGroup], hash(u.seed, value)
	if *at != 0 && *at != h {
		return wor.ErrToken
	}
	*at = h
	return nil
}

// forgot reports whether the token may have been used in the group.
func (u *used) forgot(k usedKey) bool {
	floor, ok := u.floors[k.ballot.Nonce]
	return ok && k.ballot.Round <= floor || u.gone[k.usedToken].has(k.group)
}

// forget drops the hashes of a group, but records that the token was used in
// it.
func (u *used) forget(k usedKey) error {
	if u.forgot(k) {
		return nil
	}
	u.runs -= len(u.gone[k.usedToken])
	u.gone[k.usedToken] = u.gone[k.usedToken].add(k.group)
	if u.runs += len(u.gone[k.usedToken]); u.runs <= u.max {
		return nil
	}
	for token := range u.gone {
		nonce := token.ballot.Nonce
		if _, ok := u.floors[nonce]; !ok && len(u.floors) == floorsMax {
			return &wor.LimitError{Name: "clients whose tokens were used", Limit: floorsMax, Got: floorsMax + 1}
		}
		u.floors[nonce] = max(u.floors[nonce], token.ballot.Round)
		u.runs -= len(u.gone[token])
		delete(u.gone, token)
	}
	return nil
}

// hash is not 0, and differs for different values of up to eight bytes and the
// same length.
func hash(seed uint64, v []byte) uint64 {
	const prime = 0x9e3779b97f4a7c15
	h := seed ^ uint64(len(v))*prime
	for ; len(v) >= 8; v = v[8:] {
		h = (h ^ binary.LittleEndian.Uint64(v)) * prime
		h ^= h >> 29
	}
	var last [8]byte
	copy(last[:], v)
	h = (h ^ binary.LittleEndian.Uint64(last[:])) * prime
	h ^= h >> 32
	return max(h, 1)
}
