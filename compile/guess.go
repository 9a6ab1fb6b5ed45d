package compile

import (
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/pcal"
)

// Role is what stands behind a ref parameter in the model, as far as the
// mapping macro tells: a first guess for a configuration.
type Role uint8

// The roles.
const (
	// RoleVariable is read and written like a variable.
	RoleVariable Role = iota
	// RoleChannel is written by adding and read by taking away: a mailbox, or
	// a queue.
	RoleChannel
	// RoleLength reads how much is in a channel, and takes nothing.
	RoleLength
	// RoleSignal reads TRUE or FALSE as the world likes: a failure detector,
	// a timer.
	RoleSignal
	// RoleInput reads what the world gives, and is not written.
	RoleInput
)

// RoleOf guesses the role of an argument of an instance.
func RoleOf(a pcal.Arg) Role {
	m := a.Mapping
	if m == nil {
		return RoleVariable
	}
	takes := assigns(m.Read, m.Target)
	switch {
	case takes && yields(m.Write, adds):
		return RoleChannel
	case !takes && yields(m.Read, measures):
		return RoleLength
	case !takes && everyYield(m.Read, isTruth):
		return RoleSignal
	case !writes(m):
		return RoleInput
	}
	return RoleVariable
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

// writes says whether the write part does anything but refuse.
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

// adds says whether e adds to a sequence, a set or a bag.
func adds(e core.Expr) bool {
	switch e := e.(type) {
	case *core.Call:
		switch e.Def.Name {
		case "Append", "\\o", "(+)", "\\oplus", "@@":
			return true
		}
	case *core.Op:
		return e.Op == core.OpCup
	}
	return false
}

func measures(e core.Expr) bool {
	c, ok := e.(*core.Call)
	return ok && (c.Def.Name == "Len" || c.Def.Name == "Cardinality" || c.Def.Name == "BagCardinality")
}

func isTruth(e core.Expr) bool {
	_, ok := e.(*core.Bool)
	return ok
}
