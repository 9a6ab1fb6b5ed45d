// SPDX-License-Identifier: Apache-2.0

package mutant

// lateMutants are about the code generated for recursive relations: indexes that
// are updated on lookup, and heads that are collected.
func lateMutants() []Mutant {
	tests := []string{"internal/dedalus/gen"}
	return []Mutant{
		{
			Name: "dedalus/gen/late-index-has-free-rows", Kind: WrongAnswer, In: "internal/dedalus/gen", Packages: tests, Run: "TestLate",
			Breaks: "An index that is brought up to date takes rows that are gone for facts.",
			Old:    "if t.Used(i) {\\nt.link%dRow(i)\\n}\\n}", New: "t.link%dRow(i)\\n}",
		},
		{
			Name: "dedalus/gen/late-index-lacks-rows-used-again", Kind: Lost, In: "internal/dedalus/gen", Packages: tests, Run: "TestLate",
			Breaks: "A fact in the row of one that is gone is not found by an index that had the other.",
			Old:    "g.p(\"if i < t.linked%d {\\nt.link%dRow(i)\\n}\", n, n)\n", New: "",
		},
		{
			Name: "dedalus/gen/late-index-is-never-brought-up-to-date", Kind: Lost, In: "internal/dedalus/gen", Packages: tests, Run: "TestLate",
			Breaks: "What was derived since an index was last looked up is not found by it.",
			Old:    "if t.Late[index] {", New: "if t.Late[index] && index < 0 {",
		},
		{
			Name: "dedalus/gen/rows-leave-an-index-that-never-had-them", Kind: WrongAnswer, In: "internal/dedalus/gen", Packages: tests, Run: "TestLate",
			Breaks: "A row that a late index does not have yet is taken out of it.",
			Old:    "g.p(\"if i < t.linked%d {\", n)", New: "g.p(\"if t.linked%d >= 0 {\", n)",
		},
		{
			Name: "dedalus/gen/gathered-heads-are-forgotten", Kind: Lost, In: "internal/dedalus/gen", Packages: tests, Run: "TestLate",
			Breaks: "What recursive rules derived last in a tick does not hold before the next one.",
			Old:    "if t := c.tables[r]; t.gathers() {", New: "if t := c.tables[r]; t.gathers() && r.Bag {",
		},
		{
			Name: "dedalus/gen/names-that-endings-make", Kind: Unguarded, In: "internal/dedalus/gen", Packages: tests, Run: "TestNames",
			Breaks: "Relations whose names are those of others with an ending make a program that Go does not compile.",
			Old:    "		n[name+e] = true\n", New: "		_ = e\n",
		},
	}
}
