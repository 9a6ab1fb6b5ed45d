// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/plan"
)

// groups is what is generated for a rule with aggregates: a type with the groups,
// and the rows of each, where they must be kept. A row has the head's arguments as
// terms, a0, a1, ..., and what else tells rows apart. What the head is, for a
// group, has the columns o0, o1, ...
type groups struct {
	rule       *plan.Rule
	typ, field string
	head       *table
}

// args are names of numbered columns.
func args(prefix string, columns []int) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = fmt.Sprintf("%s%d", prefix, c)
	}
	return strings.Join(out, ", ")
}

func count(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// typeOf is the type of a row's column.
func (a *groups) typeOf(i int) logic.Type { return a.rule.Grouping.Rows[i].Type }

// fold is the column with the aggregate of a simple head.
func (a *groups) fold() int {
	return slices.IndexFunc(a.rule.Args, func(b plan.Arg) bool { return b.Aggregate != logic.NoAggregate })
}

// aggregate writes the type of a rule with aggregates.
func (c *componentWriter) aggregate(a *groups) {
	rt, d := c.use(rtPath), a.rule.Grouping
	c.p("// %s has the groups of %s", a.typ, c.comment(a.rule))
	c.p("type %s struct {\ngroups []%sGroup\nset %s.Slots\ntouched, free []int32", a.typ, a.typ, rt)
	if d.Kept {
		c.p("rows []%sRow\nrowSet %s.Slots\nfreeRows []int32", a.typ, rt)
	}
	c.p("}\n\ntype %sGroup struct {", a.typ)
	for _, i := range d.Group {
		c.p("a%d %s", i, goType(a.typeOf(i)))
	}
	c.p("hash uint32\ncount int32 // of rows")
	c.p("touched bool")
	if d.Kept {
		c.p("rows int32 // the first, or -1")
	}
	switch {
	case d.Simple:
		out := goType(a.head.Columns[a.fold()].Type)
		c.p("value %s", out)
		if c.least(a) && d.Kept {
			c.p("lost bool // value is to be found anew")
		}
		c.p("told bool // the head of last holds\nlast %s", out)
	case !a.rule.Pulse:
		c.p("told []%sHead", a.typ)
	}
	c.p("}\n")
	if d.Kept {
		c.p("type %sRow struct {", a.typ)
		for i := range d.Rows {
			c.p("a%d %s", i, goType(a.typeOf(i)))
		}
		c.p("count int32 // of derivations\nlink %s.Link // in its group\n}\n", rt)
	}
	if !d.Simple {
		c.p("type %sHead struct {", a.typ)
		for i, col := range a.head.Columns {
			c.p("o%d %s", i, goType(col.Type))
		}
		c.p("}\n")
	}
	c.p("func new%s() %s {\nreturn %s{set: %s.NewSlots(),", title(a.typ), a.typ, a.typ, rt)
	if d.Kept {
		c.p("rowSet: %s.NewSlots(),", rt)
	}
	c.p("}\n}\n")
	c.addRow(a)
	c.findGroup(a)
	if d.Kept && c.least(a) && d.Simple {
		c.again(a)
	}
	if !d.Simple {
		c.compute(a)
	}
	c.flush(a)
}

// least reports whether the aggregate is a min or max.
func (c *componentWriter) least(a *groups) bool {
	k := a.rule.Args[a.fold()].Aggregate
	return k == logic.Min || k == logic.Max
}

func (c *componentWriter) columnParams(a *groups, columns []int) string {
	out := make([]string, len(columns))
	for i, col := range columns {
		out[i] = fmt.Sprintf("a%d %s", col, goType(a.typeOf(col)))
	}
	return strings.Join(out, ", ")
}

func (c *componentWriter) columnHash(a *groups, before string, columns []int) string {
	h := c.use(rtPath) + ".Hash(0)"
	for _, i := range columns {
		h = c.hashed(h, a.typeOf(i), fmt.Sprintf("%sa%d", before, i))
	}
	return h + ".Sum()"
}

func (c *componentWriter) columnsEqual(a *groups, row string, columns []int) string {
	out := []string{}
	for _, i := range columns {
		name := fmt.Sprintf("a%d", i)
		out = append(out, c.equal(a.typeOf(i), row+"."+name, name))
	}
	if len(out) == 0 {
		return "true"
	}
	return strings.Join(out, " && ")
}

// findGroup writes the search for a group, which is added if it is not there.
func (c *componentWriter) findGroup(a *groups) {
	d := a.rule.Grouping
	c.p("// group is the group of these values, whose hash is known.\nfunc (t *%s) group(%s) int32 {", a.typ, list("h uint32", c.columnParams(a, d.Group)))
	c.p("for at := h; ; at++ {\ni, tag := t.set.At(at)\nif i == 0 {\nbreak\n}")
	c.p("if tag == h {\nif r := &t.groups[i-1]; %s {\nreturn int32(i - 1)\n}\n}\n}", strings.ReplaceAll(c.columnsEqual(a, "r", d.Group), "true", "r != nil"))
	fields := []string{"hash: h"}
	for _, i := range d.Group {
		fields = append(fields, fmt.Sprintf("a%d: a%d", i, i))
	}
	if d.Kept {
		fields = append(fields, "rows: -1")
	}
	fresh := fmt.Sprintf("%sGroup{%s}", a.typ, strings.Join(fields, ", "))
	c.p("var i int32\nif n := len(t.free); n > 0 {\ni = t.free[n-1]\nt.free = t.free[:n-1]\nt.groups[i] = %s", fresh)
	c.p("} else {\ni = int32(len(t.groups))\nt.groups = append(t.groups, %s)\n}", fresh)
	c.p("t.set.Add(h, i)\nreturn i\n}\n")
}

// addRow writes that a row comes or, with a negative sign, goes.
func (c *componentWriter) addRow(a *groups) {
	d := a.rule.Grouping
	all := count(len(d.Rows))
	params := c.columnParams(a, all)
	if !a.rule.Pulse {
		if params != "" {
			params += ", "
		}
		params += "sign int32"
	}
	if !d.Kept {
		params = list("h uint32", params)
	}
	c.p("// add has a row come, or go.\nfunc (t *%s) add(%s) {", a.typ, params)
	if a.rule.Pulse {
		c.p("const sign = 1")
	}
	if !d.Kept {
		c.p("n := t.group(%s)\ng := &t.groups[n]\ng.count += sign", list("h", args("a", d.Group)))
		c.fold(a)
		c.p("if !g.touched {\ng.touched = true\nt.touched = append(t.touched, n)\n}\n}\n")
		return
	}
	c.p("h, i := %s, int32(-1)", c.columnHash(a, "", all))
	c.p("for at := h; ; at++ {\nn, tag := t.rowSet.At(at)\nif n == 0 {\nbreak\n}")
	c.p("if tag == h {\nif r := &t.rows[n-1]; %s {\ni = int32(n - 1)\nbreak\n}\n}\n}", strings.ReplaceAll(c.columnsEqual(a, "r", all), "true", "r != nil"))
	fields := []string{}
	for i := range d.Rows {
		fields = append(fields, fmt.Sprintf("a%d: a%d", i, i))
	}
	row := fmt.Sprintf("%sRow{%s}", a.typ, strings.Join(fields, ", "))
	c.p("if i < 0 {\nif n := len(t.freeRows); n > 0 {\ni = t.freeRows[n-1]\nt.freeRows = t.freeRows[:n-1]\nt.rows[i] = %s", row)
	c.p("} else {\ni = int32(len(t.rows))\nt.rows = append(t.rows, %s)\n}\nt.rowSet.Add(h, i)\n}", row)
	c.p("r := &t.rows[i]\nhad := r.count > 0\nr.count += sign\nhas := r.count > 0")
	// A row may be below zero between two changes of one tick, which is no row.
	c.p("if had == has {\nif r.count == 0 {\nt.rowSet.Remove(h, i)\nt.rows[i] = %sRow{}\nt.freeRows = append(t.freeRows, i)\n}\nreturn\n}", a.typ)
	c.p("n := t.group(%s)\ng := &t.groups[n]", list(c.columnHash(a, "", d.Group), args("a", d.Group)))
	c.p("if has {\ng.count++\nr.link = %s.Link{Next: g.rows, Prev: -1}\nif g.rows >= 0 {\nt.rows[g.rows].link.Prev = i\n}\ng.rows = i", c.use(rtPath))
	if d.Simple {
		c.foldIn(a)
	}
	c.p("} else {\ng.count--\nif l := r.link; l.Prev >= 0 {\nt.rows[l.Prev].link.Next = l.Next\n} else {\ng.rows = l.Next\n}")
	c.p("if l := r.link; l.Next >= 0 {\nt.rows[l.Next].link.Prev = l.Prev\n}")
	if d.Simple {
		c.foldOut(a)
	}
	c.p("if r.count == 0 {\nt.rowSet.Remove(h, i)\n*r = %sRow{}\nt.freeRows = append(t.freeRows, i)\n}\n}", a.typ)
	c.p("if !g.touched {\ng.touched = true\nt.touched = append(t.touched, n)\n}\n}\n")
}

// fold writes how a simple aggregate changes with a row that is not kept.
func (c *componentWriter) fold(a *groups) {
	f := a.fold()
	v := fmt.Sprintf("a%d", f)
	typ := goType(a.typeOf(f))
	switch a.rule.Args[f].Aggregate {
	case logic.Count:
		c.p("g.value += uint64(sign)")
	case logic.Sum:
		c.p("g.value += %s(sign) * %s", typ, v)
	case logic.Min:
		c.p("if g.count == 1 || %s(%s, g.value) < 0 {\ng.value = %s\n}", c.compare(a.typeOf(f)), v, v)
	case logic.Max:
		c.p("if g.count == 1 || %s(%s, g.value) > 0 {\ng.value = %s\n}", c.compare(a.typeOf(f)), v, v)
	}
}

// foldIn and foldOut are for rows that are kept.
func (c *componentWriter) foldIn(a *groups) {
	f := a.fold()
	v := fmt.Sprintf("a%d", f)
	switch a.rule.Args[f].Aggregate {
	case logic.Count:
		c.p("g.value++")
	case logic.Sum:
		c.p("g.value += %s", v)
	case logic.Min:
		c.p("if g.count == 1 || %s(%s, g.value) < 0 {\ng.value, g.lost = %s, false\n}", c.compare(a.typeOf(f)), v, v)
	case logic.Max:
		c.p("if g.count == 1 || %s(%s, g.value) > 0 {\ng.value, g.lost = %s, false\n}", c.compare(a.typeOf(f)), v, v)
	}
}

func (c *componentWriter) foldOut(a *groups) {
	f := a.fold()
	v := fmt.Sprintf("a%d", f)
	switch a.rule.Args[f].Aggregate {
	case logic.Count:
		c.p("g.value--")
	case logic.Sum:
		c.p("g.value -= %s", v)
	default:
		c.p("if %s {\ng.lost = true\n}", c.equal(a.typeOf(f), v, "g.value"))
	}
}

// again writes that the least or greatest value is found among what is left.
func (c *componentWriter) again(a *groups) {
	f := a.fold()
	op := "<"
	if a.rule.Args[f].Aggregate == logic.Max {
		op = ">"
	}
	c.p("// again finds the value of a group that has lost it.\nfunc (t *%s) again(g *%sGroup) {\ng.lost = false", a.typ, a.typ)
	c.p("for i := g.rows; i >= 0; i = t.rows[i].link.Next {\nif v := t.rows[i].a%d; i == g.rows || %s(v, g.value) %s 0 {\ng.value = v\n}\n}\n}\n", f, c.compare(a.typeOf(f)), op)
}

// compute writes what the heads of a group are that is no simple one.
func (c *componentWriter) compute(a *groups) {
	d, rt := a.rule.Grouping, c.use(rtPath)
	c.p("// heads appends the heads of a group.\nfunc (t *%s) heads(g *%sGroup, heads []%sHead) []%sHead {", a.typ, a.typ, a.typ, a.typ)
	c.p("if g.count == 0 {\nreturn heads\n}\nvar head %sHead", a.typ)
	for _, i := range d.Group {
		c.p("head.o%d = g.a%d", i, i)
	}
	if slices.ContainsFunc(a.rule.Args, func(b plan.Arg) bool { return b.Aggregate == logic.Choose }) {
		c.p("least := &t.rows[g.rows]\nfor i := g.rows; i >= 0; i = t.rows[i].link.Next {\nif r := &t.rows[i]; before%s(r, least) {\nleast = r\n}\n}", title(a.typ))
	}
	for i, b := range a.rule.Args {
		typ := goType(a.typeOf(i))
		loop := func(body string) string {
			return fmt.Sprintf("for i := g.rows; i >= 0; i = t.rows[i].link.Next {\n%s\n}", body)
		}
		values := fmt.Sprintf("var v%d []%s\n%s\nv%d = %s.Distinct(v%d, %s)", i, typ, loop(fmt.Sprintf("v%d = append(v%d, t.rows[i].a%d)", i, i, i)), i, rt, i, c.compare(a.typeOf(i)))
		switch b.Aggregate {
		case logic.Count:
			c.p("%s\nhead.o%d = uint64(len(v%d))", values, i, i)
		case logic.Collect:
			c.p("%s\nhead.o%d = v%d", values, i, i)
		case logic.Sum:
			c.p("%s", loop(fmt.Sprintf("head.o%d += t.rows[i].a%d", i, i)))
		case logic.Min, logic.Max:
			op := "<"
			if b.Aggregate == logic.Max {
				op = ">"
			}
			c.p("%s", loop(fmt.Sprintf("if v := t.rows[i].a%d; i == g.rows || %s(v, head.o%d) %s 0 {\nhead.o%d = v\n}", i, c.compare(a.typeOf(i)), i, op, i)))
		case logic.Choose:
			c.p("head.o%d = least.a%d", i, i)
		case plan.Union:
			c.p("%s", loop(fmt.Sprintf("head.o%d = %s.Union(head.o%d, t.rows[i].a%d, %s)", i, rt, i, i, c.compare(*a.typeOf(i).Elem))))
		}
	}
	if d.Index < 0 {
		c.p("return append(heads, head)\n}\n")
	} else {
		c.p("var values []%s\nfor i := g.rows; i >= 0; i = t.rows[i].link.Next {\nvalues = append(values, t.rows[i].a%d)\n}", goType(a.typeOf(d.Index)), d.Index)
		c.p("for i, v := range %s.Distinct(values, %s) {\nhead.o%d = uint64(i)", rt, c.compare(a.typeOf(d.Index)), d.Index)
		for _, i := range d.Numbered {
			c.p("head.o%d = v", i)
		}
		if len(d.Numbered) == 0 {
			c.p("_ = v")
		}
		c.p("heads = append(heads, head)\n}\nreturn heads\n}\n")
	}
	c.before(a)
}

// before writes the order of rows in which one is chosen.
func (c *componentWriter) before(a *groups) {
	if !slices.ContainsFunc(a.rule.Args, func(b plan.Arg) bool { return b.Aggregate == logic.Choose }) {
		return
	}
	c.p("// before orders the rows of a group: the first is chosen.\nfunc before%s(a, b *%sRow) bool {", title(a.typ), a.typ)
	for i := range a.rule.Args {
		if !slices.Contains(a.rule.Grouping.Group, i) {
			c.p("if n := %s(a.a%d, b.a%d); n != 0 {\nreturn n < 0\n}", c.compare(a.typeOf(i)), i, i)
		}
	}
	c.p("return false\n}\n")
}

// derives is the statement that derives the head or, with a negative sign, takes
// it away.
func (c *componentWriter) derives(a *groups, columns string, sign string) string {
	t := a.head
	switch {
	case t.Inline:
		var calls []string
		each(c.plan, func(r *plan.Rule) {
			for _, v := range r.Variants {
				if v.Start == plan.FromChanges && r.Body[v.Literal].Relation == t.Relation {
					calls = append(calls, fmt.Sprintf("s.%s(&%sRow{%s}, %s)", variantName(c, r, v), t.typ, list(columns, "g.hash"), sign))
				}
			}
		})
		return strings.Join(calls, "\n")
	case !t.tracked():
		return fmt.Sprintf("s.%s.add(%s)", t.field, columns)
	case a.rule.Pulse:
		return fmt.Sprintf("s.%s.Pulse(s.%s.row(%s))", t.field, t.field, columns)
	}
	return fmt.Sprintf("s.%s.Derive(s.%s.row(%s), %s)", t.field, t.field, columns, sign)
}

// flush writes that the heads of groups that have changed are derived.
func (c *componentWriter) flush(a *groups) {
	d := a.rule.Grouping
	c.p("// %s derives the heads of %s", c.rules[a.rule]+"Heads", c.comment(a.rule))
	c.p("func (s *%s) %sHeads() {\nt := &s.%s\nfor _, i := range t.touched {\ng := &t.groups[i]\ng.touched = false", c.name, c.rules[a.rule], a.field)
	all := count(len(a.head.Columns))
	if d.Simple {
		head := func(value string) string {
			out := []string{}
			for i := range all {
				if i == a.fold() {
					out = append(out, value)
				} else {
					out = append(out, fmt.Sprintf("g.a%d", i))
				}
			}
			return strings.Join(out, ", ")
		}
		if d.Kept && c.least(a) {
			c.p("if g.lost {\nt.again(g)\n}")
		}
		if a.rule.Pulse {
			c.p("%s\n}", c.derives(a, head("g.value"), "1"))
		} else {
			different := c.different(a.head.Columns[a.fold()].Type, "g.last", "g.value")
			c.p("if g.told && (g.count == 0 || %s) {\n%s\n}", different, c.derives(a, head("g.last"), "-1"))
			c.p("if g.count > 0 && (!g.told || %s) {\n%s\n}", different, c.derives(a, head("g.value"), "1"))
			c.p("g.told, g.last = g.count > 0, g.value")
		}
	} else {
		old := "nil"
		if !a.rule.Pulse {
			old = "g.told"
		}
		if old != "nil" {
			c.p("old := g.told\ng.told = t.heads(g, nil)\nfor _, o := range g.told {\n%s\n}", c.derives(a, args("o.o", all), "1"))
			c.p("for _, o := range old {\n%s\n}", c.derives(a, args("o.o", all), "-1"))
		} else {
			c.p("for _, o := range t.heads(g, nil) {\n%s\n}\n}", c.derives(a, args("o.o", all), "1"))
		}
	}
	if a.rule.Pulse {
		c.p("if len(t.touched) > 0 {\nclear(t.groups)\nt.groups = t.groups[:0]\nt.set.Clear()")
		if d.Kept {
			c.p("clear(t.rows)\nt.rows = t.rows[:0]\nt.rowSet.Clear()")
		}
		c.p("}")
	} else {
		c.p("if g.count == 0 {\nt.set.Remove(g.hash, i)\n*g = %sGroup{}\nt.free = append(t.free, i)\n}\n}", a.typ)
	}
	c.p("t.touched = t.touched[:0]\n}\n")
}
