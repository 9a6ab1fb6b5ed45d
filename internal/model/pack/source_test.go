// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"strings"
	"testing"
)

// TestSourceRemembers: what is asked several times is remembered for a state, and
// for the elements that it speaks of; what reads a next state that may change is
// not.
func TestSourceRemembers(t *testing.T) {
	for _, c := range []struct {
		name      string
		registers int
		next      bool // something is read of the next state
		relation  bool // in the next-state relation, where that changes
		want      string
	}{
		{name: "a state", want: "if s.now == x.now {"},
		{name: "an element", registers: 1, want: "if s.now == x.now && s.regs == x.r[0] {"},
		{name: "two elements", registers: 2, want: "if s.now == x.now && s.regs == x.r[0]<<32 | x.r[1] {"},
		{name: "three elements", registers: 3},
		{name: "a step", next: true, want: "if s.now == x.now {"},
		{name: "a state in the relation", relation: true, want: "if s.now == x.now {"},
		{name: "a step in the relation", relation: true, next: true},
	} {
		b := &build{limit: 1000}
		value := b.load(field{0, 1, 8}, 0, c.next)
		var bound []int64
		for range c.registers {
			r, x := b.reg(0, 63)
			bound = append(bound, r)
			value = b.arith(oAdd, value, x)
		}
		for value.size <= inlineNodesMax {
			value = b.arith(oMod, b.arith(oAdd, value, b.k(3)), b.k(7))
		}
		test := b.or(b.less(value, b.k(2)), b.less(b.k(4), value))
		for _, r := range bound {
			test = b.node(node{op: oAll, list: []*node{b.load(field{0, 9, 6}, 0, false)}, a: test, k: r, hi: 1})
		}
		l := &Lowered{layout: newLayout([]*typ{intType(0, 255), intType(0, 63)}), regs: c.registers}
		if c.relation {
			l.next = &stmt{op: sGuard, a: test, next: &stmt{op: sEmit}}
		} else {
			l.preds = []*node{test}
		}
		text := string(Source(l, nil))
		if c.want == "" && strings.Contains(text, "s.now ==") || !strings.Contains(text, c.want) {
			t.Errorf("%s: want %q in\n%s", c.name, c.want, text[strings.Index(text, "func bit("):])
		}
	}
}
