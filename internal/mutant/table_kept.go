// SPDX-License-Identifier: Apache-2.0

package mutant

// keptMutants are about searches that are stopped early and continued, and about the
// report of a result.
func keptMutants() []Mutant {
	checks, ashlar := []string{"internal/check"}, []string{"cmd/ashlar"}
	return []Mutant{
		{
			Name: "check/kept/not-at-its-end", Kind: Lost, In: "internal/check", Packages: checks, Run: "KeptAtItsEnd",
			Breaks: "A search that is interrupted is not kept where it ended.",
			Old:    "s.fail(s.store.last())\n",
			New:    "",
		},
		{
			Name: "check/kept/removed-after-a-violation", Kind: Lost, In: "internal/check", Packages: checks, Run: "ChecksAreKept",
			Breaks: "A search that goes on after violations loses its checkpoint when it is ended.",
			Old:    "r.Unfinished || r.Verdict",
			New:    "r.Verdict",
		},
		{
			Name: "check/kept/periodic-checks-are-forgotten", Kind: WrongAnswer, In: "internal/check", Packages: checks, Run: "ChecksAreKept",
			Breaks: "What periodic checks of properties of behaviours found is in no checkpoint.",
			Old:    ", Checks: s.periodic.kept()}",
			New:    "}",
		},
		{
			Name: "check/periodic/goes-on", Kind: WrongAnswer, In: "internal/check", Packages: checks, Run: "CheckerOfAnother",
			Breaks: "A search goes on though the process that checks for it has found a violation.",
			Old:    "return got.End, json",
			New:    "return false, json",
		},
		{
			Name: "ashlar/lost-result-is-success", Kind: Unsound, In: "internal/cli", Packages: ashlar, Run: "ResultsThatAreLost",
			Breaks: "A result that could not be written has the exit code of success.",
			Old:    "case err == nil && lost != nil:",
			New:    "case err == nil && lost != nil && t == nil:",
		},
	}
}
