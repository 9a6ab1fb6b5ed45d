// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"net"
	"sync"
	"time"
)

// limits bound the resources of connections. Each of them is a flag of serve.
type limits struct {
	most       int           // connections at once
	perAddress int           // of them, from one address
	idle       time.Duration // a read or a write
	command    time.Duration // a line, from its first byte to its end
	session    time.Duration // a connection
	stall      time.Duration // without a whole line, after which a newcomer may take the place
}

// A listener holds a bounded number of connections. If there is no place for a
// new one, another is closed: the client that has kept the server waiting
// longest, if it has stalled; otherwise the oldest of the address with the
// most, if that has more than the newcomer's address would have. If there is
// neither, the newcomer waits if its address has no connection, and is refused
// otherwise; it is also refused if its address has its share. So clients that
// only hold connections cannot keep out others. If one address may have every
// place, as behind a proxy, all wait and none is refused.
type listener struct {
	net.Listener
	limits
	refusal string // sent to a refused client, a line of the protocol
	ended   chan struct{}
	once    sync.Once

	mu   sync.Mutex
	open map[*conn]bool
	left chan struct{} // has an element after a connection has gone
}

func listen(address string, l limits, refusal string) (*listener, error) {
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &listener{
		Listener: socket, limits: l, refusal: refusal,
		ended: make(chan struct{}), open: map[*conn]bool{}, left: make(chan struct{}, 1),
	}, nil
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		socket, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		now := time.Now()
		c := &conn{Conn: socket, from: l, begun: now, progress: now, address: hostOf(socket.RemoteAddr())}
		for {
			taken, refused, victim := l.admit(c)
			if taken {
				return c, nil
			}
			if refused {
				// The first output fits into the socket's buffer.
				_ = socket.SetDeadline(now.Add(time.Second))
				fmt.Fprintf(socket, "%s\r\n", l.refusal)
				socket.Close()
				break
			}
			if victim != nil {
				victim.Close()
				continue
			}
			select {
			case <-l.left:
			case <-time.After(min(l.stall, time.Second)): // a client may have stalled
			case <-l.ended:
				socket.Close()
				return nil, net.ErrClosed
			}
		}
	}
}

// admit takes a connection, reports that it is refused, or returns the one that
// must be closed first.
func (l *listener) admit(c *conn) (taken, refused bool, victim *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	counts := map[string]int{}
	var stalled, stalledHere *conn
	for o := range l.open {
		counts[o.address]++
		if since, waits := o.waiting(); waits && now.Sub(since) >= l.stall {
			if stalled == nil || since.Before(stalled.since()) {
				stalled = o
			}
			if o.address == c.address && (stalledHere == nil || since.Before(stalledHere.since())) {
				stalledHere = o
			}
		}
	}
	switch {
	case l.perAddress < l.most && counts[c.address] >= l.perAddress:
		return false, stalledHere == nil, stalledHere
	case len(l.open) < l.most:
		l.open[c] = true
		return true, false, nil
	case stalled != nil:
		return false, false, stalled
	}
	for o := range l.open {
		if counts[o.address] <= counts[c.address]+1 {
			continue
		}
		if victim == nil || counts[o.address] > counts[victim.address] ||
			counts[o.address] == counts[victim.address] && o.begun.Before(victim.begun) {
			victim = o
		}
	}
	return false, victim == nil && l.perAddress < l.most && counts[c.address] > 0, victim
}

// hostOf is an address without its port.
func hostOf(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}

// Close implements net.Listener. Connections stay open.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.ended) })
	return l.Listener.Close()
}

// cut closes the connections.
func (l *listener) cut() {
	l.mu.Lock()
	open := make([]*conn, 0, len(l.open))
	for c := range l.open {
		open = append(open, c)
	}
	l.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
}

// conn is a connection of a listener.
type conn struct {
	net.Conn
	from    *listener
	address string
	begun   time.Time
	once    sync.Once

	mu       sync.Mutex
	progress time.Time // of the last whole line that came, or write that went
	line     time.Time // when the line that is under way began, or zero
	waits    bool      // for the client, and not the client for us
}

// waiting reports whether the server waits for the client, and since when the
// client has neither sent a whole line nor taken a whole write.
func (c *conn) waiting() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.progress, c.waits
}

func (c *conn) since() time.Time {
	at, _ := c.waiting()
	return at
}

// begin returns when a read or write that begins now must be over.
func (c *conn) begin(reads bool) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.waits {
		// The time that the server took to answer does not count against the
		// client.
		c.waits, c.progress = true, now
	}
	end := now.Add(c.from.idle)
	if over := c.begun.Add(c.from.session); over.Before(end) {
		end = over
	}
	if over := c.line.Add(c.from.command); reads && !c.line.IsZero() && over.Before(end) {
		end = over
	}
	return end
}

// Read implements net.Conn, and fails if it, a line, or the connection takes too long.
func (c *conn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(c.begin(true)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	// Until a line is whole, the server only reads on.
	if end := bytes.LastIndexByte(b[:n], '\n'); end >= 0 {
		c.progress, c.waits, c.line = now, false, time.Time{}
		if end+1 < n {
			c.line = now
		}
	} else if n > 0 && c.line.IsZero() {
		c.line = now
	}
	return n, err
}

// Write implements net.Conn, and fails if it or the connection takes too long.
func (c *conn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(c.begin(false)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress, c.waits = time.Now(), false
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.from.mu.Lock()
		delete(c.from.open, c)
		c.from.mu.Unlock()
		select {
		case c.from.left <- struct{}{}:
		default:
		}
	})
	return c.Conn.Close()
}
