// SPDX-License-Identifier: Apache-2.0

package mutant

// strangersLevelMutants are about the levels of operators passed as arguments,
// and about what commands report about a configuration and do at an interrupt.
func strangersLevelMutants() []Mutant {
	models, resolve, stdlib := []string{"internal/model"}, []string{"internal/tla/resolve"}, []string{"tla/stdlib"}
	return []Mutant{
		{
			Name: "tla/resolve/operators-passed-on-have-every-level", Kind: WrongAnswer, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "An operator that is passed on has the levels of all its arguments: Ap(Can, Next) is an action.",
			Old:    "ask = g.passes(to.sum, p.i)",
			New:    "ask = []string{\"\"}",
		},
		{
			Name: "tla/resolve/operators-passed-on-ask-nothing", Kind: Unguarded, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "What an operator that is passed on asks of its arguments is not asked of them: Ap(Prime, x').",
			Old:    "case to.sum != nil && p.i < len(to.sum.formals):",
			New:    "case to.sum != nil && p.i < 0:",
		},
		{
			Name: "tla/resolve/operators-passed-on-twice-ask-nothing", Kind: Unguarded, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "An operator parameter that is passed on to another operator forgets what it is given.",
			Old:    "use(place{to.op, p.i}, t)",
			New:    "_ = t",
		},
		{
			Name: "tla/resolve/guards-are-lost", Kind: WrongAnswer, In: "internal/tla/resolve", Packages: resolve, Run: "TestResolve", Short: true,
			Breaks: "What counts under one operator only counts under all: a guard is forgotten where another is added.",
			Old:    "if a.when = both(a.when, guard); len(a.when) <= 4*guardMax {",
			New:    "if a.when = guard; len(a.when) <= 4*guardMax {",
		},
		{
			Name: "tla/resolve/constants-of-a-module-ask-nothing", Kind: Unguarded, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "A temporal formula may replace a constant that stands in a set.",
			Old:    "if m.asks == nil {",
			New:    "if m.asks != nil {",
		},
		{
			Name: "tla/resolve/operators-that-look-into-time", Kind: Unsound, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "A constant operator is replaced by one that primes its argument: what follows from equality in the module is wrong.",
			Old:    "if to.sum != nil && len(to.sum.opaque) > 0 {",
			New:    "if to.sum != nil && len(to.sum.opaque) > 9 {",
		},
		{
			Name: "tla/resolve/action-beside-temporal", Kind: Unguarded, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "An action stands beside a temporal formula.",
			Old:    "if out.closed == TemporalLevel && action >= 0 && items != nil {",
			New:    "if out.closed == TemporalLevel && action > 9 && items != nil {",
		},
		{
			Name: "tla/resolve/bounds-around-are-lost", Kind: Unguarded, In: "internal/tla/resolve", Packages: resolve, Run: "ByRunning", Short: true,
			Breaks: "What a definition inside a LET asks of the parameters around is forgotten.",
			Old:    "around.bounds[bound{n, b.most}] = true\n\t\t}\n\t}\n\tfor u := range l.asks.uses {",
			New:    "_ = n\n\t\t}\n\t}\n\tfor u := range l.asks.uses {",
		},
		{
			Name: "internal/model/operators-passed-on-have-every-level", Kind: WrongAnswer, In: "internal/model/program", Packages: models, Run: "TestSearches", Short: true,
			Breaks: "An invariant that passes ENABLED on as an operator is refused as an action.",
			Old:    "given[l] = p.operatorPasses(a, ops)",
			New:    "_ = a\n\t\t\tgiven[l] = nil",
		},
		{
			Name: "cmd/ashlar/interrupts-end-the-session", Kind: WrongAnswer, In: "internal/cli/repl", Packages: []string{"cmd/ashlar"}, Run: "TestReplIsInterrupted", Short: true,
			Breaks: "Ctrl-C in a long evaluation ends the session, and what was defined is lost.",
			Old:    "return !r.stopped.Swap(true)",
			New:    "return false",
		},
		{
			Name: "cmd/ashlar/interrupts-end-nothing", Kind: Stuck, In: "internal/cli/repl", Packages: []string{"cmd/ashlar"}, Run: "TestReplIsInterrupted", Short: true,
			Breaks: "Ctrl-C does not end the evaluation of a line.",
			Old:    "stop := func() bool { return r.stopped.Load() || ctx.Err() != nil }",
			New:    "stop := func() bool { return ctx.Err() != nil }",
		},
		{
			Name: "cmd/ashlar/repl-drops-warnings", Kind: Unguarded, In: "internal/cli/repl", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/undeclared", Short: true,
			Breaks: "A session says nothing of what the configuration says in vain.",
			Old:    "r.warnings.Print(r.t.Err)",
			New:    "_ = r.warnings",
		},
		{
			Name: "internal/system/warnings-are-dropped", Kind: Unguarded, In: "internal/system", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/undeclared", Short: true,
			Breaks: "compile says nothing of what the configuration says in vain.",
			Old:    "s.diags.Add(d) // errors are",
			New:    "_ = d // errors are",
		},
		{
			Name: "internal/specification/warnings-are-dropped", Kind: Unguarded, In: "internal/specification", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/undeclared", Short: true,
			Breaks: "check, simulate and trace check say nothing of what the configuration says in vain.",
			Old:    "s.Diagnostics.Append(m.Warnings())",
			New:    "_ = m.Warnings()",
		},
		{
			Name: "lsp/configurations-are-not-read", Kind: Unguarded, In: "internal/lsp", Packages: []string{"internal/lsp"},
			Breaks: "An editor does not show what the configuration beside a module says in vain.",
			Old:    "wrong.Append(model.Constants(spec, cfg))",
			New:    "_ = model.Constants(spec, cfg)",
		},
		{
			Name: "tla/stdlib/random-subset-of-more-than-there-is", Kind: WrongAnswer, In: "tla/stdlib", Packages: stdlib,
			Breaks: "RandomSubset(k, S) is S only where S has k elements, and fails where it has fewer.",
			Old:    "if n.Cmp(big.NewInt(int64(k))) <= 0 {",
			New:    "if n.Cmp(big.NewInt(int64(k))) == 0 {",
		},
		{
			Name: "tla/stdlib/random-subsets-are-not-as-likely", Kind: WrongAnswer, In: "tla/stdlib", Packages: stdlib,
			Breaks: "RandomSubset draws some subsets more often than others.",
			Old:    "j := i + int(ctx.random(int64(len(es)-i), op))",
			New:    "j := int(ctx.random(int64(len(es)), op))",
		},
		{
			Name: "cmd/ashlar/steps-are-safety", Kind: WrongAnswer, In: "internal/cli/report", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/violations", Short: true,
			Breaks: "A violated PROPERTY about steps ends with the code of invariants, as it does not in TLC.",
			Old:    "return \"step\", exit.Liveness",
			New:    "return \"step\", exit.Safety",
		},
		{
			Name: "internal/model/repeated-evaluations-see-no-files", Kind: WrongAnswer, In: "internal/model/tlcget", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/configuration", Short: true,
			Breaks: "A file that is missing is told as one that cannot be read here.",
			Old:    "m.World.Files = unwritten{m.World.Files}",
			New:    "m.World.Files = nil",
		},
		{
			Name: "internal/model/repeated-evaluations-write-again", Kind: NotAtomic, In: "internal/model/tlcget", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/configuration", Short: true,
			Breaks: "The evaluation that finds the place of an error writes files a second time.",
			Old:    "m.World.Files = unwritten{m.World.Files}",
			New:    "_ = unwritten{}",
		},
		{
			Name: "internal/model/constants-are-never-evaluated", Kind: WrongAnswer, In: "internal/model/profile", Packages: models, Run: "TestProfile", Short: true,
			Breaks: "A profile lists a constant that was computed before the search as never evaluated.",
			Old:    "c.Evaluated == 0 && computed(s.span)",
			New:    "c.Evaluated > 0 && computed(s.span)",
		},
		{
			Name: "tla/value/strings-are-no-numbers-is-false", Kind: WrongAnswer, In: "tla/value", Packages: []string{"tla/value"}, Run: "TestKindsOfInfiniteSets", Short: true,
			Breaks: "Whether a string is in Nat is FALSE, and not a question without an answer.",
			Old:    "if x.Kind() != KindModel {\n\t\tkind :=",
			New:    "if x.Kind() == KindModel {\n\t\tkind :=",
		},
		{
			Name: "tla/value/numbers-are-like-strings", Kind: WrongAnswer, In: "tla/value", Packages: []string{"tla/value"}, Run: "TestAlike", Short: true,
			Breaks: "It is plain that a number can be compared with all elements of STRING.",
			Old:    "case s.sub() == setString:\n\t\treturn x.Kind() == KindString\n\t}",
			New:    "case s.sub() == setString:\n\t\treturn true\n\t}",
		},
	}
}
