// SPDX-License-Identifier: Apache-2.0

package ashlar

import "embed"

// NativeSources are the files from which the command compiles a search that runs in its
// own process, if a Go toolchain is installed: the checker's engine and
// internal/search/program, under their paths in this module. They import only the
// standard library. The patterns leave tests out, which end in "_test.go": a file whose
// name ends in t needs the second pattern of its folder, and TestSourcesAreWhole says
// which file has none.
//
//go:embed internal/check/*[^t].go internal/check/*[^s]t.go internal/check/fpset/*[^t].go internal/check/fpset/*[^s]t.go
//go:embed internal/check/live/*[^t].go internal/check/live/*[^s]t.go internal/check/spill/*[^t].go env/*[^t].go env/*[^s]t.go
//go:embed internal/invariant/*[^t].go internal/invariant/*[^s]t.go internal/search/program/*[^t].go
var NativeSources embed.FS
