// SPDX-License-Identifier: Apache-2.0

// Package merge merges many sequences of messages into one, from which it
// derives what its callers need: Merged has the messages of all sources in
// order, Visible has what a user sees at one moment, Keep has what a compaction
// must keep, and Fold computes the value of one key (VeriBetrKV, OSDI 2020,
// section 4; SplinterDB, ATC 2020, section 3).
//
// In: iterators over messages, range tombstones, and a Merger. Out: messages,
// or keys with their values. Promised: the same answers in both directions,
// and that Visible sees in the output of Keep what it saw in the input, at
// every snapshot and now. Nothing is allocated for a message. Refused: range
// deletes among the messages; they come beside them, as tombstones.
//
// Everything here is sequential: one goroutine for each value.
package merge

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Merged is a tournament of the sources that remembers its losers: each inner
// node of a binary tree over the sources holds the one that lost there, so that
// after the winner has moved only the matches on its way up are played again:
// log2 of the sources.
//
// The keys that meet in a match are neighbours, and so most of them begin with
// the same bytes. What all keys at which the sources stand have in common is
// held once; each source's message is held beside the tree with the eight bytes
// that follow there as a number, which decides nearly all matches. A key
// without the common beginning makes it shorter; many matches that the numbers
// did not decide have it looked for anew.
//
// Backwards the order is turned around: the numbers are stored inverted, so
// that the least wins in both directions.
type Merged struct {
	sources []message.Iter
	heads   []head
	losers  []int32
	winners []int32 // while the tree is built
	winner  int
	common  []byte // all heads that are not gone begin with it
	ties    int    // matches that the numbers did not decide
	reverse bool
	err     error
}

// head is the message at which a source is.
type head struct {
	number uint64 // of the key after the common bytes, inverted when the direction is backwards; the largest when gone
	gone   bool   // the source is beyond its end
	m      message.Message
}

// tiesMax is after how many undecided matches the common bytes are looked for
// anew, and tiesInVain how many more it takes after that brought nothing.
const (
	tiesMax    = 32
	tiesInVain = 4096
)

var _ message.Iter = (*Merged)(nil)

// New merges the sources, which are its own from now on: it closes them. Of
// messages with the same key and number the one of the earlier source is first.
func New(sources []message.Iter) message.Iter {
	t := new(Merged)
	t.reset(sources)
	return t
}

func (t *Merged) reset(sources []message.Iter) {
	n := len(sources)
	t.sources = append(t.sources[:0], sources...)
	if cap(t.heads) < n {
		t.heads, t.losers, t.winners = make([]head, n), make([]int32, n), make([]int32, 2*n)
	}
	t.heads, t.losers, t.winners = t.heads[:n], t.losers[:n], t.winners[:2*n]
	for i := range t.heads {
		t.heads[i] = head{number: ^uint64(0), gone: true}
	}
	t.winner, t.common, t.ties, t.reverse, t.err = 0, t.common[:0], 0, false, nil
}

// numberOf is the first eight bytes of the key as a number. Where two differ,
// the keys differ in the same way.
func numberOf(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var n uint64
	for i, b := range key {
		n |= uint64(b) << (56 - 8*i)
	}
	return n
}

// take notes where source i is after a move that answered ok.
func (t *Merged) take(i int, ok bool) {
	h := &t.heads[i]
	if !ok {
		*h = head{number: ^uint64(0), gone: true}
		if err := t.sources[i].Err(); err != nil && t.err == nil {
			t.err = err
		}
		return
	}
	h.gone = false
	h.m = t.sources[i].Message()
	if !bytes.HasPrefix(h.m.Key, t.common) {
		t.common = t.common[:shared(t.common, h.m.Key)]
		t.renumber()
		return
	}
	h.number = numberOf(h.m.Key[len(t.common):])
	if t.reverse {
		h.number = ^h.number
	}
}

// shared is how many bytes a and b have in common at their beginnings.
func shared(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// renumber follows a change of the common bytes or of the direction.
func (t *Merged) renumber() {
	for i := range t.heads {
		h := &t.heads[i]
		if h.gone {
			continue
		}
		h.number = numberOf(h.m.Key[len(t.common):])
		if t.reverse {
			h.number = ^h.number
		}
	}
}

// findCommon looks for the common bytes.
func (t *Merged) findCommon() {
	before, some := len(t.common), false
	for i := range t.heads {
		h := &t.heads[i]
		switch {
		case h.gone:
		case !some:
			t.common, some = append(t.common[:0], h.m.Key...), true
		default:
			t.common = t.common[:shared(t.common, h.m.Key)]
		}
	}
	t.ties = 0
	if len(t.common) <= before {
		t.ties = -tiesInVain
	}
	t.renumber()
}

// before reports whether source a's message comes before source b's in the
// direction of the walk.
func (t *Merged) before(a, b int) bool {
	x, y := &t.heads[a], &t.heads[b]
	if x.number != y.number {
		return x.number < y.number
	}
	return t.beforeByAll(a, b)
}

func (t *Merged) beforeByAll(a, b int) bool {
	x, y := &t.heads[a], &t.heads[b]
	if x.gone || y.gone {
		return !x.gone
	}
	t.ties++
	c := bytes.Compare(x.m.Key[len(t.common):], y.m.Key[len(t.common):])
	if c == 0 {
		if c = cmp.Compare(y.m.Seq, x.m.Seq); c == 0 {
			c = a - b
		}
	}
	if t.reverse {
		return c > 0
	}
	return c < 0
}

// build plays all matches. The sources are the leaves n..2n-1 of the tree, and
// 1 is its root.
func (t *Merged) build() bool {
	n := len(t.heads)
	if n == 0 {
		return false
	}
	t.findCommon()
	for i := range n {
		t.winners[n+i] = int32(i)
	}
	for i := n - 1; i >= 1; i-- {
		a, b := t.winners[2*i], t.winners[2*i+1]
		if t.before(int(b), int(a)) {
			a, b = b, a
		}
		t.winners[i], t.losers[i] = a, b
	}
	t.winner = int(t.winners[1])
	return t.stands()
}

// replay plays the matches of source i, which was the winner.
func (t *Merged) replay(i int) {
	if t.ties > tiesMax {
		t.findCommon()
	}
	w := i
	for n := (i + len(t.heads)) / 2; n > 0; n /= 2 {
		if l := int(t.losers[n]); t.before(l, w) {
			t.losers[n] = int32(w)
			w = l
		}
	}
	t.winner = w
}

// stands reports whether there is a message.
func (t *Merged) stands() bool {
	return t.err == nil && len(t.heads) > 0 && !t.heads[t.winner].gone
}

// aim prepares a seek of all sources.
func (t *Merged) aim(reverse bool) {
	t.reverse, t.err, t.common = reverse, nil, t.common[:0]
}

// First moves to the first message of all.
func (t *Merged) First() bool {
	t.aim(false)
	for i, s := range t.sources {
		t.take(i, s.First())
	}
	return t.build()
}

// Last moves to the last message of all.
func (t *Merged) Last() bool {
	t.aim(true)
	for i, s := range t.sources {
		t.take(i, s.Last())
	}
	return t.build()
}

// SeekGE moves to the first message with a key at or above key.
func (t *Merged) SeekGE(key []byte) bool {
	t.aim(false)
	for i, s := range t.sources {
		t.take(i, s.SeekGE(key))
	}
	return t.build()
}

// SeekLT moves to the last message with a key below key.
func (t *Merged) SeekLT(key []byte) bool {
	t.aim(true)
	for i, s := range t.sources {
		t.take(i, s.SeekLT(key))
	}
	return t.build()
}

// Next moves forward.
func (t *Merged) Next() bool {
	invariant.Check(t.stands(), "merge: Next on an iterator that is not at a message")
	if t.reverse && !t.turn(false) {
		return false
	}
	t.step()
	return t.stands()
}

// Prev moves backward.
func (t *Merged) Prev() bool {
	invariant.Check(t.stands(), "merge: Prev on an iterator that is not at a message")
	if !t.reverse && !t.turn(true) {
		return false
	}
	t.step()
	return t.stands()
}

// step moves the winner on in the direction of the walk.
func (t *Merged) step() {
	i := t.winner
	if t.reverse {
		t.take(i, t.sources[i].Prev())
	} else {
		t.take(i, t.sources[i].Next())
	}
	t.replay(i)
}

// turn changes the direction and stays where it is. Each source but the winner
// is on its nearest message beyond the winner's; in the other direction the
// nearest is one step back.
func (t *Merged) turn(reverse bool) bool {
	t.reverse = reverse
	for i, s := range t.sources {
		h := &t.heads[i]
		switch {
		case i == t.winner:
		case reverse && h.gone:
			t.take(i, s.Last())
		case reverse:
			t.take(i, s.Prev())
		case h.gone:
			t.take(i, s.First())
		default:
			t.take(i, s.Next())
		}
	}
	return t.build()
}

// pass moves the winner alone, forward to the first key at or above key, or
// backward to the last below it. What is between is skipped, so that from
// then on the direction may be changed by a seek only.
func (t *Merged) pass(key []byte) {
	i := t.winner
	if t.reverse {
		t.take(i, t.sources[i].SeekLT(key))
	} else {
		t.take(i, t.sources[i].SeekGE(key))
	}
	t.replay(i)
}

// Message is the source's own: valid until the next move.
func (t *Merged) Message() message.Message { return t.heads[t.winner].m }

// Err is the first error of a source since the last seek.
func (t *Merged) Err() error { return t.err }

// Close closes the sources.
func (t *Merged) Close() {
	for _, s := range t.sources {
		s.Close()
	}
	t.sources = nil
}
