// SPDX-License-Identifier: Apache-2.0

// Package process starts the processes of a benchmark and measures them.
//
// In: commands, among them the benchmark itself in another role. Out: children that
// are told and heard in lines of JSON, what they have used of the processor, and
// what machine this is.
//
// Promised: no child outlives its parent where the kernel can see to that.
//
// A child of a benchmark is given one line of JSON on its standard input, says
// "ready" with what it has to say, and goes on at each further line; at the end of
// its input it ends. So none outlives its parent.
package process

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Port is a child's side of that.
type Port struct {
	in  *bufio.Reader
	out io.Writer
}

// Main runs f as a child's part and returns the exit code of the process.
func Main(f func(*Port) error) int {
	p := &Port{in: bufio.NewReader(os.Stdin), out: os.Stdout}
	if err := f(p); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n", err)
		return 1
	}
	return 0
}

// Take reads the next line; false at the end.
func (p *Port) Take(v any) (bool, error) {
	line, err := p.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, json.Unmarshal(line, v)
}

// Say sends a line to the parent.
func (p *Port) Say(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = p.out.Write(append(b, '\n'))
	return err
}

// Profiled runs f with a CPU profile, if there is to be one.
func Profiled(path string, f func()) error {
	if path == "" {
		f()
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return errors.Join(err, file.Close())
	}
	f()
	pprof.StopCPUProfile()
	return file.Close()
}

// Child is the parent's side: a process that it has started, of ours or of others.
type Child struct {
	Name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs *tail
	done chan struct{} // closed when it has ended
}

// endWithin is how long a child may take to end by itself.
const endWithin = 3 * time.Second

// Start starts a process. Speaks: it is a child that has a Port.
func Start(name string, cmd *exec.Cmd, speaks bool) (*Child, error) {
	c := &Child{Name: name, cmd: cmd, errs: &tail{}, done: make(chan struct{})}
	cmd.Stderr = c.errs
	Bind(cmd)
	if speaks {
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		c.in, c.out = in, bufio.NewReader(out)
	} else {
		cmd.Stdout = c.errs
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = cmd.Wait() // it says why on its standard error
		close(c.done)
	}()
	return c, nil
}

// Tell sends a line.
func (c *Child) Tell(v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		_, err = c.in.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("%s: %w%s", c.Name, err, c.errs)
	}
	return nil
}

// Hear waits for a line; after within the child is killed.
func (c *Child) Hear(v any, within time.Duration) error {
	late := time.AfterFunc(within, func() { _ = c.cmd.Process.Kill() })
	line, err := c.out.ReadBytes('\n')
	if !late.Stop() {
		return fmt.Errorf("%s: said nothing for %v%s", c.Name, within, c.errs)
	}
	if err == nil {
		err = json.Unmarshal(line, v)
	}
	if err != nil {
		<-c.done
		return fmt.Errorf("%s: %w%s", c.Name, err, c.errs)
	}
	return nil
}

// End ends it and waits for that.
func (c *Child) End() {
	if c == nil {
		return
	}
	if c.in != nil {
		_ = c.in.Close()
	} else {
		_ = c.cmd.Process.Signal(os.Interrupt)
	}
	select {
	case <-c.done:
		return
	case <-time.After(endWithin):
	}
	_ = c.cmd.Process.Kill()
	<-c.done
}

// Ended reports whether it has ended by itself.
func (c *Child) Ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Await waits until a child that has no Port has said a line.
func (c *Child) Await(line string, within time.Duration) error {
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-c.errs.await(line):
		return nil
	case <-c.done:
		return fmt.Errorf("%s: ended before it said %q%s", c.Name, line, c.errs)
	case <-late.C:
		return fmt.Errorf("%s: did not say %q for %v%s", c.Name, line, within, c.errs)
	}
}

// tail keeps the end of what a process says.
type tail struct {
	mu     sync.Mutex
	buf    []byte
	wanted string        // a line for which a caller waits
	said   chan struct{} // closed when it was said; nil when no caller waits
}

// await returns what is closed when a line was said. One waits at a time.
func (t *tail) await(line string) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := make(chan struct{})
	t.wanted, t.said = line, said
	t.look()
	return said
}

// look tells who waits, if the line is there. The lock is held.
func (t *tail) look() {
	if t.said == nil {
		return
	}
	for line := range bytes.Lines(t.buf) {
		if string(line) == t.wanted+"\n" {
			close(t.said)
			t.said = nil
			return
		}
	}
}

const tailMax = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	t.look()
	t.buf = t.buf[max(0, len(t.buf)-tailMax):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.buf) == 0 {
		return ""
	}
	return "\n" + string(t.buf)
}

// Usage is what processes have used since they began.
type Usage struct {
	CPU     time.Duration
	Written int64 // bytes given to a device
}

func (u Usage) Minus(v Usage) Usage { return Usage{u.CPU - v.CPU, u.Written - v.Written} }
func (u Usage) Plus(v Usage) Usage  { return Usage{u.CPU + v.CPU, u.Written + v.Written} }

// tick is the unit of CPU time in /proc, which is the same on all of Linux.
const tick = 10 * time.Millisecond

// UsageOf reads what a process has used, zero where there is no /proc.
func UsageOf(pid int) (u Usage) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	if b, err := os.ReadFile(filepath.Join(dir, "stat")); err == nil {
		// The name, in parentheses, may have spaces; the state follows it.
		_, rest, _ := strings.Cut(string(b), ") ")
		if f := strings.Fields(rest); len(f) > 12 {
			user, _ := strconv.ParseInt(f[11], 10, 64)
			system, _ := strconv.ParseInt(f[12], 10, 64)
			u.CPU = time.Duration(user+system) * tick
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "io")); err == nil {
		for line := range strings.Lines(string(b)) {
			if text, ok := strings.CutPrefix(line, "write_bytes:"); ok {
				u.Written, _ = strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			}
		}
	}
	return u
}

// UsageOfAll is the sum over children.
func UsageOfAll(all []*Child) (u Usage) {
	for _, c := range all {
		u = u.Plus(UsageOf(c.cmd.Process.Pid))
	}
	return u
}

// Said is the end of what the child has said on its standard error, on lines of
// their own; "" when it was nothing.
func (c *Child) Said() string { return c.errs.String() }

// Read reads what the parent says, as it is.
func (p *Port) Read(b []byte) (int, error) { return p.in.Read(b) }

// PID is the number of the child's process.
func (c *Child) PID() int { return c.cmd.Process.Pid }
