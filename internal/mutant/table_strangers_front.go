// SPDX-License-Identifier: Apache-2.0

package mutant

// strangersFrontMutants are about the meaning of other people's specifications:
// ENABLED in instances, levels of arguments, standard operators.
func strangersFrontMutants() []Mutant {
	models, resolve, stdlib := []string{"internal/model"}, []string{"internal/tla/resolve"}, []string{"tla/stdlib"}
	const oracle = "OfInstances"
	return []Mutant{
		{
			Name: "tla/lower/one-variable-for-two-has-no-shadow", Kind: Unsound, In: "internal/tla/lower", Packages: models, Run: oracle, Short: true,
			Breaks: "Below ENABLED, two variables for which one stands have one next value.",
			Old:    "c.all || !ok || users[ref.Var] > 1",
			New:    "c.all || !ok || users[ref.Var] > 2",
		},
		{
			Name: "tla/lower/enabled-that-is-written-has-no-shadow", Kind: WrongAnswer, In: "internal/tla/lower", Packages: models, Run: oracle, Short: true,
			Breaks: "ENABLED written in an instantiated module sees the refinement; only fairness does not.",
			Old:    "case x.Op == core.OpEnabled && below != c:",
			New:    "case x.Op == core.OpEnabled && below != c && c.all:",
		},
		{
			Name: "tla/lower/arguments-stay-outside-enabled", Kind: WrongAnswer, In: "internal/tla/lower", Packages: models, Run: oracle, Short: true,
			Breaks: "What an instantiated module gives an operator with ENABLED keeps the primed variables of the refinement.",
			Old:    "crosses := c.p.asksEnabled(d)",
			New:    "crosses := false",
		},
		{
			Name: "tla/lower/arguments-are-primed-in-the-refinement", Kind: WrongAnswer, In: "internal/tla/lower", Packages: models, Run: oracle, Short: true,
			Breaks: "Below ENABLED, what an operator primes of its arguments is the refinement's.",
			Old:    "primes := c.next != nil && d.Level >= core.ActionLevel",
			New:    "primes := false",
		},
		{
			Name: "tla/lower/arguments-from-outside-are-captured", Kind: WrongAnswer, In: "internal/tla/lower", Packages: models, Run: oracle, Short: true,
			Breaks: "An argument from outside that reaches ENABLED of an instance has the next values of the instance.",
			Old:    "if len(c.shadowed()) < len(c.variables) {",
			New:    "if false {",
		},
		{
			Name: "tla/lower/names-of-a-let-are-not-followed", Kind: WrongAnswer, In: "internal/tla/lower", Packages: models, Run: oracle, Short: true,
			Breaks: "A definition of a LET around ENABLED or a prime is that of the refinement.",
			Old:    "case len(defs) == 0:\n\t\treturn e",
			New:    "case len(defs) >= 0:\n\t\treturn e",
		},
		{
			Name: "internal/model/shadows-are-remembered", Kind: WrongAnswer, In: "internal/model/program", Packages: models, Run: oracle, Short: true,
			Breaks: "A predicate with ENABLED is remembered by the value of a variable that no state has.",
			Old:    "f.Vars = VarBit(VarBits)",
			New:    "f.Vars = VarBit(e.Var.Index)",
		},
		{
			Name: "internal/model/arguments-are-not-kept", Kind: Stuck, In: "internal/model/tree", Packages: models, Run: "TestArguments|TestRecursionTakes", Short: true,
			Breaks: "An argument is evaluated anew at each use, in a recursion as often as that is deep.",
			Old:    "if k := b.kept.Load(); k != nil && k.when == when {",
			New:    "if k := b.kept.Load(); k != nil && k.when == when && false {",
		},
		{
			Name: "internal/model/primed-arguments-outlive-their-state", Kind: WrongAnswer, In: "internal/model/tree", Packages: models, Run: "TestArguments", Short: true,
			Breaks: "An argument about the next state keeps the value it had in another branch of the action.",
			Old:    "r.retracted++",
			New:    "r.retracted += 0",
		},
		{
			Name: "tla/resolve/every-argument-has-its-level", Kind: WrongAnswer, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "An operator that takes ENABLED of an action is an action, and refused as an invariant.",
			Old:    "if a := g.atoms[n]; a.from == s.formals[i] {\n\t\t\tout = append(out, a.when)\n\t\t}\n\t}\n\treturn out",
			New:    "if a := g.atoms[n]; a.from == s.formals[i] {\n\t\t\tout = append(out, a.when)\n\t\t}\n\t}\n\treturn append(out, \"\")",
		},
		{
			Name: "tla/resolve/no-argument-has-its-level", Kind: Unguarded, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "An action goes through an operator as if it were a constant.",
			Old:    "default:\n\t\tt = to.term\n\t}",
			New:    "default:\n\t}",
		},
		{
			Name: "tla/stdlib/not-is-that-of-a-machine", Kind: WrongAnswer, In: "tla/stdlib", Packages: stdlib,
			Breaks: "Not of Bitwise turns over digits that the number does not have.",
			Old:    "value.Int(x ^ int32(1<<mathbits.Len32(uint32(x))-1))",
			New:    "value.Int(x ^ int32(1<<mathbits.Len32(uint32(x))-1) ^ -1)",
		},
		{
			Name: "strangers/check/warnings-of-a-configuration-are-dropped", Kind: Unguarded, In: "internal/specification", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/undeclared",
			Breaks: "A configuration that loads is warned of in vain.",
			Old:    "s.Diagnostics.Append(m.Warnings())", New: "",
		},
		{
			Name: "tla/lower/arguments-stay-outside-a-second-enabled", Kind: WrongAnswer, In: "internal/tla/lower", Packages: models, Run: oracle,
			Breaks: "Below ENABLED, what an instantiated module gives an operator with another ENABLED keeps the primed variables of the refinement.",
			Old:    "crosses := c.p.asksEnabled(d)",
			New:    "crosses := c.next == nil && c.p.asksEnabled(d)",
		},
		{
			Name: "tla/load/libraries-before-the-root", Kind: WrongAnswer, In: "internal/tla/load", Packages: []string{"internal/tla/load"}, Run: "TestLoad",
			Breaks: "A library's module takes the place of the one beside the specification.",
			Old:    "append([]string{l.dir}, l.options.Libraries...)",
			New:    "append(l.options.Libraries[:len(l.options.Libraries):len(l.options.Libraries)], l.dir)",
		},
		{
			Name: "tla/load/standard-modules-before-libraries", Kind: WrongAnswer, In: "internal/tla/load", Packages: []string{"internal/tla/load"}, Run: "TestLoad",
			Breaks: "A library cannot have a module with the name of a standard one.",
			Old:    "	for i, dir := range l.directories() {\n		path :=",
			New:    "	for i, dir := range l.directories() {\n		if _, standard := module.Source(name); standard && i > 0 {\n			break\n		}\n		path :=",
		},
		{
			Name: "cmd/checkpoint/a-sample-that-was-cut-short-decides", Kind: Unguarded, In: "internal/cli/check", Packages: []string{"internal/cli/check"}, Run: "TestInterruptedBeforeItBegins",
			Breaks: "A search that is interrupted while it prepares fails, or leaves a checkpoint that no search resumes.",
			Old:    "if s.disk.keep != nil && ctx.Err() != nil {",
			New:    "if s.disk.keep == nil && ctx.Err() != nil {",
		},
		{
			Name: "cmd/memory/what-is-said-is-no-limit", Kind: Unguarded, In: "internal/cli/check", Packages: []string{"internal/cli/check", "cmd/ashlar"}, Run: "TestMemoryBounds|TestScripts/notchecked",
			Breaks: "A search whose model outgrows --memory goes on until the machine has none.",
			Old:    "case wanted == 0:",
			New:    "case wanted >= 0:",
		},
		{
			Name: "cmd/memory/the-machine-is-no-limit", Kind: Unguarded, In: "internal/cli/check", Packages: []string{"internal/cli/check"}, Run: "TestMemoryBounds",
			Breaks: "A search that may hold more than the machine has is ended by the system, without a report.",
			Old:    "case known && limit < b.process:",
			New:    "case limit < 0:",
		},
		{
			Name: "cmd/memory/states-may-take-all", Kind: Unguarded, In: "internal/cli/check", Packages: []string{"internal/cli/check"}, Run: "TestMemoryBounds",
			Breaks: "States go to disk only beyond a --memory that the machine does not have.",
			Old:    "b.states, b.process = min(wanted, limit), limit",
			New:    "b.process = limit",
		},
		{
			Name: "cmd/memory/the-raised-limit-alone", Kind: WrongAnswer, In: "internal/cli/check", Packages: []string{"internal/cli/check", "cmd/ashlar"}, Run: "TestMemoryBounds|TestScripts/notchecked",
			Breaks: "A user of --memory 60M sees a limit that was not set.",
			Old:    "case raised > wanted:",
			New:    "case raised < wanted:",
		},
		{
			Name: "cmd/memory/what-is-held-is-taken-from-what-is-left", Kind: WrongAnswer, In: "internal/cli/check", Packages: []string{"internal/cli/check"}, Run: "TestMemoryBounds|TestASearchMayGrow",
			Breaks: "A search whose model holds more than is left ends at once, although much is left.",
			Old:    "limit := held + available",
			New:    "limit := available",
		},
		{
			Name: "cmd/memory/what-is-held-is-given-out-again", Kind: Unguarded, In: "internal/cli/check", Packages: []string{"internal/cli/check"}, Run: "TestRest",
			Breaks: "A compiled search is killed by the system, because it may hold what the first process holds already.",
			Old:    "max(limit-held, min(limit/2, memoryRoom))",
			New:    "max(limit-held, limit/2)",
		},
		{
			Name: "cmd/memory/only-the-root-group-counts", Kind: Unguarded, In: "internal/cli/memory", Packages: []string{"internal/cli/memory"},
			Breaks: "A search in a service with MemoryMax is killed without a report.",
			Old:    "for group := path.Join(\"/\", part[2]); ;",
			New:    "for group := \"/\"; ;",
		},
		{
			Name: "cmd/memory/what-a-group-uses-is-left", Kind: Unguarded, In: "internal/cli/memory", Packages: []string{"internal/cli/memory"},
			Breaks: "A search in a container in which others use memory is killed without a report.",
			Old:    "return limit - max(usage-inactive, 0), true",
			New:    "return limit + 0*max(usage-inactive, 0), true",
		},
		{
			Name: "cmd/memory/the-old-flag-is-unknown", Kind: WrongAnswer, In: "internal/cli/check", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/notchecked",
			Breaks: "A user of --max-memory is not told what the flag is called now.",
			Old:    "size.Renamed(cmd, \"max-memory\"",
			New:    "size.Renamed(cmd, \"most-memory\"",
		},
		{
			Name: "cmd/memory/a-value-that-nobody-wrote", Kind: WrongAnswer, In: "internal/cli/size", Packages: []string{"internal/cli/size"},
			Breaks: "A user of --max-memory reads of an argument \"any\".",
			Old:    "wrong.GetFlag() == f {",
			New:    "wrong.GetFlag() != f {",
		},
		{
			Name: "cmd/memory/the-files-old-name-is-unknown", Kind: WrongAnswer, In: "cmd/ashlard/daemon", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestSizes",
			Breaks: "A configuration file with max-mb is refused without what to write instead.",
			Old:    "if now, ok := renamed[unknown[0].String()]; ok {",
			New:    "if now, ok := renamed[unknown[0].String()]; ok && now == \"\" {",
		},
		{
			Name: "cmd/memory/too-much-is-taken-in-silence", Kind: Unguarded, In: "cmd/ashlard/daemon", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestTooMuchMemory",
			Breaks: "There is no warning that a server may be killed before it refuses writes.",
			Old:    "if available < 0 || c.kept() <= available {",
			New:    "if available <= 0 || wanted >= available {",
		},
		{
			Name: "cmd/memory/the-file-counts-more", Kind: WrongAnswer, In: "cmd/ashlard/daemon", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestSizes",
			Breaks: "ashlard serve --memory has no effect where the configuration file has a size.",
			Old:    "c.Memory = given.Memory }",
			New:    "given.Memory = c.Memory }",
		},
		{
			Name: "cmd/memory/registers-have-what-keys-have", Kind: Unguarded, In: "cmd/ashlard/daemon", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestSizes",
			Breaks: "ashlard serve --kv-memory bounds the registers.",
			Old:    "f.Var(&c.Memory, \"memory\"",
			New:    "f.Var(&c.KVMemory, \"memory\"",
		},
		{
			Name: "cmd/memory/thousands-are-powers-of-two", Kind: WrongAnswer, In: "internal/cli/size", Packages: []string{"internal/cli/size"},
			Breaks: "512MB is 512 MiB.",
			Old:    "\"MB\": 1e6", New: "\"MB\": 1 << 20",
		},
		{
			Name: "cmd/console/a-result-is-lost", Kind: Lost, In: "internal/cli/console", Packages: []string{"internal/cli/console"}, Run: "TestJSON",
			Breaks: "A command whose JSON could not be written succeeds.",
			Old:    "if err := e.Encode(v); err != nil {",
			New:    "if err := e.Encode(v); err != nil && v == nil {",
		},
		{
			Name: "cmd/library/the-variable-goes-first", Kind: WrongAnswer, In: "internal/cli/library", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/library",
			Breaks: "A library that is given on the command line is hidden by one of the environment.",
			Old:    "return slices.Concat(l, slices.DeleteFunc(fromPath, func(dir string) bool { return dir == \"\" }))",
			New:    "return slices.Concat(slices.DeleteFunc(fromPath, func(dir string) bool { return dir == \"\" }), l)",
		},
	}
}
