// SPDX-License-Identifier: Apache-2.0

package core

import (
	"strconv"
	"strings"
)

// bindingOf returns how tightly the text of e binds.
func (p *printer) bindingOf(e Expr) binding {
	closed := binding{low: closedHigh, high: closedHigh}
	open := binding{low: openLow, high: openLow}
	switch e := e.(type) {
	case *Int:
		if e.Val < 0 {
			return prefixBindings["-."]
		}
	case *Call:
		if len(e.Def.Path) == 0 {
			_, b := fixityOf(p.defName(e.Def), len(e.Args))
			return b
		}
	case *LocalRef:
		_, b := fixityOf(p.local(e.Local), len(e.Args))
		return b
	case *ConstRef:
		_, b := fixityOf(e.Const.Name, len(e.Args))
		return b
	case *Op:
		_, b := fixityOf(e.Op.String(), len(e.Args))
		return b
	case *And:
		return infixBindings[`/\`]
	case *Or:
		return infixBindings[`\/`]
	case *Times:
		return infixBindings[`\X`]
	case *Apply:
		return binding{low: 16, high: 16}
	case *Select:
		return binding{low: 17, high: 17}
	case *Fn:
		if e.Self != nil {
			return open
		}
	case *If, *Case, *Let, *Quant, *TemporalQuant, *Choose, *Lambda:
		return open
	}
	return closed
}

// operand writes e as an operand of an operator with the given binding. A
// bulleted list gets parentheses, because the following text would otherwise
// belong to its last item.
func (p *printer) operand(e Expr, of binding, chain bool) {
	bare := chain || p.bindingOf(e).low > of.high
	switch e.(type) {
	case *And, *Or:
		bare = bare && p.fits(func() { p.expr(e) })
	}
	if bare && !p.all {
		p.expr(e)
		return
	}
	p.parens(e)
}

func (p *printer) parens(e Expr) {
	p.emit("(")
	p.expr(e)
	p.emit(")")
}

// list writes elements separated by commas. If they do not fit on one line,
// each gets its own line.
func (p *printer) list(n int, item func(i int)) {
	column := p.col
	all := func() {
		for i := range n {
			if i > 0 {
				p.emit(", ")
			}
			item(i)
		}
	}
	if p.flat || p.fits(all) {
		all()
		return
	}
	for i := range n {
		if i > 0 {
			p.emit(",")
			p.newline(column)
		}
		item(i)
	}
}

func (p *printer) exprs(list []Expr) {
	p.list(len(list), func(i int) { p.expr(list[i]) })
}

func (p *printer) expr(e Expr) {
	if p.flat && p.over {
		return
	}
	switch e := e.(type) {
	case *Int:
		p.emit(strconv.FormatInt(e.Val, 10))
	case *Decimal:
		p.emit(e.Text)
	case *Str:
		p.emit(quote(e.Val))
	case *Bool:
		p.emit(strings.ToUpper(strconv.FormatBool(e.Val)))
	case *VarRef:
		p.emit(e.Var.Name)
	case *ConstRef:
		p.applied(e.Const.Name, e.Args)
	case *LocalRef:
		p.applied(p.local(e.Local), e.Args)
	case *Call:
		p.call(e)
	case *OpRef:
		if len(e.Def.Path) == 0 || p.defs[e.Def] != "" {
			p.emit(p.defName(e.Def))
		} else {
			p.emit(e.Def.FullName())
		}
	case *Op:
		p.applied(e.Op.String(), e.Args)
	case *And:
		p.junction(`/\`, e.List)
	case *Or:
		p.junction(`\/`, e.List)
	case *SetEnum:
		p.emit("{")
		p.exprs(e.Elems)
		p.emit("}")
	case *Tuple:
		p.emit("<<")
		p.exprs(e.Elems)
		p.emit(">>")
	case *Times:
		for i, s := range e.Sets {
			if i > 0 {
				p.emit(` \X `)
			}
			p.operand(s, infixBindings[`\X`], false)
		}
	case *FnSet:
		p.emit("[")
		p.expr(e.Dom)
		p.emit(" -> ")
		p.expr(e.Rng)
		p.emit("]")
	case *Apply:
		p.apply(e)
	case *Record:
		p.fields(e.Fields, " |-> ")
	case *RecordSet:
		p.fields(e.Fields, " : ")
	case *Select:
		p.operand(e.X, binding{low: 16, high: 15}, false)
		p.emit("." + e.Field)
	case *Except:
		p.except(e)
	case *Box:
		p.emit("[")
		p.expr(e.Action)
		p.emit("]_")
		p.subscript(e.Sub)
	case *Angle:
		p.emit("<<")
		p.expr(e.Action)
		p.emit(">>_")
		p.subscript(e.Sub)
	case *Fair:
		if e.Strong {
			p.emit("SF_")
		} else {
			p.emit("WF_")
		}
		p.subscript(e.Sub)
		p.emit("(")
		p.expr(e.Action)
		p.emit(")")
	case *Bad:
		p.emit("FALSE (* not understood *)")
	default:
		p.binder(e)
	}
}

// quote writes a string literal.
func quote(s string) string {
	r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "\f", `\f`)
	return `"` + r.Replace(s) + `"`
}

// subscript writes the text after _.
func (p *printer) subscript(e Expr) {
	switch e := e.(type) {
	case *VarRef, *Tuple:
		p.expr(e)
		return
	case *Call:
		if len(e.Args) == 0 {
			p.expr(e)
			return
		}
	}
	p.parens(e)
}

// applied writes the application of a name to arguments as its fixity requires.
func (p *printer) applied(name string, args []Expr) {
	fix, b := fixityOf(name, len(args))
	switch fix {
	case prefix:
		p.prefixed(name, args[0], b)
	case infix:
		left := p.bindingOf(args[0])
		p.operand(args[0], b, b.left && left == b && p.infixName(args[0]) == name)
		p.emit(" " + name + " ")
		p.operand(args[1], b, false)
	case postfix:
		p.operand(args[0], b, false)
		p.emit(name)
	default:
		p.emit(name)
		if len(args) > 0 {
			p.emit("(")
			p.exprs(args)
			p.emit(")")
		}
	}
}

func (p *printer) prefixed(name string, x Expr, b binding) {
	written := name
	switch {
	case name == "-.":
		written = "-"
	case name[0] >= 'A' && name[0] <= 'Z':
		written = name + " "
	}
	p.emit(written)
	// A prefix operator before another one needs no parentheses, except that -
	// before - would read as one operator.
	inner, isOp := x.(*Op)
	p.operand(x, b, isOp && len(inner.Args) == 1 && inner.Op != OpPrime && name != "-.")
}

// infixName is the infix operator at the root of the text of e, or "".
func (p *printer) infixName(e Expr) string {
	switch e := e.(type) {
	case *Call:
		if len(e.Args) == 2 && len(e.Def.Path) == 0 {
			return p.defName(e.Def)
		}
	case *LocalRef:
		if len(e.Args) == 2 {
			return p.local(e.Local)
		}
	case *ConstRef:
		if len(e.Args) == 2 {
			return e.Const.Name
		}
	case *Op:
		if len(e.Args) == 2 {
			return e.Op.String()
		}
	}
	return ""
}

func (p *printer) call(e *Call) {
	if len(e.Def.Path) == 0 || p.defs[e.Def] != "" {
		p.applied(p.defName(e.Def), e.Args)
		return
	}
	args := e.Args
	for _, s := range e.Def.Path {
		p.emit(s.Name)
		if s.Params > 0 {
			p.emit("(")
			p.exprs(args[:s.Params])
			p.emit(")")
			args = args[s.Params:]
		}
		p.emit("!")
	}
	p.emit(e.Def.Name)
	if len(args) > 0 {
		p.emit("(")
		p.exprs(args)
		p.emit(")")
	}
}

func (p *printer) apply(e *Apply) {
	fn, prime := e.Fn.(*Op)
	if prime = prime && fn.Op == OpPrime; prime && !p.all {
		p.expr(fn) // x'[i]
	} else {
		p.operand(e.Fn, binding{low: 15, high: 15}, false)
	}
	p.emit("[")
	if t, ok := e.Arg.(*Tuple); ok && len(t.Elems) > 1 {
		p.exprs(t.Elems)
	} else {
		p.expr(e.Arg)
	}
	p.emit("]")
}

func (p *printer) fields(list []Field, sep string) {
	p.emit("[")
	p.list(len(list), func(i int) {
		p.emit(list[i].Name + sep)
		p.expr(list[i].X)
	})
	p.emit("]")
}
