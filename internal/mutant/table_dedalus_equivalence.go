// SPDX-License-Identifier: Apache-2.0

package mutant

// dedalusEquivalenceMutants are mistakes in the comparison of programs: the
// exploration, the adversary and its oracle.
func dedalusEquivalenceMutants() []Mutant {
	explore := []string{"internal/dedalus/explore"}
	adversary := []string{"internal/dedalus/adversary"}
	return []Mutant{
		{Name: "dedalus/explore/crash-forgets-what-is-durable", Breaks: "A node that crashes loses what is durable, too.", Kind: WrongAnswer,
			In: "internal/dedalus/explore", Old: "return !f.Relation.Durable }", New: "return true }", Packages: explore},
		{Name: "dedalus/explore/crash-forgets-nothing", Breaks: "A node that crashes keeps what is not durable.", Kind: Unsound,
			In: "internal/dedalus/explore", Old: "return !f.Relation.Durable }", New: "return false }", Packages: explore},
		{Name: "dedalus/explore/rest-where-a-step-leaves", Breaks: "A component that a fair step leaves counts as rest.", Kind: WrongAnswer,
			In: "internal/dedalus/explore", Old: "\tif !leaves {", New: "\tif !leaves || len(t.stack) > 0 {", Packages: explore},
		{Name: "dedalus/explore/unvisited-is-rest", Breaks: "A state that was not visited counts as one that nothing follows.", Kind: WrongAnswer,
			In: "internal/dedalus/explore", Old: "t.leaves[v] = !t.g.visited[v]", New: "t.leaves[v] = false", Packages: explore},
		{Name: "dedalus/explore/tick-without-a-crash-in-it", Breaks: "A crash is between ticks only.", Kind: Unsound,
			In: "internal/dedalus/explore", Old: "if s.crashes > 0 && (len(in) > 0 || timers > 0 || len(s.carried[i]) > 0) {", New: "if s.crashes > 99 && (len(in) > 0 || timers > 0 || len(s.carried[i]) > 0) {", Packages: explore},
		{Name: "dedalus/explore/sent-again-is-not-under-way", Breaks: "Who tries again is not heard.", Kind: WrongAnswer,
			In: "internal/dedalus/explore", Old: "\t\tcase out.inside:\n", New: "\t\tcase out.inside && !contains(s.delivered, x) && len(s.outputs) > 0:\n", Packages: explore},
		{Name: "dedalus/explore/incomplete-first-is-compared", Breaks: "What the original was not seen to do within the bound is called a difference.", Kind: WrongAnswer,
			In: "internal/dedalus/explore", Old: "\tif !a.Complete {", New: "\tif !a.Complete && a.States > 1_000 {", Packages: explore},
		{Name: "dedalus/explore/liveness-is-not-compared", Breaks: "A program that says nothing passes.", Kind: Unsound,
			In: "internal/dedalus/explore", Old: `missing("liveness", z.final, a.final)`, New: `missing("liveness", z.final, z.final)`, Packages: explore},
		{Name: "dedalus/explore/still-ignores-what-is-sent", Breaks: "A part that sends when nothing comes in passes for a state machine.", Kind: Unsound,
			In: "internal/dedalus/explore", Old: "if t.carried == s.carried[i] && len(t.sent) == 0 {", New: "if t.carried == s.carried[i] {", Packages: explore},
		{Name: "dedalus/adversary/rest-is-not-judged", Breaks: "A run that stops where the original goes on is explained.", Kind: Unsound,
			In: "internal/dedalus/adversary", Old: "(!r.Rest || mirrored.Rest && mirrored.Outcome() == r.Outcome())", New: "(r.Rest || mirrored.Rest && mirrored.Outcome() == r.Outcome())", Packages: adversary, Run: "TestMistakes"},
		{Name: "dedalus/adversary/oracle-tells-more", Breaks: "A run of the original that tells more explains one that has come to rest having told less.", Kind: Unsound,
			In: "internal/dedalus/adversary", Old: "return w.peace(func(int) {}) && len(w.told) == len(wanted)", New: "return w.peace(func(int) {}) && len(w.told) >= 0", Packages: adversary, Run: "TestMistakes"},
	}
}
