// SPDX-License-Identifier: Apache-2.0

package ashlar

import "embed"

// NativeSources are the files from which the command compiles a search that runs in its
// own process, if a Go toolchain is installed: the checker's engine and
// internal/search/program, tests included, under their paths in this module. They
// import only the standard library.
//
//go:embed internal/check/*.go internal/check/fpset/*.go internal/check/live/*.go internal/check/spill/*.go env/*.go internal/invariant/*.go internal/search/program/*.go
var NativeSources embed.FS
