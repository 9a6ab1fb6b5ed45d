package resolve

// builtins are the operators of the language itself, by canonical name.
var builtins = func() map[string]*Symbol {
	out := map[string]*Symbol{}
	add := func(arity int, names ...string) {
		for _, n := range names {
			out[n] = &Symbol{Kind: Builtin, Name: n, Params: make([]int, arity)}
		}
	}
	add(0, "TRUE", "FALSE", "BOOLEAN", "STRING")
	add(1, `~`, "SUBSET", "UNION", "DOMAIN", "'", "ENABLED", "UNCHANGED", "[]", "<>")
	add(2, `/\`, `\/`, "=>", `<=>`, "=", "/=", `\in`, `\notin`, `\subseteq`, `\cup`, `\cap`, `\`,
		`\cdot`, "~>", "-+->", `\X`)
	return out
}()

func builtinSymbol(name string) *Symbol { return builtins[name] }

// homes names the standard module to extend for an operator or name that is
// often forgotten.
func home(name string) string {
	switch name {
	case "+", "-", "*", "^", "<", ">", `\leq`, "<=", "=<", `\geq`, ">=", "..", `\div`, "%", "Nat":
		return "Naturals"
	case "-.", "Int":
		return "Integers"
	case "/", "Real", "Infinity":
		return "Reals"
	case "Seq", "Len", "Append", "Head", "Tail", "SubSeq", "SelectSeq", `\o`, `\circ`:
		return "Sequences"
	case "Cardinality", "IsFiniteSet":
		return "FiniteSets"
	case "Print", "PrintT", "Assert", ":>", "@@", "Permutations", "ToString", "TLCGet", "TLCSet", "JavaTime", "RandomElement", "SortSeq", "TLCEval":
		return "TLC"
	case "SetToSeq", "ToSet", "FoldSeq", "FoldLeft", "FoldRight", "Range", "Reverse", "Contains":
		return "SequencesExt"
	case "FoldSet", "MapThenSumSet", "SumSet", "kSubset":
		return "FiniteSetsExt"
	case "BagToSet", "SetToBag", "EmptyBag", "BagIn", "CopiesIn", `(+)`, `\oplus`, `(-)`, `\ominus`, "BagCardinality":
		return "Bags"
	}
	return ""
}
