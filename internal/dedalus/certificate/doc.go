// SPDX-License-Identifier: Apache-2.0

// Package certificate checks a rewrite after the fact: from the program before, the
// program after, and a Claim of what was done. What it cannot derive again it refuses.
//
// In: two programs and a Claim. Out: nil, or what is not as claimed.
//
// Promised: it shares no code with packages analyze and rewrite but the programs
// themselves. Assumptions of the author are accepted where the Claim names them, and
// the program has them. Rules are compared by what they are, not by how they are written.
//
// Not promised: that the conditions are enough. They are those of the rewriter, decided
// again, so that a mistake in a condition is in both; programs are compared for that
// (packages explore, adversary and drawn).
//
// The rules are those of Optimizing Distributed Protocols with Query Rewrites
// (SIGMOD 2024), sections 3 and 4.
package certificate
