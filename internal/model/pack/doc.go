// SPDX-License-Identifier: Apache-2.0

// Package pack gives the states of a model a fixed layout of bits, and its
// next-state relation and predicates a form that works on these bits.
//
// In: the variables' values in some states, the sets that a type invariant
// names, and the expressions of the model (package core). Out: a Layout, which
// turns the values of the variables into words and back, and a Code: the
// expressions over words, as closures that run at once (Machine) and as the
// text of a Go package that does the same (Source).
//
// Both are guesses that cannot do harm. A state whose values do not fit the
// layout has no packed form, and Encode says so. Code that meets what it was
// not made for (a value outside the layout, an expression that is not lowered,
// an operation that would fail) stops and says so too; then the caller
// evaluates the same thing with the evaluators of the packages beside this one, which know
// what it means, or what the error is. So nothing is approximated: what code
// reports before it stops is what that evaluator reports, in the same order.
//
// The lowering is a partial evaluation: constants are known, quantifiers over
// small constant sets are written out, applications are opened, and what is left
// are tests and stores of bit fields. A set over a finite universe is a bit per
// element; a function on a constant domain is a field per argument; a value
// of another finite kind is its number in a universe, and what is a function of
// that number alone is a table.
package pack
