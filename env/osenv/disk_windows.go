// SPDX-License-Identifier: Apache-2.0

package osenv

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"

	"github.com/ashlar-dev/ashlar/env"
)

func fullErrors() []error {
	return []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}
}

func isReadOnly(error) bool { return false } // it is fs.ErrPermission

// lockFile locks the first byte of the file.
func lockFile(f *os.File, shared bool) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if shared {
		how = 0
	}
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	err = c.Control(func(h uintptr) {
		done = windows.LockFileEx(windows.Handle(h), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	})
	switch {
	case err != nil:
		return err
	case errors.Is(done, windows.ERROR_LOCK_VIOLATION), errors.Is(done, windows.ERROR_IO_PENDING):
		return env.ErrLocked
	}
	return done
}
