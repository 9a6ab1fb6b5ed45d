package main

import (
	"bufio"
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

// A child of this program is given one line of JSON on its standard input, says
// "ready" with what it has to say, and goes on at each further line; at the end of
// its input it ends. So none outlives its parent.

// port is a child's side of that.
type port struct {
	in  *bufio.Reader
	out io.Writer
}

// childMain runs a child.
func childMain(f func(*port) error) int {
	p := &port{in: bufio.NewReader(os.Stdin), out: os.Stdout}
	if err := f(p); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n", err)
		return 1
	}
	return 0
}

// take reads the next line; false at the end.
func (p *port) take(v any) (bool, error) {
	line, err := p.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, json.Unmarshal(line, v)
}

func (p *port) say(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = p.out.Write(append(b, '\n'))
	return err
}

// profiled runs f with a CPU profile, if there is to be one.
func profiled(path string, f func()) error {
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

// child is the parent's side: a process that it has started, of ours or of others.
type child struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs *tail
	done chan struct{} // closed when it has ended
}

// endWithin is how long a child may take to end by itself.
const endWithin = 3 * time.Second

// start starts a process. Speaks: it is one of ours.
func start(name string, cmd *exec.Cmd, speaks bool) (*child, error) {
	c := &child{name: name, cmd: cmd, errs: &tail{}, done: make(chan struct{})}
	cmd.Stderr = c.errs
	bind(cmd)
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

// tell sends a line.
func (c *child) tell(v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		_, err = c.in.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("%s: %w%s", c.name, err, c.errs)
	}
	return nil
}

// hear waits for a line.
func (c *child) hear(v any, within time.Duration) error {
	late := time.AfterFunc(within, func() { _ = c.cmd.Process.Kill() })
	line, err := c.out.ReadBytes('\n')
	if !late.Stop() {
		return fmt.Errorf("%s: said nothing for %v%s", c.name, within, c.errs)
	}
	if err == nil {
		err = json.Unmarshal(line, v)
	}
	if err != nil {
		<-c.done
		return fmt.Errorf("%s: %w%s", c.name, err, c.errs)
	}
	return nil
}

// end ends it and waits for that.
func (c *child) end() {
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

// ended says that it has ended by itself.
func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// tail keeps the end of what a process says.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailMax = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
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

// usage is what processes have used since they began.
type usage struct {
	CPU     time.Duration
	Written int64 // bytes given to a device
}

func (u usage) minus(v usage) usage { return usage{u.CPU - v.CPU, u.Written - v.Written} }
func (u usage) plus(v usage) usage  { return usage{u.CPU + v.CPU, u.Written + v.Written} }

// tick is the unit of CPU time in /proc, which is the same on all of Linux.
const tick = 10 * time.Millisecond

// usageOf reads what a process has used, zero where there is no /proc.
func usageOf(pid int) (u usage) {
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

func usageOfAll(all []*child) (u usage) {
	for _, c := range all {
		u = u.plus(usageOf(c.cmd.Process.Pid))
	}
	return u
}
