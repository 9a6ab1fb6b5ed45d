// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Package fullpipe makes pipes that no process reads, for tests of commands that block on
// their output.
//
// In: a test. Out: the end of a pipe into which nothing goes any more; a process that writes
// to it waits until the test is over.
package fullpipe

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// New makes a pipe and fills it. Both ends are closed when the test is over.
func New(t testing.TB) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	fd := int(w.Fd()) // File.Fd lets writes block again, so it is asked once
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = unix.Write(fd, []byte{0})
	}
	if !errors.Is(err, unix.EAGAIN) {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
	return w
}
