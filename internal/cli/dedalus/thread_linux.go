// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the processor time of this thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
