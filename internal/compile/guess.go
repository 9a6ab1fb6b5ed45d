// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// Role is the kind of resource that a ref parameter stands for in the model, as
// far as the mapping macro shows. It is a first guess for a configuration.
type Role uint8

// The roles.
const (
	// RoleVariable is read and written like a variable.
	RoleVariable Role = iota
	// RoleChannel: writes add and reads remove elements, as in a mailbox or a
	// queue.
	RoleChannel
	// RoleLength: reads return the length of a channel and remove nothing.
	RoleLength
	// RoleSignal: reads return TRUE or FALSE, chosen by the environment: a
	// failure detector, a timer.
	RoleSignal
	// RoleInput: reads return a value from the environment; there are no
	// writes.
	RoleInput
	// RoleCounter is a replicated counter.
	RoleCounter
	// RoleOther is any other resource; the user must implement it.
	RoleOther
)

// Resources is the standard module whose mapping macros have known roles.
const Resources = "AshlarResources"

// Named reports whether a mapping macro is the one of that name in the module
// Resources. Its resource is known then, whatever its text.
func Named(m *pcal.Mapping, name string) bool {
	return m != nil && m.Module == Resources && m.Name == name
}

// The mapping macros of the module Resources.
const (
	StrictMailbox   = "StrictMailbox"
	RelaxedMailbox  = "RelaxedMailbox"
	LossyMailbox    = "LossyMailbox"
	FailureDetector = "FailureDetector"
	Timer           = "Timer"
	Input           = "Input"
	Output          = "Output"
	LocalShared     = "LocalShared"
	GrowCounter     = "GrowCounter"
)

// named returns the role of a mapping macro of the module Resources.
func named(name string) Role {
	switch name {
	case StrictMailbox, RelaxedMailbox, LossyMailbox, Input, Output:
		return RoleChannel
	case FailureDetector, Timer:
		return RoleSignal
	case LocalShared:
		return RoleVariable
	case GrowCounter:
		return RoleCounter
	}
	return RoleOther
}

// RoleOf returns the role of an argument of an instance. Of a mapping macro that
// is not of the module Resources, it is a guess.
func RoleOf(a pcal.Arg) Role {
	m := a.Mapping
	if m != nil && m.Module == Resources {
		return named(m.Name)
	}
	if m == nil || isPlain(m) {
		return RoleVariable
	}
	takes := assigns(m.Read, m.Target)
	switch {
	case takes && yields(m.Write, adds):
		return RoleChannel
	case !takes && yields(m.Read, measures):
		return RoleLength
	case !takes && yields(m.Read, isTruth) && everyYield(m.Read, func(e core.Expr) bool { return isTruth(e) || isVariable(e, m.Target) }):
		return RoleSignal
	case !takes && !writes(m):
		return RoleInput
	}
	return RoleOther
}

// isPlain reports whether a mapping macro reads the variable unchanged, and
// writes either the given value or nothing.
func isPlain(m *pcal.Mapping) bool {
	only := func(list []pcal.Stmt, like func(core.Expr) bool) bool {
		if len(list) != 1 {
			return false
		}
		y, ok := list[0].(*pcal.Yield)
		return ok && like(y.X)
	}
	return only(m.Read, func(e core.Expr) bool { return isVariable(e, m.Target) }) &&
		(!writes(m) || only(m.Write, func(e core.Expr) bool {
			l, ok := e.(*core.LocalRef)
			return ok && l.Local == m.Value
		}))
}

// Reads reports whether an archetype may read a ref parameter, and Assigns
// whether it may assign it. Both are true of a parameter that the archetype
// passes on to a procedure.
func Reads(a *pcal.Archetype, p *pcal.Param) bool {
	found := false
	pcal.InspectStmts(blockStmts(a), func(st pcal.Stmt) {
		switch st := st.(type) {
		case *pcal.Call:
			found = found || passes(st, p)
		case *pcal.Assign:
			for _, pair := range st.Pairs {
				found = found || pair.Target == p.Var && pair.At != nil
			}
		}
	}, func(e core.Expr) bool {
		found = found || isVariable(e, p.Var)
		return true
	})
	return found || readsInInit(a, p)
}

// readsInInit reports whether an initial value reads a ref parameter.
func readsInInit(a *pcal.Archetype, p *pcal.Param) bool {
	found := false
	for _, l := range a.Locals {
		if l.Init == nil {
			continue
		}
		core.Walk(l.Init, func(e core.Expr) bool {
			found = found || isVariable(e, p.Var)
			return true
		})
	}
	return found
}

// Assigns is described at Reads.
func Assigns(a *pcal.Archetype, p *pcal.Param) bool {
	found := assigns(blockStmts(a), p.Var)
	eachStmt(blockStmts(a), func(st pcal.Stmt) {
		c, ok := st.(*pcal.Call)
		found = found || ok && passes(c, p)
	})
	return found
}

func passes(c *pcal.Call, p *pcal.Param) bool {
	for _, arg := range c.Args {
		if arg.Ref == p.Var {
			return true
		}
	}
	return false
}

func blockStmts(a *pcal.Archetype) []pcal.Stmt {
	var all []pcal.Stmt
	for _, b := range a.Blocks {
		all = append(all, b.Body...)
	}
	return all
}

func isVariable(e core.Expr, v *core.Variable) bool {
	r, ok := e.(*core.VarRef)
	return ok && r.Var == v
}

func assigns(list []pcal.Stmt, v *core.Variable) bool {
	found := false
	eachStmt(list, func(st pcal.Stmt) {
		if a, ok := st.(*pcal.Assign); ok {
			for _, p := range a.Pairs {
				found = found || p.Target == v
			}
		}
	})
	return found
}

// writes reports whether the write part does anything other than refuse.
func writes(m *pcal.Mapping) bool {
	found := false
	eachStmt(m.Write, func(st pcal.Stmt) {
		switch st.(type) {
		case *pcal.Assign, *pcal.Yield:
			found = true
		}
	})
	return found
}

func yields(list []pcal.Stmt, like func(core.Expr) bool) bool {
	found := false
	eachStmt(list, func(st pcal.Stmt) {
		if y, ok := st.(*pcal.Yield); ok {
			found = found || like(y.X)
		}
	})
	return found
}

func everyYield(list []pcal.Stmt, like func(core.Expr) bool) bool {
	n, all := 0, true
	eachStmt(list, func(st pcal.Stmt) {
		if y, ok := st.(*pcal.Yield); ok {
			n++
			all = all && like(y.X)
		}
	})
	return n > 0 && all
}

// Distinct reports whether a channel is a set: sending an unread message again
// does not add a second copy.
func Distinct(m *pcal.Mapping) bool { return everyYield(m.Write, unites) }

// adds reports whether e adds to a sequence, a set or a bag.
func adds(e core.Expr) bool { return appends(e) || unites(e) || calls(e, "(+)", "\\oplus") }

// appends reports whether e adds to a sequence.
func appends(e core.Expr) bool { return calls(e, "Append", "\\o") }

// unites reports whether e adds to a set.
func unites(e core.Expr) bool {
	found := false
	core.Walk(e, func(x core.Expr) bool {
		op, ok := x.(*core.Op)
		found = found || ok && op.Op == core.OpCup
		return !found
	})
	return found
}

// calls reports whether e calls one of these operators.
func calls(e core.Expr, names ...string) bool {
	found := false
	core.Walk(e, func(x core.Expr) bool {
		c, ok := x.(*core.Call)
		found = found || ok && slices.Contains(names, c.Def.Name)
		return !found
	})
	return found
}

func measures(e core.Expr) bool {
	c, ok := e.(*core.Call)
	return ok && (c.Def.Name == "Len" || c.Def.Name == "Cardinality" || c.Def.Name == "BagCardinality")
}

func isTruth(e core.Expr) bool {
	_, ok := e.(*core.Bool)
	return ok
}
