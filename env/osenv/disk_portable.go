// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package osenv

import (
	"errors"
	"os"
)

// directFlag is 0, so direct files are ordinary files on this system.
const directFlag = 0

func directFits(*os.File) bool { return false }

func syncFile(f *os.File) error { return f.Sync() }

func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }

func discard(*os.File, int64, int64) error { return errors.ErrUnsupported }
