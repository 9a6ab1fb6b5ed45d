// SPDX-License-Identifier: Apache-2.0

// Package memo remembers what evaluators have computed: a value that is computed once
// for all (Cell), the results of a recursive function (Function), and, for each place
// of compiled code, what a predicate or an assignment of one variable gives for each of
// the variable's values, and what an operator gives for its arguments (Sites).
//
// In: the value, result or number that was computed. Out: the same, when it is asked
// for again.
//
// Promised: Cell and Function are safe for concurrent use, and an error of a Cell is
// the error of everybody who needs it; Sites belongs to one goroutine. Memory is
// bounded (resultsMax, CallsMax, bytesMax): beyond a bound things are computed
// again. Refused: a Cell that needs itself is an evaluation error and not a deadlock.
package memo
