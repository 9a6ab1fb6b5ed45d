// SPDX-License-Identifier: Apache-2.0

// Package mutants contains wrong rewrites, wrong certificates and wrong protocols, and
// checks that each is found: by the certificate checker, by exploration, or by runs under
// an adversary. It tests the methods that find mistakes, not the programs.
//
// In: the table, which is data (table*.go), and the programs that it names. Out: a
// Result for each row, and the page docs/dedalus-mutants.md.
//
// Promised: a row counts as found by a method only if the program without the mistake
// passes the same method within the same bounds. The table states which methods find
// it, and a test checks this exactly. Refused: a row whose text to change does not occur
// exactly once.
//
// The mistakes B1 to B11 are those in the published rules and listings;
// docs/decisions/dedalus.md lists them.
package mutants
