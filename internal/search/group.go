// SPDX-License-Identifier: Apache-2.0

package search

import (
	"os/exec"
	"syscall"

	"github.com/ashlar-dev/ashlar/internal/child"
)

// apart gives a command its own process group, all of which ends when the
// command's context does.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = child.Attributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = WaitMax
}
