//go:build unix

package filesys

import (
	"io/fs"
	"syscall"
)

// number is the file's own: the same for all its names and descriptors.
func number(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Ino) }
