// SPDX-License-Identifier: Apache-2.0

package mutant

// frontMutants are about names and instances: what a specification means
// before anything is evaluated.
func frontMutants() []Mutant {
	lower := []string{"internal/tla/lower"}
	resolve := []string{"internal/tla/resolve"}
	return []Mutant{
		{
			Name: "tla/lower/no-substitution-under-prime", Kind: Unsound, In: "internal/tla/lower", Packages: lower,
			Breaks: "INSTANCE M WITH x <- y leaves x' as it is.",
			Old:    "case *core.VarRef:\n\t\treturn c.variables[x.Var]",
			New: "case *core.Op:\n\t\tif x.Op == core.OpPrime {\n\t\t\treturn x\n\t\t}\n" +
				"\tcase *core.VarRef:\n\t\treturn c.variables[x.Var]",
		},
		{
			Name: "tla/lower/substitution-is-not-passed-on", Kind: Unsound, In: "internal/tla/lower", Packages: lower,
			Breaks: "A definition that mentions a replaced variable only through another definition is shared as it is.",
			Old:    "work = append(work, users[x]...)",
			New:    "_ = users",
		},
		{
			Name: "tla/lower/instance-forgets-its-parameters", Kind: WrongAnswer, In: "internal/tla/lower", Packages: lower,
			Breaks: "Inside I(p) == INSTANCE M, definitions call each other without p.",
			Old:    "for _, l := range c.params {\n\t\t\tout = append(out, &core.LocalRef{",
			New:    "for _, l := range c.params[:0] {\n\t\t\tout = append(out, &core.LocalRef{",
		},
		{
			Name: "tla/lower/except-at-is-the-outer-one", Kind: WrongAnswer, In: "internal/tla/lower", Packages: lower,
			Breaks: "In nested EXCEPTs @ means the outermost old value.",
			Old:    "a := r.at[len(r.at)-1]",
			New:    "a := r.at[0]",
		},
		{
			Name: "tla/lower/path-skips-the-instance", Kind: WrongAnswer, In: "internal/tla/lower", Packages: lower,
			Breaks: "I!Op is the definition of the module itself, without what the instance puts in.",
			Old:    "d = r.seenThrough(use.Through[i].Instance, d)",
			New:    "r.seenThrough(use.Through[i].Instance, d)",
		},
		{
			Name: "tla/lower/second-assignment-needs-no-label", Kind: Unsound, In: "internal/tla/lower", Packages: lower,
			Breaks: "A step of PlusCal may assign a variable twice after an either.",
			Old:    "\t\tl.assigned = after\n",
			New:    "\t\tl.assigned = before\n",
		},
		{
			Name: "tla/lower/no-label-needed-after-a-jump", Kind: Unsound, In: "internal/tla/lower", Packages: lower,
			Breaks: "What follows an if with a goto in it needs no label.",
			Old:    "it.jumps = it.jumps || x.jumps || x.label != nil || x.kind == whileItem",
			New:    "it.jumps = it.jumps || x.label != nil || x.kind == whileItem",
		},
		{
			Name: "tla/lower/archetype-sees-globals", Kind: Unsound, In: "internal/tla/lower", Packages: lower,
			Breaks: "An archetype may use an operator that reads variables which its process does not have.",
			Old:    "t != nil && !t.nested && e.Def.Level != core.ConstantLevel {",
			New:    "t != nil && !t.nested && e.Def.Level > core.StateLevel {",
		},
		{
			Name: "tla/resolve/too-few-arguments", Kind: Unguarded, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "An operator may be given fewer arguments than it takes.",
			Old:    "case s.Arity() != len(args):",
			New:    "case s.Arity() < len(args):",
		},
		{
			Name: "tla/resolve/operator-of-wrong-arity", Kind: Unguarded, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "An operator of two arguments may be passed where one of one argument is expected.",
			Old:    "s.Kind == Instanced || s.Kind == Fact || s.Arity() != arity {",
			New:    "s.Kind == Instanced || s.Kind == Fact || s.Arity() == 0 {",
		},
		{
			Name: "tla/resolve/bound-name-in-its-own-set", Kind: WrongAnswer, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "\\A x \\in S is resolved without looking at S.",
			Old:    "for _, b := range bounds {\n\t\tif b.Set != nil {\n\t\t\tr.value(b.Set)\n\t\t}\n\t}\n",
			New:    "",
		},
		{
			Name: "tla/resolve/prime-of-a-prime", Kind: Unsound, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "(x')' is accepted, and so is an operator that primes an argument which is primed already.",
			Old:    "l.limit(args[0], StateLevel, \"only a state function can be primed\")",
			New:    "l.limit(args[0], ActionLevel, \"only a state function can be primed\")",
		},
		{
			Name: "tla/resolve/variable-replaced-by-an-action", Kind: Unsound, In: "internal/tla/resolve", Packages: resolve,
			Breaks: "INSTANCE M WITH x <- y' is accepted for a variable x.",
			Old:    "case sub.Param.Kind == Variable && got.closed > StateLevel:",
			New:    "case sub.Param.Kind == Variable && got.closed > ActionLevel:",
		},
	}
}
