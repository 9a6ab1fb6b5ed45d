// SPDX-License-Identifier: Apache-2.0

package syntax

// An operator of TLA+ has a range of precedences rather than one. If two
// operators compete for an operand, the one whose whole range is higher wins;
// if the ranges overlap, the expression is ill-formed, unless both are the same
// operator and it associates to the left. The table below is Table 6 of
// "Specifying Systems".

// Operator is one row of that table.
type Operator struct {
	// Name is the canonical spelling; prefix minus is "-.".
	Name   string
	Fixity Fixity
	// Low and High bound its precedence, from 1 to 17.
	Low, High int
	// LeftAssociative reports that `a op b op c` is `(a op b) op c`.
	LeftAssociative bool
}

// operators is the whole table. It is never changed.
var operators = [...]Operator{
	{"~", PrefixOp, 4, 4, false},
	{"ENABLED", PrefixOp, 4, 15, false},
	{"UNCHANGED", PrefixOp, 4, 15, false},
	{"[]", PrefixOp, 4, 15, false},
	{"<>", PrefixOp, 4, 15, false},
	{"SUBSET", PrefixOp, 8, 8, false},
	{"UNION", PrefixOp, 8, 8, false},
	{"DOMAIN", PrefixOp, 9, 9, false},
	{"-.", PrefixOp, 12, 12, false},

	{"=>", InfixOp, 1, 1, false},
	{"-+->", InfixOp, 2, 2, false},
	{"<=>", InfixOp, 2, 2, false},
	{"~>", InfixOp, 2, 2, false},
	{`/\`, InfixOp, 3, 3, true},
	{`\/`, InfixOp, 3, 3, true},
	{"/=", InfixOp, 5, 5, false},
	{"-|", InfixOp, 5, 5, false},
	{"::=", InfixOp, 5, 5, false},
	{":=", InfixOp, 5, 5, false},
	{"<", InfixOp, 5, 5, false},
	{"=", InfixOp, 5, 5, false},
	{"=|", InfixOp, 5, 5, false},
	{">", InfixOp, 5, 5, false},
	{`\approx`, InfixOp, 5, 5, false},
	{`\asymp`, InfixOp, 5, 5, false},
	{`\cong`, InfixOp, 5, 5, false},
	{`\doteq`, InfixOp, 5, 5, false},
	{">=", InfixOp, 5, 5, false},
	{`\gg`, InfixOp, 5, 5, false},
	{`\in`, InfixOp, 5, 5, false},
	{"<=", InfixOp, 5, 5, false},
	{`\ll`, InfixOp, 5, 5, false},
	{`\notin`, InfixOp, 5, 5, false},
	{`\prec`, InfixOp, 5, 5, false},
	{`\preceq`, InfixOp, 5, 5, false},
	{`\propto`, InfixOp, 5, 5, false},
	{`\sim`, InfixOp, 5, 5, false},
	{`\simeq`, InfixOp, 5, 5, false},
	{`\sqsubset`, InfixOp, 5, 5, false},
	{`\sqsubseteq`, InfixOp, 5, 5, false},
	{`\sqsupset`, InfixOp, 5, 5, false},
	{`\sqsupseteq`, InfixOp, 5, 5, false},
	{`\subset`, InfixOp, 5, 5, false},
	{`\subseteq`, InfixOp, 5, 5, false},
	{`\succ`, InfixOp, 5, 5, false},
	{`\succeq`, InfixOp, 5, 5, false},
	{`\supset`, InfixOp, 5, 5, false},
	{`\supseteq`, InfixOp, 5, 5, false},
	{"|-", InfixOp, 5, 5, false},
	{"|=", InfixOp, 5, 5, false},
	{`\cdot`, InfixOp, 5, 14, true},
	{"@@", InfixOp, 6, 6, true},
	{":>", InfixOp, 7, 7, false},
	{"<:", InfixOp, 7, 7, false},
	{`\`, InfixOp, 8, 8, false},
	{`\cap`, InfixOp, 8, 8, true},
	{`\cup`, InfixOp, 8, 8, true},
	{"..", InfixOp, 9, 9, false},
	{"...", InfixOp, 9, 9, false},
	{"!!", InfixOp, 9, 13, false},
	{"##", InfixOp, 9, 13, true},
	{"$", InfixOp, 9, 13, true},
	{"$$", InfixOp, 9, 13, true},
	{"?", InfixOp, 9, 13, false},
	{"??", InfixOp, 9, 13, true},
	{`\sqcap`, InfixOp, 9, 13, true},
	{`\sqcup`, InfixOp, 9, 13, true},
	{`\uplus`, InfixOp, 9, 13, true},
	{`\wr`, InfixOp, 9, 14, false},
	{"(+)", InfixOp, 10, 10, true},
	{"+", InfixOp, 10, 10, true},
	{"++", InfixOp, 10, 10, true},
	{"%", InfixOp, 10, 11, false},
	{"%%", InfixOp, 10, 11, true},
	{"|", InfixOp, 10, 11, true},
	{"||", InfixOp, 10, 11, true},
	{`\X`, InfixOp, 10, 13, true},
	{"(-)", InfixOp, 11, 11, true},
	{"-", InfixOp, 11, 11, true},
	{"--", InfixOp, 11, 11, true},
	{"&", InfixOp, 13, 13, true},
	{"&&", InfixOp, 13, 13, true},
	{"(.)", InfixOp, 13, 13, true},
	{"(/)", InfixOp, 13, 13, false},
	{`(\X)`, InfixOp, 13, 13, true},
	{"*", InfixOp, 13, 13, true},
	{"**", InfixOp, 13, 13, true},
	{"/", InfixOp, 13, 13, false},
	{"//", InfixOp, 13, 13, false},
	{`\bigcirc`, InfixOp, 13, 13, true},
	{`\bullet`, InfixOp, 13, 13, true},
	{`\div`, InfixOp, 13, 13, false},
	{`\o`, InfixOp, 13, 13, true},
	{`\star`, InfixOp, 13, 13, true},
	{"^", InfixOp, 14, 14, false},
	{"^^", InfixOp, 14, 14, false},

	{"'", PostfixOp, 15, 15, false},
	{"^+", PostfixOp, 15, 15, false},
	{"^*", PostfixOp, 15, 15, false},
	{"^#", PostfixOp, 15, 15, false},
}

// synonyms maps every other spelling of an operator or of punctuation,
// Unicode included, to the canonical one. It is never changed.
var synonyms = map[string]string{
	`\land`: `/\`, `\lor`: `\/`, `\lnot`: "~", `\neg`: "~", `\equiv`: "<=>",
	"#": "/=", "=<": "<=", `\leq`: "<=", `\geq`: ">=",
	`\union`: `\cup`, `\intersect`: `\cap`, `\circ`: `\o`, `\times`: `\X`,
	`\oplus`: "(+)", `\ominus`: "(-)", `\odot`: "(.)", `\oslash`: "(/)", `\otimes`: `(\X)`,

	"∧": `/\`, "∨": `\/`, "¬": "~", "⇒": "=>", "⇔": "<=>", "≡": "<=>", "↝": "~>", "⇸": "-+->",
	"□": "[]", "◇": "<>", "≠": "/=", "≤": "<=", "≥": ">=", "≪": `\ll`, "≫": `\gg`,
	"∈": `\in`, "∉": `\notin`, "⊂": `\subset`, "⊆": `\subseteq`, "⊃": `\supset`, "⊇": `\supseteq`,
	"⊏": `\sqsubset`, "⊑": `\sqsubseteq`, "⊐": `\sqsupset`, "⊒": `\sqsupseteq`,
	"≺": `\prec`, "≻": `\succ`, "⪯": `\preceq`, "⪰": `\succeq`, "≼": `\preceq`, "≽": `\succeq`,
	"∼": `\sim`, "≃": `\simeq`, "≍": `\asymp`, "≈": `\approx`, "≅": `\cong`, "≐": `\doteq`, "∝": `\propto`,
	"⊢": "|-", "⊨": "|=", "⊣": "-|", "⫤": "=|", "⩴": "::=", "≔": ":=",
	"∪": `\cup`, "∩": `\cap`, "∖": `\`, "⊓": `\sqcap`, "⊔": `\sqcup`, "⊎": `\uplus`, "≀": `\wr`,
	"‥": "..", "…": "...", "‼": "!!", "⁇": "??", "‖": "||",
	"⊕": "(+)", "⊖": "(-)", "⊙": "(.)", "⊘": "(/)", "⊗": `(\X)`,
	"×": `\X`, "÷": `\div`, "⋅": `\cdot`, "·": `\cdot`, "∘": `\o`, "•": `\bullet`, "●": `\bullet`,
	"⋆": `\star`, "★": `\star`, "◯": `\bigcirc`, "○": `\bigcirc`, "′": "'", "⁺": "^+",

	`\forall`: `\A`, `\exists`: `\E`, "∀": `\A`, "∃": `\E`,
	"≜": "==", "⟨": "<<", "⟩": ">>", "〈": "<<", "〉": ">>", "⟩_": ">>_",
	"↦": "|->", "→": "->", "←": "<-", "∷": "::",
}

// punctuation lists the symbols that are neither operators nor words. It is
// never changed.
var punctuation = [...]string{
	"(", ")", "[", "]", "]_", "{", "}", "<<", ">>", ">>_", ",", ":", "::", ";", "!", "@", ".", "_",
	"==", "->", "<-", "|->", `\A`, `\E`, `\AA`, `\EE`,
}

// symbol is what the scanner knows of a spelling.
type symbol struct {
	kind kind
	text string // canonical
}

// symbols has every spelling of every operator and punctuation that is not a
// word of capital letters. infixes, prefixes and postfixes map canonical names
// to operators. None of them is ever changed.
var (
	symbols   = indexSymbols()
	infixes   = indexOperators(InfixOp)
	prefixes  = indexOperators(PrefixOp)
	postfixes = indexOperators(PostfixOp)
)

func indexOperators(fixity Fixity) map[string]*Operator {
	m := make(map[string]*Operator)
	for i := range operators {
		if operators[i].Fixity == fixity {
			m[operators[i].Name] = &operators[i]
		}
	}
	return m
}

func indexSymbols() map[string]symbol {
	m := make(map[string]symbol)
	for _, op := range operators {
		if c := op.Name[0]; c < 'A' || c > 'Z' {
			m[op.Name] = symbol{kindOp, op.Name}
		}
	}
	for _, p := range punctuation {
		m[p] = symbol{kindPunct, p}
	}
	for spelling, name := range synonyms {
		m[spelling] = symbol{m[name].kind, name}
	}
	return m
}

// symbolBytesMax is the length of the longest ASCII symbol that does not
// start with a backslash and letters.
const symbolBytesMax = 4

// Canonical returns the spelling that the tree uses for an operator symbol:
// Canonical(`\leq`) is "<=", Canonical("∧") is `/\`. Any other text is returned
// unchanged. Minus is "-"; only its position shows whether it is the prefix
// operator "-.".
func Canonical(text string) string {
	if s, ok := symbols[text]; ok {
		return s.text
	}
	return text
}

// LookupOperator returns the operator of a canonical name. "-" is the infix
// one, "-." the prefix one.
func LookupOperator(name string) (Operator, bool) {
	for _, m := range []map[string]*Operator{infixes, prefixes, postfixes} {
		if op, ok := m[name]; ok {
			return *op, true
		}
	}
	return Operator{}, false
}

// isReserved reports whether the word is reserved in TLA+2.
func isReserved(word string) bool {
	switch word {
	case "ACTION", "ASSUME", "ASSUMPTION", "AXIOM", "BY", "CASE", "CHOOSE", "CONSTANT", "CONSTANTS",
		"COROLLARY", "DEF", "DEFINE", "DEFS", "DOMAIN", "ELSE", "ENABLED", "EXCEPT", "EXTENDS", "HAVE",
		"HIDE", "IF", "IN", "INSTANCE", "LAMBDA", "LEMMA", "LET", "LOCAL", "MODULE", "NEW", "OBVIOUS",
		"OMITTED", "ONLY", "OTHER", "PICK", "PROOF", "PROPOSITION", "PROVE", "QED", "RECURSIVE", "STATE",
		"SUBSET", "SUFFICES", "TAKE", "TEMPORAL", "THEN", "THEOREM", "UNCHANGED", "UNION", "USE",
		"VARIABLE", "VARIABLES", "WITH", "WITNESS":
		return true
	}
	return false
}

// isAlgorithmWord reports whether the word is reserved in PlusCal.
func isAlgorithmWord(word string) bool {
	switch word {
	case "assert", "await", "begin", "call", "define", "do", "either", "else", "elsif", "end", "goto",
		"if", "macro", "or", "print", "procedure", "process", "return", "skip", "then", "variable",
		"variables", "when", "while", "with":
		return true
	}
	return false
}

// isModularWord reports whether the word is reserved in Modular PlusCal in
// addition.
func isModularWord(word string) bool {
	switch word {
	case "archetype", "mapping", "read", "write", "via", "instance", "ref", "yield":
		return true
	}
	return false
}
