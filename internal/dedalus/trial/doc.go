// SPDX-License-Identifier: Apache-2.0

// Package trial compares a program with its rewritten form before a user runs that form:
// on a few generated sets of messages, in every order, within stated bounds.
//
// In: both programs, and a context that bounds the time. Out: a Report, which states what
// was compared and how far, and the difference if there is one.
//
// Promised: the same programs give the same report, unless the time limit ends it. Package
// explore finds the differences, in runs without failures, with generated functions in place
// of those from Go, and with each timer firing once.
//
// An author's assertion about a program is tested in the same way: against a program in which
// the asserted changes happen later (Kept).
//
// Refused: the claim that programs without a difference are equivalent. This proves nothing.
package trial
