// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// Repairs for frequent mistakes: the syntax of other languages and typing
// errors. The message names the mistake where it is, not the place where the
// parser first fails.

// habit returns the repair for a token found where code expects another one, or
// "" if there is none.
func (p *parser) habit(code source.Code, t *token) string {
	switch code {
	case UnitExpected:
		return p.unitHabit(t)
	case ExpressionExpected:
		return p.expressionHabit(t)
	case NameExpected:
		switch prev := p.before(1); {
		case t.is(kindPunct, ")") && prev.is(kindPunct, "("):
			return "remove ( and ): an operator without parameters has none"
		case t.kind == kindNumber && prev.is(kindPunct, "."):
			return "write [" + t.text + "]"
		case t.is(kindOp, "-"):
			return "write -. for the prefix operator"
		case prev.is(kindPunct, "[") && p.toks[p.i-1].start < t.start && p.arrow[p.i-1]:
			return `write [x \in S |-> e]`
		}
	case TokenExpected:
		switch {
		case t.kind == kindIdent && t.text == "in":
			return `write \in`
		case t.kind == kindIdent && (t.text == "ELSEIF" || t.text == "ELSIF" || t.text == "ELIF"):
			return "write ELSE IF"
		case t.kind == kindNumber && p.before(1).is(kindPunct, "!"):
			return "write ![" + t.text + "]"
		}
	case StatementExpected:
		name, op := p.before(1), t.text
		switch {
		case name.kind == kindIdent && (op == "++" || op == "--"):
			return "write " + name.text + " := " + name.text + " " + op[:1] + " 1"
		case name.kind == kindIdent && (op == "+" || op == "-" || op == "*") && p.token(p.i+1).is(kindOp, "="):
			return "write " + name.text + " := " + name.text + " " + op + " ..."
		}
	case SemicolonMissing:
		if t.is(kindPunct, "==") {
			return "write = to compare"
		}
	case SectionExpected:
		if t.is(kindOp, ":=") {
			return "write = for a variable's first value"
		}
	case DefineExpected:
		if prev := p.before(1); prev.kind == kindIdent && prev.first {
			return heads[prev.text]
		}
	}
	return ""
}

// afterCallOf reports whether the text just read is name(...).
func (p *parser) afterCallOf(name string) bool {
	return p.i > 1 && p.match[p.i-1] > 0 && p.toks[p.match[p.i-1]-1].is(kindIdent, name)
}

// before returns the n-th token before the next one, or an empty one if there
// is none.
func (p *parser) before(n int) *token {
	if p.i < n {
		return &stopToken
	}
	return &p.toks[p.i-n]
}

// unitHabit returns the repair for a token after which no unit can be read.
func (p *parser) unitHabit(t *token) string {
	prev, next := p.before(1), p.token(p.i+1)
	switch {
	case t.first && t.is(kindPunct, "==") && next.start == t.end && next.is(kindOp, "="):
		return "write ==== to end the module: four or more"
	case t.first && t.is(kindOp, "--") && next.start == t.end && next.kind == kindIdent:
		return "write (* before the algorithm and *) after it: an algorithm must be in a comment"
	case t.is(kindPunct, "=="):
		return "write = to compare; == defines"
	case t.is(kindPunct, ";"):
		return "remove it: definitions need no separator"
	case t.is(kindOp, "<>"):
		return "write # or /= for unequal; <> is an operator on behaviours"
	case t.is(kindPunct, "->"):
		return "write => for an implication"
	case t.is(kindPunct, ","):
		return p.commaHabit()
	case t.is(kindOp, "="):
		return p.valueHabit()
	case t.first && (t.is(kindOp, `\`) || t.is(kindOp, "//") || t.is(kindOp, "/=")):
		return `write \* before a comment`
	case t.is(kindWord, "EXTENDS"):
		return "write the names of all modules, with commas, after one EXTENDS that follows the header"
	case t.is(kindWord, "THEN") || t.is(kindWord, "ELSE"):
		return "write IF before the condition"
	case prev.kind == kindIdent && prev.end <= t.start && !t.first:
		return wordRepair(prev.text)
	}
	return ""
}

// commaHabit returns the repair for a comma that ends an expression.
func (p *parser) commaHabit() string {
	repair := "write << and >> around a tuple"
	for i := p.i - 1; i >= max(0, p.i-habitTokensMax) && !p.toks[i].is(kindPunct, "=="); i-- {
		switch t := &p.toks[i]; {
		case t.is(kindWord, "CASE"):
			return "write [] between the arms of a CASE"
		case t.is(kindWord, "UNCHANGED"):
			return "write << and >> around several variables"
		case t.is(kindOp, "="):
			repair = `write /\ between conditions`
		}
	}
	return repair
}

// valueHabit returns the repair for a declaration that gives the declared name
// a value.
func (p *parser) valueHabit() string {
	for i := p.i - 1; i >= max(0, p.i-habitTokensMax); i-- {
		switch t := &p.toks[i]; {
		case t.is(kindWord, "VARIABLE") || t.is(kindWord, "VARIABLES"):
			return "remove it: the initial predicate says what a variable is at first"
		case t.is(kindWord, "CONSTANT") || t.is(kindWord, "CONSTANTS"):
			return "remove it: a constant has its value from the configuration"
		case t.kind != kindIdent && !t.is(kindPunct, ","):
			return ""
		}
	}
	return ""
}

// habitTokensMax is the number of preceding tokens that are searched for the
// start of the construct.
const habitTokensMax = 64

// expressionHabit returns the repair for a token that cannot start an
// expression.
func (p *parser) expressionHabit(t *token) string {
	prev := p.before(1)
	switch {
	case t.is(kindOp, "'"):
		return `write " around a string`
	case t.is(kindPunct, "!"):
		return "write ~ for not"
	case t.is(kindOp, "<"):
		return "write << and >> around a tuple"
	case t.is(kindOp, ">") && prev.is(kindPunct, "=="):
		return "write => for an implication"
	case t.is(kindOp, `\cup`):
		return "write UNION for the union of the sets in a set"
	case t.is(kindPunct, ")") && prev.is(kindPunct, "("):
		return "remove ( and ): an operator without parameters has none"
	case t.kind == kindPunct && closesAny(t.text) && prev.is(kindPunct, ","):
		return "remove the comma"
	}
	return ""
}

// heads maps words that users write at the start of a line for a declaration
// keyword to repairs. It is never changed.
var heads = map[string]string{
	"VAR": "write VARIABLE", "VARS": "write VARIABLES", "var": "write VARIABLE", "variable": "write VARIABLE",
	"variables": "write VARIABLES", "Variable": "write VARIABLE", "Variables": "write VARIABLES",
	"CONST": "write CONSTANT", "const": "write CONSTANT", "constant": "write CONSTANT", "constants": "write CONSTANTS",
	"Constant": "write CONSTANT", "Constants": "write CONSTANTS",
	"extends": "write EXTENDS", "Extends": "write EXTENDS", "EXTEND": "write EXTENDS", "import": "write EXTENDS", "IMPORT": "write EXTENDS",
	"assume": "write ASSUME", "theorem": "write THEOREM", "instance": "write INSTANCE", "local": "write LOCAL",
	"recursive": "write RECURSIVE",
}

// wordRepair returns the repair for a word that is an operator in other
// languages.
func wordRepair(word string) string {
	if w, ok := foreignWords[word]; ok {
		return "write " + w
	}
	return ""
}

// foreignWords maps words that are operators in other languages, or TLA+
// operators in lower case, to their TLA+ spelling. It is never changed.
var foreignWords = map[string]string{
	"if": "IF ... THEN ... ELSE ...", "then": "IF ... THEN ... ELSE ...", "else": "IF ... THEN ... ELSE ...",
	"case": "CASE", "let": "LET ... IN ...", "in": `\in`, "choose": "CHOOSE", "lambda": "LAMBDA",
	"not": "~", "NOT": "~", "and": `/\`, "AND": `/\`, "or": `\/`, "OR": `\/`, "xor": "/=", "XOR": "/=",
	"mod": "%", "MOD": "%", "div": `\div`, "DIV": `\div`,
	"exists": `\E`, "EXISTS": `\E`, "forall": `\A`, "FORALL": `\A`, "implies": "=>", "IMPLIES": "=>", "iff": "<=>", "IFF": "<=>",
	"union": `\cup`, "intersect": `\cap`, "INTERSECT": `\cap`, "subset": `\subseteq`, "unchanged": "UNCHANGED", "enabled": "ENABLED", "domain": "DOMAIN", "except": "EXCEPT",
}

// wordsInRow reports a name directly after an operand, without an operator
// between them, unless it starts a definition. It returns whether it reported
// one. The name is the token before the next.
func (p *parser) wordsInRow() bool {
	name, operand := p.before(1), p.before(2)
	if p.broken || name.kind != kindIdent || name.first {
		return false
	}
	repair := wordRepair(name.text)
	switch {
	case operand.kind == kindIdent:
		if r := wordRepair(operand.text); r != "" {
			repair = r
		}
	case operand.kind == kindNumber || operand.kind == kindString || operand.kind == kindPunct && closesAny(operand.text):
	default:
		return false
	}
	if repair == "" && (p.atOp("=") || p.atOp(":=")) {
		return false
	}
	p.fail(source.Diagnostic{
		Code: UnitExpected, Span: p.spanOf(name), Repair: repair,
		Message: "expected an operator or a new definition, found " + p.describe(name),
	})
	return true
}

// barMeant reports a | written instead of the colon after a bound. It returns
// whether it reported one.
func (p *parser) barMeant() bool {
	if p.broken || p.boundAt < 0 {
		return false
	}
	for i := p.boundAt; i < p.i; i++ {
		t := &p.toks[i]
		switch {
		case t.kind == kindPunct && p.match[i] > int32(i):
			i = int(p.match[i])
		case t.is(kindPunct, ":") || t.is(kindPunct, "|->") || t.is(kindPunct, "=="):
			return false
		case t.is(kindOp, "|"):
			p.fail(source.Diagnostic{
				Code: TokenExpected, Span: p.spanOf(t),
				Message: "expected `:` after what is bound, found `|`", Repair: "write :",
			})
			return true
		}
	}
	return false
}

// meantBefore reports a token directly before the next one that was read
// differently from what the user meant. It returns whether it reported one.
func (p *parser) meantBefore() bool {
	if p.broken || p.i < 2 {
		return false
	}
	a, b := &p.toks[p.i-2], &p.toks[p.i-1]
	if t := &p.toks[p.i]; t.is(kindPunct, "!") {
		a, b = t, p.token(p.i+1)
	}
	if a.is(kindPunct, "!") && b.is(kindOp, "=") && a.end == b.start {
		p.fail(source.Diagnostic{
			Code: UnitExpected, Span: source.Span{File: p.file, Start: a.start, End: b.end},
			Message: "`!=` is not a symbol of the language", Repair: "write # or /=",
		})
		return true
	}
	return false
}

// halfTuple reports a tuple that ends in > instead of >>, when an operand is
// missing after the >. It returns whether it reported one.
func (p *parser) halfTuple() bool {
	if p.broken || p.i < 2 || !p.toks[p.i-1].is(kindOp, ">") {
		return false
	}
	for i := p.i - 2; i >= max(0, p.i-halfTupleMax); i-- {
		t := &p.toks[i]
		if t.kind == kindPunct && closesAny(t.text) || p.startsUnit(i) {
			return false
		}
		if t.is(kindPunct, "<<") && p.match[i] < 0 {
			p.fail(source.Diagnostic{
				Code: BracketUnclosed, Span: p.spanOf(&p.toks[p.i-1]),
				Message: "expected `>>`, found `>`", Repair: "write `>>`",
				Related: []source.Note{{Span: p.spanOf(t), Message: "`<<` was opened here"}},
			})
			return true
		}
	}
	return false
}

// halfTupleMax is the number of tokens before a > that are searched.
const halfTupleMax = 64

// conjoined returns the repair for a conflict of operators caused by && or ||
// written for /\ or \/. The latter bind less tightly than comparisons.
func (p *parser) conjoined() (source.Diagnostic, bool) {
	if len(p.args) == 0 {
		return source.Diagnostic{}, false
	}
	x, ok := p.args[len(p.args)-1].x.(*Infix)
	if !ok || x.Op.Text != "&&" && x.Op.Text != "||" {
		return source.Diagnostic{}, false
	}
	meant := `/\`
	if x.Op.Text == "||" {
		meant = `\/`
	}
	return source.Diagnostic{
		Code: PrecedenceConflict, Span: x.Op.Span(),
		Message: fmt.Sprintf("`%s` is an operator that binds tighter than those around it", x.Op.Text),
		Repair:  fmt.Sprintf(`write %s, or parentheses`, meant),
	}, true
}

// moreNames reads the remaining names of a declaration; next reads each one. It
// reports a trailing comma before the next unit and a missing comma between two
// names.
func (p *parser) moreNames(next func()) {
	for !p.broken {
		t := p.tok()
		if p.at(",") {
			p.advance()
			if p.startsUnit(p.i) && p.tok().kind != kindOp {
				p.fail(source.Diagnostic{
					Code: NameExpected, Span: p.spanOf(t),
					Message: "expected another name after the comma, found " + p.describe(p.tok()) + ", which starts something else",
					Repair:  "remove the comma",
				})
				return
			}
			next()
			continue
		}
		if t.kind == kindIdent && !t.first && !p.startsUnit(p.i) {
			p.unexpected(TokenExpected, "`,` between two names", "write `,`")
		}
		return
	}
}

// bracketRepair returns the repair if t is found where the bracket open should
// be closed.
func (p *parser) bracketRepair(open, t *token, close string) string {
	switch {
	case open.text == "(" && t.is(kindPunct, ","):
		return "write << and >> around a tuple"
	case open.text == "[" && t.is(kindPunct, ","):
		if p.holdsEquals(open) {
			return "write |-> between a field and its value"
		}
		return "write << and >> around a tuple"
	case open.text == "[" && t.is(kindPunct, ":"):
		return "write |-> for a function"
	}
	return fmt.Sprintf("write `%s` before it", close)
}

// holdsEquals reports whether there is a = between an open bracket, followed by
// a name, and the next token.
func (p *parser) holdsEquals(open *token) bool {
	for i := p.i - 1; i > 0 && &p.toks[i] != open; i-- {
		if p.toks[i].is(kindOp, "=") {
			return true
		}
	}
	return false
}

// lookalike returns the repair for a character that word processors substitute
// for one of the language.
func lookalike(text string) string {
	switch text {
	case "\u201c", "\u201d", "\u201e", "\u00ab", "\u00bb", "\u2018", "\u2019", "`":
		return `write " around a string`
	case "\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2212":
		return "write -"
	case "\u00a0", "\u2002", "\u2003", "\u2009", "\u202f", "\u3000":
		return "write a space: this is another character, which looks like one"
	case "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff":
		return "remove it: this is a character without width"
	case `\lambda`:
		return "write LAMBDA"
	case `\emptyset`, "\u2205":
		return "write {}"
	case `\setminus`:
		return `write \`
	case `\implies`, `\rightarrow`:
		return "write =>"
	case `\ne`, `\neq`:
		return "write /="
	case `\le`:
		return "write <="
	case `\ge`:
		return "write >="
	case `\mod`:
		return "write %"
	case `\and`, `\wedge`:
		return `write /\`
	case `\or`, `\vee`:
		return `write \/`
	case `\not`:
		return "write ~"
	case `\mapsto`:
		return "write |->"
	case `\langle`, `\rangle`:
		return "write << and >>"
	}
	return ""
}
