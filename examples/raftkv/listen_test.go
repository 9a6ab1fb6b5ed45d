// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/worm/resp"
)

// silent is a store that never answers.
type silent struct{}

func (silent) Do(*resp.Txn, func(bool, []resp.Result, error)) {}

// large is a store in which each key has the same value.
type large []byte

func (v large) Do(_ *resp.Txn, done func(bool, []resp.Result, error)) {
	go done(true, []resp.Result{{Done: true, Found: true, Value: v}}, nil)
}

func listening(t *testing.T, store resp.Store, b bounds) *listener {
	t.Helper()
	l, err := listen("127.0.0.1:0", store, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l
}

func pinged(t *testing.T, l *listener) *client {
	t.Helper()
	c, err := dial(l.net.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.net.Close() })
	c.must(t, "PONG", "ping")
	return c
}

// TestListenerMakesRoom: when there are as many clients as there may be, one that is idle
// gives its place to a new one, and without an idle one the new one is closed.
func TestListenerMakesRoom(t *testing.T) {
	l := listening(t, silent{}, bounds{connections: 2, host: 2, pending: 1 << 20, share: 1 << 10})
	idle, busy := pinged(t, l), pinged(t, l)
	l.mu.Lock()
	for k := range l.conns {
		for k.load.Load() > 0 { // the writer has not come back from sending the reply
			time.Sleep(time.Millisecond)
		}
		if k.net.RemoteAddr().String() == idle.net.LocalAddr().String() {
			k.active.Store(0)
		}
	}
	l.mu.Unlock()
	pinged(t, l)
	if _, _, err := idle.do("ping"); err == nil {
		t.Error("the idle client is still there")
	}
	busy.must(t, "PONG", "ping")
	c, err := dial(l.net.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.net.Close()
	if _, _, err := c.do("ping"); err == nil {
		t.Error("there is a third client where two are allowed")
	}
}

// TestListenerBoundsPending: clients that send without end, and get no answers, take no
// more memory together than they may, and a client that takes little is served.
func TestListenerBoundsPending(t *testing.T) {
	const senders, slack = 8, 160 << 10 // slack: a command that the last read completes, twice
	b := bounds{connections: 100, host: 100, pending: 256 << 10, share: 16 << 10}
	l := listening(t, silent{}, b)
	value := strings.Repeat("v", 60<<10)
	set := fmt.Appendf(nil, "*3\r\n$3\r\nset\r\n$1\r\nk\r\n$%d\r\n%s\r\n", len(value), value)
	for range senders {
		c, err := net.Dial("tcp", l.net.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go func() { _, _ = c.Write(bytes.Repeat(set, 40)) }() // until it is closed
	}
	for begin := time.Now(); l.pending.Load() <= b.pending; time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatalf("%d bytes are pending", l.pending.Load())
		}
	}
	small := pinged(t, l)
	for range 200 {
		small.must(t, "PONG", "ping")
		if n := l.pending.Load(); n > b.pending+senders*slack {
			t.Fatalf("%d bytes are pending, of %d that may be", n, b.pending)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestListenerBoundsReplies: while a client does not read a long reply, others get short
// ones only.
func TestListenerBoundsReplies(t *testing.T) {
	const size = 16 << 20 // more than the system keeps for a connection
	l := listening(t, make(large, size), bounds{connections: 100, host: 100, pending: 1 << 20, share: 16 << 10})
	slow := pinged(t, l)
	if err := slow.net.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := slow.net.Write([]byte("get k\r\n")); err != nil {
		t.Fatal(err)
	}
	if b, err := slow.in.Peek(1); err != nil || b[0] != '$' {
		t.Fatalf("the reply begins with %q, %v", b, err)
	}
	other := pinged(t, l)
	if reply, _, err := other.do("get", "k"); err == nil || !strings.Contains(err.Error(), errUnread.Error()) {
		t.Errorf("while a client does not read, another one gets %d bytes, %v", len(reply), err)
	}
	other.must(t, "PONG", "ping")
	_ = slow.net.Close()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		reply, _, err := other.do("get", "k")
		if err == nil && len(reply) == size {
			return
		}
		if time.Since(begin) > time.Minute {
			t.Fatalf("when it has gone, the other one gets %d bytes, %v", len(reply), err)
		}
	}
}

// TestKey: a key is made once, and a file that is none is refused.
func TestKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := makeKey(path); err != nil {
		t.Fatal(err)
	}
	key, err := readKey(path)
	if err != nil || len(key) < keyFileMin {
		t.Fatalf("%q, %v", key, err)
	}
	if makeKey(path) == nil {
		t.Error("a key was written over another one")
	}
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := readKey(path); err == nil {
		t.Errorf("the key %q was read", key)
	}
}
