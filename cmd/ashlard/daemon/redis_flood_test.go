// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// TestLongMulti: a MULTI takes so many commands and bytes, and not one more. What
// is refused discards it, and the connection goes on.
func TestLongMulti(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3)
	k := talkTo(t, f.servers[0].keys)
	becomes(t, "the keys", func() (string, bool) { got := k.ask("SET a 1"); return got, got == "+OK" })
	begin := func() {
		t.Helper()
		if got := k.ask("MULTI"); got != "+OK" {
			t.Fatalf("MULTI: %s", got)
		}
	}
	discarded := func(what, refusal, limit string) {
		t.Helper()
		if !strings.HasPrefix(refusal, "-ERR") || !strings.Contains(refusal, limit) {
			t.Errorf("%s: %.100s, want a refusal that names %s", what, refusal, limit)
		}
		if got := k.ask("EXEC"); !strings.HasPrefix(got, "-EXECABORT") {
			t.Errorf("%s, EXEC: %.100s", what, got)
		}
		if got := k.ask("GET a"); got != "1" {
			t.Errorf("%s, afterwards: %.100s", what, got)
		}
	}
	const most = 1024
	begin()
	for i := range most {
		if got := k.ask("INCR b"); got != "+QUEUED" {
			t.Fatalf("command %d: %s", i, got)
		}
	}
	discarded("a command more", k.ask("SET a 2"), "1024 commands")
	if got := k.ask("GET b"); got != "$-1" {
		t.Errorf("of a MULTI that was discarded %s is done", got)
	}
	begin()
	long := strings.Repeat("x", 400<<10)
	for range 2 {
		if got := k.ask("*3\r\n$3\r\nSET\r\n$1\r\nc\r\n$%d\r\n%s", len(long), long); got != "+QUEUED" {
			t.Fatalf("800 KiB: %s", got)
		}
	}
	discarded("more than 1 MiB", k.ask("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$%d\r\n%s", len(long), long), "1048576 bytes")
	begin()
	for range most {
		if got := k.ask("INCR b"); got != "+QUEUED" {
			t.Fatalf("a MULTI of the greatest length: %s", got)
		}
	}
	if got := k.ask("EXEC"); got != "*1024" {
		t.Errorf("a MULTI of the greatest length: %s", got)
	}
}

// TestOneHostTakesItsPart: one host opens more connections than it may have, and
// on each begins a command, so that none is idle. It never has more than three
// quarters of all, and keeps these; another host is served at once.
func TestOneHostTakesItsPart(t *testing.T) {
	t.Parallel()
	const all, part = 8, 6
	f := newFleet(t, 3, "--connections-max", "8")
	s := f.servers[0]
	dial := func(from string) net.Conn {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.Dial("tcp", s.keys)
		if err != nil {
			t.Skipf("this system has no other loopback addresses: %v", err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	// answers reports whether the server answers so on a connection, and has not
	// ended it instead.
	answers := func(c net.Conn, want string) bool {
		t.Helper()
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
		b := make([]byte, len(want))
		if _, err := io.ReadFull(c, b); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("a connection is neither answered nor ended")
		}
		return string(b) == want
	}
	probe := dial("127.0.0.9")
	becomes(t, "the server", func() (string, bool) {
		_, _ = probe.Write([]byte("PING\r\n"))
		_ = probe.SetReadDeadline(time.Now().Add(time.Second))
		b := make([]byte, 16)
		n, _ := probe.Read(b)
		return string(b[:n]), strings.Contains(string(b[:n]), "PONG")
	})
	probe.Close()
	var kept []net.Conn
	becomes(t, "the connections of one host", func() (string, bool) {
		kept = nil
		var mine []net.Conn
		for range all {
			c := dial("127.0.0.2")
			_, _ = c.Write([]byte("PING\r\nSET a"))
			mine = append(mine, c)
		}
		for _, c := range mine {
			if answers(c, "+PONG\r\n") {
				kept = append(kept, c)
			}
		}
		if len(kept) > part {
			t.Fatalf("one host has %d connections of %d, at most %d", len(kept), all, part)
		}
		if len(kept) == part {
			return "", true
		}
		for _, c := range mine { // some of the last round still count
			c.Close()
		}
		return fmt.Sprintf("%d are kept", len(kept)), false
	})
	for range all - part {
		c := dial("127.0.0.3")
		_, _ = c.Write([]byte("PING\r\n"))
		if !answers(c, "+PONG\r\n") {
			t.Fatal("another host is not answered")
		}
	}
	for i, c := range kept {
		_, _ = c.Write([]byte(" 1\r\n"))
		if !answers(c, "+OK\r\n") {
			t.Errorf("connection %d of %d has ended", i+1, part)
		}
	}
}

// TestSumOfCommands has a majority away, so that nothing gets on, and sends on each
// of 200 connections of Redis less than one may have waiting: 750 MiB in sum. The
// server reads no more of it than docs/worm.md says, and serves a client meanwhile.
func TestSumOfCommands(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3)
	s := f.servers[0]
	k := talkTo(t, s.keys)
	becomes(t, "the keys", func() (string, bool) { got := k.ask("SET a 1"); return got, got == "+OK" })
	f.servers[1].Kill()
	f.servers[2].Kill()
	before := s.rss(t)
	const conns, size, commands = 200, 64 << 10, 60
	command := fmt.Appendf(nil, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%s\r\n", size, strings.Repeat("x", size))
	attack := flooding(t, s.keys, conns, nil, command, commands)
	most := int64(0)
	for left := conns; left > 0; {
		if got := k.ask("PING"); got != "+PONG" {
			t.Fatalf("a client meanwhile: %s", got)
		}
		most = max(most, s.rss(t))
		select {
		case <-attack.ended:
			left--
		case <-time.After(20 * time.Millisecond):
		}
	}
	sent := int64(conns*commands) * int64(len(command))
	t.Logf("resident: %d MB before, at most %d MB; %d MB are sent", before>>20, most>>20, sent>>20)
	// What waits on all connections, twice, since the collector begins when the heap
	// has doubled; and what connections and commands under way take besides.
	const limit, besides = 128 << 20, 160 << 20
	if grown := most - before; grown > 2*limit+besides {
		t.Errorf("%d MB of commands are kept, of %d MB: want at most %d MB", grown>>20, sent>>20, (2*limit+besides)>>20)
	}
}
