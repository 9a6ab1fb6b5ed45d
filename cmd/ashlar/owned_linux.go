package main

import "syscall"

// owned is for a process that this one starts and ends. A signal from the terminal
// does not reach it, and it is killed when this process ends without having ended it:
// when that is killed, or may wait no longer for somebody who does not read its output.
func owned() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
