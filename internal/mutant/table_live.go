// SPDX-License-Identifier: Apache-2.0

package mutant

// liveMutants are about properties of behaviours and random walks.
func liveMutants() []Mutant {
	find, models := []string{"internal/check/live"}, []string{"internal/model"}
	return []Mutant{
		{
			Name: "check/live/strong-fairness-is-forgotten", Kind: Unsound, In: "internal/check/live", Packages: find,
			Breaks: "A component that strong fairness forbids as a whole is not searched for a part that it allows.",
			Old:    "return true, narrower, nil",
			New:    "return narrower == nil, nil, nil",
		},
		{
			Name: "check/live/promises-are-not-kept", Kind: WrongAnswer, In: "internal/check/live", Packages: find,
			Breaks: "A loop that puts off an eventuality forever is taken for a behaviour that satisfies it.",
			Old:    "postponed &= p\n",
			New:    "postponed &= p & 0\n",
		},
		{
			Name: "check/live/only-one-condition-counts", Kind: WrongAnswer, In: "internal/check/live", Packages: find,
			Breaks: "A component is accepted though it satisfies one of several fairness conditions only.",
			Old:    "often[0] = f\n\t\t\treturn false, nil, nil",
			New:    "often[0] = f\n\t\t\tcontinue",
		},
		{
			Name: "check/live/stuttering-is-no-step", Kind: Unsound, In: "internal/check/live", Packages: find,
			Breaks: "Behaviours that stop are not looked at.",
			Old:    "for to, begun := state, false; !begun",
			New:    "for to, begun := state, true; !begun",
		},
		{
			Name: "check/live/a-box-is-false-of-stuttering", Kind: WrongAnswer, In: "internal/check/live", Packages: find,
			Breaks: "A step in which nothing happens is taken not to satisfy [A]_v.",
			Old:    "return kind == BoxAtom",
			New:    "return kind == AngleAtom",
		},
		{
			Name: "check/live/low-links-stop", Kind: Unsound, In: "internal/check/live", Packages: find,
			Breaks: "Components fall apart: what a node reaches through its successors is not passed on.",
			Old:    "up.low = min(up.low, done.low)",
			New:    "_ = up",
		},
		{
			Name: "check/live/negation-keeps-and", Kind: Unsound, In: "internal/check/live", Packages: find,
			Breaks: "The negation of a conjunction is the conjunction of the negations.",
			Old:    "if (f.Op == Or) != negated {",
			New:    "if f.Op == Or {",
		},
		{
			Name: "check/live/always-is-only-now", Kind: WrongAnswer, In: "internal/check/live", Packages: find,
			Breaks: "What should always hold need hold now only.",
			Old:    "literals, next|x.t.obligation(f), postponed)",
			New:    "literals, next, postponed)",
		},
		{
			Name: "check/liveness/steps-lead-elsewhere", Kind: Unsound, In: "internal/check", Packages: models, Run: "TestModels",
			Breaks: "The steps from a state lead elsewhere, from the second one on.",
			Old:    "prev = s.to\n",
			New:    "",
		},
		{
			Name: "check/liveness/initial-states-are-all", Kind: WrongAnswer, In: "internal/check", Packages: models, Run: "TestModels",
			Breaks: "Behaviours may begin in the second state.",
			Old:    "b.initial = b.number\n",
			New:    "b.initial = b.number + 1\n",
		},
		{
			Name: "internal/model/live/weak-fairness-without-enabled", Kind: Unsound, In: "internal/check/live", Packages: models, Run: "TestModels",
			Breaks: "Weak fairness asks for the action whether it is enabled or not.",
			Old:    "return AlwaysOf(EventuallyOf(Any(Negate(enabled), taken)))",
			New:    "return AlwaysOf(EventuallyOf(taken))",
		},
		{
			Name: "internal/model/live/strong-is-weak", Kind: WrongAnswer, In: "internal/model", Packages: models, Run: "TestModels",
			Breaks: "Strong fairness is taken for weak fairness.",
			Old:    "if e.Strong {\n\t\treturn live.Strong(enabled, taken), nil\n\t}",
			New:    "",
		},
		{
			Name: "tla/lower/enabled-sees-the-refinement", Kind: WrongAnswer, In: "internal/tla/lower", Packages: models, Run: "TestModels",
			Breaks: "Below ENABLED of an instance, primed variables are the primed expressions that stand for them.",
			Old:    "next[v] = &core.VarRef{Var: s, At: core.At{Place: v.Span}}",
			New:    "_ = s",
		},
		{
			Name: "check/simulate/only-the-first-successor", Kind: Unsound, In: "internal/check", Packages: []string{"internal/check"}, Run: "Simulat|Walks",
			Breaks: "Walks always go to the first successor.",
			Old:    "if w.rng.below(w.seen) == 0 {",
			New:    "if w.seen == 1 {",
		},
		{
			Name: "check/simulate/short-traces-leave-the-path", Kind: WrongAnswer, In: "internal/check", Packages: []string{"internal/check"}, Run: "Simulat|Walks",
			Breaks: "A trace is shortened to states that do not follow each other.",
			Old:    "at = far\n",
			New:    "at = end\n",
		},
	}
}
