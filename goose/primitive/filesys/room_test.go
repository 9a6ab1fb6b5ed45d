// SPDX-License-Identifier: Apache-2.0

//go:build linux

package filesys_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
)

// insideVar names the small file system of a process of this test.
const insideVar = "ASHLAR_SMALL_FILESYSTEM"

// again runs a test of this binary after a shell has done something.
func again(t *testing.T, unshare bool, shell string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{"sh", "-c", strings.ReplaceAll(shell, "DIR", dir) + ` && exec "$0" "$@"`, exe, "-test.run=^" + t.Name() + "$", "-test.v"}
	if unshare {
		flags := []string{"unshare", "--mount"}
		if os.Geteuid() != 0 {
			flags = append(flags, "--map-root-user")
		}
		if out, err := exec.Command(flags[0], append(flags[1:], "mount", "-t", "tmpfs", "tmpfs", dir)...).CombinedOutput(); err != nil {
			t.Skipf("did not run: no small file system here: %v %s", err, out)
		}
		args = append(flags, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), insideVar+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFullDiskWaits: a call that finds no room on the disk waits for it, also
// in the middle of an append, and then takes effect once.
func TestFullDiskWaits(t *testing.T) {
	dir := os.Getenv(insideVar)
	if dir == "" {
		again(t, true, "mount -t tmpfs -o size=400k tmpfs DIR")
		return
	}
	fs, err := filesys.Open(dir, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	content := func(n int) []byte { return bytes.Repeat([]byte(fmt.Sprint(n)), 150_000) }
	done := make(chan int)
	go func() {
		for n := range 3 {
			f, ok := fs.Create("a", fmt.Sprint(n))
			if !ok {
				t.Error("not created")
			}
			fs.Append(f, content(n))
			fs.Sync(f)
			fs.Close(f)
			done <- n
		}
		close(done)
	}()
	<-done
	<-done
	// The third does not fit.
	for s := (syscall.Statfs_t{}); s.Blocks == 0 || s.Bavail > 30; time.Sleep(time.Millisecond) {
		if err := syscall.Statfs(dir, &s); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-done:
		t.Fatal("it fits")
	case <-time.After(50 * time.Millisecond):
	}
	// Other calls continue meanwhile.
	if f, ok := fs.Open("a", "1"); !ok || !bytes.Equal(fs.ReadAt(f, 0, 1<<20), content(1)) {
		t.Error("file 1 is not what was written")
	} else {
		fs.Close(f)
	}
	fs.Unlink("a", "0")
	<-done
	f, ok := fs.Open("a", "2")
	if !ok || !bytes.Equal(fs.ReadAt(f, 0, 1<<20), content(2)) {
		t.Errorf("file 2 has %d bytes, and not what was written once", fs.Size(f))
	}
	if err := fs.Shut(); err != nil {
		t.Error(err)
	}
}

// TestNoDescriptorsWaits: a call that finds no free descriptor waits for one.
func TestNoDescriptorsWaits(t *testing.T) {
	dir := os.Getenv(insideVar)
	if dir == "" {
		again(t, false, "ulimit -n 40")
		return
	}
	fs, err := filesys.Open(dir, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	var taken []*os.File
	for {
		f, err := os.Open(dir)
		if err != nil {
			break
		}
		taken = append(taken, f)
	}
	done := make(chan bool)
	go func() {
		f, ok := fs.Create("a", "x")
		fs.Close(f)
		done <- ok && len(fs.List("a")) == 1
	}()
	select {
	case <-done:
		t.Fatal("there was a descriptor")
	case <-time.After(50 * time.Millisecond):
	}
	for _, f := range taken {
		f.Close()
	}
	if !<-done {
		t.Error("not created, or not listed")
	}
	if err := fs.Shut(); err != nil {
		t.Error(err)
	}
}
