// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// operatorOf returns the operator at the root of an expression, nil if there
// is none.
func operatorOf(x Expr) *Operator {
	switch x := x.(type) {
	case *Infix:
		return infixes[x.Op.Text]
	case *Product:
		return infixes[`\X`]
	case *Prefix:
		return prefixes[x.Op.Text]
	case *Postfix:
		return postfixes[x.Op.Text]
	}
	return nil
}

// isOpen reports whether an expression extends as far to the right as it can, or
// is a list whose end is determined by columns. As an operand, such an
// expression needs parentheses.
func isOpen(x Expr) bool {
	switch x.(type) {
	case *Junction, *Quant, *Choose, *If, *Case, *Let, *Lambda, *Label, *AssumeProve, *OpRef:
		return true
	}
	return false
}

// parenthesize reports whether x needs parentheses as an operand of op.
func parenthesize(x Expr, op *Operator, left bool) bool {
	if isOpen(x) {
		return true
	}
	inner := operatorOf(x)
	if inner == nil {
		return false
	}
	switch op.Fixity {
	case PrefixOp:
		// A chain of prefix operators must reduce from the inside whatever
		// operator follows it. `--` is an operator of its own.
		return inner.Fixity == InfixOp || inner.Fixity == PrefixOp && (inner.Low < op.Low || inner.Name == "-." && op.Name == "-.")
	case PostfixOp:
		return inner.Fixity != PostfixOp
	}
	if inner.Fixity == PostfixOp {
		return false
	}
	if _, product := x.(*Product); left && inner == op && op.LeftAssociative && !product {
		return false
	}
	return inner.Low <= op.High
}

// operand writes x as an operand of op.
func (pr *printer) operand(x Expr, op *Operator, left bool) {
	pr.maybeParen(x, parenthesize(x, op, left))
}

func (pr *printer) maybeParen(x Expr, paren bool) {
	if paren {
		pr.put("(")
	}
	pr.expr(x)
	if paren {
		pr.put(")")
	}
}

// selected writes the expression that [i] or .f is applied to.
func (pr *printer) selected(x Expr) {
	paren := isOpen(x)
	switch x := x.(type) {
	case *Infix, *Prefix, *Product, *Action, *Fairness, *Number:
		paren = true
	case *Path:
		// A number at the end would take the point as its decimal point.
		paren = x.Steps[len(x.Steps)-1].Kind == StepIndex
	}
	pr.maybeParen(x, paren)
}

// expr writes an expression without parentheses around it.
func (pr *printer) expr(x Expr) {
	switch x := x.(type) {
	case *Ident:
		pr.put(x.Name)
	case *Apply:
		pr.put(x.Op.Text)
		pr.args(x.Args, pr.fits(x))
	case *Path:
		pr.path(x)
	case *OpRef:
		pr.put(x.Op)
	case *Lambda:
		pr.put("LAMBDA ")
		pr.names(x.Params)
		pr.put(" : ")
		pr.expr(x.Body)
	case *Prefix:
		pr.prefix(x)
	case *Infix:
		pr.infix(x)
	case *Postfix:
		pr.operand(x.X, postfixes[x.Op.Text], true)
		pr.put(x.Op.Text)
	case *Junction:
		pr.junction(x)
	case *Product:
		pr.product(x)
	case *Index:
		pr.selected(x.Fn)
		pr.put("[")
		pr.exprs(x.Args, true)
		pr.put("]")
	case *Field:
		pr.selected(x.X)
		pr.put(".", x.Name.Text)
	case *At:
		pr.put("@")
	case *Tuple:
		pr.put("<<")
		pr.exprs(x.Elems, pr.fits(x))
		pr.put(">>")
	case *Number:
		pr.number(x)
	case *String:
		pr.put(Quote(x.Value))
	case *Dollar:
		pr.put(x.Name)
	case *RefArg:
		pr.put("ref ", x.Name.Text, strings.Repeat("[_]", x.Indices))
	case *BadExpr:
		pr.raw(x.Span())
	default:
		pr.construct(x)
	}
}

// construct writes an expression that starts with its own word or bracket.
func (pr *printer) construct(x Expr) {
	column := pr.column
	switch x := x.(type) {
	case *Quant:
		pr.put([...]string{`\A `, `\E `, `\AA `, `\EE `}[x.Kind])
		pr.bounds(x.Bounds)
		pr.bodyAfterColon(x.Body, column)
	case *Choose:
		pr.put("CHOOSE ")
		pr.bound(x.Bound)
		pr.bodyAfterColon(x.Body, column)
	case *If:
		pr.ifExpr(x)
	case *Case:
		pr.caseExpr(x)
	case *Let:
		pr.let(x)
	case *Action:
		pr.action(x)
	case *Fairness:
		pr.put(map[bool]string{false: "WF_", true: "SF_"}[x.Strong])
		pr.subscript(x.Vars, true)
		pr.put("(")
		pr.expr(x.Body)
		pr.put(")")
	case *Label:
		pr.put(x.Name.Text)
		if len(x.Params) > 0 {
			pr.put("(")
			pr.names(x.Params)
			pr.put(")")
		}
		pr.put(" :: ")
		pr.expr(x.Body)
	case *AssumeProve:
		pr.assumeProve(x)
	default:
		pr.collection(x)
	}
}

// collection writes sets, functions and records.
func (pr *printer) collection(x Expr) {
	switch x := x.(type) {
	case *SetEnum:
		pr.put("{")
		pr.exprs(x.Elems, pr.fits(x))
		pr.put("}")
	case *SetFilter:
		pr.put("{")
		b := x.Bound
		pr.pattern(b)
		pr.put(` \in `)
		pr.operand(b.Set, infixes[`\in`], false)
		pr.put(" : ")
		pr.expr(x.Pred)
		pr.put("}")
	case *SetMap:
		pr.put("{")
		_, filter := filterBound(x.Elem)
		pr.maybeParen(x.Elem, filter)
		pr.put(" : ")
		pr.bounds(x.Bounds)
		pr.put("}")
	case *Fn:
		pr.put("[")
		pr.bounds(x.Bounds)
		pr.put(" |-> ")
		pr.expr(x.Body)
		pr.put("]")
	case *FnSet:
		pr.put("[")
		pr.expr(x.Domain)
		pr.put(" -> ")
		pr.expr(x.Range)
		pr.put("]")
	case *Record:
		pr.put("[")
		pr.fields(x.Fields, " |-> ", pr.fits(x))
		pr.put("]")
	case *RecordSet:
		pr.put("[")
		pr.fields(x.Fields, " : ", pr.fits(x))
		pr.put("]")
	case *Except:
		pr.put("[")
		pr.expr(x.X)
		pr.put(" EXCEPT ")
		pr.list(len(x.Updates), pr.fits(x), func(i int) {
			pr.put("!")
			pr.accessors(x.Updates[i].Path)
			pr.put(" = ")
			pr.expr(x.Updates[i].Value)
		})
		pr.put("]")
	default:
		invariant.Unreachable(x)
	}
}

func (pr *printer) exprs(list []Expr, fits bool) {
	pr.list(len(list), fits, func(i int) { pr.expr(list[i]) })
}

// args writes arguments in parentheses. A lone symbol is separated from them:
// `(+)` is an operator, and `(*` starts a comment.
func (pr *printer) args(args []Expr, fits bool) {
	pr.put("(")
	if len(args) > 0 {
		if _, ok := args[0].(*OpRef); ok {
			pr.put(" ")
		}
	}
	pr.exprs(args, fits)
	if len(args) > 0 {
		if _, ok := args[len(args)-1].(*OpRef); ok {
			pr.put(" ")
		}
	}
	pr.put(")")
}

func (pr *printer) path(x *Path) {
	for i, s := range x.Steps {
		if i > 0 {
			pr.put("!")
		}
		switch s.Kind {
		case StepName:
			pr.put(s.Name)
			if len(s.Args) > 0 {
				pr.args(s.Args, true)
			}
		case StepIndex:
			pr.put(strconv.Itoa(s.Index))
		case StepLeft:
			pr.put("<<")
		case StepRight:
			pr.put(">>")
		case StepColon:
			pr.put(":")
		case StepAt:
			pr.put("@")
		case StepArgs:
			pr.args(s.Args, true)
		default:
			invariant.Unreachable(s)
		}
	}
}

func (pr *printer) prefix(x *Prefix) {
	switch op := x.Op.Text; op {
	case "-.":
		pr.put("-")
	case "~", "[]", "<>":
		pr.put(op)
	default:
		pr.put(op, " ")
	}
	pr.operand(x.X, prefixes[x.Op.Text], false)
}

func (pr *printer) infix(x *Infix) {
	op := infixes[x.Op.Text]
	column := pr.column
	fits := pr.fits(x) || !op.LeftAssociative && op.Low > 2
	pr.operand(x.Left, op, true)
	if fits {
		pr.put(" ")
	} else {
		pr.line(column)
	}
	pr.put(x.Op.Text, " ")
	pr.operand(x.Right, op, false)
}

func (pr *printer) product(x *Product) {
	op := infixes[`\X`]
	for i, f := range x.Factors {
		if i > 0 {
			pr.put(` \X `)
		}
		pr.operand(f, op, i == 0)
	}
}

func (pr *printer) junction(x *Junction) {
	column := pr.column
	for i, item := range x.Items {
		if i > 0 {
			pr.line(column)
		}
		pr.put(x.Op.Text, " ")
		pr.expr(item)
	}
}

func (pr *printer) number(x *Number) {
	switch x.Base {
	case 2:
		pr.put(`\b`)
	case 8:
		pr.put(`\o`)
	case 16:
		pr.put(`\h`)
	}
	pr.put(x.Digits)
	if x.Fraction != "" {
		pr.put(".", x.Fraction)
	}
}

// Quote writes a string as a literal of TLA+.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\t':
			b.WriteString(`\t`)
		case '\n':
			b.WriteString(`\n`)
		case '\f':
			b.WriteString(`\f`)
		case '\r':
			b.WriteString(`\r`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (pr *printer) pattern(b Bound) {
	if b.Tuple {
		pr.put("<<")
	}
	pr.names(b.Names)
	if b.Tuple {
		pr.put(">>")
	}
}

func (pr *printer) bound(b Bound) {
	pr.pattern(b)
	if b.Set != nil {
		pr.put(` \in `)
		pr.expr(b.Set)
	}
}

func (pr *printer) bounds(bounds []Bound) {
	pr.list(len(bounds), true, func(i int) { pr.bound(bounds[i]) })
}

// bodyAfterColon writes the body of a form that binds names and starts at a
// column.
func (pr *printer) bodyAfterColon(x Expr, column int) {
	pr.put(" :")
	pr.body(x, column+indentColumns)
}

func (pr *printer) ifExpr(x *If) {
	column := pr.column
	fits := pr.fits(x)
	brk := func() {
		if fits {
			pr.put(" ")
		} else {
			pr.line(column + 2)
		}
	}
	pr.put("IF ")
	pr.expr(x.Cond)
	brk()
	pr.put("THEN ")
	pr.expr(x.Then)
	brk()
	pr.put("ELSE ")
	pr.expr(x.Else)
}

func (pr *printer) caseExpr(x *Case) {
	column := pr.column
	fits := pr.fits(x)
	pr.put("CASE ")
	for i, a := range x.Arms {
		if i > 0 {
			pr.nextArm(fits, column)
		}
		pr.maybeParen(a.Guard, isOpen(a.Guard))
		pr.put(" -> ")
		pr.maybeParen(a.Value, isOpen(a.Value))
	}
	if x.Other != nil {
		pr.nextArm(fits, column)
		pr.put("OTHER -> ")
		pr.expr(x.Other)
	}
}

func (pr *printer) nextArm(fits bool, column int) {
	if fits {
		pr.put(" ")
	} else {
		pr.line(column + 2)
	}
	pr.put("[] ")
}

func (pr *printer) let(x *Let) {
	column := pr.column
	pr.put("LET ")
	for i, u := range x.Units {
		if i > 0 {
			pr.line(column + 4)
		}
		pr.unit(u)
	}
	pr.line(column)
	pr.put("IN  ")
	pr.expr(x.Body)
}

func (pr *printer) action(x *Action) {
	if x.Angle {
		pr.put("<<")
		pr.expr(x.Body)
		pr.put(">>_")
	} else {
		pr.put("[")
		pr.expr(x.Body)
		pr.put("]_")
	}
	pr.subscript(x.Vars, false)
}

// subscript writes the v of [A]_v or, with fair, of WF_v(A), where
// parentheses after a name would be taken for the action's.
func (pr *printer) subscript(x Expr, fair bool) {
	paren := true
	switch x := x.(type) {
	case *Ident, *Tuple:
		paren = false
	case *Path:
		paren = fair && x.Steps[len(x.Steps)-1].Kind != StepName
		for _, s := range x.Steps {
			paren = paren || fair && (s.Kind != StepName || len(s.Args) > 0 || infixes[s.Name] != nil || prefixes[s.Name] != nil)
		}
	}
	pr.maybeParen(x, paren)
}

func (pr *printer) fields(fields []RecordField, sep string, fits bool) {
	pr.list(len(fields), fits, func(i int) {
		pr.put(fields[i].Name.Text, sep)
		pr.expr(fields[i].Value)
	})
}

func (pr *printer) accessors(path []Accessor) {
	for _, a := range path {
		if !a.Field.IsZero() {
			pr.put(".", a.Field.Text)
			continue
		}
		pr.put("[")
		pr.exprs(a.Index, true)
		pr.put("]")
	}
}

func (pr *printer) assumeProve(x *AssumeProve) {
	column := pr.column
	pr.put("ASSUME ")
	pr.list(len(x.Items), pr.fits(x), func(i int) {
		if d, ok := x.Items[i].(*NewDecl); ok {
			pr.newDecl(d)
		} else {
			pr.node(x.Items[i])
		}
	})
	pr.line(column)
	pr.put("PROVE  ")
	pr.expr(x.Prove)
}

func (pr *printer) newDecl(d *NewDecl) {
	pr.put("NEW ", d.Kind, " ")
	pr.opDecl(d.Decl)
	if d.Set != nil {
		pr.put(` \in `)
		pr.expr(d.Set)
	}
}
