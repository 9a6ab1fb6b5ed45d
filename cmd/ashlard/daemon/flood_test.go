// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rss is the memory of a process that is resident, in bytes, as the system says.
func (s *server) rss(t testing.TB) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		t.Skipf("the system does not say how much memory a process takes: %v", err)
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

// flood opens connections and sends to each, in a goroutine, until it takes no more.
type flood struct {
	conns []net.Conn
	ended chan bool
}

func flooding(t testing.TB, addr string, n int, first, piece []byte, pieces int) *flood {
	f := &flood{ended: make(chan bool, n)}
	for range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		f.conns = append(f.conns, c)
		go func() {
			defer func() { f.ended <- true }()
			_ = c.SetWriteDeadline(time.Now().Add(20 * time.Second))
			if _, err := c.Write(first); err != nil {
				return
			}
			for range pieces {
				if _, err := c.Write(piece); err != nil {
					return
				}
			}
		}()
	}
	t.Cleanup(f.stop)
	return f
}

func (f *flood) stop() {
	for _, c := range f.conns {
		c.Close()
	}
}

// calm is that a client is served, and how much memory the server took meanwhile at
// most.
func (s *server) calm(t testing.TB, k *talk, over <-chan bool, n int) (most int64) {
	t.Helper()
	for i, left := 0, n; left > 0; i++ {
		if got := k.ask("SET calm %d", i); got != "+OK" {
			t.Fatalf("a client meanwhile: %s", got)
		}
		most = max(most, s.rss(t))
		select {
		case <-over:
			left--
		case <-time.After(20 * time.Millisecond):
		}
	}
	return most
}

// TestUnfinishedFrames sends, on each of 96 connections, a frame of 8 MiB but for its
// last byte: 768 MiB in sum. The server keeps a bounded part of them, ends the
// others, and serves a client meanwhile. What was kept it ends in time.
func TestUnfinishedFrames(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3)
	s := f.servers[0]
	k := talkTo(t, s.keys)
	becomes(t, "the keys", func() (string, bool) { got := k.ask("SET a 1"); return got, got == "+OK" })
	before := s.rss(t)

	// The first bytes of a frame are its length and, of this protocol, its version.
	// What is behind a hello may have 8 MiB.
	const size = 8 << 20
	var head []byte
	d := f.described()
	head = append(head, strangeHello(false, d.cluster, 99, d.ids[0], 0, 0)...)
	head = binary.LittleEndian.AppendUint32(head, size-4)
	head = append(head, 1, 2)
	piece := make([]byte, 64<<10)
	attack := flooding(t, s.addr, 96, head, piece, size/len(piece)-1)
	most := s.calm(t, k, attack.ended, 96)
	t.Logf("resident: %d MB before, at most %d MB", before>>20, most>>20)
	if grown := most - before; grown > 400<<20 {
		t.Errorf("%d MB of unfinished frames are kept, of 768 MB", grown>>20)
	}
	open, end := 0, time.Now().Add(45*time.Second)
	for _, c := range attack.conns {
		_ = c.SetReadDeadline(end)
		if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
			open++
		}
	}
	if open > 0 {
		t.Errorf("%d connections with a frame that was never finished are open", open)
	}
}

// TestFloodOfCommands has a majority away, so that nothing gets on, and sends a
// gigabyte of commands on 64 connections of Redis without reading a reply.
func TestFloodOfCommands(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3)
	s := f.servers[0]
	k := talkTo(t, s.keys)
	becomes(t, "the keys", func() (string, bool) { got := k.ask("SET a 1"); return got, got == "+OK" })
	f.servers[1].Kill()
	f.servers[2].Kill()
	before := s.rss(t)
	value := strings.Repeat("x", 512<<10)
	command := fmt.Appendf(nil, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%s\r\n", len(value), value)
	attack := flooding(t, s.keys, 64, nil, command, 32)
	most := int64(0)
	for left := 64; left > 0; {
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
	t.Logf("resident: %d MB before, at most %d MB", before>>20, most>>20)
	if grown := most - before; grown > 700<<20 {
		t.Errorf("%d MB of commands are kept, of a gigabyte", grown>>20)
	}
}

// TestIdleConnectionsMakeRoom takes all connections of the port of Redis, and says
// nothing; one that sends a byte now and then of a command that never ends is ended.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, "--connections-max", "8")
	s := f.servers[0]
	busy := talkTo(t, s.keys)
	becomes(t, "the keys", func() (string, bool) { got := busy.ask("SET a 1"); return got, got == "+OK" })
	slow, err := net.Dial("tcp", s.keys)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	ended := make(chan time.Duration, 1)
	go func() {
		began := time.Now()
		for {
			if _, err := slow.Write([]byte("x")); err != nil {
				ended <- time.Since(began)
				return
			}
			time.Sleep(500 * time.Millisecond)
		}
	}()
	for range 8 {
		c, err := net.Dial("tcp", s.keys)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	becomes(t, "a client while all connections are taken", func() (string, bool) {
		busy.ask("SET a 1")                    // it is not idle
		silent, err := net.Dial("tcp", s.keys) // takes the place of one that was ended for another reason
		if err != nil {
			return err.Error(), false
		}
		t.Cleanup(func() { silent.Close() })
		c, err := net.Dial("tcp", s.keys)
		if err != nil {
			return err.Error(), false
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := c.Write([]byte("GET a\r\n")); err != nil {
			return err.Error(), false
		}
		b := make([]byte, 16)
		n, err := c.Read(b)
		return fmt.Sprint(string(b[:n]), err), string(b[:n]) == "$1\r\n1\r\n"
	})
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("a command that never ends is waited for")
	}
}
