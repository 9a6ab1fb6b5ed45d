package main

import "syscall"

// owned is for a process that this one starts and ends. A signal from the
// terminal does not reach it. It is killed when this process ends without
// having ended it: when this process is killed, or can no longer wait for a
// reader of its output.
func owned() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
