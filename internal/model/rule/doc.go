// SPDX-License-Identifier: Apache-2.0

// Package rule has the rules of evaluation that all evaluators share, where two
// versions of a rule could only differ by mistake: what is an error and how it reads,
// how patterns match, how far calls may nest.
//
// In: values, and parts of expressions. Out: values. Promised: nothing is kept between
// calls. Refused: what has no value is an evaluation error (value.Fail). Whatever one
// evaluator does in another way than the other stays with the evaluators, which are
// tested against each other.
package rule
