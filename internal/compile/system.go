// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// systemCode writes the entry point of the generated package.
func (g *generator) systemCode(machines []*machine) *writer {
	w := &writer{}
	w.emit("")
	w.emit("// System is %s with these constants: templates of its archetypes.", g.spec.Name)
	w.emit("func System(c *Constants) *distsys.System {")
	w.emit("return &distsys.System{")
	w.emit("Name: %q,", g.spec.Name)
	w.emit("Archetypes: []distsys.Template{")
	for _, m := range machines {
		m.template(w)
	}
	w.emit("},")
	w.emit("}")
	w.emit("}")
	return w
}

// writes reports whether the archetype, or a procedure that it calls, writes a
// resource.
func (m *machine) writes(p *pcal.Param) bool {
	found := false
	for _, r := range m.routines {
		for _, b := range r.blocks {
			eachStmt(b.Body, func(st pcal.Stmt) {
				if w, ok := st.(*pcal.Write); ok {
					ref := r.sc.Ref(w.Access.Param.Var)
					found = found || ref != nil && ref.Param == p
				}
			})
		}
	}
	return found
}

// explain lists the types of the specification's declarations, and the reasons
// why some have none.
func (g *generator) explain(machines []*machine) []string {
	var out []string
	say := func(what string, s *shape.Shape, falls []shape.Fallback) {
		line := what + ": " + shapeText(s)
		if s != nil {
			line += ", in Go " + g.typeOf(s).name
		}
		out = append(out, line)
		for _, f := range falls {
			why := f.Why
			if why == "" {
				why = "is used at no particular type"
			}
			out = append(out, fmt.Sprintf("  %s is not typed because it %s (%s)", f.Path, why, f.Span))
		}
	}
	for _, c := range g.spec.Constants {
		if c.Arity == 0 {
			say("constant "+c.Name, g.shapes.Const(c), g.shapes.ConstFallbacks(c))
		}
	}
	for _, m := range machines {
		a := m.arch.Name
		say("archetype "+a+", self", m.selfShape(), nil)
		for _, p := range m.arch.Params {
			name := p.Var.Name
			if !p.Ref {
				say("archetype "+a+", parameter "+name, m.sc.Var(p.Var), m.sc.FallbacksOf(name, p.Var))
				continue
			}
			ref := m.sc.Ref(p.Var)
			index := strings.Repeat("[_]", p.Mapping)
			say("archetype "+a+", what "+name+index+" gives", ref.Read, m.sc.ReadFallbacks(name+index, p.Var))
			if m.writes(p) {
				say("archetype "+a+", what "+name+index+" takes", ref.Write, m.sc.WriteFallbacks(name+index, p.Var))
			}
		}
		for _, v := range m.arch.Locals {
			say("archetype "+a+", variable "+v.Var.Name, m.sc.Var(v.Var), m.sc.FallbacksOf(v.Var.Name, v.Var))
		}
		for _, r := range m.routines[1:] {
			for _, v := range r.vars {
				say("archetype "+a+", procedure "+r.proc.Name+", "+v.Name, r.sc.Var(v), r.sc.FallbacksOf(v.Name, v))
			}
		}
	}
	return out
}
