// SPDX-License-Identifier: Apache-2.0

package pack

import "testing"

// memoPair says of two elements of 0..15 whether the first is above the second and
// together they are the number in the state: large enough to be remembered.
func memoPair(b *build, r, q *node) *node {
	x := b.load(field{bits: 8}, 0, false)
	sum := b.arith(oAdd, b.arith(oMul, r, b.k(16)), q)
	return b.and(b.less(q, r), b.not(b.less(sum, x)), b.not(b.less(x, sum)), b.not(b.less(b.arith(oAdd, sum, b.k(1)), b.arith(oAdd, x, b.k(1)))))
}

// memoLoops asks twice, in two loops, whether there is such a pair. The loops may
// name the elements in the other order.
func memoLoops(b *build, turned bool) (n *node, shared *node) {
	k, r := b.reg(0, 15)
	j, q := b.reg(0, 15)
	shared = memoPair(b, r, q)
	loop := func(outer, inner int64) *node {
		all := []*node{b.k(1<<16 - 1)}
		body := b.cond(shared, shared, b.k(0))
		return b.node(node{op: oAny, list: all, k: outer, hi: 1, a: b.node(node{op: oAny, list: all, k: inner, a: body, hi: 1})})
	}
	if turned {
		return b.and(loop(k, j), loop(j, k)), shared
	}
	return b.and(loop(k, j), loop(k, j)), shared
}

// TestMemoOfTwoElements: what a shared node gave for two elements is not taken for
// what it gives for others, nor for the same two the other way round.
func TestMemoOfTwoElements(t *testing.T) {
	for _, turned := range []bool{false, true} {
		b := &build{limit: 1 << 20}
		n, shared := memoLoops(b, turned)
		if len(shared.free) != 2 {
			t.Fatalf("the node depends on %d elements", len(shared.free))
		}
		code := Compile(&Lowered{layout: &Layout{words: 1, bytes: 8}, regs: b.regs, preds: []*node{n}})
		if code.memos == 0 {
			t.Fatal("nothing is remembered")
		}
		m := NewMachine(code)
		for x := range uint64(256) {
			want := x/16 > x%16
			if got, ok := m.Holds(0, []uint64{x}, nil); !ok || got != want {
				t.Errorf("a pair that is %d: %v, %v", x, got, ok)
			}
		}
	}
}

// TestMemoOfManyElements: what depends on more elements than a memo tells apart is
// computed each time.
func TestMemoOfManyElements(t *testing.T) {
	b := &build{limit: 1 << 20}
	x := b.load(field{bits: 8}, 0, false)
	var loops []int64
	sum := b.k(0)
	for range 3 {
		k, r := b.reg(0, 3)
		loops, sum = append(loops, k), b.arith(oAdd, b.arith(oMul, sum, b.k(4)), r)
	}
	is := b.and(b.not(b.less(sum, x)), b.not(b.less(x, sum)))
	if len(is.free) != 3 || is.size < memoSizeMin {
		t.Fatalf("the node depends on %d elements and has the size %d", len(is.free), is.size)
	}
	n := b.cond(is, is, b.k(0))
	for i := range loops { // the last is the innermost: it is the one that a memo would forget
		n = b.node(node{op: oAny, list: []*node{b.k(15)}, k: loops[len(loops)-1-i], a: n, hi: 1})
	}
	code := Compile(&Lowered{layout: &Layout{words: 1, bytes: 8}, regs: b.regs, preds: []*node{b.and(n, n)}})
	m := NewMachine(code)
	for v := range uint64(80) {
		if got, ok := m.Holds(0, []uint64{v}, nil); !ok || got != (v < 64) {
			t.Errorf("three that are %d: %v, %v", v, got, ok)
		}
	}
}

// TestMemoOfTheNextState: what is read of the next state is not remembered while
// that is being built.
func TestMemoOfTheNextState(t *testing.T) {
	b := &build{limit: 1 << 20}
	at := field{bits: 8}
	x := b.load(at, 0, true)
	big := b.and(b.less(x, b.k(200)), b.not(b.less(x, b.k(3))), b.not(b.less(b.arith(oAdd, x, b.k(1)), b.k(4))))
	if !big.reads || big.size < memoSizeMin {
		t.Fatalf("the node reads the next state: %v, its size is %d", big.reads, big.size)
	}
	var list []*stmt
	for v := range int64(6) {
		list = append(list, &stmt{op: sStore, f: at, a: b.k(v), next: &stmt{op: sGuard, a: big, next: &stmt{op: sGuard, a: b.cond(big, big, b.k(0)), next: &stmt{op: sEmit}}}})
	}
	code := Compile(&Lowered{layout: &Layout{words: 1, bytes: 8}, next: &stmt{op: sOr, list: list}})
	m := NewMachine(code)
	var got []uint64
	if !m.Next([]uint64{0}, func(_ int, words []uint64) bool {
		got = append(got, words[0])
		return true
	}) {
		t.Fatal("the code stopped")
	}
	if len(got) != 3 || got[0] != 3 || got[1] != 4 || got[2] != 5 {
		t.Errorf("the successors are %v", got)
	}
}

// TestMemoOfTwoElementsInTurn has a pair follow the same two the other way round.
func TestMemoOfTwoElementsInTurn(t *testing.T) {
	b := &build{limit: 1 << 20}
	k, r := b.reg(0, 1)
	j, q := b.reg(0, 1)
	pair := memoPair(b, r, q)
	other := b.node(node{op: oBit, a: b.arith(oSub, b.k(1), r)})
	n := b.node(node{op: oAny, list: []*node{other}, k: j, a: b.cond(pair, pair, b.k(0)), hi: 1})
	n = b.node(node{op: oAny, list: []*node{b.k(3)}, k: k, a: n, hi: 1})
	m := NewMachine(Compile(&Lowered{layout: &Layout{words: 1, bytes: 8}, regs: b.regs, preds: []*node{n}}))
	for x := range uint64(40) {
		if got, ok := m.Holds(0, []uint64{x}, nil); !ok || got != (x == 16) {
			t.Errorf("1 and 0 in turn, that are %d: %v, %v", x, got, ok)
		}
	}
}
