// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"strings"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/lower"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// A plain algorithm as PlusCal text, in the syntax with braces.

// pluscalText writes an algorithm without Reads and Writes. It omits a trailing
// jump to the next block, as a person would.
func pluscalText(a *pcal.Algorithm) string {
	crashes := a.Crashes != nil
	a = pcal.WithoutCrashes(a)
	w := &writer{a: a}
	head := "--algorithm "
	if a.Fair != pcal.Unfair {
		head = "--fair algorithm "
	}
	w.line(head + a.Name + " {")
	w.in++
	if crashes {
		w.line(`\* Crashes are in the translation to TLA+ only: PlusCal cannot express them.`)
	}
	w.variables(a.Globals, ";")
	if a.DefineSpan.IsValid() {
		w.line("define {")
		w.in++
		w.lines(strings.Split(defineText(a), "\n"))
		w.in--
		w.line("}")
	}
	for _, p := range a.Procedures {
		var params []string
		for _, q := range p.Params {
			text := q.Var.Name
			if q.Init != nil {
				text += " = " + core.Format(q.Init, 0)
			}
			params = append(params, text)
		}
		w.line("")
		w.line("procedure " + p.Name + "(" + strings.Join(params, ", ") + ")")
		w.body(p.Locals, p.Blocks, pcal.LabelError, false)
	}
	for _, p := range a.Processes {
		w.line("")
		if p.Id != nil {
			word := map[pcal.Fairness]string{pcal.Unfair: "", pcal.Weak: "fair ", pcal.Strong: "fair+ "}[p.Fair]
			op := " = "
			if p.Set {
				op = ` \in `
			}
			w.text(word+"process ("+p.Name+op, p.Id, ")")
		}
		w.body(p.Locals, p.Blocks, pcal.LabelDone, p.Forever)
	}
	w.in--
	w.line("}")
	return strings.Join(w.out, "\n") + "\n"
}

// writer holds the text written so far.
type writer struct {
	a   *pcal.Algorithm
	out []string
	in  int
}

const indent = "  "

func (w *writer) line(s string) {
	if s != "" {
		s = strings.Repeat(indent, w.in) + s
	}
	w.out = append(w.out, s)
}

func (w *writer) lines(list []string) {
	for _, s := range list {
		w.line(s)
	}
}

// text writes an expression between two pieces of text.
func (w *writer) text(before string, e core.Expr, after string) {
	column := len(indent)*w.in + len([]rune(before))
	pieces := strings.Split(before+core.Format(e, column)+after, "\n")
	w.line(pieces[0])
	w.out = append(w.out, pieces[1:]...)
}

func (w *writer) variables(list []*pcal.Variable, end string) {
	if len(list) == 0 {
		return
	}
	w.line("variables")
	w.in++
	for _, v := range list {
		switch {
		case v.Init == nil:
			w.line(v.Var.Name + end)
		case v.In:
			w.text(v.Var.Name+` \in `, v.Init, end)
		default:
			w.text(v.Var.Name+" = ", v.Init, end)
		}
	}
	w.in--
}

// body writes the blocks of a process or procedure. Control that reaches the
// end of the text goes to end.
func (w *writer) body(locals []*pcal.Variable, blocks []*pcal.Block, end string, forever bool) {
	w.variables(locals, ";")
	w.line("{")
	for i, b := range blocks {
		label := b.Label + ":"
		if b.Plus {
			label += "+"
		}
		if b.Minus {
			label += "-"
		}
		w.line(label)
		next := end
		if i+1 < len(blocks) {
			next = blocks[i+1].Label
		}
		w.in++
		if forever {
			w.line("while (TRUE) {")
			w.in++
			w.stmts(b.Body[:len(b.Body)-1])
			w.in--
			w.line("}")
		} else {
			w.stmts(withoutJump(b.Body, next))
		}
		w.in--
	}
	w.line("}")
}

// withoutJump drops the goto at the end of the list if it goes to label and is
// not the only statement.
func withoutJump(list []pcal.Stmt, label string) []pcal.Stmt {
	if len(list) == 1 {
		return list
	}
	if g, ok := list[len(list)-1].(*pcal.Goto); ok && g.Label == label {
		list = list[:len(list)-1]
	}
	return list
}

func (w *writer) stmts(list []pcal.Stmt) {
	if len(list) == 0 {
		w.line("skip;")
	}
	for _, s := range list {
		w.stmt(s)
	}
}

// braced writes a branch after head.
func (w *writer) braced(head string, list []pcal.Stmt) {
	w.line(head + "{")
	w.in++
	w.stmts(list)
	w.in--
}

func (w *writer) stmt(s pcal.Stmt) {
	switch s := s.(type) {
	case *pcal.Skip:
		w.line("skip;")
	case *pcal.Await:
		w.text("await ", s.Cond, ";")
	case *pcal.Assert:
		w.text("assert ", s.Cond, ";")
	case *pcal.Print:
		w.text("print ", s.X, ";")
	case *pcal.Goto:
		w.line("goto " + s.Label + ";")
	case *pcal.Return:
		w.line("return;")
	case *pcal.Call:
		w.call(s)
	case *pcal.Assign:
		w.assign(s)
	case *pcal.With:
		op := " = "
		if s.In {
			op = ` \in `
		}
		w.text("with ("+s.Var.Name+op, s.X, ") {")
		w.in++
		w.stmts(s.Body)
		w.in--
		w.line("};")
	case *pcal.If:
		w.cond("if (", s)
	case *pcal.Either:
		for i, b := range s.Branches {
			if i == 0 {
				w.braced("either ", b)
			} else {
				w.braced("} or ", b)
			}
		}
		w.line("};")
	default:
		invariant.Unreachable(s)
	}
}

// cond writes an if with its chain of else ifs.
func (w *writer) cond(head string, s *pcal.If) {
	w.text(head, s.Cond, ") {")
	w.in++
	w.stmts(s.Then)
	w.in--
	if len(s.Else) == 1 {
		if next, ok := s.Else[0].(*pcal.If); ok {
			w.cond("} else if (", next)
			return
		}
	}
	if !onlySkips(s.Else) {
		w.braced("} else ", s.Else)
	}
	w.line("};")
}

func onlySkips(list []pcal.Stmt) bool {
	for _, s := range list {
		if _, ok := s.(*pcal.Skip); !ok {
			return false
		}
	}
	return true
}

func (w *writer) call(s *pcal.Call) {
	var args []string
	for _, a := range s.Args {
		args = append(args, core.Format(a.X, 0))
	}
	w.lines(strings.Split("call "+s.Proc.Name+"("+strings.Join(args, ", ")+");", "\n"))
	if s.Return == "" {
		w.line("return;")
	} else {
		w.line("goto " + s.Return + ";")
	}
}

func (w *writer) assign(s *pcal.Assign) {
	for i, p := range s.Pairs {
		target := p.Target.Name
		for _, ix := range p.Path {
			if ix.X == nil {
				target += "." + ix.Field
			} else if t, ok := ix.X.(*core.Tuple); ok && len(t.Elems) > 1 {
				var parts []string
				for _, e := range t.Elems {
					parts = append(parts, core.Format(e, 0))
				}
				target += "[" + strings.Join(parts, ", ") + "]"
			} else {
				target += "[" + core.Format(ix.X, 0) + "]"
			}
		}
		end := ";"
		if i+1 < len(s.Pairs) {
			end = " ||"
		}
		w.text(target+" := ", p.Value, end)
	}
}

// defineText is the text of the define block as the user wrote it, without the
// common indentation of its lines.
func defineText(a *pcal.Algorithm) string {
	span := a.DefineSpan
	raw := strings.Split(strings.ReplaceAll(span.Text(), "\r\n", "\n"), "\n")
	// The first line starts where the span starts.
	raw[0] = strings.Repeat(" ", span.From().Column-1) + raw[0]
	common := -1
	for _, l := range raw {
		if t := strings.TrimLeft(l, " "); t != "" {
			if n := len(l) - len(t); common < 0 || n < common {
				common = n
			}
		}
	}
	var out []string
	for _, l := range raw {
		l = strings.TrimRight(l, " \t")
		if len(l) >= common && common > 0 {
			l = l[common:]
		}
		out = append(out, l)
	}
	for len(out) > 0 && out[0] == "" {
		out = out[1:]
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return strings.Join(out, "\n")
}

// identifiers is the set of all words in the file of a module, except those in
// translations. Names that we make must not be among them.
func identifiers(m *syntax.Module, f *source.File) func(string) bool {
	words := map[string]bool{}
	at := 0
	for at < len(f.Text) {
		skip := -1
		for _, r := range []*syntax.Region{m.Translation, m.PlusCalTranslation} {
			if r != nil && r.Inner.File == f && int(r.Inner.Start) <= at && at < int(r.Inner.End) {
				skip = int(r.Inner.End)
			}
		}
		if skip >= 0 {
			at = skip
			continue
		}
		start := at
		for at < len(f.Text) && isWord(f.Text[at]) {
			at++
		}
		if at > start {
			words[string(f.Text[start:at])] = true
		} else {
			at++
		}
	}
	return func(name string) bool { return words[name] }
}

// declares reports whether the module declares or defines a name, before or
// after the algorithm. Names in a translation do not count.
func declares(u *load.Untranslated) func(string) bool {
	behind := map[string]bool{}
	add := func(names ...syntax.Name) {
		for _, n := range names {
			behind[n.Text] = true
		}
	}
	for _, unit := range u.Module.Units {
		if u.Module.Translation.Contains(unit.Span()) {
			continue
		}
		switch unit := unit.(type) {
		case *syntax.VariableDecl:
			add(unit.Names...)
		case *syntax.ConstantDecl:
			for _, p := range unit.Decls {
				add(p.Name)
			}
		case *syntax.OperatorDef:
			add(unit.Name)
		case *syntax.FunctionDef:
			add(unit.Name)
		case *syntax.Instance:
			add(unit.Name)
		case *syntax.Assume:
			add(unit.Name)
		case *syntax.Theorem:
			add(unit.Name)
		case *syntax.Module:
			add(unit.Name)
		}
	}
	return func(name string) bool { return behind[name] || u.Scope.Lookup(name) != lower.Meaning{} }
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
