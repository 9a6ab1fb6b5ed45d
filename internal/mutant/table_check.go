// SPDX-License-Identifier: Apache-2.0

package mutant

// checkMutants are about the search: its counts, the states that it visits, and
// its reports.
func checkMutants() []Mutant {
	return append(append(append(append(fingerprintMutants(), searchMutants()...), deepenMutants()...), liveMutants()...), spillMutants()...)
}

func fingerprintMutants() []Mutant {
	tests := []string{"internal/check/fpset"}
	return []Mutant{
		{
			Name: "check/fpset/growing-loses-first-slot", Kind: WrongAnswer, In: "internal/check/fpset", Packages: tests,
			Breaks: "When a shard grows, the fingerprint in its first slot is forgotten, so a state is explored twice.",
			Old:    "if fp != 0 {\n\t\t\tj := h.find(fp)",
			New:    "if fp != 0 && i > 0 {\n\t\t\tj := h.find(fp)",
		},
		{
			Name: "check/fpset/claim-is-not-lowered", Kind: WrongAnswer, In: "internal/check/fpset", Packages: tests,
			Breaks: "The first claim to a fingerprint stays instead of the lowest, so traces depend on the race of the workers.",
			Old:    "h.claims[i] = claim\n\t\toutcome = Lowered",
			New:    "outcome = Lowered",
		},
		{
			Name: "check/fpset/zero-is-an-empty-slot", Kind: WrongAnswer, In: "internal/check/fpset", Packages: tests,
			Breaks: "A state whose fingerprint is 0 is never found again.",
			Old:    "if fp == 0 {\n\t\treturn 1\n\t}",
			New:    "",
		},
		{
			Name: "check/fpset/hash-skips-a-byte", Kind: Unsound, In: "internal/check/fpset", Packages: tests,
			Breaks: "Of a tail of three bytes the middle one does not count, so different states are taken for one.",
			Old:    "uint64(b[0])<<16 | uint64(b[len(b)/2])<<8 |",
			New:    "uint64(b[0])<<16 |",
		},
	}
}

func deepenMutants() []Mutant {
	tests, table := []string{"internal/check"}, "internal/check"
	return []Mutant{
		{
			Name: "check/deepen/met-deeper-is-met", Kind: Unsound, In: table, Packages: tests, Run: "Deepen",
			Breaks: "A state that was met at a greater depth is not visited again at a lesser one, so that what follows it is cut off.",
			Old:    "if s.depth < now.depth || *s == now {",
			New:    "if s.depth <= now.depth || s.round == now.round {",
		},
		{
			Name: "check/deepen/forgotten-is-met", Kind: Unsound, In: table, Packages: tests, Run: "Deepen",
			Breaks: "A state for which the table has no room counts as met, and is never visited.",
			Old:    "	t.forgotten++\n",
			New:    "	t.forgotten++\n	return false\n",
		},
		{
			Name: "check/deepen/new-states-are-not-seen", Kind: Unsound, In: "internal/check", Packages: tests, Run: "Deepen",
			Breaks: "The search ends after the first round, as if there were no more states, and calls that all.",
			Old:    "		d.fresh++\n",
			New:    "",
		},
	}
}

func searchMutants() []Mutant {
	tests := []string{"internal/check"}
	return []Mutant{
		{
			Name: "check/violations-name-an-invariant", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "ViolationsName", Short: true,
			Breaks: "A violated property of steps has the name of the invariant with its number.",
			Old:    "return info.Steps[v.index]",
			New:    "return info.Invariants[v.index]",
		},
		{
			Name: "check/fingerprint-is-truncated", Kind: Unsound, In: "internal/check", Packages: tests,
			Run:    "TestWorkersAgreeOnLargeGraphs",
			Breaks: "States are told apart by a part of their fingerprint.",
			Old:    "fp := fpset.Hash(id)",
			New:    "fp := fpset.Hash(id) >> 40 << 40",
		},
		{
			Name: "check/key-is-ignored", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "TestKeys|TestCounts",
			Breaks: "A view or a symmetry is evaluated and not used.",
			Old:    "id = k\n\t}\n\tfp :=",
			New:    "_ = k\n\t}\n\tfp :=",
		},
		{
			Name: "check/invariant-skipped-outside-the-constraints", Kind: Unsound, In: "internal/check", Packages: tests, Run: "TestCounts",
			Breaks: "Invariants are not evaluated in states that a constraint keeps from being explored.",
			Old:    "if fresh && len(w.s.info.Invariants) > 0 {",
			New:    "if fresh && inside && len(w.s.info.Invariants) > 0 {",
		},
		{
			Name: "check/step-property-on-new-states-only", Kind: Unsound, In: "internal/check", Packages: tests, Run: "TestCounts",
			Breaks: "A step that leads to a state that is known already is not held against the action properties.",
			Old:    "if len(w.s.info.Steps) > 0 {\n\t\tif i, err := w.ev.BrokenStep(); err != nil || i >= 0 {\n\t\t\treturn w.answer",
			New:    "if fresh && len(w.s.info.Steps) > 0 {\n\t\tif i, err := w.ev.BrokenStep(); err != nil || i >= 0 {\n\t\t\treturn w.answer",
		},
		{
			Name: "check/deadlock-in-the-first-state-is-missed", Kind: Unsound, In: "internal/check", Packages: tests, Run: "TestCounts",
			Breaks: "An initial state without successor is not reported as a deadlock.",
			Old:    "if w.visited == 0 && w.s.info.Deadlock",
			New:    "if w.visited == 0 && w.number > 0 && w.s.info.Deadlock",
		},
		{
			Name: "check/deadlock-where-nothing-is-new", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "TestCounts",
			Breaks: "A state whose successors are all known already is called a deadlock.",
			Old:    "if w.visited == 0 && w.s.info.Deadlock",
			New:    "if w.fresh == 0 && w.s.info.Deadlock",
		},
		{
			Name: "check/last-state-of-a-chunk-is-dropped", Kind: Unsound, In: "internal/check", Packages: tests, Run: "TestWorkersAgree",
			Breaks: "The last state of a chunk is not expanded.",
			Old:    "for i := range c.size {",
			New:    "for i := range max(1, c.size-1) {",
		},
		{
			Name: "check/contested-states-are-counted-twice", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "TestWorkersAgreeOnLargeGraphs",
			Breaks: "A state that two workers found in one level belongs to both of them.",
			Old:    "if !s.marks.alone() && !w.owns(c, i) {",
			New:    "if !s.marks.alone() && !w.owns(c, i) && i < 0 {",
		},
		{
			Name: "check/depth-is-one-less", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "TestCounts",
			Breaks: "The depth counts steps instead of states.",
			Old:    "r.stats.Depth++\n",
			New:    "r.stats.Depth = len(r.levels) - 1\n",
		},
		{
			Name: "check/trace-takes-the-wrong-parent", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "TestLineage",
			Breaks: "A state's parent in a trace is that of the state before it, so the trace is none.",
			Old:    "parent += uint32(code / l.codes)\n\t\tif k == i {",
			New:    "if k != i {\n\t\t\tparent += uint32(code / l.codes)\n\t\t} else {",
		},
		{
			Name: "check/common-end-is-cut-twice", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "TestDifference",
			Breaks: "Where what a state and its parent begin with overlaps what they end with, the state in a trace is wrong.",
			Old:    "for suffix < short-prefix &&",
			New:    "for suffix < short &&",
		},
		{
			Name: "check/unchecked-property-is-ok", Kind: Unsound, In: "internal/check", Packages: tests, Run: "TestUnchecked",
			Breaks: "A model that asks for a property that is not checked is reported as OK.",
			Old:    "if !o.SafetyOnly {\n\t\t\tout.Verdict",
			New:    "if o.SafetyOnly {\n\t\t\tout.Verdict",
		},
		{
			Name: "check/limit-of-states-is-success", Kind: Unsound, In: "internal/check", Packages: tests, Run: "TestStatesMax|TestInterrupt|TestLimit",
			Breaks: "A search that was ended early is reported as complete.",
			Old:    "out.Verdict, out.Reason = why.verdict, why.reason\n\t\tout.Unfinished = why.verdict != LivenessViolated\n\t\treturn out, nil\n",
			New:    "out.Reason = why.reason\n",
		},
		{
			Name: "check/continue-reports-only-the-first-invariant", Kind: Unsound, In: "internal/check", Packages: tests, Run: "TestContinue",
			Breaks: "Where a state breaks several invariants, a search that goes on reports one of them.",
			Old:    "index, err = w.all.BrokenInvariantAfter(index)",
			New:    "index = -1",
		},
		{
			Name: "check/continue-forgets-deadlocks", Kind: Unsound, In: "internal/check", Packages: tests, Run: "TestContinue",
			Breaks: "A search that goes on after violations does not report deadlock.",
			Old:    "\t\t\tw.note(v)\n\t\t}",
			New:    "\t\t}",
		},
		{
			Name: "check/explore-takes-key-for-bytes", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "TestExplore",
			Breaks: "The graph of states tells states apart that the search takes for one.",
			Old:    "if w.can.Key == nil {",
			New:    "if w.can.Key != nil || w.can.Key == nil {",
		},
		{
			Name: "check/explore-levels-begin-late", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "TestExplore",
			Breaks: "The first state of a level of the graph belongs to the level before.",
			Old:    "b.levels = append(b.levels, known)",
			New:    "b.levels = append(b.levels, known+1)",
		},
	}
}
