// SPDX-License-Identifier: Apache-2.0

// Package footprint records what a transaction has read and written.
//
// In: keys and ranges that were read, and changes of keys. Out: for each change
// made outside of the transaction, whether it touches what was read; for each key,
// the result of the transaction's own changes, in order. Promised: Spans never
// miss a change of what was added to them, and cover nothing else; a returned list
// of entries or spans never changes. Refused: values that were read, and changes
// of other transactions. Only one goroutine may use a Spans or Writes.
package footprint

import (
	"bytes"
	"slices"
	"sort"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Span is the keys in [Lo, Hi). A nil Hi means no bound.
type Span struct{ Lo, Hi []byte }

// Empty reports whether no key is in the span.
func (s Span) Empty() bool { return s.Hi != nil && bytes.Compare(s.Lo, s.Hi) >= 0 }

// Key returns the key if the span has only this one.
func (s Span) Key() (key []byte, is bool) {
	n := len(s.Lo)
	return s.Lo, len(s.Hi) == n+1 && s.Hi[n] == 0 && bytes.Equal(s.Lo, s.Hi[:n])
}

func (s Span) key() []byte { return s.Lo }

// bytes is the memory of the span, its place in a slice included.
func (s Span) bytes() int { return len(s.Lo) + len(s.Hi) + spanOverhead }

const (
	spanOverhead = 48
	// looseMin is the least number of spans that are added before the list is put
	// in order.
	looseMin = 32
)

// Spans is a set of keys, as a list of ranges.
type Spans struct {
	list []Span
	// The first inOrder of list are ascending and have other keys between them.
	inOrder int
	bytes   int
}

// Bytes is the memory of the set.
func (s *Spans) Bytes() int { return s.bytes }

// AddKey adds a key, which is copied.
func (s *Spans) AddKey(key []byte) {
	n := len(key)
	b := append(append(make([]byte, 0, n+1), key...), 0)
	s.add(Span{b[:n:n], b})
}

// Add adds a range, whose bounds are copied.
func (s *Spans) Add(span Span) {
	if !span.Empty() {
		s.add(Span{bytes.Clone(span.Lo), bytes.Clone(span.Hi)})
	}
}

func (s *Spans) add(span Span) {
	s.list = append(s.list, span)
	s.bytes += span.bytes()
	if len(s.list) >= 2*s.inOrder+looseMin {
		s.All()
	}
}

// All returns the set as disjoint spans in ascending order.
func (s *Spans) All() []Span {
	if s.inOrder == len(s.list) {
		return s.list
	}
	loose := slices.Clone(s.list[s.inOrder:])
	slices.SortFunc(loose, func(a, b Span) int { return bytes.Compare(a.Lo, b.Lo) })
	old, all := s.list[:s.inOrder], make([]Span, 0, len(s.list))
	for len(old) > 0 || len(loose) > 0 {
		from := &loose
		if len(loose) == 0 || len(old) > 0 && bytes.Compare(old[0].Lo, loose[0].Lo) <= 0 {
			from = &old
		}
		all = join(all, (*from)[0])
		*from = (*from)[1:]
	}
	s.list, s.inOrder, s.bytes = all[:len(all):len(all)], len(all), 0
	for _, span := range s.list {
		s.bytes += span.bytes()
	}
	return s.list
}

// join adds a span, which does not begin before the last one, to a list.
func join(all []Span, next Span) []Span {
	if len(all) == 0 || below(all[len(all)-1].Hi, next.Lo) {
		return append(all, next)
	}
	if last := &all[len(all)-1]; last.Hi != nil && (next.Hi == nil || bytes.Compare(last.Hi, next.Hi) < 0) {
		last.Hi = next.Hi
	}
	return all
}

// below reports whether a key fits between the end of a span and the next one.
func below(hi, lo []byte) bool { return hi != nil && bytes.Compare(hi, lo) < 0 }

// after is the index of the first span with a key at or above key.
func after(spans []Span, key []byte) int {
	return sort.Search(len(spans), func(i int) bool {
		hi := spans[i].Hi
		return hi == nil || bytes.Compare(hi, key) > 0
	})
}

// TouchedBy reports whether the message changes a key of the set.
func (s *Spans) TouchedBy(m message.Message) bool {
	spans := s.All()
	i := after(spans, m.Key)
	if i == len(spans) {
		return false
	}
	if m.Kind == message.RangeDelete {
		return bytes.Compare(spans[i].Lo, m.Value) < 0
	}
	return bytes.Compare(spans[i].Lo, m.Key) <= 0
}
