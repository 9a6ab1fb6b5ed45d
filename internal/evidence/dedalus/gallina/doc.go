// SPDX-License-Identifier: Apache-2.0

// Package gallina compares proofs/dedalus with the programs here: ticks of the Coq semantics with the
// interpreter, and the proved checkers with the rewriter and the checker of certificates. It has
// tests only.
//
// In: examples, random programs, the table of mistakes. Out: nothing.
package gallina
