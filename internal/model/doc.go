// SPDX-License-Identifier: Apache-2.0

// Package model gives specifications their meaning: it joins a core.Spec and a
// configuration to a check.Model, with the semantics of TLC.
//
// In: the flattened specification and the configuration. Out: a Model that
// enumerates initial states and successors, evaluates constraints, invariants
// and action properties, and shows states; and the evaluation of single
// expressions. What is wrong with the configuration is a diagnostic; what is
// wrong with the specification when it runs is a *check.EvalError with the chain
// of places.
//
// It joins the packages below it. Package program says what the names mean. Package
// tree evaluates expressions as they are written; package closure compiles them, once
// for each model. Compiled code is the default; the other evaluator is what it is
// tested against, and explains its errors: it evaluates the same thing again and keeps
// account of the places. Package pack goes further where it can and works on states as
// words. A worker has one of each, and goes to the next where one does not know.
//
// Promised: all evaluators find the same states, in the same order and as often.
// Refused: sections of a configuration that ask for what no evaluator does, names
// without a meaning, and levels that do not fit, each with a diagnostic.
//
// The next-state relation is executed, not solved: conjuncts run from left to
// right, x' = e assigns where x' has no value yet and tests where it has one,
// x' \in S tries each element, and disjunctions, \E, IF, CASE, LET and operator
// applications branch. Every successor found this way is reported, duplicates
// included, so that counts agree with TLC's.
//
// A property that cannot be checked is listed in the model's Info with the reason;
// nothing is dropped silently.
package model
