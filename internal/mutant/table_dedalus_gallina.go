// SPDX-License-Identifier: Apache-2.0

package mutant

// dedalusGallinaMutants are mistakes in the interpreter of Dedalus and in its values, which the
// semantics in Coq does not share.
func dedalusGallinaMutants() []Mutant {
	row := func(name, breaks, in, old, new string) Mutant {
		return Mutant{Name: "dedalus/gallina/" + name, Breaks: breaks, Kind: WrongAnswer, In: in, Old: old, New: new,
			Packages: []string{"internal/evidence/dedalus/gallina"}, Run: "TestTicks"}
	}
	const interp, logic = "internal/dedalus/interp", "internal/dedalus/logic"
	return []Mutant{
		row("sum-of-different-values", "Equal values of two rows are summed up once.", interp, "for _, name := range sortedNames(vars) {", "for _, name := range sortedNames(vars)[:1] {"),
		row("sum-lacks-a-row", "A sum lacks a row of its group.", interp, "a.Aggregate == logic.Sum && j > 0", "a.Aggregate == logic.Sum && j > 1"),
		row("negation-always-holds", "What is there counts as wanting.", interp, "if l.Negated && !found {", "if l.Negated {"),
		row("one-round", "Recursive rules are applied once in a tick.", interp, "changed = changed && s.Recursive", "changed = false"),
		row("choose-the-greatest", "The greatest row is chosen.", interp, "slices.CompareFunc(row, least, logic.Value.Compare) < 0", "slices.CompareFunc(row, least, logic.Value.Compare) > 0"),
		row("negative-is-great", "Negative numbers are greater than others.", logic, "return cmp.Compare(int64(v.Num), int64(w.Num))", "return cmp.Compare(v.Num, w.Num)"),
		row("negation-is-written-as-its-opposite", "Coq is given a program without its negations.", "internal/dedalus/gallina", "return call(\"Lacks\", w.atom(l.Atom))", "return call(\"Has\", w.atom(l.Atom))"),
		row("hash-without-type", "Equal numbers of two types have one hash.", logic, "b = append(b, byte(v.Kind))\n\tswitch v.Kind {", "switch v.Kind {"),
		{Name: "dedalus/certificate/rules-of-a-file-from-nought", Breaks: "A certificate that is read speaks of other rules than the one that was written.", Kind: WrongAnswer, In: "internal/dedalus/certificate",
			Old: "c.Moved = append(c.Moved, r-1)", New: "c.Moved = append(c.Moved, r)", Packages: []string{"internal/dedalus/certificate"}, Run: "TestFile$"},
		{Name: "dedalus/certificate/file-without-functions", Breaks: "A certificate loses the functions of keys.", Kind: WrongAnswer, In: "internal/dedalus/certificate",
			Old: "f.Keys[r] = fileKey{k.Column, k.Func}", New: "f.Keys[r] = fileKey{k.Column, \"\"}", Packages: []string{"internal/dedalus/certificate"}, Run: "TestFile$"},
		{Name: "dedalus/certificate/certify-checks-the-first-step-alone", Breaks: "Steps after the first one are accepted unseen.", Kind: Unsound, In: "internal/cli/dedalus",
			Old: "if err := certificate.Check(before, next, s.Claim); err != nil {", New: "if err := certificate.Check(before, next, s.Claim); err != nil && i == 0 {", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/dedaluscertify"},
		{Name: "dedalus/certificate/pieces-may-crash", Breaks: "A division is reported as proved whatever crashes.", Kind: Unsound, In: "internal/cli/dedalus",
			Old: "len(question.Immortal) {", New: "0 {", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/dedaluscertify"},
		{Name: "dedalus/certificate/inputs-of-a-relay-come-once", Breaks: "A relay is reported as proved of inputs that never come again.", Kind: Unsound, In: "internal/cli/dedalus",
			Old: "if len(question.Again) > 0 {", New: "if len(question.Again) > 1 {", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/dedaluscertify"},
		{Name: "dedalus/certificate/proofs-of-steps-add-up", Breaks: "Steps that are proved pass for a sequence that is.", Kind: Unsound, In: "internal/cli/dedalus",
			Old: "if len(steps) > 1 && slices", New: "if len(steps) > 2 && slices", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/dedaluscertify"},
		{Name: "dedalus/certificate/asks-about-any-number", Breaks: "A short program makes a question that exhausts memory.", Kind: Unguarded, In: "internal/dedalus/gallina",
			Old: "c.Partitions > NodesMax || nodes > NodesMax {", New: "c.Partitions > NodesMax || nodes > NodesMax<<6 {", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/dedaluscertify"},
	}
}
