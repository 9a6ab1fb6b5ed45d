// SPDX-License-Identifier: Apache-2.0

// Package rule has the rules of evaluation that all evaluators share because a second
// version could differ only by mistake: which evaluations are errors and their texts,
// how patterns match, how deep calls may nest.
//
// In: values, and parts of expressions. Out: values. Promised: no state is kept
// between calls. Refused: an expression without a value is an evaluation error
// (value.Fail). Whatever the evaluators do in different ways stays with them; they are
// tested against each other.
package rule
