// SPDX-License-Identifier: Apache-2.0

package pcal

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Describe writes an algorithm as text for debugging: every block with its
// statements, reads and writes of resources included.
func Describe(a *Algorithm) string {
	d := &describer{}
	d.line("algorithm %s", a.Name)
	d.variables(a.Globals)
	for _, p := range a.Procedures {
		d.line("procedure %s(%s)", p.Name, params(p.Params))
		d.variables(p.Locals)
		d.blocks(p.Blocks)
	}
	for _, m := range a.Mappings {
		d.line("mapping macro %s", m.Name)
		d.nested("  read", m.Read)
		d.nested("  write", m.Write)
		if m.Crash != nil {
			d.nested("  crash", m.Crash)
		}
	}
	for _, p := range a.Archetypes {
		d.line("archetype %s(%s)%s", p.Name, params(p.Params), restarts(p.Restart))
		d.variables(p.Locals)
		d.blocks(p.Blocks)
	}
	for _, in := range a.Instances {
		d.line("instance %s of %s", in.Name, in.Archetype.Name)
	}
	for _, p := range a.Processes {
		d.line("process %s", p.Name)
		d.variables(p.Locals)
		d.blocks(p.Blocks)
		if p.Crash != nil {
			d.nested("  crash", p.Crash.Body)
		}
	}
	return d.out.String()
}

func params(list []*Param) string {
	var out []string
	for _, p := range list {
		s := p.Var.Name + strings.Repeat("[_]", p.Mapping)
		if p.Ref {
			s = "ref " + s
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func restarts(label string) string {
	if label == "" {
		return ""
	}
	return ", after a crash at " + label
}

type describer struct {
	out strings.Builder
	in  int
}

func (d *describer) line(format string, args ...any) {
	d.out.WriteString(strings.Repeat("  ", d.in))
	fmt.Fprintf(&d.out, format, args...)
	d.out.WriteByte('\n')
}

// text is an expression on one line.
func text(e core.Expr) string { return strings.Join(strings.Fields(core.Format(e, 0)), " ") }

func (d *describer) variables(list []*Variable) {
	for _, v := range list {
		kind := "variable"
		if v.Durable {
			kind = "durable variable"
		}
		switch {
		case v.Init == nil:
			d.line("  %s %s", kind, v.Var.Name)
		case v.In:
			d.line(`  %s %s \in %s`, kind, v.Var.Name, text(v.Init))
		default:
			d.line("  %s %s = %s", kind, v.Var.Name, text(v.Init))
		}
	}
}

func (d *describer) blocks(list []*Block) {
	for _, b := range list {
		mark := ""
		if b.Plus {
			mark = "+"
		}
		if b.Minus {
			mark = "-"
		}
		d.nested("  "+b.Label+":"+mark, b.Body)
	}
}

func (d *describer) nested(head string, list []Stmt) {
	d.line("%s", head)
	d.in += 2
	for _, s := range list {
		d.stmt(s)
	}
	d.in -= 2
}

func (d *describer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Assign:
		var pairs []string
		for _, p := range s.Pairs {
			pairs = append(pairs, target(p)+" := "+text(p.Value))
		}
		d.line("%s", strings.Join(pairs, " || "))
	case *If:
		d.nested("if "+text(s.Cond), s.Then)
		if len(s.Else) > 0 {
			d.nested("else", s.Else)
		}
	case *Either:
		for i, b := range s.Branches {
			d.nested([]string{"either", "or"}[min(i, 1)], b)
		}
	case *With:
		op := "="
		if s.In {
			op = `\in`
		}
		d.nested(fmt.Sprintf("with %s %s %s", s.Var.Name, op, text(s.X)), s.Body)
	case *Await:
		d.line("await %s", text(s.Cond))
	case *Assert:
		d.line("assert %s", text(s.Cond))
	case *Print:
		d.line("print %s", text(s.X))
	case *Skip:
		d.line("skip")
	case *Goto:
		d.line("goto %s", s.Label)
	case *Call:
		var args []string
		for _, a := range s.Args {
			if a.Ref != nil {
				args = append(args, "ref "+a.Ref.Name)
			} else {
				args = append(args, text(a.X))
			}
		}
		back := "return to " + s.Return
		if s.Return == "" {
			back = "return"
		}
		d.line("call %s(%s); %s", s.Proc.Name, strings.Join(args, ", "), back)
	case *Return:
		d.line("return")
	case *Restart:
		d.line("restart at %s", s.Label)
	case *Yield:
		d.line("yield %s", text(s.X))
	case *Read:
		d.nested("read "+s.Dst.Name+of(s.Access), s.Body)
		d.nested("in", s.Rest)
	case *Write:
		d.nested("write "+text(s.X)+of(s.Access), s.Body)
	default:
		invariant.Unreachable(s)
	}
}

func target(p Assignment) string {
	out := p.Target.Name
	for _, ix := range p.Path {
		if ix.X == nil {
			out += "." + ix.Field
		} else {
			out += "[" + text(ix.X) + "]"
		}
	}
	return out
}

func of(a *Access) string {
	if a == nil {
		return ""
	}
	out := " of " + a.Param.Var.Name
	for _, ix := range a.Index {
		out += "[" + text(ix) + "]"
	}
	return out
}
