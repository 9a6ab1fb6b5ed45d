// Package semantics is a corpus of small programs of the translated subset. A
// function testXxx() bool gives true, and each is run twice: as Go, and, after
// its translation, in the semantics of proofs/lang. One construct, one function,
// and for the traps of Go's meaning one each.
package semantics
