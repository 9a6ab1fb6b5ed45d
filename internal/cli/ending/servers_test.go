// SPDX-License-Identifier: Apache-2.0

//go:build unix

package ending_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/cli/fullpipe"
)

// A command that has not ended after this never does: it is long, for machines that
// are slow and busy.
const patience = 30 * time.Second

// TestServersEnd: each command of each server is told to end while it waits for
// somebody to read what it prints, if only its help or what is wrong with its command
// line. The commands are those that the program's own completion lists, so that a new
// one is tried as well.
func TestServersEnd(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "../../../cmd/ashlard", "../../../cmd/mailboat").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, least := range map[string]int{"ashlard": 3, "mailboat": 2} {
		commands := leaves(t, filepath.Join(bin, name), nil)
		if len(commands) < least {
			t.Fatalf("%s: only %d commands: %q", name, len(commands), commands)
		}
		for _, command := range commands {
			t.Run(name+" "+strings.Join(command, " "), func(t *testing.T) {
				t.Parallel()
				endsAt(t, filepath.Join(bin, name), command)
			})
		}
	}
}

// leaves are the commands below one that have none below them.
func leaves(t *testing.T, program string, path []string) [][]string {
	t.Helper()
	out, err := exec.Command(program, append(append([]string{"__complete"}, path...), "")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var found [][]string
	for _, line := range strings.Split(string(out), "\n") {
		name, _, described := strings.Cut(line, "\t")
		if !described || name == "" || strings.HasPrefix(name, ":") {
			continue
		}
		found = append(found, leaves(t, program, append(append([]string{}, path...), name))...)
	}
	if len(found) == 0 && len(path) > 0 {
		found = append(found, path)
	}
	return found
}

// endsAt asserts that SIGTERM ends a command whose output nobody reads and whose input
// does not come, with the exit code of an interruption.
func endsAt(t *testing.T, program string, args []string) {
	out := fullpipe.New(t)
	for delay := 100 * time.Millisecond; ; delay *= 2 {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), out, out
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(delay) // a process does not say when it listens: a later try waits longer
		begin := time.Now()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // looked at below
		in.Close()
		if !kill.Stop() {
			t.Fatalf("not ended after %v", time.Since(begin))
		}
		code := cmd.ProcessState.ExitCode()
		if code == 130 {
			return
		}
		// -1: the signal itself has ended it, before it listened.
		if code != -1 || delay > 10*time.Second {
			t.Fatalf("exit code %d, want 130", code)
		}
	}
}
