// SPDX-License-Identifier: Apache-2.0

package mutant

// translationTests are algorithms that are executed directly and by their
// translation, with hand-computed counts, and golden translations.
const translationTests = "TestDirect$|TestTranslations"

// translationMutants are about algorithms: the meaning of a statement, and the
// text that expresses it.
func translationMutants() []Mutant {
	trans := []string{"internal/tla/trans", "internal/model"}
	pcal := []string{"internal/model", "internal/tla/trans"}
	return []Mutant{
		{
			Name: "tla/pcal/parallel-assignment-in-order", Kind: Unsound, In: "internal/tla/pcal", Packages: pcal, Run: translationTests,
			Breaks: "x := y || y := x assigns one after the other.",
			Old:    "u := core.Update{At: p.At, Value: c.X(p.Value, set)}",
			New: "u := core.Update{At: p.At, Value: c.X(p.Value, " +
				"append(append(Assigned(nil), set...), order.Without(Assigned{p.Target})...))}",
		},
		{
			Name: "tla/pcal/parallel-write-in-order", Kind: Unsound, In: "internal/tla/pcal", Packages: pcal, Run: translationTests,
			Breaks: "In a simultaneous assignment to resources the second value is computed after the first write.",
			Old:    "if len(pairs) > 1 {\n",
			New:    "if len(pairs) > 9 {\n",
		},
		{
			Name: "tla/pcal/return-keeps-locals", Kind: Unsound, In: "internal/tla/pcal", Packages: pcal, Run: translationTests,
			Breaks: "A return does not give the procedure's variables their values from before the call.",
			Old:    "\tj.add(c.put(c.Algorithm.PC, c.head(\"pc\", before), before))\n\tc.restore(j, before)\n",
			New:    "\tj.add(c.put(c.Algorithm.PC, c.head(\"pc\", before), before))\n",
		},
		{
			Name: "tla/pcal/call-does-not-reset-locals", Kind: WrongAnswer, In: "internal/tla/pcal", Packages: pcal, Run: translationTests,
			Breaks: "The variables of a procedure start with what the last call left in them.",
			Old:    "\tfor _, l := range s.Proc.Locals {\n\t\td.start(l, j)\n\t}\n",
			New:    "",
		},
		{
			Name: "tla/pcal/read-hoisted-out-of-its-branch", Kind: Unsound, In: "internal/tla/pcal", Packages: pcal, Run: translationTests,
			Breaks: "A read in a branch of IF is performed whichever branch is taken, and blocks for both.",
			Old:    "return h.choose(e, steps, &core.If{At: e.At, Cond: cond, Then: e.Then, Else: e.Else}, e.Then, e.Else)",
			New: "more, then := h.x(e.Then)\n\t\tlast, other := h.x(e.Else)\n" +
				"\t\treturn append(append(steps, more...), last...), &core.If{At: e.At, Cond: cond, Then: then, Else: other}",
		},
		{
			Name: "tla/pcal/index-computed-after-the-write", Kind: WrongAnswer, In: "internal/tla/pcal", Packages: pcal, Run: translationTests,
			Breaks: "An index that a mapping macro's own assignments change is computed anew after them.",
			Old:    "if moves {",
			New:    "if moves && len(index) > 9 {",
		},
		{
			Name: "tla/pcal/write-misses-the-index", Kind: Unsound, In: "internal/tla/pcal", Packages: pcal, Run: translationTests,
			Breaks: "A mapping macro that assigns $variable replaces the whole function.",
			Old:    "pairs[i].Path = append(append([]core.Index(nil), path...), p.Path...)",
			New:    "pairs[i].Path = append(append([]core.Index(nil), path[:0]...), p.Path...)",
		},
		{
			Name: "tla/trans/await-of-a-constant-is-dropped", Kind: Unsound, In: "internal/tla/trans", Packages: trans, Run: translationTests,
			Breaks: "await FALSE, after a mapping macro was put in, lets the step pass.",
			Old:    "if c, ok := s.Cond.(*core.Bool); ok && c.Val {\n\t\t\t\treturn nil, true",
			New:    "if _, ok := s.Cond.(*core.Bool); ok {\n\t\t\t\treturn nil, true",
		},
		{
			Name: "tla/trans/late-use-sees-the-new-value", Kind: WrongAnswer, In: "internal/tla/trans", Packages: trans, Run: translationTests,
			Breaks: "A value that was read stands where it is used, though what it was read from has been assigned since.",
			Old:    "if s.late || ((s.binder",
			New:    "if ((s.binder",
		},
		{
			Name: "tla/trans/pending-value-is-dropped", Kind: Unsound, In: "internal/tla/trans", Packages: trans, Run: translationTests,
			Breaks: "A variable whose new value is a name at a goto keeps its old value.",
			Old:    "return withoutSkips(append(append(out, f.flush(env, nil, s.At)...), s))",
			New:    "return withoutSkips(append(out, s))",
		},
		{
			Name: "tla/trans/procedures-are-not-fair", Kind: WrongAnswer, In: "internal/tla/trans", Packages: trans, Run: translationTests,
			Breaks: "A fair process that is inside a procedure need not go on.",
			Old:    "for _, q := range m.a.Reached(p.Blocks) {",
			New:    "for _, q := range m.a.Reached(p.Blocks)[:0] {",
		},
		{
			Name: "tla/trans/minus-is-fair", Kind: Unsound, In: "internal/tla/trans", Packages: trans, Run: translationTests,
			Breaks: "A step at a label with a minus must be taken like any other.",
			Old:    "if b.Minus {\n\t\t\tminus =",
			New:    "if b.Minus && b.Plus {\n\t\t\tminus =",
		},
		{
			Name: "tla/trans/branches-assign-different-variables", Kind: WrongAnswer, In: "internal/tla/trans", Packages: trans, Run: translationTests,
			Breaks: "A branch does not say UNCHANGED of what only the other branch assigns.",
			Old:    "if rest := after.Without(sets[i]); len(rest) > 0 {",
			New:    "if rest := after.Without(sets[i]); len(rest) > 1 {",
		},
		{
			Name: "tla/trans/dead-end-where-it-terminates", Kind: WrongAnswer, In: "internal/tla/trans", Packages: trans, Run: translationTests,
			Breaks: "An algorithm whose processes have all ended is in deadlock.",
			Old:    "list = append(list, call(terminating))",
			New:    "_ = list",
		},
	}
}

// compilerMutants are about generated code: it computes what the checker
// computes.
func compilerMutants() []Mutant {
	compiled := []string{"internal/compile"}
	typed := []string{"tla/typed"}
	return []Mutant{
		{
			Name: "compile/product-is-not-checked", Kind: WrongAnswer, In: "internal/compile", Packages: compiled, Run: "TestExpressions",
			Breaks: "Generated code multiplies without looking for overflow.",
			Old:    "return val{fmt.Sprintf(\"value.%s(%s, %s)\", checked[name], f.as(e.Args[0], g.int), f.as(e.Args[1], g.int)), g.int, precAtom}, true",
			New: "if name == \"*\" {\n\t\t\treturn val{fmt.Sprintf(\"(%s) * (%s)\", f.as(e.Args[0], g.int), f.as(e.Args[1], g.int)), g.int, precMul}, true\n\t\t}\n" +
				"\t\treturn val{fmt.Sprintf(\"value.%s(%s, %s)\", checked[name], f.as(e.Args[0], g.int), f.as(e.Args[1], g.int)), g.int, precAtom}, true",
		},
		{
			Name: "compile/argument-is-always-evaluated", Kind: WrongAnswer, In: "internal/compile", Packages: compiled, Run: "TestExpressions",
			Breaks: "An argument that one branch of an IF needs is evaluated before, and fails for the other branch.",
			Old:    "if st.needs(e.Then, hit) && st.needs(e.Else, hit) {",
			New:    "if st.needs(e.Then, hit) || st.needs(e.Else, hit) {",
		},
		{
			Name: "compile/parallel-assignment-in-order", Kind: Unsound, In: "internal/compile", Packages: compiled, Run: "TestAlgorithms",
			Breaks: "In generated code the index of a simultaneous assignment is computed after the other assignments.",
			Old:    "r.path = s.frozen(p.Path)",
			New:    "r.path = p.Path",
		},
		{
			Name: "compile/relaxed-mailbox-for-a-set", Kind: Unsound, In: "internal/compile", Packages: compiled, Run: "TestRelaxed",
			Breaks: "A relaxed mailbox is accepted for a set, in which a message is there twice then.",
			Old:    "macro != nil && yields(macro.Write, unites)",
			New:    "macro != nil && false",
		},
		{
			Name: "compile/relaxed-mailbox-before-an-await", Kind: Unsound, In: "internal/compile", Packages: compiled, Run: "TestGolden|TestRelaxed|TestAlgorithms",
			Breaks: "A relaxed mailbox is accepted for a section that can still block after it has sent.",
			Old:    "\t\tc.later(at, \"an await\", sent)\n",
			New:    "",
		},
		{
			Name: "tla/shape/missing-field-reads-as-zero", Kind: Unsound, In: "internal/tla/shape", Packages: compiled, Run: "TestExpressions",
			Breaks: "A field that only some records have is taken for one that all have.",
			Old:    "n.fields[name] = &member{node: b.fields[name].node, optional: true}",
			New:    "n.fields[name] = &member{node: b.fields[name].node}",
		},
		{
			Name: "tla/shape/model-value-is-forgotten", Kind: WrongAnswer, In: "internal/tla/shape", Packages: compiled, Run: "TestExpressions",
			Breaks: "A place that holds a number or a model value is given the type of numbers.",
			Old:    "a.model = left.model || right.model",
			New:    "a.model = left.model && right.model",
		},
		{
			Name: "tla/typed/sequence-changed-in-place", Kind: NotAtomic, In: "tla/typed", Packages: typed,
			Breaks: "Assigning q[i] changes the sequence that an aborted section goes back to.",
			Old:    "tail := slices.Clone(s.tail)",
			New:    "tail := s.tail",
		},
		{
			Name: "tla/typed/function-changed-in-place", Kind: NotAtomic, In: "tla/typed", Packages: typed,
			Breaks: "Assigning f[k] changes the function that an aborted section goes back to.",
			Old:    "s := append([]T(nil), l.short...)",
			New:    "s := l.short",
		},
		{
			Name: "tla/typed/order-is-not-size-first", Kind: WrongAnswer, In: "tla/typed", Packages: typed,
			Breaks: "CHOOSE over sets of sets takes another element in generated code than in the checker.",
			Old:    "if c := n - b.len(); c != 0 {\n\t\treturn c\n\t}",
			New:    "n = min(n, b.len())",
		},
		{
			Name: "tla/typed/union-keeps-duplicates", Kind: WrongAnswer, In: "tla/typed", Packages: typed,
			Breaks: "A typed set may hold an element twice after \\cup.",
			Old:    "out = append(out, a[i])\n\t\t\ti, j = i+1, j+1",
			New:    "out = append(out, a[i])\n\t\t\ti++",
		},
		{
			Name: "tla/typed/subseq-beyond-the-end", Kind: WrongAnswer, In: "tla/typed", Packages: typed,
			Breaks: "SubSeq of a typed sequence shows what once stood behind its end.",
			Old:    "if m < 1 || n > s.Len() {",
			New:    "if m < 1 || int(n) > s.tree.len()+cap(s.tail) {",
		},
		{
			Name: "tla/typed/merge-prefers-the-right", Kind: WrongAnswer, In: "tla/typed", Packages: typed,
			Breaks: "f @@ g takes the values of g where both have one, in generated code.",
			Old:    "if i, ok := f.keys.search(k); ok {\n\t\t\treturn f.vals.at(i)\n\t\t}\n\t\ti, _ := g.keys.search(k)\n\t\treturn g.vals.at(i)",
			New:    "if i, ok := g.keys.search(k); ok {\n\t\t\treturn g.vals.at(i)\n\t\t}\n\t\ti, _ := f.keys.search(k)\n\t\treturn f.vals.at(i)",
		},
	}
}
