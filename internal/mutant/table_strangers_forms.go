package mutant

// strangersFormsMutants are about the table of forms, which all that goes
// through an expression reads.
func strangersFormsMutants() []Mutant {
	language, models := []string{"tla/core"}, []string{"tla/eval"}
	return []Mutant{
		{
			Name: "tla/core/index-of-except-is-no-part", Kind: Unsound, In: "tla/core", Packages: language, Run: "TestForms|TestRewriteReaches", Short: true,
			Breaks: "Nothing looks into the indices of an EXCEPT.",
			Old:    "for j := range u.Path {",
			New:    "for j := range u.Path[:0] {",
		},
		{
			Name: "tla/core/function-does-not-bind-itself", Kind: WrongAnswer, In: "tla/core", Packages: language, Run: "TestForms|TestRename", Short: true,
			Breaks: "The name of a recursive function is free in its body.",
			Old:    "names = append(names, &e.Self)",
			New:    "_ = &e.Self",
		},
		{
			Name: "tla/core/rewriting-changes-the-original", Kind: WrongAnswer, In: "tla/core", Packages: language, Run: "TestRewriteReaches", Short: true,
			Breaks: "A rewritten list is that of the expression that was rewritten.",
			Old:    "own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())",
			New:    "own := v",
		},
		{
			Name: "tla/core/shared-set-is-rewritten-once", Kind: WrongAnswer, In: "tla/core", Packages: language, Run: "TestASharedSet", Short: true,
			Breaks: "Of x, y \\in S only the bound of x has the new S.",
			Old:    "for i := range p.shared {",
			New:    "for i := range p.shared[:0] {",
		},
		{
			Name: "tla/core/second-conjunct-is-sure", Kind: WrongAnswer, In: "tla/core", Packages: models, Run: "TestSureParts", Short: true,
			Breaks: "What stands right of /\\ is taken to be evaluated whatever stands left of it.",
			Old:    "v.part(&xs[0], sure) && v.list(xs[1:], maybe)",
			New:    "v.list(xs, sure)",
		},
		{
			Name: "tla/core/second-bound-is-sure", Kind: WrongAnswer, In: "tla/core", Packages: models, Run: "TestSureParts", Short: true,
			Breaks: "The body of a quantifier is taken to be evaluated though a set may be empty.",
			Old:    "case *Quant:\n\t\treturn v.sets(e.Binds) && v.scope(&e.Body, maybe, bound(e.Binds))",
			New:    "case *Quant:\n\t\treturn v.sets(e.Binds) && v.scope(&e.Body, sure, bound(e.Binds))",
		},
		{
			Name: "tla/core/body-of-a-set-map-is-evaluated-first", Kind: WrongAnswer, In: "tla/core", Packages: language, Run: "TestForms", Short: true,
			Breaks: "The two orders of parts are one.",
			Old:    "if order == TextOrder {",
			New:    "if order <= EvaluationOrder {",
		},
	}
}
