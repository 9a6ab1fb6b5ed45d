// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

// TestDedalusCompileLeavesNothing: a compilation that fails leaves what was there, and
// nothing else.
func TestDedalusCompileLeavesNothing(t *testing.T) {
	sources, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(sources, "examples/dedalus/voting.ded")
	t.Setenv("GOPROXY", "off")
	names := func(dir string) (list []string) {
		err := filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
			list = append(list, name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for name, c := range map[string]struct {
		args []string
		code int
		// before makes what is there, given the directory that is written to.
		before func(dir string) error
	}{
		"nobody knows where the packages are": {nil, exit.World, nil},
		"no sources there":                    {[]string{"--ashlar", "nowhere"}, exit.World, nil},
		"sources of something else":           {[]string{"--ashlar", "other"}, exit.World, func(string) error { return otherModule() }},
		"a step that is none":                 {[]string{"--ashlar", sources, "--apply", "mutual nobody rules 1 as x"}, exit.Usage, nil},
		"a directory in the place of a file": {[]string{"--ashlar", sources}, exit.World,
			func(dir string) error { return os.MkdirAll(filepath.Join(dir, "main.go"), 0o700) }},
		"a file in the place of the package": {[]string{"--ashlar", sources}, exit.World, func(dir string) error {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "voting"), []byte("mine"), 0o600)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			work := t.TempDir()
			t.Chdir(work)
			dir := filepath.Join(work, "a", "b")
			if c.before != nil {
				if err := c.before(dir); err != nil {
					t.Fatal(err)
				}
			}
			before := names(work)
			var out, errs bytes.Buffer
			code := cli.Run(t.Context(), append([]string{"dedalus", "compile", program, "-o", dir}, c.args...), &console.Terminal{Out: &out, Err: &errs})
			if code != c.code || errs.Len() == 0 {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, &errs)
			}
			after := names(work)
			if len(after) != len(before) {
				t.Errorf("it has left %q, and there was %q", after, before)
			}
		})
	}
}

// otherModule makes the directory other a module that is not ours.
func otherModule() error {
	return errors.Join(os.MkdirAll("other", 0o700), os.WriteFile("other/go.sum", nil, 0o600),
		os.WriteFile("other/go.mod", []byte("module example.org/other\n\ngo 1.26.0\n"), 0o600))
}

// TestDedalusCompileExample: the commands of the example in the help are those of the
// script dedaluscompile, which runs them without any settings of its own.
func TestDedalusCompileExample(t *testing.T) {
	script, err := os.ReadFile("testdata/script/dedaluscompile.txt")
	if err != nil {
		t.Fatal(err)
	}
	compile, _, err := cli.Command(&console.Terminal{Out: io.Discard, Err: io.Discard}).Find([]string{"dedalus", "compile"})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(compile.Example) {
		for command := range strings.SplitSeq(strings.TrimSpace(line), " && ") {
			if !strings.Contains(string(script), command+"\n") {
				t.Errorf("the script does not run %q", command)
			}
		}
	}
}

// TestDedalusHelp: each command of the Dedalus side has an example and says what its
// exit codes mean.
func TestDedalusHelp(t *testing.T) {
	dedalus, _, err := cli.Command(&console.Terminal{Out: io.Discard, Err: io.Discard}).Find([]string{"dedalus"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range dedalus.Commands() {
		if !strings.Contains(c.Example, "ashlar dedalus "+c.Name()) {
			t.Errorf("%s has no example", c.Name())
		}
		for _, code := range []string{"0", "1", "2"} {
			if !regexp.MustCompile(`Exit codes:[^.]*\s` + code + `\s`).MatchString(c.Long) {
				t.Errorf("the help of %s does not say what exit code %s means", c.Name(), code)
			}
		}
	}
}

// TestDedalusInterrupted: who is interrupted says so by the exit code, and leaves no
// output.
func TestDedalusInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"calibrate", "../../examples/dedalus/voting.ded"},
		{"optimize", "../../examples/dedalus/voting.ded"},
		{"run", "../../examples/dedalus/voting.ded", "--ashlar", "../.."},
		{"load", "../../examples/dedalus/voting.ded", "--ashlar", "../.."},
	} {
		out := filepath.Join(t.TempDir(), "out")
		var o, errs bytes.Buffer
		all := append([]string{"dedalus"}, args...)
		if args[0] == "calibrate" {
			all = append(all, "-o", out)
		}
		if code := cli.Run(ctx, all, &console.Terminal{Out: &o, Err: &errs}); code != exit.Interrupted || o.Len() > 0 {
			t.Errorf("%s: exit code %d, want %d\n%s%s", args[0], code, exit.Interrupted, &o, &errs)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s has left %s", args[0], out)
		}
	}
}
