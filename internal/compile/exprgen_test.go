// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"fmt"
	"math/rand"
	"strings"
)

// exprGen writes random expressions, well typed but for a slip now and then.
type exprGen struct {
	rng  *rand.Rand
	vars map[byte][]string // names in scope, by type
	n    int
	sure bool // no slips
}

// key is a number: what EXCEPT does with a key of another kind depends on how
// the function is represented, in the checker too.
func (g *exprGen) key() string {
	g.sure = true
	defer func() { g.sure = false }()
	return g.x('i', 0)
}

// The types are letters: b boolean, i integer, s string, S set of integers, T
// set of sets of integers, q sequence of integers, r record, f function from
// integers to integers, t pair of integer and string, m model value or integer.
const exprTypes = "bisSTqrftm"

func (g *exprGen) top() string {
	g.vars, g.n = map[byte][]string{}, 0
	return g.x(exprTypes[g.rng.Intn(len(exprTypes))], 4)
}

func (g *exprGen) pick(options ...string) string { return options[g.rng.Intn(len(options))] }

// bound writes a construct that binds a name of type ty; body sees the name.
func (g *exprGen) bound(ty byte, body func(name string) string) string {
	g.n++
	name := fmt.Sprintf("v%d", g.n)
	old := g.vars[ty]
	g.vars[ty] = append(append([]string(nil), old...), name)
	out := body(name)
	g.vars[ty] = old
	return out
}

// x is an expression of a type.
func (g *exprGen) x(ty byte, depth int) string {
	if !g.sure && g.rng.Intn(60) == 0 {
		ty = exprTypes[g.rng.Intn(len(exprTypes))] // a slip
	}
	if names := g.vars[ty]; len(names) > 0 && g.rng.Intn(3) == 0 {
		return names[g.rng.Intn(len(names))]
	}
	if depth <= 0 {
		return g.leaf(ty)
	}
	if g.rng.Intn(8) == 0 {
		return g.common(ty, depth)
	}
	switch ty {
	case 'b':
		return g.boolean(depth - 1)
	case 'i':
		return g.integer(depth - 1)
	case 's':
		return g.pick(g.leaf('s'), g.x('t', depth-1)+"[2]", g.x('r', depth-1)+".s")
	case 'S':
		return g.set(depth - 1)
	case 'T':
		set := g.x('S', depth-1)
		return g.pick("SUBSET ("+g.x('S', 0)+")", "{"+g.x('S', depth-1)+", "+g.x('S', depth-1)+"}",
			g.bound('i', func(v string) string { return "{{" + v + ", " + g.x('i', 0) + "} : " + v + " \\in " + set + "}" }))
	case 'q':
		return g.sequence(depth - 1)
	case 'r':
		return g.pick("[n |-> "+g.x('i', depth-1)+", s |-> "+g.x('s', depth-1)+"]",
			"["+g.leaf('r')+" EXCEPT !.n = "+g.x('i', depth-1)+"]", "["+g.leaf('r')+" EXCEPT !.n = @ + 1]")
	case 'f':
		return g.function(depth - 1)
	case 't':
		return g.pick("<<"+g.x('i', depth-1)+", "+g.x('s', depth-1)+">>", "Pair("+g.x('i', depth-1)+", "+g.x('s', depth-1)+")")
	case 'm':
		return g.pick("None", g.x('i', depth-1), "(IF "+g.x('b', depth-1)+" THEN None ELSE "+g.x('i', depth-1)+")")
	}
	panic("type")
}

func (g *exprGen) leaf(ty byte) string {
	switch ty {
	case 'b':
		return g.pick("TRUE", "FALSE")
	case 'i':
		return g.pick("0", "1", "2", "3", "-1", "N", "7")
	case 's':
		return g.pick(`"a"`, `"b"`, `""`)
	case 'S':
		return g.pick("{}", "{1}", "{3, 1}", "(1..3)", "(0..N)", "Range2")
	case 'T':
		return g.pick("{{}}", "{{1}, {2}}")
	case 'q':
		return g.pick("<<>>", "<<1>>", "<<3, 2>>", "Squares")
	case 'r':
		return `[n |-> 1, s |-> "a"]`
	case 'f':
		return g.pick("[w \\in 0..2 |-> w]", "[w \\in {2, 5} |-> 1]", "(0 :> 4)")
	case 't':
		return `<<1, "b">>`
	case 'm':
		return "None"
	}
	panic("type")
}

// common is a construct that has any type.
func (g *exprGen) common(ty byte, depth int) string {
	d := depth - 1
	switch g.rng.Intn(5) {
	case 0:
		return "(IF " + g.x('b', d) + " THEN " + g.x(ty, d) + " ELSE " + g.x(ty, d) + ")"
	case 1:
		other := exprTypes[g.rng.Intn(len(exprTypes))]
		def := g.x(other, d)
		return g.bound(other, func(v string) string { return "(LET " + v + " == " + def + " IN " + g.x(ty, d) + ")" })
	case 2:
		return "First(" + g.x(ty, d) + ", " + g.x('i', d) + ")"
	case 3:
		return "(CASE " + g.x('b', d) + " -> " + g.x(ty, d) + " [] OTHER -> " + g.x(ty, d) + ")"
	}
	arg := g.x('i', d)
	return g.bound('i', func(v string) string { return "Apply(LAMBDA " + v + " : " + g.x(ty, d) + ", " + arg + ")" })
}

func (g *exprGen) boolean(d int) string {
	ty := exprTypes[g.rng.Intn(len(exprTypes))]
	quant := func(q string) string {
		set := g.x('S', d)
		return g.bound('i', func(v string) string { return "(" + q + " " + v + " \\in " + set + " : " + g.x('b', d) + ")" })
	}
	switch g.rng.Intn(9) {
	case 0:
		return "(" + g.x('i', d) + g.pick(" < ", " <= ", " > ", " >= ") + g.x('i', d) + ")"
	case 1:
		return "(" + g.x(ty, d) + g.pick(" = ", " # ") + g.x(ty, d) + ")"
	case 2:
		return "(" + g.x('i', d) + g.pick(" \\in ", " \\notin ") + g.pick("Nat", g.x('S', d), g.x('S', d)) + ")"
	case 3:
		return "(" + g.x('b', d) + g.pick(" /\\ ", " \\/ ", " => ", " <=> ") + g.x('b', d) + ")"
	case 4:
		return "(~" + g.x('b', d) + ")"
	case 5:
		return quant(g.pick("\\A", "\\E"))
	case 6:
		return "(" + g.x('S', d) + " \\subseteq " + g.x('S', d) + ")"
	case 7:
		return "(" + g.x('S', d) + " \\in " + g.pick(g.x('T', d), "SUBSET "+g.x('S', d)) + ")"
	}
	return "(" + g.x('q', d) + " \\in Seq(" + g.x('S', d) + "))"
}

func (g *exprGen) integer(d int) string {
	switch g.rng.Intn(9) {
	case 0, 1:
		return "(" + g.x('i', d) + g.pick(" + ", " - ", " * ", " \\div ", " % ") + g.x('i', d) + ")"
	case 2:
		return "Len(" + g.x('q', d) + ")"
	case 3:
		return "Cardinality(" + g.x('S', d) + ")"
	case 4:
		return g.pick("Head("+g.x('q', d)+")", g.x('q', d)+"["+g.x('i', d)+"]", g.x('f', d)+"["+g.x('i', d)+"]")
	case 5:
		return g.pick(g.x('r', d)+".n", g.x('t', d)+"[1]", "Total("+g.x('q', d)+")", "Fact["+g.x('i', 0)+"]")
	case 6:
		return "Maximum(" + g.x('i', d) + ", " + g.x('i', d) + ")"
	case 7:
		set := g.x('S', d)
		return g.bound('i', func(v string) string { return "(CHOOSE " + v + " \\in " + set + " : " + g.x('b', d) + ")" })
	}
	return "(" + g.x('m', d) + " + 1)"
}

func (g *exprGen) set(d int) string {
	over := func(f func(v, set string) string) string {
		set := g.x('S', d)
		return g.bound('i', func(v string) string { return f(v, set) })
	}
	if len(g.vars['i']) == 0 && g.rng.Intn(6) == 0 {
		return g.large()
	}
	switch g.rng.Intn(8) {
	case 0:
		var parts []string
		for range g.rng.Intn(4) {
			parts = append(parts, g.x('i', d))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case 1:
		return "(" + g.x('S', d) + g.pick(" \\cup ", " \\cap ", " \\ ") + g.x('S', d) + ")"
	case 2:
		return over(func(v, set string) string { return "{" + v + " \\in " + set + " : " + g.x('b', d) + "}" })
	case 3:
		return over(func(v, set string) string { return "{" + g.x('i', d) + " : " + v + " \\in " + set + "}" })
	case 4:
		return "UNION " + g.x('T', d)
	case 5:
		return "DOMAIN " + g.pick(g.x('q', d), g.x('f', d))
	case 6:
		return "(" + g.x('i', 0) + ".." + g.x('i', 0) + ")"
	}
	return "ToSet(" + g.x('q', d) + ")"
}

// large is a set of about as many elements as make compiled code store it in
// another way. Bodies of quantifiers have none: they would take too long.
func (g *exprGen) large() string {
	from := g.rng.Intn(4)
	set := fmt.Sprintf("(%d..%d)", from, from+61+g.rng.Intn(5))
	switch g.rng.Intn(4) {
	case 0:
		return "{2 * w : w \\in " + set + "}"
	case 1:
		return "DOMAIN (" + g.x('i', 0) + " :> 1 @@ [w \\in " + set + " |-> w])"
	case 2:
		return "(" + set + g.pick(" \\cup {", " \\ {") + g.x('i', 1) + "})"
	}
	return set
}

func (g *exprGen) sequence(d int) string {
	switch g.rng.Intn(8) {
	case 0:
		return "Append(" + g.x('q', d) + ", " + g.x('i', d) + ")"
	case 1:
		return "(" + g.x('q', d) + " \\o " + g.x('q', d) + ")"
	case 2:
		return "Tail(" + g.x('q', d) + ")"
	case 3:
		return "SubSeq(" + g.x('q', d) + ", " + g.x('i', 0) + ", " + g.x('i', 0) + ")"
	case 4:
		return g.bound('i', func(v string) string { return "[" + v + " \\in 1.." + g.leaf('i') + " |-> " + g.x('i', d) + "]" })
	case 5:
		return "[" + g.x('q', d) + " EXCEPT ![" + g.key() + "] = " + g.pick(g.x('i', d), "@ + 1") + "]"
	case 6:
		q := g.x('q', d)
		return g.bound('i', func(v string) string { return "SelectSeq(" + q + ", LAMBDA " + v + " : " + g.x('b', d) + ")" })
	}
	return "<<" + g.x('i', d) + ", " + g.x('i', d) + ">>"
}

func (g *exprGen) function(d int) string {
	if len(g.vars['i']) == 0 && g.rng.Intn(6) == 0 {
		return "[w \\in " + g.large() + " |-> w % 5]"
	}
	switch g.rng.Intn(3) {
	case 0:
		set := g.x('S', d)
		return g.bound('i', func(v string) string { return "[" + v + " \\in " + set + " |-> " + g.x('i', d) + "]" })
	case 1:
		return "[" + g.x('f', d) + " EXCEPT ![" + g.key() + "] = " + g.pick(g.x('i', d), "@ + 1") + "]"
	}
	return "(" + g.x('i', 0) + " :> " + g.x('i', d) + " @@ " + g.x('f', d) + ")"
}
