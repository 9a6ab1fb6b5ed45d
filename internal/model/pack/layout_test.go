// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// shapes draws types, and values that fit them or do not.
type shapes struct{ t *rapid.T }

func (g shapes) n(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(g.t, "n") }

// universe are different values of several kinds.
func (g shapes) universe(most int) *universe {
	pool := [][]value.Value{
		{value.String("a"), value.String("b"), value.Model("m"), value.String("c")},
		{value.Tuple(), value.Tuple(value.Int(1)), value.Tuple(value.Int(1), value.Int(2))},
		{value.EmptySet(), value.Set(value.Int(1)), value.Set(value.Int(1), value.Int(2)), value.Set(value.Int(7))},
		{value.Int(-3), value.Int(7)},
	}[g.n(0, 3)]
	if pool[0].Kind() == value.KindInt {
		for i := range int32(140) {
			pool = append(pool, value.Int(100+i))
		}
	}
	from := g.n(0, len(pool)-1)
	return universes{}.ofAll(pool[from:min(len(pool), from+g.n(1, most))])
}

func (g shapes) typ(depth int) *typ {
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch g.n(0, kinds-1) {
	case 0:
		return &typ{kind: kBool}
	case 1:
		lo := int64(g.n(-70, 70))
		return intType(lo, lo+int64(g.n(0, 1<<g.n(0, 20))))
	case 2:
		return &typ{kind: kAtom, u: g.universe(20)}
	case 3:
		return &typ{kind: kSet, u: g.universe(130)}
	case 4:
		return &typ{kind: kSeq, most: g.n(0, 3), elem: g.typ(depth - 1)}
	}
	t := fnType([]value.Value{value.Interval(1, 2), value.Set(value.String("x"), value.String("y")), value.Set(value.Model("p"), value.Model("q"), value.Int(3)), value.Interval(0, 1)}[g.n(0, 3)])
	for range t.keys {
		t.elems = append(t.elems, g.typ(depth-1))
	}
	return t
}

// value draws one that fits t, unless odd says that some may not.
func (g shapes) value(t *typ, odd bool) value.Value {
	if odd && g.n(0, 7) == 0 {
		odds := []value.Value{value.Int(1 << 30), value.Int(-1 << 30), value.Bool(false), value.String("zz"), value.Tuple(value.Int(9), value.Int(9), value.Int(9), value.Int(9)),
			value.Set(value.String("zz")), value.Model("zz"), value.Tuple(), value.EmptySet()}
		return odds[g.n(0, len(odds)-1)]
	}
	switch t.kind {
	case kBool:
		return value.Bool(g.n(0, 1) == 1)
	case kInt:
		if odd && g.n(0, 3) == 0 {
			return value.Int(int32([]int64{t.lo - 1, t.hi + 1}[g.n(0, 1)]))
		}
		return value.Int(int32(t.lo) + int32(g.n(0, int(t.hi-t.lo))))
	case kAtom:
		return t.u.vals[g.n(0, len(t.u.vals)-1)]
	case kSet:
		var elems []value.Value
		for _, x := range t.u.vals {
			if g.n(0, 2) == 0 {
				elems = append(elems, x)
			}
		}
		return value.SetOf(elems)
	case kSeq:
		most := t.most
		if odd {
			most++
		}
		var elems []value.Value
		for range g.n(0, most) {
			elems = append(elems, g.value(t.elem, odd))
		}
		return value.TupleOf(elems)
	}
	var vals []value.Value
	for i := range t.keys {
		vals = append(vals, g.value(t.elems[i], odd))
	}
	dom := t.dom
	if odd && g.n(0, 5) == 0 && len(vals) == 2 {
		dom = value.Set(value.String("x"), value.String("z"))
	}
	return value.FnOf(dom, vals)
}

// TestLayout: what fits comes back, from words and from bytes; different states
// have different bytes; what does not fit is told, and what comes back is never
// another value; and the masks of a variable are all that its values change.
func TestLayout(t *testing.T) {
	packed, outside := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := shapes{t}
		var types []*typ
		for range g.n(1, 4) {
			types = append(types, g.typ(g.n(0, 2)))
		}
		l := newLayout(types)
		if l == nil {
			return
		}
		known := map[string]bool{}
		var states [][]value.Value
		for k := range 12 {
			vals := make([]value.Value, len(types))
			for i := range types {
				vals[i] = g.value(types[i], k%2 == 1).Normal()
			}
			words := make([]uint64, l.Words())
			if !l.Encode(words, vals) {
				outside++
				if k%2 == 0 {
					t.Fatalf("%v does not fit", vals)
				}
				continue
			}
			packed++
			bytes := l.AppendBytes([]byte("x"), words)[1:]
			back := make([]uint64, l.Words())
			if !l.LoadBytes(back, bytes) || !slices.Equal(back, words) {
				t.Fatalf("%x from %x, want %x", back, bytes, words)
			}
			if l.LoadBytes(back, append([]byte{0}, bytes...)) || l.LoadBytes(back, append([]byte{bytes[0] &^ 1}, bytes[1:]...)) || l.LoadBytes(back, bytes[1:]) {
				t.Fatal("what is not packed is read as if it were")
			}
			again := make([]uint64, l.Words())
			again[0] = 1
			for i, v := range vals {
				if got := l.Value(words, i); !value.Equal(got, v) {
					t.Fatalf("%v came back as %v", v, got)
				}
				before := slices.Clone(again)
				if !l.Put(again, i, v) {
					t.Fatalf("%v is not put", v)
				}
				low, masks := l.Masks(i)
				for w := range again {
					mask := uint64(0)
					if w >= low && w < low+len(masks) {
						mask = masks[w-low]
					}
					if (again[w]^before[w])&^mask != 0 || before[w]&mask != 0 {
						t.Fatalf("variable %d: %x became %x in word %d, the mask is %x", i, before[w], again[w], w, mask)
					}
				}
			}
			if !slices.Equal(again, words) {
				t.Fatalf("one by one %x, at once %x", again, words)
			}
			same := slices.ContainsFunc(states, func(s []value.Value) bool {
				return slices.EqualFunc(s, vals, func(a, b value.Value) bool { return value.Equal(a, b) })
			})
			if known[string(bytes)] != same {
				t.Fatalf("%v has bytes that were met: %v", vals, known[string(bytes)])
			}
			known[string(bytes)] = true
			states = append(states, vals)
		}
	})
	if packed < 100 || outside < 20 {
		t.Errorf("%d packed, %d outside", packed, outside)
	}
}
