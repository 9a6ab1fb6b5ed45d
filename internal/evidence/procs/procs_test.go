// SPDX-License-Identifier: Apache-2.0

//go:build unix

package procs

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// role has TestNothingOutlivesTheTest start a process and come to an end.
const role = "ASHLAR_TEST_ROLE"

// victim starts a process that shares its standard output, and says so.
func victim(t *testing.T) {
	how := os.Getenv(role)
	script := "sleep 300 & echo started >&2; wait"
	if how == "killed" {
		script = "echo started >&2; exec sleep 300"
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdout = os.Stdout
	p := Start(t, cmd)
	for !strings.Contains(p.Errs(), "started\n") {
		time.Sleep(time.Millisecond) // standard error is not waited for by lines
	}
	switch how {
	case "fails":
		t.Fatal("it fails")
	case "panics":
		panic("as it should")
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "its process ends":
		if err := syscall.Kill(p.PID(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-p.Ended()
	}
}

// TestNothingOutlivesTheTest: a process, and what it has started, end with the test,
// whether that ends well, fails, panics, or is killed. They share a pipe with it, which
// comes to its end when they all have ended.
func TestNothingOutlivesTheTest(t *testing.T) {
	if os.Getenv(role) != "" {
		victim(t)
		return
	}
	for how, log := range map[string]string{"ends": "", "fails": "started\n", "panics": "", "killed": "", "its process ends": ""} {
		t.Run(how, func(t *testing.T) {
			if how == "killed" && runtime.GOOS != "linux" {
				t.Skip("did not run: only the kernel of Linux kills the processes of one that was killed")
			}
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := Self(t, role+"="+how, "-test.run=^TestNothingOutlivesTheTest$")
			cmd.Stdout = w
			p := Start(t, cmd)
			w.Close()
			if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil {
				t.Errorf("a process is still there: %v", err)
			}
			if code := p.Wait(); (code == 0) != (how == "ends" || how == "its process ends") {
				t.Errorf("exit code %d", code)
			}
			if log != "" && !strings.Contains(string(text)+p.Errs(), log) {
				t.Errorf("the log does not have what the process printed:\n%s\n%s", text, p.Errs())
			}
		})
	}
}

// recorder is a test that notes how it fails.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Errorf(format string, args ...any) { r.failed += fmt.Sprintf(format, args...) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// failure is how a test fails.
func failure(t *testing.T, f func(t testing.TB)) string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.failed
}

func sh(script string) *exec.Cmd { return exec.Command("sh", "-c", script) }

// TestLines: each whole line is heard once and in order, and a part of one never.
func TestLines(t *testing.T) {
	p := Start(t, sh("echo a; printf b; echo c; echo d e; printf f; exit 3"))
	if rest := p.Await("b"); rest != "c" {
		t.Errorf("b is followed by %q", rest)
	}
	if line, ok := p.Next(); line != "d e" || !ok {
		t.Errorf("the next line is %q, %v", line, ok)
	}
	if line, ok := p.Next(); ok {
		t.Errorf("a part of a line is heard: %q", line)
	}
	if code := p.Wait(); code != 3 || p.Out() != "a\nbc\nd e\nf" || p.Errs() != "" {
		t.Errorf("exit code %d, %q, %q", code, p.Out(), p.Errs())
	}
	if code, out, errs := Run(t, sh("echo a; echo b >&2; kill -9 $$")); code != -1 || out != "a\n" || errs != "b\n" {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}

// TestWaitsAreBounded: a process that does not do what the test waits for fails it.
func TestWaitsAreBounded(t *testing.T) {
	short := func(t testing.TB) *Process {
		return start(t, sh("echo a; sleep 300 & wait"), 100*time.Millisecond)
	}
	for name, c := range map[string]struct {
		do   func(t testing.TB)
		want string
	}{
		"no line":     {func(t testing.TB) { short(t).Await("b") }, "no line within"},
		"no end":      {func(t testing.TB) { short(t).Wait() }, "has not ended within"},
		"end":         {func(t testing.TB) { Start(t, sh("echo a")).Await("b") }, "ended without a line"},
		"late signal": {func(t testing.TB) { p := Start(t, sh("")); <-p.Ended(); p.Signal(syscall.SIGTERM) }, "terminated"},
		"nothing":     {func(t testing.TB) { Start(t, sh("exec sleep 300")).Stop() }, ""},
	} {
		if got := failure(t, c.do); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: the test fails with %q, want %q", name, got, c.want)
		}
	}
}
