// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// survivor is a program whose nodes survive crashes, as processes with their journals
// on real files. It is not the lock service, and made in the same workshop.
type survivor struct {
	t       *testing.T
	program string
	spec    string
	dir     string
}

func newSurvivor(t *testing.T, name string, c *distsys.Config) *survivor {
	t.Helper()
	spec := "specs/" + name + "/" + name + ".tla"
	s := &survivor{t: t, program: shop.program(t, spec), spec: spec, dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(s.dir, "traces"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeConfig(filepath.Join(s.dir, "sys.json"), c); err != nil {
		t.Fatal(err)
	}
	return s
}

// node is one life of a node.
type node struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan error
}

// start starts a node, with its journal where it survives crashes.
func (s *survivor) start(name string, survives bool) *node {
	s.t.Helper()
	args := []string{"-config", "sys.json", "-node", name, "-for", "2m"}
	if survives {
		args = append(args, "-data", name+".data")
	}
	n := &node{cmd: exec.CommandContext(s.t.Context(), s.program, args...), ended: make(chan error, 1)}
	n.cmd.Dir, n.cmd.Stderr = s.dir, &n.stderr
	n.cmd.Env = append(os.Environ(), distsys.TraceDir+"=traces")
	if err := n.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { n.ended <- n.cmd.Wait() }()
	return n
}

// sections counts the lines of traces, headers too.
func (s *survivor) sections(pattern string) int {
	n := 0
	files, _ := filepath.Glob(filepath.Join(s.dir, "traces", pattern))
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil {
			n += bytes.Count(text, []byte("\n"))
		}
	}
	return n
}

// leavesTheParent checks that a running node has not opened the directory above
// that of its journal, for which it needs no permission but to pass through.
func (s *survivor) leavesTheParent(n *node) {
	s.t.Helper()
	if runtime.GOOS != "linux" {
		s.t.Log("what a process has open is not looked at on this system")
		return
	}
	above, err := os.Stat(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", n.cmd.Process.Pid))
	if err != nil || len(open) == 0 {
		s.t.Fatalf("the node has nothing open: %v", err)
	}
	journal := false
	for _, name := range open {
		at, err := os.Readlink(name)
		journal = journal || err == nil && strings.HasSuffix(filepath.Dir(at), "/journal")
		if is, err := os.Stat(name); err == nil && os.SameFile(is, above) {
			s.t.Errorf("the node has %s open, above the directory of its journal", at)
		}
	}
	if !journal {
		s.t.Errorf("the node has no file of its journal open")
	}
}

// killAt kills a node when the traces have so many lines, unless stop ends first.
// It reports whether it did.
func (s *survivor) killAt(n *node, lines int, pattern string, stop <-chan error) bool {
	s.t.Helper()
	for s.sections(pattern) < lines {
		select {
		case err := <-n.ended:
			s.t.Fatalf("the node ended by itself: %v\n%s", err, n.stderr.Bytes())
		case err := <-stop:
			if err != nil {
				s.t.Fatal(err)
			}
			return false
		case <-time.After(time.Millisecond):
		}
	}
	if slices.Contains(n.cmd.Args, "-data") {
		s.leavesTheParent(n)
	}
	if err := n.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	<-n.ended
	return true
}

// check holds the traces against the specification.
func (s *survivor) check(constants string) {
	s.t.Helper()
	cfg := filepath.Join(s.dir, "run.cfg")
	if err := os.WriteFile(cfg, []byte(constants+"\nSPECIFICATION Spec\n"), 0o644); err != nil {
		s.t.Fatal(err)
	}
	s.t.Log(run(s.t, shop.root, 0, shop.ashlar, "trace", "check", "--config", cfg, s.spec, filepath.Join(s.dir, "traces")))
}

// format makes the journal of a node, and does not make it twice.
func (s *survivor) format(name string) {
	s.t.Helper()
	args := []string{"-config", "sys.json", "-node", name, "-data", name + ".data"}
	dir := filepath.Join(s.dir, name+".data")
	if out := run(s.t, s.dir, 1, s.program, args...); !strings.Contains(out, "-data") || !strings.Contains(out, "-format") {
		s.t.Fatalf("a directory that is not there was taken, or the message does not help: %s", out)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatalf("a node that was not asked to make its directory has made it: %v", err)
	}
	if out := run(s.t, s.dir, 1, s.program, "-config", "sys.json", "-node", name, "-data", "a/b", "-format"); !strings.Contains(out, "-data") {
		s.t.Fatalf("a directory was made in one that is not there: %s", out)
	}
	// An empty directory behind a link, made by the operator, is as good.
	if err := errors.Join(os.Mkdir(dir+".real", 0o755), os.Symlink(dir+".real", dir)); err != nil {
		s.t.Fatal(err)
	}
	if out := run(s.t, s.dir, 1, s.program, args...); !strings.Contains(out, "no log") || !strings.Contains(out, "-format") {
		s.t.Fatalf("a directory without a journal was taken for one: %s", out)
	}
	args = append(args, "-format")
	run(s.t, s.dir, 0, s.program, args...)
	if out := run(s.t, s.dir, 1, s.program, args...); !strings.Contains(out, "log exists already") {
		s.t.Fatalf("a journal was made where one was: %s", out)
	}
}

// TestKilledServerRemembers kills the server of specs/restart again and again. Its
// client gets all answers, and the traces of all lives are a behaviour of the
// specification.
func TestKilledServerRemembers(t *testing.T) {
	// The client asks again as fast as it can, also while the server's disk is slow: few
	// requests, so that the traces are not long.
	const requests, kills = 6, 5
	addresses, err := ports.Free(2)
	if err != nil {
		t.Fatal(err)
	}
	number := func(i int) distsys.Text { return distsys.TextOf(value.Int(int32(i))) }
	s := newSurvivor(t, "restart", &distsys.Config{
		System:    "restart",
		Constants: map[string]distsys.Text{"Requests": number(requests)},
		Resources: map[string]distsys.Supply{"net": {Kind: distsys.KindMailboxes, Mode: distsys.ModeStrict, Distinct: true, At: []distsys.Site{
			{Node: "server", Address: addresses[0], Indices: []distsys.Text{number(1)}},
			{Node: "client", Address: addresses[1], Indices: []distsys.Text{number(2)}}}}},
		Nodes: map[string][]distsys.Member{
			"server": {{Archetype: "AServer", Self: number(1), Values: map[string]distsys.Text{"client": number(2)}, Refs: map[string]string{"net": "net"}}},
			"client": {{Archetype: "AClient", Self: number(2), Values: map[string]distsys.Text{"server": number(1), "n": number(requests)}, Refs: map[string]string{"net": "net"}}},
		},
	})
	s.format("server")
	client := s.start("client", false)
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	killed, before := 0, 0
	var server *node
	for done := false; !done; {
		before = s.sections("*AServer*")
		server = s.start("server", true)
		if done = killed == kills; !done {
			// The first life is killed before it can have answered all requests.
			if s.killAt(server, before+1+r.IntN(3*requests), "*AServer*", client.ended) {
				killed++
			} else {
				client.ended <- nil
				done = true
			}
		}
	}
	if err := <-client.ended; err != nil {
		t.Fatalf("the client: %v\n%s", err, client.stderr.Bytes())
	}
	// The client may have all answers before this life has begun, and a process that has
	// not begun is ended by the signal itself.
	for s.sections("*AServer*") == before {
		select {
		case err := <-server.ended:
			t.Fatalf("the server ended by itself: %v\n%s", err, server.stderr.Bytes())
		case <-time.After(time.Millisecond):
		}
	}
	if err := server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-server.ended; err != nil {
		t.Fatalf("the server: %v\n%s", err, server.stderr.Bytes())
	}
	if killed == 0 {
		t.Error("the client had all answers before the first kill")
	}
	t.Logf("%d kills", killed)
	s.check(fmt.Sprintf("CONSTANT Requests = %d", requests))
}

// TestKilledVotersKeepTheirVotes kills the three servers of specs/vote, which are one
// process with one journal.
func TestKilledVotersKeepTheirVotes(t *testing.T) {
	const terms, kills = 60, 6
	addresses, err := ports.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	c := &distsys.Config{
		System:    "vote",
		Constants: map[string]distsys.Text{"Servers": distsys.TextOf(value.Interval(1, 3)), "MaxTerm": distsys.TextOf(value.Int(terms))},
		Resources: map[string]distsys.Supply{"leaders": {Kind: distsys.KindShared, Value: distsys.TextOf(value.Interval(1, 0))}},
		Nodes:     map[string][]distsys.Member{},
	}
	site := distsys.Site{Node: "servers", Address: addresses[0]}
	for i := range int32(3) {
		self := distsys.TextOf(value.Int(i + 1))
		site.Indices = append(site.Indices, self)
		c.Nodes["servers"] = append(c.Nodes["servers"], distsys.Member{Archetype: "AServer", Self: self, Refs: map[string]string{"net": "net", "leaders": "leaders"}})
	}
	c.Resources["net"] = distsys.Supply{Kind: distsys.KindMailboxes, Mode: distsys.ModeStrict, Distinct: true, At: []distsys.Site{site}}
	s := newSurvivor(t, "vote", c)
	s.format("servers")
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	for range kills {
		s.killAt(s.start("servers", true), s.sections("*")+1+r.IntN(60), "*", nil)
	}
	s.check(fmt.Sprintf("CONSTANTS Servers = {1, 2, 3} MaxTerm = %d", terms))
}
