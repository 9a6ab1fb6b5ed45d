package typed

import "github.com/ashlar-dev/ashlar/tla/value"

// Seq is a sequence; its first element has the index 1 in TLA+ and 0 in Go.
type Seq[T any, K Kind[T]] []T

// Seqs is the kind of Seq[T, K].
type Seqs[T any, K Kind[T]] struct{}

func (Seqs[T, K]) Equal(a, b Seq[T, K]) bool { return equalAll[T, K](a, b) }

// Compare orders sequences by length, then element by element.
func (Seqs[T, K]) Compare(a, b Seq[T, K]) int { return compareAll[T, K](a, b) }

func (Seqs[T, K]) Value(a Seq[T, K]) value.Value {
	return value.TupleOf(valuesOf[T, K](a))
}

func (Seqs[T, K]) Of(v value.Value) Seq[T, K] {
	v = sequence(v)
	var k K
	elems := v.Elements()
	out := make(Seq[T, K], len(elems))
	for i, e := range elems {
		out[i] = k.Of(e)
	}
	return out
}

// sequence is v where it is a sequence, and an error where it is none.
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

// NewSeq is the sequence of elems, whose array it takes over.
func NewSeq[K Kind[T], T any](elems ...T) Seq[T, K] { return elems }

// Len is Len(s).
func (s Seq[T, K]) Len() int32 { return int32(len(s)) }

// At is s[i].
func (s Seq[T, K]) At(i int32) T {
	if i < 1 || int(i) > len(s) {
		s.value().Apply(value.Int(i))
	}
	return s[i-1]
}

// Head is Head(s).
func (s Seq[T, K]) Head() T {
	if len(s) == 0 {
		value.Head(s.value())
	}
	return s[0]
}

// Tail is Tail(s).
func (s Seq[T, K]) Tail() Seq[T, K] {
	if len(s) == 0 {
		value.Tail(s.value())
	}
	return s[1:]
}

// Append is Append(s, x).
func (s Seq[T, K]) Append(x T) Seq[T, K] {
	out := make(Seq[T, K], len(s)+1)
	copy(out, s)
	out[len(s)] = x
	return out
}

// Concat is s \o t.
func (s Seq[T, K]) Concat(t Seq[T, K]) Seq[T, K] {
	switch {
	case len(s) == 0:
		return t
	case len(t) == 0:
		return s
	}
	out := make(Seq[T, K], 0, len(s)+len(t))
	return append(append(out, s...), t...)
}

// Sub is SubSeq(s, m, n).
func (s Seq[T, K]) Sub(m, n int32) Seq[T, K] {
	if m > n {
		return nil
	}
	if m < 1 || int(n) > len(s) {
		value.SubSeq(s.value(), m, n)
	}
	return s[m-1 : n]
}

// With is [s EXCEPT ![i] = x]: s itself where i is not one of its indices.
func (s Seq[T, K]) With(i int32, x T) Seq[T, K] {
	if i < 1 || int(i) > len(s) {
		return s
	}
	out := append(Seq[T, K](nil), s...)
	out[i-1] = x
	return out
}

// Update is [s EXCEPT ![i] = f(@)].
func (s Seq[T, K]) Update(i int32, f func(T) T) Seq[T, K] {
	if i < 1 || int(i) > len(s) {
		return s
	}
	return s.With(i, f(s[i-1]))
}

// Domain is DOMAIN s.
func (s Seq[T, K]) Domain() Set[int32, Ints] { return Interval(1, int32(len(s))) }

// MakeSeq is [x \in 1..n |-> f(x)].
func MakeSeq[K Kind[T], T any](n int32, f func(int32) T) Seq[T, K] {
	checkSize(int64(n))
	out := make(Seq[T, K], max(n, 0))
	for i := range out {
		out[i] = f(int32(i) + 1)
	}
	return out
}

// AllSeqs is [1..n -> s].
func AllSeqs[T any, K Kind[T]](n int32, s Set[T, K]) Set[Seq[T, K], Seqs[T, K]] {
	checkPower(len(s), max(int(n), 0))
	out := Set[Seq[T, K], Seqs[T, K]]{nil}
	for i := int32(0); i < n; i++ {
		next := make(Set[Seq[T, K], Seqs[T, K]], 0, len(out)*len(s))
		for _, q := range out {
			for _, x := range s {
				next = append(next, q.Append(x))
			}
		}
		out = next
	}
	return out
}

// checkPower refuses a set of base^exp elements where that is too large.
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
