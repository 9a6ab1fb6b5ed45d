// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/plan"
)

// componentWriter writes a component.
type componentWriter struct {
	*generator
	plan   *plan.Component
	name   string
	tables map[*plan.Relation]*table
	// order are those that have facts, in the order of the plan; inline the others.
	order, inline []*table

	groups map[*plan.Rule]*groups
	rules  map[*plan.Rule]string
	// stale are fields which say, for recursive relations, that something was
	// derived in the tick that holds for it only.
	stale map[*plan.Relation]string
}

// component writes the file of a component, whose type has the name.
func (g *generator) component(c *plan.Component, name string) {
	w := &componentWriter{generator: g, plan: c, name: name, tables: map[*plan.Relation]*table{},
		groups: map[*plan.Rule]*groups{}, rules: map[*plan.Rule]string{}, stale: map[*plan.Relation]string{}}
	fields := newNames()
	for _, n := range []string{"Deliver", "Timer", "Tick", "Pending", "Resend", "Restore", "Snapshot", "finish", "started", "static"} {
		fields.take(n)
	}
	for i := range c.Groups {
		fields.take(fmt.Sprintf("group%d", i))
	}
	for _, r := range c.Relations {
		t := g.newTable(r, name, fields)
		w.tables[r] = t
		if !r.Inline {
			w.order = append(w.order, t)
		} else {
			w.inline = append(w.inline, t)
		}
	}
	n := 0
	each(c, func(r *plan.Rule) {
		n++
		w.rules[r] = fields.fresh(fmt.Sprintf("rule%d", n))
		if r.Grouping != nil {
			w.groups[r] = &groups{rule: r, typ: g.names.fresh(fmt.Sprintf("%sRule%d", name, n), "Row", "Group"), field: fields.fresh(fmt.Sprintf("groups%d", n)), head: w.tables[r.Head]}
		}
	})
	for i, group := range c.Groups {
		if !group.Recursive || group.Relations[0].Class != plan.Tracked {
			continue
		}
		field := fields.fresh(fmt.Sprintf("stale%d", i))
		for _, r := range group.Relations {
			w.stale[r] = field
		}
	}
	w.state()
	w.create()
	w.deliver()
	w.tick()
	w.finish()
	w.rest()
	for i, group := range c.Groups {
		if group.Recursive {
			w.recursion(i, group)
		}
	}
	each(c, func(r *plan.Rule) { w.rule(r) })
	each(c, func(r *plan.Rule) {
		if a := w.groups[r]; a != nil {
			w.aggregate(a)
		}
	})
	for _, t := range slices.Concat(w.order, w.inline) {
		g.table(t)
	}
}

// each calls visit with each rule of a component, in the order of evaluation.
func each(c *plan.Component, visit func(r *plan.Rule)) {
	for _, g := range c.Groups {
		for _, r := range g.Rules {
			visit(r)
		}
	}
	for _, r := range c.Later {
		visit(r)
	}
}

// sends reports whether a rule's methods are given an Out.
func (c *componentWriter) sends(r *plan.Rule) bool { return r.Kind == logic.Async }

// staleFields are the fields of stale, without doubles.
func (c *componentWriter) staleFields() []string {
	var out []string
	for _, f := range c.stale {
		out = append(out, f)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// state writes the component's type.
func (c *componentWriter) state() {
	rt := c.use(rtPath)
	c.p("// %s is an instance of component %s.", c.name, c.plan.Logic.Name)
	c.p("type %s struct {\nself string\n// started says that the first tick is over.\nstarted bool\ntexts %s.Strings", c.name, rt)
	for _, t := range c.order {
		c.p("%s %s", t.field, t.typ)
	}
	each(c.plan, func(r *plan.Rule) {
		if a := c.groups[r]; a != nil {
			c.p("%s %s", a.field, a.typ)
		}
	})
	for _, f := range c.staleFields() {
		c.p("%s bool // some of it holds for a tick only", f)
	}
	c.p("}\n")
}

// create writes the function that makes an instance.
func (c *componentWriter) create() {
	rt := c.use(rtPath)
	c.p("func new%s(who %s.Identity, static map[string][][]byte) (%s.Component, error) {", title(c.name), rt, rt)
	c.p("s := &%s{\nself: who.Self,", c.name)
	for _, t := range c.order {
		c.p("%s: new%s(),", t.field, title(t.typ))
	}
	each(c.plan, func(r *plan.Rule) {
		if a := c.groups[r]; a != nil {
			c.p("%s: new%s(),", a.field, title(a.typ))
		}
	})
	c.p("}")
	known := map[*logic.Relation]bool{}
	for _, t := range c.order {
		if t.Class == plan.Static {
			known[t.Logic] = true
			c.facts(t)
		}
	}
	c.p("for name, rows := range static {\nfor _, row := range rows {\nif err := s.static(name, row); err != nil {\nreturn nil, err\n}\n}\n}")
	c.p("return s, nil\n}\n")
	c.p("// static adds a fact of a static relation.\nfunc (s *%s) static(name string, row []byte) error {\nswitch name {", c.name)
	for _, t := range c.order {
		if t.Class == plan.Static {
			c.p("case %q:", t.Name)
			c.decode(t.Logic, "row")
			c.p("s.%s.add(%s)\nreturn nil", t.field, locals(t))
		}
	}
	var others []string
	for _, r := range c.program.Relations {
		if r.Kind == logic.Static && !known[r] {
			others = append(others, fmt.Sprintf("%q", r.Name))
		}
	}
	if len(others) > 0 {
		c.p("case %s: // not read here\nreturn nil", strings.Join(others, ", "))
	}
	c.p("}\nreturn %s.Errorf(\"%%s is no static relation\", name)\n}\n", c.use("fmt"))
}

// facts writes the facts of a static relation that the program gives.
func (c *componentWriter) facts(t *table) {
	for _, row := range t.Logic.Facts {
		var vals []string
		for i, v := range row {
			vals = append(vals, c.literal(v, t.Columns[i].Type))
		}
		c.p("s.%s.add(%s)", t.field, strings.Join(vals, ", "))
	}
	if d := c.program.Component(t.Logic.Nodes); d != nil {
		if d.Instances <= nodesWritten {
			for i := range d.Instances {
				c.p("s.%s.add(%q)", t.field, logic.NodeName(d.Name, i))
			}
		} else {
			c.p("for i := range %d {\ns.%s.add(%s.Sprintf(\"%s/%%d\", i))\n}", d.Instances, t.field, c.use("fmt"), d.Name)
		}
	}
	if d := c.program.Component(t.Logic.Size); d != nil {
		c.p("s.%s.add(%d)", t.field, d.Instances)
	}
}

// nodesWritten is how many nodes are written one after the other.
const nodesWritten = 16

// decode writes that a row is read into variables c0, c1, ...
func (c *componentWriter) decode(r *logic.Relation, row string) {
	rt := c.use(rtPath)
	c.p("r := %s.Read(%s)", rt, row)
	for i, col := range r.Columns {
		c.p("c%d := %s", i, c.read(col.Type, "s.texts"))
	}
	c.p("if err := r.End(); err != nil {\nreturn %s.Errorf(\"%s: %%w\", err)\n}", c.use("fmt"), r.Name)
}

// locals are the variables that decode has written.
func locals(t *table) string { return args("c", t.all()) }

// deliver writes how messages and timers come in.
func (c *componentWriter) deliver() {
	c.p("// Deliver is as rt.Component says.\nfunc (s *%s) Deliver(relation int, row []byte) error {\nswitch relation {", c.name)
	for _, t := range c.order {
		if !t.Arrives || t.Logic.Kind == logic.Timer {
			continue
		}
		c.p("case %d: // %s", c.number(t.Logic, false), t.Logic.Name)
		c.decode(t.Logic, "row")
		c.arrive(t, locals(t))
		c.p("return nil")
	}
	c.p("}\nreturn %s.Errorf(\"relation %%d does not come to component %s\", relation)\n}\n", c.use("fmt"), c.plan.Logic.Name)
	c.p("// Timer is as rt.Component says.\nfunc (s *%s) Timer(timer int) {", c.name)
	if all := timers(c.plan); len(all) > 0 {
		c.p("switch timer {")
		for i, r := range all {
			c.p("case %d: // %s", i, r.Logic.Name)
			c.arrive(c.tables[r], "")
		}
		c.p("}")
	}
	c.p("}\n")
}

// arrive writes that a fact comes in.
func (c *componentWriter) arrive(t *table, values string) {
	if t.tracked() {
		c.p("s.%s.Pulse(s.%s.row(%s))", t.field, t.field, values)
	} else {
		c.p("s.%s.add(%s)", t.field, values)
	}
}

// tick writes the order of evaluation.
func (c *componentWriter) tick() {
	rt := c.use(rtPath)
	c.p("// Tick is as rt.Component says.\nfunc (s *%s) Tick(out *%s.Out) {", c.name, rt)
	for i, g := range c.plan.Groups {
		if g.Recursive {
			c.p("s.group%d()", i)
			continue
		}
		for _, r := range g.Rules {
			c.evaluate(r)
		}
		for _, r := range g.Rules {
			if r.Grouping != nil {
				c.p("s.%sHeads()", c.rules[r])
			}
		}
		for _, r := range g.Relations {
			if r.Class == plan.Tracked && !r.Inline {
				c.p("s.%s.Settle()", c.tables[r].field)
			}
		}
	}
	for _, r := range c.plan.Later {
		c.evaluate(r)
	}
	c.p("s.started = true\ns.finish(out)\n}\n")
}

// evaluate writes the calls of the methods of a rule that is not recursive.
func (c *componentWriter) evaluate(r *plan.Rule) {
	out := ""
	if c.sends(r) {
		out = "out"
	}
	for _, v := range r.Variants {
		name := variantName(c, r, v)
		switch {
		case v.Start == plan.FromChanges && r.Body[v.Literal].Relation.Inline:
			// Called where the change is found.
		case v.Start == plan.FromNothing:
			c.p("if !s.started {\ns.%s(%s)\n}", name, out)
		case v.Start == plan.FromAll && r.Kind == logic.Async && !r.Pulse:
			// For Resend.
		default:
			c.p("s.%s(%s)", name, out)
		}
	}
}

// recursion writes the evaluation of a recursive group.
func (c *componentWriter) recursion(n int, g *plan.Group) {
	tracked := g.Relations[0].Class == plan.Tracked
	var names []string
	for _, r := range g.Relations {
		names = append(names, r.Name)
	}
	c.p("// group%d derives %s, which depend on each other.\nfunc (s *%s) group%d() {", n, strings.Join(names, ", "), c.name, n)
	for _, r := range g.Rules {
		if !r.Recursive {
			c.evaluate(r)
		}
	}
	for _, r := range g.Rules {
		if r.Grouping != nil {
			c.p("s.%sHeads()", c.rules[r])
		}
	}
	if tracked {
		c.anew(g)
		for _, r := range g.Relations {
			c.p("s.%s.Begin(anew)", c.tables[r].field)
		}
		c.grow(g)
	}
	c.p("for turns := 0; ; turns++ {\nif turns == %[1]s.TurnsMax {\npanic(&%[1]s.EndlessError{Component: %[2]q, Relations: %[3]q})\n}", c.use(rtPath), c.plan.Logic.Name, strings.Join(names, ", "))
	for _, r := range g.Relations {
		var calls []string
		for _, rule := range g.Rules {
			for _, v := range rule.Variants {
				if v.Start == plan.FromWork && rule.Body[v.Literal].Relation == r {
					calls = append(calls, fmt.Sprintf("s.%s(i)", variantName(c, rule, v)))
				}
			}
		}
		if len(calls) > 0 {
			c.p("if i := s.%s.Work(); i >= 0 {\n%s\ncontinue\n}", c.tables[r].field, strings.Join(calls, "\n"))
		}
	}
	for _, r := range g.Relations {
		if t := c.tables[r]; t.gathers() {
			c.p("if s.%s.gathered > 0 {\ns.%s.addGathered()\ncontinue\n}", t.field, t.field)
		}
	}
	c.p("break\n}")
	if tracked {
		for _, r := range g.Relations {
			c.p("s.%s.End(anew)", c.tables[r].field)
		}
	}
	c.p("}\n")
}

// anew writes whether a recursive group must be derived anew: something that it
// came from is lost, or negated and there, or it merges.
func (c *componentWriter) anew(g *plan.Group) {
	stale := c.stale[g.Relations[0]]
	c.p("// Derived anew if something that it came from is lost.\nanew := s.%s", stale)
	merges := slices.ContainsFunc(g.Relations, func(r *plan.Relation) bool { return r.Merges })
	seen := map[string]bool{}
	or := func(condition string) {
		if !seen[condition] {
			seen[condition] = true
			c.p("anew = anew || %s", condition)
		}
	}
	for _, r := range g.Relations {
		if merges {
			or("s." + c.tables[r].field + ".Pending()")
		}
		or("s." + c.tables[r].field + ".Lost()")
	}
	for _, r := range g.Rules {
		if !r.Recursive {
			continue
		}
		for i := range r.Body {
			l := &r.Body[i]
			if l.Relation == nil || l.Relation.Class != plan.Tracked || slices.Contains(g.Relations, l.Relation) {
				continue
			}
			if l.Negated || merges {
				or("len(s." + c.tables[l.Relation].field + ".Changes) > 0")
			} else {
				or("s." + c.tables[l.Relation].field + ".Dropped()")
			}
		}
	}
	c.p("s.%s = false", stale)
}

// grow writes what is derived from what is new besides the group.
func (c *componentWriter) grow(g *plan.Group) {
	for _, r := range g.Rules {
		if !r.Recursive {
			continue
		}
		for _, v := range r.Variants {
			name := variantName(c, r, v)
			switch {
			case v.Start == plan.FromAll && r.Pulse:
				c.p("s.%s()", name)
			case v.Start == plan.FromAll:
				c.p("if anew {\ns.%s()\n}", name)
			case v.Start == plan.FromChanges:
				c.p("if !anew {\ns.%s()\n}", name)
			}
		}
	}
}

// finish writes the end of a tick.
func (c *componentWriter) finish() {
	rt := c.use(rtPath)
	c.p("// finish ends a tick: what was for it only is forgotten, and what must be durable is told.")
	c.p("func (s *%s) finish(out *%s.Out) {", c.name, rt)
	for _, t := range c.order {
		switch t.Class {
		case plan.Passing:
			c.p("s.%s.reset()", t.field)
		case plan.Tracked:
			c.p("s.%s.Finish()", t.field)
			if t.Durable {
				c.p("for _, i := range s.%s.Logged {\ns.%s.change(out, i, !s.%s.OnDisk(i))\n}", t.field, t.field, t.field)
			}
			c.p("for _, i := range s.%s.Gone {\ns.%s.remove(i)\n}", t.field, t.field)
		}
	}
	c.p("}\n")
	for _, t := range c.order {
		if !t.Durable {
			continue
		}
		c.p("// change appends that a row is durable, or no longer.\nfunc (t *%s) change(out *%s.Out, i int32, gone bool) {\nrow := out.Begin()", t.typ, rt)
		for i, col := range t.Columns {
			c.p("%s", c.write(col.Type, "row", "t.rows[i]."+t.columns[i]))
		}
		c.p("out.Change(%d, gone, row)\n}\n", c.number(t.Logic, true))
	}
}

// rest writes the remaining methods of the interface.
func (c *componentWriter) rest() {
	rt := c.use(rtPath)
	conditions := []string{"!s.started"}
	for _, t := range c.order {
		switch {
		case t.tracked():
			conditions = append(conditions, "s."+t.field+".Pending()")
		case t.Class == plan.Passing && (t.Arrives || t.Carried):
			conditions = append(conditions, "len(s."+t.field+".rows) > 0")
		}
	}
	for _, f := range c.staleFields() {
		conditions = append(conditions, "s."+f)
	}
	c.p("// Pending is as rt.Component says.\nfunc (s *%s) Pending() bool {\nreturn %s\n}\n", c.name, strings.Join(conditions, " ||\n"))
	c.p("// Resend is as rt.Component says.\nfunc (s *%s) Resend(out *%s.Out) {", c.name, rt)
	each(c.plan, func(r *plan.Rule) {
		for _, v := range r.Variants {
			if r.Kind == logic.Async && !r.Pulse && v.Start == plan.FromAll {
				c.p("s.%s(out)", variantName(c, r, v))
			}
		}
	})
	c.p("}\n")
	c.p("// Restore is as rt.Component says.\nfunc (s *%s) Restore(c %s.Change) error {\nswitch c.Relation {", c.name, rt)
	for _, t := range c.order {
		if t.Durable {
			c.p("case %d: // %s", c.number(t.Logic, true), t.Logic.Name)
			c.decode(t.Logic, "c.Row")
			c.p("s.%s.Restore(s.%s.row(%s), c.Gone)\nreturn nil", t.field, t.field, locals(t))
		}
	}
	c.p("}\nreturn %s.Errorf(\"relation %%d is not durable in component %s\", c.Relation)\n}\n", c.use("fmt"), c.plan.Logic.Name)
	c.p("// Snapshot is as rt.Component says.\nfunc (s *%s) Snapshot(out *%s.Out) {", c.name, rt)
	for _, t := range c.order {
		if t.Durable {
			c.p("for i := range int32(len(s.%s.rows)) {\nif s.%s.OnDisk(i) {\ns.%s.change(out, i, false)\n}\n}", t.field, t.field, t.field)
		}
	}
	c.p("}\n")
}
