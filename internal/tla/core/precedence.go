// SPDX-License-Identifier: Apache-2.0

package core

// binding is how tightly an operator binds its operands: a range of precedences
// from Table 6 of "Specifying Systems", and whether the operator is
// left-associative.
type binding struct {
	low, high int
	left      bool
}

// The bindings of expressions without an operator: those that extend as far to
// the right as possible, and those that are closed.
const (
	openLow    = 0
	closedHigh = 18
)

// infixBindings, prefixBindings and postfixBindings are never changed.
var (
	infixBindings = map[string]binding{
		"=>": {1, 1, false}, "-+->": {2, 2, false}, "<=>": {2, 2, false}, "~>": {2, 2, false},
		`/\`: {3, 3, true}, `\/`: {3, 3, true},
		"/=": {5, 5, false}, "-|": {5, 5, false}, "::=": {5, 5, false}, ":=": {5, 5, false}, "<": {5, 5, false}, "=": {5, 5, false},
		"=|": {5, 5, false}, ">": {5, 5, false}, `\approx`: {5, 5, false}, `\asymp`: {5, 5, false}, `\cong`: {5, 5, false},
		`\doteq`: {5, 5, false}, ">=": {5, 5, false}, `\gg`: {5, 5, false}, `\in`: {5, 5, false}, "<=": {5, 5, false},
		`\ll`: {5, 5, false}, `\notin`: {5, 5, false}, `\prec`: {5, 5, false}, `\preceq`: {5, 5, false}, `\propto`: {5, 5, false},
		`\sim`: {5, 5, false}, `\simeq`: {5, 5, false}, `\sqsubset`: {5, 5, false}, `\sqsubseteq`: {5, 5, false},
		`\sqsupset`: {5, 5, false}, `\sqsupseteq`: {5, 5, false}, `\subset`: {5, 5, false}, `\subseteq`: {5, 5, false},
		`\succ`: {5, 5, false}, `\succeq`: {5, 5, false}, `\supset`: {5, 5, false}, `\supseteq`: {5, 5, false},
		"|-": {5, 5, false}, "|=": {5, 5, false}, `\cdot`: {5, 14, true},
		"@@": {6, 6, true}, ":>": {7, 7, false}, "<:": {7, 7, false},
		`\`: {8, 8, false}, `\cap`: {8, 8, true}, `\cup`: {8, 8, true},
		"..": {9, 9, false}, "...": {9, 9, false}, "!!": {9, 13, false}, "##": {9, 13, true}, "$": {9, 13, true}, "$$": {9, 13, true},
		"?": {9, 13, false}, "??": {9, 13, true}, `\sqcap`: {9, 13, true}, `\sqcup`: {9, 13, true}, `\uplus`: {9, 13, true}, `\wr`: {9, 14, false},
		"(+)": {10, 10, true}, "+": {10, 10, true}, "++": {10, 10, true}, "%": {10, 11, false}, "%%": {10, 11, true},
		"|": {10, 11, true}, "||": {10, 11, true}, `\X`: {10, 13, true},
		"(-)": {11, 11, true}, "-": {11, 11, true}, "--": {11, 11, true},
		"&": {13, 13, true}, "&&": {13, 13, true}, "(.)": {13, 13, true}, "(/)": {13, 13, false}, `(\X)`: {13, 13, true}, "*": {13, 13, true},
		"**": {13, 13, true}, "/": {13, 13, false}, "//": {13, 13, false}, `\bigcirc`: {13, 13, true}, `\bullet`: {13, 13, true},
		`\div`: {13, 13, false}, `\o`: {13, 13, true}, `\star`: {13, 13, true}, "^": {14, 14, false}, "^^": {14, 14, false},
	}
	prefixBindings = map[string]binding{
		"~": {4, 4, false}, "ENABLED": {4, 15, false}, "UNCHANGED": {4, 15, false}, "[]": {4, 15, false}, "<>": {4, 15, false},
		"SUBSET": {8, 8, false}, "UNION": {8, 8, false}, "DOMAIN": {9, 9, false}, "-.": {12, 12, false},
	}
	postfixBindings = map[string]binding{
		"'": {15, 15, false}, "^+": {15, 15, false}, "^*": {15, 15, false}, "^#": {15, 15, false},
	}
)

// Precedence returns the range of precedences that the printer uses for an
// operator with the given number of operands, so that a test can compare it
// with the parser's. postfix selects the postfix operator.
func Precedence(name string, operands int, postfix bool) (low, high int, left, ok bool) {
	m := infixBindings
	switch {
	case postfix:
		m = postfixBindings
	case operands == 1:
		m = prefixBindings
	}
	b, ok := m[name]
	return b.low, b.high, b.left, ok
}

// fixity returns how to write an operator with the given name and number of
// parameters; nonfix is Op(a, b).
type fixity uint8

const (
	nonfix fixity = iota
	prefix
	infix
	postfix
)

func fixityOf(name string, params int) (fixity, binding) {
	switch params {
	case 1:
		if b, ok := prefixBindings[name]; ok {
			return prefix, b
		}
		if b, ok := postfixBindings[name]; ok {
			return postfix, b
		}
	case 2:
		if b, ok := infixBindings[name]; ok {
			return infix, b
		}
	}
	return nonfix, binding{low: closedHigh, high: closedHigh}
}
