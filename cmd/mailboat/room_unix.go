// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import "syscall"

// freeBytes returns how many bytes an unprivileged process may still write to the
// file system of dir. It returns 0 if the file system has almost no free inodes.
func freeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	if s.Files > 0 && s.Ffree < filesReserve {
		return 0, nil
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// filesReserve is the number of free inodes below which the file system counts
// as full.
const filesReserve = 256

// descriptorsMax returns how many files this process may have open.
func descriptorsMax() (uint64, bool) {
	var l syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return uint64(l.Cur), err == nil
}
