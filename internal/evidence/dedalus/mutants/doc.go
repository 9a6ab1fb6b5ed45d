// SPDX-License-Identifier: Apache-2.0

// Package mutants has wrong rewrites, wrong certificates and wrong protocols, and how
// each is found: by the certificate's checker, by exploration, or by runs under an
// adversary. It tests what is to find mistakes, not the programs.
//
// In: the table, which is data (table*.go), and the programs that it names. Out: a
// Result for each row, and the page docs/dedalus-mutants.md.
//
// Promised: a row counts as found by a means only if the program without the mistake
// passes by the same means, within the same bounds. The table says which means find
// it, and a test holds it to that, word by word. Refused: a row whose text to change
// is not there exactly once.
//
// The mistakes B1 to B11 are those that the published rules and listings have;
// docs/decisions/dedalus.md names them.
package mutants
