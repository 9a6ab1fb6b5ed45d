// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package dedalus

import "time"

// threadTime is the time of the clock, where threads have none of their own: what is
// measured is right only on a machine with nothing else to do.
func threadTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
