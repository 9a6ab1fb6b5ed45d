// SPDX-License-Identifier: Apache-2.0

package mutant

// gooseMutants are about the translator from Go to Coq: a program must mean the
// same in Go and in Coq.
func gooseMutants() []Mutant {
	goose, semantics := []string{"internal/goose"}, []string{"internal/goose/differential"}
	return []Mutant{
		{
			Name: "goose/small-results-stay-wide", Kind: WrongAnswer, In: "internal/goose", Packages: semantics, Run: "TestSemanticsCorpus",
			Breaks: "Arithmetic of int16 and int32 does not wrap around.",
			Old:    "	if t.Kind == KindInt && t.Width.small() {",
			New:    "	if t.Kind == KindInt && t.Width == I8 {",
		},
		{
			Name: "goose/errors-of-a-package-are-one", Kind: WrongAnswer, In: "internal/goose", Packages: semantics, Run: "TestSemanticsCorpus",
			Breaks: "All errors that the variables of a package hold are the same error.",
			Old:    "constant.MakeString(errorName(v))",
			New:    "constant.MakeString(packagePath(v))",
		},
		{
			Name: "goose/ranges-share-the-array", Kind: WrongAnswer, In: "internal/goose", Packages: semantics, Run: "TestSemanticsCorpus",
			Breaks: "A range over an array sees what its body stores there.",
			Old:    "		array.x = f.hoist(array.x)\n",
			New:    "		array.x = Expr(array.x)\n",
		},
		{
			Name: "goose/deferred-literals-first-come-first", Kind: WrongAnswer, In: "internal/goose", Packages: semantics, Run: "TestSemanticsCorpus",
			Breaks: "Deferred function literals run in the order of their defers.",
			Old:    "f.frame.deferred = append([]Stmt{call}, f.frame.deferred...)",
			New:    "f.frame.deferred = append(f.frame.deferred, call)",
		},
		{
			Name: "goose/big-endian-is-little", Kind: WrongAnswer, In: "internal/goose", Packages: semantics, Run: "TestSemanticsCorpus",
			Breaks: "A number that is read from its bytes has its last byte first.",
			Old:    "{name: \"be_uint32\"",
			New:    "{name: \"le_uint32\"",
		},
		{
			Name: "goose/earlier-calls-stay-in-place", Kind: Unsound, In: "internal/goose", Packages: goose,
			Breaks: "Of two calls in an expression the second may come first.",
			Old:    "				if ops[i].pending {\n					ops[i].x = f.hoist(ops[i].x)",
			New:    "				if ops[i].pending && len(before) > 0 {\n					ops[i].x = f.hoist(ops[i].x)",
		},
		{
			Name: "goose/reads-beside-calls-are-taken", Kind: Unsound, In: "internal/goose", Packages: goose,
			Breaks: "An operand that a later call may change is translated, in one of the orders that Go allows.",
			Old:    "if a.readsFree || a.reads && j < i {",
			New:    "if a.reads && j < i {",
		},
		{
			Name: "goose/arguments-of-later-calls-are-taken", Kind: Unsound, In: "internal/goose", Packages: goose,
			Breaks: "An argument that an earlier call may change is translated, in one of the orders that Go allows.",
			Old:    "if a.readsFree || a.reads && j < i {",
			New:    "if a.readsFree {",
		},
		{
			Name: "goose/captured-variables-are-private", Kind: Unsound, In: "internal/goose", Packages: goose,
			Breaks: "A variable that a function literal changes may be read beside a call of it.",
			Old:    "return v.addressed || v.captured && v.assignedInLiteral }",
			New:    "return v.addressed }",
		},
		{
			Name: "goose/addressed-variables-are-values", Kind: WrongAnswer, In: "internal/goose", Packages: goose,
			Breaks: "A variable whose address is taken has no location unless it is assigned to as well.",
			Old:    "return v.assigned || v.addressed || v.seenResult() }",
			New:    "return v.assigned || v.seenResult() }",
		},
		{
			Name: "goose/fields-of-an-addressed-struct-are-constant", Kind: Unsound, In: "internal/goose", Packages: goose,
			Breaks: "A field that is written through a selector counts as one that never changes.",
			Old:    "			w.written[f] = true\n		}\n		e = sel.X",
			New:    "			w.written[f] = f.Exported()\n		}\n		e = sel.X",
		},
		{
			Name: "goose/quiet-functions-call-others", Kind: Unsound, In: "internal/goose", Packages: goose,
			Breaks: "A function that changes nothing itself, but calls one that does, counts as one that changes nothing.",
			Old:    "if quiet[f] && !quiet[c] {",
			New:    "if quiet[f] && c == f && !quiet[c] {",
		},
		{
			Name: "goose/loop-shares-its-variable", Kind: Unsound, In: "internal/goose", Packages: goose,
			Breaks: "All iterations of a for loop share the variable that function literals see.",
			Old:    "if b := f.bound[v]; w.captured && b.cell {",
			New:    "if b := f.bound[v]; w.captured && !b.cell {",
		},
		{
			Name: "goose/loop-variable-changed-in-the-body", Kind: Unsound, In: "internal/goose", Packages: goose,
			Breaks: "A loop whose body changes a variable that a function literal sees is translated, and the change is lost.",
			Old:    "w.captured && (w.changedBody || hasLiteral(s.Init, s.Cond, s.Post)) {",
			New:    "w.captured && hasLiteral(s.Init, s.Cond, s.Post) {",
		},
		{
			Name: "goose/return-from-a-loop-goes-on", Kind: WrongAnswer, In: "internal/goose", Packages: goose,
			Breaks: "A return within a loop ends the loop only.",
			Old:    "	if len(list) == 1 {\n		return x\n	}\n	return coq.Then{X: x,",
			New:    "	if len(list) == 1 {\n		return x\n	}\n	return coq.Seq{X: x,",
		},
		{
			Name: "goose/break-is-lost", Kind: WrongAnswer, In: "internal/goose", Packages: goose,
			Breaks: "A loop that is left by break is taken for one that is not left.",
			Old:    "if escapes(body)&(escapeReturn|escapeBreak) == 0 && inTail(body) {",
			New:    "if escapes(body)&escapeReturn == 0 && inTail(body) {",
		},
		{
			Name: "goose/shadowing-names-are-kept", Kind: WrongAnswer, In: "internal/goose", Packages: goose,
			Breaks: "A variable in a block hides one around it from statements that move into its scope.",
			Old:    "for i := 1; n.sees(s) ||",
			New:    "for i := 1; i > 1 && n.sees(s) ||",
		},
		{
			Name: "goose/results-after-the-unlock", Kind: Unsound, In: "internal/goose", Packages: goose,
			Breaks: "A function that defers an unlock reads its result after it.",
			Old:    "if x != nil && len(f.frame.deferred) > 0 && !allAtomic(x) {",
			New:    "if x != nil && len(f.frame.deferred) > 1 && !allAtomic(x) {",
		},
		{
			Name: "goose/parallel-assignment-one-by-one", Kind: WrongAnswer, In: "internal/goose", Packages: goose,
			Breaks: "In a parallel assignment a value is read after the first store.",
			Old:    "			if i >= first || !steady(ops[i].x) {",
			New:    "			if i < first && !steady(ops[i].x) {",
		},
		{
			Name: "goose/returns-forget-the-results", Kind: WrongAnswer, In: "internal/goose", Packages: semantics, Run: "TestSemanticsCorpus",
			Breaks: "A return with values leaves the named results as they were, which a function literal or a pointer sees.",
			Old:    "	if f.resultsAreSeen() {",
			New:    "	if f.resultsAreSeen() && len(ops) == 0 {",
		},
		{
			Name: "goose/ranges-lose-calls", Kind: WrongAnswer, In: "internal/goose", Packages: goose, Run: "TestRefusals",
			Breaks: "A range over the indices of an array leaves out the calls in its operand.",
			Old:    "!f.inPlace(s.X) || f.calls(s.X) {",
			New:    "!f.inPlace(s.X) {",
		},
		{
			Name: "goose/threads-take-any-error", Kind: Unsound, In: "internal/goose", Packages: goose, Run: "TestRefusals",
			Breaks: "A nil pointer is passed to a thread's function literal as an error that is nil.",
			Old:    "	f.wantParams(call)\n	ops := f.exprs(call.Args...)",
			New:    "	ops := f.exprs(call.Args...)",
		},
		{
			Name: "goose/any-error-is-a-key", Kind: Unsound, In: "internal/goose", Packages: goose, Run: "TestRefusals",
			Breaks: "A nil pointer as the key of a map of errors is the key nil.",
			Old:    "		f.want(key, t.Key())",
			New:    "		f.wanted[ast.Unparen(key)] = t.Key()",
		},
		{
			Name: "goose/locks-are-copied", Kind: Unguarded, In: "internal/goose", Packages: goose,
			Breaks: "A value with a lock in it may be loaded as a whole.",
			Old:    "	if t.Locks {\n		f.refuse(at, LockCopy, \"a copy of a value",
			New:    "	if t.Locks && steady {\n		f.refuse(at, LockCopy, \"a copy of a value",
		},
	}
}
