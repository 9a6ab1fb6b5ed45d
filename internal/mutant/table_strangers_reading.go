// SPDX-License-Identifier: Apache-2.0

package mutant

// strangersReadingMutants are about how a file with an algorithm is read, and
// about assignments in a configuration to names that the module does not
// declare.
func strangersReadingMutants() []Mutant {
	syntax, stale, modules := []string{"internal/tla/syntax"}, []string{"internal/tla/trans"}, []string{"internal/tla/load"}
	return []Mutant{
		{
			Name: "tla/syntax/misspelled-section-is-a-comment", Kind: Unguarded, In: "internal/tla/syntax", Packages: syntax, Run: "Habit",
			Breaks: "An algorithm whose first section is misspelled is a comment without a word.",
			Old:    "\t\tcheckHeads(f, heads, errs)",
			New:    "\t\tcheckHeads(f, nil, errs)",
		},
		{
			Name: "tla/syntax/misspelled-section-only-warns", Kind: Unguarded, In: "internal/tla/syntax", Packages: syntax, Run: "Habit",
			Breaks: "A module whose algorithm has a misspelled first section is checked without it.",
			Old:    "case first && d.Repair != \"\":",
			New:    "case first && d.Repair == \"\":",
		},
		{
			Name: "tla/syntax/prose-is-an-algorithm", Kind: WrongAnswer, In: "internal/tla/syntax", Packages: syntax, Run: "Habit",
			Breaks: "A comment that mentions the start of an algorithm gets a warning.",
			Old:    "case !first && d.Repair == \"\":",
			New:    "case false:",
		},
		{
			Name: "tla/load/stale-modular-translation-in-silence", Kind: Unguarded, In: "internal/tla/load", Packages: stale, Run: "Stale",
			Breaks: "A modular algorithm is checked beside a translation that says something else, without a word.",
			Old:    "if t.Print != nil && l.options.WarnStale && !untranslated(whole) {",
			New:    "if t.Print != nil && l.options.WarnStale && !untranslated(whole) && !whole.Algorithm.Modular {",
		},
		{
			Name: "tla/load/stale-says-the-wrong-text", Kind: WrongAnswer, In: "internal/tla/load", Packages: stale, Run: "Stale",
			Breaks: "The warning says that the translation is used, where the algorithm is.",
			Old:    `const unused = "the algorithm is used, not this translation, and the two differ: "`,
			New:    `const unused = "this translation is used, but it does not match the algorithm: "`,
		},
		{
			Name: "tla/load/translation-that-does-not-parse-in-silence", Kind: Unguarded, In: "internal/tla/load", Packages: stale, Run: "Stale",
			Breaks: "A translation that is not used and does not parse counts as one without differences to the algorithm.",
			Old:    "\t\t\tl.staleHere(whole, unused+\"the translation does not parse\")\n",
			New:    "",
		},
		{
			Name: "tla/module/sequences-ext-keeps-bags", Kind: Unguarded, In: "internal/tla/module/SequencesExt.tla", Packages: modules, Run: "Exported",
			Breaks: "A specification that extends SequencesExt and uses Bags is refused.",
			Old:    "EXTENDS Sequences, FiniteSets, FiniteSetsExt, Folds, Functions, Bags, TLC",
			New:    "EXTENDS Sequences, FiniteSets, FiniteSetsExt, Folds, Functions, TLC",
		},
		{
			Name: "tla/module/functions-give-all-away", Kind: Unguarded, In: "internal/tla/module/Functions.tla", Packages: modules, Run: "Exported",
			Breaks: "What Functions instantiates for itself can be used where it is extended.",
			Old:    "LOCAL INSTANCE FiniteSets\n\nRestrict(",
			New:    "INSTANCE FiniteSets\n\nRestrict(",
		},
	}
}
