// SPDX-License-Identifier: Apache-2.0

package lower

import "github.com/ashlar-dev/ashlar/internal/tla/core"

// ENABLED A binds the primed variables of the module in which it is written. In
// an instance of that module that substitutes an expression e for the variable
// x, x' below ENABLED is therefore not e' but a separate variable ("Specifying
// Systems", 17.8): the step of the instantiated module must be possible,
// whether or not a step of the specification makes it. Fairness contains
// ENABLED implicitly, as in PROPERTY Abstract!Spec.
//
// Such a variable is a shadow (core.Spec), and an instance has two more
// contexts: one for expressions below ENABLED, in which x is e, and one for
// primed expressions there, in which x is the shadow. Three things could carry
// a primed variable across the border between the contexts, so they are
// expanded before it: definitions of a LET around ENABLED or a prime, arguments
// that reach an ENABLED in the operator that they are passed to, and, below
// ENABLED, arguments that may be primed there.
//
// If the instance substitutes distinct variables for distinct variables, the
// names of the primed ones make no difference, and they need no shadow. The
// exception is an argument from outside that reaches an ENABLED of the
// instance: it contains primed variables that are not the instance's. See
// apart.

// shadowed returns the variables of the instantiated module that need a shadow.
func (c *context) shadowed() map[*core.Variable]bool {
	users := map[*core.Variable]int{}
	for _, e := range c.variables {
		if ref, ok := e.(*core.VarRef); ok {
			users[ref.Var]++
		}
	}
	need := map[*core.Variable]bool{}
	for v, e := range c.variables {
		if ref, ok := e.(*core.VarRef); c.all || !ok || users[ref.Var] > 1 {
			need[v] = true
		}
	}
	return need
}

// derived returns a context of the same instance with other variables.
func (c *context) derived(variables map[*core.Variable]core.Expr) *context {
	return &context{p: c.p, step: c.step, params: c.params, constants: c.constants, variables: variables, order: c.order,
		copies: map[*core.Def]*core.Def{}, depends: map[*core.Def]bool{}, let: c.let}
}

// belowEnabled returns the context for expressions below ENABLED. If no
// variable needs a shadow, it is c itself.
func (c *context) belowEnabled() *context {
	if c.possible != nil {
		return c.possible
	}
	c.possible = c
	need := c.shadowed()
	if len(need) == 0 {
		return c
	}
	next := map[*core.Variable]core.Expr{}
	for _, v := range c.order {
		next[v] = c.variables[v]
		if need[v] {
			s := &core.Variable{Name: v.Name, Span: v.Span}
			c.p.shadows = append(c.p.shadows, s)
			next[v] = &core.VarRef{Var: s, At: core.At{Place: v.Span}}
		}
	}
	below := c.derived(c.variables)
	below.next = c.derived(next)
	below.possible, below.next.possible = below, below.next
	below.separate, below.next.separate = below, below.next
	c.possible = below
	return below
}

// apart returns the context of the same instance in which every variable has a
// shadow.
func (c *context) apart() *context {
	if c.separate == nil {
		c.separate = c
		if len(c.shadowed()) < len(c.variables) {
			c.separate = c.derived(c.variables)
			c.separate.all = true
			c.separate.separate = c.separate
		}
	}
	return c.separate
}

// apart returns the version of d, a definition made by instances, that their
// apart contexts make.
func (p *Program) apart(d *core.Def) *core.Def {
	o, ok := p.origins[d]
	if !ok {
		return d
	}
	return o.context.apart().copy(p.apart(o.def))
}

// outside redirects calls that pass an argument to a definition of an instance
// in which the argument can reach ENABLED. They then call the version of the
// definition in which every variable is apart.
func (p *Program) outside(e core.Expr) core.Expr {
	return core.Transform(e, func(x core.Expr, again func(core.Expr) core.Expr) core.Expr {
		call, ok := x.(*core.Call)
		if !ok {
			return nil
		}
		if _, ok := p.origins[call.Def]; !ok {
			return nil
		}
		given := 0 // to instances
		for _, s := range call.Def.Path {
			given += s.Params
		}
		if !mayBePrimed(call.Args[given:]) || !p.asksEnabled(call.Def) {
			return nil
		}
		d := p.apart(call.Def)
		if d == call.Def {
			return nil
		}
		p.complete(d)
		args := make([]core.Expr, len(call.Args))
		for i, a := range call.Args {
			args[i] = again(a)
		}
		return &core.Call{At: call.At, Def: d, Args: args}
	})
}

// mayBePrimed reports whether an argument depends on a variable, or on a name
// that may denote an expression that does.
func mayBePrimed(args []core.Expr) bool {
	found := false
	for _, a := range args {
		found = found || core.LevelOf(a) > core.ConstantLevel
		core.Walk(a, func(x core.Expr) bool {
			switch x.(type) {
			case *core.LocalRef, *core.Lambda:
				found = true
			}
			return !found
		})
	}
	return found
}

// asksEnabled reports whether d reaches ENABLED or fairness.
func (p *Program) asksEnabled(d *core.Def) bool {
	if answer, ok := p.asks[d]; ok {
		return answer
	}
	seen := map[*core.Def]bool{d: true}
	found := false
	for work := []*core.Def{d}; len(work) > 0 && !found; {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if x.Body == nil {
			continue
		}
		core.Walk(x.Body, func(e core.Expr) bool {
			switch e := e.(type) {
			case *core.Fair:
				found = true
			case *core.Op:
				found = found || e.Op == core.OpEnabled
			}
			return !found
		})
		core.Calls(x.Body, func(y *core.Def) {
			found = found || p.asks[y]
			if !seen[y] {
				seen[y] = true
				work = append(work, y)
			}
		})
	}
	p.asks[d] = found
	return found
}

// crossing rewrites the forms in which x' is not e'.
func (c *context) crossing(x core.Expr, again func(core.Expr) core.Expr) core.Expr {
	below := c.belowEnabled()
	if below == c && c.next == nil {
		return nil
	}
	switch x := x.(type) {
	case *core.Fair:
		possible := x.Possible
		if possible == nil {
			possible = &core.Angle{At: x.At, Action: x.Action, Sub: x.Sub}
		}
		return &core.Fair{At: x.At, Strong: x.Strong, Sub: again(x.Sub), Action: again(x.Action),
			Possible: core.Transform(c.p.freestanding(possible), below.replace)}
	case *core.Op:
		switch {
		case x.Op == core.OpCompose:
			c.p.diags.Errorf(x.Place, ComposedInInstance, "\\cdot cannot be used in a module that is instantiated with expressions for variables, or with one variable for two")
			return &core.Bad{At: x.At}
		case x.Op == core.OpEnabled && below != c:
			return &core.Op{At: x.At, Op: x.Op, Args: []core.Expr{core.Transform(c.p.freestanding(x.Args[0]), below.replace)}}
		case x.Op == core.OpPrime && c.next != nil:
			return c.prime(x.Args[0], x.At)
		case x.Op == core.OpUnchanged && c.next != nil:
			return c.unchanged(x.Args[0], x.At, again)
		}
	case *core.Angle:
		if c.next != nil {
			changed := &core.Op{At: x.At, Op: core.OpNot, Args: []core.Expr{c.unchanged(x.Sub, x.At, again)}}
			return &core.And{At: x.At, List: []core.Expr{again(x.Action), changed}}
		}
	case *core.Box:
		if c.next != nil {
			return &core.Or{At: x.At, List: []core.Expr{again(x.Action), c.unchanged(x.Sub, x.At, again)}}
		}
	case *core.Call:
		if body := c.unfolded(x); body != nil {
			return again(body)
		}
	}
	return nil
}

// prime is e' below ENABLED.
func (c *context) prime(e core.Expr, at core.At) core.Expr {
	return &core.Op{At: at, Op: core.OpPrime, Args: []core.Expr{core.Transform(c.p.freestanding(e), c.next.replace)}}
}

// unchanged returns v' = v for each variable v of e, so that each is given its
// value. e must be a tuple of variables or a name for one.
func (c *context) unchanged(e core.Expr, at core.At, again func(core.Expr) core.Expr) core.Expr {
	switch x := e.(type) {
	case *core.Tuple:
		list := make([]core.Expr, len(x.Elems))
		for i, y := range x.Elems {
			list[i] = c.unchanged(y, at, again)
		}
		return &core.And{At: at, List: list}
	case *core.Call:
		if x.Def.Body != nil && len(x.Args) == 0 && !x.Def.Recursive {
			return c.unchanged(x.Def.Body, at, again)
		}
	}
	return &core.Op{At: at, Op: core.OpEq, Args: []core.Expr{c.prime(e, at), again(e)}}
}

// unfolded returns the body of the operator that x applies, with the arguments
// substituted, if an argument could be primed in a context other than this one.
// Otherwise it returns nil.
func (c *context) unfolded(x *core.Call) core.Expr {
	d := x.Def
	if d.Native || d.Body == nil || len(x.Args) == 0 {
		return nil
	}
	crosses := c.p.asksEnabled(d)
	primes := c.next != nil && d.Level >= core.ActionLevel
	found := false
	for _, a := range x.Args {
		switch a.(type) {
		case *core.OpRef, *core.Lambda:
			found = found || (crosses || c.next != nil) && core.LevelOf(a) >= core.ActionLevel
		}
		found = found || (crosses || primes) && c.reaches(a)
	}
	switch {
	case !found:
		return nil
	case d.Recursive:
		c.p.diags.Errorf(x.Place, RecursiveInInstance, "the argument of %s reaches ENABLED or a prime in an operator that is recursive; where the module is instantiated with expressions for variables, that cannot be followed", d.Name)
		return &core.Bad{At: x.At}
	}
	return c.p.bounded(applied(d, x.Args))
}

// reaches reports whether e mentions something that is replaced, or a definition
// of a LET, which may mention it.
func (c *context) reaches(e core.Expr) bool {
	found := c.direct(e)
	core.Calls(e, func(d *core.Def) { found = found || c.p.nested(d) || c.dependent(d) })
	return found
}

// applied returns the body of d with arguments substituted for its parameters.
func applied(d *core.Def, args []core.Expr) core.Expr {
	values := map[*core.Local]core.Expr{}
	for i, a := range args {
		values[d.Params[i]] = a
	}
	return core.Substitute(core.Rename(d.Body), values)
}

// freestanding returns e without calls of definitions of an enclosing LET, so that
// e can be rewritten differently from that LET. It replaces the calls by the
// bodies or, if a definition is recursive, puts the definitions in a LET of their
// own.
func (p *Program) freestanding(e core.Expr) core.Expr {
	var defs []*core.Def // each after those it uses
	recursive := false
	seen := map[*core.Def]bool{}
	core.Walk(e, func(x core.Expr) bool {
		if l, ok := x.(*core.Let); ok {
			for _, d := range l.Defs {
				seen[d] = true
			}
		}
		return true
	})
	var visit func(core.Expr)
	visit = func(e core.Expr) {
		core.Calls(e, func(d *core.Def) {
			if seen[d] || !p.nested(d) {
				return
			}
			seen[d] = true
			recursive = recursive || d.Recursive
			visit(d.Body)
			defs = append(defs, d)
		})
	}
	visit(e)
	switch {
	case len(defs) == 0:
		return e
	case recursive:
		return p.bounded(core.Rename(&core.Let{At: core.At{Place: e.Span()}, Defs: defs, Body: e}))
	}
	around := map[*core.Def]bool{}
	for _, d := range defs {
		around[d] = true
	}
	var inPlace func(e core.Expr) core.Expr
	inPlace = func(e core.Expr) core.Expr {
		return core.Transform(e, func(x core.Expr, again func(core.Expr) core.Expr) core.Expr {
			switch x := x.(type) {
			case *core.Call:
				if !around[x.Def] {
					return nil
				}
				args := make([]core.Expr, len(x.Args))
				for i, a := range x.Args {
					args[i] = again(a)
				}
				return p.bounded(inPlace(applied(x.Def, args)))
			case *core.OpRef:
				if !around[x.Def] {
					return nil
				}
				return inPlace(lambda(x.Def, nil, x.At))
			}
			return nil
		})
	}
	return inPlace(e)
}

// nested reports whether d is a definition of a LET.
func (p *Program) nested(d *core.Def) bool {
	t := p.tasks[d]
	return t == nil || t.nested
}
