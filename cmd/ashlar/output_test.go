package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
		if err := writeOutput(name, []byte("text"), 0o644); err != nil {
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
		if err := writeOutput(file, []byte(text), 0o644); err != nil {
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
	f, err := newOutput(filepath.Join(dir, "unfinished"), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	f.cleanup()
	if left, err := filepath.Glob(filepath.Join(dir, "*unfinished*")); err != nil || left != nil {
		t.Errorf("%v, %v", left, err)
	}
	if err := writeOutput(filepath.Join(dir, "none", "file"), nil, 0o644); err == nil {
		t.Error("a file in a directory that is not there")
	}
}

// fullDisk takes so many bytes.
type fullDisk struct{ room int }

func (w *fullDisk) Write(b []byte) (int, error) {
	n := min(w.room, len(b))
	if w.room -= n; n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// TestResultsThatAreLost: what cannot be written is told, and no success; what is
// violated counts more.
func TestResultsThatAreLost(t *testing.T) {
	for _, m := range matrixModels {
		if m.name != "constraints" && m.name != "invariant" {
			continue
		}
		dir := matrixFiles(t, m)
		want := m.code
		if want == exitOK {
			want = exitWorld
		}
		for _, form := range []string{"--json", "--tlc-output", "--quiet"} {
			for _, room := range []int{0, 100} {
				var said bytes.Buffer
				code := run(context.Background(), []string{"check", "--native=never", form, filepath.Join(dir, "M.tla")}, &term{out: &fullDisk{room}, err: &said})
				if code != want || !strings.Contains(said.String(), "no space left") || strings.Count(said.String(), "\n") != 1 {
					t.Errorf("%s %s with room for %d bytes: exit code %d: %s", m.name, form, room, code, &said)
				}
			}
		}
	}
}
