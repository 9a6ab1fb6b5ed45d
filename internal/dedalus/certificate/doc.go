// SPDX-License-Identifier: Apache-2.0

// Package certificate checks a rewrite after the fact: from the program before, the
// program after, and a Claim of what was done. It refuses what it cannot derive itself.
//
// In: two programs and a Claim. Out: nil, or an error about what is not as claimed.
//
// Promised: it shares only the types of programs with packages analyze and rewrite, and
// no code. It accepts an assumption of the author only if both the Claim and the program
// have it. Rules are compared by their meaning, not by their text.
//
// Not promised: that the conditions are sufficient. They are those of the rewriter,
// decided a second time, so a mistake in a condition is in both; packages explore,
// adversary and drawn compare programs to find such mistakes.
//
// The rules are those of Optimizing Distributed Protocols with Query Rewrites
// (SIGMOD 2024), sections 3 and 4.
package certificate
