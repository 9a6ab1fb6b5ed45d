// SPDX-License-Identifier: Apache-2.0

// Package child says how this process starts others that it ends itself.
//
// In: nothing. Out: the attributes of such a process. On Linux it is killed when this
// process dies; elsewhere only when this process ends it.
package child

import "syscall"

// Attributes are for a process that this one starts and ends. A signal from the
// terminal does not reach it. It is killed when this process ends without
// having ended it: when this process is killed, or can no longer wait for a
// reader of its output.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
