// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package child

import "syscall"

// Attributes are for a process that this one starts and ends. A signal from the terminal
// does not reach it.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
