// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
)

// String writes the configuration as a file that parses to an equal one.
func (c *Config) String() string {
	var b strings.Builder
	section := func(keyword string, names ...Name) {
		first := true
		for _, n := range names {
			if !n.IsSet() {
				continue
			}
			if first {
				b.WriteString(keyword)
				first = false
			}
			b.WriteString(" " + n.Text)
		}
		if !first {
			b.WriteByte('\n')
		}
	}
	section("SPECIFICATION", c.Specification)
	section("INIT", c.Init)
	section("NEXT", c.Next)
	if len(c.Constants)+len(c.Overrides) > 0 {
		b.WriteString("CONSTANTS\n")
	}
	for _, k := range c.Constants {
		b.WriteString("    " + k.Name.Text)
		if k.Args != nil {
			b.WriteString("(" + list(k.Args) + ")")
		}
		fmt.Fprintf(&b, " = %s%s\n", bracket(k.Module), k.Value)
	}
	for _, o := range c.Overrides {
		fmt.Fprintf(&b, "    %s <- %s%s\n", o.Name.Text, bracket(o.Module), o.Op.Text)
	}
	section("INVARIANTS", c.Invariants...)
	section("PROPERTIES", c.Properties...)
	section("CONSTRAINTS", c.Constraints...)
	section("ACTION_CONSTRAINTS", c.ActionConstraints...)
	section("SYMMETRY", c.Symmetry)
	section("VIEW", c.View)
	section("ALIAS", c.Alias)
	section("POSTCONDITION", c.Postcondition)
	section("_POSSIBLE", c.Possible...)
	section("_PERIODIC", c.Periodic)
	section("_RL_REWARD", c.Reward)
	if !c.Deadlock {
		b.WriteString("CHECK_DEADLOCK FALSE\n")
	}
	return b.String()
}

func bracket(module Name) string {
	if !module.IsSet() {
		return ""
	}
	return "[" + module.Text + "] "
}

func list(vs []Value) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = v.String()
	}
	return strings.Join(parts, ", ")
}

// String writes the value in TLA+.
func (v Value) String() string {
	switch v.Kind {
	case Int:
		return fmt.Sprint(v.Int)
	case Str:
		return `"` + escaper().Replace(v.Text) + `"`
	case Bool:
		return strings.ToUpper(fmt.Sprint(v.Bool))
	case Set:
		return "{" + list(v.Elems) + "}"
	case Tuple:
		return "<<" + list(v.Elems) + ">>"
	case Record:
		parts := make([]string, len(v.Fields))
		for i, f := range v.Fields {
			parts[i] = f.Name.Text + " |-> " + f.Value.String()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return v.Text
}

func escaper() *strings.Replacer {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "\f", `\f`)
}
