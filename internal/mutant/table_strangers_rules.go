// SPDX-License-Identifier: Apache-2.0

package mutant

// dedalusRuleMutants are about the comparison of Dedalus programs, and about the assertions of
// their authors.
func dedalusRuleMutants() []Mutant {
	trial, tests := "internal/dedalus/trial", []string{"internal/dedalus/trial"}
	late := func(name, breaks, old, new string) Mutant {
		return Mutant{Name: "strangers/rules/" + name, Kind: Unsound, In: trial, Packages: tests, Run: "TestPostponed", Breaks: breaks, Old: old, New: new}
	}
	return []Mutant{
		{
			Name: "strangers/rules/sent-again-is-another", Kind: WrongAnswer, In: "internal/cli/dedalus", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/dedaluscompare",
			Breaks: "A piece that sends again what the original sends once is different.",
			Old:    "b.Often = true", New: "b.Often = b.Duplicates > 0",
		},
		{
			Name: "strangers/rules/clients-repeat-themselves", Kind: Unsound, In: "internal/dedalus/adversary", Packages: []string{"cmd/ashlar"}, Run: "TestDedalusDefaults",
			Breaks: "The original may be sent again what a client sent once, which makes up for what came too soon.",
			Old:    "if !p.waiting && !p.gone && p.from != outside {", New: "if !p.waiting && !p.gone {",
		},
		{
			Name: "strangers/rules/values-are-made-up", Kind: Unsound, In: "internal/cli/dedalus", Packages: []string{"cmd/ashlar"}, Run: "TestDedalusDefaults",
			Breaks: "Compare tries values that the program does not speak of.",
			Old:    "\t\tc.Different = more.Different\n", New: "\t\t_ = more.Different\n",
		},
		{
			Name: "strangers/rules/unsure-is-wrong", Kind: WrongAnswer, In: "internal/cli/dedalus", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/dedaluscompare",
			Breaks: "What may be a difference of how often messages come is reported as one that is sure.",
			Old:    "if d.Unsure = c.Different.Unsure; d.Unsure {", New: "if d.Unsure = c.Different.Unsure; !d.Unsure && c.First == nil {",
		},
		late("forgets-all-the-same", "An assertion that what is forgotten is not missed is asked of runs in which it is forgotten as ever.",
			"w.rule(logic.Next, rel, head(keeps), keeps, atom(w.hold))", "w.rule(logic.Next, rel, head(keeps), keeps, atom(w.hold), negated(keeps))"),
		late("given-all-the-same", "An assertion that nobody can tell when a relation changed is asked of runs in which it is given as ever.",
			"r.Body = append(r.Body, negated(atom(w.hold)))", "_ = negated(atom(w.hold))"),
		late("held-while-something-comes", "What an input does in its own tick is held back too, and assertions that hold are refused.",
			"if !from[in] {", "if from[in] {"),
		late("nothing-is-asked", "Assertions that are about ticks are asked of no run.",
			"if c.Different != nil && !c.Different.Unsure {", "if c.Different != nil && c.Different.Unsure {"),
	}
}
