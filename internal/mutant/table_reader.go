// SPDX-License-Identifier: Apache-2.0

package mutant

// readerMutants are about reading: modules as users write them, the operators
// of the community modules, and outdated translations.
func readerMutants() []Mutant {
	stdlib := []string{"tla/stdlib"}
	return []Mutant{
		{
			Name: "tla/load/translation-is-never-stale", Kind: Unguarded, In: "internal/tla/load", Packages: []string{"internal/tla/trans"}, Run: "TestStale",
			Breaks: "A change of an algorithm that only changes what a label does is not noticed.",
			Old:    "if !maps.Equal(a, b) {",
			New:    "if len(b) == 0 && !maps.Equal(a, b) {",
		},
		{
			Name: "tla/load/own-definition-gives-way", Kind: WrongAnswer, In: "internal/tla/resolve", Packages: []string{"internal/tla/load"}, Run: "TestAssumptions",
			Breaks: "Where a module extends two that define a name, the community module's definition counts.",
			Old:    "r.giveWay(at, s, old)\n\t\t\t\tr.scope.bind(name, s, local)",
			New:    "r.giveWay(at, s, old)",
		},
		{
			Name: "tla/lower/selected-operator-has-its-own-parameters", Kind: WrongAnswer, In: "internal/tla/lower", Packages: []string{"internal/tla/load"}, Run: "TestAssumptions",
			Breaks: "F(1)!g(2), where g is defined by a LET of F, leaves the parameter of g without a value.",
			Old:    "inner.locals[g.Name] = d.Params[len(target.Formals)+i]",
			New:    "_, _ = i, g",
		},
		{
			Name: "tla/syntax/commented-header-starts-a-module", Kind: Unguarded, In: "internal/tla/syntax", Packages: []string{"internal/tla/load"}, Run: "TestLoad",
			Breaks: "A header behind \\* is taken for the header of a module.",
			Old:    "!isNameByte(text[from])) && !commentedOut(text, start) {",
			New:    "!isNameByte(text[from])) {",
		},
		{
			Name: "tla/stdlib/empty-sequence-is-nowhere", Kind: WrongAnswer, In: "tla/stdlib", Packages: stdlib,
			Breaks: "Replacing the empty sequence changes nothing.",
			Old:    "return spread(with, rest, times, op)",
			New:    "return t.Normal()",
		},
		{
			Name: "tla/stdlib/choices-that-coincide", Kind: WrongAnswer, In: "tla/stdlib", Packages: stdlib,
			Breaks: "A choice of one element from two sets is left out.",
			Old:    "out.add(value.Union(c, value.Set(x)))",
			New:    "if !value.Contains(c, x) {\n\t\t\t\t\tout.add(value.Union(c, value.Set(x)))\n\t\t\t\t}",
		},
	}
}
