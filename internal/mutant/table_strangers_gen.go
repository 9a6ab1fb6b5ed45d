// SPDX-License-Identifier: Apache-2.0

package mutant

// generatedMutants are about code that tests generate, and how it is built.
func generatedMutants() []Mutant {
	tests := []string{"internal/overlay"}
	return []Mutant{
		{
			Name: "overlay/mutants-are-left-out", Kind: Unguarded, In: "internal/overlay", Packages: tests,
			Breaks: "What GOFLAGS lays over the tree is not in what tests build: a mutant of the runtime is found by none of them.",
			Old:    "replace, err := inherited(os.Getenv(\"GOFLAGS\"))",
			New:    "replace, err := inherited(\"\")",
		},
		{
			Name: "overlay/one-dash-only", Kind: Unguarded, In: "internal/overlay", Packages: tests,
			Breaks: "A flag with two dashes is not taken for the one that it is.",
			Old:    "strings.CutPrefix(strings.TrimLeft(flag, \"-\"), \"overlay=\")",
			New:    "strings.CutPrefix(flag, \"-overlay=\")",
		},
	}
}
