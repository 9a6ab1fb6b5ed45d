//go:build unix && !linux

package main

import "syscall"

// owned is for a process that this one starts and ends. A signal from the terminal
// does not reach it.
func owned() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
