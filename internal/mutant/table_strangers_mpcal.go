// SPDX-License-Identifier: Apache-2.0

package mutant

import "slices"

// strangersMPCalMutants are about problems that outsiders found in compiled
// systems: sections that wake themselves, state that is converted, connections
// that cost too much.
func strangersMPCalMutants() []Mutant {
	return slices.Concat(wakeMutants(), storedMutants(), callMutants(), exampleMutants())
}

// storedMutants are about variables that are kept in Go types.
func storedMutants() []Mutant {
	cell, tree := []string{"distsys/cell"}, []string{"tla/typed"}
	return []Mutant{
		{
			Name: "distsys/cell/whole-outlives-a-part", Kind: WrongAnswer, In: "distsys/cell", Packages: cell,
			Breaks: "A variable that is read as a whole does not show what was written to a part of it.",
			Old:    "\tc.forms = [formsMax]form{}\n",
			New:    "",
		},
		{
			Name: "distsys/cell/part-outlives-the-whole", Kind: WrongAnswer, In: "distsys/cell", Packages: cell,
			Breaks: "A part that was written does not go when the whole is written again in the same section.",
			Old:    "\t\tc.content = content{forms: [formsMax]form{h}}\n\t\treturn",
			New:    "\t\tc.forms = [formsMax]form{h}\n\t\treturn",
		},
		{
			Name: "distsys/cell/abort-restores-nothing", Kind: NotAtomic, In: "distsys/cell", Packages: cell,
			Breaks: "What an aborted section wrote stays.",
			Old:    "\t\tu.at.content = u.was\n",
			New:    "",
		},
		{
			Name: "distsys/cell/every-access-converts", Kind: WrongAnswer, In: "distsys/cell", Packages: cell, Run: "TestNothingIsConverted",
			Breaks: "What was read in a Go type is converted again by the next read, so that an append costs the whole.",
			Old:    "\tc.forms[free] = &held[T]{x, to}\n",
			New:    "\t_ = free\n",
		},
		{
			Name: "distsys/cell/part-takes-the-whole-apart", Kind: WrongAnswer, In: "distsys/cell", Packages: cell, Run: "TestPartsOfTypedValues",
			Breaks: "A variable that is used as a whole and by its parts is converted whenever one follows the other.",
			Old:    "if i == len(idx)-1 && putPart(t, c, k, x) {",
			New:    "if i == len(idx) && putPart(t, c, k, x) {",
		},
		{
			Name: "distsys/cell/part-is-changed-in-place", Kind: NotAtomic, In: "distsys/cell", Packages: cell,
			Breaks: "A part that an aborted section wrote stays, where the variable holds the whole in a Go type.",
			Old:    "if !c.saved { // Abort",
			New:    "if c.forms[1] != nil { // Abort",
		},
		{
			Name: "distsys/embedded-variable-is-read-directly", Kind: WrongAnswer, In: "distsys", Packages: []string{"distsys/resource/local"}, Run: "TestEmbedded",
			Breaks: "A resource that embeds a variable and reads it in its own way is bypassed by generated code.",
			Old:    "ok && s.Keeper() == leaf {",
			New:    "ok {",
		},
		{
			Name: "tla/typed/append-writes-into-the-array", Kind: WrongAnswer, In: "tla/typed", Packages: tree,
			Breaks: "Two sequences that are made of one by appending disturb each other.",
			Old:    "tail := make([]T, len(s.tail)+1)",
			New:    "tail := append(s.tail, x)",
		},
		{
			Name: "tla/typed/append-copies-all", Kind: WrongAnswer, In: "tla/typed", Packages: tree, Run: "Cheap",
			Breaks: "Appending to a long sequence takes time in proportion to its length.",
			Old:    "return Seq[T, K]{join(s.tree, leaf[T, struct{}](s.tail)), []T{x}}",
			New:    "return NewSeq[K](append(sliceOf[T](s), x)...)",
		},
		{
			Name: "tla/typed/put-copies-all", Kind: WrongAnswer, In: "tla/typed", Packages: tree, Run: "Cheap",
			Breaks: "Adding to a large set or function takes time in proportion to its size.",
			Old:    "return list[T, F]{long: root(l.long.insert(i, x))}",
			New:    "return listOf[F](inserted(l.slice(), i, x))",
		},
		{
			Name: "tla/typed/leaf-is-changed-in-place", Kind: NotAtomic, In: "tla/typed", Packages: tree, Run: "TestLarge|TestLong",
			Breaks: "Changing a large function changes the one that an aborted section goes back to.",
			Old:    "s := append([]T(nil), t.leaf...)",
			New:    "s := t.leaf",
		},
		{
			Name: "tla/typed/split-node-counts-from-the-left", Kind: WrongAnswer, In: "tla/typed", Packages: tree, Run: "TestLarge|TestLong",
			Breaks: "The right half of a node that was split counts the elements of the left half, too.",
			Old:    "\t\t\ty.kids[i].end -= kids[first-1].end\n",
			New:    "\t\t\ty.kids[i].end -= 0\n",
		},
		{
			Name: "tla/typed/form-depends-on-history", Kind: WrongAnswer, In: "tla/typed", Packages: tree, Run: "TestLarge",
			Breaks: "A set that has become small has another form than one that has always been small.",
			Old:    "if l.len() <= shortMax {",
			New:    "if l.len() <= shortMax/2 {",
		},
	}
}

func wakeMutants() []Mutant {
	tests := []string{"distsys/resource/local"}
	const run = "Sleep"
	return []Mutant{
		{
			Name: "distsys/resource/wake/refused-sections-wake-themselves", Kind: Stuck, In: "distsys/resource/local", Packages: tests, Run: run,
			Breaks: "Sections that are refused because of a third one try again at once, for as long as it holds its lock.",
			Old:    "if s.writer != nil || len(s.readers) > 0 {",
			New:    "if s.writer != nil {",
		},
		{
			Name: "distsys/resource/wake/a-dropped-place-wakes-its-section", Kind: Stuck, In: "distsys/resource/queue", Packages: tests, Run: run,
			Breaks: "A section that gives up its place in a queue tries again at once.",
			Old:    "\tif q.wanted {\n",
			New:    "\tif true {\n",
		},
		{
			Name: "distsys/resource/wake/a-starved-sender-wakes-itself", Kind: Stuck, In: "distsys/resource/mailbox",
			Packages: []string{"distsys/resource/mailbox"}, Run: "TestTooManyForTheWindow",
			Breaks: "A section that sends more than the window takes tries again at full speed.",
			Old:    "(*lane)(x).wakeOthers(tx.Waker())",
			New:    "(*lane)(x).wake()",
		},
	}
}

// callMutants are about calls by reference and macros.
func callMutants() []Mutant {
	compile, lower := []string{"internal/compile"}, []string{"internal/tla/lower"}
	return []Mutant{
		{
			Name: "tla/pcal/calls/plain-processes-are-not-expanded", Kind: WrongAnswer, In: "internal/tla/pcal", Packages: compile, Run: "TestRandomCalls",
			Breaks: "A plain process that passes a variable by reference ends the checker.",
			Old:    "c.Blocks = x.callers(p.Blocks, p.Self, p.Locals, p.Set)",
			New:    "c.Blocks = p.Blocks",
		},
		{
			Name: "tla/pcal/calls/reference-to-all-copies", Kind: WrongAnswer, In: "internal/tla/pcal", Packages: compile, Run: "TestRandomCalls",
			Breaks: "A variable of a process in a set, passed by reference, is the variable of all of them.",
			Old:    "f.to, f.set = self, set",
			New:    "f.to, f.set = self, false",
		},
		{
			Name: "tla/lower/macros/a-detour-is-no-recursion", Kind: Unsound, In: "internal/tla/lower", Packages: lower,
			Breaks: "A macro that nothing uses may expand to itself by way of another one.",
			Old:    "case b.leadsTo(m, in, map[*syntax.Macro]bool{}):",
			New:    "case m == in:",
		},
		{
			Name: "tla/lower/macros/any-assertion-ends-a-read", Kind: Unsound, In: "internal/tla/lower", Packages: lower,
			Breaks: "A read part of a mapping macro may end without a yield after an assertion that can hold.",
			Old:    "case *pcal.Assert:\n\t\t\tif isFalse(s.Cond) {",
			New:    "case *pcal.Assert:\n\t\t\tif true {",
		},
	}
}

// exampleMutants are about the configuration that compile --main writes.
func exampleMutants() []Mutant {
	ashlar := []string{"cmd/ashlar"}
	const run = "TestParametersOfEveryKind|TestGhosts"
	return []Mutant{
		{
			Name: "cmd/ashlar/example/value-loses-its-mapping", Kind: WrongAnswer, In: "internal/system", Packages: ashlar, Run: run,
			Breaks: "A value that is given for a timer is a variable, so that the timer never fires.",
			Old:    "case !shared || param.Mapping == 0:",
			New:    "case shared && param.Mapping == 0:",
		},
		{
			Name: "cmd/ashlar/example/what-is-read-is-a-ghost", Kind: WrongAnswer, In: "internal/system", Packages: ashlar, Run: run,
			Breaks: "What processes assign to a variable that others read goes nowhere.",
			Old:    " && !compile.Reads(p.inst.Archetype, param)",
			New:    "",
		},
		{
			Name: "cmd/ashlar/example/one-node-in-silence", Kind: WrongAnswer, In: "internal/system", Packages: ashlar, Run: run,
			Breaks: "Processes that share a variable are put on one node without a word.",
			Old:    "\t\t\tx.sayTogether(name)\n",
			New:    "",
		},
		{
			Name: "cmd/ashlar/example/any-write-is-a-variables", Kind: WrongAnswer, In: "internal/compile", Packages: ashlar, Run: run,
			Breaks: "A mapping macro that writes something else than it is given is taken for a plain variable.",
			Old:    "(!writes(m) || only(m.Write,",
			New:    "(true || only(m.Write,",
		},
	}
}
