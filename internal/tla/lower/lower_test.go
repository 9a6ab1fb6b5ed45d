// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// texts is a library of the modules of one test input.
type texts map[string]*syntax.Module

func (l texts) Find(name string) (*syntax.Module, bool, *source.List) {
	return l[name], name == "Naturals", nil
}
func (texts) Searched() []string { return nil }
func (texts) Names() []string    { return nil }

// program resolves the last module of the input, where the modules before it
// can be found.
func program(input string, diags *source.List) *Program {
	var parts []string
	for _, line := range strings.SplitAfter(input, "\n") {
		if strings.HasPrefix(line, "---- MODULE ") || len(parts) == 0 {
			parts = append(parts, "")
		}
		parts[len(parts)-1] += line
	}
	lib := texts{}
	var root *syntax.Module
	for _, t := range parts {
		name := strings.Fields(t + " - - -")[2]
		m, list := syntax.ParseModule(source.NewFile(name+".tla", []byte(t)))
		diags.Append(list)
		lib[name] = m
		root = m
	}
	if diags.HasErrors() {
		return nil
	}
	info := resolve.Resolve(root, lib, resolve.Options{}, diags)
	if diags.HasErrors() {
		return nil
	}
	return New(info, diags)
}

// describe prints the parts of a Spec that a test checks.
func describe(s *core.Spec) string {
	var b strings.Builder
	if len(s.Constants) > 0 {
		b.WriteString("CONSTANTS")
		for _, c := range s.Constants {
			fmt.Fprintf(&b, " %s/%d", c.Name, c.Arity)
		}
		b.WriteString("\n")
	}
	if len(s.Variables) > 0 {
		b.WriteString("VARIABLES")
		for _, v := range s.Variables {
			fmt.Fprintf(&b, " %s@%d", v.Name, v.Index)
		}
		b.WriteString("\n")
	}
	names := map[*core.Def][]string{}
	for n, d := range s.Names {
		names[d] = append(names[d], n)
	}
	for _, d := range s.Defs {
		sort.Strings(names[d])
		note := ""
		if d.Native {
			note = " native"
		}
		if d.Local {
			note += " local"
		}
		if len(names[d]) == 0 {
			note += " unnamed"
		}
		if len(names[d]) > 0 && (len(names[d]) > 1 || names[d][0] != d.FullName()) {
			note += " as " + strings.Join(names[d], ", ")
		}
		fmt.Fprintf(&b, "[%s %s level %d%s] %s\n", d.Module, d.FullName(), d.Level, note, core.FormatDef(d))
	}
	for _, a := range s.Assumes {
		fmt.Fprintf(&b, "ASSUME %s %s\n", a.Name, core.Format(a.Body, 0))
	}
	return b.String()
}

// TestLower runs the inputs in testdata/module. The command lower prints the Spec of
// the last module; every Spec must be valid.
func TestLower(t *testing.T) {
	datadriven.Walk(t, "testdata/module", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var diags source.List
			p := program(d.Input, &diags)
			if p == nil {
				return diags.Error()
			}
			s := p.Spec()
			if diags.HasErrors() {
				return diags.Error()
			}
			if err := core.Validate(s); err != nil {
				return describe(s) + err.Error() + "\n"
			}
			return describe(s)
		})
	})
}
