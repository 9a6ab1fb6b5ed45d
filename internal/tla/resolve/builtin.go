// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/module"
)

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

// home names the standard module that declares an operator or name. It lists
// names whose EXTENDS is often forgotten.
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

// definer returns the first built-in module that defines an operator with this
// name, or "". It skips modules whose operator names are common in user
// specifications.
func definer(name string) string {
	if !source.HasLetters(name) || name[0] == '\\' {
		return ""
	}
	for _, m := range module.Names() {
		if m == "DyadicRationals" || m == "SVG" {
			continue
		}
		text, _ := module.Source(m)
		for _, end := range []string{"(", " =="} {
			if bytes.Contains(text, []byte("\n"+name+end)) {
				return m
			}
		}
	}
	return ""
}
