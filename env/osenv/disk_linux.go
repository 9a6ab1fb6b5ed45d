// SPDX-License-Identifier: Apache-2.0

package osenv

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/ashlar-dev/ashlar/env"
)

const directFlag = unix.O_DIRECT

// directFits reports whether env.DirectUnit is coarse enough for direct access to
// the file. If the kernel or file system reports no unit, direct access is not
// available.
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

// fine is also false for 0, which means that there is no direct access.
func fine(align uint32) bool { return align > 0 && env.DirectUnit%align == 0 }

// syncFile syncs the data and the metadata needed to read it, such as the size,
// but not the file's times.
func syncFile(f *os.File) error { return control(f, "fdatasync", unix.Fdatasync) }

func allocate(f *os.File, off, n int64) error {
	return control(f, "fallocate", func(fd int) error { return unix.Fallocate(fd, 0, off, n) })
}

func discard(f *os.File, off, n int64) error {
	return control(f, "fallocate", func(fd int) error {
		return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
	})
}
