// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly && !windows

package osenv

import (
	"errors"
	"os"
)

// fullErrors is empty: these systems have no common error for a full disk.
func fullErrors() []error { return nil }

func isReadOnly(error) bool { return false } // it is fs.ErrPermission

// lockFile always fails: a lock that does not exclude other processes is worse
// than none.
func lockFile(*os.File, bool) error { return errors.ErrUnsupported }
