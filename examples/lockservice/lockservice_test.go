package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// workshop is a compiled lock service, made once for all tests.
type workshop struct{ ashlar, program string }

// open builds the tool, compiles the specification and builds the program.
func open(t *testing.T, spec string) workshop {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// The generated code is built where this module's packages can be imported,
	// in a folder that patterns such as ./... do not match.
	if err := os.MkdirAll(filepath.Join(root, "build"), 0o755); err != nil {
		t.Fatal(err)
	}
	code, err := os.MkdirTemp(filepath.Join(root, "build"), "_lockservice")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(code) })
	w := workshop{ashlar: filepath.Join(t.TempDir(), "ashlar"), program: filepath.Join(t.TempDir(), "lockservice")}
	run(t, root, 0, "go", "build", "-o", w.ashlar, "./cmd/ashlar")
	run(t, root, 0, w.ashlar, "compile", spec, "-o", code, "--main")
	run(t, root, 0, "go", "build", "-o", w.program, "./"+filepath.Base(filepath.Dir(code))+"/"+filepath.Base(code))
	return w
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
func (w workshop) checkTraces(t *testing.T, c *cluster, want int) string {
	t.Helper()
	return run(t, "../..", want, w.ashlar, "trace", "check", goodSpec, c.traces)
}

func newCluster(t *testing.T, w workshop, run time.Duration) *cluster {
	t.Helper()
	dir := t.TempDir()
	c := &cluster{program: w.program, dir: dir, traces: filepath.Join(dir, "traces"), run: run, clients: clients}
	if err := os.Mkdir(c.traces, 0o755); err != nil {
		t.Fatal(err)
	}
	return c
}

// A client that is killed takes nothing back that it has done: the traces of
// all, its own cut off as it is, are a behaviour of the specification.
func TestKilledClient(t *testing.T) {
	w := open(t, goodSpec)
	c := newCluster(t, w, 1500*time.Millisecond)
	if err := c.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond) // it is killed in the middle of its work
	c.kill("client2")
	if err := c.wait(); err != nil {
		t.Fatal(err)
	}
	if n := c.sections(); n < 100 {
		t.Errorf("only %d sections were committed", n)
	}
	t.Log(w.checkTraces(t, c, 0))
}

// What the broken lock service does is not a behaviour of the right one, and
// the report names the server's step.
func TestBrokenServerIsRejected(t *testing.T) {
	w := open(t, badSpec)
	c := newCluster(t, w, 300*time.Millisecond)
	if err := c.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.wait(); err != nil {
		t.Fatal(err)
	}
	out := w.checkTraces(t, c, exitSafety)
	for _, want := range []string{"rejected", "AServer(0) cannot take its step", "serverRespond"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
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
