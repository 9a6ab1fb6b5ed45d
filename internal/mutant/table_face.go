// SPDX-License-Identifier: Apache-2.0

package mutant

// faceMutants are mistakes in package ashlar.
func faceMutants() []Mutant {
	face := []string{"."}
	return []Mutant{
		{
			Name: "face/postcondition-is-not-asked", Kind: Unguarded, In: ".", Packages: face, Run: "TestVerdicts",
			Breaks: "A program is told OK although the postcondition is false.",
			Old:    "return out, s.conclude(out)", New: "return out, nil",
		},
		{
			Name: "face/a-bounded-search-is-complete", Kind: WrongAnswer, In: ".", Packages: face, Run: "TestVerdicts",
			Breaks: "A search that was ended by a bound says that it visited everything.",
			Old:    "Complete: r.Complete, Reason", New: "Complete: true, Reason",
		},
		{
			Name: "face/a-violation-is-an-incomplete-search", Kind: Unguarded, In: ".", Packages: face, Run: "TestVerdicts|TestContinue",
			Breaks: "A program learns of no violation.",
			Old:    "violations := r.Violations", New: "violations := r.Violations[:0:0]; return out, nil",
		},
		{
			Name: "face/libraries-are-forgotten", Kind: WrongAnswer, In: ".", Packages: face, Run: "TestCommandSaysTheSame",
			Breaks: "Modules of libraries are not found.",
			Old:    "specification.Options{Config: o.Config, Libraries: o.Libraries})\n	if err != nil {\n		return nil, inputError(err)\n	}\n	m, err",
			New:    "specification.Options{Config: o.Config})\n	if err != nil {\n		return nil, inputError(err)\n	}\n	m, err",
		},
	}
}
