// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package filesys

import "io/fs"

// number is the same for all files if the system does not provide one: they share
// one lock.
func number(fs.FileInfo) uint64 { return 0 }

// scarce are the errors for lack of room, where the system reports them.
var scarce []error
