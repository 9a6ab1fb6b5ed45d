// SPDX-License-Identifier: Apache-2.0

package gen

import "github.com/ashlar-dev/ashlar/internal/dedalus/logic"

// What a recursive relation costs is memory that the processor waits for: in a
// relation of millions of facts each look-up of a head is somewhere else. So what
// rules derive from a few facts is gathered, and the slots of all of it are asked for
// before the first is looked at. An index that is not needed meanwhile is brought up
// to date when it is (plan.Relation.Late).

// headsMax is how many heads are gathered: enough that memory is asked for all that it
// can bring at a time, and few enough to stay in the nearest cache.
const headsMax = 16

// gathers reports whether heads of recursive rules are gathered: of columns that are small
// and have their hash quickly, where none takes the place of another.
func (t *table) gathers() bool {
	if !t.Recursive || t.Merges || len(t.Columns) == 0 {
		return false
	}
	for _, c := range t.Columns {
		if c.Type.Kind != logic.U64 && c.Type.Kind != logic.Int && c.Type.Kind != logic.Bool {
			return false
		}
	}
	return true
}

// gather writes how heads are gathered.
func (g *generator) gather(t *table) {
	g.p("// %sHead is a fact that has been derived, and its hash.\ntype %sHead struct {\nhash uint32", t.typ, t.typ)
	for i, c := range t.columns {
		g.p("%s %s", c, goType(t.Columns[i].Type))
	}
	g.p("}\n")
	g.p("// later has a fact be added with the next ones.\nfunc (t *%s) later(%s) {", t.typ, t.params(t.all()))
	g.p("t.heads[t.gathered] = %sHead{hash: %s, %s}", t.typ, t.hash(g, "", t.key()), g.fields(t))
	g.p("t.gathered++\nif t.gathered == len(t.heads) {\nt.addGathered()\n}\n}\n")
	g.p("// addGathered adds what is gathered.\nfunc (t *%s) addGathered() {", t.typ)
	g.p("heads, touched := t.heads[:t.gathered], uint64(0)")
	g.p("for i := range heads {\ntouched ^= t.set.Touch(heads[i].hash)\n}")
	g.p("t.touched, t.gathered = touched, 0")
	add := "t.addAt(%s)"
	if t.tracked() {
		add = "t.Recurse(t.rowAt(%s))"
	}
	g.p("for i := range heads {\np := &heads[i]\n"+add+"\n}\n}\n", list("p.hash", t.args("p.", t.all())))
}

// links writes how the late indexes are brought up to date.
func (g *generator) links(t *table) {
	for n, late := range t.Late {
		if late {
			g.link(t, n)
		}
	}
}

func (g *generator) link(t *table, n int) {
	g.p("// link%d has the rows be found by %s that were added since it was last asked.", n, t.args("", t.Indexes[n]))
	g.p("func (t *%s) link%d() {\nfrom := t.linked%d\nt.linked%d = int32(len(t.rows))", t.typ, n, n, n)
	g.p("for i := from; i < t.linked%d; i++ {\nif t.Used(i) {\nt.link%dRow(i)\n}\n}\n}\n", n, n)
	g.p("func (t *%s) link%dRow(i int32) {\nr := &t.rows[i]\nh := %s", t.typ, n, t.hashOf(g, n))
	g.linked(t, n, "h", "r.")
	g.p("}\n")
}
