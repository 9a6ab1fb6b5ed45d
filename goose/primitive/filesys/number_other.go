// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package filesys

import "io/fs"

// number is the same for all files where the system does not tell: they share
// one lock.
func number(fs.FileInfo) uint64 { return 0 }

// scarce are the errors for want of room, where the system tells.
var scarce []error
