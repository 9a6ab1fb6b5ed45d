// SPDX-License-Identifier: Apache-2.0

// Package module holds the text of the standard modules of TLA+ and of the
// community modules that specifications use most.
//
// In: the name of a module. Out: its TLA+ text, written for Ashlar. Operators
// have their usual names, arities and meanings, and a definition wherever TLA+
// has one that can be evaluated. Elsewhere the definition is TRUE with the
// comment "\* native", and only tla/stdlib implements the operator. Theorems of
// the proof libraries are stated as far as proofs refer to them; their own
// proofs are not here.
//
// Callers do not look here for a module that is beside the root file.
package module

import (
	"embed"
	"strings"
)

//go:embed *.tla
var texts embed.FS

// Source is the text of the module of that name, and whether there is one.
func Source(name string) (text []byte, ok bool) {
	text, err := texts.ReadFile(name + ".tla")
	return text, err == nil
}

// Names is the names of all modules, sorted.
func Names() []string {
	entries, err := texts.ReadDir(".")
	if err != nil {
		panic("module: the embedded texts cannot be listed: " + err.Error())
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".tla")
	}
	return names
}
