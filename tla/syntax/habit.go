package syntax

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/source"
)

// What people write by habit, of other languages or of their hands, and what
// they mean by it. A message about it names it where it stands, and not where
// the text first makes no sense.

// habit is the repair of a token that stands where code expects another, ""
// where nothing is known of it.
func habit(code source.Code, t *token) string {
	switch {
	case code == UnitExpected && t.is(kindPunct, "=="):
		return "write = to compare; == defines"
	case code == UnitExpected && t.is(kindPunct, ";"):
		return "remove it: nothing stands between definitions"
	case code == ExpressionExpected && t.is(kindOp, "'"):
		return `write " around a string`
	}
	return ""
}

// meantBefore reports what stands right before the next token and was not meant
// as it was read; it says whether there is such a thing.
func (p *parser) meantBefore() bool {
	if p.broken || p.i < 2 {
		return false
	}
	a, b := &p.toks[p.i-2], &p.toks[p.i-1]
	if a.is(kindPunct, "!") && b.is(kindOp, "=") && a.end == b.start {
		p.fail(source.Diagnostic{
			Code: UnitExpected, Span: source.Span{File: p.file, Start: a.start, End: b.end},
			Message: "`!=` is no symbol of the language", Repair: "write # or /=",
		})
		return true
	}
	return false
}

// halfTuple reports a tuple that ends in > instead of >>, where an operand was
// expected after the >; it says whether that is so.
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

// halfTupleMax is how many tokens before a > are looked at.
const halfTupleMax = 64

// conjoined is what a conflict of operators comes from where && or || was meant
// as /\ or \/, which bind weaker than comparisons.
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

// moreNames reads the further names of a declaration, each by next. A comma
// with nothing after it but the next unit, and two names without a comma, are
// reported where they are.
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
