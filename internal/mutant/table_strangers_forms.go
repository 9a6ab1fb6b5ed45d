// SPDX-License-Identifier: Apache-2.0

package mutant

// strangersFormsMutants are about the table of forms, which every traversal of
// an expression reads, and about the only path from an algorithm to the model
// that is checked.
func strangersFormsMutants() []Mutant { return append(formsMutants(), algorithmTreeMutants()...) }

// algorithmTreeMutants are mistakes in the trees made from an algorithm, or in how
// its module is resolved around them; the printed text is right.
func algorithmTreeMutants() []Mutant {
	trans := []string{"internal/tla/trans"}
	const trees = "TestTrees"
	return []Mutant{
		{
			Name: "tla/trans/tree-of-unchanged-has-one-variable", Kind: Unsound, In: "internal/tla/trans", Packages: trans, Run: trees, Short: true,
			Breaks: "UNCHANGED <<x, y>> says nothing of y.",
			Old:    "if len(refs) > 1 {\n\t\tx = &core.Tuple{At: at, Elems: refs}",
			New:    "if len(refs) > 9 {\n\t\tx = &core.Tuple{At: at, Elems: refs}",
		},
		{
			Name: "tla/trans/tree-of-if-has-one-branch", Kind: Unsound, In: "internal/tla/trans", Packages: trans, Run: trees, Short: true,
			Breaks: "An if does the same whatever its condition is.",
			Old:    "Then: c.then.tree(m, at), Else: c.els.tree(m, at)}",
			New:    "Then: c.then.tree(m, at), Else: c.then.tree(m, at)}",
		},
		{
			Name: "tla/trans/tree-of-with-takes-the-set", Kind: WrongAnswer, In: "internal/tla/trans", Packages: trans, Run: trees, Short: true,
			Breaks: "with (v \\in S) calls S by the name v.",
			Old:    "if c.in {\n\t\treturn &core.Quant{",
			New:    "if c.in && c.name == nil {\n\t\treturn &core.Quant{",
		},
		{
			Name: "tla/trans/tree-of-strong-fairness-is-weak", Kind: WrongAnswer, In: "internal/tla/trans", Packages: trans, Run: trees, Short: true,
			Breaks: "fair+ asks for weak fairness.",
			Old:    "&core.Fair{Strong: how == pcal.Strong,",
			New:    "&core.Fair{Strong: how > pcal.Strong,",
		},
		{
			Name: "tla/trans/tree-forgets-a-minus", Kind: WrongAnswer, In: "internal/tla/trans", Packages: trans, Run: trees, Short: true,
			Breaks: "A label with a minus is treated fairly.",
			Old:    "action = &core.And{List: []core.Expr{op(core.OpNe, at, minus[0]), action}}",
			New:    "_ = at",
		},
		{
			Name: "tla/lower/define-block-is-not-known-behind-it", Kind: WrongAnswer, In: "internal/tla/lower", Packages: trans, Run: trees, Short: true,
			Breaks: "What an algorithm defines is unknown in the rest of its module.",
			Old:    "if p.define != nil {",
			New:    "if false {",
		},
		{
			Name: "tla/lower/announced-operator-has-no-parameters", Kind: Stuck, In: "internal/tla/lower", Packages: trans, Run: "TestRecursiveBehind", Short: true,
			Breaks: "An algorithm that uses what RECURSIVE announced before it gets an operator without parameters.",
			Old:    "if announced { // and nothing more was known of it than its name",
			New:    "if announced && len(d.Params) > 0 { // and nothing more was known of it than its name",
		},
		{
			Name: "tla/resolve/names-of-an-algorithm-clash-in-silence", Kind: Unguarded, In: "internal/tla/resolve", Packages: trans, Run: "TestTranslations", Short: true,
			Breaks: "A label with the name of an operator before the algorithm takes its place.",
			Old:    "\t\tr.declare(s)\n\t\tswitch s.Kind {",
			New:    "\t\tr.scope.bind(s.Name, s, s.Local)\n\t\tswitch s.Kind {",
		},
		{
			Name: "tla/core/places-are-lost", Kind: WrongAnswer, In: "internal/tla/core", Packages: trans, Run: trees, Short: true,
			Breaks: "What an algorithm became has no place in its text.",
			Old:    "if x.Span().IsValid() || !at.IsValid() {",
			New:    "if x.Span().IsValid() || at.IsValid() {",
		},
	}
}

func formsMutants() []Mutant {
	language, models := []string{"internal/tla/core"}, []string{"internal/model"}
	return []Mutant{
		{
			Name: "tla/core/index-of-except-is-no-part", Kind: Unsound, In: "internal/tla/core", Packages: language, Run: "TestForms|TestRewriteReaches", Short: true,
			Breaks: "Nothing looks into the indices of an EXCEPT.",
			Old:    "for j := range u.Path {",
			New:    "for j := range u.Path[:0] {",
		},
		{
			Name: "tla/core/function-does-not-bind-itself", Kind: WrongAnswer, In: "internal/tla/core", Packages: language, Run: "TestForms|TestRename", Short: true,
			Breaks: "The name of a recursive function is free in its body.",
			Old:    "names = append(names, &e.Self)",
			New:    "_ = &e.Self",
		},
		{
			Name: "tla/core/rewriting-changes-the-original", Kind: WrongAnswer, In: "internal/tla/core", Packages: language, Run: "TestRewriteReaches", Short: true,
			Breaks: "A rewritten list is that of the expression that was rewritten.",
			Old:    "own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())",
			New:    "own := v",
		},
		{
			Name: "tla/core/shared-set-is-rewritten-once", Kind: WrongAnswer, In: "internal/tla/core", Packages: language, Run: "TestASharedSet", Short: true,
			Breaks: "Of x, y \\in S only the bound of x has the new S.",
			Old:    "for i := range p.shared {",
			New:    "for i := range p.shared[:0] {",
		},
		{
			Name: "tla/core/second-conjunct-is-sure", Kind: WrongAnswer, In: "internal/tla/core", Packages: models, Run: "TestSureParts", Short: true,
			Breaks: "What stands right of /\\ is taken to be evaluated whatever stands left of it.",
			Old:    "v.part(&xs[0], sure) && v.list(xs[1:], maybe)",
			New:    "v.list(xs, sure)",
		},
		{
			Name: "tla/core/second-bound-is-sure", Kind: WrongAnswer, In: "internal/tla/core", Packages: models, Run: "TestSureParts", Short: true,
			Breaks: "The body of a quantifier is taken to be evaluated though a set may be empty.",
			Old:    "case *Quant:\n\t\treturn v.sets(e.Binds) && v.scope(&e.Body, maybe, bound(e.Binds))",
			New:    "case *Quant:\n\t\treturn v.sets(e.Binds) && v.scope(&e.Body, sure, bound(e.Binds))",
		},
		{
			Name: "tla/core/body-of-a-set-map-is-evaluated-first", Kind: WrongAnswer, In: "internal/tla/core", Packages: language, Run: "TestForms", Short: true,
			Breaks: "The two orders of parts are one.",
			Old:    "if order == TextOrder {",
			New:    "if order <= EvaluationOrder {",
		},
	}
}
