// SPDX-License-Identifier: Apache-2.0

package osenv_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

func disk(t *testing.T) (*osenv.Disk, string) {
	t.Helper()
	dir := t.TempDir()
	d, err := osenv.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, dir
}

// aligned is a buffer of n units at an address that direct files take.
func aligned(n int) []byte {
	b := make([]byte, (n+1)*env.DirectUnit)
	at := fmt.Sprintf("%p", b)
	var address int
	if _, err := fmt.Sscanf(at, "0x%x", &address); err != nil {
		panic(err)
	}
	skip := (env.DirectUnit - address%env.DirectUnit) % env.DirectUnit
	return b[skip:][:n*env.DirectUnit]
}

// TestDirectFiles: what is written one way is read the other way, whether the
// file system has direct access or not.
func TestDirectFiles(t *testing.T) {
	d, _ := disk(t)
	f, direct, err := d.OpenDirect("a", true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	t.Logf("direct access: %v", direct)
	b := aligned(3)
	for i := range b {
		b[i] = byte(i * 7)
	}
	if n, err := f.WriteAt(b, 2*env.DirectUnit); n != len(b) || err != nil {
		t.Fatal(n, err)
	}
	if err := f.Append(b); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	got := aligned(4)
	n, err := f.ReadAt(got, 2*env.DirectUnit)
	if n != len(got) || err != nil || !bytes.Equal(got, append(append([]byte(nil), b...), b[:env.DirectUnit]...)) {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if n, err := f.ReadAt(got, 7*env.DirectUnit); n != env.DirectUnit || err != io.EOF {
		t.Errorf("at the end: %d bytes, %v", n, err)
	}
	plain, err := d.Open("a", false)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if n, err := plain.ReadAt(got, 2*env.DirectUnit); n != len(got) || err != nil || !bytes.Equal(got[:len(b)], b) {
		t.Errorf("read %d bytes as an ordinary file, %v", n, err)
	}
	// A file whose end is none of a unit has an end all the same.
	if err := plain.Truncate(2*env.DirectUnit + 700); err != nil {
		t.Fatal(err)
	}
	if n, err := f.ReadAt(got, 2*env.DirectUnit); n != 700 || err != io.EOF || !bytes.Equal(got[:n], b[:n]) {
		t.Errorf("before an odd end: %d bytes, %v", n, err)
	}
	if _, _, err := d.OpenDirect("absent", false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent file: %v", err)
	}
}

// TestDirectFallsBack: a file system in memory has no direct access, or has it
// without effect; both are told, and both work.
func TestDirectFallsBack(t *testing.T) {
	const memory = "/dev/shm"
	if info, err := os.Stat(memory); err != nil || !info.IsDir() {
		t.Skip("no file system in memory at " + memory)
	}
	dir, err := os.MkdirTemp(memory, "osenv")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	d, err := osenv.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	f, direct, err := d.OpenDirect("a", true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	t.Logf("direct access: %v", direct)
	b := aligned(1)
	b[5] = 5
	if _, err := f.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
	got := aligned(1)
	if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, b) {
		t.Errorf("read other bytes: %v", err)
	}
}

const lockVariable = "ASHLAR_TEST_LOCK"

// TestLocks: what is locked cannot be locked again, neither in this process nor in
// another, until it is closed; or its process ends.
func TestLocks(t *testing.T) {
	if dir := os.Getenv(lockVariable); dir != "" {
		d, err := osenv.OpenDisk(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Lock("LOCK")
		fmt.Printf("locked=%v err=%v\n", err == nil, err)
		return // without a close: the end of the process is one
	}
	d, dir := disk(t)
	other := func() string {
		c := exec.Command(os.Args[0], "-test.run=^TestLocks$")
		c.Env = append(os.Environ(), lockVariable+"="+dir)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		line, _, _ := strings.Cut(string(out), "\n")
		return line
	}
	l, err := d.Lock("LOCK")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lock("LOCK"); !errors.Is(err, env.ErrLocked) {
		t.Errorf("locked twice: %v", err)
	}
	if got, want := other(), "locked=false err=lock LOCK: "+env.ErrLocked.Error(); got != want {
		t.Errorf("another process: %q, want %q", got, want)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := other(), "locked=true err=<nil>"; got != want {
		t.Errorf("another process after a close: %q, want %q", got, want)
	}
	if l, err = d.Lock("LOCK"); err != nil {
		t.Fatalf("the lock of a process that has ended: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestSpace: allocated space is part of the file and reads as zero; discarded
// space reads as zero or as before, and the rest of the file as before.
func TestSpace(t *testing.T) {
	d, _ := disk(t)
	opened, err := d.Open("a", true)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	f, ok := opened.(env.SpaceFile)
	if !ok {
		t.Fatal("files cannot take space")
	}
	const unit = 4096
	want := bytes.Repeat([]byte{1}, 4*unit)
	if err := f.Append(want); err != nil {
		t.Fatal(err)
	}
	for _, step := range []error{f.Allocate(unit, unit), f.Allocate(4*unit, 0), f.Discard(unit, 0)} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if n, err := f.Size(); n != 4*unit || err != nil {
		t.Errorf("%d bytes after taking space within the file, %v", n, err)
	}
	if err := f.Allocate(5*unit, 3*unit); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Size(); n != 8*unit || err != nil {
		t.Errorf("%d bytes, want %d, %v", n, 8*unit, err)
	}
	if err := f.Discard(unit, unit); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	want = append(want, make([]byte, 4*unit)...)
	got := make([]byte, len(want))
	if _, err := f.ReadAt(got, 0); err != nil {
		t.Fatal(err)
	}
	hole := got[unit : 2*unit]
	if !bytes.Equal(hole, make([]byte, unit)) && !bytes.Equal(hole, want[unit:2*unit]) {
		t.Error("discarded bytes read as neither")
	}
	copy(want[unit:], hole)
	if !bytes.Equal(got, want) {
		t.Error("others have changed than were discarded")
	}
	if n, err := f.Size(); n != 8*unit || err != nil {
		t.Errorf("%d bytes after a discard, %v", n, err)
	}
	for _, err := range []error{f.Allocate(-1, 5), f.Discard(0, -1)} {
		if err == nil {
			t.Error("a place before the file was taken")
		}
	}
}

// TestFullDisk: the device that is always full answers as a full disk does.
func TestFullDisk(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no device that is full")
	}
	d, err := osenv.OpenDisk(filepath.Dir(full))
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	f, err := d.Open(filepath.Base(full), false)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, env.ErrNoSpace) {
		t.Errorf("a write: %v, want %v", err, env.ErrNoSpace)
	}
	if err := f.Append([]byte("x")); !errors.Is(err, env.ErrNoSpace) {
		t.Errorf("an append: %v, want %v", err, env.ErrNoSpace)
	}
}
