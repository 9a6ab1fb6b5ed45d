// SPDX-License-Identifier: Apache-2.0

package typed

import (
	"iter"
	"math"
	"slices"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// Seq is a sequence; its first element has the index 1 in TLA+ and 0 in Go. A
// short one is a slice. A long one is a tree of slices and a slice for the end.
// Sequences share both: an operation on one costs the logarithm of its length,
// and never changes another.
type Seq[T any, K Kind[T]] struct {
	tree *node[T, struct{}] // what comes before the tail; nil for nothing
	tail []T                // at most leafMax elements
}

// Seqs is the kind of Seq[T, K].
type Seqs[T any, K Kind[T]] struct{}

func (Seqs[T, K]) Equal(a, b Seq[T, K]) bool { return equalAll[K](a, b) }

// Compare orders sequences by length, then element by element.
func (Seqs[T, K]) Compare(a, b Seq[T, K]) int { return compareAll[K](a, b) }

func (Seqs[T, K]) Value(a Seq[T, K]) value.Value {
	return value.TupleOf(valuesOf[K](a))
}

func (Seqs[T, K]) Of(v value.Value) Seq[T, K] {
	v = sequence(v)
	var k K
	elems := v.Elements()
	out := make([]T, len(elems))
	for i, e := range elems {
		out[i] = k.Of(e)
	}
	return NewSeq[K](out...)
}

// sequence returns v if it is a sequence; otherwise it is an error.
func sequence(v value.Value) value.Value {
	if v.Kind() == value.KindFn {
		v = v.Normal()
	}
	if v.Kind() != value.KindTuple {
		value.Fail("expected a sequence, found %s", value.Describe(v))
	}
	return v
}

func (s Seq[T, K]) value() value.Value { return Seqs[T, K]{}.Value(s) }

// NewSeq is the sequence of elems. It takes ownership of elems.
func NewSeq[K Kind[T], T any](elems ...T) Seq[T, K] {
	n := len(elems)
	if n <= leafMax {
		return Seq[T, K]{tail: elems}
	}
	cut := (n - 1) / leafMax * leafMax
	return Seq[T, K]{build[T, struct{}](elems[:cut:cut]), elems[cut:]}
}

// Slice returns the elements. The caller must not change them.
func (s Seq[T, K]) Slice() []T {
	if s.tree == nil {
		return s.tail
	}
	return sliceOf[T](s)
}

// All are the elements in order.
func (s Seq[T, K]) All() iter.Seq[T] { return all[T](s) }

// Len is Len(s).
func (s Seq[T, K]) Len() int32 { return int32(s.len()) }

func (s Seq[T, K]) len() int { return s.tree.len() + len(s.tail) }

func (s Seq[T, K]) run(i int) []T {
	if before := s.tree.len(); i >= before {
		return s.tail[i-before:]
	}
	return s.tree.run(i)
}

// At is s[i].
func (s Seq[T, K]) At(i int32) T {
	if !s.has(i) {
		s.value().Apply(value.Int(i))
	}
	return s.run(int(i) - 1)[0]
}

func (s Seq[T, K]) has(i int32) bool { return i >= 1 && i <= s.Len() }

// Part is s[i], if there is such an element.
func (s *Seq[T, K]) Part(i value.Value) (x T, ok bool) {
	if i.Kind() != value.KindInt || !s.has(i.AsInt()) {
		return x, false
	}
	return s.At(i.AsInt()), true
}

// SetPart sets s to [s EXCEPT ![i] = x], and reports whether there is such an
// element.
func (s *Seq[T, K]) SetPart(i value.Value, x T) bool {
	if i.Kind() != value.KindInt || !s.has(i.AsInt()) {
		return false
	}
	*s = s.With(i.AsInt(), x)
	return true
}

// Head is Head(s).
func (s Seq[T, K]) Head() T {
	if s.Len() == 0 {
		value.Head(s.value())
	}
	return s.At(1)
}

// Tail is Tail(s).
func (s Seq[T, K]) Tail() Seq[T, K] {
	if s.Len() == 0 {
		value.Tail(s.value())
	}
	return s.from(1)
}

// from is s without its first n elements.
func (s Seq[T, K]) from(n int) Seq[T, K] {
	if before := s.tree.len(); n >= before {
		return Seq[T, K]{tail: s.tail[n-before:]}
	}
	return Seq[T, K]{s.tree.drop(n), s.tail}
}

// Append is Append(s, x).
func (s Seq[T, K]) Append(x T) Seq[T, K] {
	checkLength(int64(s.len()) + 1)
	if len(s.tail) >= leafMax {
		return Seq[T, K]{join(s.tree, leaf[T, struct{}](s.tail)), []T{x}}
	}
	tail := make([]T, len(s.tail)+1)
	copy(tail, s.tail)
	tail[len(s.tail)] = x
	return Seq[T, K]{s.tree, tail}
}

// checkLength fails if the length of a sequence would not fit in a number. The
// elements of a long sequence may take little memory: s \o s shares its parts.
func checkLength(n int64) {
	if n > math.MaxInt32 {
		value.Fail("a sequence of %d elements is too long", n)
	}
}

// Concat is s \o t.
func (s Seq[T, K]) Concat(t Seq[T, K]) Seq[T, K] {
	switch {
	case s.Len() == 0:
		return t
	case t.Len() == 0:
		return s
	}
	checkLength(int64(s.len()) + int64(t.len()))
	switch {
	case t.tree == nil && len(s.tail)+len(t.tail) <= leafMax:
		return Seq[T, K]{s.tree, slices.Concat(s.tail, t.tail)}
	}
	return Seq[T, K]{join(join(s.tree, leaf[T, struct{}](s.tail)), t.tree), t.tail}
}

// Sub is SubSeq(s, m, n).
func (s Seq[T, K]) Sub(m, n int32) Seq[T, K] {
	if m > n {
		return Seq[T, K]{}
	}
	if m < 1 || n > s.Len() {
		value.SubSeq(s.value(), m, n)
	}
	if before := s.tree.len(); int(n) <= before {
		s = Seq[T, K]{tree: s.tree.take(int(n))}
	} else {
		s.tail = s.tail[:int(n)-before]
	}
	return s.from(int(m) - 1)
}

// With is [s EXCEPT ![i] = x]. If i is not an index of s, the result is s
// itself.
func (s Seq[T, K]) With(i int32, x T) Seq[T, K] {
	if !s.has(i) {
		return s
	}
	at := int(i) - 1 - s.tree.len()
	if at < 0 {
		return Seq[T, K]{s.tree.with(int(i)-1, x), s.tail}
	}
	tail := slices.Clone(s.tail)
	tail[at] = x
	return Seq[T, K]{s.tree, tail}
}

// Update is [s EXCEPT ![i] = f(@)].
func (s Seq[T, K]) Update(i int32, f func(T) T) Seq[T, K] {
	if !s.has(i) {
		return s
	}
	return s.With(i, f(s.At(i)))
}

// Select is SelectSeq(s, p).
func (s Seq[T, K]) Select(p func(T) bool) Seq[T, K] { return NewSeq[K](kept[T](s, p)...) }

// Domain is DOMAIN s.
func (s Seq[T, K]) Domain() Set[int32, Ints] { return Interval(1, s.Len()) }

// MakeSeq is [x \in 1..n |-> f(x)].
func MakeSeq[K Kind[T], T any](n int32, f func(int32) T) Seq[T, K] {
	checkSize(int64(n))
	out := make([]T, max(n, 0))
	for i := range out {
		out[i] = f(int32(i) + 1)
	}
	return NewSeq[K](out...)
}

// AllSeqs is [1..n -> s].
func AllSeqs[T any, K Kind[T]](n int32, s Set[T, K]) Set[Seq[T, K], Seqs[T, K]] {
	return sorted[Seqs[T, K]](allSeqs(n, s))
}

func allSeqs[T any, K Kind[T]](n int32, s Set[T, K]) []Seq[T, K] {
	checkPower(s.len(), max(int(n), 0))
	out := []Seq[T, K]{{}}
	for range n {
		next := make([]Seq[T, K], 0, len(out)*s.len())
		for _, q := range out {
			for x := range s.All() {
				next = append(next, q.Append(x))
			}
		}
		out = next
	}
	return out
}

// checkPower fails if a set of base^exp elements is too large.
func checkPower(base, exp int) {
	n := int64(1)
	for range exp {
		n *= int64(base)
		checkSize(n)
		if n <= 1 {
			return
		}
	}
}
