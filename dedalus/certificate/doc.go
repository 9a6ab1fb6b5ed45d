// Package certificate checks a rewrite after the fact: from the program before, the
// program after, and a Claim of what was done, and from nothing that the rewriter
// thought. What it cannot derive again it refuses.
//
// In: two programs and a Claim. Out: nil, or what is not as claimed.
//
// Promised: it shares no code with packages analyze and rewrite but the programs
// themselves. Assumptions of the author are accepted where the Claim names them, and
// the program has them.
//
// The rules are those of Optimizing Distributed Protocols with Query Rewrites
// (SIGMOD 2024), sections 3 and 4.
package certificate
