// SPDX-License-Identifier: Apache-2.0

// Package syntax reads and writes the text of TLA+2 modules and of the
// algorithms inside their comments: PlusCal in its two syntaxes and Modular
// PlusCal. It holds the scanner, the parser, the tree and the printer.
//
// In: a source.File. Out: a Module (or an Expr) whose nodes point back at the
// text, and the diagnostics of the run. Names are not resolved and nothing is
// expanded: `A!B(x)` stays a path, a macro call stays a call.
//
// It promises that no input makes it panic, hang or use memory out of
// proportion to its size; that parsing goes on after an error, at the next
// unit or statement, and leaves Bad nodes behind; that every node's span is
// in the file as the user wrote it, algorithms included; and that printing a
// tree and parsing the result gives the same tree but for spans.
//
// It refuses files over source.FileBytesMax bytes or TokensMax tokens,
// expressions and statements nested deeper than NestingMax, and what the
// language's grammar refuses, operators whose precedences conflict included.
// Proofs are skipped as runs of tokens: a Theorem knows only where its proof
// is.
//
// The language is that of "Specifying Systems" (Lamport, 2002) with the
// additions of TLA+2, "The PlusCal Algorithm Language" (Lamport, 2009), and
// Modular PlusCal of "Compiling Distributed System Models with PGo"
// (ASPLOS 2023).
package syntax
