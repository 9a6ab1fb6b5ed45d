// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Package procs runs processes for tests: it starts them, hears what they print, sends
// them signals, and kills them.
//
// In: a test, and commands that have not been started; Self makes one of the test's own
// program. Out: the lines of a process as it prints them, all that it has printed, and
// how it ended.
//
// Promised: every wait is for an event, and has a bound: a process that neither prints
// what the test waits for nor ends within two minutes is killed, and the test fails. When
// the test is over, the process and its group are killed, and what they printed is in
// the log if the test has failed. On Linux the kernel kills the process, too, when the
// test's own process dies without that, but not what the process has started.
//
// Refused: to find ports. A process listens on port 0 and prints its address; package
// ports is for those that cannot.
package procs

import (
	"bytes"
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

// keepMax is how much of what a process prints is kept, in bytes: the end of it.
const keepMax = 256 << 10

// Process is a process that a test has started. It is safe for concurrent use.
type Process struct {
	t     testing.TB
	cmd   *exec.Cmd
	wait  time.Duration // at most, for anything
	out   printed
	errs  printed
	ended chan struct{} // closed when it has ended and all that it printed is here
	asked bool          // the test has what it printed
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

// Start starts a command. What it prints is kept, unless the command says where that
// goes.
func Start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	return start(t, cmd, patience)
}

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
		for _, r := range pipes { // for processes that are outside of its group
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

// Run runs a command to its end, and returns its exit code, -1 if a signal has ended it,
// and what it printed, which is for the test to log.
func Run(t testing.TB, cmd *exec.Cmd) (code int, out, errs string) {
	t.Helper()
	p := Start(t, cmd)
	code = p.Wait()
	p.asked = code >= 0
	return code, p.Out(), p.Errs()
}

// Next returns the next line of standard output, without its end. It returns false when
// the process has ended without another whole line.
func (p *Process) Next() (line string, ok bool) {
	p.t.Helper()
	late := time.AfterFunc(p.wait, p.abort)
	line, ok = p.out.next()
	if !late.Stop() && !ok {
		p.t.Errorf("%s: no line within %v", p.cmd, p.wait)
	}
	return line, ok
}

// Await waits for a line of standard output that begins so, and returns its rest. Lines
// before it are passed over. The test fails if the process ends without it.
func (p *Process) Await(prefix string) string {
	p.t.Helper()
	for {
		line, ok := p.Next()
		if !ok {
			p.t.Fatalf("%s has ended without a line %q: %v", p.cmd, prefix, p.cmd.ProcessState)
		}
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return rest
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
	select {
	case <-p.ended:
	default:
		p.killGroup()
		<-p.ended
	}
}

// abort ends a process that hangs. A program in Go prints what its goroutines do.
func (p *Process) abort() {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(time.Second):
		p.Kill()
	}
}

// killGroup kills the process and its group. It is not called later than just after the
// end of the process, as its number may then be given to others.
func (p *Process) killGroup() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // nothing of it may be left
}

// Wait waits for the end of the process, and returns its exit code, -1 if a signal has
// ended it.
func (p *Process) Wait() int {
	p.t.Helper()
	late := time.NewTimer(p.wait)
	defer late.Stop()
	select {
	case <-p.ended:
	case <-late.C:
		p.abort()
		p.t.Errorf("%s: it has not ended within %v", p.cmd, p.wait)
	}
	return p.cmd.ProcessState.ExitCode()
}

// Stop ends the process in order, by SIGTERM, and returns its exit code.
func (p *Process) Stop() int {
	p.t.Helper()
	p.Signal(syscall.SIGTERM)
	return p.Wait()
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// State is how the process has ended.
func (p *Process) State() *os.ProcessState {
	<-p.ended
	return p.cmd.ProcessState
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Out is what the process has printed to standard output so far.
func (p *Process) Out() string { return p.out.String() }

// Errs is what the process has printed to standard error so far.
func (p *Process) Errs() string { return p.errs.String() }

// printed is what a process prints.
type printed struct {
	sync.Mutex
	text  []byte
	lines []string // whole, and not taken
	part  []byte   // of a line
	ended bool
	heard *sync.Cond // nil: nobody takes lines
}

func (w *printed) Write(b []byte) (int, error) {
	w.Lock()
	defer w.Unlock()
	w.text = append(w.text, b...)
	if n := len(w.text); n > 2*keepMax {
		w.text = append([]byte(nil), w.text[n-keepMax:]...)
	}
	if w.heard == nil {
		return len(b), nil
	}
	w.part = append(w.part, b...)
	for {
		line, rest, whole := bytes.Cut(w.part, []byte("\n"))
		if !whole {
			break
		}
		w.lines, w.part = append(w.lines, string(line)), rest
	}
	w.heard.Broadcast()
	return len(b), nil
}

func (w *printed) end() {
	w.Lock()
	defer w.Unlock()
	w.ended = true
	w.heard.Broadcast()
}

// next waits for a line.
func (w *printed) next() (string, bool) {
	w.Lock()
	defer w.Unlock()
	for len(w.lines) == 0 && !w.ended {
		w.heard.Wait()
	}
	if len(w.lines) == 0 {
		return "", false
	}
	line := w.lines[0]
	w.lines = w.lines[1:]
	return line, true
}

func (w *printed) String() string {
	w.Lock()
	defer w.Unlock()
	return string(w.text)
}
