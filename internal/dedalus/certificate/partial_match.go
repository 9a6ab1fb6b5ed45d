// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// writing is what the program after must contain: rules of a component, and declarations of
// relations, as the language writes them.
type writing struct {
	*division
	lines     []string
	relations map[string]bool
}

// put adds the lines of a text. It replaces $C by the component, $N by the number of pieces,
// $T by the ticks of a turn, $D by the depth, and the pairs in more.
func (w *writing) put(text string, more ...string) {
	fill := strings.NewReplacer(append([]string{"$C", w.from.Name, "$N", fmt.Sprint(w.claim.Partitions),
		"$T", fmt.Sprint(w.claim.Partial.Depth + 1), "$D", fmt.Sprint(w.claim.Partial.Depth)}, more...)...)
	for _, l := range strings.Split(text, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			w.lines = append(w.lines, fill.Replace(l))
		}
	}
}

// about returns the replacements for a text about relation r: "r$" is its name; in a list of
// arguments "X*" is a variable for each column, and "_*" as many wildcards.
func about(r *logic.Relation) []string {
	var vars, least []string
	for i := range r.Columns {
		vars, least = append(vars, fmt.Sprintf("x%d", i)), append(least, fmt.Sprintf("choose<x%d>", i))
	}
	out := []string{"r$", r.Name}
	for _, k := range []struct {
		key  string
		list []string
	}{{"X*", vars}, {"_*", slices.Repeat([]string{"_"}, len(vars))}, {"L*", least}} {
		text := strings.Join(k.list, ", ")
		if text == "" {
			// An empty list also drops its comma.
			out = append(out, ", "+k.key, "", k.key+", ", "")
		}
		out = append(out, k.key, text)
	}
	return out
}

// declare adds a relation with the given columns, followed by those in more without their
// lattices.
func (w *writing) declare(word, name, columns string, more ...logic.Column) {
	var list []string
	if columns != "" {
		list = append(list, columns)
	}
	for i, c := range more {
		list = append(list, fmt.Sprintf("x%d: %v", i, c.Type))
	}
	w.relations[fmt.Sprintf("%s %s(%s)", word, name, strings.Join(list, ", "))] = true
}

// components checks the components of the program after, and their rules.
func (d *division) components() error {
	order := d.after.Component(d.from.Name + "_order")
	if order == nil || d.before.Component(order.Name) != nil || order.Of != d.from.Of || order.Instances != d.from.Instances || order.Partitions != 1 {
		return fmt.Errorf("no new component orders the replicated inputs of %s", d.from.Name)
	}
	if len(d.after.Components) != len(d.before.Components)+1 {
		return fmt.Errorf("the program after the step has %d components, want %d", len(d.after.Components), len(d.before.Components)+1)
	}
	w := &writing{division: d}
	w.ordering()
	if err := w.compare(order, nil, order); err != nil {
		return err
	}
	for _, o := range d.before.Components {
		a := d.after.Component(o.Name)
		parts := o.Partitions
		if o == d.from {
			parts = d.claim.Partitions
		}
		if a == nil || a.Of != o.Of || a.Instances != o.Instances || a.Partitions != parts {
			return fmt.Errorf("component %s has changed, is missing or has the wrong number of partitions", o.Name)
		}
		w := &writing{division: d}
		rules := o.Rules
		if o == d.from {
			rules = w.piece()
		}
		if slices.ContainsFunc(d.claim.Partial.Sealed, func(n rel) bool { return reads(o.Rules)[n] }) {
			w.receiving()
		}
		if err := w.compare(a, rules, order); err != nil {
			return err
		}
	}
	return nil
}

// compare checks the rules of a component: the old rules, sending to new destinations where
// they must, followed by the lines.
func (w *writing) compare(a *logic.Component, old []*logic.Rule, order *logic.Component) error {
	if len(a.Rules) != len(old)+len(w.lines) {
		return fmt.Errorf("%s has %d rules, want %d", a.Name, len(a.Rules), len(old)+len(w.lines))
	}
	for i, r := range old {
		if err := w.same(r, a.Rules[i], order); err != nil {
			return fmt.Errorf("'%v': %w", a.Rules[i], err)
		}
	}
	for i, l := range w.lines {
		if got := a.Rules[len(old)+i].String(); got != l {
			return fmt.Errorf("found '%s', want '%s'", got, l)
		}
	}
	return nil
}

// same checks a rule: it sends a divided input to the piece of its key, and a replicated
// input to the component that orders it.
func (d *division) same(old, new *logic.Rule, order *logic.Component) error {
	is := func(list []*logic.Relation) bool {
		return old.Kind == logic.Async && slices.ContainsFunc(list, func(r *logic.Relation) bool { return r.Name == old.Head.Relation.Name })
	}
	switch {
	case old.Kind != new.Kind || old.Head.Relation.Name != new.Head.Relation.Name:
		return fmt.Errorf("want '%v'", old)
	case is(d.divided):
		return divided(d.after, old, new, d.after.Component(d.from.Name), d.claim)
	case is(d.replicated):
		return d.led(old, new, order)
	case exact(old) != exact(new):
		return fmt.Errorf("want '%v'", old)
	}
	return nil
}

// led checks that new is old, except that it sends to the ordering component, to which a
// forwarding relation leads from the old destination.
func (d *division) led(old, new *logic.Rule, order *logic.Component) error {
	bad := fmt.Errorf("want '%v', sent to %s", old, order.Name)
	n, dest := len(old.Body), ""
	if old.Dest.Kind == logic.Call {
		if len(new.Body) != n+2 || new.Body[n].Assign == nil || exactTerm(new.Body[n].Assign.Term) != exactTerm(old.Dest) || uses(old, new.Body[n].Assign.Var) {
			return bad
		}
		dest = exactTerm(&logic.Term{Kind: logic.Var, Name: new.Body[n].Assign.Var})
		n++
	} else {
		dest = exactTerm(old.Dest)
	}
	if len(new.Body) != n+1 || !new.Body[n].Positive() || new.Dest.Kind != logic.Var || exactTerm(new.Dest) == dest || uses(old, new.Dest.Name) {
		return bad
	}
	a := new.Body[n].Atom
	if len(a.Args) != 2 || exactTerm(a.Args[0]) != dest || a.Args[1].Kind != logic.Var || a.Args[1].Name != new.Dest.Name {
		return bad
	}
	back := *new
	back.Body, back.Dest = new.Body[:len(old.Body)], old.Dest
	if exact(&back) != exact(old) {
		return bad
	}
	return forwards(d.after, a.Relation, []string{d.from.Name}, order, 1)
}

// piece returns the rules that the divided component must have, before destinations are
// changed, and adds its generated rules to lines.
func (w *writing) piece() []*logic.Rule {
	var rules []*logic.Rule
	w.control()
	if w.claim.Partial.Settling {
		w.resting()
	}
	outbox := map[rel][]string{}
	for _, r := range w.from.Rules {
		s := *r
		s.Body = nil
		for _, l := range r.Body {
			s.Body = append(s.Body, w.own(l))
		}
		if s.Kind == logic.Async && len(w.dividedIn(r)) == 0 {
			turn := &logic.Relation{Name: w.from.Name + "_turn"}
			zero := &logic.Term{Kind: logic.Const, Value: logic.Value{Kind: logic.U64}}
			s.Body = append(s.Body, logic.Literal{Atom: &logic.Atom{Relation: turn, Args: []*logic.Term{{Kind: logic.Wildcard}, zero}}})
		}
		if n := s.Head.Relation.Name; s.Kind == logic.Async && slices.Contains(w.claim.Partial.Sealed, n) {
			outbox[n] = append(outbox[n], fmt.Sprintf("sync %s_dest(%v) <- %s", w.from.Name, s.Dest, w.whom(r, s.Body[:len(r.Body)])))
			s.Head.Args = append([]logic.HeadArg{{Term: s.Dest}}, s.Head.Args...)
			s.Head.Relation = &logic.Relation{Name: n + "_out"}
			s.Kind, s.Dest = logic.Sync, nil
		}
		rules = append(rules, &s)
	}
	if len(w.claim.Partial.Sealed) > 0 {
		w.sending(outbox)
	}
	return rules
}

// whom returns the literals of a rule's body that all pieces evaluate alike; they determine
// the possible destinations.
func (w *writing) whom(r *logic.Rule, body []logic.Literal) string {
	bound := map[string]bool{}
	var out []logic.Literal
	for i := range body {
		l := &body[i]
		if l.Atom != nil && i < len(r.Body) && w.keyed[r.Body[i].Atom.Relation.Name] {
			continue
		}
		free := false
		l.Vars(func(v string) {
			free = free || !bound[v] && !l.Positive() && (l.Assign == nil || l.Assign.Var != v)
		})
		if free {
			continue
		}
		if !l.Negated {
			l.Vars(func(v string) { bound[v] = true })
		}
		out = append(out, *l)
	}
	text := make([]string, len(out))
	for i := range out {
		text[i] = out[i].String()
	}
	return strings.Join(text, ", ")
}

// ordering adds the rules of the component that orders.
func (w *writing) ordering() {
	first := ""
	for i, r := range w.replicated {
		w.put(`
			sync $C_came() <- r$(_*)
			sync r$_queue(X*, n) <- r$(X*), $C_tick(n)
			next r$_queue(X*, n) <- r$_queue(X*, n), not r$_start(X*)
			sync $C_waiting(n) <- r$_queue(_*, n)
			sync r$_start(L*) <- r$_queue(X*, n), $C_first(n)`+first+`
			sync $C_begin(m) <- r$_start(_*), $C_number(u), m := u + 1
			next r$_now(m, X*) <- r$_start(X*), $C_begin(m)
			next r$_now(u, X*) <- r$_now(u, X*), not $C_finished(u)
			sync $C_now(u) <- r$_now(u, _*)
			async r$_do@to(u, part, X*) <- $C_telling(u), r$_now(u, X*), $C_parts(self, part, to)`, about(r)...)
		if i+1 < len(w.replicated) {
			w.put(`sync r$_head() <- r$_queue(_*, n), $C_first(n)`, about(r)...)
			first += ", not " + r.Name + "_head()"
		}
	}
	w.put(`
		sync $C_tick(n) <- $C_clock(n)
		sync $C_tick(0) <- not $C_clock(_)
		next $C_clock(m) <- $C_came(), $C_tick(n), m := n + 1
		next $C_clock(n) <- $C_clock(n)
		sync $C_first(min<n>) <- $C_waiting(n), not $C_now(_)
		sync $C_number(u) <- $C_last(u)
		sync $C_number(0) <- not $C_last(_)
		next $C_last(u) <- $C_begin(u)
		next $C_last(u) <- $C_last(u)
		next $C_asked(u) <- $C_now(u)
		sync $C_asking(u) <- $C_now(u), not $C_asked(u)
		sync $C_asking(u) <- $C_came(), $C_now(u), not $C_agreed(u)
		async $C_freeze@to(u, part) <- $C_asking(u), $C_parts(self, part, to)
		sync $C_at(part, v, d) <- $C_is(part, v, d)
		next $C_at(part, v, d) <- $C_at(part, v, d)
		sync $C_votes(u, count<part>) <- $C_now(u), $C_at(part, v, _), v >= u
		sync $C_agreed(u) <- $C_votes(u, k), k >= $N
		sync $C_acks(u, count<part>) <- $C_now(u), $C_at(part, _, d), d >= u
		sync $C_finished(u) <- $C_acks(u, k), k >= $N
		next $C_told(u) <- $C_agreed(u)
		sync $C_telling(u) <- $C_agreed(u), not $C_told(u)
		sync $C_telling(u) <- $C_came(), $C_agreed(u)`)
}

// control adds the rules by which a piece votes, freezes, and takes inputs when it is
// their turn.
func (w *writing) control() {
	settled := ""
	if w.claim.Partial.Depth > 0 {
		settled = "not $C_turn(_, _), "
	}
	if w.claim.Partial.Settling {
		settled += "not $C_busy(), "
	}
	w.put(`
		next $C_voted(u) <- $C_freeze(u, _)
		next $C_voted(u) <- $C_voted(u)
		next $C_begun(u) <- $C_turn(i, _), u := i / $T
		next $C_begun(u) <- $C_begun(u)
		sync $C_done(u) <- $C_begun(u)
		sync $C_done(0) <- not $C_begun(_)
		sync $C_frozen() <- $C_voted(v), $C_done(d), v > d
		next $C_report(part) <- $C_freeze(_, part)
		async $C_is@to(part, v, d) <- $C_report(part), $C_voted(v), $C_done(d), ` + settled + `$C_of(self, to)`)
	if w.claim.Partial.Depth > 0 {
		w.put(`
			sync $C_frozen() <- $C_turn(_, _)
			next $C_turn(j, part) <- $C_turn(i, part), s := i % $T, s < $D, j := i + 1
			next $C_report(part) <- $C_turn(_, part)`)
	}
	for _, r := range w.replicated {
		w.put(`
			sync r$_$C(X*) <- r$_do(u, _, X*), $C_voted(u), $C_done(d), d < u
			sync $C_turn(i, part) <- r$_do(u, part, _*), $C_voted(u), $C_done(d), d < u, i := u * $T
			next $C_report(part) <- r$_do(_, part, _*)`, about(r)...)
	}
	for _, r := range w.divided {
		w.put(`
			sync r$_kept(X*) <- r$(X*)
			next r$_kept(X*) <- r$_kept(X*), $C_frozen()
			sync r$_$C(X*) <- r$_kept(X*), not $C_frozen()`, about(r)...)
	}
}

// own returns a literal as the divided component must have it: instead of an input it reads
// the copy that holds the facts of this turn.
func (w *writing) own(l logic.Literal) logic.Literal {
	if l.Atom == nil || !slices.ContainsFunc(slices.Concat(w.replicated, w.divided), func(r *logic.Relation) bool { return r.Name == l.Atom.Relation.Name }) {
		return l
	}
	o := *l.Atom.Relation
	o.Name += "_" + w.from.Name
	l.Atom = &logic.Atom{Relation: &o, Args: l.Atom.Args}
	return l
}

// sending adds the rules by which a piece sends its parts of sealed relations.
func (w *writing) sending(outbox map[rel][]string) {
	for i, n := range w.claim.Partial.Sealed {
		w.lines = append(w.lines, outbox[n]...)
		w.put(`
			sync r$_sent(to, sum<1>) <- r$_out(to, X*)
			sync $C_rows(to, i$, n) <- r$_sent(to, n)
			async r$_part@to(self, i, part, X*) <- r$_out(to, X*), $C_turn(i, part)`, append(about(w.before.Find(n)), "i$", fmt.Sprint(i))...)
	}
	w.put(`
		sync $C_rows(to, i$, 0) <- $C_dest(to)
		sync $C_total(to, sum<n>) <- $C_rows(to, r, n)
		sync $C_prev(to, i) <- $C_dest(to), $C_sent(to, i)
		sync $C_prev(to, 0) <- $C_dest(to), not $C_sent(to, _)
		next $C_sent(to, i) <- $C_dest(to), $C_turn(i, _)
		next $C_sent(to, i) <- $C_sent(to, i)
		async $C_count@to(self, i, part, p, n) <- $C_total(to, n), $C_prev(to, p), $C_turn(i, part)`, "i$", fmt.Sprint(len(w.claim.Partial.Sealed)))
}

// receiving adds the rules by which a receiver assembles sealed relations.
func (w *writing) receiving() {
	for i, n := range w.claim.Partial.Sealed {
		s := w.before.Find(n)
		w.put(`
			sync $C_past(f, i) <- r$_part(f, i, _, _*), $C_due(f, d), i <= d
			sync r$_wait(f, i, part, X*) <- r$_part(f, i, part, X*), not $C_past(f, i)
			next r$_wait(f, i, part, X*) <- r$_wait(f, i, part, X*), not $C_open(f, i, _)
			sync r$_got(f, i, sum<1>) <- r$_wait(f, i, part, X*)
			sync $C_gotten(f, i, i$, n) <- r$_got(f, i, n)`, append(about(s), "i$", fmt.Sprint(i))...)
		column, err := w.sealed(s)
		if err != nil || column < 0 {
			w.put(`sync r$(X*) <- r$_wait(f, i, _, X*), $C_open(f, i, _)`, about(s)...)
			continue
		}
		var added []string
		for j := range s.Columns {
			x := fmt.Sprintf("x%d", j)
			if j == column {
				x = "sum<" + x + ">"
			}
			added = append(added, x)
		}
		w.put(`
			sync r$_sum(f, i, +*) <- r$_wait(f, i, part, X*), $C_open(f, i, p)
			sync r$(X*) <- r$_sum(_, _, X*)`, append(about(s), "+*", strings.Join(added, ", "))...)
	}
	w.put(`
		sync $C_past(f, i) <- $C_count(f, i, _, _, _), $C_due(f, d), i <= d
		sync $C_past(f, i) <- $C_opened(f, i, _)
		sync $C_expect(f, i, part, p, n) <- $C_count(f, i, part, p, n), not $C_past(f, i)
		next $C_expect(f, i, part, p, n) <- $C_expect(f, i, part, p, n), not $C_open(f, i, _)
		sync $C_gotten(f, i, i$, 0) <- $C_expect(f, i, _, _, _)
		sync $C_got(f, i, sum<n>) <- $C_gotten(f, i, r, n)
		sync $C_want(f, i, count<part>, max<p>, sum<n>) <- $C_expect(f, i, part, p, n)
		sync $C_open(f, i, p) <- $C_want(f, i, $N, p, n), $C_got(f, i, n)
		next $C_opened(f, i, p) <- $C_open(f, i, p)
		next $C_opened(f, i, p) <- $C_opened(f, i, p), not $C_passed(f, i)
		sync $C_base(f, d) <- $C_due(f, d)
		sync $C_base(f, 0) <- $C_opened(f, _, _), not $C_due(f, _)
		sync $C_passed(f, i) <- $C_opened(f, i, d), $C_base(f, d)
		next $C_due(f, i) <- $C_passed(f, i)
		next $C_due(f, d) <- $C_due(f, d)`, "i$", fmt.Sprint(len(w.claim.Partial.Sealed)))
}

// relations checks the declarations: the old relations (which all rewrites keep), the
// relations of the rules above, with the right columns, and forwarding relations.
func (d *division) relations() error {
	w := &writing{division: d, relations: map[string]bool{}}
	kept := "var"
	if slices.ContainsFunc(d.from.Rules, func(r *logic.Rule) bool { return r.Head.Relation.Durable }) {
		kept = "durable"
	}
	c := d.from.Name + "_"
	for columns, names := range map[string]string{
		"":                                 "came frozen",
		"n: u64":                           "tick waiting first",
		"n: max<u64>":                      "clock",
		"u: u64":                           "number begin now asked told asking agreed finished telling done",
		"u: u64, k: u64":                   "votes acks",
		"u: u64, part: u64":                "freeze",
		"i: u64, part: u64":                "turn",
		"part: u64":                        "report",
		"part: u64, voted: u64, done: u64": "is",
		"part: u64, voted: max<u64>, done: max<u64>": "at",
	} {
		for _, n := range strings.Fields(names) {
			w.declare("var", c+n, columns)
		}
	}
	for _, n := range []string{"last", "voted", "begun"} {
		w.declare(kept, c+n, "u: max<u64>")
	}
	for _, r := range d.replicated {
		w.declare("var", r.Name+"_head", "")
		w.declare("var", r.Name+"_start", "", r.Columns...)
		w.declare(kept, r.Name+"_now", "u: u64", r.Columns...)
		w.declare("var", r.Name+"_do", "u: u64, part: u64", r.Columns...)
		var list []string
		for i, col := range r.Columns {
			list = append(list, fmt.Sprintf("x%d: %v", i, col.Type))
		}
		w.declare("var", r.Name+"_queue", strings.Join(append(list, "n: min<u64>"), ", "))
	}
	for _, r := range d.divided {
		w.declare("var", r.Name+"_kept", "", r.Columns...)
	}
	for _, r := range slices.Concat(d.replicated, d.divided) {
		own := *r
		own.Name, own.Durable = r.Name+"_"+d.from.Name, false
		w.relations[own.String()] = true
	}
	if len(d.claim.Partial.Sealed) > 0 {
		w.sealing(kept)
	}
	if d.claim.Partial.Settling {
		w.declare("var", c+"busy", "")
		w.declare("var", c+"settling", "")
		for n, k := range d.terms() {
			if k == oneTick {
				w.declare("var", n+"_then", "", d.before.Find(n).Columns...)
			}
		}
	}
	w.leading()
	for _, r := range d.after.Relations {
		if d.before.Find(r.Name) != nil || r.Kind == logic.Static && len(r.Dependencies) == 0 && !r.Merges() && !strings.HasPrefix(r.Name, c) {
			continue
		}
		if !w.relations[r.String()] {
			return fmt.Errorf("relation '%v' is extra, or has the wrong columns", r)
		}
	}
	return nil
}

// sealing declares the relations of the rules for sealing.
func (w *writing) sealing(kept string) {
	c, batch := w.from.Name+"_", "src: node, i: u64"
	for name, columns := range map[string]string{
		"dest": "to: node", "rows": "to: node, r: u64, n: u64", "total": "to: node, n: u64", "prev": "to: node, i: u64",
		"count": batch + ", part: u64, prev: u64, n: u64", "past": batch, "due": "src: node, i: max<u64>", "base": batch, "opened": batch + ", prev: u64",
		"passed": batch, "expect": batch + ", part: u64, prev: u64, n: u64", "gotten": batch + ", r: u64, n: u64", "got": batch + ", n: u64",
		"want": batch + ", k: u64, prev: u64, n: u64", "open": batch + ", prev: u64",
	} {
		w.declare("var", c+name, columns)
	}
	w.declare(kept, c+"sent", "to: node, i: max<u64>")
	for _, n := range w.claim.Partial.Sealed {
		s := w.before.Find(n)
		w.declare("var", n+"_out", "to: node", s.Columns...)
		w.declare("var", n+"_sent", "to: node, n: u64")
		w.declare("var", n+"_got", batch+", n: u64")
		w.declare("var", n+"_part", batch+", part: u64", s.Columns...)
		w.declare("var", n+"_wait", batch+", part: u64", s.Columns...)
		w.declare("var", n+"_sum", batch, s.Columns...)
	}
}

// leading declares the relations that lead from a node to its pieces and to the node that
// orders for them.
func (w *writing) leading() {
	var parts, order []string
	for i := range w.from.Instances {
		self := node(w.from.Of, i)
		for p := range w.claim.Partitions {
			parts = append(parts, fmt.Sprintf("(node %q, %d, node %q)", self, p, node(w.from.Name, i*w.claim.Partitions+p)))
		}
		order = append(order, fmt.Sprintf("(node %q, node %q)", self, node(w.from.Name+"_order", i)))
	}
	w.relations[fmt.Sprintf("static %s_parts(l: node, part: u64, to: node) = { %s }", w.from.Name, strings.Join(parts, ", "))] = true
	w.relations[fmt.Sprintf("static %s_of(l: node, to: node) = { %s }", w.from.Name, strings.Join(order, ", "))] = true
}
