// SPDX-License-Identifier: Apache-2.0

// Package trial compares a program with what steps have made of it before a user runs
// that: on a few sets of messages that it makes up, in every order, within named bounds.
//
// In: both programs, and a context that bounds the time. Out: a Report, which says what
// was compared and how far, and the difference if there is one.
//
// Promised: the same programs give the same report, unless the time ends it. A difference is
// one that package explore finds: of runs without failures, with made-up functions in place of
// those from Go, and with each timer running out once.
//
// What an author asserts of a program is compared in the same way: with a program in which what it
// is about happens later (Kept).
//
// Refused: that programs without a difference are the same. Nothing is proved by this.
package trial
