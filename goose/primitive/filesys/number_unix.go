// SPDX-License-Identifier: Apache-2.0

//go:build unix

package filesys

import (
	"io/fs"
	"syscall"
)

// number is the file's own: the same for all its names and descriptors.
func number(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Ino) }

// scarce are the errors for lack of room: on the disk, in a quota, and of
// descriptors.
var scarce = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE}
