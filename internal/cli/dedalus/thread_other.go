// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package dedalus

import "time"

// threadTime returns the wall-clock time, because this system has no per-thread
// time: measurements are right only on an otherwise idle machine.
func threadTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
