// SPDX-License-Identifier: Apache-2.0

// Package syntax reads and writes the text of TLA+2 modules and of the
// algorithms inside their comments: PlusCal in its two syntaxes and Modular
// PlusCal. It holds the scanner, the parser, the tree and the printer.
//
// In: a source.File. Out: a Module (or an Expr) whose nodes have their
// positions in the text, and the diagnostics. Names are not resolved and
// nothing is expanded: `A!B(x)` stays a path, a macro call stays a call.
//
// Promises: no input makes the package panic, hang or use memory out of
// proportion to its size. After an error, parsing continues at the next unit or
// statement and leaves Bad nodes behind. Every node's span is in the file as
// the user wrote it, algorithms included. Printing a tree and parsing the
// result gives the same tree except for spans.
//
// It refuses files over source.FileBytesMax bytes or TokensMax tokens,
// expressions and statements nested deeper than NestingMax, and text that is
// not in the language's grammar, including operators whose precedences
// conflict. Proofs are skipped as runs of tokens: a Theorem has only the
// position of its proof.
//
// The language is that of "Specifying Systems" (Lamport, 2002) with the
// additions of TLA+2, "The PlusCal Algorithm Language" (Lamport, 2009), and
// Modular PlusCal of "Compiling Distributed System Models with PGo"
// (ASPLOS 2023).
package syntax
