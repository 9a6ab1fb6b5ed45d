// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/internal/child"
)

// process is a node that runs.
type process struct {
	node    string
	cmd     *exec.Cmd
	running chan struct{} // closed when it says that it runs
	ended   chan struct{}

	mu       sync.Mutex
	complain string // the last line that it wrote to its standard error
}

// runs is how a compiled program says that it runs.
const runs = "running "

// stopping is how long processes may take to stop between two sections.
const stopping = 500 * time.Millisecond

// start starts all nodes, and waits until they run.
func (s *system) start(ctx context.Context) error {
	for _, node := range s.conf.NodeNames() {
		args := []string{"-config", s.file(), "-node", node}
		if s.survives(node) {
			args = append(args, "-data", filepath.Join(s.o.work, "data-"+node))
			if out, err := exec.CommandContext(ctx, s.program, append(args, "-format")...).CombinedOutput(); err != nil {
				return fmt.Errorf("node %s: %w: %s", node, err, strings.TrimSpace(string(out)))
			}
		}
		p := &process{node: node, cmd: exec.Command(s.program, args...), running: make(chan struct{}), ended: make(chan struct{})}
		if err := p.start(s); err != nil {
			return fmt.Errorf("node %s: %w", node, err)
		}
		s.processes = append(s.processes, p)
	}
	for _, p := range s.processes {
		select {
		case <-p.running:
		case <-p.ended:
			if err := p.failed(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.began = time.Now()
	s.say("running %d nodes: %s", len(s.processes), strings.Join(s.conf.NodeNames(), ", "))
	return nil
}

func (p *process) start(s *system) error {
	p.cmd.Env = append(os.Environ(), distsys.TraceDir+"="+s.traces)
	p.cmd.SysProcAttr = child.Attributes()
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	var read sync.WaitGroup
	read.Go(func() {
		lines(out, func(line string) {
			if !s.o.json {
				fmt.Fprintf(s.t.Out, "%s: %s\n", p.node, line)
			}
		})
	})
	read.Go(func() {
		running := sync.OnceFunc(func() { close(p.running) })
		lines(errs, func(line string) {
			if strings.HasPrefix(line, runs) {
				running()
				return
			}
			p.mu.Lock()
			p.complain = line
			p.mu.Unlock()
		})
	})
	go func() { // ends with the process, of which s.kill sees to it
		defer close(p.ended)
		read.Wait()
		_ = p.cmd.Wait() // its code is in ProcessState
	}()
	return nil
}

// lines calls f for each line, and reads on after one that is too long.
func lines(r io.Reader, f func(string)) {
	for in := bufio.NewScanner(r); in.Scan(); {
		f(in.Text())
	}
	_, _ = io.Copy(io.Discard, r)
}

// failed is the error of a process that has ended with another exit code than 0. One
// that is about to end by itself no longer handles the signal to stop, and dies of it.
func (p *process) failed() error {
	if how, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && how.Signaled() && how.Signal() == syscall.SIGTERM {
		return nil
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		return fmt.Errorf("node %s has ended with exit code %d: %s", p.node, code, p.complain)
	}
	return nil
}

// stop stops the processes, and kills those that do not stop.
func (s *system) stop() error {
	for _, p := range s.processes {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	}
	over := time.NewTimer(stopping)
	defer over.Stop()
	var all error
	for _, p := range s.processes {
		select {
		case <-p.ended:
			all = errors.Join(all, p.failed())
		case <-over.C:
			s.kill() // a trace may end anywhere
			return all
		}
	}
	return all
}

// kill ends the processes at once, and waits until they have ended.
func (s *system) kill() {
	for _, p := range s.processes {
		_ = p.cmd.Process.Kill() // it may have ended
	}
	for _, p := range s.processes {
		<-p.ended
	}
}
