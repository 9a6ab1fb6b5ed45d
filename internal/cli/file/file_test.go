// SPDX-License-Identifier: Apache-2.0

package file

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOutputKeepsDevices: what is no regular file is written to, and stays what it is;
// a regular file is replaced, and keeps its mode.
func TestOutputKeepsDevices(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, link} {
		// Opened for both, it is open at once, and does not end when the writer closes it.
		r, err := os.OpenFile(pipe, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(name, []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 4)
		if _, err := io.ReadFull(r, got); err != nil || string(got) != "text" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		_ = r.Close()
		if info, err := os.Stat(name); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
			t.Errorf("%s is no pipe any more: %v, %v", name, info, err)
		}
	}
	file := filepath.Join(dir, "file")
	for _, text := range []string{"one", "two"} {
		if err := Write(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	f, err := Create(filepath.Join(dir, "unfinished"), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	f.Cleanup()
	if left, err := filepath.Glob(filepath.Join(dir, "*unfinished*")); err != nil || left != nil {
		t.Errorf("%v, %v", left, err)
	}
	if err := Write(filepath.Join(dir, "none", "file"), nil, 0o644); err == nil {
		t.Error("a file in a directory that is not there")
	}
}
