package core

import "github.com/ashlar-dev/ashlar/internal/invariant"

// Children calls visit for the expressions right inside e, in the order of
// the text, the bodies of a LET's definitions included. It stops when visit
// says false, and says whether it went through.
func Children(e Expr, visit func(Expr) bool) bool {
	all := func(list []Expr) bool {
		for _, x := range list {
			if !visit(x) {
				return false
			}
		}
		return true
	}
	sets := func(binds []Bind) bool {
		for i, b := range binds {
			shared := i > 0 && binds[i-1].Set == b.Set
			if b.Set != nil && !shared && !visit(b.Set) {
				return false
			}
		}
		return true
	}
	fields := func(list []Field) bool {
		for _, f := range list {
			if !visit(f.X) {
				return false
			}
		}
		return true
	}
	switch e := e.(type) {
	case *Int, *Decimal, *Str, *Bool, *VarRef, *OpRef, *Bad:
		return true
	case *ConstRef:
		return all(e.Args)
	case *LocalRef:
		return all(e.Args)
	case *Call:
		return all(e.Args)
	case *Lambda:
		return visit(e.Body)
	case *Op:
		return all(e.Args)
	case *And:
		return all(e.List)
	case *Or:
		return all(e.List)
	case *If:
		return visit(e.Cond) && visit(e.Then) && visit(e.Else)
	case *Case:
		for _, a := range e.Arms {
			if !visit(a.Cond) || !visit(a.Body) {
				return false
			}
		}
		return e.Other == nil || visit(e.Other)
	case *Let:
		for _, d := range e.Defs {
			if d.Body != nil && !visit(d.Body) {
				return false
			}
		}
		return visit(e.Body)
	case *Quant:
		return sets(e.Binds) && visit(e.Body)
	case *TemporalQuant:
		return visit(e.Body)
	case *Choose:
		return sets([]Bind{e.Bind}) && visit(e.Body)
	case *SetEnum:
		return all(e.Elems)
	case *SetFilter:
		return sets([]Bind{e.Bind}) && visit(e.Pred)
	case *SetMap:
		return visit(e.Body) && sets(e.Binds)
	case *Fn:
		return sets(e.Binds) && visit(e.Body)
	case *FnSet:
		return visit(e.Dom) && visit(e.Rng)
	case *Apply:
		return visit(e.Fn) && visit(e.Arg)
	case *Record:
		return fields(e.Fields)
	case *RecordSet:
		return fields(e.Fields)
	case *Select:
		return visit(e.X)
	case *Except:
		if !visit(e.Fn) {
			return false
		}
		for _, u := range e.Updates {
			for _, i := range u.Path {
				if i.X != nil && !visit(i.X) {
					return false
				}
			}
			if !visit(u.Value) {
				return false
			}
		}
		return true
	case *Tuple:
		return all(e.Elems)
	case *Times:
		return all(e.Sets)
	case *Box:
		return visit(e.Action) && visit(e.Sub)
	case *Angle:
		return visit(e.Action) && visit(e.Sub)
	case *Fair:
		return visit(e.Sub) && visit(e.Action) && (e.Possible == nil || visit(e.Possible))
	}
	invariant.Unreachable(e)
	return false
}

// Walk calls visit for e and then, when visit says true, for everything
// inside it. It does not follow calls out of the expression.
func Walk(e Expr, visit func(Expr) bool) {
	if !visit(e) {
		return
	}
	Children(e, func(c Expr) bool {
		Walk(c, visit)
		return true
	})
}

// Calls calls visit for every definition that e refers to, as often as it
// does, those of a LET in e included.
func Calls(e Expr, visit func(*Def)) {
	Walk(e, func(x Expr) bool {
		switch x := x.(type) {
		case *Call:
			visit(x.Def)
		case *OpRef:
			visit(x.Def)
		}
		return true
	})
}

// Free lists the names that e uses without binding them, in the order of
// their first use. Names that a definition called by e is free in do not
// count: only a LET's definitions have such, and they lie around e.
func Free(e Expr) []*Local {
	bound := map[*Local]int{}
	seen := map[*Local]bool{}
	var out []*Local
	Scoped(e, func(ls []*Local, by int) {
		for _, l := range ls {
			bound[l] += by
		}
	}, func(x Expr) {
		if r, ok := x.(*LocalRef); ok && bound[r.Local] == 0 && !seen[r.Local] {
			seen[r.Local] = true
			out = append(out, r.Local)
		}
	})
	return out
}

// Scoped walks e like Walk and calls bind with the names that come into scope
// (by is 1) and go out of it (by is -1) around the parts that see them.
func Scoped(e Expr, bind func(names []*Local, by int), visit func(Expr)) {
	var walk func(Expr)
	within := func(names []*Local, parts ...Expr) {
		bind(names, 1)
		for _, p := range parts {
			walk(p)
		}
		bind(names, -1)
	}
	sets := func(binds []Bind) {
		for i, b := range binds {
			if b.Set != nil && (i == 0 || binds[i-1].Set != b.Set) {
				walk(b.Set)
			}
		}
	}
	walk = func(e Expr) {
		visit(e)
		switch e := e.(type) {
		case *Lambda:
			within(e.Params, e.Body)
		case *Let:
			for _, d := range e.Defs {
				if d.Body != nil {
					within(d.Params, d.Body)
				}
			}
			walk(e.Body)
		case *Quant:
			sets(e.Binds)
			within(boundBy(e.Binds), e.Body)
		case *Choose:
			sets([]Bind{e.Bind})
			within(e.Bind.Vars, e.Body)
		case *SetFilter:
			sets([]Bind{e.Bind})
			within(e.Bind.Vars, e.Pred)
		case *SetMap:
			sets(e.Binds)
			within(boundBy(e.Binds), e.Body)
		case *Fn:
			sets(e.Binds)
			names := boundBy(e.Binds)
			if e.Self != nil {
				names = append(names, e.Self)
			}
			within(names, e.Body)
		case *Except:
			walk(e.Fn)
			for _, u := range e.Updates {
				for _, i := range u.Path {
					if i.X != nil {
						walk(i.X)
					}
				}
				if u.At != nil {
					within([]*Local{u.At}, u.Value)
				} else {
					walk(u.Value)
				}
			}
		default:
			Children(e, func(c Expr) bool {
				walk(c)
				return true
			})
		}
	}
	walk(e)
}

// boundBy lists the names that binds bind, in order.
func boundBy(binds []Bind) []*Local {
	var out []*Local
	for _, b := range binds {
		out = append(out, b.Vars...)
	}
	return out
}
