// SPDX-License-Identifier: Apache-2.0

package mutant

// batchMutants are about decouplings of Dedalus programs whose parts send each other
// batches: the rewritten program, the conditions, and the checks.
func batchMutants() []Mutant {
	return append(batchRuleMutants(), batchConditionMutants()...)
}

func batchRuleMutants() []Mutant {
	tests, run := []string{"internal/dedalus/rewrite"}, "TestBatches"
	return []Mutant{
		{
			Name: "dedalus/rewrite/batch-is-taken-late", Kind: NotAtomic, In: "internal/dedalus/rewrite", Packages: tests, Run: run,
			Breaks: "What comes of a batch that was sealed is kept forever.",
			Old:    `early := []logic.Literal{has(due, counter("d")), compare("b", logic.GreaterEqual, "d")}`,
			New:    `early := []logic.Literal{has(due, counter("d")), compare("d", logic.GreaterEqual, "d")}`,
		},
		{
			Name: "dedalus/rewrite/batch-columns-merge", Kind: NotAtomic, In: "internal/dedalus/rewrite", Packages: []string{"internal/dedalus/certificate"}, Run: "TestBatchesAreRight",
			Breaks: "Facts of a relation that merges merge on their way, and fewer come than were sent.",
			Old:    "out[i].Lattice = logic.NoLattice",
			New:    "out[i].Lattice = columns[i].Lattice",
		},
		{
			Name: "dedalus/rewrite/batch-numbers-go-on", Kind: NotAtomic, In: "internal/dedalus/rewrite", Packages: tests, Run: run,
			Breaks: "The number of a batch stays one of those that the next may have.",
			Old:    "b.rule(logic.Next, next, bn[:1], has(next, bn[:1]...), hasNot(b.batch, anything(b.batch)...)),",
			New:    "b.rule(logic.Next, next, bn[:1], has(next, bn[:1]...)),",
		},
		{
			Name: "dedalus/rewrite/empty-batch-is-not-full", Kind: WrongAnswer, In: "internal/dedalus/rewrite", Packages: tests, Run: run,
			Breaks: "A batch without facts is waited for, and all after it.",
			Old:    "b.receiver(name, true)",
			New:    "b.receiver(name, false)",
		},
	}
}

func batchConditionMutants() []Mutant {
	analysis, checker := []string{"internal/dedalus/analyze"}, []string{"internal/dedalus/certificate"}
	const needs = "TestWhatBatchesNeed|TestBatch"
	return []Mutant{
		{
			Name: "dedalus/analyze/state-for-one-tick", Kind: Unsound, In: "internal/dedalus/analyze", Packages: analysis,
			Breaks: "A fact that holds in one tick only counts as state.",
			Old:    "if r.Kind == logic.Next && !carried[r.Head.Relation] {\n\t\t\t\tv.block",
			New:    "if r.Kind == logic.Next && !carried[r.Head.Relation] && len(r.Body) > 9 {\n\t\t\t\tv.block",
		},
		{
			Name: "dedalus/analyze/carried-when-something-comes", Kind: Unsound, In: "internal/dedalus/analyze", Packages: analysis,
			Breaks: "What is carried only through ticks in which something comes in counts as state.",
			Old:    "if ok && !driven(r, inputs, e) {",
			New:    "if ok {",
		},
		{
			Name: "dedalus/analyze/guard-that-compares", Kind: Unsound, In: "internal/dedalus/analyze", Packages: analysis,
			Breaks: "A comparison that drops state passes for a guard.",
			Old:    "return g.Atom != nil && g.Negated && (e[g.Atom.Relation] || inputs[g.Atom.Relation])",
			New:    "return g.Atom == nil || g.Negated && (e[g.Atom.Relation] || inputs[g.Atom.Relation])",
		},
		{
			Name: "dedalus/rewrite/for-ever-in-batches", Kind: Unsound, In: "internal/dedalus/rewrite", Packages: checker, Run: needs,
			Breaks: "A relation that holds forever is sent at every tick.",
			Old:    "if derived(w.kept, rel) && !ends[rel] {",
			New:    "if derived(w.kept, rel) && !ends[rel] && len(ends) > 99 {",
		},
		{
			Name: "dedalus/certificate/for-ever-in-batches", Kind: Unsound, In: "internal/dedalus/certificate", Packages: checker, Run: needs,
			Breaks: "A claim that sends a relation forever passes.",
			Old:    "if local[r.Name] && !done[r.Name] {",
			New:    "if local[r.Name] && !done[r.Name] && len(done) > 99 {",
		},
		{
			Name: "dedalus/certificate/durable-moves", Kind: Unsound, In: "internal/dedalus/certificate", Packages: checker, Run: needs,
			Breaks: "What is durable may be moved away from what answers.",
			Old:    "if r.Head.Relation.Durable {",
			New:    "if r.Head.Relation.Durable && r.Kind == logic.Async {",
		},
		{
			Name: "dedalus/certificate/one-relation-for-two", Kind: Unsound, In: "internal/dedalus/certificate", Packages: checker, Run: needs,
			Breaks: "What batches are kept in may merge.",
			Old:    "(r.Kind != logic.Derived || r.Durable || r.Merges())",
			New:    "(r.Kind != logic.Derived || r.Durable)",
		},
		{
			Name: "dedalus/certificate/reads-what-does-not-come", Kind: Unsound, In: "internal/dedalus/certificate", Packages: checker, Run: needs + "|TestEarly",
			Breaks: "What is sent early may wait for no batch.",
			Old:    `if !last.Positive() || last.Atom.Relation.Name != a.chosen["$batch"] ||`,
			New:    `if !last.Positive() ||`,
		},
	}
}
