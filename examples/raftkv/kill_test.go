// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/internal/child"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
)

// program is the service, built once.
var program string

func TestMain(m *testing.M) {
	code := func() int {
		dir, err := os.MkdirTemp("", "raftkv")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "raftkv")
		if err := build(context.Background(), program); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}()
	os.Exit(code)
}

// servers is how many a cluster of the tests has.
const servers = 3

// processes is a cluster whose servers are processes of their own.
type processes struct {
	t              *testing.T
	dir            string
	clients, peers []string
	running        [servers]*exec.Cmd
	said           [servers]*bytes.Buffer
}

func newProcesses(t *testing.T) *processes {
	t.Helper()
	addrs, err := ports.Free(2 * servers)
	if err != nil {
		t.Fatal(err)
	}
	p := &processes{t: t, dir: t.TempDir(), clients: addrs[:servers], peers: addrs[servers:]}
	if err := makeKey(p.key()); err != nil {
		t.Fatal(err)
	}
	for i := range servers {
		if err := formatServer(p.data(i), i+1); err != nil {
			t.Fatal(err)
		}
		p.start(i)
	}
	t.Cleanup(func() {
		for i := range servers {
			p.kill(i)
		}
	})
	return p
}

func (p *processes) data(i int) string { return filepath.Join(p.dir, nodeOf(i+1)) }

func (p *processes) key() string { return filepath.Join(p.dir, "key") }

func (p *processes) start(i int) {
	p.t.Helper()
	p.said[i] = &bytes.Buffer{}
	cmd := exec.Command(program, "serve", p.data(i), "-server", strconv.Itoa(i+1), "-listen", p.clients[i], "-peers", strings.Join(p.peers, ","), "-key", p.key())
	cmd.Stderr, cmd.SysProcAttr = p.said[i], child.Attributes()
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.running[i] = cmd
}

// kill kills a server as kill -9 does. A server that has ended before fails the test.
func (p *processes) kill(i int) {
	cmd := p.running[i]
	if cmd == nil {
		return
	}
	p.running[i] = nil
	if err := cmd.Process.Kill(); errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("server %d has ended by itself: %s", i+1, p.said[i])
	}
	_ = cmd.Wait()
	if text := p.said[i].String(); text != "" {
		p.t.Errorf("server %d: %s", i+1, text)
	}
}

// client is a connection that speaks the Redis protocol.
type client struct {
	net net.Conn
	in  *bufio.Reader
}

func dial(addr string) (*client, error) {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &client{c, bufio.NewReader(c)}, nil
}

// do sends a command and reads a reply of one value; absent is the null reply.
func (c *client) do(args ...string) (reply string, absent bool, err error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	_ = c.net.SetDeadline(time.Now().Add(60 * time.Second))
	if _, err := c.net.Write(b.Bytes()); err != nil {
		return "", false, err
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		return "", false, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	switch line[0] {
	case '+', ':':
		return line[1:], false, nil
	case '$':
		n, err := strconv.Atoi(line[1:])
		if err != nil || n < 0 {
			return "", true, err
		}
		text := make([]byte, n+2)
		_, err = io.ReadFull(c.in, text)
		return string(text[:n]), false, err
	}
	return "", false, fmt.Errorf("the reply %q", line)
}

// must is do for a command that succeeds once the cluster has a leader. A server that
// does not find one in time says so, and is asked again, except for a DEL: that may have
// taken effect.
func (c *client) must(t *testing.T, want string, args ...string) {
	t.Helper()
	got, absent, err := c.do(args...)
	for begin := time.Now(); err != nil && strings.Contains(err.Error(), noLeaderText) && args[0] != "del" && time.Since(begin) < 2*time.Minute; {
		got, absent, err = c.do(args...)
	}
	if absent {
		got = "nothing"
	}
	if err != nil || got != want {
		t.Fatalf("%v: %q, %v; want %q", args, got, err, want)
	}
}

// op is an operation on a key in a history: kind "get", "set" or "del".
type op struct{ kind, key, val string }

// result is the value that a get has found, or whether a del has found the key.
type result struct {
	val     string
	found   bool
	unknown bool
}

// registers is a map of keys, one at a time.
var registers = porcupine.Model{
	Partition: func(h []porcupine.Operation) [][]porcupine.Operation {
		by := map[string][]porcupine.Operation{}
		for _, o := range h {
			by[o.Input.(op).key] = append(by[o.Input.(op).key], o)
		}
		var out [][]porcupine.Operation
		for _, l := range by {
			out = append(out, l)
		}
		return out
	},
	Init: func() any { return result{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(result), input.(op), output.(result)
		switch in.kind {
		case "set":
			return true, result{val: in.val, found: true}
		case "del":
			return out.unknown || out.found == s.found, result{}
		}
		return out.unknown || out.found == s.found && out.val == s.val, s
	},
}

// history records what clients do, all on one clock.
type history struct {
	begin time.Time
	mu    sync.Mutex
	ops   []porcupine.Operation
	done  int // with a known result
}

// run performs an operation. An operation whose reply is lost may take effect at any
// later time.
func (h *history) run(c *client, who int, o op) error {
	args := []string{o.kind, o.key}
	if o.kind == "set" {
		args = append(args, o.val)
	}
	call := time.Since(h.begin).Nanoseconds()
	reply, absent, err := c.do(args...)
	out, back := result{unknown: true}, int64(math.MaxInt64)
	if err == nil {
		back = time.Since(h.begin).Nanoseconds()
		switch o.kind {
		case "get":
			out = result{val: reply, found: !absent}
		case "del":
			out = result{found: reply == "1"}
		default:
			out = result{}
		}
	} else if o.kind == "get" {
		return err // it has no effect
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: who, Input: o, Call: call, Output: out, Return: back})
	if err == nil {
		h.done++
	}
	return err
}

// load is a client that goes from server to server until stop is closed.
func (h *history) load(p *processes, who int, seed uint64, stop <-chan struct{}) {
	rng := rand.New(rand.NewPCG(seed, uint64(who)))
	var c *client
	for n := 0; ; n++ {
		select {
		case <-stop:
			if c != nil {
				_ = c.net.Close()
			}
			return
		default:
		}
		if c == nil {
			var err error
			if c, err = dial(p.clients[rng.IntN(servers)]); err != nil {
				time.Sleep(10 * time.Millisecond)
				continue
			}
		}
		o := op{kind: "get", key: fmt.Sprintf("k%d", rng.IntN(4))}
		switch rng.IntN(5) {
		case 0, 1:
			o.kind, o.val = "set", fmt.Sprintf("%d.%d", who, n)
		case 2:
			o.kind = "del"
		}
		if h.run(c, who, o) != nil {
			_ = c.net.Close()
			c = nil
		}
	}
}

func (h *history) known() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.done
}

// kills is how often a server is killed: ASHLAR_RAFTKV_KILLS, or 4.
func kills(t *testing.T) int {
	if text := os.Getenv("ASHLAR_RAFTKV_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 4
}

// TestKill: clients write and read while servers are killed with kill -9 and started
// again, one after the other and then all at once. What the clients have seen is
// linearizable, so nothing that was answered is lost, nor done twice.
func TestKill(t *testing.T) {
	p := newProcesses(t)
	h := &history{begin: time.Now()}
	stop := make(chan struct{})
	var all sync.WaitGroup
	const clients = 5
	for who := range clients {
		all.Go(func() { h.load(p, who, 1, stop) })
	}
	// progress waits until clients have done so much more.
	progress := func(n int) {
		t.Helper()
		want := h.known() + n
		for begin := time.Now(); h.known() < want; time.Sleep(time.Millisecond) {
			if time.Since(begin) > 3*time.Minute {
				t.Fatalf("after %d operations the cluster has stopped", h.known())
			}
		}
	}
	progress(30)
	for k := range kills(t) {
		i := k % servers
		p.kill(i)
		progress(20) // by the two others
		p.start(i)
		progress(20)
	}
	for i := range servers {
		p.kill(i)
	}
	for i := range servers {
		p.start(i)
	}
	progress(30)
	close(stop)
	all.Wait()
	if result, _ := porcupine.CheckOperationsVerbose(registers, h.ops, time.Minute); result != porcupine.Ok {
		t.Fatalf("the history of %d operations is not linearizable: %s", len(h.ops), result)
	}
	t.Logf("%d operations, %d with a known result", len(h.ops), h.known())
}

// TestService: what one server has been told, the others know; a command that is not
// supported is an error, and limits are told.
func TestService(t *testing.T) {
	p := newProcesses(t)
	var c [servers]*client
	for i := range servers {
		for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			var err error
			if c[i], err = dial(p.clients[i]); err == nil {
				break
			}
			if time.Since(begin) > time.Minute {
				t.Fatal(err)
			}
		}
		defer c[i].net.Close()
	}
	c[0].must(t, "PONG", "ping")
	c[0].must(t, "nothing", "get", "a")
	binary := "x\x00\xff\r\n"
	c[1].must(t, "OK", "set", "a", binary)
	for i := range servers {
		c[i].must(t, binary, "get", "a")
	}
	c[2].must(t, "1", "del", "a")
	c[2].must(t, "0", "del", "a")
	c[0].must(t, "0", "exists", "a", "b")
	c[0].must(t, "OK", "set", "a", strings.Repeat("v", valueMax))
	c[1].must(t, strings.Repeat("v", valueMax), "get", "a")
	for _, args := range [][]string{{"set", "a", "1", "NX"}, {"mset", "a", "1", "b", "2"}, {"set", strings.Repeat("k", keyMax+1), "v"}, {"incr", "a"}} {
		if reply, _, err := c[0].do(args...); err == nil {
			t.Errorf("%v: %q, want an error", args[0], reply)
		}
	}
	for i := range servers {
		p.kill(i)
	}
}
