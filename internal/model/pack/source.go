// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"fmt"
	"strings"
)

// Source prints lowered code as the Go package main: a program that searches the
// model with the checker's engine, by way of package internal/search/program. The
// program does the same as Compile's closures. The same code always gives the same
// text. If the model has a view with code, the view identifies states; otherwise
// the images do, if they are not nil.
func Source(l *Lowered, images *Images) []byte {
	w := &printer{nums: make(map[printed]string), tests: make(map[printed]string), execs: make(map[*stmt]string),
		uses: make(map[*stmt]int), shared: sharedNodes(l), looping: make(map[*node]bool)}
	w.count(l.next)
	main := "nothing"
	if l.next != nil {
		main = w.function(l.next)
	}
	w.still = true
	preds := make([]string, len(l.preds))
	for i, p := range l.preds {
		preds[i] = w.predFunction(p)
	}
	var key strings.Builder
	named := w.key(&key, l, images)
	var out strings.Builder
	out.WriteString("// Code generated from a specification by ashlar. DO NOT EDIT.\n\npackage main\n\n")
	out.WriteString("import (\n\t\"math/bits\"\n\n\t\"github.com/ashlar-dev/ashlar/internal/search/program\"\n)\n\n")
	fmt.Fprintf(&out, "type st struct {\n\tc, n [%d]uint64\n\tr [%d]int64\n\tstop bool\n\temit func(int) bool\n\tnow uint64\n\tm [%d]memo\n}\n\n", l.layout.words, max(l.regs, 1), w.memos)
	out.WriteString(sourceHead)
	fmt.Fprintf(&out, "func main() {\n\tprogram.Main(program.Sizes{Words: %d, Bytes: %d, Key: %d}, func() program.Machine { return new(st) })\n}\n\n", l.layout.words, l.layout.bytes, named)
	fmt.Fprintf(&out, "func (x *st) Run(cur []uint64) bool {\n\tx.c, x.n, x.stop = [%[1]d]uint64(cur), [%[1]d]uint64(cur), false\n\tx.now++\n\t%[2]s(x)\n\treturn !x.stop\n}\n\n", l.layout.words, main)
	fmt.Fprintf(&out, "func (x *st) Holds(i int, cur, nxt []uint64) (holds, ok bool) {\n\tx.c, x.stop = [%[1]d]uint64(cur), false\n\tx.now++\n\tif nxt != nil {\n\t\tx.n = [%[1]d]uint64(nxt)\n\t}\n\tholds = preds[i](x)\n\treturn holds, !x.stop\n}\n\n", l.layout.words)
	fmt.Fprintf(&out, "var preds = [...]func(*st) bool{%s}\n\n", strings.Join(preds, ", "))
	out.WriteString(key.String())
	out.WriteString(w.tables.String())
	out.WriteString(w.funcs.String())
	return []byte(out.String())
}

// sourceHead is the part that all programs share.
const sourceHead = `var _ = bits.OnesCount64

// memo is what a shared node gave in the state that has the number now, when its
// registers had the values regs.
type memo struct {
	now     uint64
	regs, v int64
}

func nothing(*st) bool { return true }

func (x *st) Start(emit func(int) bool) { x.emit = emit }

func (x *st) Words() []uint64 { return x.n[:] }

func (x *st) fail() int64 {
	x.stop = true
	return 0
}

func (x *st) failed() bool {
	x.stop = true
	return false
}

func (x *st) word(v int64) int64 {
	if v != int64(int32(v)) {
		x.stop = true
		return 0
	}
	return v
}

func (x *st) div(a, b int64) int64 {
	if b == 0 {
		return x.fail()
	}
	q := a / b
	if a%b != 0 && (a%b < 0) != (b < 0) {
		q--
	}
	return x.word(q)
}

func (x *st) mod(a, b int64) int64 {
	if b <= 0 {
		return x.fail()
	}
	if a %= b; a < 0 {
		a += b
	}
	return a
}

func (x *st) in(v, lo, hi int64) int64 {
	if v < lo || v > hi {
		return x.fail()
	}
	return v
}

func (x *st) tab(t []int64, i int64) int64 {
	if uint64(i) >= uint64(len(t)) || t[i] == -1<<62 {
		return x.fail()
	}
	return t[i]
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func span(lo, hi int64) int64 {
	lo, hi = max(lo, 0), min(hi, 63)
	if lo > hi {
		return 0
	}
	return int64(^uint64(0) >> (63 - (hi - lo)) << lo)
}

func bit(i, k int64) int64 {
	if i < 0 || i>>6 != k {
		return 0
	}
	return 1 << (i & 63)
}

`

// printer prints nodes and statements; large ones become functions.
type printer struct {
	nums, tests map[printed]string
	execs       map[*stmt]string
	uses        map[*stmt]int
	shared      map[*node]bool
	looping     map[*node]bool // what loops has found
	memos       int
	// still: the next state does not change while the code runs.
	still  bool
	n      int
	tables strings.Builder
	funcs  strings.Builder
}

// inlineNodesMax is the maximum size of a node that is not printed as a
// function of its own.
const inlineNodesMax = 24

// apart reports whether a node is printed as a function although it is an
// expression: if it is large, or if it is shared and contains a loop.
func (w *printer) apart(n *node) bool {
	return n.size > inlineNodesMax || w.remembers(n) && w.loops(n)
}

func (w *printer) name(prefix string) string {
	w.n++
	return fmt.Sprintf("%s%d", prefix, w.n)
}

// num prints n as a number.
func (w *printer) num(n *node) string {
	key := w.printed(n)
	if s, ok := w.nums[key]; ok {
		return s
	}
	s, simple := w.simpleNum(n)
	if simple && w.apart(n) {
		s, simple = "return "+s, false
	}
	if !simple {
		s = w.define("f", "int64", s, n) + "(x)"
	}
	w.nums[key] = s
	return s
}

// test prints n as a condition.
func (w *printer) test(n *node) string {
	key := w.printed(n)
	if s, ok := w.tests[key]; ok {
		return s
	}
	s, simple := w.simpleTest(n)
	if simple && w.apart(n) {
		s, simple = "return "+s, false
	}
	if !simple {
		s = w.define("p", "bool", s, n) + "(x)"
	}
	w.tests[key] = s
	return s
}

func (w *printer) predFunction(n *node) string {
	name := w.name("pred")
	fmt.Fprintf(&w.funcs, "func %s(x *st) bool { return %s }\n\n", name, w.test(n))
	return name
}

func number(k int64) string { return fmt.Sprintf("int64(%d)", k) }

// word prints a number as a word.
func (w *printer) word(n *node) string {
	if n.known() {
		return fmt.Sprintf("uint64(%#x)", uint64(n.k))
	}
	return "uint64(" + w.num(n) + ")"
}

func (n *node) from() string {
	if n.next {
		return "n"
	}
	return "c"
}

// simpleNum prints a number as an expression, or as the body of a function.
func (w *printer) simpleNum(n *node) (text string, simple bool) {
	two := func(format string) (string, bool) {
		return fmt.Sprintf(format, w.num(n.a), w.num(n.b)), true
	}
	switch n.op {
	case oConst:
		return number(n.k), true
	case oLoad:
		s := fmt.Sprintf("int64(x.%s[%d]>>%d&%#x)", n.from(), n.f.word, n.f.shift, n.f.mask())
		if n.k != 0 {
			s = fmt.Sprintf("(%s + %s)", s, number(n.k))
		}
		return s, true
	case oReg:
		return fmt.Sprintf("x.r[%d]", n.k), true
	case oAdd, oSub, oMul:
		format := map[op]string{oAdd: "(%s + %s)", oSub: "(%s - %s)", oMul: "(%s * %s)"}[n.op]
		if !n.pure {
			format = "x.word" + format
		}
		return two(format)
	case oDiv:
		return two("x.div(%s, %s)")
	case oMod:
		return two("x.mod(%s, %s)")
	case oBand:
		return two("(%s & %s)")
	case oBor:
		return two("(%s | %s)")
	case oBdiff:
		return two("(%s &^ %s)")
	case oShl:
		if n.k < 0 {
			return fmt.Sprintf("int64(%s>>%d)", w.word(n.a), -n.k), true
		}
		return fmt.Sprintf("(%s << %d)", w.num(n.a), n.k), true
	case oBit:
		return fmt.Sprintf("bit(%s, %d)", w.num(n.a), n.k), true
	case oRange:
		return fmt.Sprintf("span(%[1]s - %[3]s, %[2]s - %[3]s)", w.num(n.a), w.num(n.b), number(n.c.k+64*n.k)), true
	case oPop:
		var parts []string
		for _, x := range n.list {
			parts = append(parts, fmt.Sprintf("bits.OnesCount64(%s)", w.word(x)))
		}
		return "int64(" + strings.Join(parts, " + ") + ")", true
	case oTab:
		return fmt.Sprintf("x.tab(%s[:], %s)", w.table(n.tab), w.num(n.a)), true
	case oIn:
		return fmt.Sprintf("x.in(%s, %d, %d)", w.num(n.a), n.lo, n.hi), true
	case oIf:
		return fmt.Sprintf("if %s {\nreturn %s\n}\nreturn %s", w.test(n.a), w.num(n.b), w.num(n.c)), false
	case oSel, oFilter, oFirst:
		return w.longNum(n), false
	case oStop:
		return "x.fail()", true
	}
	return fmt.Sprintf("one(%s)", w.test(n)), true
}

func (w *printer) longNum(n *node) string {
	var b strings.Builder
	switch n.op {
	case oSel:
		fmt.Fprintf(&b, "switch %s {\n", w.num(n.a))
		for i, x := range n.list {
			fmt.Fprintf(&b, "case %d:\nreturn %s\n", i, w.num(x))
		}
		b.WriteString("}\nreturn x.fail()")
	case oFilter:
		fmt.Fprintf(&b, "out := uint64(0)\nfor w := %s; w != 0; w &= w - 1 {\ni := bits.TrailingZeros64(w)\nx.r[%d] = %d + int64(i)\nif %s {\nout |= 1 << i\n}\n}\nreturn int64(out)",
			w.word(n.b), uint32(n.k), n.k>>32*64, w.test(n.a))
	default:
		w.loop(&b, n.list, n.k, fmt.Sprintf("if %s {\nreturn x.r[%d]\n}\n", w.test(n.a), n.k))
		b.WriteString("return x.fail()")
	}
	return b.String()
}

// loop prints a loop over the set bits of words.
func (w *printer) loop(b *strings.Builder, words []*node, r int64, body string) {
	for k, x := range words {
		fmt.Fprintf(b, "for w := %s; w != 0; w &= w - 1 {\nx.r[%d] = %d + int64(bits.TrailingZeros64(w))\n%s}\n", w.word(x), r, 64*k, body)
	}
}

func (w *printer) table(tab []int64) string {
	name := w.name("t")
	fmt.Fprintf(&w.tables, "var %s = [...]int64{", name)
	for i, v := range tab {
		if i > 0 {
			w.tables.WriteString(", ")
		}
		fmt.Fprint(&w.tables, v)
	}
	w.tables.WriteString("}\n\n")
	return name
}

// simpleTest prints a condition as an expression, or as the body of a function.
func (w *printer) simpleTest(n *node) (text string, simple bool) {
	switch n.op {
	case oConst:
		return fmt.Sprint(n.k != 0), true
	case oEq:
		if n.b.known() && n.a.op == oLoad && uint64(n.b.k-n.a.k) <= n.a.f.mask() {
			a := n.a
			return fmt.Sprintf("x.%s[%d]&%#x == %#x", a.from(), a.f.word, a.f.mask()<<a.f.shift, uint64(n.b.k-a.k)<<a.f.shift), true
		}
		return fmt.Sprintf("%s == %s", w.num(n.a), w.num(n.b)), true
	case oLt:
		return fmt.Sprintf("%s < %s", w.num(n.a), w.num(n.b)), true
	case oAnd, oOr:
		parts := make([]string, len(n.list))
		for i, x := range n.list {
			parts[i] = w.test(x)
		}
		if n.op == oAnd {
			return "(" + strings.Join(parts, " && ") + ")", true
		}
		return "(" + strings.Join(parts, " || ") + ")", true
	case oNot:
		return "!(" + w.test(n.a) + ")", true
	case oTest:
		return w.testBit(n)
	case oIf:
		return fmt.Sprintf("if %s {\nreturn %s\n}\nreturn %s", w.test(n.a), w.test(n.b), w.test(n.c)), false
	case oAny, oAll:
		var b strings.Builder
		hit, found := w.test(n.a), "true"
		if n.op == oAll {
			hit, found = "!("+hit+")", "false"
		}
		w.loop(&b, n.list, n.k, fmt.Sprintf("if %s {\nreturn %s\n}\n", hit, found))
		fmt.Fprintf(&b, "return !%s", found)
		return b.String(), false
	case oEnabled:
		w.count(n.body)
		still := w.still
		w.still = false
		body := w.function(n.body)
		w.still = still
		return fmt.Sprintf("n, emit, found := x.n, x.emit, false\nx.n = x.c\nx.emit = func(int) bool {\nfound = true\nreturn false\n}\n%s(x)\nx.n, x.emit = n, emit\nreturn found", body), false
	case oStop:
		return "x.failed()", true
	}
	return w.num(n) + " != 0", true
}

func (w *printer) testBit(n *node) (text string, simple bool) {
	if n.a.known() {
		x, i := n.list[n.a.k>>6], int(n.a.k&63)
		if x.op == oLoad {
			return fmt.Sprintf("x.%s[%d]&%#x != 0", x.from(), x.f.word, uint64(1)<<(i+x.f.shift)), true
		}
		return fmt.Sprintf("%s&%#x != 0", w.word(x), uint64(1)<<i), true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "i := %s\nswitch i >> 6 {\n", w.num(n.a))
	for k, x := range n.list {
		fmt.Fprintf(&b, "case %d:\nreturn %s>>(i&63)&1 != 0\n", k, w.num(x))
	}
	b.WriteString("}\nreturn false")
	return b.String(), false
}

// count counts the uses of statements.
func (w *printer) count(s *stmt) {
	if s == nil {
		return
	}
	if w.uses[s]++; w.uses[s] > 1 {
		return
	}
	w.count(s.next)
	for _, x := range s.list {
		w.count(x)
	}
}

// function prints a statement as a function and returns its name.
func (w *printer) function(s *stmt) string {
	if name, ok := w.execs[s]; ok {
		return name
	}
	name := w.name("s")
	w.execs[s] = name
	var b strings.Builder
	w.stmt(&b, s)
	fmt.Fprintf(&w.funcs, "func %s(x *st) bool {\n%sreturn true\n}\n\n", name, b.String())
	return name
}

// part prints a statement, or a call of it if it is used several times.
func (w *printer) part(b *strings.Builder, s *stmt) {
	if w.uses[s] > 1 && s.op != sEmit && s.op != sStop && s.op != sNothing {
		fmt.Fprintf(b, "if !%s(x) {\nreturn false\n}\n", w.function(s))
		return
	}
	w.stmt(b, s)
}

func (w *printer) stmt(b *strings.Builder, s *stmt) {
	switch s.op {
	case sGuard:
		fmt.Fprintf(b, "if %s {\n", w.test(s.a))
		w.part(b, s.next)
		b.WriteString("}\n")
	case sStore:
		mask := s.f.mask() << s.f.shift
		value := fmt.Sprintf("uint64(%s-%s)<<%d&%#x", w.num(s.a), number(s.k), s.f.shift, mask)
		if s.a.known() {
			value = fmt.Sprintf("%#x", uint64(s.a.k-s.k)<<s.f.shift&mask)
		}
		old := w.name("o")
		fmt.Fprintf(b, "%s := x.n[%d]\nx.n[%d] = %s&^%#x | %s\n", old, s.f.word, s.f.word, old, mask, value)
		w.part(b, s.next)
		fmt.Fprintf(b, "x.n[%d] = %s\n", s.f.word, old)
	case sOr:
		for _, x := range s.list {
			fmt.Fprintf(b, "if !%s(x) {\nreturn false\n}\n", w.function(x))
		}
	case sBits:
		for k, x := range s.words {
			fmt.Fprintf(b, "for w := %s; w != 0; w &= w - 1 {\nx.r[%d] = %d + int64(bits.TrailingZeros64(w))\n", w.word(x), s.k, 64*k)
			if len(s.words) > 1 {
				fmt.Fprintf(b, "if !%s(x) {\nreturn false\n}\n", w.function(s.next))
			} else {
				w.part(b, s.next)
			}
			b.WriteString("}\n")
		}
	case sEmit:
		fmt.Fprintf(b, "if x.stop || !x.emit(%d) {\nreturn false\n}\n", s.k)
	case sStop:
		b.WriteString("if x.failed() || x.stop {\nreturn false\n}\n")
	default:
		b.WriteString("if x.stop {\nreturn false\n}\n")
	}
}
