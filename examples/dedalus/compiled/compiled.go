// SPDX-License-Identifier: Apache-2.0

// Package compiled has the tests of Dedalus programs that are compiled to Go: the
// programs of the directory above, as they were written and as their scripts of rewrites
// make them.
//
// In: the programs. Out: nothing; there is only one package of generated code in the
// tree, voting, for readers. The test generates all others, and builds itself again with
// them laid over the tree: see package overlay.
package compiled
