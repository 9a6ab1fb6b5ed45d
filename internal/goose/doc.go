// SPDX-License-Identifier: Apache-2.0

// Package goose translates a subset of Go to the language of proofs/lang, so
// that what ships is what is proved.
//
// In: packages as the go command finds them. Out: for each a Coq file with a
// definition per function, constant and struct type, readable, with the
// comments of the Go and the places where things stand; or diagnostics for
// everything that is outside the subset, each with a code and, if there is one,
// the way to write it instead. docs/lang/goose.md describes the subset.
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
