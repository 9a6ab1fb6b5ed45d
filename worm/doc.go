// SPDX-License-Identifier: Apache-2.0

// Package worm is the Go client of WormSpace: the address space of write-once
// registers with blocking calls, for programs that run on a real machine.
//
// In: a cluster's Genesis, which `ashlard genesis` writes. Out: a Client, which
// any number of goroutines may use. All of them share one connection to each
// server; waiting requests are sent together, but never wait for more.
//
// A call ends with its context. A Write that ended that way may have taken
// effect (wor.ErrUnknown). A Write that another writer overtook finds out the
// content of the register before it returns, unless Options.Unresolved.
// Applications that should also run in the simulator use Space.
package worm
