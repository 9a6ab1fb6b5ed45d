//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// apart gives a command a group of processes of its own, which ends as a whole
// when the command's context does.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = owned()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = nativeWaitMax
}
