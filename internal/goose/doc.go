// SPDX-License-Identifier: Apache-2.0

// Package goose translates a subset of Go to the language of proofs/lang, so
// that the proved code is the code that ships.
//
// In: packages as the go command finds them. Out: for each package a readable
// Coq file with a definition for each function, constant and struct type, with
// the comments and source positions of the Go code; or diagnostics for
// everything outside the subset, each with a code and, if there is one, an
// alternative. docs/lang/goose.md describes the subset.
//
// A package goes through go/types to the representation of ir.go (lowering, the
// files lower*.go, where every decision about Go's meaning is made), and from
// there to terms (encode.go, where early exits become outcomes). Nothing is
// translated that is not understood: what lowering does not know it refuses.
//
// Trusted are this package and the definitions in proofs/lang and
// proofs/trusted; the evidence are golden files, a corpus of refused programs,
// and programs that run both as Go and in the semantics of Coq.
package goose
