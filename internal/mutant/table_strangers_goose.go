// SPDX-License-Identifier: Apache-2.0

package mutant

// strangersGooseMutants are about which code is translated at all: a check that
// checks nothing must not pass.
func strangersGooseMutants() []Mutant {
	scripts := []string{"cmd/ashlar"}
	const session = "TestScripts/provefiles"
	return []Mutant{
		{
			Name: "strangers/goose/nothing-loaded-is-fine", Kind: Unsound, In: "internal/goose", Packages: scripts, Run: session,
			Breaks: "Where the go command fails and nothing is loaded, prove translate --check succeeds.",
			Old:    "switch {\n\tcase len(all) == 0 && words != \"\":",
			New:    "switch {\n\tcase len(all) == 0:\n\t\treturn nil, nil\n\tcase len(all) == 0 && words != \"\":",
		},
		{
			Name: "strangers/goose/a-pattern-may-match-nothing", Kind: Unsound, In: "internal/goose", Packages: scripts, Run: session,
			Breaks: "Of two patterns one may match nothing, and the check succeeds.",
			Old:    "if !matched[pattern] {",
			New:    "if !matched[pattern] && len(patterns) == 1 {",
		},
		{
			Name: "strangers/goose/names-choose-nothing", Kind: Unsound, In: "internal/goose", Packages: scripts, Run: session,
			Breaks: "A package whose files have names for one system counts as the same everywhere.",
			Old:    "if err != nil || !match {",
			New:    "if err != nil || !match && file == nil {",
		},
		{
			Name: "strangers/goose/left-out-in-silence", Kind: Unsound, In: "internal/goose", Packages: []string{"internal/goose"}, Run: "TestFilesAreThoseOfTheBuild",
			Breaks: "Files that build constraints leave out are not in the head of the Coq file.",
			Old:    "u.Configuration, u.Left = p.settings, p.left",
			New:    "u.Configuration = p.settings",
		},
		{
			Name: "strangers/goose/folders-left-out-in-silence", Kind: Unsound, In: "internal/goose", Packages: scripts, Run: session,
			Breaks: "A package below ./... of which no file is left is passed over without a word.",
			Old:    "!dots || !build.IsLocalImport(before) && !filepath.IsAbs(before)",
			New:    "!dots || !filepath.IsAbs(before)",
		},
		{
			Name: "strangers/goose/int-of-32-bits", Kind: Unsound, In: "internal/goose", Packages: scripts, Run: session,
			Breaks: "A program for a machine whose int has 32 bits is translated with 64.",
			Old:    "sizes.Sizeof(types.Typ[types.Int]) == 8",
			New:    "sizes.Sizeof(types.Typ[types.Int]) >= 4",
		},
		{
			Name: "strangers/diagnostics/dropped-ones-are-not-counted", Kind: WrongAnswer, In: "internal/source", Packages: scripts, Run: session,
			Breaks: "A document for machines ends at 50 diagnostics as if there were no more.",
			Old:    "if n := l.Dropped(); n > 0 {",
			New:    "if n := l.Dropped(); n > 50 {",
		},
		{
			Name: "strangers/diagnostics/a-dropped-error-is-none", Kind: Unsound, In: "internal/source", Packages: []string{"internal/source"}, Run: "TestAppend",
			Breaks: "An error behind 50 warnings is forgotten when lists are joined, and the result counts as good.",
			Old:    "l.errors = errors // with",
			New:    "l.errors = min(l.errors, errors) // with",
		},
	}
}
