// SPDX-License-Identifier: Apache-2.0

// Package packaging_test checks the files by which 'make release' packs the programs:
// the units of systemd and the Debian package.
package packaging_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tool skips the test on a machine without a program that the test cannot do without.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(name + " is not installed")
	}
	return path
}

// TestUnits has systemd read the units.
func TestUnits(t *testing.T) {
	analyze := tool(t, "systemd-analyze")
	dir := t.TempDir()
	var units []string
	for _, name := range []string{"ashlard.service", "mailboat.service"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// The program is not installed; any program that is installed will do.
		program := "/usr/bin/" + strings.TrimSuffix(name, ".service")
		if !bytes.Contains(text, []byte("ExecStart="+program+" ")) {
			t.Errorf("%s does not start %s", name, program)
		}
		unit := filepath.Join(dir, name)
		if err := os.WriteFile(unit, bytes.ReplaceAll(text, []byte(program), []byte("/bin/true")), 0o666); err != nil {
			t.Fatal(err)
		}
		units = append(units, unit)
	}
	cmd := exec.Command(analyze, append([]string{"verify", "--man=no", "--recursive-errors=no"}, units...)...)
	cmd.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+dir+":")
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), dir) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestPackage builds the Debian package of stand-ins for the programs, and reads it with
// Debian's own tool.
func TestPackage(t *testing.T) {
	deb := tool(t, "dpkg-deb")
	programs := t.TempDir()
	for _, name := range []string{"ashlar", "ashlard", "mailboat"} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\necho "+name+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "ashlar.deb")
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("./deb.sh", programs, "arm64", "1.2.3", file)
	if got, want := run(deb, "--show", "--showformat=${Package} ${Version} ${Architecture}", file), "ashlar 1.2.3 arm64"; got != want {
		t.Errorf("the package is %q, want %q", got, want)
	}
	root := t.TempDir()
	run(deb, "--extract", file, root)
	for _, name := range []string{"ashlar", "ashlard", "mailboat"} {
		if got := run(filepath.Join(root, "usr/bin", name)); got != name+"\n" {
			t.Errorf("/usr/bin/%s is another program: %q", name, got)
		}
	}
	// What the package names must be in it: the files that the units read, and those that
	// the package manager keeps when an administrator has changed them.
	kept := run(deb, "--info", file, "conffiles")
	for _, path := range []string{"/etc/ashlard/ashlard.toml", "/etc/default/mailboat"} {
		if _, err := os.Stat(root + path); err != nil || !strings.Contains(kept, path+"\n") {
			t.Errorf("%s: %v; kept files: %q", path, err, kept)
		}
	}
	for _, unit := range []string{"ashlard", "mailboat"} {
		text, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/system", unit+".service"))
		if err != nil {
			t.Fatal(err)
		}
		users, err := os.ReadFile(filepath.Join(root, "usr/lib/sysusers.d/ashlar.conf"))
		if err != nil || !bytes.Contains(text, []byte("User="+unit+"\n")) || !bytes.Contains(users, []byte("\nu "+unit+" ")) && !bytes.HasPrefix(users, []byte("u "+unit+" ")) {
			t.Errorf("%s has no user of its own: %v", unit, err)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(run(deb, "--contents", file)), "\n") {
		if !strings.Contains(line, " root/root ") {
			t.Errorf("a file does not belong to root: %s", line)
		}
	}
}
