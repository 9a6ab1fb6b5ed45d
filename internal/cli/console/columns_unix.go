// SPDX-License-Identifier: Apache-2.0

//go:build unix

package console

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// columns is how wide the terminal is that w writes to, 0 where it is none.
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
