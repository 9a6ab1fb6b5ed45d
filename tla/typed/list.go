// SPDX-License-Identifier: Apache-2.0

package typed

// shortMax is the largest number of elements that a list holds in one slice.
const shortMax = 64

// list holds the elements of a set or the values of a function: a slice when
// short, a tree when long. Which one depends on the length alone. The zero list
// is empty.
type list[T, F any] struct {
	short []T
	long  *node[T, F]
}

// listOf is the list of s. It takes ownership of s.
func listOf[F, T any](s []T) list[T, F] {
	if len(s) <= shortMax {
		return list[T, F]{short: s}
	}
	return list[T, F]{long: build[T, F](s)}
}

func (l list[T, F]) len() int {
	if l.long == nil {
		return len(l.short)
	}
	return l.long.len()
}

func (l list[T, F]) at(i int) T { return l.run(i)[0] }

// run is one or more elements, beginning with element i.
func (l list[T, F]) run(i int) []T {
	if l.long == nil {
		return l.short[i:]
	}
	return l.long.run(i)
}

// slice returns the elements. The caller must not change them.
func (l list[T, F]) slice() []T {
	if l.long == nil {
		return l.short
	}
	return sliceOf[T](l)
}

func (l list[T, F]) with(i int, x T) list[T, F] {
	if l.long != nil {
		return list[T, F]{long: l.long.with(i, x)}
	}
	s := append([]T(nil), l.short...)
	s[i] = x
	return list[T, F]{short: s}
}

func (l list[T, F]) insert(i int, x T) list[T, F] {
	if l.long == nil {
		return listOf[F](inserted(l.short, i, x))
	}
	return list[T, F]{long: root(l.long.insert(i, x))}
}

func (l list[T, F]) remove(i int) list[T, F] {
	if l.long == nil {
		return list[T, F]{short: removed(l.short, i)}
	}
	l.long = root(l.long.remove(i), nil)
	if l.len() <= shortMax {
		return list[T, F]{short: l.slice()}
	}
	return l
}

// elements is a set, a sequence, or the values of a function.
type elements[T any] interface {
	len() int
	// run is one or more elements that follow each other, beginning with element
	// i, from 0.
	run(i int) []T
}

func sliceOf[T any, E elements[T]](e E) []T {
	n := e.len()
	out := make([]T, 0, n)
	for len(out) < n {
		out = append(out, e.run(len(out))...)
	}
	return out
}

// compareAll orders by length, then element by element. Parts that both share
// are equal.
func compareAll[K Kind[T], T any, E elements[T]](a, b E) int {
	n := a.len()
	if c := n - b.len(); c != 0 {
		return c
	}
	var k K
	for i := 0; i < n; {
		x, y := a.run(i), b.run(i)
		m := min(len(x), len(y))
		if &x[0] != &y[0] {
			for j := range m {
				if c := k.Compare(x[j], y[j]); c != 0 {
					return c
				}
			}
		}
		i += m
	}
	return 0
}

func equalAll[K Kind[T], T any, E elements[T]](a, b E) bool {
	n := a.len()
	if n != b.len() {
		return false
	}
	var k K
	for i := 0; i < n; {
		x, y := a.run(i), b.run(i)
		m := min(len(x), len(y))
		if &x[0] != &y[0] {
			for j := range m {
				if !k.Equal(x[j], y[j]) {
					return false
				}
			}
		}
		i += m
	}
	return true
}
