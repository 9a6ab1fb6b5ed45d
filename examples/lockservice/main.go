// SPDX-License-Identifier: Apache-2.0

// Command lockservice shows the story of the house in two minutes: a lock
// service is checked, compiled to Go, run as four processes on loopback, and
// the traces of the run are held against the specification. Then the same is
// done with a lock service that has a mistake: the checker shows the shortest
// way to it, and the traces of the compiled program show it too.
//
// Source: the lock service is Listing 2 of the PGo paper (ASPLOS 2023),
// written anew in specs/lockservice.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fatih/color"
)

func main() {
	ashlar := flag.String("ashlar", "build/ashlar", "the ashlar command")
	dir := flag.String("dir", "build/_demo", "where to put what is made; inside this module, so that it can be built")
	run := flag.Duration("for", time.Second, "how long each system runs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	d := &demo{ashlar: *ashlar, dir: *dir, run: *run, out: os.Stdout}
	if err := d.play(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// The specifications.
const (
	goodSpec = "specs/lockservice/lockservice.tla"
	badSpec  = "specs/lockservice/bug/lockservice.tla"
)

// The exit code of the checker for a violated safety property.
const exitSafety = 12

type demo struct {
	ashlar, dir string
	run         time.Duration
	out         io.Writer
	act         int
}

// play performs the whole story. Every step must have the announced result.
func (d *demo) play(ctx context.Context) error {
	begin := time.Now()
	d.say("A design: one lock server, three clients. Is there a state with two holders?")
	if err := d.tool(ctx, 0, "check", goodSpec); err != nil {
		return err
	}
	good := filepath.Join(d.dir, "good")
	if err := d.runSystem(ctx, goodSpec, good); err != nil {
		return err
	}
	d.say("Did the running system do what the design allows, and nothing else?")
	if err := d.tool(ctx, 0, "trace", "check", goodSpec, filepath.Join(good, "traces")); err != nil {
		return err
	}
	d.say("The same with a mistake: the server grants the lock to whoever asks.")
	if err := d.tool(ctx, exitSafety, "check", badSpec); err != nil {
		return err
	}
	d.say("Had nobody checked it: the mistake compiles and runs. Its traces, held against the right design:")
	bad := filepath.Join(d.dir, "bad")
	if err := d.runSystem(ctx, badSpec, bad); err != nil {
		return err
	}
	if err := d.tool(ctx, exitSafety, "trace", "check", goodSpec, filepath.Join(bad, "traces")); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "\nThat was the whole story, in %.0f seconds. The generated Go is in %s.\n", time.Since(begin).Seconds(), filepath.Join(good, "code"))
	return nil
}

// say begins the next act.
func (d *demo) say(title string) {
	d.act++
	fmt.Fprintf(d.out, "\n%s\n\n", color.New(color.Bold, color.FgCyan).Sprintf("%d. %s", d.act, title))
}

// tool runs the ashlar command, shows it with what it prints, and expects an
// exit code.
func (d *demo) tool(ctx context.Context, want int, args ...string) error {
	fmt.Fprintf(d.out, "%s\n", color.New(color.Faint).Sprintf("$ ashlar %s", strings.Join(args, " ")))
	cmd := exec.CommandContext(ctx, d.ashlar, args...)
	cmd.Stdout, cmd.Stderr = d.out, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil && want == 0, errors.As(err, &exit) && exit.ExitCode() == want:
		return nil
	case err == nil:
		return fmt.Errorf("ashlar %s: exit code 0, want %d", strings.Join(args, " "), want)
	}
	return fmt.Errorf("ashlar %s: %w, want exit code %d", strings.Join(args, " "), err, want)
}

// runSystem compiles a specification and runs it as four processes.
func (d *demo) runSystem(ctx context.Context, spec, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	code, traces := filepath.Join(dir, "code"), filepath.Join(dir, "traces")
	if err := os.MkdirAll(traces, 0o755); err != nil {
		return err
	}
	if d.act == 1 {
		d.say("From the design to a program, and four processes of it on loopback.")
	}
	if err := d.tool(ctx, 0, "compile", spec, "-o", code, "--main"); err != nil {
		return err
	}
	program := filepath.Join(dir, "lockservice")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./"+code)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", code, err, out)
	}
	c := &cluster{program: program, dir: dir, traces: traces, run: d.run, clients: clients}
	if err := c.start(ctx); err != nil {
		return err
	}
	if err := c.wait(); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "ran %d processes for %v; together they committed %d critical sections\n", clients+1, d.run, c.sections())
	return nil
}
