// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"cmp"
	"slices"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// Images are the permutations of a model's symmetry as operations on words:
// what each does to the bits of a packed state. They are immutable.
type Images struct {
	words int
	perms []image
}

// image is one permutation: groups of bits that move together, and fields whose
// values are renamed.
type image struct {
	moves   []move
	renames []rename
}

// move moves the bits of mask from one word to another, shifted up or down.
type move struct {
	from, to, shift int
	mask            uint64
}

// rename stores tab[x] at where, for the value x of the field from. In a
// sequence, the element number at exists only if the length, in the field
// length, is greater.
type rename struct {
	from   field
	to     field
	tab    []uint64
	inSeq  bool
	length field
	at     uint64
}

// Images returns the permutations as operations on the words of the layout.
// Each permutation is given as a function on values. The result is nil if the
// image of a packed state may not be packable.
func (l *Layout) Images(perms []func(value.Value) value.Value) (out *Images) {
	out = &Images{words: l.words}
	err := value.Catch(func() {
		for _, p := range perms {
			b := &imager{p: p, masks: map[move]uint64{{shift: 0}: 1}}
			for _, v := range l.vars {
				b.place(v, v)
			}
			out.perms = append(out.perms, b.image())
		}
	})
	if err != nil {
		return nil
	}
	return out
}

// imager makes an image.
type imager struct {
	p       func(value.Value) value.Value
	masks   map[move]uint64 // by what moves them, without mask
	renames []rename
	seq     *rename // the innermost sequence, and the element's number
}

func (b *imager) image() (out image) {
	for m, mask := range b.masks {
		m.mask = mask
		out.moves = append(out.moves, m)
	}
	slices.SortFunc(out.moves, func(x, y move) int {
		return cmp.Or(x.from-y.from, x.to-y.to, x.shift-y.shift)
	})
	out.renames = b.renames
	return out
}

// bits records a move of n bits.
func (b *imager) bits(fromWord, fromShift, toWord, toShift, n int) {
	if n > 0 {
		b.masks[move{from: fromWord, to: toWord, shift: toShift - fromShift}] |= field{bits: n}.mask() << fromShift
	}
}

func (b *imager) field(from, to field) {
	if from.bits != to.bits {
		giveUp("two fields are of different sizes")
	}
	b.bits(from.word, from.shift, to.word, to.shift, from.bits)
}

// numbers returns, for each value of u, the number of its image in v.
func (b *imager) numbers(u, v *universe) (out []int, same bool) {
	same = true
	for i, x := range u.vals {
		j := v.find(b.p(x))
		if j < 0 {
			giveUp("the image of a value has no place")
		}
		out = append(out, j)
		same = same && i == j
	}
	return out, same
}

// place records the moves from the location of one value to that of another.
func (b *imager) place(from, to *loc) {
	s, t := from.t, to.t
	if s.kind != t.kind || s.kind == kInt && (s.lo != t.lo || s.hi != t.hi) || s.kind == kSeq && s.most != t.most {
		giveUp("two places are of different types")
	}
	switch s.kind {
	case kBool, kInt:
		b.field(from.f, to.f)
	case kAtom:
		b.atom(from, to)
	case kSet:
		list, _ := b.numbers(s.u, t.u)
		for i, j := range list {
			p, q := from.parts[i/64], to.parts[j/64]
			b.bits(p.word, p.shift+i%64, q.word, q.shift+j%64, 1)
		}
	case kFn:
		for i, k := range s.keys {
			j := t.key(b.p(k))
			if j < 0 || len(s.keys) != len(t.keys) {
				giveUp("the image of an argument is none")
			}
			b.place(from.elems[i], to.elems[j])
		}
	case kSeq:
		b.field(from.f, to.f)
		outer := b.seq
		for i := range from.elems {
			b.seq = &rename{inSeq: true, length: from.f, at: uint64(i)}
			b.place(from.elems[i], to.elems[i])
		}
		b.seq = outer
	}
}

func (b *imager) atom(from, to *loc) {
	list, same := b.numbers(from.t.u, to.t.u)
	if same {
		b.field(from.f, to.f)
		return
	}
	r := rename{from: from.f, to: to.f, tab: make([]uint64, 1<<from.f.bits)}
	for i, j := range list {
		r.tab[i] = uint64(j)
	}
	if b.seq != nil {
		// Beyond the end of a sequence, all bits remain 0.
		r.inSeq, r.length, r.at = true, b.seq.length, b.seq.at
	}
	b.renames = append(b.renames, r)
}

// Least stores the least image of a packed state, including the state itself,
// in best. scratch is working memory. Both have the length of a state.
func (m *Images) Least(words, best, scratch []uint64) {
	copy(best, words)
	for i := range m.perms {
		m.perms[i].apply(words, scratch)
		if slices.Compare(scratch, best) < 0 {
			copy(best, scratch)
		}
	}
}

func (p *image) apply(words, out []uint64) {
	clear(out)
	for i := range p.moves {
		m := &p.moves[i]
		x := words[m.from] & m.mask
		if m.shift >= 0 {
			x <<= m.shift
		} else {
			x >>= -m.shift
		}
		out[m.to] |= x
	}
	for i := range p.renames {
		r := &p.renames[i]
		if r.inSeq && r.length.get(words) <= r.at {
			continue
		}
		out[r.to.word] |= r.tab[r.from.get(words)] << r.to.shift
	}
}
