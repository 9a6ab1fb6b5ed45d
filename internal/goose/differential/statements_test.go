// SPDX-License-Identifier: Apache-2.0

package differential

import "fmt"

// assign changes a variable.
func (g *generator) assign() bool {
	k := kind(g.rand.IntN(int(text) + 1))
	v, ok := g.find(k, assignable)
	if !ok || g.one(4) {
		g.line("h = mix(h, %s)", g.int(u64, 2))
		return true
	}
	switch {
	case k == boolean:
		g.line("%s = %s", v.name, g.cond(2))
	case k == text:
		if g.one(2) {
			g.line("if len(%s) < 20 {", v.name)
			g.line("\t%s += %s", v.name, g.str())
			g.line("}")
		} else {
			g.line("%s = %s", v.name, g.str())
		}
	case g.one(4):
		g.line("%s%s", v.name, []string{"++", "--"}[g.rand.IntN(2)])
	case g.one(2):
		g.line("%s %s= %s", v.name, intOps[g.rand.IntN(6)], g.int(k, 1))
	case g.one(3):
		if w, ok := g.find(k, assignable); ok && w.name != v.name {
			g.line("%s, %s = %s, %s", v.name, w.name, w.name, v.name)
			return true
		}
		fallthrough
	default:
		g.line("%s = %s", v.name, g.int(k, 2))
	}
	return true
}

func (g *generator) branch() bool {
	if g.depth >= 4 {
		return false
	}
	g.line("if %s {", g.cond(2))
	g.block(1 + g.rand.IntN(2))
	for g.one(4) {
		g.line("} else if %s {", g.cond(1))
		g.block(1 + g.rand.IntN(2))
	}
	if g.one(2) {
		g.line("} else {")
		g.block(1 + g.rand.IntN(2))
	}
	g.line("}")
	return true
}

// choose is a switch.
func (g *generator) choose() bool {
	if g.depth >= 4 {
		return false
	}
	g.switches++
	if g.one(2) {
		g.line("switch %s %% 4 {", g.operand(u64, 1))
		for i := range 1 + g.rand.IntN(3) {
			g.line("case %d:", i)
			g.block(1 + g.rand.IntN(2))
		}
	} else {
		g.line("switch {")
		for range 1 + g.rand.IntN(3) {
			g.line("case %s:", g.cond(1))
			g.block(1 + g.rand.IntN(2))
		}
	}
	if g.one(2) {
		g.line("default:")
		g.block(1 + g.rand.IntN(2))
	}
	g.line("}")
	g.switches--
	return true
}

// loop is a loop of a few rounds, of any form.
func (g *generator) loop() bool {
	if g.depth >= 4 || g.weight >= 100 {
		return false
	}
	n := 1 + g.rand.IntN(6)
	outer, weight, switches := len(g.vars), g.weight, g.switches
	g.weight *= n
	g.loops++
	g.switches = 0
	i := g.fresh()
	switch g.rand.IntN(6) {
	case 0:
		g.line("for %s := range %d {", i, n)
		g.line("\th += uint64(%s)", i)
		g.vars = append(g.vars, variable{name: i, kind: signed, fixed: true})
	case 1:
		g.line("for %s := uint64(%d); %s > 0; %s-- {", i, n, i, i)
		g.vars = append(g.vars, variable{name: i, kind: u64, fixed: true})
	case 2: // the loop variable is the number of rounds that are left
		g.line("%s := uint32(%d)", i, n)
		g.line("for %s > 0 && %s {", i, g.cond(1))
		g.line("\t%s--", i)
		g.vars = append(g.vars, variable{name: i, kind: u32, fixed: true})
	case 3:
		if v, ok := g.find(words, func(v variable) bool { return v.fixed }); ok {
			x := g.fresh()
			g.line("for %s, %s := range %s {", i, x, v.name)
			g.vars = append(g.vars, variable{name: i, kind: signed, fixed: true}, variable{name: x, kind: u64, fixed: true})
			g.line("\th += uint64(%s) + %s", i, x)
			break
		}
		fallthrough
	default:
		g.line("for %s := 0; %s < %d; %s++ {", i, i, n, i)
		g.vars = append(g.vars, variable{name: i, kind: signed, fixed: true})
	}
	g.block(1 + g.rand.IntN(3))
	g.line("}")
	g.vars, g.weight, g.switches = g.vars[:outer], weight, switches
	g.loops--
	return true
}

// leave is an early exit.
func (g *generator) leave() bool {
	exits := []string{"return h"}
	if g.loops > 0 {
		exits = append(exits, "continue", "continue")
		if g.switches == 0 {
			exits = append(exits, "break", "break")
		}
	}
	if g.loops == 0 && !g.one(3) {
		return false
	}
	g.line("if %s {", g.cond(1))
	if g.one(2) {
		g.line("\th = mix(h, %d)", g.rand.IntN(100))
	}
	g.line("\t%s", exits[g.rand.IntN(len(exits))])
	g.line("}")
	return true
}

// grow appends to a slice that is not shared.
func (g *generator) grow() bool {
	own := func(v variable) bool { return !v.fixed && !v.shared }
	if v, ok := g.find(words, own); ok && g.one(2) {
		if w, ok := g.find(words, anyVariable); ok && g.one(3) && g.weight < 5 && w.name != v.name {
			g.line("%s = append(%s, %s...)", v.name, v.name, w.name)
		} else {
			g.line("%s = append(%s, %s)", v.name, v.name, g.int(u64, 1))
		}
		return true
	}
	if v, ok := g.find(octets, own); ok {
		if g.one(2) {
			g.line("%s = append(%s, %s, %s)", v.name, v.name, g.int(u8, 1), g.int(u8, 0))
		} else {
			g.line("%s = append(%s, %q...)", v.name, v.name, g.letters())
		}
		return true
	}
	return false
}

// store changes memory that a variable refers to.
func (g *generator) store() bool {
	k := words + kind(g.rand.IntN(int(pointer-words)+1))
	v, ok := g.find(k, func(v variable) bool { return k != record || !v.fixed })
	if !ok {
		return false
	}
	switch k {
	case words:
		g.line("%s[%s %% uint64(len(%s))] %s= %s", v.name, g.operand(u64, 1), v.name, []string{"", "+", "^"}[g.rand.IntN(3)], g.int(u64, 1))
	case octets:
		g.line("%s[%s %% uint32(len(%s))] = %s", v.name, g.operand(u32, 1), v.name, g.int(u8, 1))
	case table:
		switch g.rand.IntN(3) {
		case 0:
			g.line("delete(%s, %s %% 5)", v.name, g.operand(u64, 0))
		case 1:
			g.line("%s[%s %% 5] += %s", v.name, g.operand(u64, 1), g.int(u64, 1))
		default:
			g.line("%s[%s %% 5] = %s", v.name, g.operand(u64, 1), g.int(u64, 1))
		}
	case names:
		if g.one(4) {
			g.line("delete(%s, %q)", v.name, g.letters())
		} else {
			g.line("%s[%s] = %s", v.name, g.str(), g.int(u64, 1))
		}
	case record, pointer:
		switch g.rand.IntN(5) {
		case 0:
			g.line("%s.a = %s", v.name, g.int(u64, 2))
		case 1:
			g.line("%s.b += %s", v.name, g.int(u32, 1))
		case 2:
			g.line("%s.in.x = %s", v.name, g.int(u16, 1))
		case 3:
			g.line("%s.in = inner{x: %s, y: %s}", v.name, g.int(u16, 1), g.int(u64, 1))
		default:
			if p, ok := g.find(pointer, anyVariable); ok {
				g.line("%s.link = %s", v.name, p.name)
			} else {
				g.line("%s.c = %s", v.name, g.cond(1))
			}
		}
	}
	return true
}

// closure is a function in a variable; it changes what it captures.
func (g *generator) closure() bool {
	if g.depth >= 4 || g.closures > 0 {
		return false
	}
	name := g.fresh()
	captured, ok := g.find(u64, assignable)
	g.closures++
	outer, loops, switches, weight := len(g.vars), g.loops, g.switches, g.weight
	visible := g.vars
	// It sees no variable of a loop, and h is its own.
	g.vars = []variable{{name: "y", kind: u64, fixed: true}}
	g.weight *= 4
	g.line("%s := func(y uint64) uint64 {", name)
	if ok {
		g.line("\t%s += y", captured.name)
	}
	g.body(1 + g.rand.IntN(3))
	g.line("}")
	g.vars, g.loops, g.switches, g.weight = visible[:outer], loops, switches, weight
	g.closures--
	g.vars = append(g.vars, variable{name: name, kind: function, fixed: true})
	return true
}

// call calls a function or a closure, with arguments that it does not change.
func (g *generator) call() bool {
	name := g.fresh()
	if v, ok := g.find(function, anyVariable); ok && g.one(2) {
		g.line("%s := %s(h)", name, v.name)
	} else if len(g.helpers) > 0 && g.weight < 40 {
		g.line("%s := %s(h, %s)", name, g.helpers[g.rand.IntN(len(g.helpers))], g.literal(u32))
	} else {
		return false
	}
	g.vars = append(g.vars, variable{name: name, kind: u64})
	return true
}

// alias is a second name for memory that is there.
func (g *generator) alias() bool {
	name := g.fresh()
	mark := func(w variable) {
		for i := range g.vars {
			if g.vars[i].name == w.name {
				g.vars[i].shared = true
			}
		}
	}
	k := []kind{words, octets}[g.rand.IntN(2)]
	if v, ok := g.find(k, func(v variable) bool { return v.fixed || v.shared }); ok && !g.one(3) {
		mark(v)
		i, n := g.operand(u64, 0), "uint64(len("+v.name+"))"
		switch g.rand.IntN(3) {
		case 0:
			g.line("%s := %s[%s %% %s:]", name, v.name, i, n)
		case 1:
			g.line("%s := %s[:%s %% %s + 1]", name, v.name, i, n)
		default:
			g.line("%s := %s[%s %% %s : %s]", name, v.name, i, n, n)
		}
		g.vars = append(g.vars, variable{name: name, kind: k, fixed: true, shared: true})
		return true
	}
	if v, ok := g.find(words, anyVariable); ok && g.one(2) {
		if w, ok := g.find(words, anyVariable); ok {
			g.line("h += uint64(copy(%s, %s[len(%s)/2:]))", v.name, w.name, w.name)
			return true
		}
	}
	if v, ok := g.find(pointer, anyVariable); ok {
		g.line("%s := %s", name, v.name)
		g.vars = append(g.vars, variable{name: name, kind: pointer, fixed: true})
		return true
	}
	// Within the capacity that was asked for, append is in place.
	room := g.fresh()
	g.line("%s := make([]uint64, 1, 4)", room)
	g.line("%s := append(%s, %s)", name, room, g.int(u64, 1))
	g.line("%s[0] = %s", room, g.int(u64, 1))
	g.vars = append(g.vars, variable{name: room, kind: words, fixed: true, shared: true},
		variable{name: name, kind: words, fixed: true, shared: true})
	return true
}

// look reads from a map or a string in the forms that expressions do not have.
func (g *generator) look() bool {
	if v, ok := g.find(table, anyVariable); ok && g.one(2) {
		x, found := g.fresh(), g.fresh()
		g.line("%s, %s := %s[%s %% 5]", x, found, v.name, g.operand(u64, 0))
		g.vars = append(g.vars, variable{name: x, kind: u64}, variable{name: found, kind: boolean, fixed: true})
		return true
	}
	if v, ok := g.find(text, anyVariable); ok {
		g.line("if len(%s) > 0 {", v.name)
		g.line("\th += uint64(%s[h %% uint64(len(%s))])", v.name, v.name)
		g.line("}")
		return true
	}
	if v, ok := g.find(octets, anyVariable); ok {
		g.line("h += uint64(copy(%s, %q))", v.name, g.letters())
		return true
	}
	g.line("h = mix(h, %s)", g.int(u64, 2))
	return true
}

// panics may panic.
func (g *generator) panics() bool {
	switch g.rand.IntN(6) {
	case 0:
		g.line("h = h / (%s %% 3)", g.operand(u64, 1))
	case 1:
		g.line("h %%= %s >> 1", g.operand(u64, 1))
	case 2:
		if v, ok := g.find(words, anyVariable); ok {
			g.line("%s[%s %% 4]++", v.name, g.operand(u64, 0))
		}
	case 3:
		if v, ok := g.find(pointer, anyVariable); ok {
			g.line("h += %s.link.a", v.name)
		}
	case 4:
		if v, ok := g.find(text, anyVariable); ok {
			g.line("h += uint64(%s[2])", v.name)
		}
	default:
		g.line("if %s {", g.cond(1))
		g.line("\tpanic(\"on purpose\")")
		g.line("}")
	}
	return true
}

// source is a package of n programs, and their names.
func (g *generator) source(n int) (string, []string) {
	text := "// Package program was written at random.\npackage program\n" + prelude
	var names []string
	for i := range n {
		name := fmt.Sprintf("F%d", i)
		text += g.program(name)
		names = append(names, name)
	}
	return text, names
}
