// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// author writes the rules that a rewrite adds, from text, so that they read as they will be
// printed. The texts are constants of this package; one that does not parse is a bug here,
// and fails an assertion.
type author struct {
	p      *logic.Program
	origin string
	span   source.Span
	// names has the relations that the author added, by the name that was requested.
	names map[string]*logic.Relation
}

// column returns a column of a new relation. Its type is "u64", "node", or the lattice "max"
// or "min" of numbers.
func column(name, typ string) logic.Column {
	c := logic.Column{Name: name, Type: logic.Type{Kind: logic.U64}}
	switch typ {
	case "node":
		c.Type.Kind = logic.Node
	case "max":
		c.Lattice = logic.MaxLattice
	case "min":
		c.Lattice = logic.MinLattice
	}
	return c
}

// relation adds a relation with columns written as in "part u64, voted max", followed by more.
// If it has added one by that name already, it returns that.
func (a *author) relation(name, columns string, more ...logic.Column) *logic.Relation {
	if r := a.names[name]; r != nil {
		return r
	}
	r := &logic.Relation{Name: newName(a.p, name), Span: a.span}
	for _, c := range strings.Split(columns, ",") {
		if f := strings.Fields(c); len(f) == 2 {
			r.Columns = append(r.Columns, column(f[0], f[1]))
		}
	}
	for i, c := range more {
		c.Name = "x" + strconv.Itoa(i)
		r.Columns = append(r.Columns, c)
	}
	a.p.Relations = append(a.p.Relations, r)
	a.names[name] = r
	return r
}

// plain returns the columns without their lattices, so that facts do not merge.
func plain(columns []logic.Column) []logic.Column {
	out := make([]logic.Column, len(columns))
	for i, c := range columns {
		c.Lattice = logic.NoLattice
		out[i] = c
	}
	return out
}

// rules adds the rules of a text, one a line, to a component.
func (a *author) rules(c *logic.Component, text string) {
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			c.Rules = append(c.Rules, a.rule(line))
		}
	}
}

// line is a rule that is being parsed.
type line struct {
	*author
	tokens []string
	types  map[string]logic.Type
}

func (a *author) rule(text string) *logic.Rule {
	l := &line{a, tokens(text), map[string]logic.Type{}}
	r := &logic.Rule{Kind: map[string]logic.RuleKind{"sync": logic.Sync, "next": logic.Next, "async": logic.Async}[l.next()], Origin: a.origin, Span: a.span}
	// The head uses variables of the body, so parse the body first.
	head := l.tokens
	for l.next() != "<-" {
	}
	for len(l.tokens) > 0 {
		r.Body = append(r.Body, l.literal())
		if len(l.tokens) > 0 {
			l.expect(",")
		}
	}
	l.tokens = head
	r.Head.Relation = l.find(l.next())
	if l.peek() == "@" {
		l.next()
		r.Dest = l.term(l.next())
	}
	for _, arg := range l.args() {
		h := logic.HeadArg{}
		if name, rest, ok := strings.Cut(arg, "<"); ok {
			h.Aggregate = map[string]logic.Aggregate{"count": logic.Count, "sum": logic.Sum, "min": logic.Min, "max": logic.Max, "choose": logic.Choose}[name]
			arg = strings.TrimSuffix(rest, ">")
		}
		h.Term = l.term(arg)
		r.Head.Args = append(r.Head.Args, h)
	}
	return r
}

// tokens returns the words of a text; an aggregate is one word.
func tokens(text string) []string {
	var out []string
	for len(text) > 0 {
		n := strings.IndexFunc(text, func(r rune) bool { return !word(r) })
		switch {
		case n < 0:
			n = len(text)
		case n == 0:
			n = 1
			if len(text) > 1 && strings.ContainsRune("=-", rune(text[1])) && strings.ContainsRune("<>:=!", rune(text[0])) {
				n = 2
			}
		case text[n] == '<' && text[n-1] != ' ':
			n = strings.IndexByte(text, '>') + 1
		}
		out = append(out, text[:n])
		text = strings.TrimLeft(text[n:], " ")
	}
	return out
}

func word(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func (l *line) peek() string {
	if len(l.tokens) == 0 {
		return ""
	}
	return l.tokens[0]
}

func (l *line) next() string {
	invariant.Check(len(l.tokens) > 0, "rewrite: a rule template ends too early")
	t := l.tokens[0]
	l.tokens = l.tokens[1:]
	return t
}

func (l *line) expect(want string) {
	t := l.next()
	invariant.Check(t == want, "rewrite: in a rule template, want %s, got %s", want, t)
}

// find returns a relation that the author added, or one of the program.
func (l *line) find(name string) *logic.Relation {
	if r := l.names[name]; r != nil {
		return r
	}
	r := l.p.Find(name)
	invariant.Check(r != nil, "rewrite: a rule template names %s, which is not a relation", name)
	return r
}

// args parses the arguments of an atom, and ignores empty ones.
func (l *line) args() []string {
	l.expect("(")
	var out []string
	for t := l.next(); t != ")"; t = l.next() {
		if t != "," {
			out = append(out, t)
		}
	}
	return out
}

func (l *line) literal() logic.Literal {
	first := l.next()
	negated := first == "not"
	if negated {
		first = l.next()
	}
	switch op := l.peek(); op {
	case "(":
		rel := l.find(first)
		args := l.args()
		invariant.Check(len(args) == len(rel.Columns), "rewrite: in a rule template, %s has %d arguments", rel.Name, len(args))
		a := &logic.Atom{Relation: rel}
		for i, arg := range args {
			if c := arg[0]; arg != "_" && arg != "self" && (c < '0' || c > '9') && l.types[arg].Kind == logic.NoType {
				l.types[arg] = rel.Columns[i].Type
			}
			a.Args = append(a.Args, l.term(arg))
		}
		return logic.Literal{Negated: negated, Atom: a, Span: l.span}
	case ":=":
		l.next()
		t := l.term(l.next())
		if op := l.peek(); logic.IsOperator(op) && op != "," {
			t = &logic.Term{Kind: logic.Call, Name: l.next(), Args: []*logic.Term{t, l.term(l.next())}, Type: t.Type}
		}
		l.types[first] = t.Type
		return logic.Literal{Assign: &logic.Assign{Var: first, Term: t}, Span: l.span}
	default:
		ops := map[string]logic.CompareOp{"<": logic.Less, "<=": logic.LessEqual, ">": logic.Greater, ">=": logic.GreaterEqual}
		_, known := ops[op]
		invariant.Check(known, "rewrite: in a rule template, %s is not a comparison", op)
		return logic.Literal{Compare: &logic.Compare{Op: ops[l.next()], Left: l.term(first), Right: l.term(l.next())}, Span: l.span}
	}
}

// term parses a variable, a number, a wildcard or self.
func (l *line) term(t string) *logic.Term {
	if n, err := strconv.ParseUint(t, 10, 64); err == nil {
		return number(n)
	}
	switch t {
	case "_":
		return &logic.Term{Kind: logic.Wildcard}
	case "self":
		return &logic.Term{Kind: logic.Self, Type: logic.Type{Kind: logic.Node}}
	}
	typ, ok := l.types[t]
	invariant.Check(ok, "rewrite: in a rule template, %s is not bound", t)
	return &logic.Term{Kind: logic.Var, Name: t, Type: typ}
}

// number is a constant.
func number(n uint64) *logic.Term {
	return &logic.Term{Kind: logic.Const, Value: logic.Value{Kind: logic.U64, Num: n}, Type: logic.Type{Kind: logic.U64}}
}
