// SPDX-License-Identifier: Apache-2.0

package rt

import (
	"slices"
	"strconv"
	"strings"
)

// Strings converts received bytes to strings. Texts share chunks of memory, and
// each node name is allocated once.
type Strings struct {
	chunk strings.Builder
	nodes map[string]string
	// recent caches the node names of recent calls, indexed by length and last
	// byte.
	recent [nodesRecent]string
}

// A text of more than textLong bytes is allocated separately. Shorter ones share
// chunks; a chunk lives as long as any text in it. At most nodesMax node names are
// remembered.
const (
	textLong   = 512
	textsChunk = 4096
	nodesMax   = 1 << 14
	// nodesRecent is the size of Strings.recent.
	nodesRecent = 64
)

// Text returns a copy of the bytes as a string.
func (s *Strings) Text(b []byte) string {
	if len(b) > textLong {
		return string(b)
	}
	if s.chunk.Cap()-s.chunk.Len() < len(b) {
		s.chunk.Reset()
		s.chunk.Grow(textsChunk)
	}
	at := s.chunk.Len()
	s.chunk.Write(b)
	return s.chunk.String()[at:]
}

// Node returns a node name as a string.
func (s *Strings) Node(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	place := (uint(b[len(b)-1]) + uint(len(b))<<4) % nodesRecent
	if n := s.recent[place]; n == string(b) {
		return n
	}
	if n, ok := s.nodes[string(b)]; ok {
		s.recent[place] = n
		return n
	}
	if s.nodes == nil || len(s.nodes) >= nodesMax {
		s.nodes = map[string]string{}
	}
	n := string(b)
	s.nodes[n], s.recent[place] = n, n
	return n
}

// Number returns n. It keeps the Go compiler from evaluating constant
// expressions, in which overflow and division by zero are compile errors.
func Number[T uint64 | int64](n T) T { return n }

// CompareBool compares truth values; false is less than true.
func CompareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Distinct sorts the values in place and removes duplicates. The result shares
// the slice's memory.
func Distinct[T any](values []T, compare func(a, b T) int) []T {
	slices.SortFunc(values, compare)
	return slices.CompactFunc(values, func(a, b T) bool { return compare(a, b) == 0 })
}

// Union returns the union of two sets. The result may be one of them.
func Union[T any](a, b []T, compare func(a, b T) int) []T {
	if len(b) == 0 {
		return a
	}
	return Distinct(slices.Concat(a, b), compare)
}

// Contains reports whether a set contains a value.
func Contains[T any](set []T, v T, compare func(a, b T) int) bool {
	_, ok := slices.BinarySearchFunc(set, v, compare)
	return ok
}

// Set makes a set of values. It takes ownership of the slice.
func Set[T any](compare func(a, b T) int, values ...T) []T { return Distinct(values, compare) }

// AppendNum, AppendText and AppendSet append the key of a value of a kind to b, as
// package logic defines it. After AppendSet, the caller appends the keys of the
// elements.
func AppendNum(b []byte, kind uint8, n uint64) []byte {
	b = append(b, kind)
	b = strconv.AppendUint(b, n, 16)
	return append(b, ';')
}

// AppendText is as AppendNum.
func AppendText(b []byte, kind uint8, s string) []byte {
	b = append(b, kind)
	b = strconv.AppendInt(b, int64(len(s)), 10)
	b = append(b, ':')
	return append(b, s...)
}

// AppendSet is as AppendNum.
func AppendSet(b []byte, size int) []byte {
	b = append(b, KindSet)
	b = strconv.AppendInt(b, int64(size), 10)
	return append(b, '{')
}

// Fnv is the hash function of the language, applied to the key of a value.
func Fnv(key []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// keyShort is the longest key that is hashed without allocating memory.
const keyShort = 96

// FnvNum returns Fnv of a number's key, and FnvText Fnv of a text's key.
func FnvNum(kind uint8, n uint64) uint64 {
	var b [keyShort]byte
	return Fnv(AppendNum(b[:0], kind, n))
}

// FnvText is as FnvNum.
func FnvText(kind uint8, s string) uint64 {
	var b [keyShort]byte
	return Fnv(AppendText(b[:0], kind, s))
}

// Quoted returns a text, bytes or node in the syntax of the language.
func Quoted(kind uint8, s string) string {
	switch kind {
	case KindBytes:
		return "b" + strconv.Quote(s)
	case KindNode:
		return "node " + strconv.Quote(s)
	}
	return strconv.Quote(s)
}

// Braces returns a set in the syntax of the language; write formats an element.
func Braces[T any](set []T, write func(T) string) string {
	all := make([]string, len(set))
	for i, e := range set {
		all[i] = write(e)
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// Truth returns 1 for true and 0 for false.
func Truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
