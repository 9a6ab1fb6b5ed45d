// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// Labels and variables whose name differs from their declaration.
//
// Locals of two processes may have one name; in the translation, where all
// variables are global, only one of them keeps it. A definition of the module
// that uses the name refers to that one, which its author may not have meant.

// owned is a variable with the name of its owner, or "" for the variable that
// counts crashes.
type owned struct {
	now, of string
}

// warnRenamed reports the first use in the module of every name that was
// declared for several variables.
func warnRenamed(m *syntax.Module, plain *pcal.Algorithm, diags *source.List) {
	declared := map[string][]owned{}
	note := func(list []*pcal.Variable, of string) {
		for _, v := range list {
			name := v.Var.Span.Text()
			declared[name] = append(declared[name], owned{v.Var.Name, of})
		}
	}
	for _, v := range plain.Globals {
		if c := plain.Crashes; c != nil && v.Var == c.Count {
			declared[pcal.CrashCount] = append(declared[pcal.CrashCount], owned{now: v.Var.Name})
			continue
		}
		note([]*pcal.Variable{v}, "the algorithm")
	}
	for _, p := range plain.Procedures {
		note(p.Variables(), p.Name)
	}
	for _, p := range plain.Processes {
		note(p.Locals, p.Name)
	}
	said := map[string]bool{}
	for _, u := range m.Units {
		// The text before the algorithm does not see its variables.
		if m.Translation.Contains(u.Span()) || u.Span().Start < m.Algorithm.Span().Start {
			continue
		}
		syntax.Inspect(u, func(n syntax.Node) bool {
			id, ok := n.(*syntax.Ident)
			if !ok || said[id.Name] || len(declared[id.Name]) < 2 {
				return true
			}
			said[id.Name] = true
			warnMeaning(id, declared[id.Name], diags)
			return true
		})
	}
}

// warnMeaning reports a use of a name that several variables were declared
// with. If all of them were renamed, the name means none of them.
func warnMeaning(id *syntax.Ident, all []owned, diags *source.List) {
	meant, others := "", make([]string, 0, len(all))
	for _, v := range all {
		switch {
		case v.now == id.Name:
			meant = v.of
		case v.of == "":
			others = append(others, "the number of crashes is "+v.now)
		default:
			others = append(others, fmt.Sprintf("that of %s is %s", v.of, v.now))
		}
	}
	if meant == "" {
		return
	}
	diags.Add(source.Diagnostic{Severity: source.Warning, Code: VariableRenamed, Span: id.Span(),
		Message: fmt.Sprintf("%s is the variable of %s here; %s", id.Name, meant, strings.Join(others, ", ")),
		Repair:  "give the variables different names"})
}

// warnLabels reports labels that have another name in the translation. In a
// Modular algorithm labels are usually renamed, because archetypes and
// procedures are copied. So warnLabels reports one there only if the module
// mentions the label's name.
func warnLabels(m *syntax.Module, a *pcal.Algorithm, renamed []pcal.Renaming, diags *source.List) {
	said := map[string]bool{}
	for _, u := range m.Units {
		if !m.Translation.Contains(u.Span()) {
			syntax.Inspect(u, func(n syntax.Node) bool {
				if s, ok := n.(*syntax.String); ok {
					said[s.Value] = true
				}
				return true
			})
		}
	}
	for _, r := range renamed {
		if r.Label && (!a.Modular || said[r.From]) {
			diags.Warnf(r.Span, LabelRenamed, "label %s of %s is %s in the translation: another process has a label of that name", r.From, r.In, r.To)
		}
	}
}
