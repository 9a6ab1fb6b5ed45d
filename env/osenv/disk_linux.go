// SPDX-License-Identifier: Apache-2.0

package osenv

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/ashlar-dev/ashlar/env"
)

const directFlag = unix.O_DIRECT

// directFits reports whether direct access to the file needs no coarser units than
// env.DirectUnit. A kernel or file system that does not report one has none.
func directFits(f *os.File) bool {
	fits := true
	err := control(f, "stat", func(fd int) error {
		var s unix.Statx_t
		err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &s)
		if err == nil && s.Mask&unix.STATX_DIOALIGN != 0 {
			fits = fine(s.Dio_mem_align) && fine(s.Dio_offset_align)
		}
		return nil
	})
	return fits && err == nil
}

// fine is false for 0 too, which says that there is no direct access.
func fine(align uint32) bool { return align > 0 && env.DirectUnit%align == 0 }

// syncFile leaves out the times of the file; its size, and where its bytes
// are, is with the data.
func syncFile(f *os.File) error { return control(f, "fdatasync", unix.Fdatasync) }

func allocate(f *os.File, off, n int64) error {
	return control(f, "fallocate", func(fd int) error { return unix.Fallocate(fd, 0, off, n) })
}

func discard(f *os.File, off, n int64) error {
	return control(f, "fallocate", func(fd int) error {
		return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
	})
}
