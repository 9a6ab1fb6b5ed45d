// SPDX-License-Identifier: Apache-2.0

package mutant

// compiledSearchMutants are about searches by code compiled for a model.
func compiledSearchMutants() []Mutant {
	packed, child := []string{"internal/model/pack"}, []string{"internal/search/program"}
	return []Mutant{
		{
			Name: "native/what-another-element-gave", Kind: Unsound, In: "internal/model/pack", Packages: packed,
			Breaks: "Compiled code takes what a shared expression gave for one element of a set for what it gives for the next.",
			Old:    `known, keep = known+" && s.regs == "+key,`,
			New:    `known, keep = known,`,
		},
		{
			Name: "native/the-next-state-is-remembered", Kind: Unsound, In: "internal/model/pack", Packages: packed,
			Breaks: "Compiled code remembers what an expression gave in a next state that has changed since.",
			Old:    "(w.still || !n.reads)",
			New:    "(w.still || n.reads || !n.reads)",
		},
		{
			Name: "native/names-have-the-bytes-of-states", Kind: WrongAnswer, In: "internal/search/program", Packages: child,
			Breaks: "The program names states by other bytes than the command, so each finds states again that the other has found.",
			Old:    "return buf[:w.m.Sizes.Key], nil",
			New:    "return buf, nil",
		},
		{
			Name: "native/every-search-goes-on-from-its-beginning", Kind: WrongAnswer, In: "internal/search/program", Packages: child,
			Breaks: "The program keeps one checkpoint for the case that its code stops, and none after that.",
			Old:    "last, next = now, max(next, 2*now)",
			New:    "last, next = now, max(next, 200*now)",
		},
	}
}
