// SPDX-License-Identifier: Apache-2.0

package mutant

import "slices"

// compileMutants are about compiled Dedalus programs: which facts hold, and what is
// planned.
func compileMutants() []Mutant {
	return slices.Concat(factsMutants(), planMutants(), lateMutants())
}

func factsMutants() []Mutant {
	tests := []string{"dedalus/rt"}
	return []Mutant{
		{
			Name: "dedalus/rt/pulse-stays", Kind: WrongAnswer, In: "dedalus/rt", Packages: tests,
			Breaks: "A fact of a message goes on holding after its tick.",
			Old:    "s := m.state &^ (was | pulse | carried", New: "s := m.state &^ (was | carried",
		},
		{
			Name: "dedalus/rt/pulse-is-not-taken-back", Kind: WrongAnswer, In: "dedalus/rt", Packages: tests,
			Breaks: "A fact that held for a tick is not looked at in the next one, and what came of it stays.",
			Old:    "case will != (s&is != 0), keeps", New: "case keeps",
		},
		{
			Name: "dedalus/rt/passed-twice", Kind: WrongAnswer, In: "dedalus/rt", Packages: tests,
			Breaks: "A fact that a pulse carries into the next tick is carried on forever.",
			Old:    "keeps && m.next == 0, f.recursive", New: "f.recursive",
		},
		{
			Name: "dedalus/rt/nothing-is-logged-again", Kind: Lost, In: "dedalus/rt", Packages: tests,
			Breaks: "That a durable fact is no longer there is not told to the disk.",
			Old:    "if f.durable && keeps != (s&onDisk != 0) {", New: "if f.durable && keeps && s&onDisk == 0 {",
		},
		{
			Name: "dedalus/rt/rows-hold-each-other", Kind: WrongAnswer, In: "dedalus/rt", Packages: tests,
			Breaks: "Recursive facts go on holding by each other when what they came from is gone.",
			Old:    "m.state&was != 0 && !m.supported()", New: "m.state&was == 0 && !m.supported()",
		},
		{
			Name: "dedalus/rt/row-is-used-twice", Kind: Lost, In: "dedalus/rt", Packages: tests,
			Breaks: "The number of a row that is gone is not given back, or not taken.",
			Old:    "		f.free = f.free[:n-1]\n", New: "",
		},
		{
			Name: "dedalus/rt/removed-row-hides-others", Kind: Lost, In: "dedalus/rt", Packages: tests,
			Breaks: "Where a row was removed, those that were put behind it are no longer found.",
			Old:    "(next-home)&s.mask >= (next-at)&s.mask", New: "(next-home)&s.mask > (next-at)&s.mask",
		},
		{
			Name: "dedalus/rt/length-is-a-byte", Kind: WrongAnswer, In: "dedalus/rt", Packages: tests,
			Breaks: "The hashes of texts that differ in their length and a byte are equal.",
			Old:    "uint64(h) ^ key ^ uint64(n)*0x9e3779b97f4a7c15", New: "uint64(h) ^ key",
		},
		{
			Name: "dedalus/rt/sets-in-any-order", Kind: WrongAnswer, In: "dedalus/rt", Packages: tests,
			Breaks: "A row with a set that is not sorted is taken, and the same set is two facts.",
			Old:    "if r.bad || i > 0 && e.Compare(v.Set[i-1], *t.Elem) <= 0 {", New: "if r.bad || i < 0 {",
		},
	}
}

func planMutants() []Mutant {
	tests := []string{"internal/dedalus/plan"}
	return []Mutant{
		{
			Name: "dedalus/plan/kept-by-itself-passes", Kind: WrongAnswer, In: "internal/dedalus/plan", Packages: tests,
			Breaks: "What only carries itself on is computed anew in each tick.",
			Old:    "cycle[number[l.Relation]] != cycle[number[r.Head]])", New: "cycle[number[l.Relation]] >= 0)",
		},
		{
			Name: "dedalus/plan/changes-of-now", Kind: WrongAnswer, In: "internal/dedalus/plan", Packages: tests,
			Breaks: "Of two literals that change together the change is derived twice.",
			Old:    "&& i > first && l.changing()", New: "&& i < first && l.changing()",
		},
		{
			Name: "dedalus/plan/bag-is-counted", Kind: WrongAnswer, In: "internal/dedalus/plan", Packages: tests,
			Breaks: "What is looked up has no table for that.",
			Old:    "return r.Body[s.Literal].Relation == rel", New: "return false",
		},
		{
			Name: "dedalus/plan/wildcards-are-counted", Kind: WrongAnswer, In: "internal/dedalus/plan", Packages: tests,
			Breaks: "Messages that two facts send are taken for those of one.",
			Old:    "if t.Kind == logic.Wildcard || t.Kind == logic.Var && !in[t.Name] {", New: "if t.Kind == logic.Wildcard {",
		},
	}
}
