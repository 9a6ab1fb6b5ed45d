// SPDX-License-Identifier: Apache-2.0

// Package memo caches what evaluators have computed: a value that is computed once for
// all goroutines (Cell), the results of a recursive function (Function), and, for each
// site of compiled code, the results of a predicate or an assignment for each value of
// its only variable, and of an operator for its arguments (Sites).
//
// In: the computed value, result or number. Out: the same, when it is needed again.
//
// Promised: Cell and Function are safe for concurrent use, and an error of a Cell is an
// error for every goroutine that needs it. Sites belongs to one goroutine. Memory is
// bounded (resultsMax, CallsMax, bytesMax): beyond a bound, results are computed again.
// Refused: a Cell that needs itself is an evaluation error, not a deadlock.
package memo
