// Package model gives specifications their meaning: it joins a core.Spec and a
// configuration to a check.Model, with the semantics of TLC.
//
// In: the flattened specification and the configuration. Out: a Model that
// enumerates initial states and successors, evaluates constraints, invariants
// and action properties, and shows states; and, for others, the evaluation of
// single expressions. What is wrong with the configuration is a diagnostic;
// what is wrong with the specification when it runs is a *check.EvalError with
// the chain of places.
//
// There are two evaluators. The reference evaluator (reference*.go) walks the
// tree with environments and does nothing clever. The compiled evaluator
// (compile*.go) turns every expression, once per model, into closures over
// numbered slots. It is the default; the reference is what it is tested
// against, and what explains an error: when compiled code fails, the reference
// evaluates the same thing again and keeps account of the places.
//
// The next-state relation is executed, not solved: conjuncts run from left to
// right, x' = e assigns where x' has no value yet and tests where it has one,
// x' \in S tries each element, and disjunctions, \E, IF, CASE, LET and operator
// applications branch. Every successor found this way is reported, duplicates
// included, so that counts agree with TLC's.
//
// What cannot be decided by looking at states and steps (liveness) is listed
// in the model's Info as not checked; nothing is dropped silently.
package model
