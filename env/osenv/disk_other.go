//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly && !windows

package osenv

import (
	"errors"
	"os"
)

// fullErrors is empty: these systems have no name for it in common.
func fullErrors() []error { return nil }

// lockFile refuses: a lock that does not keep others out is worse than none.
func lockFile(*os.File) error { return errors.ErrUnsupported }
