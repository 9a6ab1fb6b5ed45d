// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// wordsMax bounds the size of a packed state.
const wordsMax = 128

// field is a range of bits in one word of a state.
type field struct {
	word, shift, bits int
}

func (f field) mask() uint64 { return 1<<f.bits - 1 } // also for 64

// loc is the location of a value of a type in a state. Each field holds the
// value minus the type's minimum.
type loc struct {
	t     *typ
	f     field   // kBool, kInt, kAtom; the length of a kSeq
	parts []field // kSet: 64 elements each
	elems []*loc  // kFn, kSeq
}

// Layout maps the values of variables to the words of a state. The lowest bit
// of the first word is always set, so that the bytes of a packed state never
// begin with 0. A Layout is immutable.
type Layout struct {
	vars  []*loc
	words int
	bytes int
}

// layouter allocates the bits of words, from the lowest up.
type layouter struct{ word, used int }

func (l *layouter) field(bits int) field {
	if l.used+bits > 64 {
		l.word, l.used = l.word+1, 0
	}
	f := field{l.word, l.used, bits}
	l.used += bits
	return f
}

func (l *layouter) place(t *typ) *loc {
	out := &loc{t: t}
	switch t.kind {
	case kSet:
		for k := range t.u.words() {
			out.parts = append(out.parts, l.field(min(len(t.u.vals)-64*k, 64)))
		}
	case kFn:
		for _, e := range t.elems {
			out.elems = append(out.elems, l.place(e))
		}
	case kSeq:
		out.f = l.field(width(t.most + 1))
		for range t.most {
			out.elems = append(out.elems, l.place(t.elem))
		}
	default:
		out.f = l.field(t.bits())
	}
	return out
}

// newLayout returns a layout for variables of these types, or nil if it needs
// too many words.
func newLayout(types []*typ) *Layout {
	total := 0
	for _, t := range types {
		if total += t.bits(); total > 64*wordsMax {
			return nil
		}
	}
	l, out := &layouter{used: 1}, &Layout{}
	for _, t := range types {
		out.vars = append(out.vars, l.place(t))
	}
	out.words = l.word + 1
	out.bytes = l.word*8 + (l.used+7)/8
	if out.words > wordsMax {
		return nil
	}
	return out
}

// Words returns the number of words of a state.
func (l *Layout) Words() int { return l.words }

// AppendBytes appends the bytes of a packed state. Two states have equal bytes
// exactly if they are equal.
func (l *Layout) AppendBytes(buf []byte, words []uint64) []byte {
	for _, w := range words[:l.words-1] {
		buf = binary.LittleEndian.AppendUint64(buf, w)
	}
	last := words[l.words-1]
	for range l.bytes - 8*(l.words-1) {
		buf = append(buf, byte(last))
		last >>= 8
	}
	return buf
}

// LoadBytes fills words with the state whose bytes AppendBytes made. It returns
// false if the number of bytes is wrong, or if they are not a packed state.
func (l *Layout) LoadBytes(words []uint64, b []byte) bool {
	if len(b) != l.bytes || b[0]&1 == 0 {
		return false
	}
	for i := range l.words - 1 {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	rest, last := b[8*(l.words-1):], uint64(0)
	for i := len(rest) - 1; i >= 0; i-- {
		last = last<<8 | uint64(rest[i])
	}
	words[l.words-1] = last
	return true
}

// Encode packs the values of the variables into words. It returns false if a
// value does not fit; then words are undefined.
func (l *Layout) Encode(words []uint64, vals []value.Value) bool {
	clear(words)
	words[0] = 1
	ok := true
	err := value.Catch(func() {
		for i, v := range vals {
			if ok = ok && l.vars[i].put(words, v); !ok {
				return
			}
		}
	})
	return ok && err == nil
}

// Put packs the value of variable i into words whose bits for it are 0. It
// returns false if the value does not fit.
func (l *Layout) Put(words []uint64, i int, v value.Value) bool {
	ok := false
	err := value.Catch(func() { ok = l.vars[i].put(words, v) })
	return ok && err == nil
}

func (f field) set(words []uint64, x uint64) { words[f.word] |= x << f.shift }

func (f field) get(words []uint64) uint64 { return words[f.word] >> f.shift & f.mask() }

func (l *loc) put(words []uint64, v value.Value) bool {
	t := l.t
	switch t.kind {
	case kBool:
		if v.Kind() != value.KindBool {
			return false
		}
		if v.IsTrue() {
			l.f.set(words, 1)
		}
	case kInt:
		if v.Kind() != value.KindInt {
			return false
		}
		x := int64(v.AsInt())
		if x < t.lo || x > t.hi {
			return false
		}
		l.f.set(words, uint64(x-t.lo))
	case kAtom:
		i := t.u.find(v)
		if i < 0 {
			return false
		}
		l.f.set(words, uint64(i))
	case kSet:
		if v.Kind() != value.KindSet || !value.IsFinite(v) {
			return false
		}
		for x := range v.Each {
			i := t.u.find(x)
			if i < 0 {
				return false
			}
			p := l.parts[i/64]
			words[p.word] |= 1 << (p.shift + i%64)
		}
	default:
		return l.putFn(words, v)
	}
	return true
}

func (l *loc) putFn(words []uint64, v value.Value) bool {
	t := l.t
	v = v.Normal()
	switch v.Kind() {
	case value.KindTuple, value.KindRecord, value.KindFn:
	default:
		return false
	}
	vals := fnValues(v)
	if t.kind == kSeq {
		if v.Kind() != value.KindTuple || len(vals) > t.most {
			return false
		}
		l.f.set(words, uint64(len(vals)))
	} else if len(vals) != len(t.keys) || !value.Equal(v.Domain(), t.dom) {
		return false
	}
	for i, x := range vals {
		if !l.elems[i].put(words, x) {
			return false
		}
	}
	return true
}

// fnValues returns the values of a function in the order of its domain.
func fnValues(v value.Value) []value.Value {
	if v.Kind() == value.KindTuple {
		return v.Elements()
	}
	return v.Values()
}

// Value returns the value of variable i in a packed state.
func (l *Layout) Value(words []uint64, i int) value.Value { return l.vars[i].get(words) }

func (l *loc) get(words []uint64) value.Value {
	t := l.t
	switch t.kind {
	case kBool:
		return value.Bool(l.f.get(words) != 0)
	case kInt:
		return value.Int(int32(int64(l.f.get(words)) + t.lo))
	case kAtom:
		return t.u.vals[l.f.get(words)]
	case kSet:
		var elems []value.Value
		for i, x := range t.u.vals {
			p := l.parts[i/64]
			if words[p.word]>>(p.shift+i%64)&1 != 0 {
				elems = append(elems, x)
			}
		}
		return value.SetOf(elems)
	}
	n := len(l.elems)
	if t.kind == kSeq {
		n = int(l.f.get(words))
	}
	vals := make([]value.Value, n)
	for i := range vals {
		vals[i] = l.elems[i].get(words)
	}
	if t.kind == kSeq {
		return value.TupleOf(vals)
	}
	return value.FnOf(t.dom, vals)
}

// fields visits all fields of a location.
func (l *loc) fields(visit func(field)) {
	switch l.t.kind {
	case kSet:
		for _, p := range l.parts {
			visit(p)
		}
	case kFn, kSeq:
		if l.t.kind == kSeq {
			visit(l.f)
		}
		for _, e := range l.elems {
			e.fields(visit)
		}
	default:
		visit(l.f)
	}
}

// Masks returns the bits of variable i: the masks of consecutive words, the
// first of which is low.
func (l *Layout) Masks(i int) (low int, masks []uint64) {
	words := make([]uint64, l.words)
	low, high := l.words-1, 0
	l.vars[i].fields(func(f field) {
		words[f.word] |= f.mask() << f.shift
		low, high = min(low, f.word), max(high, f.word)
	})
	if high < low {
		high = low
	}
	return low, words[low : high+1]
}
