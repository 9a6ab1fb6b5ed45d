// SPDX-License-Identifier: Apache-2.0

// Package gen writes a plan as Go: a package for a program, a file for each
// component, against package rt.
//
// In: a logic.Program and a package's name. Out: files. The package has a function
// Program, which returns the *rt.Program.
//
// Promised: the same program gives the same text, laid out as gofmt does, without
// times; each block says from which rule it is. Each relation of a component has a
// type of its own, with columns as they are: uint64, int64, bool, string for text,
// bytes and nodes, sorted slices for sets. A function that the program has from Go
// is called with these, bytes as []byte.
//
// Refused: what package plan refuses.
//
// plan.go of package plan says how a component gets from tick to tick; here are
// table.go for relations, rule.go for rules, aggregate.go for groups, term.go for
// terms and types, component.go for what holds them together.
package gen
