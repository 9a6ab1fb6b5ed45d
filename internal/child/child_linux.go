// SPDX-License-Identifier: Apache-2.0

package child

import "syscall"

// Attributes are for a process that this one starts and ends. A signal from the
// terminal does not reach it. It is killed when this process ends without
// having ended it: when this process is killed, or can no longer wait for a
// reader of its output.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
