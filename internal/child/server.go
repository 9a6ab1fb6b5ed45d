// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// Server is a process that says when it listens and then serves until it is told to end.
type Server struct {
	name  string
	cmd   *exec.Cmd
	errs  tail
	ended chan struct{}
}

// listening is how a server says on its standard output that it serves.
const listening = "listening on "

// Start starts a server, which errors call name, and waits until it listens. If that
// fails and the process was started, it returns the server as well, which is to be
// killed.
func Start(ctx context.Context, name string, cmd *exec.Cmd) (*Server, error) {
	s := &Server{name: name, cmd: cmd, ended: make(chan struct{})}
	cmd.SysProcAttr = Attributes()
	cmd.Stderr = &s.errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	listens := make(chan struct{})
	go func() {
		defer close(s.ended)
		once := sync.OnceFunc(func() { close(listens) })
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), listening) {
				once()
			}
		}
		_, _ = io.Copy(io.Discard, out) // after a line too long to be read
		_ = cmd.Wait()                  // its code is in ProcessState
	}()
	select {
	case <-listens:
		return s, nil
	case <-s.ended:
		return s, s.Early()
	case <-ctx.Done():
		return s, ctx.Err()
	}
}

// Name is what errors call the server.
func (s *Server) Name() string { return s.name }

// PID is the number of its process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Early is the error of a server that has ended and was not told to.
func (s *Server) Early() error {
	return fmt.Errorf("%s has ended with exit code %d: %s", s.name, s.cmd.ProcessState.ExitCode(), &s.errs)
}

// Terminate tells the server to end in order, unless it has ended.
func (s *Server) Terminate() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Failed is the error of a server that has ended with another exit code than 0, or nil.
func (s *Server) Failed() error {
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s ends with exit code %d: %s", s.name, code, &s.errs)
	}
	return nil
}

// Kill ends the server at once, and waits until it has ended.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.ended
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailMax = 4 << 10

// Write implements io.Writer.
func (w *tail) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b = append(w.b, b...)
	if more := len(w.b) - tailMax; more > 0 {
		w.b = w.b[:copy(w.b, w.b[more:])]
	}
	return len(b), nil
}

// String is the last line that is not one of the log, or the last one.
func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(w.b)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if !strings.HasPrefix(lines[i], "time=") && !strings.HasPrefix(lines[i], "Run '") {
			return lines[i]
		}
	}
	return lines[len(lines)-1]
}
