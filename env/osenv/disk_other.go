// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly && !windows

package osenv

import (
	"errors"
	"os"
)

// fullErrors is empty: these systems have no name for it in common.
func fullErrors() []error { return nil }

func isReadOnly(error) bool { return false } // it is fs.ErrPermission

// lockFile refuses: a lock that does not keep others out is worse than none.
func lockFile(*os.File, bool) error { return errors.ErrUnsupported }
