// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ashlar-dev/ashlar/internal/cli"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/fullpipe"
	"github.com/ashlar-dev/ashlar/internal/cli/worm/access"
	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// endsWithin is when a process that was told to end has not: what it has to do takes a
// second, and slow machines some more.
const endsWithin = 20 * time.Second

// leaves are the paths of all commands below one that do something themselves.
func leaves(c *cobra.Command) (paths []string) {
	for _, sub := range c.Commands() {
		if sub.HasSubCommands() {
			paths = append(paths, leaves(sub)...)
			continue
		}
		paths = append(paths, sub.CommandPath())
	}
	return paths
}

// busy waits until a process either computes nothing any more or has computed for a
// while, in hundredths of a second.
func busy(t *testing.T, p *procs.Process, while int) {
	t.Helper()
	before, same := -1, 0
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		select {
		case <-p.Ended():
			t.Fatalf("it has ended by itself: %v", p.State())
		default:
		}
		now := computed(p.PID())
		if same++; now != before {
			before, same = now, 0
		}
		if now > while || same >= while {
			return
		}
	}
	t.Fatal("it does not begin")
}

// TestEveryCommandEnds: each command is told to end while it waits for somebody to read
// what it says, if only its help or what is wrong with its command line. So a command
// that is added is tried as well.
func TestEveryCommandEnds(t *testing.T) {
	ashlar := asCommand(t)
	root := cli.Command(&console.Terminal{Out: io.Discard, Err: io.Discard})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("x")
	paths := leaves(root)
	if len(paths) < 30 {
		t.Fatalf("only %d commands: %q", len(paths), paths)
	}
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			dir, out := t.TempDir(), fullpipe.New(t)
			ends(t, func() *exec.Cmd {
				cmd := exec.Command(ashlar, strings.Fields(path)[1:]...)
				cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
				return cmd
			})
		})
	}
}

// ends starts a command, tells it to end and asserts that it does, as one that was
// interrupted, or with one of the other codes.
func ends(t *testing.T, command func() *exec.Cmd, others ...int) {
	t.Helper()
	for while := 20; ; while *= 2 {
		code := end(t, command(), while)
		if code == exit.Interrupted || slices.Contains(others, code) {
			return
		}
		// -1: the signal itself has ended it, before it listened.
		if code != -1 || while > 1000 {
			t.Fatalf("exit code %d, want %d", code, exit.Interrupted)
		}
	}
}

// end starts a command, tells it to end when it has computed for a while, and answers
// its exit code.
func end(t *testing.T, cmd *exec.Cmd, while int) int {
	t.Helper()
	in, err := cmd.StdinPipe() // nothing comes
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p := procs.Start(t, cmd)
	busy(t, p, while)
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.Ended():
	case <-time.After(endsWithin):
		t.Fatal("it does not end")
	}
	return p.State().ExitCode()
}

// TestBusyCommandsEnd: what computes without end, or waits for a file, ends as well.
func TestBusyCommandsEnd(t *testing.T) {
	ashlar := asCommand(t)
	dir := t.TempDir()
	const endless = "---- MODULE Long ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = x + 1\n" +
		"RECURSIVE G(_)\nG(n) == IF n = 0 THEN 0 ELSE G(n - 1) + G(n - 1)\nSlow == x' = G(200)\n====\n"
	const rules = "program p\ncomponent a {\n  input in(c: node, x: u64)\n  output out(x: u64)\n  sync up(x) <- in(_, x)\n" +
		"  sync up(y) <- up(x), y := x + 1\n  async out@c(x) <- in(c, x), up(x)\n}\ndeploy { a: 1 }\n"
	for name, text := range map[string]string{"Long.tla": endless, "Long.cfg": "INIT Init\nNEXT Next\n", "Slow.cfg": "INIT Init\nNEXT Slow\n",
		"p.ded": rules, "p.in": "in(node \"c\", 1) to a/0\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, fifo := range []string{"fifo.tla", "fifo.ded"} {
		if err := unix.Mkfifo(filepath.Join(dir, fifo), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"check", "Long.tla"},
		{"check", "--native=never", "Long.tla"},
		{"check", "Long.tla", "--config", "Slow.cfg", "--native=never"},
		{"check", "fifo.tla"},
		{"simulate", "Long.tla"},
		{"simulate", "Long.tla", "--config", "Slow.cfg"},
		{"translate", "fifo.tla"},
		{"compile", "fifo.tla", "-o", "out"},
		{"trace", "check", "fifo.tla", "."},
		{"repl", "-e", `\A f \in [1..7 -> 1..9] : \A g \in [1..7 -> 1..9] : f[1] < 10`},
		{"repl", "-e", "LET RECURSIVE F(_) F(n) == IF n = 0 THEN 0 ELSE F(n - 1) + F(n - 1) IN F(200)"},
		{"repl", "-e", `LET RECURSIVE F(_) F(n) == IF n = 0 THEN 0 ELSE F(n - 1) + F(n - 1) IN F(200)`, "Long.tla"},
		{"dedalus", "check", "fifo.ded"},
		{"dedalus", "fmt", "fifo.ded"},
		{"store", "crash-explore"},
		{"store", "bench", "bench"},
	} {
		t.Run(strings.Join(args[:min(len(args), 3)], " "), func(t *testing.T) {
			t.Parallel()
			ends(t, func() *exec.Cmd {
				cmd := exec.Command(ashlar, args...)
				cmd.Dir = dir
				return cmd
			})
		})
	}
}

// TestClientsEnd: a command that waits for a cluster that does not answer ends as well. Of
// those of 'ashlar worm' only status, which gives up within seconds, and those that ask
// no cluster are not here.
func TestClientsEnd(t *testing.T) {
	ashlar := asCommand(t)
	g := wor.Genesis{Cluster: 1, Partitions: []wor.Config{{}}}
	for i := range 3 {
		// The system connects whoever dials, and nothing reads what is said then.
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		g.Partitions[0].Members = append(g.Partitions[0].Members, wor.Member{ID: wor.ServerID(1 + i), Name: fmt.Sprint("n", i), Addr: l.Addr().String()})
	}
	file := filepath.Join(t.TempDir(), "cluster.json")
	if err := access.Write(file, &g); err != nil {
		t.Fatal(err)
	}
	reads := [][]string{{"read", "17.0"}, {"log", "read", "7", "0.1"}, {"log", "cat", "7"}, {"log", "tail", "7"}, {"kv", "get", "k"}, {"describe"}}
	changes := [][]string{
		{"write", "17.0", "x"}, {"write", "17.0", "x", "--alloc", "1"}, {"trim", "17"},
		{"log", "append", "7", "x"}, {"log", "trim", "7", "1.0"}, {"kv", "set", "k", "v"}, {"kv", "del", "k"}, {"kv", "incr", "k"},
		{"replace", "n1", "--with", "n4=4@127.0.0.1:1"}, {"reconfigure", "0", "n0", "n1", "n2"},
		{"unsafe-recover", "0", "n0", "n1", "n2", "--accept", "data-may-be-lost", "--description", "new.json"},
	}
	for i, args := range append(reads, changes...) {
		var codes []int
		if i >= len(reads) {
			codes = []int{exit.Unknown} // of a change that was sent
		}
		t.Run(strings.Join(args[:min(len(args), 3)], " "), func(t *testing.T) {
			t.Parallel()
			ends(t, func() *exec.Cmd {
				cmd := exec.Command(ashlar, append(append([]string{"worm"}, args...), "--timeout", "0", "--cluster", file)...)
				cmd.Dir = filepath.Dir(file)
				return cmd
			}, codes...)
		})
	}
}

// TestServersEndWithTheDemonstration kills the demonstration while its servers run: none
// stays behind, whoever ends it and however.
func TestServersEndWithTheDemonstration(t *testing.T) {
	ashlar := asCommand(t)
	for _, how := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(how.String(), func(t *testing.T) {
			cmd := exec.Command(ashlar, "worm", "demo", "--json")
			cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir()) // by which its servers are known
			cmd.Stdout, cmd.Stderr = fullpipe.New(t), fullpipe.New(t)
			mine := cmd.Env[len(cmd.Env)-1]
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				for _, pid := range withEnvironment(mine) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}()
			// The third server is started when two listen.
			await(t, "three servers", func() bool { return len(withEnvironment(mine)) > 3 })
			if err := cmd.Process.Signal(how); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			await(t, "the end of its servers", func() bool { return len(withEnvironment(mine)) == 0 })
		})
	}
}

// withEnvironment are the processes that have a setting in their environment.
func withEnvironment(setting string) (pids []int) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range list {
		text, err := os.ReadFile(name) // empty for a process that has ended
		if err == nil && strings.Contains("\x00"+string(text), "\x00"+setting+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}
