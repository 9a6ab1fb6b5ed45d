// SPDX-License-Identifier: Apache-2.0

package interp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// Fact is a row of a relation. The row must not be changed.
type Fact struct {
	Relation *logic.Relation
	Row      []logic.Value
}

func (f Fact) String() string {
	vals := make([]string, len(f.Row))
	for i, v := range f.Row {
		vals[i] = v.String()
	}
	return f.Relation.Name + "(" + strings.Join(vals, ", ") + ")"
}

// Message is a fact on its way to a node.
type Message struct {
	To   string
	Fact Fact
}

func (m Message) String() string { return m.Fact.String() + " to " + m.To }

// Functions are the Go functions of a program, by name. A function returns false if it has no
// value for its arguments.
type Functions map[string]func(args []logic.Value) (logic.Value, bool)

// Identity identifies an instance.
type Identity struct {
	// Node is the address of the instance. Self is the logical node that it implements, which
	// is the same unless a rewrite made the instance a piece of another.
	Node, Self string
}

// Instance is one instance of a component.
type Instance struct {
	Identity
	program   *logic.Program
	component *logic.Component
	strata    []logic.Stratum
	functions Functions
	static    map[*logic.Relation]*table
	// carried are the facts that Next rules derived in the tick before.
	carried map[*logic.Relation]*table
	watch   func(r *logic.Rule, to string, row []logic.Value)
}

// New returns an instance before its first tick. Static has the facts of all
// static relations. The program must be valid.
func New(p *logic.Program, c *logic.Component, who Identity, static map[*logic.Relation][][]logic.Value, f Functions) *Instance {
	strata, cycle := p.Strata(c)
	invariant.Check(cycle == nil, "program is not stratified: %v", cycle)
	n := &Instance{Identity: who, program: p, component: c, strata: strata, functions: f,
		static: map[*logic.Relation]*table{}, carried: map[*logic.Relation]*table{}}
	for _, r := range p.Relations {
		if r.Kind == logic.Static {
			t := newTable(r)
			for _, row := range static[r] {
				t.add(row)
			}
			n.static[r] = t
		}
	}
	return n
}

// Watch calls see for each row that a rule derives from now on, with its destination, in the
// order of derivation. A row may be derived several times in a tick. see must not change the
// row. Watch is for counting the work of a program.
func (n *Instance) Watch(see func(r *logic.Rule, to string, row []logic.Value)) { n.watch = see }

// Clone returns an independent copy of the instance.
func (n *Instance) Clone() *Instance {
	// Tables of carried facts are not changed once their tick is over.
	m := *n
	m.carried = map[*logic.Relation]*table{}
	for r, t := range n.carried {
		m.carried[r] = t
	}
	return &m
}

// Crash deletes all facts that are not durable.
func (n *Instance) Crash() {
	for r := range n.carried {
		if !r.Durable {
			delete(n.carried, r)
		}
	}
}

// AppendKey appends bytes that are equal only for instances of the same component
// that carry the same facts.
func (n *Instance) AppendKey(b []byte) []byte {
	for _, r := range n.program.Relations {
		if t := n.carried[r]; t != nil && len(t.keys) > 0 {
			b = t.appendKey(b)
		}
	}
	return b
}

// DerivationsMax is the maximum number of derivations of the recursive rules of a stratum in a
// tick. ValueMax is the maximum length of a value, in bytes or elements. A program that
// exceeds them may derive facts forever within a tick, which is an error of the program.
const (
	DerivationsMax = 1 << 19
	ValueMax       = 1 << 20
)

// EndlessError reports that a tick was aborted because a rule exceeded a limit.
type EndlessError struct {
	Node  string
	Rule  *logic.Rule
	Limit string // which, with its value
}

func (e *EndlessError) Error() string {
	return fmt.Sprintf("%s: a tick does not end: '%v' passes %s", e.Node, e.Rule, e.Limit)
}

// Tick is the result of a tick.
type Tick struct {
	// Endless is nil, or the reason why the tick was aborted. Then nothing was sent, and the
	// instance has not changed.
	Endless *EndlessError
	// Sent is in the order of the rules, without duplicates.
	Sent  []Message
	facts map[*logic.Relation]*table
	rels  []*logic.Relation
}

// Facts returns all facts of a relation that held in the tick, in order.
func (t *Tick) Facts(r *logic.Relation) [][]logic.Value {
	var out [][]logic.Value
	if tab := t.facts[r]; tab != nil {
		tab.all(func(row []logic.Value) bool {
			out = append(out, row)
			return true
		})
	}
	return out
}

// String lists the facts that held, one relation a line, and the messages that were sent.
func (t *Tick) String() string {
	var b strings.Builder
	for _, r := range t.rels {
		for _, row := range t.Facts(r) {
			fmt.Fprintln(&b, Fact{r, row})
		}
	}
	for _, m := range t.Sent {
		fmt.Fprintln(&b, "send", m)
	}
	return b.String()
}

// Tick runs one tick, in which the facts of in arrive and the timers fire.
func (n *Instance) Tick(in []Fact, timers ...*logic.Relation) *Tick {
	e := &evaluation{Instance: n, now: map[*logic.Relation]*table{}}
	for r, t := range n.carried {
		cp := e.table(r)
		t.all(func(row []logic.Value) bool { cp.add(row); return true })
	}
	for _, f := range in {
		e.table(f.Relation).add(f.Row)
	}
	for _, r := range timers {
		e.table(r).add(nil)
	}
	out := &Tick{facts: e.now, rels: n.program.Relations}
	for _, s := range n.strata {
		if out.Endless = e.stratum(&s); out.Endless != nil {
			return out
		}
	}
	carried := map[*logic.Relation]*table{}
	sent := map[string]bool{}
	for _, r := range n.component.Rules {
		switch r.Kind {
		case logic.Next:
			t := carried[r.Head.Relation]
			if t == nil {
				t = newTable(r.Head.Relation)
				carried[r.Head.Relation] = t
			}
			e.derive(r, func(row []logic.Value, _ bindings) {
				e.seen(r, "", row)
				t.add(row)
			})
		case logic.Async:
			e.derive(r, func(row []logic.Value, vars bindings) {
				to, ok := e.value(r.Dest, vars)
				if !ok {
					return
				}
				e.seen(r, to.Str, row)
				m := Message{to.Str, Fact{r.Head.Relation, row}}
				if key := m.key(); !sent[key] {
					sent[key] = true
					out.Sent = append(out.Sent, m)
				}
			})
		}
	}
	n.carried = carried
	return out
}

// key returns a text that only equal messages share.
func (m Message) key() string {
	b := append([]byte(m.Fact.Relation.Name), 0)
	b = logic.Value{Kind: logic.Node, Str: m.To}.AppendKey(b)
	for _, v := range m.Fact.Row {
		b = v.AppendKey(b)
	}
	return string(b)
}

type bindings map[string]logic.Value

// evaluation is a tick in progress.
type evaluation struct {
	*Instance
	now map[*logic.Relation]*table
}

func (e *evaluation) table(r *logic.Relation) *table {
	if t := e.static[r]; t != nil {
		return t
	}
	t := e.now[r]
	if t == nil {
		t = newTable(r)
		e.now[r] = t
	}
	return t
}

func (e *evaluation) seen(r *logic.Rule, to string, row []logic.Value) {
	if e.watch != nil {
		e.watch(r, to, row)
	}
}

// stratum derives facts until there is no new one, or a limit is exceeded.
func (e *evaluation) stratum(s *logic.Stratum) *EndlessError {
	derived := 0
	for changed := true; changed; {
		changed = false
		for _, r := range s.Rules {
			into := e.table(r.Head.Relation)
			var rows [][]logic.Value
			long := false
			e.derive(r, func(row []logic.Value, _ bindings) {
				e.seen(r, "", row)
				rows = append(rows, row)
				long = long || slices.ContainsFunc(row, func(v logic.Value) bool { return max(len(v.Str), len(v.Set)) > ValueMax })
			})
			for _, row := range rows {
				changed = into.add(row) || changed
			}
			if !s.Recursive {
				continue
			}
			if derived += len(rows); derived > DerivationsMax {
				return &EndlessError{e.Node, r, fmt.Sprintf("DerivationsMax, %d facts", DerivationsMax)}
			}
			if long {
				return &EndlessError{e.Node, r, fmt.Sprintf("ValueMax, %d bytes", ValueMax)}
			}
		}
		changed = changed && s.Recursive
	}
	return nil
}

// derive calls yield with the head of the rule for each way to satisfy its body.
func (e *evaluation) derive(r *logic.Rule, yield func(row []logic.Value, vars bindings)) {
	if r.Head.Aggregates() {
		e.aggregate(r, func(row []logic.Value) { yield(row, nil) })
		return
	}
	e.match(r.Body, bindings{}, func(vars bindings) {
		row := make([]logic.Value, len(r.Head.Args))
		for i, a := range r.Head.Args {
			v, ok := e.value(a.Term, vars)
			if !ok {
				return
			}
			row[i] = v
		}
		yield(row, vars)
	})
}

// match calls yield for each extension of vars that satisfies the literals. When it returns,
// vars is unchanged.
func (e *evaluation) match(body []logic.Literal, vars bindings, yield func(bindings)) {
	if len(body) == 0 {
		yield(vars)
		return
	}
	l, rest := &body[0], body[1:]
	switch {
	case l.Assign != nil:
		if v, ok := e.value(l.Assign.Term, vars); ok {
			vars[l.Assign.Var] = v
			e.match(rest, vars, yield)
			delete(vars, l.Assign.Var)
		}
	case l.Compare != nil:
		a, ok := e.value(l.Compare.Left, vars)
		b, ok2 := e.value(l.Compare.Right, vars)
		if ok && ok2 && l.Compare.Op.Holds(a, b) {
			e.match(rest, vars, yield)
		}
	default:
		found := false
		e.table(l.Atom.Relation).all(func(row []logic.Value) bool {
			bound, ok := e.unify(l.Atom, row, vars)
			if ok && !l.Negated {
				e.match(rest, vars, yield)
			}
			for _, v := range bound {
				delete(vars, v)
			}
			found = found || ok
			return !found || !l.Negated
		})
		if l.Negated && !found {
			e.match(rest, vars, yield)
		}
	}
}

// unify matches an atom with a row. It binds unbound variables, and returns which.
func (e *evaluation) unify(a *logic.Atom, row []logic.Value, vars bindings) (bound []string, ok bool) {
	for i, t := range a.Args {
		if t.Kind == logic.Wildcard {
			continue
		}
		if t.Kind == logic.Var {
			if _, known := vars[t.Name]; !known {
				vars[t.Name] = row[i]
				bound = append(bound, t.Name)
				continue
			}
		}
		if v, _ := e.value(t, vars); v.Compare(row[i]) != 0 {
			return bound, false
		}
	}
	return bound, true
}

// value returns the value of a term, or false if a function has none.
func (e *evaluation) value(t *logic.Term, vars bindings) (logic.Value, bool) {
	switch t.Kind {
	case logic.Var:
		return vars[t.Name], true
	case logic.Const:
		return t.Value, true
	case logic.Self:
		return logic.Value{Kind: logic.Node, Str: e.Self}, true
	}
	args := make([]logic.Value, len(t.Args))
	for i, a := range t.Args {
		v, ok := e.value(a, vars)
		if !ok {
			return v, false
		}
		args[i] = v
	}
	f := e.program.Function(t.Name)
	switch {
	case f == nil:
		return logic.FindBuiltin(t.Name).Apply(args)
	case f.Body != nil:
		params := bindings{}
		for i, a := range args {
			params[fmt.Sprintf("p%d", i)] = a
		}
		return e.value(f.Body, params)
	}
	g := e.functions[t.Name]
	invariant.Check(g != nil, "the Go function %s is not registered", t.Name)
	return g(args)
}

// aggregate derives the heads of a rule with aggregates, one or, with Index,
// several for each group.
func (e *evaluation) aggregate(r *logic.Rule, yield func(row []logic.Value)) {
	index := slices.IndexFunc(r.Head.Args, func(a logic.HeadArg) bool { return a.Aggregate == logic.Index })
	groups := map[string]*group{}
	var keys []string
	e.match(r.Body, bindings{}, func(vars bindings) {
		row := make([]logic.Value, len(r.Head.Args))
		var key, all []byte
		for i, a := range r.Head.Args {
			v, ok := e.value(a.Term, vars)
			if !ok {
				return
			}
			row[i] = v
			if a.Aggregate == logic.NoAggregate && !numbered(r, index, a) {
				key = v.AppendKey(key)
			}
		}
		// Rows that a sum adds differ in some variable of the body.
		for _, name := range sortedNames(vars) {
			all = vars[name].AppendKey(append(all, name...))
		}
		g := groups[string(key)]
		if g == nil {
			g = &group{rows: map[string][]logic.Value{}}
			groups[string(key)] = g
			keys = append(keys, string(key))
		}
		g.rows[string(all)] = row
	})
	slices.Sort(keys)
	for _, k := range keys {
		groups[k].heads(r, index, yield)
	}
}

// numbered reports whether an argument is the variable that the head's index numbers.
func numbered(r *logic.Rule, index int, a logic.HeadArg) bool {
	return index >= 0 && a.Term.Kind == logic.Var && a.Term.Name == r.Head.Args[index].Term.Name
}

func sortedNames(vars bindings) []string {
	names := make([]string, 0, len(vars))
	for n := range vars {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// group is the rows of one group, by the values of all variables.
type group struct{ rows map[string][]logic.Value }

func (g *group) heads(r *logic.Rule, index int, yield func([]logic.Value)) {
	keys := make([]string, 0, len(g.rows))
	for k := range g.rows {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := slices.Clone(g.rows[keys[0]])
	var least []logic.Value // the row that Choose chooses
	for _, k := range keys {
		if row := g.rows[k]; least == nil || slices.CompareFunc(row, least, logic.Value.Compare) < 0 {
			least = row
		}
	}
	for i, a := range r.Head.Args {
		different := map[string]logic.Value{}
		for j, k := range keys {
			v := g.rows[k][i]
			different[string(v.AppendKey(nil))] = v
			switch {
			case a.Aggregate == logic.Sum && j > 0:
				out[i].Num += v.Num
			case a.Aggregate == logic.Min && v.Compare(out[i]) < 0, a.Aggregate == logic.Max && v.Compare(out[i]) > 0:
				out[i] = v
			}
		}
		switch a.Aggregate {
		case logic.Count:
			out[i] = logic.Value{Kind: logic.U64, Num: uint64(len(different))}
		case logic.Collect:
			out[i] = logic.Value{Kind: logic.SetType, Set: sortedValues(different)}
		case logic.Choose:
			out[i] = least[i]
		}
	}
	if index < 0 {
		yield(out)
		return
	}
	values := map[string]logic.Value{}
	for _, k := range keys {
		v := g.rows[k][index]
		values[string(v.AppendKey(nil))] = v
	}
	for i, v := range sortedValues(values) {
		row := slices.Clone(out)
		for j, a := range r.Head.Args {
			if j == index {
				row[j] = logic.Value{Kind: logic.U64, Num: uint64(i)}
			} else if numbered(r, index, a) {
				row[j] = v
			}
		}
		yield(row)
	}
}

func sortedValues(m map[string]logic.Value) []logic.Value {
	out := make([]logic.Value, 0, len(m))
	for _, v := range m {
		out = append(out, v)
	}
	slices.SortFunc(out, logic.Value.Compare)
	return out
}

// Carried returns the facts that the instance carries to its next tick, in order.
func (n *Instance) Carried() []Fact {
	var out []Fact
	for _, r := range n.program.Relations {
		if t := n.carried[r]; t != nil {
			t.all(func(row []logic.Value) bool {
				out = append(out, Fact{r, row})
				return true
			})
		}
	}
	return out
}

// Carrying returns an instance like this one that carries other facts.
func (n *Instance) Carrying(facts []Fact) *Instance {
	m := *n
	m.carried = map[*logic.Relation]*table{}
	for _, f := range facts {
		t := m.carried[f.Relation]
		if t == nil {
			t = newTable(f.Relation)
			m.carried[f.Relation] = t
		}
		t.add(f.Row)
	}
	return &m
}
