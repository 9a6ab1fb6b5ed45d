// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// kind is the type of a variable of a random program.
type kind int

const (
	u64 kind = iota
	u32
	u16
	u8
	signed // int
	boolean
	text
	words  // []uint64, never empty
	octets // []byte, never empty
	table  // map[uint64]uint64
	names  // map[string]uint64
	record
	pointer // *record, never nil
	function
)

var kindNames = [...]string{"uint64", "uint32", "uint16", "uint8", "int", "bool", "string",
	"[]uint64", "[]byte", "map[uint64]uint64", "map[string]uint64", "record", "*record", "func(uint64) uint64"}

// prelude is what random programs use: a type, and functions that fold values
// into a number.
const prelude = `
type inner struct {
	x uint16
	y uint64
}

type record struct {
	a uint64
	b uint32
	c bool
	in inner
	link *record
}

func mix(h, x uint64) uint64 { return (h ^ x) * 1099511628211 }

func ofBool(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func ofText(s string) uint64 {
	h := uint64(len(s))
	for i := 0; i < len(s); i++ {
		h = h*31 + uint64(s[i])
	}
	return h
}

func ofWords(s []uint64) uint64 {
	h := uint64(len(s))
	for _, x := range s {
		h = h*31 + x
	}
	return h
}

func ofOctets(s []byte) uint64 {
	h := uint64(len(s))
	for _, x := range s {
		h = h*31 + uint64(x)
	}
	return h
}

func ofTable(m map[uint64]uint64) uint64 {
	h := uint64(len(m))
	for k, v := range m {
		h += k*7 ^ v
	}
	return h
}

func ofNames(m map[string]uint64) uint64 {
	h := uint64(len(m))
	for k, v := range m {
		h += ofText(k) ^ v
	}
	return h
}

func ofRecord(r record) uint64 {
	h := r.a + uint64(r.b)*3 + ofBool(r.c)*5 + uint64(r.in.x)*7 + r.in.y*11
	if r.link != nil {
		h += r.link.a
	}
	return h
}
`

// folds are the expressions that make a number of a variable.
var folds = [...]string{"%s", "uint64(%s)", "uint64(%s)", "uint64(%s)", "uint64(%s)", "ofBool(%s)", "ofText(%s)",
	"ofWords(%s)", "ofOctets(%s)", "ofTable(%s)", "ofNames(%s)", "ofRecord(%s)", "ofRecord(*%s)", "%s(3)"}

type variable struct {
	name string
	kind kind
	// fixed variables are not assigned; shared ones may have others that see
	// the same memory, so nothing is appended to them.
	fixed, shared bool
}

// generator writes random programs: well-typed, in the subset, and finite.
// Nothing that they do depends on the capacity that append leaves, nor on the
// order of a map.
type generator struct {
	rand   *rand.Rand
	out    strings.Builder
	depth  int
	vars   []variable // in scope
	used   int        // names given
	weight int        // how often the present place runs, at most
	loops  int        // around it
	switches,
	closures int
	helpers []string
	given   []kind // what is declared first
}

// program is the source of a function of that name, and of functions that it
// calls.
func (g *generator) program(name string) string {
	g.out.Reset()
	g.helpers = nil
	for i := range g.rand.IntN(2) {
		helper := fmt.Sprintf("help%s_%d", name, i)
		g.used, g.vars, g.weight = 0, []variable{{name: "p", kind: u64}, {name: "q", kind: u32, fixed: true}}, 5
		g.line("func %s(p uint64, q uint32) uint64 {", helper)
		g.body(2 + g.rand.IntN(3))
		g.line("}\n")
		g.helpers = append(g.helpers, helper)
	}
	g.used, g.vars, g.weight = 0, nil, 1
	g.line("func %s() uint64 {", name)
	g.given = []kind{words + kind(g.rand.IntN(int(function-words))), text + kind(g.rand.IntN(int(function-text)))}
	g.body(4 + g.rand.IntN(5))
	g.line("}\n")
	return g.out.String()
}

func (g *generator) line(format string, args ...any) {
	g.out.WriteString(strings.Repeat("\t", g.depth))
	fmt.Fprintf(&g.out, format, args...)
	g.out.WriteByte('\n')
}

// body is that of a function: h is its result.
func (g *generator) body(n int) {
	loops, switches := g.loops, g.switches
	g.loops, g.switches = 0, 0
	g.depth++
	g.line("h := uint64(%d)", g.rand.Uint64()>>g.rand.IntN(64))
	g.depth--
	n += len(g.given)
	g.block(n)
	g.depth++
	g.line("return h")
	g.depth--
	g.loops, g.switches = loops, switches
}

// block is n statements, and then what was declared is looked at.
func (g *generator) block(n int) {
	g.depth++
	outer := len(g.vars)
	for range n {
		g.statement()
	}
	for _, v := range g.vars[outer:] {
		g.line("h = mix(h, %s)", fmt.Sprintf(folds[v.kind], v.name))
	}
	g.vars = g.vars[:outer]
	g.depth--
}

func (g *generator) fresh() string {
	g.used++
	return fmt.Sprintf("v%d", g.used)
}

func (g *generator) one(n int) bool { return g.rand.IntN(n) == 0 }

// find is a variable of the kind that satisfies ok, if there is one.
func (g *generator) find(k kind, ok func(variable) bool) (variable, bool) {
	var found []variable
	for _, v := range g.vars {
		if v.kind == k && ok(v) {
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		return variable{}, false
	}
	return found[g.rand.IntN(len(found))], true
}

func anyVariable(variable) bool  { return true }
func assignable(v variable) bool { return !v.fixed }

// statement is one of any kind that is possible here.
func (g *generator) statement() {
	if len(g.given) > 0 {
		g.declare()
		return
	}
	moves := []struct {
		weight int
		try    func() bool
	}{
		{20, g.declare}, {16, g.assign}, {12, g.branch}, {4, g.choose}, {12, g.loop}, {10, g.leave},
		{8, g.grow}, {16, g.store}, {4, g.closure}, {8, g.call}, {8, g.alias}, {6, g.look}, {1, g.panics},
	}
	total := 0
	for _, m := range moves {
		total += m.weight
	}
	for {
		n := g.rand.IntN(total)
		for _, m := range moves {
			if n -= m.weight; n < 0 {
				if m.try() {
					return
				}
				break
			}
		}
	}
}

// declare is a new variable of some kind.
func (g *generator) declare() bool {
	k := kind(g.rand.IntN(int(function)))
	if len(g.given) > 0 {
		k, g.given = g.given[0], g.given[1:]
	} else if g.one(2) {
		k = kind(g.rand.IntN(int(boolean) + 1))
	}
	e := g.value(k)
	v := variable{name: g.fresh(), kind: k, fixed: g.one(3)}
	if g.one(3) {
		g.line("var %s %s = %s", v.name, kindNames[k], e)
	} else {
		g.line("%s := %s", v.name, e)
	}
	g.vars = append(g.vars, v)
	return true
}

// value is an expression of any kind but function; a new object where it is a
// reference.
func (g *generator) value(k kind) string {
	switch k {
	case boolean:
		return g.cond(2)
	case text:
		return g.str()
	case words:
		if g.one(2) {
			return fmt.Sprintf("make([]uint64, %d)", 1+g.rand.IntN(5))
		}
		return fmt.Sprintf("[]uint64{%s, %s}", g.int(u64, 1), g.int(u64, 1))
	case octets:
		if g.one(2) {
			return fmt.Sprintf("[]byte(%q)", g.letters()+"x")
		}
		return fmt.Sprintf("make([]byte, %d, %d)", 1+g.rand.IntN(3), 3+g.rand.IntN(3))
	case table:
		return "make(map[uint64]uint64)"
	case names:
		return "make(map[string]uint64)"
	case record:
		return g.recordValue()
	case pointer:
		if g.one(3) {
			return "new(record)"
		}
		return "&" + g.recordValue()
	}
	return g.int(k, 2)
}

func (g *generator) recordValue() string {
	if v, ok := g.find(record, anyVariable); ok && g.one(3) {
		return "record{a: " + g.int(u64, 1) + ", in: " + v.name + ".in}"
	}
	link := ""
	if v, ok := g.find(pointer, anyVariable); ok && g.one(2) {
		link = ", link: " + v.name
	}
	return fmt.Sprintf("record{a: %s, b: %s, c: %s, in: inner{x: %s}%s}",
		g.int(u64, 1), g.int(u32, 1), g.cond(0), g.int(u16, 0), link)
}

var intOps = []string{"+", "-", "*", "&", "|", "^", "&^"}

// int is an expression of a kind of integer. Its leftmost operand is no
// constant, so that the compiler does not find fault with its value.
func (g *generator) int(k kind, depth int) string {
	if depth == 0 || g.one(4) {
		if g.one(3) {
			return g.literal(k)
		}
		return g.atom(k)
	}
	left := g.operand(k, depth-1)
	switch g.rand.IntN(9) {
	case 0:
		return fmt.Sprintf("(%s / (%s | 1))", left, g.operand(k, depth-1))
	case 1:
		return fmt.Sprintf("(%s %% (%s | 1))", left, g.operand(k, depth-1))
	case 2:
		return fmt.Sprintf("(%s %s (%s %% 70))", left, []string{"<<", ">>"}[g.rand.IntN(2)], g.operand(u64, depth-1))
	case 3:
		return "(^" + left + ")"
	case 4:
		from := kind(g.rand.IntN(int(signed) + 1))
		return fmt.Sprintf("%s(%s)", kindNames[k], g.operand(from, depth-1))
	}
	return fmt.Sprintf("(%s %s %s)", left, intOps[g.rand.IntN(len(intOps))], g.int(k, depth-1))
}

// operand is an integer expression that is no constant.
func (g *generator) operand(k kind, depth int) string {
	if depth > 0 && g.one(2) {
		return fmt.Sprintf("(%s %s %s)", g.atom(k), intOps[g.rand.IntN(len(intOps))], g.int(k, depth-1))
	}
	return g.atom(k)
}

// atom is a variable, a part of one, or at least no constant: h is always there.
func (g *generator) atom(k kind) string {
	if v, ok := g.find(k, anyVariable); ok && !g.one(3) {
		return v.name
	}
	if s := g.part(k); s != "" {
		return s
	}
	if v, ok := g.find(k, anyVariable); ok {
		return v.name
	}
	if k == u64 {
		return "h"
	}
	return kindNames[k] + "(h)"
}

// part is an integer in a variable of another kind, or "".
func (g *generator) part(k kind) string {
	from := []kind{words, octets, table, names, record, pointer, text}[g.rand.IntN(7)]
	v, ok := g.find(from, anyVariable)
	if !ok {
		return ""
	}
	switch {
	case k == signed && (from == words || from == octets || from == text || from == table):
		return "len(" + v.name + ")"
	case k == u64 && from == words || k == u8 && from == octets:
		return fmt.Sprintf("%s[h %% uint64(len(%s))]", v.name, v.name)
	case k == u64 && from == table:
		return fmt.Sprintf("%s[h %% 5]", v.name)
	case k == u64 && from == names:
		return fmt.Sprintf("%s[%q]", v.name, g.letters())
	case k == u64 && (from == record || from == pointer):
		return v.name + []string{".a", ".in.y"}[g.rand.IntN(2)]
	case k == u32 && (from == record || from == pointer):
		return v.name + ".b"
	case k == u16 && (from == record || from == pointer):
		return v.name + ".in.x"
	}
	return ""
}

// literal is a typed constant: small, or near a bound.
func (g *generator) literal(k kind) string {
	n := uint64(g.rand.IntN(12))
	if k == signed {
		if g.one(4) {
			return []string{"int(-9223372036854775808)", "int(9223372036854775807)", "int(-1)"}[g.rand.IntN(3)]
		}
		return fmt.Sprintf("int(%d)", int64(n)-5)
	}
	bits := []int{64, 32, 16, 8}[k]
	if g.one(4) {
		n = ^uint64(0)>>(64-bits) - n
	}
	return fmt.Sprintf("%s(%d)", kindNames[k], n)
}

func (g *generator) letters() string { return "abcde"[:g.rand.IntN(4)] }

func (g *generator) cond(depth int) string {
	if depth > 0 && g.one(3) {
		switch g.rand.IntN(3) {
		case 0:
			return "(" + g.cond(depth-1) + " && " + g.cond(depth-1) + ")"
		case 1:
			return "(" + g.cond(depth-1) + " || " + g.cond(depth-1) + ")"
		}
		return "!(" + g.cond(depth-1) + ")"
	}
	switch g.rand.IntN(8) {
	case 0:
		if v, ok := g.find(boolean, anyVariable); ok {
			return v.name
		}
	case 1:
		if v, ok := g.find(text, anyVariable); ok {
			return fmt.Sprintf("(%s %s %s)", v.name, []string{"==", "!="}[g.rand.IntN(2)], g.str())
		}
	case 2:
		v, ok := g.find(pointer, anyVariable)
		w, _ := g.find(pointer, anyVariable)
		if ok {
			return fmt.Sprintf("(%s.link == %s)", v.name, w.name)
		}
	case 3:
		v, ok := g.find(record, anyVariable)
		w, _ := g.find(record, anyVariable)
		if ok {
			return fmt.Sprintf("(%s == %s)", v.name, w.name)
		}
	}
	k := kind(g.rand.IntN(int(signed) + 1))
	op := []string{"<", "<=", ">", ">=", "==", "!="}[g.rand.IntN(6)]
	return fmt.Sprintf("(%s %s %s)", g.operand(k, 1), op, g.int(k, 1))
}

// str is a short string.
func (g *generator) str() string {
	v, ok := g.find(text, anyVariable)
	if ok {
		switch g.rand.IntN(3) {
		case 0:
			return v.name
		case 1:
			return fmt.Sprintf("%s[:h %% (uint64(len(%s)) + 1)]", v.name, v.name)
		}
	}
	if v, ok := g.find(octets, anyVariable); ok && g.one(2) {
		return "string(" + v.name + ")"
	}
	return fmt.Sprintf("%q", g.letters())
}
