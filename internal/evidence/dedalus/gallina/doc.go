// SPDX-License-Identifier: Apache-2.0

// Package gallina holds what proofs/dedalus says against what the programs here do: ticks of the
// semantics in Coq against the interpreter, and the checkers that are proved against the rewriter and
// the checker of certificates. It has tests only.
//
// In: examples, random programs, the table of mistakes. Out: nothing.
package gallina
