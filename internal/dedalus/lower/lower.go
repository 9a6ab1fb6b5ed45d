// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// InstancesMax is the maximum number of instances of a component.
const InstancesMax = 1 << 16

// Lower lowers a program. It returns nil if it adds errors to diags.
func Lower(f *syntax.File, diags *source.List) *logic.Program {
	l := &lowerer{
		diags: diags, program: &logic.Program{Name: f.Name.Text},
		relations: map[string]*relation{}, components: map[string]*logic.Component{},
	}
	l.declare(f)
	for _, c := range l.bodies {
		l.component = c.to
		for i := range c.from.Statements {
			if s := &c.from.Statements[i]; s.Rule != nil {
				l.rule(s.Rule, s.Span)
			}
		}
		for _, s := range c.tables {
			l.persistence(s)
		}
	}
	l.settle()
	if diags.HasErrors() {
		return nil
	}
	l.check()
	if diags.HasErrors() {
		return nil
	}
	err := l.program.Validate()
	invariant.Check(err == nil, "lowered program: %v", err)
	return l.program
}

type lowerer struct {
	diags      *source.List
	program    *logic.Program
	relations  map[string]*relation
	components map[string]*logic.Component
	bodies     []body
	component  *logic.Component
	terms      []typed
	functions  map[string]*syntax.Function
}

// body is the text of a component and the lowered component.
type body struct {
	from   *syntax.Component
	to     *logic.Component
	tables []*syntax.Statement
}

// relation is a relation whose types are being inferred.
type relation struct {
	*logic.Relation
	declared bool
	columns  []*slot
	// derived, read and sent are places where it occurs, or invalid spans if it does
	// not.
	derived, read source.Span
}

// typed is a term whose type is set when all types are known.
type typed struct {
	term *logic.Term
	slot *slot
	span source.Span
}

func (l *lowerer) declare(f *syntax.File) {
	l.functions = map[string]*syntax.Function{}
	for _, i := range f.Items {
		if i.Component == nil {
			continue
		}
		c := i.Component
		to := &logic.Component{Name: c.Name.Text, Of: cmp.Or(c.Of.Text, c.Name.Text), Instances: 1, Partitions: 1, Span: c.Name.Span}
		if c.Times == 0 || c.Times > InstancesMax {
			l.diags.Errorf(c.Name.Span, BadDeploy, "%s has %d partitions, expected 1 to %d", c.Name.Text, c.Times, InstancesMax)
		} else {
			to.Partitions = int(c.Times)
		}
		if l.components[c.Name.Text] != nil {
			l.diags.Errorf(c.Name.Span, Twice, "component %s is declared twice", c.Name.Text)
			continue
		}
		l.components[c.Name.Text] = to
		l.program.Components = append(l.program.Components, to)
		l.bodies = append(l.bodies, body{from: c, to: to})
	}
	for _, i := range f.Items {
		switch {
		case i.Function != nil:
			l.function(i.Function, i.Span)
		case i.Deploy != nil:
			l.deploy(i.Deploy)
		}
	}
	for n := range l.bodies {
		b := &l.bodies[n]
		for i := range b.from.Statements {
			s := &b.from.Statements[i]
			if s.Relation == nil {
				continue
			}
			l.relation(s.Relation)
			if s.Relation.Word == "table" || s.Relation.Word == "log" {
				b.tables = append(b.tables, s)
			}
		}
	}
	for _, i := range f.Items {
		if i.Assume != nil {
			l.assume(i.Assume, i.Span)
		}
	}
}

func (l *lowerer) deploy(d *syntax.Deploy) {
	for _, s := range d.Sizes {
		c := l.findComponent(s.Component)
		switch {
		case c == nil:
		case s.Count == 0 || s.Count > InstancesMax:
			l.diags.Errorf(s.Component.Span, BadDeploy, "%d instances of %s, expected 1 to %d", s.Count, c.Name, InstancesMax)
		default:
			c.Instances = int(s.Count)
		}
	}
}

func (l *lowerer) findComponent(n syntax.Name) *logic.Component {
	if c := l.components[n.Text]; c != nil {
		return c
	}
	near := source.NewNearest(n.Text)
	for _, c := range l.program.Components {
		near.Offer(c.Name)
	}
	l.diags.Add(source.Diagnostic{Code: UnknownComponent, Span: n.Span,
		Message: "there is no component " + n.Text, Repair: near.Repair()})
	return nil
}

func (l *lowerer) assume(a *syntax.Assume, span source.Span) {
	kinds := map[string]logic.AssumptionKind{"collected": logic.Collected, "growing": logic.Growing, "timely": logic.Timely}
	kind, ok := kinds[a.What.Text]
	if !ok {
		l.diags.Errorf(a.What.Span, BadAssume, "'%s' cannot be assumed, expected 'collected', 'growing' or 'timely'", a.What.Text)
		return
	}
	l.find(a.Relation).read = a.Relation.Span
	l.program.Assumptions = append(l.program.Assumptions, logic.Assumption{Kind: kind, Relation: a.Relation.Text, Span: span})
}

// find returns the relation with a name, or adds one.
func (l *lowerer) find(n syntax.Name) *relation {
	r := l.relations[n.Text]
	if r == nil {
		r = &relation{Relation: &logic.Relation{Name: n.Text, Span: n.Span}}
		l.relations[n.Text] = r
		l.program.Relations = append(l.program.Relations, r.Relation)
	}
	return r
}

// arity returns the slots of a relation; its first use determines their number.
func (l *lowerer) arity(r *relation, n int, span source.Span) []*slot {
	if !r.declared && r.columns == nil {
		r.Span = span
		for i := range n {
			r.columns = append(r.columns, &slot{})
			r.Columns = append(r.Columns, logic.Column{Name: fmt.Sprintf("c%d", i)})
		}
		r.declared = true
	}
	if len(r.columns) != n {
		l.diags.Add(source.Diagnostic{Code: Arguments, Span: span,
			Message: fmt.Sprintf("%s has %d columns, found %d arguments", r.Name, len(r.columns), n),
			Related: []source.Note{{Span: r.Span, Message: "its number of columns is set here"}}})
		return nil
	}
	return r.columns
}

func (l *lowerer) relation(s *syntax.Relation) {
	r := l.find(s.Name)
	if r.declared {
		d := source.Diagnostic{Code: Twice, Span: s.Name.Span, Message: "relation " + s.Name.Text + " is declared twice",
			Related: []source.Note{{Span: r.Span, Message: "the other declaration"}}}
		if s.Delete != nil {
			d.Repair = "to delete for several reasons, derive each in a 'sync' rule of one relation, and delete when that relation holds"
		}
		l.diags.Add(d)
		return
	}
	r.declared, r.Span = true, s.Name.Span
	kinds := map[string]logic.RelationKind{"input": logic.Input, "output": logic.Output, "static": logic.Static, "timer": logic.Timer}
	r.Kind, r.Durable = kinds[s.Word], s.Word == "log" || s.Word == "durable"
	lattices := map[string]logic.Lattice{"max": logic.MaxLattice, "min": logic.MinLattice, "or": logic.OrLattice, "set": logic.SetLattice}
	for _, c := range s.Columns {
		t := l.typ(c.Type)
		r.Columns = append(r.Columns, logic.Column{Name: c.Name.Text, Lattice: lattices[c.Lattice]})
		r.columns = append(r.columns, known(t, c.Type.Span))
		if c.Lattice == "set" && t.Kind != logic.SetType {
			l.diags.Errorf(c.Type.Span, TypeMismatch, "this is %v, expected a set for a lattice of sets", t)
		}
	}
	l.facts(r, s)
	if s.Word == "timer" {
		d, err := time.ParseDuration(s.Every.Text)
		if err != nil || d <= 0 {
			l.diags.Errorf(s.Every.Span, BadTimer, "'%s' is not a duration, expected one such as 10ms or 2s", s.Every.Text)
		}
		r.Every = d
	}
}

// facts sets the facts that a declaration gives a static relation.
func (l *lowerer) facts(r *relation, s *syntax.Relation) {
	want := func(k logic.TypeKind, n syntax.Name) string {
		c := l.findComponent(n)
		if len(r.columns) != 1 {
			l.diags.Errorf(s.Name.Span, Arguments, "%s has %d columns, expected one", r.Name, len(r.columns))
			return ""
		}
		l.same(known(logic.Type{Kind: k}, n.Span), r.columns[0], s.Columns[0].Type.Span)
		if c == nil {
			return ""
		}
		return c.Name
	}
	if s.Nodes.Text != "" {
		r.Nodes = want(logic.Node, s.Nodes)
	}
	if s.Size.Text != "" {
		r.Size = want(logic.U64, s.Size)
	}
	if s.HasFacts {
		r.Facts = [][]logic.Value{}
	}
	for _, row := range s.Facts {
		if len(row) != len(r.columns) {
			l.diags.Errorf(s.Name.Span, Arguments, "%s has %d columns, found a fact of %d values", r.Name, len(r.columns), len(row))
			continue
		}
		var vals []logic.Value
		for i, t := range row {
			v, ok := l.constant(t, r.columns[i])
			if !ok {
				l.diags.Errorf(t.Span, BadFact, "a fact may contain only constants")
			}
			vals = append(vals, v)
		}
		r.Facts = append(r.Facts, vals)
	}
	for _, d := range s.Deps {
		var dep logic.Dependency
		for _, n := range d.From {
			dep.From = append(dep.From, l.columnIndex(r, n))
		}
		dep.To = l.columnIndex(r, d.To)
		r.Dependencies = append(r.Dependencies, dep)
	}
}

// depends checks that facts satisfy the dependencies that their relation declares, because
// rewrites depend on them.
func (l *lowerer) depends(r *relation) {
	for _, d := range r.Dependencies {
		first := map[string][]logic.Value{}
		for _, row := range r.Facts {
			var key []byte
			for _, c := range d.From {
				key = row[c].AppendKey(key)
			}
			other, met := first[string(key)]
			if !met {
				first[string(key)] = row
				continue
			}
			if other[d.To].Compare(row[d.To]) != 0 {
				var names []string
				for _, c := range d.From {
					names = append(names, r.Columns[c].Name)
				}
				l.diags.Add(source.Diagnostic{Code: BadDependency, Span: r.Span,
					Message: fmt.Sprintf("%s declares that %s determines %s, and has the facts %v and %v", r.Name, strings.Join(names, " with "), r.Columns[d.To].Name, other, row),
					Repair:  "remove one of the facts, or the dependency"})
				return
			}
		}
	}
}

func (l *lowerer) columnIndex(r *relation, n syntax.Name) int {
	for i, c := range r.Columns {
		if c.Name == n.Text {
			return i
		}
	}
	l.diags.Errorf(n.Span, UnknownColumn, "%s has no column %s", r.Name, n.Text)
	return 0
}

func (l *lowerer) typ(t *syntax.Type) logic.Type {
	kinds := map[string]logic.TypeKind{"u64": logic.U64, "int": logic.Int, "bool": logic.Bool,
		"text": logic.Text, "bytes": logic.Bytes, "node": logic.Node, "set": logic.SetType}
	k, ok := kinds[t.Name]
	if !ok {
		l.diags.Errorf(t.Span, UnknownType, "there is no type '%s', expected u64, int, bool, text, bytes, node or set<...>", t.Name)
	}
	out := logic.Type{Kind: k}
	if t.Elem != nil {
		e := l.typ(t.Elem)
		out.Elem = &e
	}
	return out
}

// function declares a function. Its body may call only functions declared before it, so there is
// no recursion.
func (l *lowerer) function(f *syntax.Function, span source.Span) {
	name := f.Name.Text
	if l.program.Function(name) != nil || logic.FindBuiltin(name) != nil {
		l.diags.Errorf(f.Name.Span, Twice, "function %s is declared twice, or is built in", name)
		return
	}
	out := &logic.Function{Name: name, Result: l.typ(f.Result), Span: span}
	vars := map[string]*variable{}
	for i, c := range f.Params {
		t := l.typ(c.Type)
		out.Params = append(out.Params, t)
		vars[c.Name.Text] = &variable{slot: known(t, c.Type.Span), bound: true, name: fmt.Sprintf("p%d", i)}
	}
	switch {
	case f.Body != nil:
		s := &scope{l: l, vars: vars, closed: true}
		term, slot := s.term(f.Body)
		l.same(known(out.Result, f.Result.Span), slot, f.Body.Span)
		out.Body = term
	case f.From.Kind != syntax.StringTerm || !strings.Contains(f.From.Text, "."):
		l.diags.Errorf(f.From.Span, BadFunction, "expected a Go function as \"import/path.Name\"")
	default:
		dot := strings.LastIndexByte(f.From.Text, '.')
		out.Import, out.Symbol = f.From.Text[:dot], f.From.Text[dot+1:]
	}
	l.program.Functions = append(l.program.Functions, out)
}
