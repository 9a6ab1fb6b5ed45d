// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/plan"
)

// table is what is generated for a relation of a component: a type with the rows,
// a hash table of them, and one for each index, whose rows are linked.
type table struct {
	*plan.Relation
	// typ is the name of the type, field that of the component's field.
	typ, field string
	// columns are the names of the fields of a row.
	columns []string
}

// newTable names what is generated for a relation.
func (g *generator) newTable(r *plan.Relation, component string, fields names) *table {
	t := &table{Relation: r, typ: g.names.fresh(component+title(r.Name), "Row", "Head"), field: fields.fresh(r.Name)}
	own := newNames()
	for i, c := range r.Columns {
		name := c.Name
		if strings.HasPrefix(name, "link") || strings.HasPrefix(name, "h") && len(name) < 4 || slices.Contains(local, name) {
			name += "_"
		}
		if name == "" {
			name = fmt.Sprintf("c%d", i)
		}
		t.columns = append(t.columns, own.fresh(name))
	}
	return t
}

// local are the names of variables in the methods of a table.
var local = []string{"t", "i", "r", "at", "tag", "other", "l", "joined", "merged", "begin", "hash", "hashes"}

func (t *table) tracked() bool { return t.Class == plan.Tracked }

// all are the numbers of the columns.
func (t *table) all() []int {
	out := make([]int, len(t.columns))
	for i := range out {
		out[i] = i
	}
	return out
}

// key are the columns that identify a row.
func (t *table) key() []int {
	if t.Merges && !t.tracked() {
		return t.Key()
	}
	return t.all()
}

// params are columns as parameters of a function.
func (t *table) params(columns []int) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = t.columns[c] + " " + goType(t.Columns[c].Type)
	}
	return strings.Join(out, ", ")
}

// args are columns as arguments, each with something before its name.
func (t *table) args(before string, columns []int) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = before + t.columns[c]
	}
	return strings.Join(out, ", ")
}

// hash is an expression for the hash of columns. That of all columns begins with
// those of the first index, so that a row's begin is the same.
func (t *table) hash(g *generator, before string, columns []int) string {
	h := g.use(rtPath) + ".Hash(0)"
	for _, c := range t.hashOrder(columns) {
		h = g.hashed(h, t.Columns[c].Type, before+t.columns[c])
	}
	return h + ".Sum()"
}

// shares reports whether the hash of all columns begins with that of the first index: not
// where the one is needed without the other.
func (t *table) shares() bool {
	if len(t.Indexes) == 0 || t.gathers() || t.Late[0] && !t.remembers() {
		return false
	}
	return len(t.Indexes[0]) > 0 && len(t.key()) == len(t.columns)
}

func (t *table) hashOrder(columns []int) []int {
	if !t.shares() || len(columns) != len(t.columns) {
		return columns
	}
	out := slices.Clone(t.Indexes[0])
	for _, c := range columns {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// remembers reports whether rows remember their hashes, as these take time to compute.
func (t *table) remembers() bool {
	return t.tracked() && slices.ContainsFunc(t.Columns, func(c logic.Column) bool {
		return c.Type.Kind != logic.U64 && c.Type.Kind != logic.Int && c.Type.Kind != logic.Bool
	})
}

// equal is an expression for whether the columns of a row are those of parameters.
func (t *table) equal(g *generator, row, with string, columns []int) string {
	out := []string{}
	for _, c := range columns {
		out = append(out, g.equal(t.Columns[c].Type, row+"."+t.columns[c], with+t.columns[c]))
	}
	if len(out) == 0 {
		return "true"
	}
	return strings.Join(out, " && ")
}

// index is the number of the index on the columns.
func (t *table) index(columns []int) int {
	return slices.IndexFunc(t.Indexes, func(c []int) bool { return slices.Equal(c, columns) })
}

// table writes a relation's type.
func (g *generator) table(t *table) {
	rt := g.use(rtPath)
	what := t.Name + "(" + t.args("", t.all()) + ")"
	if t.Made != "" {
		what += ": " + t.Made
	}
	if t.Inline {
		g.p("// %sRow is a fact of %s, which are not kept: what the aggregate finds is passed on.", t.typ, what)
		g.p("type %sRow struct {", t.typ)
		for i, c := range t.columns {
			g.p("%s %s", c, goType(t.Columns[i].Type))
		}
		g.p("hash uint32 // of its group\n}\n")
		return
	}
	class := [...]string{plan.Static: "always the same", plan.Passing: "those of this tick", plan.Tracked: "kept from tick to tick"}[t.Class]
	g.p("// %s has the facts of %s, %s.", t.typ, what, class)
	g.p("type %s struct {", t.typ)
	if t.tracked() {
		g.p("%s.Facts", rt)
	}
	g.p("rows []%sRow", t.typ)
	if !t.Bag {
		g.p("set %s.Slots", rt)
	}
	for i, c := range t.Indexes {
		g.p("by%d %s.Slots // by %s", i, rt, t.args("", c))
		if t.Late[i] {
			g.p("linked%d int32 // so many rows have been found by%d", i, i)
		}
	}
	if t.gathers() {
		g.p("heads [%d]%sHead\ngathered int // so many of heads are to be added\ntouched uint64", headsMax, t.typ)
	}
	if !t.tracked() && t.Carried {
		g.p("carried []%sRow", t.typ)
	}
	if !t.tracked() && t.Recursive {
		g.p("work []int32")
	}
	g.p("}\n\ntype %sRow struct {", t.typ)
	for i, c := range t.columns {
		g.p("%s %s", c, goType(t.Columns[i].Type))
	}
	for i := range t.Indexes {
		g.p("link%d %s.Link", i, rt)
	}
	if t.remembers() {
		g.p("hashes [%d]uint32 // of the row, and of its columns of each index", 1+len(t.Indexes))
	}
	g.p("}\n")
	g.p("func new%s() %s {\nreturn %s{", title(t.typ), t.typ, t.typ)
	if t.tracked() {
		g.p("Facts: %s.NewFacts(%v, %v),", rt, t.Recursive, t.Durable)
	}
	if !t.Bag {
		g.p("set: %s.NewSlots(),", rt)
	}
	for i := range t.Indexes {
		g.p("by%d: %s.NewSlots(),", i, rt)
	}
	g.p("}\n}\n")
	if t.Bag {
		g.p("// add adds a fact, which may be there.\nfunc (t *%s) add(%s) {", t.typ, t.params(t.all()))
		g.p("t.rows = %s.Append(t.rows, %sRow{%s})\n}\n", rt, t.typ, g.fields(t))
		g.reset(t)
		return
	}
	g.find(t)
	for i := range t.Indexes {
		g.first(t, i)
	}
	switch {
	case t.tracked():
		g.row(t)
		g.links(t)
		if t.Merges {
			g.join(t)
		}
		g.remove(t)
	default:
		g.addPassing(t)
		if t.Carried {
			g.p("// carry has a fact hold in the next tick.\nfunc (t *%s) carry(%s) {", t.typ, t.params(t.all()))
			g.p("t.carried = append(t.carried, %sRow{%s})\n}\n", t.typ, g.fields(t))
		}
		if t.Class == plan.Passing {
			g.reset(t)
		}
	}
	if t.gathers() {
		g.gather(t)
	}
}

// fields are the columns of a row from parameters of their names.
func (g *generator) fields(t *table) string {
	var out []string
	for _, c := range t.columns {
		out = append(out, c+": "+c)
	}
	return strings.Join(out, ", ")
}

// find writes the search by all columns.
func (g *generator) find(t *table) {
	all := t.all()
	g.p("// find is the row of a fact, or -1.\nfunc (t *%s) find(%s) int32 {\nreturn t.at(%s)\n}\n", t.typ, t.params(all),
		list(t.hash(g, "", t.key()), t.args("", all)))
	g.p("// at is find of a fact whose hash is known.\nfunc (t *%s) at(%s) int32 {", t.typ, list("h uint32", t.params(all)))
	g.search(t, "set", "h", t.all(), "return int32(i - 1)", "return -1")
	g.p("}\n")
}

// search writes the search for a row by columns that are variables of their
// names, which ends with a statement.
func (g *generator) search(t *table, slots, hash string, columns []int, found, missing string) {
	g.p("for at := %s; ; at++ {\ni, tag := t.%s.At(at)\nif i == 0 {\n%s\n}", hash, slots, missing)
	condition := "tag == " + hash
	if len(columns) > 0 {
		g.p("if %s {\nif r := &t.rows[i-1]; %s {\n%s\n}\n}\n}", condition, t.equal(g, "r", "", columns), found)
		return
	}
	g.p("if %s {\n%s\n}\n}", condition, found)
}

// first writes the search by an index.
func (g *generator) first(t *table, index int) {
	c := t.Indexes[index]
	g.p("// first%d is the first row of %s, or -1; the others are linked to it.", index, either(t.args("", c), "all"))
	g.p("func (t *%s) first%d(%s) int32 {\nreturn t.at%d(%s)\n}\n", t.typ, index, t.params(c), index,
		list(t.hash(g, "", c), t.args("", c)))
	g.p("// at%d is first%d of columns whose hash is known.\nfunc (t *%s) at%d(%s) int32 {", index, index, t.typ, index,
		list("h uint32", t.params(c)))
	if t.Late[index] {
		g.p("if int(t.linked%d) < len(t.rows) {\nt.link%d()\n}", index, index)
	}
	g.search(t, fmt.Sprintf("by%d", index), "h", c, "return int32(i - 1)", "return -1")
	g.p("}\n")
}

// list is two lists as one.
func list(a, b string) string { return strings.TrimSuffix(a+", "+b, ", ") }

func either(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// hashes writes the hash h of a row and those of the indexes, h0, h1, ...
func (g *generator) hashes(t *table) {
	if !t.shares() {
		g.p("h := %s", t.hash(g, "", t.key()))
		return
	}
	begin, h := t.hash(g, "", t.Indexes[0]), "begin"
	g.p("begin := %s", strings.TrimSuffix(begin, ".Sum()"))
	for _, c := range t.hashOrder(t.all())[len(t.Indexes[0]):] {
		h = g.hashed(h, t.Columns[c].Type, t.columns[c])
	}
	g.p("h := %s.Sum()", h)
}

// insert writes that a row, whose columns are variables, gets a place i, and is
// found from then on.
func (g *generator) insert(t *table) {
	rt := g.use(rtPath)
	for n, c := range t.Indexes {
		if t.Late[n] && !t.remembers() {
			continue
		}
		if n == 0 && t.shares() {
			g.p("h0 := begin.Sum()")
		} else {
			g.p("h%d := %s", n, t.hash(g, "", c))
		}
	}
	fields := g.fields(t)
	if t.remembers() {
		all := []string{"h"}
		for n := range t.Indexes {
			all = append(all, fmt.Sprintf("h%d", n))
		}
		fields += fmt.Sprintf(", hashes: [%d]uint32{%s}", len(all), strings.Join(all, ", "))
	}
	row := fmt.Sprintf("%sRow{%s}", t.typ, fields)
	if t.tracked() {
		g.p("i := t.Row()\nif int(i) == len(t.rows) {\nt.rows = %s.Append(t.rows, %s)\n} else {\nt.rows[i] = %s\n}", rt, row, row)
	} else {
		g.p("i := int32(len(t.rows))\nt.rows = %s.Append(t.rows, %s)", rt, row)
	}
	g.p("t.set.Add(h, i)")
	for n := range t.Indexes {
		if t.Late[n] {
			// A row that was in use before is not met again when the others are linked.
			g.p("if i < t.linked%d {\nt.link%dRow(i)\n}", n, n)
			continue
		}
		g.linked(t, n, fmt.Sprintf("h%d", n), "")
	}
}

// linked writes that row i is found by an index, from a hash and columns of which
// each has something before its name.
func (g *generator) linked(t *table, n int, hash, before string) {
	rt := g.use(rtPath)
	g.p("if other := t.at%d(%s); other >= 0 {", n, list(hash, t.args(before, t.Indexes[n])))
	g.p("t.rows[i].link%d = %s.Link{Next: other, Prev: %s.None}\nt.rows[other].link%d.Prev = i\nt.by%d.Replace(%s, other, i)", n, rt, rt, n, n, hash)
	g.p("} else {\nt.rows[i].link%d = %s.Link{Next: %s.None, Prev: %s.None}\nt.by%d.Add(%s, i)\n}", n, rt, rt, rt, n, hash)
}

// hashOf is an expression for a hash of row r: of the row with -1, and else of the
// columns of an index.
func (t *table) hashOf(g *generator, index int) string {
	switch {
	case t.remembers():
		return fmt.Sprintf("r.hashes[%d]", index+1)
	case index < 0:
		return t.hash(g, "r.", t.all())
	}
	return t.hash(g, "r.", t.Indexes[index])
}

// row writes the search that adds what it does not find.
func (g *generator) row(t *table) {
	g.p("// row is the row of a fact, which is added if it is not there.\nfunc (t *%s) row(%s) int32 {", t.typ, t.params(t.all()))
	if !t.shares() {
		g.p("return t.rowAt(%s)\n}\n", list(t.hash(g, "", t.key()), t.args("", t.all())))
		g.p("// rowAt is row of a fact whose hash is known.\nfunc (t *%s) rowAt(%s) int32 {", t.typ, list("h uint32", t.params(t.all())))
	} else {
		g.hashes(t)
	}
	g.search(t, "set", "h", t.all(), "return int32(i - 1)", "break search")
	text := g.out.String()
	// The loop gets its label.
	at := strings.LastIndex(text, "for at := h")
	g.out.Truncate(at)
	g.out.WriteString("search:\n" + text[at:])
	g.insert(t)
	g.p("return i\n}\n")
}

// remove writes that a row is taken out.
func (g *generator) remove(t *table) {
	g.p("func (t *%s) remove(i int32) {\nr := &t.rows[i]", t.typ)
	g.p("t.set.Remove(%s, i)", t.hashOf(g, -1))
	for n := range t.Indexes {
		if t.Late[n] {
			g.p("if i < t.linked%d {", n)
		}
		g.p("if l := r.link%d; l.Prev >= 0 {\nt.rows[l.Prev].link%d.Next = l.Next\n} else if l.Next >= 0 {", n, n)
		g.p("t.by%d.Replace(%s, i, l.Next)\n} else {\nt.by%d.Remove(%s, i)\n}", n, t.hashOf(g, n), n, t.hashOf(g, n))
		g.p("if l := r.link%d; l.Next >= 0 {\nt.rows[l.Next].link%d.Prev = l.Prev\n}", n, n)
		if t.Late[n] {
			g.p("}")
		}
	}
	g.p("*r = %sRow{}\n}\n", t.typ)
}

// addPassing writes that a fact is added to those of a tick, or merged with one.
func (g *generator) addPassing(t *table) {
	g.p("// add adds a fact.\nfunc (t *%s) add(%s) {", t.typ, t.params(t.all()))
	if t.gathers() {
		g.p("t.addAt(%s)\n}\n", list(t.hash(g, "", t.key()), t.args("", t.all())))
		g.p("// addAt is add of a fact whose hash is known.\nfunc (t *%s) addAt(%s) {", t.typ, list("h uint32", t.params(t.all())))
	} else {
		g.hashes(t)
	}
	found := "return"
	if t.Merges {
		found = g.mergeInto(t)
		if t.Recursive {
			found += "\nif merged {\nt.work = append(t.work, int32(i-1))\n}\nreturn"
		} else {
			found += "\nreturn"
		}
	}
	g.search(t, "set", "h", t.key(), found, "break search")
	text := g.out.String()
	at := strings.LastIndex(text, "for at := h")
	g.out.Truncate(at)
	g.out.WriteString("search:\n" + text[at:])
	g.insert(t)
	if t.Recursive {
		g.p("t.work = %s.Append(t.work, i)", g.use(rtPath))
	}
	g.p("}\n")
	if t.Recursive {
		g.p("// Work is a row from which others are to be derived, or -1.\nfunc (t *%s) Work() int32 {", t.typ)
		g.p("n := len(t.work)\nif n == 0 {\nreturn -1\n}\ni := t.work[n-1]\nt.work = t.work[:n-1]\nreturn i\n}\n")
	}
}

// mergeInto are statements that merge variables of the columns' names into the row
// i-1.
func (g *generator) mergeInto(t *table) string {
	var b strings.Builder
	row := "r"
	if len(t.key()) == 0 {
		b.WriteString("r := &t.rows[i-1]\n")
	}
	if t.Recursive {
		b.WriteString("merged := false\n")
	}
	for i, c := range t.Columns {
		if c.Lattice == logic.NoLattice {
			continue
		}
		name := t.columns[i]
		field := row + "." + name
		merged := ""
		if t.Recursive {
			merged = "\nmerged = true"
		}
		if c.Lattice == logic.SetLattice {
			fmt.Fprintf(&b, "if joined := %s; len(joined) > len(%s) {\n%s = joined%s\n}\n", g.joined(c, field, name), field, field, merged)
			continue
		}
		fmt.Fprintf(&b, "if %s {\n%s = %s%s\n}\n", g.grows(c, field, name), field, name, merged)
	}
	return b.String()
}

// grows is an expression for whether v is more than the old value, in the order of
// a column's lattice.
func (g *generator) grows(c logic.Column, old, v string) string {
	switch {
	case c.Lattice == logic.OrLattice:
		return v + " && !" + old
	case c.Lattice == logic.MinLattice:
		return fmt.Sprintf("%s(%s, %s) < 0", g.compare(c.Type), v, old)
	}
	return fmt.Sprintf("%s(%s, %s) > 0", g.compare(c.Type), v, old)
}

func (g *generator) joined(c logic.Column, a, b string) string {
	return fmt.Sprintf("%s.Union(%s, %s, %s)", g.use(rtPath), a, b, g.compare(*c.Type.Elem))
}

// join writes that a fact is merged with the one that holds, in a recursive
// relation that is tracked: another row takes its place.
func (g *generator) join(t *table) {
	n := t.index(t.Key())
	g.p("// join has a fact hold, merged with the one that does.\nfunc (t *%s) join(%s) {", t.typ, t.params(t.all()))
	g.p("for i := t.first%d(%s); i >= 0; i = t.rows[i].link%d.Next {", n, t.args("", t.Key()), n)
	g.p("if !t.Is(i) {\ncontinue\n}\nr, merged := t.rows[i], false")
	for i, c := range t.Columns {
		name := t.columns[i]
		switch c.Lattice {
		case logic.NoLattice:
		case logic.SetLattice:
			g.p("if joined := %s; len(joined) > len(r.%s) {\n%s, merged = joined, true\n} else {\n%s = r.%s\n}", g.joined(c, "r."+name, name), name, name, name, name)
		default:
			g.p("if %s {\nmerged = true\n} else {\n%s = r.%s\n}", g.grows(c, "r."+name, name), name, name)
		}
	}
	g.p("if !merged {\nreturn\n}\nt.Replaced(i)\nbreak\n}")
	g.p("t.Recurse(t.row(%s))\n}\n", t.args("", t.all()))
}

// reset writes the end of a tick.
func (g *generator) reset(t *table) {
	g.p("// reset forgets the facts of the tick.\nfunc (t *%s) reset() {\nif len(t.rows) > 0 {\nclear(t.rows)\nt.rows = t.rows[:0]", t.typ)
	if !t.Bag {
		g.p("t.set.Clear()")
	}
	for i := range t.Indexes {
		g.p("t.by%d.Clear()", i)
	}
	g.p("}")
	if t.Recursive {
		g.p("t.work = t.work[:0]")
	}
	if t.Carried {
		each := "for _, r := range carried"
		if len(t.all()) == 0 {
			each = "for range carried"
		}
		g.p("carried := t.carried\nt.carried = t.carried[:0]\n%s {\nt.add(%s)\n}\nclear(carried)", each, t.args("r.", t.all()))
	}
	g.p("}\n")
}
