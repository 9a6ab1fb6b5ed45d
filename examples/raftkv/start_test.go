// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/child"
)

// TestEndsWhileItStarts: a server that cannot come to its first step, here because a file
// is a pipe that no process writes, ends all the same when it is told to.
func TestEndsWhileItStarts(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "key")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", filepath.Join(dir, "server1"), "-server", "1", "-listen", "127.0.0.1:0", "-peers", "127.0.0.1:1", "-key", pipe)
	cmd.SysProcAttr = child.Attributes()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		t.Fatalf("it has ended by itself: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		t.Fatal("it has not ended")
	}
}
