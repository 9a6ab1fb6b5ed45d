// SPDX-License-Identifier: Apache-2.0

//go:build unix

package procs

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// role makes TestNothingOutlivesTheTest start a process and end.
const role = "ASHLAR_TEST_ROLE"

// victim starts a process that shares its standard output, and reports that.
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
		time.Sleep(time.Millisecond) // no wait reads lines of standard error
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

// TestNothingOutlivesTheTest: a process, and the processes that it has started, end with
// the test, whether the test succeeds, fails, panics, or is killed. They share a pipe
// with it, which is closed when they all have ended.
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

// recorder is a test that records how it fails.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Errorf(format string, args ...any) { r.failed += fmt.Sprintf(format, args...) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// failure is a recorded failure of a test.
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

// TestLines: each whole line is delivered once and in order, and a partial line never is.
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

// TestWaitsAreBounded: a test fails if its process does not do what the test waits for.
func TestWaitsAreBounded(t *testing.T) {
	short := func(t testing.TB) *Process {
		return start(t, sh("echo a; sleep 300 & wait"), 100*time.Millisecond)
	}
	const lines = "i=0; while [ $i -lt 200 ]; do echo a; sleep 0.01; i=$((i+1)); done" // two seconds at least
	for name, c := range map[string]struct {
		do   func(t testing.TB)
		want string
	}{
		"no line":     {func(t testing.TB) { short(t).Await("b") }, `no line "b" within`},
		"no second":   {func(t testing.TB) { p := short(t); p.Next(); p.Next() }, "no line within"},
		"no state":    {func(t testing.TB) { short(t).State() }, "has not ended within"},
		"other lines": {func(t testing.TB) { start(t, sh(lines), 100*time.Millisecond).Await("b") }, `no line "b" within`},
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

// TestTheNumberIsAnothers: once a process has ended, its number may belong to another
// process, which is not killed, although a process outside the group still holds the
// output.
func TestTheNumberIsAnothers(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skipf("did not run: %v", err)
	}
	cmd := sh("setsid sh -c 'echo $$; exec sleep 300' & read x")
	end, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := Start(t, cmd)
	outside, err := strconv.Atoi(p.Await(""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(outside, syscall.SIGKILL) }()
	end.Close() // it is outside now
	late := time.Now().Add(patience)
	for reaped := false; !reaped; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("its end is not noticed within %v", patience)
		}
		p.mu.Lock()
		reaped = p.reaped
		p.mu.Unlock()
	}
	cmd = exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	another := Start(t, cmd)
	p.cmd.Process.Pid = another.PID()
	p.abort()
	fmt.Fprintln(in, "here")
	if line, _ := another.Next(); line != "here" {
		t.Error("another process is killed")
	}
	// The message names the awaited event.
	waiting := func(t testing.TB) {
		(&Process{t: t, cmd: p.cmd, wait: time.Millisecond, ended: make(chan struct{}), reaped: true}).Wait()
	}
	if got := failure(t, waiting); !strings.Contains(got, "it has ended, but a process outside of its group still holds its output") {
		t.Errorf("the test fails with %q", got)
	}
}

// TestMuchIsPrinted: the output of a process takes bounded memory, and a test can find
// out that it does not have all of it.
func TestMuchIsPrinted(t *testing.T) {
	much := Start(t, sh("echo MUTE >&2; head -c 600000 /dev/zero >&2"))
	if much.Wait(); strings.Contains(much.Errs(), "MUTE") || len(much.Errs()) > 2*keepMax || !much.Truncated() {
		t.Errorf("%d bytes are kept, truncated: %v", len(much.Errs()), much.Truncated())
	}
	little := Start(t, sh("echo MUTE >&2; head -c 500000 /dev/zero >&2"))
	if little.Wait(); !strings.Contains(little.Errs(), "MUTE") || little.Truncated() {
		t.Errorf("%d bytes are kept, truncated: %v", len(little.Errs()), little.Truncated())
	}
	notTaken := func(t testing.TB) {
		p := Start(t, sh("echo first; yes | head -n 400000"))
		p.Wait()
		if n := len(p.out.text); n > 2*keepMax {
			t.Errorf("%d bytes are kept", n)
		}
		p.Await("first")
	}
	if got := failure(t, notTaken); !strings.Contains(got, "the first are lost") {
		t.Errorf("the test fails with %q", got)
	}
	cmd := sh("while read x; do head -c 100000 /dev/zero; echo; done")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	taken := Start(t, cmd)
	for range 9 {
		fmt.Fprintln(in)
		if line, ok := taken.Next(); len(line) != 100000 || !ok {
			t.Errorf("a line of %d bytes, %v", len(line), ok)
		}
	}
	in.Close()
	if code := taken.Wait(); code != 0 || !taken.Truncated() {
		t.Errorf("exit code %d, truncated: %v", code, taken.Truncated())
	}
}

// TestNamesOfNamespaces: concurrent sets of namespaces have different names.
func TestNamesOfNamespaces(t *testing.T) {
	if one, two := Namespaces(t, 0, 0), Namespaces(t, 0, 0); one == two {
		t.Errorf("two sets are called %s", one)
	}
}

// TestUnavailable: a test that needs namespaces is skipped only if there can be none.
func TestUnavailable(t *testing.T) {
	for text, want := range map[string]string{
		"mount --make-shared /run/netns failed: Operation not permitted":                                                    "network namespaces are not permitted here",
		"mkdir /run/netns failed: Permission denied":                                                                        "network namespaces are not permitted here",
		`Cannot create namespace file "/run/netns/a": File exists`:                                                          "",
		`Object "nets" is unknown, try "ip help".`:                                                                          "",
		`exec of "iptables" failed: No such file or directory`:                                                              "there is no command iptables",
		"iptables v1.8.9: bad value for option \"--probability\"":                                                           "",
		"iptables: No chain/target/match by that name.":                                                                     "the kernel cannot lose packets here",
		"iptables v1.8.9 (legacy): can't initialize iptables table `filter': Table does not exist (do you need to insmod?)": "the kernel cannot lose packets here",
		"Warning: Extension statistic revision 0 not supported, missing kernel module?":                                     "the kernel cannot lose packets here",
		"iptables: Fatal: can't open lock file: Permission denied":                                                          "network namespaces are not permitted here",
	} {
		if got := unavailable(fmt.Errorf("ip netns: %s", text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := unavailable(exec.Command("no-such-command-ip").Run()); got != "there is no command ip" {
		t.Errorf("without ip: %q", got)
	}
}

// TestProbability: iptables reads the percents as they are meant.
func TestProbability(t *testing.T) {
	for percent, want := range map[int]string{0: "0.00", 1: "0.01", 7: "0.07", 30: "0.30", 99: "0.99", 100: "1.00"} {
		if got := probability(percent); got != want {
			t.Errorf("%d %% is written as %s, want %s", percent, got, want)
		}
	}
}
