// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo is the other side: it sends back what it receives.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c) // until the test ends it
			}()
		}
	}()
	return l.Addr().String()
}

func open(t *testing.T, target string) (*Proxy, net.Conn) {
	t.Helper()
	k, err := Open("127.0.0.1", 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	k.Aim(target)
	c, err := net.Dial("tcp", k.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return k, c
}

// say sends a text and expects it back.
func say(t *testing.T, c net.Conn, text []byte) {
	t.Helper()
	go func() { _, _ = c.Write(text) }() // the reader notices if bytes are missing
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, text) {
		t.Fatalf("%v; the same came back: %v", err, bytes.Equal(got, text))
	}
}

// TestWeather: bytes that pass are unchanged, whole or in pieces; nothing passes a black
// hole until it is removed; and a connection that is cut ends.
func TestWeather(t *testing.T) {
	k, c := open(t, echo(t))
	text := bytes.Repeat([]byte("weather "), 1000)
	say(t, c, text)
	k.Set(Faults{Piece: 100, Delay: 10 * time.Microsecond})
	say(t, c, text)

	k.Set(Faults{Blackhole: true})
	if _, err := c.Write([]byte("held")); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if n, err := c.Read(got); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%q, %v through a hole", got[:n], err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	k.Set(Faults{})
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "held" {
		t.Fatalf("%q, %v", got, err)
	}

	k.Set(Faults{Cut: 1})
	if _, err := c.Write(text); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, c); n >= int64(len(text)) {
		t.Errorf("%d bytes came from what is cut, %v", n, err)
	}
	if k.Cuts() == 0 {
		t.Error("no cut was counted")
	}
}

// TestEnds: Reset ends connections, and without a listener none begins.
func TestEnds(t *testing.T) {
	k, c := open(t, echo(t))
	say(t, c, []byte("a"))
	k.Reset()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a byte came after the end")
	}
	_, c = open(t, "")
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a byte came from nobody")
	}
}
