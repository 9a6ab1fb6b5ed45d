// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/store"
)

// run runs a command, and returns its exit code and what it printed.
func run(t *testing.T, args ...string) (code int, out, errors_ string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := New(&console.Terminal{Out: &stdout, Err: &stderr})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(context.Background())
	var failed *exit.Error
	if errors.As(err, &failed) {
		return failed.Code, stdout.String(), failed.Error()
	} else if err != nil {
		return exit.Usage, stdout.String(), err.Error()
	}
	return 0, stdout.String(), stderr.String()
}

// An archive is applied up to a change.
func TestRestoreUntil(t *testing.T) {
	dir := t.TempDir()
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	world := osenv.New()
	world.Disk = disk
	o := treeOptions
	o.History.Bytes = 1 << 20
	db, err := store.Open(world, "db", o)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.Create(filepath.Join(dir, "whole"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Copy(t.Context(), whole, nil)
	err = errors.Join(err, whole.Close(), db.Put([]byte("one"), nil), db.Put([]byte("two"), nil), db.Sync())
	if err == nil {
		_, err = db.Archive(t.Context(), disk, "changes", 0)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for until, want := range map[string]string{"1": "one", "2": "onetwo", "2100-01-01T00:00:00Z": "onetwo"} {
		to := filepath.Join(dir, "until"+until)
		code, _, text := run(t, "restore", to, whole.Name(), "--archive", filepath.Join(dir, "changes"), "--until", until)
		if code != 0 {
			t.Fatalf("until %s: exit code %d, %s", until, code, text)
		}
		_, keys, _ := run(t, "dump", "--keys", to)
		for _, key := range []string{"one", "two"} {
			if strings.Contains(keys, key) != strings.Contains(want, key) {
				t.Errorf("until %s: %s, want %s", until, keys, want)
			}
		}
	}
	for until, want := range map[string]int{"9": exit.Spec, "never": exit.Usage} {
		if code, _, text := run(t, "restore", filepath.Join(dir, "no"), whole.Name(), "--archive", filepath.Join(dir, "changes"), "--until", until); code != want {
			t.Errorf("until %s: exit code %d, %s", until, code, text)
		}
	}
}

// A store is copied to files and to stdout, restored, and verified; a damaged copy
// and a wrong order are refused with their codes.
func TestCopyAndRestore(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	change := func(key, value string) {
		disk, err := osenv.OpenDisk(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer disk.Close()
		world := osenv.New()
		world.Disk = disk
		db, err := store.Open(world, "db", treeOptions)
		if err == nil {
			err = errors.Join(db.Put([]byte(key), []byte(value)), db.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ok := func(args ...string) string {
		t.Helper()
		code, out, err := run(t, args...)
		if code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, err)
		}
		return out
	}
	refused := func(want int, text string, args ...string) {
		t.Helper()
		if code, _, err := run(t, args...); code != want || !strings.Contains(err, text) {
			t.Errorf("%v: exit code %d, %s; want %d and %q", args, code, err, want, text)
		}
	}
	if err := makeTree(at("db"), 500); err != nil {
		t.Fatal(err)
	}
	ok("copy", "--quiet", "--mark", at("a.mark"), at("db"), at("a.copy"))
	change("monday", "1")
	ok("copy", "--since", at("a.copy"), at("db"), at("b.copy"))
	change("tuesday", "2")
	ok("copy", "--since", at("b.copy"), at("db"), at("c.copy"))
	fromMark := ok("copy", "--since", at("a.mark"), at("db"), "-")
	if err := os.WriteFile(at("ac.copy"), []byte(fromMark), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, copies := range map[string][]string{
		"one": {"a.copy", "b.copy", "c.copy"}, "two": {"a.copy", "ac.copy"},
	} {
		args := []string{"restore", at(name)}
		for _, c := range copies {
			args = append(args, at(c))
		}
		ok(args...)
		ok("verify", at(name))
		if keys := ok("dump", "--keys", at(name), "monday", "tuesdaz"); !strings.Contains(keys, "monday") || !strings.Contains(keys, "tuesday") {
			t.Errorf("%s: %s", name, keys)
		}
	}
	refused(exit.World, "file exists", "copy", at("db"), at("a.copy"))
	refused(exit.World, "empty directory", "restore", at("one"), at("a.copy"))
	refused(exit.Spec, "copy 2", "restore", at("three"), at("a.copy"), at("c.copy"))
	b, err := os.ReadFile(at("a.copy"))
	if err == nil {
		b[len(b)/2] ^= 4
		err = os.WriteFile(at("bad.copy"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	refused(exit.Spec, "copy 1 at byte", "restore", at("three"), at("bad.copy"))
	refused(exit.Spec, "copy 1 at byte", "copy", "--since", at("bad.copy"), at("db"), at("d.copy"))
	refused(exit.World, "no such file", "restore", at("three"), at("absent.copy"))
	refused(exit.Usage, "", "restore", at("three"))
	refused(exit.Usage, "stdin", "restore", at("three"), "-", at("b.copy"), "-")
	refused(exit.Usage, "stdout", "copy", at("db"), "-", "--mark", "-")
	refused(exit.Spec, "another store", "copy", "--since", at("a.copy"), at("one"), at("d.copy"))
	for _, absent := range []string{"d.copy", "three/DATA"} {
		if _, err := os.Stat(at(absent)); err == nil {
			t.Errorf("%s is there", absent)
		}
	}
}
