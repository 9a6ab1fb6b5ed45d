// SPDX-License-Identifier: Apache-2.0

// Package proofs carries the sources of the Coq library that proofs about
// translated Go rest on, so that the command can set up a development in any
// module: the language, the logic, the models of the devices, and the rules for
// what translated programs call. Proofs about particular programs are not in it.
package proofs

import "embed"

// Library holds the library under the names that it has in this folder; in Coq
// its logical path is ashlar.
//
//go:embed lib/*.v lang/*.v logic/*.v ghost/*.v trusted/*.v golib/*.v
var Library embed.FS
