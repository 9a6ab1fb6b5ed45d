// SPDX-License-Identifier: Apache-2.0

// Package config reads the configuration files (.cfg) that define which model
// of a specification is checked: its constants, the formula of its behaviour,
// and the properties to check.
//
// In: a source.File. Out: a Config, in which every name has its position, and
// the diagnostics of all errors in the file. It accepts everything that TLC
// accepts; beyond TLC it reads negative numbers, tuples and records as values.
// It resolves no names: the caller, which knows the specification, checks
// whether "Spec" exists. It refuses expressions, with a suggested repair.
//
//	SPECIFICATION Spec
//	CONSTANTS  N = 3   Proc = {p1, p2, p3}   Seq <- BoundedSeq
//	INVARIANTS TypeOK Mutex
package config

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// Config is a configuration. A list that the file does not mention is empty; a
// Name that it does not mention has no Text.
type Config struct {
	// File is the file that the configuration was read from, or nil for a
	// default configuration.
	File *source.File

	Constants []Constant
	Overrides []Override

	// Either Specification is set, or both Init and Next, or none. If none is
	// set, there is no behaviour to explore and only the assumptions are
	// evaluated.
	Specification Name
	Init, Next    Name

	Invariants        []Name
	Properties        []Name
	Constraints       []Name
	ActionConstraints []Name
	Symmetry          Name
	View              Name
	Alias             Name
	Postcondition     Name

	// Deadlock reports whether a state without successor is an error. It is true
	// unless the file says CHECK_DEADLOCK FALSE.
	Deadlock bool

	// Possible lists state predicates, each of which some reachable state must
	// satisfy (_POSSIBLE). Periodic is evaluated at intervals during a run
	// (_PERIODIC). Reward guides random simulation (_RL_REWARD).
	Possible []Name
	Periodic Name
	Reward   Name
}

// Name is the name of a definition with its place: "Spec", "M!Inv", "\prec".
type Name struct {
	Text string
	Span source.Span
}

// IsSet reports whether the file mentions the name.
func (n Name) IsSet() bool { return n.Text != "" }

// Constant is "Name = Value". It gives a value to a constant or, as in TLC, to
// any definition without parameters. With Args it is one row of the table of a
// constant operator: "F(1, 2) = 3". If Module is set, the value applies only
// where that module uses Name: "N = [M] 3".
type Constant struct {
	Name   Name
	Args   []Value
	Module Name
	Value  Value
}

// Override is "Name <- Op" or, for uses of Name in one module only, "Name <-
// [Module] Op".
type Override struct {
	Name   Name
	Module Name
	Op     Name
}

// Give assigns a number to a name, replacing any assignment in the
// configuration.
func (c *Config) Give(name string, n int32) {
	c.Constants = slices.DeleteFunc(slices.Clone(c.Constants), func(k Constant) bool { return k.Name.Text == name })
	c.Overrides = slices.DeleteFunc(slices.Clone(c.Overrides), func(o Override) bool { return o.Name.Text == name })
	c.Constants = append(c.Constants, Constant{Name: Name{Text: name}, Value: Value{Kind: Int, Int: n}})
}

// Kind states what a Value is.
type Kind uint8

// The kinds of values that a configuration can write.
const (
	Int Kind = iota
	Str
	Bool
	Model // a model value, named by Text
	Set
	Tuple
	Record
)

// Value is a value as written. It has no equality or order of its own: a set
// keeps its elements in written order, duplicates included.
type Value struct {
	Kind   Kind
	Int    int32  // of an Int
	Bool   bool   // of a Bool
	Text   string // of a Str, unescaped, and of a Model
	Elems  []Value
	Fields []Field // of a Record
	Span   source.Span
}

// Field is a field of a Record.
type Field struct {
	Name  Name
	Value Value
}

// Default is the configuration of a specification that has no configuration
// file. The caller says which definitions exist. The default is SPECIFICATION
// Spec if there is a Spec, else INIT Init NEXT Next if there are both, else no
// behaviour.
func Default(defined func(name string) bool) *Config {
	c := &Config{Deadlock: true}
	switch {
	case defined("Spec"):
		c.Specification.Text = "Spec"
	case defined("Init") && defined("Next"):
		c.Init.Text, c.Next.Text = "Init", "Next"
	}
	return c
}
