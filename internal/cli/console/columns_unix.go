// SPDX-License-Identifier: Apache-2.0

//go:build unix

package console

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// columns returns the width of w's terminal, or 0 if w is not a terminal.
func columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
