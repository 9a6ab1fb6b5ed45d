// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"strings"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/worm/resp"
)

// connectionsMax is how many clients a server has at once. takeWithin is how long a
// client may accept none of its replies.
const (
	connectionsMax = 4096
	takeWithin     = 10 * time.Second
)

// listener speaks the Redis protocol to clients.
type listener struct {
	net   net.Listener
	store resp.Store
	all   sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]bool
	closed bool
}

// listen listens at addr; an address without a host is on loopback.
func listen(addr string, store resp.Store) (*listener, error) {
	if strings.HasPrefix(addr, ":") {
		addr = "127.0.0.1" + addr
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	out := &listener{net: l, store: store, conns: map[net.Conn]bool{}}
	out.all.Go(out.accept)
	return out, nil
}

func (l *listener) accept() {
	for {
		c, err := l.net.Accept()
		if err != nil {
			l.mu.Lock()
			closed := l.closed
			l.mu.Unlock()
			if closed {
				return
			}
			time.Sleep(10 * time.Millisecond) // too many open files, and the like: it passes
			continue
		}
		l.mu.Lock()
		if l.closed || len(l.conns) >= connectionsMax {
			l.mu.Unlock()
			_ = c.Close()
			continue
		}
		l.conns[c] = true
		l.mu.Unlock()
		k := &conn{l: l, net: c, news: make(chan struct{}, 1), room: make(chan struct{}, 1), gone: make(chan struct{})}
		k.resp = resp.New(k, resp.Limits{Bulk: valueMax, Command: 2 * valueMax, Waiting: 1 << 20, Output: 1 << 20}, k.wake)
		l.all.Go(k.read)
		l.all.Go(k.write)
	}
}

// close ends all connections.
func (l *listener) close() {
	l.mu.Lock()
	l.closed = true
	_ = l.net.Close()
	for c := range l.conns {
		_ = c.Close()
	}
	l.mu.Unlock()
	l.all.Wait()
}

// conn is one connection: a goroutine that reads and one that writes.
type conn struct {
	l    *listener
	net  net.Conn
	news chan struct{} // for the writer: there may be replies
	room chan struct{} // for the reader: there may be room
	once sync.Once
	gone chan struct{}

	mu   sync.Mutex // of resp
	resp *resp.Conn
}

// Do implements resp.Store. The front calls done from another goroutine, and the
// lock is held here.
func (k *conn) Do(t *resp.Txn, done func(bool, []resp.Result, error)) {
	k.l.store.Do(t, func(held bool, results []resp.Result, err error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		done(held, results, err)
	})
}

// wake is called under the lock.
func (k *conn) wake() {
	poke(k.news)
	poke(k.room)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// read passes on what the client sends, while there is room.
func (k *conn) read() {
	b := make([]byte, 16<<10)
	for {
		n, err := k.net.Read(b)
		if err != nil {
			k.end()
			return
		}
		k.mu.Lock()
		k.resp.Feed(b[:n])
		full, closing := k.resp.Full(), k.resp.Closing()
		k.mu.Unlock()
		poke(k.news)
		for full && !closing {
			select {
			case <-k.room:
			case <-k.gone:
				return
			}
			k.mu.Lock()
			full, closing = k.resp.Full(), k.resp.Closing()
			k.mu.Unlock()
		}
		if closing {
			return // the writer ends it
		}
	}
}

// write sends the replies.
func (k *conn) write() {
	defer k.end()
	for {
		k.mu.Lock()
		b, over := k.resp.Take(), k.resp.Closed()
		k.mu.Unlock()
		if len(b) > 0 {
			poke(k.room)
			_ = k.net.SetWriteDeadline(time.Now().Add(takeWithin)) // a failure shows at the write
			if _, err := k.net.Write(b); err != nil {
				return
			}
			continue
		}
		if over {
			return
		}
		select {
		case <-k.news:
		case <-k.gone:
			return
		}
	}
}

func (k *conn) end() {
	k.once.Do(func() {
		close(k.gone)
		_ = k.net.Close()
		k.mu.Lock()
		k.resp.Close()
		k.mu.Unlock()
		k.l.mu.Lock()
		delete(k.l.conns, k.net)
		k.l.mu.Unlock()
	})
}
