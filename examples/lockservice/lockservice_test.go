// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// workshop makes programs. What it has made it makes once.
type workshop struct {
	root   string // of the repository
	dir    string // for binaries
	code   string // for generated packages: where this module's packages can be imported, and ./... does not look
	ashlar string

	mu       sync.Mutex
	programs map[string]string // by specification
}

var shop workshop

func TestMain(m *testing.M) {
	code := func() int {
		if err := shop.open(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(shop.dir)
		defer os.RemoveAll(shop.code)
		return m.Run()
	}()
	os.Exit(code)
}

func (w *workshop) open() (err error) {
	if w.root, err = filepath.Abs("../.."); err != nil {
		return err
	}
	if w.dir, err = os.MkdirTemp("", "lockservice"); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(w.root, "build"), 0o755); err != nil {
		return err
	}
	if w.code, err = os.MkdirTemp(filepath.Join(w.root, "build"), "_lockservice"); err != nil {
		return err
	}
	w.ashlar, w.programs = filepath.Join(w.dir, "ashlar"), map[string]string{}
	build := exec.Command("go", "build", "-o", w.ashlar, "./cmd/ashlar")
	build.Dir = w.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the tool: %w\n%s", err, out)
	}
	return nil
}

// program compiles a specification and builds the result.
func (w *workshop) program(t *testing.T, spec string) string {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.programs[spec]; p != "" {
		return p
	}
	name := fmt.Sprintf("program%d", len(w.programs))
	code, program := filepath.Join(w.code, name), filepath.Join(w.dir, name)
	run(t, w.root, 0, w.ashlar, "compile", spec, "-o", code, "--main")
	run(t, w.root, 0, "go", "build", "-o", program, code)
	w.programs[spec] = program
	return program
}

// run executes a command and expects an exit code; it returns what it printed.
func run(t *testing.T, dir string, want int, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
		t.Fatalf("%s %s: %v, want exit code %d\n%s", name, strings.Join(args, " "), err, want, out)
	}
	return string(out)
}

// checkTraces holds the traces of a cluster against the right design.
func checkTraces(t *testing.T, c *cluster, want int) string {
	t.Helper()
	return run(t, shop.root, want, shop.ashlar, "trace", "check", goodSpec, c.traces)
}

func newCluster(t *testing.T, spec string, run time.Duration) *cluster {
	t.Helper()
	dir := t.TempDir()
	c := &cluster{program: shop.program(t, spec), dir: dir, traces: filepath.Join(dir, "traces"), run: run, clients: clients}
	if err := os.Mkdir(c.traces, 0o755); err != nil {
		t.Fatal(err)
	}
	return c
}

// A client that is killed takes nothing back that it has done: the traces of
// all, its own cut off as it is, are a behaviour of the specification.
func TestKilledClient(t *testing.T) {
	c := newCluster(t, goodSpec, 1500*time.Millisecond)
	if err := c.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.awaitSections(t, 100) // it is killed in the middle of its work
	c.kill("client2")
	if err := c.wait(); err != nil {
		t.Fatal(err)
	}
	if n := c.sections(); n < 100 {
		t.Errorf("only %d sections were committed", n)
	}
	t.Log(checkTraces(t, c, 0))
}

// What the broken lock service does is not a behaviour of the right one, and
// the report names the server's step.
func TestBrokenServerIsRejected(t *testing.T) {
	c := newCluster(t, badSpec, 300*time.Millisecond)
	if err := c.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.wait(); err != nil {
		t.Fatal(err)
	}
	out := checkTraces(t, c, exitSafety)
	for _, want := range []string{"rejected", "AServer(0) cannot take its step", "serverRespond"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
}

// awaitSections waits until the traces have so many sections.
func (c *cluster) awaitSections(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); c.sections() < want; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("only %d sections were committed in a minute, want %d", c.sections(), want)
		}
	}
}

// kill ends a node at once, as a power failure would.
func (c *cluster) kill(node string) {
	for _, p := range c.processes {
		if p.node == node {
			p.killed = true
			p.cmd.Process.Signal(syscall.SIGKILL)
		}
	}
}
