// SPDX-License-Identifier: Apache-2.0

// Package syntax reads and lays out programs in the Dedalus dialect
// (docs/lang/dedalus.md).
//
// In: a source.File. Out: a File, the program as it was written, with comments and
// the place of everything; or diagnostics. Format writes a File as text, in one
// layout; reading that gives the same File, but for places.
//
// Promised: any input comes to an end, in time and memory that are proportional to
// its length; nesting deeper than DepthMax is an error.
//
// Refused: what names mean. Package lower knows.
package syntax
