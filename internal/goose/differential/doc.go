// SPDX-License-Identifier: Apache-2.0

// Package differential compares Go with the semantics of proofs/lang: the same
// programs run once as the Go compiler compiles them, and once as package goose
// translates them, in the interpreter extracted from Coq.
//
// The programs are the corpus of internal/goose/testdata/semantics, those below testdata,
// which panic, share memory between goroutines, or have data races, random ones,
// sequential and concurrent, and boot programs that crash. For a panic in Go the model
// must get stuck, and for a data race it must get stuck under some schedule; every result
// that goroutines give has to be one that some schedule of the model gives.
//
// The tests need coqc and ocamlfind, and build proofs/extract and what it needs.
// ASHLAR_DIFFERENTIAL=N compares N random programs instead of a few hundred, from
// the seed in ASHLAR_DIFFERENTIAL_SEED on.
package differential
