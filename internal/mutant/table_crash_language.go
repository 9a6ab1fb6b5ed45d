// SPDX-License-Identifier: Apache-2.0

package mutant

// crashLanguageMutants are about processes that crash and start again: what they
// keep, what they lose, when they crash, and the rules that they must obey.
func crashLanguageMutants() []Mutant {
	specs := []string{"specs"}
	const byHand = "TestCrashesByHand"
	return []Mutant{
		{
			Name: "tla/pcal/crash/volatile-variables-last", Kind: Unsound, In: "internal/tla/pcal", Packages: specs, Run: byHand,
			Breaks: "A variable that is not durable keeps its value over a crash: what forgets it in practice is found correct.",
			Old:    "\t\tif !v.Durable {\n",
			New:    "\t\tif !v.Durable && v.Init == nil {\n",
		},
		{
			Name: "tla/pcal/crash/durable-variables-are-lost", Kind: WrongAnswer, In: "internal/tla/pcal", Packages: specs, Run: byHand,
			Breaks: "A durable variable starts again from its initial value.",
			Old:    "\t\tif !v.Durable {\n\t\t\td.start(v, j)\n",
			New:    "\t\t{\n\t\t\td.start(v, j)\n",
		},
		{
			Name: "tla/pcal/crash/calls-are-kept", Kind: Unsound, In: "internal/tla/pcal", Packages: []string{"internal/model", "internal/tla/trans"}, Run: "TestRandomCrashesByHand|TestTranslations/crash",
			Breaks: "After a crash in a procedure its return goes back to the life before.",
			Old:    "\t\tj.add(c.put(a.Stack, &core.Tuple{}, nil))\n",
			New:    "",
		},
		{
			Name: "tla/pcal/crash/variables-of-calls-are-kept", Kind: Unsound, In: "internal/tla/pcal", Packages: []string{"internal/model"}, Run: "TestRandomCrashesByHand",
			Breaks: "The variables of a procedure that was under way when its process crashed have the values of the life before.",
			Old:    "\t\t\t\td.start(Unset(p, v), j)\n",
			New:    "\t\t\t\t_, _ = d, v\n",
		},
		{
			Name: "tla/pcal/crash/the-dead-crash", Kind: WrongAnswer, In: "internal/tla/pcal", Packages: []string{"internal/tla/trans", "cmd/ashlar"}, Run: "TestTranslations/crash|TestScripts/crash",
			Breaks: "A process at its end crashes and starts again.",
			Old:    "\tif f.x.from.Ends(a.Blocks) {",
			New:    "\tif f.x.from.Ends(nil) {",
		},
		{
			Name: "tla/pcal/crash/procedures-end-nothing", Kind: WrongAnswer, In: "internal/tla/pcal", Packages: []string{"internal/tla/trans", "cmd/ashlar"}, Run: "TestTranslations/crash|TestScripts/crash",
			Breaks: "A process that ends in a procedure crashes at its end, or is reported as a deadlock there.",
			Old:    "\tfor _, p := range a.Reached(blocks) {",
			New:    "\tfor _, p := range a.Reached(nil) {",
		},
		{
			Name: "tla/pcal/crash/crash-parts-are-skipped", Kind: Unsound, In: "internal/tla/pcal", Packages: specs, Run: byHand,
			Breaks: "What a mapping macro says that is lost in a crash is kept.",
			Old:    "\t\tbody = append(body, chooses(f.mapping(b, cell, path).Stmts(b.mapping.Crash))...)\n",
			New:    "\t\t_, _ = cell, path\n",
		},
		{
			Name: "tla/pcal/crash/one-crash-part-twice", Kind: WrongAnswer, In: "internal/tla/pcal", Packages: []string{"internal/tla/trans"}, Run: "TestTranslations/crash",
			Breaks: "A variable that is passed twice through one macro crashes twice.",
			Old:    "\t\tdone[part{b.v, b.mapping}] = true\n",
			New:    "",
		},
		{
			Name: "tla/pcal/crash/the-counter-takes-a-name", Kind: Unsound, In: "internal/tla/pcal", Packages: []string{"internal/tla/trans", "cmd/ashlar"}, Run: "TestTranslations/crash|TestScripts/crash",
			Breaks: "An archetype's variable crashes loses its name to the counter: an invariant is about the counter and holds.",
			Old:    "	x.out.Crashes.Count.Name = fresh(CrashCount)\n",
			New:    "	x.out.Crashes.Count.Name = CrashCount\n",
		},
		{
			Name: "tla/pcal/crash/names-of-the-module-are-not-seen", Kind: WrongAnswer, In: "internal/tla/pcal", Packages: []string{"internal/tla/trans"}, Run: "TestTranslations/crash",
			Breaks: "A definition behind the algorithm that has the name of the counter makes the translation an error.",
			Old:    "x.taken[base] || x.names.Declared(base)",
			New:    "x.taken[base]",
		},
		{
			Name: "tla/pcal/crash/no-value-no-crash", Kind: Unsound, In: "internal/tla/pcal", Packages: []string{"internal/tla/trans", "cmd/ashlar"}, Run: "TestTranslations/crash|TestScripts/crash",
			Breaks: "Where a variable has no initial value to choose, its process does not crash, and nothing says so.",
			Old:    "\td.crashes = true\n",
			New:    "",
		},
		{
			Name: "tla/pcal/crash/no-choice-no-crash", Kind: Unsound, In: "internal/tla/pcal", Packages: []string{"internal/tla/trans", "cmd/ashlar"}, Run: "TestTranslations/crash|TestScripts/crash",
			Breaks: "Where a crash part has nothing to choose from, its process does not crash, and nothing says so.",
			Old:    "\t\tif !ok || !w.In {\n\t\t\treturn nil, false\n\t\t}\n\t\treturn []Stmt{&With{At: w.At,",
			New:    "\t\tif !ok || w != nil {\n\t\t\treturn nil, false\n\t\t}\n\t\treturn []Stmt{&With{At: w.At,",
		},
		{
			Name: "tla/lower/crash/recover-is-ignored", Kind: WrongAnswer, In: "internal/tla/lower", Packages: specs, Run: byHand,
			Breaks: "A process starts again at its first label although it says where.",
			Old:    "\t\tif b.Label == pcal.LabelRecover {\n",
			New:    "\t\tif a.Restart == \"\" && b.Label == pcal.LabelRecover {\n",
		},
		{
			Name: "tla/lower/crash/fairness-forces-crashes", Kind: Unsound, In: "internal/tla/lower", Packages: []string{"internal/tla/lower"}, Run: "TestAlgorithms/crash",
			Breaks: "Fairness of the algorithm as a whole is accepted, and makes a process crash that waits.",
			Old:    "\tif r.out.Fair != pcal.Unfair {\n",
			New:    "\tif false {\n",
		},
		{
			Name: "tla/lower/crash/a-crash-waits", Kind: Unsound, In: "internal/tla/lower", Packages: []string{"internal/tla/lower"}, Run: "TestAlgorithms/crash",
			Breaks: "A crash part may wait, so that a process crashes only when it suits the model.",
			Old:    "\tcase *pcal.Await:\n\t\tb.fail(it.span, MPCalCrashPart,",
			New:    "\tcase *pcal.Print:\n\t\tb.fail(it.span, MPCalCrashPart,",
		},
		{
			Name: "model/closure/crash/never-executed", Kind: Unsound, In: "internal/model/closure", Packages: []string{"internal/model", "specs"}, Run: "TestDirectOnRandomCrashes|" + byHand,
			Breaks: "The algorithm that is executed in the place of its translation does not crash.",
			Old:    "\t\tif p.Crash != nil {\n\t\t\ts := &steps{",
			New:    "\t\tif p.Crash == nil && p.Blocks == nil {\n\t\t\ts := &steps{",
		},
		{
			Name: "model/reduce/crash/steps-hide-crashes", Kind: Unsound, In: "internal/model/reduce", Packages: []string{"internal/model"}, Run: "TestReduction$",
			Breaks: "With --por a step of a process is taken alone, and its crash before it is never seen.",
			Old:    "\t\tif p.Crash != nil {\n\t\t\tcontinue // its crash and its step do not commute\n\t\t}\n",
			New:    "",
		},
		{
			Name: "tla/trans/crash/groups-include-crashes", Kind: Unsound, In: "internal/tla/trans", Packages: []string{"specs", "internal/tla/trans"}, Run: "TestNothingForcesACrash|TestTranslations/crash",
			Breaks: "Fairness of a process asks for its crash: a process that waits must crash.",
			Old:    "\t\tif name != \"\" {\n\t\t\tm.groups[of]",
			New: "\t\tif p, ok := of.(*pcal.Process); ok && p.Crash != nil {\n\t\t\tm.crash(p)\n\t\t\tsteps = append(steps, call(m.labels[p.Crash], args...))\n\t\t}\n" +
				"\t\tif name != \"\" {\n\t\t\tm.groups[of]",
		},
		{
			Name: "tla/trans/crash/stale-crashes-are-not-seen", Kind: Unsound, In: "internal/tla/trans", Packages: []string{"internal/tla/trans"}, Run: "TestStaleCrashes",
			Breaks: "A variable was made durable after the translation, which other tools check and in which it is lost: no warning.",
			Old:    "	m.labels[p.Crash] = m.compare(",
			New:    "	m.labels[p.Crash] = m.define(",
		},
		{
			Name: "tla/syntax/durable-process", Kind: Unsound, In: "internal/tla/syntax", Packages: []string{"internal/tla/syntax"}, Run: "TestCrashMisuse",
			Breaks: "The durable variables of a plain process are read as something else.",
			Old:    "\tp.noDurable(\"a process\")\n",
			New:    "",
		},
		{
			Name: "compile/crash/compiled-without-a-log", Kind: Lost, In: "internal/compile", Packages: []string{"examples"}, Run: "TestRestartCrashes|TestVoteCrashes",
			Breaks: "A system with durable variables is compiled to a program that keeps their first values only.",
			Old:    "\tif i, ok := m.durable[v]; ok {\n",
			New:    "\tif i, ok := m.durable[v]; ok && i < 0 {\n",
		},
		{
			Name: "compile/crash/mail-that-survives-is-forgotten", Kind: Lost, In: "internal/compile", Packages: []string{"internal/compile"}, Run: "TestDiagnostics",
			Breaks: "Mail that survives a crash in the specification is compiled to a mailbox that forgets it.",
			Old:    "case channel && l == keeps && Reads(a, p):",
			New:    "case channel && l == keeps && !Reads(a, p):",
		},
		{
			Name: "compile/crash/mail-at-another-index-is-forgotten", Kind: Lost, In: "internal/compile", Packages: []string{"internal/compile"}, Run: "TestDiagnostics",
			Breaks: "A process that reads another's mail, which survives in the specification, is compiled to one that forgets it.",
			Old:    "isVariable(x.Fn, v) && isSelf(x.Arg) {",
			New:    "isVariable(x.Fn, v) {",
		},
		{
			Name: "lower/crash/parts-that-never-happen-pass", Kind: WrongAnswer, In: "internal/tla/lower", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/crash",
			Breaks: "No warning is given for a crash part that no crashing process has.",
			Old:    "in.Archetype.Restart != \"\" && arg.Mapping != nil",
			New:    "arg.Mapping != nil",
		},
		{
			Name: "lsp/recover-is-renamed", Kind: WrongAnswer, In: "internal/lsp", Packages: []string{"internal/lsp"}, Run: "TestSessions",
			Breaks: "An editor renames the label recover, and the archetype starts elsewhere after a crash, or crashes no more.",
			Old:    "	if o.of.restarts && (",
			New:    "	if !o.of.restarts && (",
		},
		{
			Name: "system/operators/passed-on", Kind: WrongAnswer, In: "internal/system", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/compileconstants",
			Breaks: "A constant operator that is passed on as an argument is not compiled as the configuration has it.",
			Old:    "	if len(c.Args) == 0 {\n			return &core.OpRef{At: c.At, Def: o[c.Const.Name]}",
			New:    "	if len(c.Args) == 0 {\n			return nil",
		},
		{
			Name: "replay/crash/traces-of-one-life", Kind: WrongAnswer, In: ".", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/lives$",
			Breaks: "A trace that only a crash explains is rejected, where the configuration allows none.",
			Old:    "if s.Loaded.Plain.Crashes != nil {",
			New:    "if c := s.Loaded.Plain.Crashes; c != nil && c.Count == nil {",
		},
		{
			Name: "specification/a-constant-of-that-name-crashes", Kind: WrongAnswer, In: "internal/specification", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/crash",
			Breaks: "--crashes is accepted for a module that has a constant CRASHES and in which nothing crashes.",
			Old:    "	if s.Loaded.Plain != nil {\n		known =",
			New:    "	if s.Loaded.Plain == nil {\n		known =",
		},
		{
			Name: "specification/crashes-of-the-configuration-stay", Kind: WrongAnswer, In: "internal/tla/config", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/crash",
			Breaks: "--crashes does not replace what the configuration says.",
			Old:    "\tc.Overrides = slices.DeleteFunc(slices.Clone(c.Overrides), func(o Override) bool { return o.Name.Text == name })\n",
			New:    "",
		},
	}
}
