// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/search/program"
)

// TestProgramsThatFail: whatever a program does or fails to do, Run returns,
// and the program has ended.
func TestProgramsThatFail(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell to write programs for")
	}
	large := program.Job{Constraints: make([]int, 1<<20)} // more than a pipe holds
	for i := range large.Constraints {
		large.Constraints[i] = i
	}
	for _, c := range []struct {
		name, script, want string
		interrupted        bool
	}{
		{name: "ends at once", script: "exit 3", want: "exit status 3"},
		{name: "says what is wrong", script: "echo it hurts >&2; exit 1", want: "it hurts"},
		{name: "talks nonsense", script: "echo nonsense nonsense nonsense; exec sleep 1000", interrupted: true, want: "killed"},
		{name: "reads nothing, says nothing", script: "exec sleep 1000", interrupted: true, want: "killed"},
		{name: "closes everything and stays", script: "exec sleep 1000 <&- >&-", want: "killed"},
		{name: "talks without end on the wrong side", script: "while echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >&2; do :; done", interrupted: true, want: "aaa"},
		{name: "ends with its input", script: "while read -r x; do :; done", interrupted: true, want: "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(program, []byte("#!"+shell+"\n"+c.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if c.interrupted {
				cancel()
			}
			answer, err := Run(ctx, program, large, 50*time.Millisecond, func(check.Figures) {},
				func(check.PeriodicQuery) (check.PeriodicAnswer, error) { return check.PeriodicAnswer{}, nil })
			if answer != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v; want %q", answer, err, c.want)
			}
		})
	}
}

// TestForgottenPrograms: the most recently used programs are kept, and files
// left by killed processes are removed.
func TestForgottenPrograms(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	for i, name := range []string{"a", "b", "c", "d"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		used := now.Add(-time.Duration(i) * time.Hour)
		if err := os.Chtimes(file, used, used); err != nil {
			t.Fatal(err)
		}
	}
	for name, age := range map[string]time.Duration{"build-new": time.Hour, "build-old": 48 * time.Hour, "other": 48 * time.Hour} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, name), now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if !(&Program{dir: dir, hash: "c"}).Cached() || (&Program{dir: dir, hash: "e"}).Cached() {
		t.Error("what is cached is not what is there")
	}
	forgetPrograms(dir, 2, now)
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got := strings.Join(left, " "); got != "a build-new c other" {
		t.Errorf("left are %s", got)
	}
}

// TestSourcesAreWhole: all files of each folder of the engine are in the command,
// except the tests, which would make it larger.
func TestSourcesAreWhole(t *testing.T) {
	embedded := map[string][]string{}
	files, err := sources(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files[2:] {
		embedded[path.Dir(f.name)] = append(embedded[path.Dir(f.name)], path.Base(f.name))
	}
	if len(embedded) != 7 {
		t.Fatalf("the sources are in %d folders, want 7", len(embedded))
	}
	for dir, got := range embedded {
		entries, err := os.ReadDir(filepath.Join("../..", dir))
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
				want = append(want, e.Name())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %s the command has %q, want %q: see the patterns in sources.go", dir, got, want)
		}
	}
}
