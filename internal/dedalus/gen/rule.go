// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/plan"
)

// comment says which rule something comes from.
func (g *generator) comment(r *plan.Rule) string {
	switch {
	case r.Source == nil:
		return r.Made
	case r.Source.Span.IsValid():
		p := r.Source.Span.From()
		name := r.Source.Span.File.Name
		name = name[strings.LastIndexByte(name, '/')+1:]
		return fmt.Sprintf("%s:%d: %v", name, p.Line, r.Source)
	case r.Source.Origin != "":
		return fmt.Sprintf("%s: %v", r.Source.Origin, r.Source)
	}
	return r.Source.String()
}

// variant is one way to evaluate a rule, while it is written.
type variant struct {
	*scope
	c       *componentWriter
	rule    *plan.Rule
	variant *plan.Variant
	name    string
	// same are, for the rows that are at hand, the expressions that are equal to
	// their columns.
	same map[string][][]string
	// of are the tables of these rows.
	of map[string]*table
}

// variantName is the method's name.
func variantName(c *componentWriter, r *plan.Rule, v *plan.Variant) string {
	name := c.rules[r]
	if v.Start == plan.FromNothing {
		return name + "First"
	}
	return name + [...]string{plan.FromAll: "All", plan.FromChanges: "Changes", plan.FromWork: "Work"}[v.Start] + fmt.Sprint(v.Literal)
}

// rule writes the methods of a rule.
func (c *componentWriter) rule(r *plan.Rule) {
	for _, v := range r.Variants {
		w := &variant{c: c, rule: r, variant: v, name: variantName(c, r, v), same: map[string][][]string{}, of: map[string]*table{},
			scope: &scope{g: c.generator, vars: map[string]string{}, self: "s.self", count: new(int)}}
		w.write()
	}
}

func (w *variant) write() {
	v := w.variant
	params, out := "", w.c.sends(w.rule)
	if out {
		params = "out *" + w.g.use(rtPath) + ".Out"
	}
	how := "in the first tick"
	if v.Literal >= 0 {
		l := &w.rule.Body[v.Literal]
		of := l.Relation.Name
		if l.Negated {
			of = "not " + of
		}
		how = [...]string{plan.FromAll: "from all of ", plan.FromChanges: "from the changes of ", plan.FromWork: "from a new fact of "}[v.Start] + of
	}
	if v.Start == plan.FromWork {
		params = "i0 int32"
	}
	if w.inline() {
		params = fmt.Sprintf("r0 *%sRow, sign int32", w.c.tables[w.rule.Body[v.Literal].Relation].typ)
		how = "for a change of " + w.rule.Body[v.Literal].Relation.Name
	}
	w.c.p("// %s is, %s,\n// %s", w.name, how, w.c.comment(w.rule))
	w.c.p("func (s *%s) %s(%s) {", w.c.name, w.name, params)
	w.c.p("%s}\n", w.start())
}

// inline reports whether the variant is given what it starts from.
func (w *variant) inline() bool {
	return w.variant.Start == plan.FromChanges && w.rule.Body[w.variant.Literal].Relation.Inline
}

// start is the loop over what the variant starts from.
func (w *variant) start() string {
	v := w.variant
	if v.Start == plan.FromNothing {
		w.fail = "return"
		inner := w.steps(0)
		return declared("sign := int32(1)", inner)
	}
	l := &w.rule.Body[v.Literal]
	t := w.c.tables[l.Relation]
	w.fail = "continue"
	if v.Start == plan.FromWork || w.inline() {
		w.fail = "return"
	}
	pre := w.bind(l, t, "r0", nil)
	inner := pre + w.steps(0)
	if w.inline() {
		return inner
	}
	row := declared(fmt.Sprintf("r0 := &s.%s.rows[i0]", t.field), inner)
	switch {
	case v.Start == plan.FromWork:
		return row
	case v.Start == plan.FromChanges && (w.rule.Recursive || w.rule.Kind == logic.Async):
		return fmt.Sprintf("for _, i0 := range s.%s.Changes {\nif !s.%s.Is(i0) {\ncontinue\n}\n%s}\n", t.field, t.field, row)
	case v.Start == plan.FromChanges:
		sign := fmt.Sprintf("sign := s.%s.Sign(i0)", t.field)
		if l.Negated {
			sign = fmt.Sprintf("sign := -s.%s.Sign(i0)", t.field)
		}
		return fmt.Sprintf("for _, i0 := range s.%s.Changes {\n%s}\n", t.field, declared(sign, row))
	}
	return w.scan(t, "i0", "Is", row)
}

// declared puts a declaration before statements, if they use what it declares.
func declared(declaration, inner string) string {
	name, _, _ := strings.Cut(declaration, " ")
	if regexp.MustCompile(`\b` + name + `\b`).MatchString(inner) {
		return declaration + "\n" + inner
	}
	return inner
}

// used puts calls of functions that may have no value before statements; a value
// that they do not use is not kept.
func used(before, inner string) string {
	text := before + inner
	for _, m := range regexp.MustCompile(`(v\d+), okv\d+ :=`).FindAllStringSubmatch(before, -1) {
		if len(regexp.MustCompile(`\b`+m[1]+`\b`).FindAllString(text, 2)) < 2 {
			text = strings.Replace(text, m[0], "_"+m[0][len(m[1]):], 1)
		}
	}
	return text
}

// scan is a loop over all rows.
func (w *variant) scan(t *table, i, holds, inner string) string {
	switch {
	case t.tracked() && t.Pulse:
		return fmt.Sprintf("for _, %s := range s.%s.Recent() {\nif !s.%s.%s(%s) {\ncontinue\n}\n%s}\n", i, t.field, t.field, holds, i, inner)
	case t.tracked():
		return fmt.Sprintf("for %s := range int32(len(s.%s.rows)) {\nif !s.%s.%s(%s) {\ncontinue\n}\n%s}\n", i, t.field, t.field, holds, i, inner)
	}
	if !regexp.MustCompile(`\b` + i + `\b`).MatchString(inner) {
		return fmt.Sprintf("for range s.%s.rows {\n%s}\n", t.field, inner)
	}
	return fmt.Sprintf("for %s := range s.%s.rows {\n%s}\n", i, t.field, inner)
}

// bind gives the variables of an atom that have none values from a row, and
// compares the others; columns that have been looked up need not be.
func (w *variant) bind(l *plan.Literal, t *table, row string, looked []int) string {
	var b strings.Builder
	w.of[row], w.same[row] = t, make([][]string, len(l.Args))
	for i, a := range l.Args {
		field := row + "." + t.columns[i]
		w.same[row][i] = []string{field}
		if slices.Contains(looked, i) {
			w.same[row][i] = append(w.same[row][i], w.expr(a))
		}
		switch {
		case slices.Contains(looked, i), a.Kind == logic.Wildcard:
		case a.Kind == logic.Var && w.vars[a.Name] == "":
			w.vars[a.Name] = field
		default:
			fmt.Fprintf(&b, "if %s {\n%s\n}\n", w.g.different(t.Columns[i].Type, field, w.expr(a)), w.fail)
		}
	}
	return b.String()
}

// steps are the statements for the literals from a number on, and for the head.
func (w *variant) steps(n int) string {
	if n == len(w.variant.Steps) {
		return w.head()
	}
	step := &w.variant.Steps[n]
	l := &w.rule.Body[step.Literal]
	switch {
	case l.Compare != nil:
		condition := w.holds(l.Compare)
		return w.statements() + fmt.Sprintf("if !(%s) {\n%s\n}\n", condition, w.fail) + w.steps(n+1)
	case l.Assign != nil && step.Known:
		value := w.expr(l.Assign.Term)
		return w.statements() + fmt.Sprintf("if %s {\n%s\n}\n", w.g.different(l.Assign.Term.Type, value, w.vars[l.Assign.Var]), w.fail) + w.steps(n+1)
	case l.Assign != nil:
		value := w.expr(l.Assign.Term)
		before, name := w.statements(), w.fresh("v")
		w.vars[l.Assign.Var] = name
		if l.Assign.Term.Kind != logic.Call {
			w.vars[l.Assign.Var] = value
			if l.Assign.Term.Kind == logic.Const {
				w.vars[l.Assign.Var] = fmt.Sprintf("%s(%s)", goType(l.Assign.Term.Type), value)
			}
		}
		return used(before, declared(name+" := "+value, w.steps(n+1)))
	}
	return w.atom(n, step, l)
}

// atom are the statements for a step that is an atom.
func (w *variant) atom(n int, step *plan.Step, l *plan.Literal) string {
	t := w.c.tables[l.Relation]
	holds := "Is"
	if step.Before {
		holds = "Was"
	}
	args := make([]string, len(l.Args))
	for i, a := range l.Args {
		if slices.Contains(step.Bound, i) {
			args[i] = w.expr(a)
		}
	}
	if len(step.Bound) == len(l.Args) {
		return w.lookUp(n, l, t, holds, args)
	}
	if l.Negated && len(step.Bound) == 0 && !step.Before {
		size := "len(s." + t.field + ".rows)"
		if t.tracked() {
			size = "s." + t.field + ".Held()"
		}
		return fmt.Sprintf("if %s > 0 {\n%s\n}\n", size, w.fail) + w.steps(n+1)
	}
	id := w.fresh("")
	i, row := "i"+id, "r"+id
	cols := plan.IndexColumns(l.Relation, step.Bound)
	looked := cols
	fail := w.fail
	w.fail = "continue"
	index, key := t.index(cols), pick(args, cols)
	first := fmt.Sprintf("first%d(%s)", index, strings.Join(key, ", "))
	if h := w.hash(key); h != "" { // asked before the row is there
		first = fmt.Sprintf("at%d(%s)", index, list(h, strings.Join(key, ", ")))
	}
	loop := func(inner string) string {
		if len(cols) == 0 {
			return w.scan(t, i, holds, inner)
		}
		check := ""
		if t.tracked() {
			check = fmt.Sprintf("if !s.%s.%s(%s) {\ncontinue\n}\n", t.field, holds, i)
		}
		return fmt.Sprintf("for %s := s.%s.%s; %s >= 0; %s = s.%s.rows[%s].link%d.Next {\n%s%s}\n",
			i, t.field, first, i, i, t.field, i, index, check, inner)
	}
	if l.Negated || step.Once {
		found := "found" + id
		// Variables that the atom would bind are not used any more.
		vars := w.vars
		w.vars = map[string]string{}
		for k, v := range vars {
			w.vars[k] = v
		}
		pre := w.bind(l, t, row, looked)
		w.vars, w.fail = vars, fail
		// Nor is its row: what follows is outside of the loop.
		delete(w.same, row)
		text := fmt.Sprintf("%s := false\n%s", found, loop(declared(fmt.Sprintf("%s := &s.%s.rows[%s]", row, t.field, i), pre+found+" = true\nbreak\n")))
		not := "!"
		if l.Negated {
			not = ""
		}
		return text + fmt.Sprintf("if %s%s {\n%s\n}\n", not, found, fail) + w.steps(n+1)
	}
	pre := w.bind(l, t, row, looked)
	inner := pre + w.steps(n+1)
	w.fail = fail
	return loop(declared(fmt.Sprintf("%s := &s.%s.rows[%s]", row, t.field, i), inner))
}

// lookUp are the statements for an atom of which all columns are known.
func (w *variant) lookUp(n int, l *plan.Literal, t *table, holds string, args []string) string {
	find := fmt.Sprintf("s.%s.find(%s)", t.field, strings.Join(args, ", "))
	if h := w.hash(pick(args, t.hashOrder(t.key()))); h != "" {
		find = fmt.Sprintf("s.%s.at(%s)", t.field, list(h, strings.Join(args, ", ")))
	}
	i := "i" + w.fresh("")
	switch {
	case t.tracked() && l.Negated:
		return fmt.Sprintf("if %s := %s; %s >= 0 && s.%s.%s(%s) {\n%s\n}\n", i, find, i, t.field, holds, i, w.fail) + w.steps(n+1)
	case t.tracked():
		return fmt.Sprintf("if %s := %s; %s < 0 || !s.%s.%s(%s) {\n%s\n}\n", i, find, i, t.field, holds, i, w.fail) + w.steps(n+1)
	case l.Negated:
		return fmt.Sprintf("if %s >= 0 {\n%s\n}\n", find, w.fail) + w.steps(n+1)
	}
	return fmt.Sprintf("if %s < 0 {\n%s\n}\n", find, w.fail) + w.steps(n+1)
}

// head are the statements for what the rule derives.
func (w *variant) head() string {
	r := w.rule
	args := make([]string, len(r.Args))
	for i, a := range r.Args {
		args[i] = w.expr(a.Term)
	}
	if r.Kind == logic.Async {
		return w.send(args)
	}
	if r.Grouping != nil {
		for _, t := range r.Grouping.Rows[len(r.Args):] {
			args = append(args, w.expr(t))
		}
		if !r.Pulse {
			args = append(args, "sign")
		}
		if !r.Grouping.Kept {
			args = append([]string{w.groupHash(args)}, args...)
		}
		return w.statements() + fmt.Sprintf("s.%s.add(%s)\n", w.c.groups[r].field, strings.Join(args, ", "))
	}
	t := w.c.tables[r.Head]
	all := strings.Join(args, ", ")
	row := w.row(t, args)
	before := w.statements()
	gather := r.Recursive && r.Kind == logic.Sync && t.gathers() && strings.HasPrefix(row, "s.")
	switch {
	case gather && !t.tracked():
		return before + fmt.Sprintf("s.%s.later(%s)\n", t.field, all)
	case !t.tracked() && r.Kind == logic.Next:
		return before + fmt.Sprintf("s.%s.carry(%s)\n", t.field, all)
	case !t.tracked():
		return before + fmt.Sprintf("s.%s.add(%s)\n", t.field, all)
	case r.Kind == logic.Next && r.Pulse:
		return before + fmt.Sprintf("s.%s.Pass(%s)\n", t.field, row)
	case r.Kind == logic.Next:
		return before + fmt.Sprintf("s.%s.Next(%s, sign)\n", t.field, row)
	case r.Recursive:
		stale := ""
		if r.Pulse {
			stale = "s." + w.c.stale[r.Head] + " = true\n"
		}
		if t.Merges {
			return before + stale + fmt.Sprintf("s.%s.join(%s)\n", t.field, all)
		}
		if gather {
			return before + stale + fmt.Sprintf("s.%s.later(%s)\n", t.field, all)
		}
		return before + stale + fmt.Sprintf("s.%s.Recurse(%s)\n", t.field, row)
	case r.Pulse:
		return before + fmt.Sprintf("s.%s.Pulse(%s)\n", t.field, row)
	}
	return before + fmt.Sprintf("s.%s.Derive(%s, sign)\n", t.field, row)
}

// row is an expression for the row of a fact: one that is at hand, if it is that.
func (w *variant) row(t *table, args []string) string {
	if len(args) > 0 {
		for _, row := range slices.Sorted(maps.Keys(w.same)) {
			at := w.same[row]
			if w.of[row] != t || w.inline() {
				continue
			}
			equal := true
			for i, a := range args {
				equal = equal && slices.Contains(at[i], a)
			}
			if equal {
				return "i" + row[1:]
			}
		}
	}
	if h := w.hash(args); h != "" && t.tracked() && !t.shares() {
		return fmt.Sprintf("s.%s.rowAt(%s)", t.field, list(h, strings.Join(args, ", ")))
	}
	return fmt.Sprintf("s.%s.row(%s)", t.field, strings.Join(args, ", "))
}

// pick are some of the arguments, in an order.
func pick(args []string, order []int) []string {
	out := make([]string, len(order))
	for i, c := range order {
		out[i] = args[c]
	}
	return out
}

// hash is an expression for the hash of values, if a row that is at hand remembers
// it: the same columns are often asked for in one relation after the other. It is
// empty where none does.
func (w *variant) hash(args []string) string {
	for _, row := range slices.Sorted(maps.Keys(w.same)) {
		t, at := w.of[row], w.same[row]
		equal := func(columns []int) bool {
			return len(columns) > 0 && slices.EqualFunc(columns, args, func(c int, a string) bool { return slices.Contains(at[c], a) })
		}
		switch {
		case t.Inline:
			if equal(w.c.grouped(t)) {
				return row + ".hash"
			}
			continue
		case !t.remembers():
			continue
		case equal(t.hashOrder(t.key())):
			return row + ".hashes[0]"
		}
		for n, c := range t.Indexes {
			if equal(t.hashOrder(c)) {
				return fmt.Sprintf("%s.hashes[%d]", row, n+1)
			}
		}
	}
	return ""
}

// grouped are the columns of a relation that an aggregate passes on which are its
// group, in the order in which they are hashed.
func (c *componentWriter) grouped(t *table) []int {
	for r := range c.groups {
		if r.Head == t.Relation {
			return r.Grouping.Group
		}
	}
	return nil
}

// groupHash is an expression for the hash of the group of a row.
func (w *variant) groupHash(args []string) string {
	d := w.rule.Grouping
	if h := w.hash(pick(args, d.Group)); h != "" {
		return h
	}
	h := w.g.use(rtPath) + ".Hash(0)"
	for _, i := range d.Group {
		h = w.g.hashed(h, d.Rows[i].Type, args[i])
	}
	return h + ".Sum()"
}

// send are the statements for a message.
func (w *variant) send(args []string) string {
	to := w.expr(w.rule.Dest)
	var b strings.Builder
	b.WriteString(w.statements())
	fmt.Fprintf(&b, "row := out.Begin()\n")
	for i, a := range args {
		b.WriteString(w.g.write(w.rule.Sent.Columns[i].Type, "row", a) + "\n")
	}
	fmt.Fprintf(&b, "out.Send(%s, %d, row) // %s\n", to, w.g.number(w.rule.Sent, false), w.rule.Sent.Name)
	return b.String()
}
