// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"math/rand/v2"
	"testing"
)

// wordNode draws a word that is put together from the fields of one word.
func wordNode(r *rand.Rand, b *build, depth int) *node {
	small := func() *node { return b.load(field{shift: r.IntN(50), bits: 1 + r.IntN(5)}, int64(r.IntN(3)), false) }
	if depth == 0 {
		switch r.IntN(3) {
		case 0:
			return b.k(int64(r.Uint64()))
		case 1:
			return b.load(field{bits: 64}, 0, false)
		}
		return b.node(node{op: oBit, a: small(), k: 0})
	}
	sub := func() *node { return wordNode(r, b, depth-1) }
	switch r.IntN(8) {
	case 0:
		return b.band(sub(), sub())
	case 1:
		return b.bor(sub(), sub())
	case 2:
		return b.bdiff(sub(), sub())
	case 3:
		return b.cond(b.less(small(), small()), sub(), sub())
	case 4:
		return b.node(node{op: oShl, a: sub(), k: int64(r.IntN(127) - 63)})
	case 5:
		return b.node(node{op: oRange, a: small(), b: small(), c: b.k(int64(r.IntN(5) - 2)), k: 0})
	case 6:
		tab := make([]int64, 40)
		for i := range tab {
			tab[i] = int64(r.Uint64())
		}
		return b.table(tab, small())
	}
	at := b.load(field{shift: r.IntN(60), bits: 1}, 0, false)
	return b.node(node{op: oSel, a: at, list: []*node{sub(), sub()}, lo: -1 << 63, hi: 1<<63 - 1})
}

// TestBitsOfWords: a bit of a word that is put together is what the whole word
// has there, and no word has a bit that it may not have.
func TestBitsOfWords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	inside := 0
	for range 300 {
		b := &build{limit: 1 << 20}
		w := wordNode(r, b, 1+r.IntN(4))
		l := &Lowered{layout: &Layout{words: 1, bytes: 8}, preds: nil}
		for i := range 64 {
			n := b.test([]*node{w}, b.k(int64(i)))
			if n.op != oTest {
				inside++
			}
			l.preds = append(l.preds, n)
		}
		code := Compile(l)
		m := NewMachine(code)
		whole := newCompiler(code, nil, false).num(w)
		for range 20 {
			words := []uint64{r.Uint64()}
			m.cur = words
			want := whole(m)
			if want&^w.may != 0 {
				t.Fatalf("a word has the bits %#x, it may have %#x", want, w.may)
			}
			for i := range 64 {
				got, ok := m.Holds(i, words, nil)
				if !ok || got != (want>>i&1 != 0) {
					t.Fatalf("bit %d of %#x is %v, %v", i, want, got, ok)
				}
			}
		}
	}
	if inside < 10_000 {
		t.Errorf("%d bits were looked for within words, there are more", inside)
	}
}

// TestMemo: what a shared node gave is not taken for what it gives in another
// state, or for another element.
func TestMemo(t *testing.T) {
	b := &build{limit: 1 << 20}
	reg, r := b.reg(0, 63)
	x := b.load(field{bits: 8}, 0, false)
	// Whether the number of an element is x: large enough to be remembered.
	is := b.and(b.not(b.less(r, x)), b.not(b.less(x, r)), b.not(b.less(b.arith(oAdd, r, b.k(1)), b.arith(oAdd, x, b.k(1)))))
	any := func() *node {
		return b.node(node{op: oAny, list: []*node{b.k(-1)}, k: reg, a: b.cond(is, is, b.k(0)), hi: 1})
	}
	l := &Lowered{layout: &Layout{words: 1, bytes: 8}, regs: b.regs, preds: []*node{b.and(any(), any())}}
	code := Compile(l)
	if code.memos == 0 {
		t.Fatal("nothing is remembered")
	}
	m := NewMachine(code)
	for _, v := range []uint64{3, 200, 63, 64, 3} {
		if got, ok := m.Holds(0, []uint64{v}, nil); !ok || got != (v < 64) {
			t.Errorf("an element that is %d: %v, %v", v, got, ok)
		}
	}
}
