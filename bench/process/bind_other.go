// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package process

import "os/exec"

// Bind does nothing where the kernel offers nothing.
func Bind(*exec.Cmd) {}
