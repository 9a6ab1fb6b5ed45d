// SPDX-License-Identifier: Apache-2.0

// Package syntax reads and lays out programs in the Dedalus dialect
// (docs/lang/dedalus.md).
//
// In: a source.File. Out: a File, the program as written, with comments and the place
// of each item; or diagnostics. Format writes a File as text in one layout; parsing
// that text gives the same File except for places.
//
// Promised: parsing any input ends, in time and memory proportional to its length;
// nesting deeper than DepthMax is an error.
//
// Refused: resolving names, which package lower does.
package syntax
