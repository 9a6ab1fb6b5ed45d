// Package ashlar holds the text of the packages that a search in a process of
// its own is made of, so that the command can compile one for a model wherever
// there is a Go toolchain, without fetching anything.
package ashlar

import "embed"

// NativeSources are the files of the checker's engine and of
// cmd/internal/native, tests included, under their paths in this module. They
// import nothing else but the standard library.
//
//go:embed check/*.go check/fpset/*.go check/live/*.go check/spill/*.go env/*.go internal/invariant/*.go cmd/internal/native/*.go
var NativeSources embed.FS
