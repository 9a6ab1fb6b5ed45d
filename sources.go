// SPDX-License-Identifier: Apache-2.0

package ashlar

import "embed"

// NativeSources are what the command compiles a search in a process of its own from,
// wherever there is a Go toolchain: the files of the checker's engine and of
// internal/search/program, tests included, under their paths in this module. They
// import nothing else but the standard library.
//
//go:embed internal/check/*.go internal/check/fpset/*.go internal/check/live/*.go internal/check/spill/*.go env/*.go internal/invariant/*.go internal/search/program/*.go
var NativeSources embed.FS
