// SPDX-License-Identifier: Apache-2.0

package mutant

// evalMutants are about the compiled evaluator: the successors of a state, and
// the values of formulas in them.
func evalMutants() []Mutant {
	return append(append(actionMutants(), formulaMutants()...), modelMutants()...)
}

// evalTests are the quick ones of internal/model: expressions and actions against
// their meaning, and the evaluators against each other on small models.
const evalTests = "TestExpressions|TestActions|TestModels|TestEvaluatorsAgreeOnTheSpecs|TestDirect$"

func actionMutants() []Mutant {
	tests := []string{"internal/model"}
	return []Mutant{
		{
			Name: "internal/model/second-branch-is-lost", Kind: Unsound, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "Of a disjunction of two actions only the first is taken.",
			Old:    "acts[1]\n\t\treturn func(m *Machine) bool { return a(m) && b(m) }",
			New:    "acts[1]\n\t\treturn func(m *Machine) bool { return a(m) || b(m) }",
		},
		{
			Name: "internal/model/conjuncts-run-backwards", Kind: WrongAnswer, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "The conjuncts of an action are evaluated from the last to the first.",
			Old:    "for i := len(e.List) - 1; i >= 0; i-- {\n\t\t\tk = c.act(e.List[i], x, k)",
			New:    "for i := range e.List {\n\t\t\tk = c.act(e.List[i], x, k)",
		},
		{
			Name: "internal/model/second-assignment-is-not-compared", Kind: Unsound, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "x' = 1 /\\ x' = 2 is a step to x = 1.",
			Old:    "return !value.Equal(old, x) || k(m)",
			New:    "return k(m)",
		},
		{
			Name: "internal/model/assignment-outlives-its-branch", Kind: Unsound, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "What one branch of a disjunction assigns is still assigned in the next.",
			Old:    "ok := k(m)\n\t\tm.nxt[i] = value.Value{}\n\t\treturn ok",
			New:    "return k(m)",
		},
		{
			Name: "internal/model/unchanged-is-ignored-after-assignment", Kind: Unsound, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "x' = x + 1 /\\ UNCHANGED x is a step.",
			Old:    "if !value.Equal(old, m.cur[i]) {",
			New:    "if old.Kind() != m.cur[i].Kind() {",
		},
		{
			Name: "internal/model/membership-assigns-one-element", Kind: Unsound, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "x' \\in S leads to the first element of S only.",
			Old:    "m.nxt[i] = value.Value{}\n\t\t\tif !ok {",
			New:    "m.nxt[i] = value.Value{}\n\t\t\tif ok {",
		},
		{
			Name: "internal/model/disjunction-in-a-guard-counts-once", Kind: WrongAnswer, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "A disjunction that assigns nothing is one way to go on, where TLC counts each true disjunct.",
			Old:    "case *core.Or, *core.Box:\n\t\treturn true",
			New:    "case *core.Box:\n\t\treturn true",
		},
	}
}

func formulaMutants() []Mutant {
	tests := []string{"internal/model"}
	return []Mutant{
		{
			Name: "internal/model/unassigned-variable-is-read", Kind: Unsound, In: "internal/model/rule", Packages: tests, Run: evalTests,
			Breaks: "To read a primed variable that has no next value yet is no error.",
			Old:    "\t\tvalue.Fail(\"the variable %s is used before it has a value in the state being built\", v.Name)\n",
			New:    "",
		},
		{
			Name: "internal/model/last-of-an-interval-is-lost", Kind: Unsound, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "Quantifiers over a..b do not look at b.",
			Old:    "for i := int64(lo); i <= int64(hi); i++ {",
			New:    "for i := int64(lo); i < int64(hi); i++ {",
		},
		{
			Name: "internal/model/disjuncts-from-the-right", Kind: WrongAnswer, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "a \\/ b evaluates b first, so a guard on the left does not protect the right side.",
			Old:    "return func(m *Machine) bool { return a(m) || b(m) }\n\t}\n\treturn func(m *Machine) bool {\n\t\tfor _, p := range ps {\n\t\t\tif p(m) {",
			New:    "return func(m *Machine) bool { return b(m) || a(m) }\n\t}\n\treturn func(m *Machine) bool {\n\t\tfor _, p := range ps {\n\t\t\tif p(m) {",
		},
		{
			Name: "internal/model/emptiness-is-of-the-last-element", Kind: Unsound, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "{x \\in S : p} = {} asks whether p is false of the last element.",
			Old:    "if p(m) {\n\t\t\tm.slots[found] = value.Bool(true)\n\t\t}",
			New:    "m.slots[found] = value.Bool(p(m))",
		},
		{
			Name: "internal/model/kept-value-is-stale", Kind: WrongAnswer, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "A predicate of two variables is remembered by the value of one of them.",
			Old:    "bits.OnesCount64(f.Vars) != 1",
			New:    "bits.OnesCount64(f.Vars) < 1",
		},
		{
			Name: "internal/model/primed-value-is-remembered-as-unprimed", Kind: Unsound, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "A predicate of x' is remembered by the value of x.",
			Old:    "if x.mode.primed || x.mode.epoch != 0",
			New:    "if x.mode.epoch != 0",
		},
		{
			Name: "internal/model/function-of-a-variable-is-kept", Kind: Unsound, In: "internal/model/closure", Packages: tests, Run: evalTests,
			Breaks: "What was computed of a recursive function that depends on a variable is kept for other states.",
			Old:    "case f.Level > core.ConstantLevel:\n\tcase fn.Self",
			New:    "case fn.Self",
		},
	}
}

func modelMutants() []Mutant {
	tests := []string{"internal/model"}
	return []Mutant{
		{
			Name: "internal/model/symmetry-leaves-domains", Kind: Unsound, In: "internal/model/symmetry", Packages: tests, Run: evalTests,
			Breaks: "A permutation renames the values of a function and not its arguments.",
			Old:    "keys, keysChanged := p.applyAll(v.Domain().Elems())",
			New:    "keys, keysChanged := v.Domain().Elems(), false",
		},
		{
			Name: "internal/model/symmetry-group-is-not-closed", Kind: WrongAnswer, In: "internal/model/symmetry", Packages: tests, Run: evalTests,
			Breaks: "Products of permutations are left out, so states that are one are counted apart.",
			Old:    "for i := 0; i < len(group); i++ {",
			New:    "for i := 0; i < 1; i++ {",
		},
		{
			Name: "internal/model/only-the-last-constraint-counts", Kind: WrongAnswer, In: "internal/model", Packages: tests, Run: evalTests,
			Breaks: "Of several constraints the last decides alone.",
			Old:    "inside = w.ev.Holds(f.id, w.seen, vector.Vector{}) }); err != nil || !inside {",
			New:    "inside = w.ev.Holds(f.id, w.seen, vector.Vector{}) }); err != nil {",
		},
		{
			Name: "internal/model/first-state-is-not-held-against-properties", Kind: Unsound, In: "internal/model", Packages: tests, Run: evalTests,
			Breaks: "The part of a property that speaks of initial states is not evaluated.",
			Old:    "if w.initial {\n\t\t\tf, cur, nxt = s.init, w.seen, vector.Vector{}\n\t\t}",
			New:    "if w.initial {\n\t\t\tcontinue\n\t\t}",
		},
		{
			Name: "internal/model/fairness-counts-as-checked", Kind: Unsound, In: "internal/model", Packages: tests, Run: evalTests,
			Breaks: "A property that asks for fairness is dropped without a word.",
			Old:    "if len(ps.fair)+len(ps.rest) > 0 {",
			New:    "if len(ps.rest) > 0 {",
		},
		{
			Name: "internal/model/quantified-step-property-is-dropped", Kind: Unsound, In: "internal/model", Packages: tests, Run: evalTests,
			Breaks: "Of \\A i \\in S : [][A(i)]_v nothing is checked.",
			Old:    "\tadd(&ps.steps, inner.steps)\n",
			New:    "",
		},
		{
			Name: "internal/model/algorithm-assignment-is-not-undone", Kind: Unsound, In: "internal/model/closure", Packages: tests, Run: "TestDirect",
			Breaks: "A variable that a step assigns twice keeps the value in the next branch.",
			Old:    "m.nxt[i] = old\n",
			New:    "_ = old\n",
		},
		{
			Name: "internal/model/algorithm-forgets-else", Kind: WrongAnswer, In: "internal/model/closure", Packages: tests, Run: "TestDirect",
			Breaks: "What only the else branch of an if assigns is taken for unassigned after it.",
			Old:    "set = s.after(st.Else, s.after(st.Then, set))",
			New:    "set = s.after(st.Then, set)",
		},
	}
}
