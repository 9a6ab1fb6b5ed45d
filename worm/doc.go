// Package worm is the Go client of WormSpace: the address space of write-once
// registers with calls that block, for programs that run on the machine itself.
//
// In: a cluster's Genesis, which `ashlard genesis` writes. Out: a Client, which
// any number of goroutines may use. All of them share one connection to each
// server, on which what waits is sent together, without waiting for more.
//
// A call ends with its context. A Write that ended so may have taken effect
// (wor.ErrUnknown); one that was overtaken by another writer finds out what
// became of the register before it returns, unless Options.Unresolved. Space is
// what applications are written on that should run in the simulator, too.
package worm
