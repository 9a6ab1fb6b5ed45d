// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// loss is the effect of a process's crash on the resource behind a ref
// parameter, as a name in distsys.
type loss string

const (
	keeps  loss = "Keeps"  // nothing
	starts loss = "Starts" // it starts again with the argument
	clears loss = "Clears" // what the process has not read is lost
	acts   loss = ""       // something else
)

// lossOf interprets the crash part of an argument's mapping macro.
func lossOf(arg pcal.Arg) loss {
	m := arg.Mapping
	switch {
	case m == nil || m.Crash == nil:
		if arg.Ref == nil {
			return starts
		}
		return keeps
	case arg.Ref != nil && clearsOwn(m):
		return clears
	}
	return acts
}

// clearsOwn reports whether the crash part is $variable[self] := {}, or <<>>.
func clearsOwn(m *pcal.Mapping) bool {
	if len(m.Crash) != 1 {
		return false
	}
	a, ok := m.Crash[0].(*pcal.Assign)
	if !ok || len(a.Pairs) != 1 || a.Pairs[0].Target != m.Target || len(a.Pairs[0].Path) != 1 {
		return false
	}
	self, ok := a.Pairs[0].Path[0].X.(*core.LocalRef)
	if !ok || self.Local != m.Self {
		return false
	}
	switch x := a.Pairs[0].Value.(type) {
	case *core.SetEnum:
		return len(x.Elems) == 0
	case *core.Tuple:
		return len(x.Elems) == 0
	}
	return false
}

// checkCrashes refuses effects of crashes in the specification that a crash of the
// running system does not have. Without them, the program would implement another
// specification.
func (g *generator) checkCrashes() {
	refuse := func(at source.Span, repair, format string, args ...any) {
		g.unsupportedAt(at, CrashNotCompiled, fmt.Sprintf(format, args...), repair)
	}
	for _, a := range g.alg.Archetypes {
		if a.Restart == "" {
			continue
		}
		for i, p := range a.Params {
			if !p.Ref {
				continue
			}
			var first *pcal.Arg
			for _, in := range g.alg.Instances {
				if in.Archetype != a {
					continue
				}
				arg := in.Args[i]
				l := lossOf(arg)
				// What a lossy mailbox has not delivered may never arrive anyway.
				channel := RoleOf(arg) == RoleChannel && !Named(arg.Mapping, LossyMailbox)
				switch {
				case l == acts:
					refuse(arg.Mapping.Span, "use  crash { $variable[self] := {}; }  or  crash { $variable[self] := <<>>; }",
						"the crash part of %s, for parameter %s of %s, cannot be compiled", arg.Mapping.Name, p.Var.Name, a.Name)
				case channel && l == keeps && Reads(a, p):
					refuse(arg.Mapping.Span, "give the mapping macro a  crash { $variable[self] := {}; }",
						"%s can crash, and in the specification its unread messages in %s survive the crash; in the running system a mailbox loses them", a.Name, p.Var.Name)
				case l == clears && (readsInInit(a, p) || readsAnother(a.Blocks, p.Var, a.Self, map[*pcal.Procedure]bool{})):
					refuse(arg.Mapping.Span, "read "+p.Var.Name+"[self] only",
						"the crash part of %s clears only index self, but %s reads %s at another index, whose messages survive the crash in the specification; in the running system a mailbox loses them", arg.Mapping.Name, a.Name, p.Var.Name)
				case channel && Assigns(a, p) && yields(arg.Mapping.Write, appends):
					refuse(arg.Mapping.Span, "use a mapping macro with a set:  write { yield $variable \\cup {$value}; }",
						"%s can crash and sends through %s, which keeps the order of messages: the running system may lose messages sent just before a crash, and later ones then overtake them", a.Name, arg.Mapping.Name)
				case first != nil && lossOf(*first) != l:
					refuse(in.Span, "pass it in the same way in every instance, or write an archetype for each",
						"a crash of %s does not do the same to %s in this instance as in another", a.Name, p.Var.Name)
				}
				if first == nil {
					first = &arg
				}
			}
		}
	}
}

// readsAnother reports whether steps of a process may read a ref parameter at
// another index than the process itself.
func readsAnother(blocks []*pcal.Block, v *core.Variable, self *core.Local, seen map[*pcal.Procedure]bool) bool {
	isSelf := func(e core.Expr) bool {
		l, ok := e.(*core.LocalRef)
		return ok && l.Local == self
	}
	found, own := false, map[core.Expr]bool{}
	for _, b := range blocks {
		pcal.InspectStmts(b.Body, func(st pcal.Stmt) {
			switch st := st.(type) {
			case *pcal.Call:
				for i, arg := range st.Args {
					if arg.Ref == v && !seen[st.Proc] {
						seen[st.Proc] = true
						found = found || readsAnother(st.Proc.Blocks, st.Proc.Params[i].Var, st.Proc.Self, seen)
					}
				}
			case *pcal.Assign:
				for _, p := range st.Pairs {
					found = found || p.Target == v && p.At != nil && !(len(p.Path) > 0 && isSelf(p.Path[0].X))
				}
			}
		}, func(e core.Expr) bool {
			if x, ok := e.(*core.Apply); ok && isVariable(x.Fn, v) && isSelf(x.Arg) {
				own[x.Fn] = true
			}
			found = found || isVariable(e, v) && !own[e]
			return true
		})
	}
	return found
}

// crashOf returns the crash part of a ref parameter's description.
func (g *generator) crashOf(a *pcal.Archetype, p *pcal.Param) string {
	if a.Restart == "" {
		return ""
	}
	for _, in := range g.alg.Instances {
		if in.Archetype != a {
			continue
		}
		for i := range a.Params {
			if l := lossOf(in.Args[i]); a.Params[i] == p && l != keeps {
				return ", Crash: distsys." + string(l)
			}
		}
	}
	return ""
}

// findDurable numbers the durable variables.
func (m *machine) findDurable() {
	if m.arch.Restart == "" {
		return
	}
	m.changed, m.durable = m.members.fresh("changed"), map[*core.Variable]int{}
	for _, v := range m.arch.Locals {
		if v.Durable {
			m.durable[v.Var] = len(m.durable)
		}
	}
}

// crashGlue writes the code with which the archetype continues after a crash. It
// returns the name of the method that gives the variables that are not durable
// their first values, or "" if the archetype does not survive crashes.
func (m *machine) crashGlue(w *writer) string {
	if m.arch.Restart == "" {
		return ""
	}
	again := m.members.fresh("startAgain")
	w.emit("Crash: &distsys.Crash[%s]{", m.name)
	w.emit("Recover: %s,", m.main.labels[m.arch.Restart])
	if len(m.durable) > 0 {
		w.emit("Durable: []distsys.Durable[%s]{", m.name)
		for _, v := range m.arch.Locals {
			if v.Durable {
				m.durableGlue(w, v)
			}
		}
		w.emit("},")
	}
	w.emit("Changed: func(s *%s) uint64 {", m.name)
	w.emit("changed := s.%s", m.changed)
	w.emit("s.%s = 0", m.changed)
	w.emit("return changed")
	w.emit("},")
	w.emit("Restart: (*%s).%s,", m.name, again)
	w.emit("},")
	return again
}

// durableGlue writes the code that saves and restores a durable variable.
func (m *machine) durableGlue(w *writer, v *pcal.Variable) {
	g, field, t := m.g, "s."+m.main.fields[v.Var], m.g.typeOf(m.sc.Var(v.Var))
	flag := m.flags[v.Var]
	w.emit("{")
	w.emit("Name: %q,", v.Var.Name)
	w.emit("Get: func(s *%s) value.Value {", m.name)
	if flag != "" {
		w.emit("if !s.%s {", flag)
		w.emit("return value.Model(%q)", shape.DefaultInitValue)
		w.emit("}")
	}
	w.emit("return %s", g.toValue(field, t))
	w.emit("},")
	w.emit("Set: func(s *%s, v value.Value) {", m.name)
	if flag != "" {
		w.emit("if s.%s = !value.Equal(v, value.Model(%q)); !s.%[1]s {", flag, shape.DefaultInitValue)
		w.emit("return")
		w.emit("}")
	}
	w.emit("%s = %s", field, g.fromValue("v", t))
	w.emit("},")
	if sh := m.sc.Var(v.Var); sh.Kind == shape.Seq && !sh.Model && flag == "" {
		w.emit("Tail: func(was, s *%s) (int, []value.Value) {", m.name)
		w.emit("return typed.Tail(was.%s, %s)", m.main.fields[v.Var], field)
		w.emit("},")
	}
	w.emit("},")
}
