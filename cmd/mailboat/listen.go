package main

import (
	"net"
	"sync"
	"time"
)

// listener takes so many connections at once, and lets others wait to be taken.
// It knows those that are open.
type listener struct {
	net.Listener
	idle  time.Duration // how long a read or a write may take
	slots chan struct{}
	ended chan struct{}
	once  sync.Once

	mu   sync.Mutex
	open map[*conn]bool
}

func listen(address string, most int, idle time.Duration) (*listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &listener{
		Listener: l, idle: idle, slots: make(chan struct{}, most),
		ended: make(chan struct{}), open: map[*conn]bool{},
	}, nil
}

// Accept is net.Listener's.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.ended:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	tracked := &conn{Conn: c, from: l}
	l.mu.Lock()
	l.open[tracked] = true
	l.mu.Unlock()
	return tracked, nil
}

// Close is net.Listener's. Connections stay open.
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
	from *listener
	once sync.Once
}

// Read is net.Conn's, and fails if it takes too long.
func (c *conn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.from.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// Write is net.Conn's, and fails if it takes too long.
func (c *conn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.from.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// Close is net.Conn's.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.from.mu.Lock()
		delete(c.from.open, c)
		c.from.mu.Unlock()
		<-c.from.slots
	})
	return c.Conn.Close()
}
