package lower

import "github.com/ashlar-dev/ashlar/tla/core"

// ENABLED binds the primed variables below it. So where an instance puts an
// expression e in the place of a variable x, x' below ENABLED is not e', but
// any value ("Specifying Systems", 17.8): the abstract step must be possible,
// whether or not a step of the specification makes it. Fairness in an
// instantiated module, as in PROPERTY Abstract!Spec, says ENABLED without
// writing it.
//
// For that each such variable gets a shadow, and each instance two more
// contexts: one for what stands below ENABLED, in which x is e, and one for
// what stands primed there, in which x is the shadow.

// abstract says whether the instance puts anything but variables in the place
// of variables.
func (c *context) abstract() bool {
	for _, e := range c.variables {
		if _, ok := e.(*core.VarRef); !ok {
			return true
		}
	}
	return false
}

// belowEnabled is the context of what stands below ENABLED.
func (c *context) belowEnabled() *context {
	if c.possible != nil {
		return c.possible
	}
	derived := func(variables map[*core.Variable]core.Expr) *context {
		return &context{p: c.p, step: c.step, params: c.params, constants: c.constants, variables: variables,
			copies: map[*core.Def]*core.Def{}, depends: map[*core.Def]bool{}, let: c.let}
	}
	shadows := map[*core.Variable]core.Expr{}
	for v, e := range c.variables {
		if _, ok := e.(*core.VarRef); ok {
			shadows[v] = e
			continue
		}
		s := &core.Variable{Name: v.Name, Span: v.Span}
		c.p.shadows = append(c.p.shadows, s)
		shadows[v] = &core.VarRef{Var: s, At: core.At{Place: v.Span}}
	}
	c.possible = derived(c.variables)
	c.possible.next = derived(shadows)
	return c.possible
}

// fair is the instance's WF_v(A) or SF_v(A).
func (c *context) fair(x *core.Fair, again func(core.Expr) core.Expr) core.Expr {
	if !c.abstract() {
		return nil
	}
	possible := x.Possible
	if possible == nil {
		possible = &core.Angle{At: x.At, Action: x.Action, Sub: x.Sub}
	}
	return &core.Fair{At: x.At, Strong: x.Strong, Sub: again(x.Sub), Action: again(x.Action),
		Possible: core.Transform(possible, c.belowEnabled().replace)}
}

// inEnabled is what becomes of what is about the next state below ENABLED.
func (c *context) inEnabled(x core.Expr, again func(core.Expr) core.Expr) core.Expr {
	switch x := x.(type) {
	case *core.Op:
		switch x.Op {
		case core.OpPrime:
			return &core.Op{At: x.At, Op: core.OpPrime, Args: []core.Expr{core.Transform(x.Args[0], c.next.replace)}}
		case core.OpUnchanged:
			return c.unchanged(x.Args[0], x.At, again)
		}
	case *core.Angle:
		changed := &core.Op{At: x.At, Op: core.OpNot, Args: []core.Expr{c.unchanged(x.Sub, x.At, again)}}
		return &core.And{At: x.At, List: []core.Expr{again(x.Action), changed}}
	}
	return nil
}

// unchanged is v' = v for each variable v of e, where e is a tuple of them or a
// name for one, so that each is given its value.
func (c *context) unchanged(e core.Expr, at core.At, again func(core.Expr) core.Expr) core.Expr {
	switch x := e.(type) {
	case *core.Tuple:
		list := make([]core.Expr, len(x.Elems))
		for i, y := range x.Elems {
			list[i] = c.unchanged(y, at, again)
		}
		return &core.And{At: at, List: list}
	case *core.Call:
		if c.p.tasks[x.Def] != nil {
			c.p.complete(x.Def)
		}
		if x.Def.Body != nil && len(x.Args) == 0 && !x.Def.Recursive {
			return c.unchanged(x.Def.Body, at, again)
		}
	}
	next := &core.Op{At: at, Op: core.OpPrime, Args: []core.Expr{core.Transform(e, c.next.replace)}}
	return &core.Op{At: at, Op: core.OpEq, Args: []core.Expr{next, again(e)}}
}
