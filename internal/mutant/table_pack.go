// SPDX-License-Identifier: Apache-2.0

package mutant

// packMutants are about code on packed states: cached values, the bits that are
// searched, the effect of a symmetry on them, and evaluations that must not be
// omitted because they may have no value.
func packMutants() []Mutant {
	row := func(name string, kind Kind, in, packages, run, breaks, old, text string) Mutant {
		return Mutant{Name: "pack/" + name, Kind: kind, In: in, Packages: []string{packages}, Run: run, Breaks: breaks, Old: old, New: text}
	}
	const pack, eval, hides = "internal/model/pack", "internal/model", "PackedHidesNoErrors"
	return []Mutant{
		row("memo/memo-of-another-element", Unsound, "internal/model/pack", pack, "TestMemo", "What was computed for one element of a set is believed of the others.",
			"if s.now != m.now || s.regs != k {", "if s.now != m.now {"),
		row("memo/two-elements-as-their-sum", Unsound, "internal/model/pack", pack, "TestMemo", "Pairs of elements with one sum are not told apart.",
			"return m.regs[r]<<32 | m.regs[q] }", "return m.regs[r] + m.regs[q] }"),
		row("memo/a-third-element-is-forgotten", Unsound, "internal/model/pack", pack, "TestMemo", "What depends on three elements is remembered for two.",
			"len(n.free) <= 2 && (c.still", "len(n.free) <= 3 && (c.still"),
		row("memo/the-next-state-is-remembered", Unsound, "internal/model/pack", pack, "TestMemo", "What was read of one successor is believed of the others.",
			"&& (c.still || !n.reads)", "&& (c.still || !n.reads || c.code != nil)"),
		row("bits/a-union-is-its-first-set", Unsound, "internal/model/pack", pack, "TestBitsOfWords", "An element of the second set of a union is not in it.",
			"return b.or(bit(w.a), bit(w.b))", "return bit(w.a)"),
		row("bits/the-bit-hides-the-word", Unsound, "internal/model/pack", eval, hides, "Where one element of a set is asked for, the others need have no value.",
			"if !w.pure {\n\t\treturn whole()", "if w == nil {\n\t\treturn whole()"),
		row("images/beyond-the-end", WrongAnswer, "internal/model/pack", eval, "PackedOrbits", "What lies beyond the end of a sequence is renamed too.",
			"if r.inSeq && r.length.get(words) <= r.at {", "if r.inSeq && r.length.get(words) < r.at {"),
		row("images/values-keep-their-names", WrongAnswer, "internal/model/pack", eval, "PackedOrbits", "A permutation does not rename the values of variables.",
			"r.tab[i] = uint64(j)", "r.tab[i] = uint64(i + 0*j)"),
		row("ask/a-part-is-enough", Unsound, "internal/model/pack", eval, hides, "Where one value of a function is asked for, the others need have none.",
			"if f.lazy && !here || !f.is(kFn) && !f.is(kSeq) {", "if f.lazy || f.t != nil {"),
		row("ask/operands-are-not-compared", Unsound, "internal/model/closure", eval, "TestExpressions", "A member of a union is found though the elements of its sets cannot be compared.",
			"if a.alike(m, y) && b.alike(m, y) {", "if a.alike(m, y) || b != nil {"),
		row("ask/bounds-after-an-empty-one", Unsound, "internal/model/closure", eval, "TestExpressions", "The set of a second bound need have no value where the first is empty.",
			"none := true", "none := false"),
		row("ask/bounds-of-packed-code", Unsound, "internal/model/pack", eval, hides, "Packed code does not ask for the set of a second bound.",
			"parts = append(parts, l.unsure(s)...)", "parts = append(parts, l.unsure(s)[:0]...)"),
		row("ask/nothing-is-asked", Unsound, "internal/model/pack", eval, hides, "What the result does not depend on need have no value.",
			"if p != n && !p.pure && !slices.Contains(asks, p) {", "if p == nil {"),
	}
}
