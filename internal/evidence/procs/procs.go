// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Package procs runs processes for tests: it starts them, reads their output, sends them signals, and kills them.
//
// In: a test, and commands that have not been started; Self makes one of the test's own program. Out: the lines of a
// process as it prints them, everything that it has printed, and how it ended.
//
// Promised: every wait is for an event, and all but that for the channel of Ended are bounded: a process that neither
// prints the expected line nor ends within two minutes is killed, and the test fails. A process may print without
// end: only the last part is kept, and Truncated reports it. When the test is over, the process and its group are
// killed, and their output is in the log if the test has failed. On Linux the kernel also kills the process, but not
// the processes that it has started, if the test's own process dies before that.
//
// Not here: finding free ports. A process listens on port 0 and prints its address; package ports is for those that
// cannot.
package procs

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/child"
)

// patience bounds each wait. Nothing takes that long unless something is wrong.
const patience = 2 * time.Minute

// keepMax is the minimum number of bytes of output that are kept: the end of it.
const keepMax = 256 << 10

// Process is a process that a test has started. It is safe for concurrent use.
type Process struct {
	t     testing.TB
	cmd   *exec.Cmd
	wait  time.Duration // the bound of any wait
	out   printed
	errs  printed
	ended chan struct{} // closed when it has ended and all its output is here
	asked bool          // the test has read its output

	// reaped: the process has ended, so its number may belong to another process. Until ended, processes outside its
	// group may still print.
	mu     sync.Mutex
	reaped bool
}

// Self is a command of the test's own program, with a setting NAME=VALUE that its
// TestMain knows.
func Self(t testing.TB, setting string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), setting)
	return cmd
}

// Start starts a command. It keeps the command's output, unless the command
// redirects it.
func Start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	return start(t, cmd, patience)
}

// start starts a command of which each wait may take that long.
func start(t testing.TB, cmd *exec.Cmd, wait time.Duration) *Process {
	t.Helper()
	p := &Process{t: t, cmd: cmd, wait: wait, ended: make(chan struct{})}
	p.out.heard = sync.NewCond(&p.out)
	var copies sync.WaitGroup
	var pipes []*os.File
	for _, o := range []struct {
		to *io.Writer
		by *printed
	}{{&cmd.Stdout, &p.out}, {&cmd.Stderr, &p.errs}} {
		if *o.to != nil {
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		*o.to = w
		pipes = append(pipes, r)
		copies.Go(func() {
			defer r.Close()
			_, _ = io.Copy(o.by, r) // until all processes that have it have ended
		})
	}
	cmd.SysProcAttr = child.Attributes()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // how it ended is in ProcessState
		p.killGroup()
		p.mu.Lock()
		p.reaped = true
		p.mu.Unlock()
		for _, r := range pipes { // for processes outside its group
			_ = r.SetReadDeadline(time.Now().Add(p.wait))
		}
		copies.Wait()
		p.out.end()
	}()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() && !p.asked {
			t.Logf("%s: %v\n%s%s", cmd, cmd.ProcessState, p.Out(), p.Errs())
		}
	})
	return p
}

// Run runs a command to its end. It returns the exit code, or -1 if a signal ended it,
// and the output, which the test should log.
func Run(t testing.TB, cmd *exec.Cmd) (code int, out, errs string) {
	t.Helper()
	return RunWithin(t, cmd, patience)
}

// RunWithin is Run with a bound on the time.
func RunWithin(t testing.TB, cmd *exec.Cmd, wait time.Duration) (code int, out, errs string) {
	t.Helper()
	p := start(t, cmd, wait)
	code = p.Wait()
	p.asked = code >= 0
	return code, p.Out(), p.Errs()
}

// Next returns the next line of standard output, without its end. It returns false when
// the process has ended without another whole line.
func (p *Process) Next() (line string, ok bool) {
	p.t.Helper()
	defer p.bound("no line")()
	return p.next()
}

func (p *Process) next() (line string, ok bool) {
	p.t.Helper()
	line, ok, lost := p.out.next()
	if lost {
		p.t.Errorf("%s: it printed more than %d bytes before the test took its lines, and the first are lost", p.cmd, keepMax)
	}
	return line, ok
}

// Await waits for a line of standard output that begins with prefix, and returns the rest of it. It skips earlier
// lines. The test fails if the process ends without such a line.
func (p *Process) Await(prefix string) string {
	p.t.Helper()
	defer p.bound(fmt.Sprintf("no line %q", prefix))() // whatever other lines arrive
	for {
		line, ok := p.next()
		if !ok {
			p.t.Fatalf("%s has ended without a line %q: %v", p.cmd, prefix, p.cmd.ProcessState)
		}
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return rest
		}
	}
}

// bound kills the process when a wait takes too long. The caller ends the wait with done. If the process was killed,
// done fails the test and names the awaited event, even if that event arrived at the last moment.
func (p *Process) bound(what string) (done func()) {
	late := time.AfterFunc(p.wait, p.abort)
	return func() {
		p.t.Helper()
		if !late.Stop() {
			p.t.Errorf("%s: %s within %v", p.cmd, what, p.wait)
		}
	}
}

// Signal sends a signal. The test fails if the process has ended.
func (p *Process) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Errorf("%s: %v: %v", p.cmd, s, err)
	}
}

// Kill kills the process with its group, if it has not ended, and waits until it has.
func (p *Process) Kill() {
	p.t.Helper()
	p.killGroup()
	if !p.endsWithin(2 * p.wait) { // half of it is for processes outside the group
		p.t.Errorf("%s: it was killed, and has not ended", p.cmd)
	}
}

// endsWithin waits for the end of the process, and reports whether it came in time.
func (p *Process) endsWithin(d time.Duration) bool {
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-p.ended:
		return true
	case <-late.C:
		return false
	}
}

// abort ends a process that hangs. A Go program prints the stacks of its goroutines. abort does not wait for the end,
// and may run after the test.
func (p *Process) abort() {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT) // it may have ended
	if !p.endsWithin(time.Second) {
		p.killGroup()
	}
}

// killGroup kills the process and its group. It must not be called later than just after the end of the process,
// because its number may then be reused.
func (p *Process) killGroup() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // no process of it may be left
	}
}

// Wait waits for the end of the process, and returns its exit code, -1 if a signal has
// ended it.
func (p *Process) Wait() int {
	p.t.Helper()
	return p.State().ExitCode()
}

// State waits for the end of the process, and returns how it has ended.
func (p *Process) State() *os.ProcessState {
	p.t.Helper()
	if !p.endsWithin(p.wait) {
		what := "it has not ended within"
		p.mu.Lock()
		if p.reaped {
			what = "it has ended, but a process outside of its group still holds its output after"
		}
		p.mu.Unlock()
		p.t.Errorf("%s: %s %v", p.cmd, what, p.wait)
		p.abort()
		if !p.endsWithin(2 * p.wait) {
			p.t.Fatalf("%s: it was killed, and has not ended", p.cmd)
		}
	}
	return p.cmd.ProcessState
}

// Stop ends the process in order, by SIGTERM, and returns its exit code.
func (p *Process) Stop() int {
	p.t.Helper()
	p.Signal(syscall.SIGTERM)
	return p.Wait()
}

// Ended returns a channel that is closed when the process has ended. It is for callers
// that also wait for something else, and bound that wait themselves.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Truncated reports whether the process has printed more than is kept, so that Out or Errs lacks the beginning: the
// process may have printed text that is missing there.
func (p *Process) Truncated() bool { return p.out.isCut() || p.errs.isCut() }

// Out returns what the process has printed to standard output so far.
func (p *Process) Out() string { return p.out.String() }

// Errs returns what the process has printed to standard error so far.
func (p *Process) Errs() string { return p.errs.String() }

// printed is the output of a process.
type printed struct {
	sync.Mutex
	text  []byte // the end of it
	cut   bool   // text is not all of it
	taken int    // how much of text is in lines that were taken
	lost  bool   // lines were cut before they were taken
	ended bool
	heard *sync.Cond // nil: no caller reads lines
}

func (w *printed) Write(b []byte) (int, error) {
	w.Lock()
	defer w.Unlock()
	w.text = append(w.text, b...)
	if n := len(w.text); n > 2*keepMax {
		w.text = append([]byte(nil), w.text[n-keepMax:]...)
		w.cut = true
		if w.taken -= n - keepMax; w.taken < 0 {
			w.taken, w.lost = 0, true
		}
	}
	if w.heard != nil {
		w.heard.Broadcast()
	}
	return len(b), nil
}

func (w *printed) end() {
	w.Lock()
	defer w.Unlock()
	w.ended = true
	w.heard.Broadcast()
}

// next waits for a line. It reports once that earlier lines are lost.
func (w *printed) next() (line string, ok, lost bool) {
	w.Lock()
	defer w.Unlock()
	defer func() { w.lost = false }()
	for {
		if line, _, whole := bytes.Cut(w.text[w.taken:], []byte("\n")); whole {
			w.taken += len(line) + 1
			return string(line), true, w.lost
		}
		if w.ended {
			return "", false, w.lost
		}
		w.heard.Wait()
	}
}

func (w *printed) isCut() bool {
	w.Lock()
	defer w.Unlock()
	return w.cut
}

func (w *printed) String() string {
	w.Lock()
	defer w.Unlock()
	return string(w.text)
}
