// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// An operator symbol of a named instance is written with the instance before
// it: `a M!+ b`, `s S(x)!^#`, `M!-. a`. It binds as the symbol alone does. The
// tree has one form for all of them and for `M!+(a, b)`: a Path whose last
// step is the symbol with its operands as arguments.

// qualifier is the text before the symbol of a qualified operator, with the
// position of the symbol.
type qualifier struct {
	op *Operator
	at int // the token that is the symbol
}

// qualified finds an operator of a named instance at the next token, of the
// given fixity. It consumes no tokens.
func (p *parser) qualified(fixity Fixity) (qualifier, bool) {
	if p.tok().kind != kindIdent {
		return qualifier{}, false
	}
	for i := p.i; ; {
		i++
		if p.token(i).is(kindPunct, "(") {
			m := p.match[i]
			if m < 0 {
				return qualifier{}, false
			}
			i = int(m) + 1
		}
		if !p.token(i).is(kindPunct, "!") {
			return qualifier{}, false
		}
		i++
		switch t := p.token(i); t.kind {
		case kindIdent:
			continue
		case kindOp:
			op := qualifiedOperator(t.text, fixity)
			if op == nil || fixity == PrefixOp && p.token(i+1).is(kindPunct, "(") {
				return qualifier{}, false
			}
			return qualifier{op, i}, true
		default:
			return qualifier{}, false
		}
	}
}

// qualifiedOperator is the operator of a symbol in a fixity, or nil.
func qualifiedOperator(symbol string, fixity Fixity) *Operator {
	switch fixity {
	case PrefixOp:
		if symbol == "-" {
			symbol = "-."
		}
		return prefixes[symbol]
	case PostfixOp:
		return postfixes[symbol]
	}
	return infixes[symbol]
}

// qualifier reads the path up to the symbol of q and the symbol.
func (p *parser) qualifier(q qualifier) *Path {
	start := p.start()
	x := &Path{}
	for p.i < q.at && !p.broken {
		x.Steps = append(x.Steps, p.step())
		if !p.got("!") {
			break
		}
	}
	t := p.tok()
	if p.broken || p.i != q.at || t.kind != kindOp {
		p.unexpected(NameExpected, "a name or a selector after `!`", "")
	}
	p.advance()
	x.Steps = append(x.Steps, Step{place: place{p.spanOf(t)}, Kind: StepName, Name: q.op.Name})
	x.place = p.since(start)
	return x
}

// pushQualified reads the operator of an instance and pushes it on the stack
// until its right operand is complete.
func (p *parser) pushQualified(q qualifier) {
	path := p.qualifier(q)
	last := path.Steps[len(path.Steps)-1]
	p.ops = append(p.ops, pendingOp{op: q.op, name: Name{last.place, q.op.Name}, path: path})
}

// applied is the path with operands for its symbol.
func (x *Path) applied(at place, operands ...Expr) *Path {
	steps := append([]Step(nil), x.Steps...)
	steps[len(steps)-1].Args = operands
	return &Path{place: at, Steps: steps}
}

// nonfix reads `+(a, b)`, an infix operator written before its operands in
// parentheses. It returns nil if the next tokens are something else.
func (p *parser) nonfix(t *token) Expr {
	op := infixes[t.text]
	if next := p.peek(1); op == nil || !next.is(kindPunct, "(") || next.start != t.end {
		return nil
	}
	p.advance()
	args := p.arguments()
	if p.broken {
		return p.badExpr()
	}
	at := p.since(t.start)
	if len(args) != 2 {
		p.fail(source.Diagnostic{
			Code: ExpressionExpected, Span: at.at,
			Message: fmt.Sprintf("`%s` has a left and a right operand, found %d in parentheses after it", t.text, len(args)),
			Repair:  fmt.Sprintf("write a %s b", t.text),
		})
		return p.badExpr()
	}
	name := p.nameOf(t)
	if op.Name == `\X` {
		return &Product{place: at, Factors: args}
	}
	return &Infix{place: at, Op: name, Left: args[0], Right: args[1]}
}
