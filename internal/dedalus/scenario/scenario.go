// SPDX-License-Identifier: Apache-2.0

// Package scenario reads the inputs of a program for runs in a search or under an
// adversary.
//
// In: a program, and a text of messages, a line each, as the language writes them:
//
//	in(node "c", 1, b"x") to leader/0
//
// Out: the messages; or a few generated ones for each input; and functions that
// replace those that a program imports from Go.
//
// Promised: an error has the line and says what was expected. Refused: relations that
// are not inputs of the program, and machines that it does not have.
package scenario

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/lower"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// messagesMax bounds how many messages a text has.
const messagesMax = 10_000

// Read reads the messages of a text. Empty lines are nothing, and # begins a comment
// where a line begins with it. The name is for errors.
func Read(p *logic.Program, name, text string) ([]interp.Message, error) {
	var out []interp.Message
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		m, err := Message(p, line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		if out = append(out, m); len(out) > messagesMax {
			return nil, fmt.Errorf("%s:%d: more than %d messages", name, i+1, messagesMax)
		}
	}
	return out, nil
}

// Message reads one.
func Message(p *logic.Program, line string) (interp.Message, error) {
	at := strings.LastIndex(line, " to ")
	name, args, ok := strings.Cut(line[:max(at, 0)], "(")
	if at < 0 || !ok {
		return interp.Message{}, fmt.Errorf("expected RELATION(VALUES) to MACHINE, got '%s'", line)
	}
	var inputs []string
	for _, r := range p.Relations {
		if r.Kind == logic.Input {
			inputs = append(inputs, r.Name)
		}
	}
	r := p.Find(strings.TrimSpace(name))
	if r == nil || r.Kind != logic.Input {
		return interp.Message{}, fmt.Errorf("'%s' is not an input of the program; its inputs are %s", strings.TrimSpace(name), strings.Join(inputs, ", "))
	}
	to := strings.TrimSpace(line[at+len(" to "):])
	if !hasMachine(p, to) {
		return interp.Message{}, fmt.Errorf("there is no machine '%s'; expected one of a component, such as %s", to, logic.NodeName(p.Components[0].Name, 0))
	}
	row, err := values(r, "("+args)
	if err != nil {
		return interp.Message{}, err
	}
	return interp.Message{To: to, Fact: interp.Fact{Relation: r, Row: row}}, nil
}

func hasMachine(p *logic.Program, name string) bool {
	for _, c := range p.Components {
		for i := range c.Instances * c.Partitions {
			if logic.NodeName(c.Name, i) == name {
				return true
			}
		}
	}
	return false
}

// values reads the values of a fact, as a static relation has them.
func values(r *logic.Relation, text string) ([]logic.Value, error) {
	var columns, want []string
	for i, c := range r.Columns {
		columns = append(columns, fmt.Sprintf("c%d: %v", i, c.Type))
		want = append(want, fmt.Sprint(c.Type))
	}
	bad := fmt.Errorf("%s takes (%s), got %s", r.Name, strings.Join(want, ", "), text)
	if len(columns) == 0 {
		if strings.ReplaceAll(text, " ", "") != "()" {
			return nil, bad
		}
		return []logic.Value{}, nil
	}
	var diags source.List
	f := syntax.Parse(source.NewFile("fact", fmt.Appendf(nil, "program p\ncomponent c { static f(%s) = { %s } }\n", strings.Join(columns, ", "), text)), &diags)
	if diags.HasErrors() {
		return nil, bad
	}
	p := lower.Lower(f, &diags)
	if p == nil || diags.HasErrors() || len(p.Relations) != 1 || len(p.Relations[0].Facts) != 1 {
		return nil, bad
	}
	return p.Relations[0].Facts[0], nil
}

// Inputs makes up n messages for each input of a program, to the first machine that
// reads it: the i-th has i in its numbers, and "v" and i in its bytes and texts. All
// come from node "client".
func Inputs(p *logic.Program, n int) []interp.Message {
	var out []interp.Message
	for _, c := range p.Components {
		for _, r := range p.In(c) {
			if r.Kind != logic.Input {
				continue
			}
			for i := range n {
				row := make([]logic.Value, len(r.Columns))
				for j, col := range r.Columns {
					row[j] = made(col.Type, i)
				}
				out = append(out, interp.Message{To: logic.NodeName(c.Name, 0), Fact: interp.Fact{Relation: r, Row: row}})
			}
		}
	}
	return out
}

// Draw makes up n messages for each input of a program, to machines that read it, with
// values that the program speaks of in facts and rules, and some others: it is such values
// that meet. Half of the values are some that a message before has already, as it is messages
// of one key that meet. Two messages are equal now and then.
func Draw(p *logic.Program, r env.Random, n int) []interp.Message {
	known := spokenOf(p)
	used := map[string][]logic.Value{}
	var out []interp.Message
	for _, c := range p.Components {
		for _, rel := range p.In(c) {
			if rel.Kind != logic.Input {
				continue
			}
			for range n {
				row := make([]logic.Value, len(rel.Columns))
				for j, col := range rel.Columns {
					kind := col.Type.String()
					some, before := known[kind], used[kind]
					switch i := env.IntN(r, len(some)+othersMax); {
					case len(before) > 0 && env.IntN(r, 2) == 0:
						row[j] = before[env.IntN(r, len(before))]
					case i < len(some):
						row[j] = some[i]
					default:
						row[j] = made(col.Type, i-len(some))
					}
				}
				for j, col := range rel.Columns {
					used[col.Type.String()] = append(used[col.Type.String()], row[j])
				}
				to := logic.NodeName(c.Name, env.IntN(r, c.Instances*c.Partitions))
				out = append(out, interp.Message{To: to, Fact: interp.Fact{Relation: rel, Row: row}})
			}
		}
	}
	return out
}

// othersMax is how many values Draw has besides those of the program.
const othersMax = 3

// spokenOf are the values that a program speaks of, by their types.
func spokenOf(p *logic.Program) map[string][]logic.Value {
	out, seen := map[string][]logic.Value{}, map[string]bool{}
	add := func(t logic.Type, v logic.Value) {
		// Messages that are for a machine of the program are none of the outside.
		if key := t.String() + string(v.AppendKey(nil)); !seen[key] && !(v.Kind == logic.Node && hasMachine(p, v.Str)) {
			seen[key] = true
			out[t.String()] = append(out[t.String()], v)
		}
	}
	var term func(t *logic.Term)
	term = func(t *logic.Term) {
		if t == nil {
			return
		}
		if t.Kind == logic.Const {
			add(t.Type, t.Value)
		}
		for _, a := range t.Args {
			term(a)
		}
	}
	for _, r := range p.Relations {
		for _, row := range r.Facts {
			for i, v := range row {
				add(r.Columns[i].Type, v)
			}
		}
	}
	for _, c := range p.Components {
		for _, r := range c.Rules {
			for _, a := range r.Head.Args {
				term(a.Term)
			}
			for i := range r.Body {
				switch l := &r.Body[i]; {
				case l.Atom != nil:
					for _, t := range l.Atom.Args {
						term(t)
					}
				case l.Compare != nil:
					term(l.Compare.Left)
					term(l.Compare.Right)
				default:
					term(l.Assign.Term)
				}
			}
		}
	}
	return out
}

func made(t logic.Type, i int) logic.Value {
	v := logic.Value{Kind: t.Kind}
	switch t.Kind {
	case logic.Node:
		v.Str = "client"
	case logic.Bytes, logic.Text:
		v.Str = fmt.Sprint("v", i)
	case logic.Bool:
		v.Num = uint64(i+1) % 2
	case logic.SetType:
	default:
		v.Num = uint64(i)
	}
	return v
}

// Functions stand in for the functions that a program has from Go: each gives other
// results for other arguments, bytes and texts that say how they came about, and
// numbers that are their hashes. What relies on what the functions do, such as that
// one undoes another, does not see it.
func Functions(p *logic.Program) interp.Functions {
	out := interp.Functions{}
	for _, f := range p.Functions {
		if f.Body != nil {
			continue
		}
		out[f.Name] = func(args []logic.Value) (logic.Value, bool) {
			v := logic.Value{Kind: f.Result.Kind}
			var b strings.Builder
			b.WriteString(f.Name)
			for i, a := range args {
				fmt.Fprintf(&b, "%c%v", "(,"[min(i, 1)], a)
			}
			b.WriteString(")")
			switch text := b.String(); v.Kind {
			case logic.Bytes, logic.Text, logic.Node:
				v.Str = text
			case logic.Bool:
				v.Num = logic.Hash(logic.Value{Kind: logic.Text, Str: text}) % 2
			case logic.SetType:
			default:
				v.Num = logic.Hash(logic.Value{Kind: logic.Text, Str: text})
			}
			return v, true
		}
	}
	return out
}
