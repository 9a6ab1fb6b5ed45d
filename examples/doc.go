// SPDX-License-Identifier: Apache-2.0

// Package examples runs what "ashlar compile" makes of the specifications in
// ../specs. The tests compile them and run the systems in one process, with
// resources that behave like the specification's mapping macros, and hold the
// traces of each run against the specification. The code of one system, cart,
// is in the tree.
//
// Three kinds are apart. The lock service runs as processes of its own. Queue, timeseries
// and index are programs that show what a store is for (../docs/store.md). And
// shadowcopy, replicateddisk, wal, groupcommit, asyncwal and asynclog are
// written by hand, and proved: see ../proofs/top.
package examples
