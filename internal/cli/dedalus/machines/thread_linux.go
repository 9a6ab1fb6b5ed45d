// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"time"

	"golang.org/x/sys/unix"
)

// Time returns the processor time of this thread.
func Time() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// processTime returns the processor time of all threads.
func processTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
