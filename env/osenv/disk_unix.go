// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package osenv

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ashlar-dev/ashlar/env"
)

func fullErrors() []error { return []error{syscall.ENOSPC, syscall.EDQUOT} }

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// lockFile locks the file for this open file description. Another one, even of
// the same process, is refused unless both locks are shared.
func lockFile(f *os.File, shared bool) error {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	err := control(f, "flock", func(fd int) error { return unix.Flock(fd, how|unix.LOCK_NB) })
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return env.ErrLocked
	}
	return err
}

// control calls do with the descriptor of the file, and repeats the call if a
// signal interrupts it.
func control(f *os.File, op string, do func(fd int) error) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	err = c.Control(func(fd uintptr) {
		for {
			if done = do(int(fd)); !errors.Is(done, syscall.EINTR) {
				return
			}
		}
	})
	if err == nil && done != nil {
		err = &fs.PathError{Op: op, Path: f.Name(), Err: done}
	}
	return err
}
