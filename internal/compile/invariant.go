// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"sort"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// Invariants in running systems.
//
// An invariant of the model speaks of the state of all processes. What one
// instance can check by itself is the part that speaks of its own variables:
//
//	Safe == \A p \in Clients : holding[p] => asked[p]
//
// holds in the model exactly when every client p satisfies the body, and the
// body mentions only what p owns. So the body, with self for p, is compiled
// into the archetype that declares holding and asked. An invariant that speaks
// of anything else (the program counter, variables of the environment, the
// variables of another process) is refused.

// checkedInvariant is an invariant in the form that one archetype evaluates.
type checkedInvariant struct {
	name  string
	at    source.Span
	arch  *pcal.Archetype
	in    core.Expr // "self \in S", nil where all instances are meant
	holds core.Expr
}

// owner identifies the variable of an archetype to which a name of the
// translation refers.
type owner struct {
	arch *pcal.Archetype
	v    *core.Variable
	set  bool // one of a process set: it is indexed by the process
}

// owners maps the names of the translation to the variables of archetypes.
func (g *generator) owners() map[string]owner {
	out := map[string]owner{}
	if g.opt.Plain == nil {
		return out
	}
	for _, p := range g.opt.Plain.Processes {
		if p.From == nil {
			continue
		}
		a := p.From.Archetype
		var own []*core.Variable
		for i, param := range a.Params {
			if p.From.Args[i].Ref != nil {
				continue
			}
			if param.Ref {
				own = append(own, nil) // a variable that stands for a resource
			} else {
				own = append(own, param.Var)
			}
		}
		for _, l := range a.Locals {
			own = append(own, l.Var)
		}
		for i, l := range p.Locals {
			if i < len(own) && own[i] != nil {
				out[l.Var.Name] = owner{a, own[i], p.Set}
			}
		}
	}
	return out
}

// findInvariants assigns the requested invariants to the archetypes that can
// evaluate them.
func (g *generator) findInvariants() map[*pcal.Archetype][]core.Expr {
	out := map[*pcal.Archetype][]core.Expr{}
	if len(g.opt.Invariants) == 0 {
		return out
	}
	whole := g.opt.Whole
	if whole == nil {
		whole = g.spec
	}
	owners := g.owners()
	for _, name := range g.opt.Invariants {
		d := whole.Names[name]
		if d == nil || len(d.Params) > 0 || d.Body == nil {
			g.diags.Add(source.Diagnostic{Code: UnknownInvariant, Span: g.alg.Span, Message: fmt.Sprintf("there is no invariant %s", name),
				Repair: "name a definition without parameters of the root module"})
			continue
		}
		found := g.localise(name, d, owners)
		for _, c := range found {
			g.checked = append(g.checked, c)
			out[c.arch] = append(out[c.arch], c.holds)
			if c.in != nil {
				out[c.arch] = append(out[c.arch], c.in)
			}
		}
	}
	return out
}

// localise rewrites an invariant in terms of the variables that the instances
// of an archetype can see.
func (g *generator) localise(name string, d *core.Def, owners map[string]owner) []checkedInvariant {
	body := inlineState(d.Body, 0)
	var process *core.Local
	var set core.Expr
	if q, ok := body.(*core.Quant); ok && !q.Exists && len(q.Binds) == 1 && len(q.Binds[0].Vars) == 1 && !q.Binds[0].Tuple && q.Binds[0].Set != nil {
		process, set, body = q.Binds[0].Vars[0], q.Binds[0].Set, q.Body
	}
	l := &localiser{owners: owners, process: process, archs: map[*pcal.Archetype]bool{}}
	local := l.x(body)
	if set != nil {
		l.x(set)
	}
	refuse := func(why string) []checkedInvariant {
		g.diags.Add(source.Diagnostic{Code: InvariantNotLocal, Span: d.Span,
			Message: fmt.Sprintf("the invariant %s cannot be checked by one process: %s", name, why),
			Repair:  "write an invariant over the variables of one archetype: \\A p \\in S : ... x[p] ..."})
		return nil
	}
	switch {
	case l.why != "":
		return refuse(l.why)
	case len(l.archs) == 0:
		return refuse("it mentions no variable of an archetype")
	case len(l.archs) > 1:
		var names []string
		for a := range l.archs {
			names = append(names, a.Name)
		}
		sort.Strings(names)
		return refuse("it mentions variables of several archetypes: " + strings.Join(names, ", "))
	}
	for a := range l.archs {
		c := checkedInvariant{name: name, at: d.Span, arch: a}
		r := &pcal.Rewriter{}
		if process != nil {
			r.Rename(process, a.Self)
		}
		c.holds = r.X(local)
		if set != nil {
			at := core.At{Place: set.Span()}
			c.in = &core.Op{At: at, Op: core.OpIn, Args: []core.Expr{&core.LocalRef{At: at, Local: a.Self}, set}}
		}
		return []checkedInvariant{c}
	}
	return nil
}

// localiser replaces the translation's variables by those of an archetype.
type localiser struct {
	owners  map[string]owner
	process *core.Local
	archs   map[*pcal.Archetype]bool
	why     string
}

func (l *localiser) refuse(format string, args ...any) {
	if l.why == "" {
		l.why = fmt.Sprintf(format, args...)
	}
}

func (l *localiser) x(e core.Expr) core.Expr {
	r := &pcal.Rewriter{}
	r.Expr = func(e core.Expr) core.Expr {
		switch e := e.(type) {
		case *core.Apply:
			v, ok := e.Fn.(*core.VarRef)
			if !ok {
				return nil
			}
			o, known := l.owners[v.Var.Name]
			if !known || !o.set {
				return nil
			}
			if p, ok := e.Arg.(*core.LocalRef); !ok || l.process == nil || p.Local != l.process {
				l.refuse("%s at %s is a variable of a process other than the one that checks", oneLine(e.Place.Text()), e.Place)
				return e
			}
			l.archs[o.arch] = true
			return &core.VarRef{At: v.At, Var: o.v}
		case *core.VarRef:
			o, known := l.owners[e.Var.Name]
			switch {
			case !known:
				l.refuse("%s at %s is not a variable of an archetype", e.Var.Name, e.Place)
			case o.set:
				l.refuse("%s at %s is the variable of all processes", e.Var.Name, e.Place)
			default:
				l.archs[o.arch] = true
				return &core.VarRef{At: e.At, Var: o.v}
			}
			return e
		}
		return nil
	}
	return r.X(e)
}

// inlineMax bounds the depth to which definitions are expanded.
const inlineMax = 50

// inlineState expands the definitions in e that mention variables, so that the
// result mentions variables only directly.
func inlineState(e core.Expr, depth int) core.Expr {
	r := &pcal.Rewriter{Fresh: true}
	r.Expr = func(e core.Expr) core.Expr {
		c, ok := e.(*core.Call)
		if !ok || c.Def.Native || c.Def.Body == nil || c.Def.Recursive || depth >= inlineMax || !mentionsVariables(c.Def.Body, map[*core.Def]bool{}) {
			return nil
		}
		for _, p := range c.Def.Params {
			if p.Arity > 0 {
				return nil
			}
		}
		args := map[*core.Local]core.Expr{}
		for i, p := range c.Def.Params {
			args[p] = inlineState(c.Args[i], depth+1)
		}
		put := &pcal.Rewriter{Expr: func(x core.Expr) core.Expr {
			if l, ok := x.(*core.LocalRef); ok {
				return args[l.Local]
			}
			return nil
		}}
		return inlineState(put.X(c.Def.Body), depth+1)
	}
	return r.X(e)
}

func mentionsVariables(e core.Expr, seen map[*core.Def]bool) bool {
	found := false
	core.Walk(e, func(x core.Expr) bool {
		switch x := x.(type) {
		case *core.VarRef:
			found = true
		case *core.Call:
			if !found && x.Def.Body != nil && !seen[x.Def] {
				seen[x.Def] = true
				found = mentionsVariables(x.Def.Body, seen)
			}
		}
		return !found
	})
	return found
}

// invariants writes the methods that evaluate the archetype's invariants.
func (m *machine) invariants() {
	for _, c := range m.g.checked {
		if c.arch != m.arch {
			continue
		}
		s := m.newSection(m.main)
		method := m.members.fresh("holds" + upperFirst(goName(c.name)))
		if c.in != nil {
			in := s.boolean(c.in)
			if in.code != "true" {
				s.out.emit("if %s {", header(s.not(in).code))
				s.out.emit("return true, nil")
				s.out.emit("}")
			}
		}
		s.into(c.holds, m.g.bool, func(x string) { s.out.emit("return %s, nil", x) })
		w := m.methods
		w.emit("")
		m.g.comment(w, c.at)
		w.emit("func (s *%s) %s(tx *distsys.Tx) (bool, error) {", m.name, method)
		w.append(s.out)
		w.emit("}")
		m.invs = append(m.invs, fmt.Sprintf("{Name: %q, Place: %q, Holds: (*%s).%s},", c.name, placeOf(c.at), m.name, method))
	}
}

// shapeText formats the shape for people.
func shapeText(s *shape.Shape) string {
	if s == nil {
		return "unused"
	}
	return s.String()
}
