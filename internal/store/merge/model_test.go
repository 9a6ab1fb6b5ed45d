// SPDX-License-Identifier: Apache-2.0

package merge_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/store/merge"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// list is an iterator over messages in memory that is as nasty as its contract
// allows: what Message returned is overwritten at the next move, and a move
// that is not allowed panics.
type list struct {
	messages []message.Message
	at       int
	placed   bool
	key      []byte
	value    []byte
	moves    int
	failAt   int // the number of the move that fails, or zero
	err      error
	closed   int
}

var errList = errors.New("the list fails")

func newList(messages []message.Message) *list { return &list{messages: messages, at: -1} }

func (l *list) to(at int) bool {
	for i := range l.key {
		l.key[i] = 0xEE
	}
	for i := range l.value {
		l.value[i] = 0xEE
	}
	l.moves++
	if l.closed > 0 {
		panic("a closed list is moved")
	}
	l.at, l.placed = at, true
	if l.err == nil && l.failAt > 0 && l.moves >= l.failAt {
		l.err = errList
	}
	if l.err != nil {
		l.at = -1
	}
	return l.stands()
}

func (l *list) stands() bool { return l.placed && l.at >= 0 && l.at < len(l.messages) }

func (l *list) First() bool { return l.to(0) }
func (l *list) Last() bool  { return l.to(len(l.messages) - 1) }

func (l *list) SeekGE(key []byte) bool {
	return l.to(sort.Search(len(l.messages), func(i int) bool { return bytes.Compare(l.messages[i].Key, key) >= 0 }))
}

func (l *list) SeekLT(key []byte) bool {
	return l.to(sort.Search(len(l.messages), func(i int) bool { return bytes.Compare(l.messages[i].Key, key) >= 0 }) - 1)
}

func (l *list) Next() bool {
	if !l.stands() {
		panic("a list that stands nowhere is moved")
	}
	return l.to(l.at + 1)
}

func (l *list) Prev() bool {
	if !l.stands() {
		panic("a list that stands nowhere is moved")
	}
	return l.to(l.at - 1)
}

func (l *list) Message() message.Message {
	m := l.messages[l.at]
	l.key = append(l.key[:0], m.Key...)
	l.value = append(l.value[:0], m.Value...)
	m.Key, m.Value = l.key, l.value
	return m
}

func (l *list) Err() error { return l.err }
func (l *list) Close()     { l.closed++ }

// appends is a Merger whose operands are texts that are put after the value.
// It is associative and nothing else: any change of order shows.
type appends struct{}

func (appends) Name() string { return "appends" }

func (appends) Combine(dst, _, older, newer []byte) []byte {
	return append(append(dst, older...), newer...)
}

func (appends) Apply(dst, _, value []byte, exists bool, operand []byte) []byte {
	if !exists {
		dst = append(dst, '~')
	}
	return append(append(dst, value...), operand...)
}

// change is what happened at one number.
type change struct {
	seq    message.Seq
	kind   message.Kind
	key    string
	value  string // of a range delete: the end
	source int    // the larger, the newer
}

// blobText is what the blob at addr holds.
func blobText(ref message.BlobRef) string { return fmt.Sprintf("<%d>", ref.Addr) }

func (c change) message() message.Message {
	return message.Message{Key: []byte(c.key), Value: []byte(c.value), Seq: c.seq, Kind: c.kind}
}

// pair is a key with its value.
type pair struct{ key, value string }

// model is all that happened, in order of the numbers.
type model []change

// seen is the answer at one moment, by the book: all changes one by one.
func (m model) seen(at message.Seq, lo, hi []byte) []pair {
	values := map[string]string{}
	for _, c := range m {
		if c.seq > at {
			break
		}
		switch c.kind {
		case message.Put:
			values[c.key] = c.value
		case message.Blob:
			ref, _ := message.DecodeBlobRef([]byte(c.value))
			values[c.key] = blobText(ref)
		case message.Delete:
			delete(values, c.key)
		case message.Merge:
			old, exists := values[c.key]
			values[c.key] = string(appends{}.Apply(nil, nil, []byte(old), exists, []byte(c.value)))
		case message.RangeDelete:
			for k := range values {
				if c.key <= k && k < c.value {
					delete(values, k)
				}
			}
		}
	}
	pairs := []pair{}
	for k, v := range values {
		if (lo == nil || k >= string(lo)) && (hi == nil || k < string(hi)) {
			pairs = append(pairs, pair{k, v})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
	return pairs
}

// part is the part of the model with that number.
type part struct {
	messages   []message.Message
	tombstones []message.RangeTombstone
	newest     message.Seq
}

// parts are the sources from from up to, but not with, to; the newest first.
func (m model) parts(from, to int) []part {
	out := make([]part, to-from)
	for _, c := range m {
		if c.source < from || c.source >= to {
			continue
		}
		p := &out[to-1-c.source]
		if c.kind == message.RangeDelete {
			p.tombstones = append(p.tombstones, message.RangeTombstone{Lo: []byte(c.key), Hi: []byte(c.value), Seq: c.seq})
			continue
		}
		p.messages = append(p.messages, c.message())
		p.newest = c.seq
	}
	for i := range out {
		slices.SortFunc(out[i].messages, message.Compare)
	}
	return out
}

func (p part) source() merge.Source {
	return merge.Source{Iter: newList(p.messages), MaxSeq: p.newest, Tombstones: setOf(p.tombstones)}
}

func sourcesOf(parts []part) []merge.Source {
	var out []merge.Source
	for _, p := range parts {
		out = append(out, p.source())
	}
	return out
}

// keys are few, so that histories of one key are long; some share their first
// eight bytes, some are each other's beginnings.
var keys = []string{"", "a", "a\x00", "aa", "b", "commons", "common-s", "common-start-1", "common-start-1\x00", "common-start-2", "d", "\xff\xff\xff\xff\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"}

func aKey(t *rapid.T, label string) string { return rapid.SampledFrom(keys).Draw(t, label) }

// aHistory draws a model with its sources.
func aHistory(t *rapid.T, sources int) model {
	var m model
	seq, source := message.Seq(0), 0
	for range rapid.IntRange(0, 60).Draw(t, "changes") {
		seq += message.Seq(rapid.IntRange(1, 2).Draw(t, "gap"))
		if source+1 < sources && rapid.IntRange(0, 9).Draw(t, "rotate") == 0 {
			source++
		}
		c := change{seq: seq, source: source, key: aKey(t, "key"), value: fmt.Sprintf(".%d", seq)}
		c.kind = rapid.SampledFrom([]message.Kind{message.Put, message.Put, message.Delete, message.Merge, message.Merge,
			message.Blob, message.RangeDelete}).Draw(t, "kind")
		switch c.kind {
		case message.Delete:
			c.value = ""
		case message.Blob:
			c.value = string(message.BlobRef{Addr: int64(seq), Len: 3}.Append(nil))
		case message.RangeDelete:
			c.value = aKey(t, "end")
		}
		m = append(m, c)
	}
	return m
}

func aMoment(t *rapid.T, m model) message.Seq {
	if len(m) == 0 || rapid.Bool().Draw(t, "now") {
		return message.MaxSeq
	}
	return message.Seq(rapid.IntRange(0, int(m[len(m)-1].seq)).Draw(t, "at"))
}

func aBound(t *rapid.T, label string) []byte {
	if rapid.Bool().Draw(t, label+" open") {
		return nil
	}
	return []byte(aKey(t, label))
}

// setOf is a set of tombstones for a Visible.
func setOf(tombstones []message.RangeTombstone) merge.Tombstones {
	sorted := slices.Clone(tombstones)
	slices.SortStableFunc(sorted, func(a, b message.RangeTombstone) int { return bytes.Compare(a.Lo, b.Lo) })
	return message.NewTombstones(len(sorted), func(i int) message.RangeTombstone { return sorted[i] })
}
