// SPDX-License-Identifier: Apache-2.0

package resp

import (
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// serve is a server on loopback, for the tools of Redis.
func serve(t *testing.T) (port string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	m := newMemory()
	open := map[net.Conn]bool{}
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[conn] = true
			mu.Unlock()
			all.Go(func() {
				defer conn.Close()
				c := New(m, Limits{}, func() {})
				b := make([]byte, 16<<10)
				for {
					n, err := conn.Read(b)
					if err != nil {
						return
					}
					mu.Lock()
					c.Feed(b[:n])
					out, over := c.Take(), c.Closed()
					mu.Unlock()
					if _, err := conn.Write(out); err != nil || over {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed: %v", name, err)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func TestRedisBenchmark(t *testing.T) {
	port := serve(t)
	out := tool(t, "redis-benchmark", "-p", port, "-t", "ping,set,get,incr,mset", "-n", "3000", "-c", "8", "-P", "8", "-r", "100", "-q")
	for _, want := range []string{"PING_INLINE", "SET", "GET", "INCR", "MSET"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if strings.Contains(strings.ToLower(out), "error") || strings.Contains(out, "WARNING") {
		t.Errorf("redis-benchmark complains:\n%s", out)
	}
}

func TestRedisCli(t *testing.T) {
	port := serve(t)
	for _, c := range []struct{ proto, command, want string }{
		{"-2", "SET a 1", "OK"}, {"-2", "INCR a", "2"}, {"-2", "GET a", "2"}, {"-2", "GET none", ""},
		{"-3", "MGET a none", "2\n"}, {"-3", "GET none", ""}, {"-3", "NOSUCH", "ERR unknown command 'NOSUCH'"},
	} {
		args := append([]string{"-p", port, c.proto}, strings.Fields(c.command)...)
		if got := strings.TrimSpace(tool(t, "redis-cli", args...)); got != strings.TrimSpace(c.want) {
			t.Errorf("redis-cli %s: got %q, want %q", c.command, got, c.want)
		}
	}
}
