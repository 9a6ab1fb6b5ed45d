// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// signalSpent is the program "signal NAME HUNDREDTHS COMMAND ...": it runs the command,
// sends it the signal once the command has computed for that many hundredths of a second,
// and ends with its exit code. Time on the clock would say nothing: on a busy machine a
// command may have done nothing yet after a second.
func signalSpent() {
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}
	wanted, err := strconv.Atoi(os.Args[2])
	if err != nil || signals[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: signal INT|TERM HUNDREDTHS COMMAND ...")
		os.Exit(2)
	}
	cmd := exec.Command(os.Args[3], os.Args[4:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "signal:", err)
		os.Exit(1)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its exit code is all
		close(ended)
	}()
	for tick := time.Tick(10 * time.Millisecond); ; {
		select {
		case <-ended:
			os.Exit(cmd.ProcessState.ExitCode())
		case <-tick:
		}
		if computed(cmd.Process.Pid) >= wanted {
			_ = cmd.Process.Signal(signals[os.Args[1]]) // it may have ended
			<-ended
		}
	}
}

// computed is how many hundredths of a second a process has needed of the processor, as
// the system says.
func computed(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // gone: it computes nothing
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return user + system
}
