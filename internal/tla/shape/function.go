// SPDX-License-Identifier: Apache-2.0

package shape

import (
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

func (in *inference) function(sc *Scope, e *core.Fn) *node {
	at := e.Span()
	elem := in.fresh(at)
	keys := make([]*node, 0, len(e.Binds))
	for _, b := range e.Binds {
		in.bindOne(sc, b)
		if b.Tuple {
			keys = append(keys, in.bound(sc, b))
			continue
		}
		for _, v := range b.Vars {
			keys = append(keys, sc.bind(v))
		}
	}
	key := keys[0]
	if len(keys) > 1 {
		key = in.tupleOf(keys, at)
	}
	fn := in.fnOf(key, elem, at)
	fn.counting = len(keys) == 1 && fromOne(e.Binds[0].Set)
	for _, b := range e.Binds {
		in.endlessAs(fn, in.expr(sc, b.Set))
	}
	if e.Self != nil {
		in.unify(sc.bind(e.Self), fn, at)
	}
	in.unify(elem, in.expr(sc, e.Body), e.Body.Span())
	return fn
}

func (in *inference) except(sc *Scope, e *core.Except) *node {
	base := in.expr(sc, e.Fn)
	for _, u := range e.Updates {
		n := base
		for _, ix := range u.Path {
			r := in.fresh(e.Span())
			if ix.X == nil {
				in.selectField(n, ix.Field, r, e.Span())
			} else {
				in.apply(n, in.expr(sc, ix.X), ix.X, r, e.Span())
			}
			n = r
		}
		if u.At != nil {
			in.unify(sc.bind(u.At), n, u.Value.Span())
		}
		in.unify(n, in.expr(sc, u.Value), u.Value.Span())
	}
	return base
}

// apply adds the constraint that r is f applied to arg.
func (in *inference) apply(f, arg *node, x core.Expr, r *node, at source.Span) {
	decided := false
	in.each(f, func(in *inference, n *node) {
		switch n.kind {
		case Any:
			in.makeAny(r, n.why)
		case Fn:
			in.unify(r, n.elem, at)
			if !decided {
				in.compare(arg, n.key, at)
			}
			decided = true
		case Seq:
			in.unify(r, n.elem, at)
			if !decided {
				in.want(arg, Int, at)
			}
			decided = true
		case Tuple:
			if lit, ok := x.(*core.Int); ok {
				if lit.Val >= 1 && lit.Val <= int64(len(n.elems)) {
					in.unify(r, n.elems[lit.Val-1], at)
				}
				return
			}
			in.unify(n, in.seqOf(r, at), at)
		case Record:
			if lit, ok := x.(*core.Str); ok {
				in.pickField(n, lit.Val, r, at)
				return
			}
			for _, name := range n.fieldNames() {
				in.unify(r, n.fields[name].node, at)
			}
		}
	})
}

// selectField adds the constraint that r is field name of x.
func (in *inference) selectField(x *node, name string, r *node, at source.Span) {
	in.each(x, func(in *inference, n *node) {
		switch n.kind {
		case Any:
			in.makeAny(r, n.why)
		case Record:
			in.pickField(n, name, r, at)
		case Fn:
			in.unify(r, n.elem, at)
		}
	})
}

func (in *inference) pickField(n *node, name string, r *node, at source.Span) {
	if f := n.fields[name]; f != nil {
		in.unify(r, f.node, at)
	}
}

// domain adds the constraint that r is DOMAIN f.
func (in *inference) domain(f, r *node, at source.Span) {
	in.each(f, func(in *inference, n *node) {
		switch n.kind {
		case Any:
			in.makeAny(r, n.why)
		case Fn:
			in.unify(r, in.setOf(n.key, at), at)
		case Seq:
			in.unify(r, in.setOf(in.of(Int, at), at), at)
		case Tuple:
			// f may become a sequence, whose domain has the same shape.
			in.unify(r, in.setOf(in.of(Int, at), at), at)
		case Record:
			in.unify(r, in.setOf(in.of(Str, at), at), at)
		}
	})
}
