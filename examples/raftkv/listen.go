// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar/worm/resp"
)

const (
	// takeWithin is how long a client may accept none of its replies, and sendWithin how
	// long a command may take from its first byte to its last.
	takeWithin = 10 * time.Second
	sendWithin = 20 * time.Second
	// idleMin is how long a client has been idle when the server may close its
	// connection to make room for another.
	idleMin = 10 * time.Second
)

// bounds are what clients may take of a server.
type bounds struct {
	// connections is how many clients there are at once, and host how many of one host.
	connections, host int
	// pending is how many bytes the commands and replies of all clients have together.
	// Beyond it the server reads only from those that have less than share, and makes
	// no reply that is longer.
	pending, share int64
}

// usual are the bounds of a server.
var usual = bounds{connections: 4096, host: 3072, pending: 128 << 20, share: 16 << 10}

// listener speaks the Redis protocol to clients.
type listener struct {
	net     net.Listener
	store   resp.Store
	bounds  bounds
	all     sync.WaitGroup
	pending atomic.Int64

	mu     sync.Mutex
	conns  map[*conn]bool
	hosts  map[string]int // clients of each
	closed bool
}

// listen listens at addr.
func listen(addr string, store resp.Store, b bounds) (*listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	out := &listener{net: l, store: store, bounds: b, conns: map[*conn]bool{}, hosts: map[string]int{}}
	out.all.Go(out.accept)
	return out, nil
}

func (l *listener) accept() {
	for {
		c, err := l.net.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // too many open files, and the like: it passes
			continue
		}
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		l.mu.Lock()
		room, instead := l.room(host, time.Now())
		if l.closed || !room {
			l.mu.Unlock()
			_ = c.Close()
			continue
		}
		k := newConn(l, c, host)
		l.conns[k] = true
		l.hosts[host]++
		l.mu.Unlock()
		if instead != nil {
			instead.end()
		}
		l.all.Go(k.read)
		l.all.Go(k.write)
	}
}

// room reports whether there is room for a client from a host, and which idle one to
// close for it: one of that host if the host has all it may have, and otherwise one of the host
// that has most, the longest idle one first. The caller holds mu.
func (l *listener) room(host string, now time.Time) (ok bool, instead *conn) {
	full := l.hosts[host] >= l.bounds.host
	if !full && len(l.conns) < l.bounds.connections {
		return true, nil
	}
	before := now.Add(-idleMin).UnixNano()
	for k := range l.conns {
		if full && k.host != host || k.load.Load() > 0 || k.active.Load() >= before {
			continue
		}
		if instead == nil || l.hosts[k.host] > l.hosts[instead.host] ||
			l.hosts[k.host] == l.hosts[instead.host] && k.active.Load() < instead.active.Load() {
			instead = k
		}
	}
	return instead != nil, instead
}

// add adds to what is pending, and wakes the clients that wait when it falls below the
// limit.
func (l *listener) add(bytes int64) {
	if all := l.pending.Add(bytes); all > l.bounds.pending || all-bytes <= l.bounds.pending {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.conns {
		poke(k.room)
	}
}

// close ends all connections.
func (l *listener) close() {
	l.mu.Lock()
	l.closed = true
	_ = l.net.Close()
	conns := slices.Collect(maps.Keys(l.conns))
	l.mu.Unlock()
	for _, k := range conns {
		k.end()
	}
	l.all.Wait()
}

// conn is one connection: a goroutine that reads and one that writes.
type conn struct {
	l      *listener
	net    net.Conn
	host   string
	active atomic.Int64  // when bytes last arrived, in nanoseconds since 1970
	load   atomic.Int64  // bytes that are pending
	news   chan struct{} // for the writer: there may be replies
	room   chan struct{} // for the reader: there may be room
	once   sync.Once
	gone   chan struct{}

	mu    sync.Mutex // of what follows
	resp  *resp.Conn
	under int64 // bytes of operations under way
	taken int64 // bytes of replies that the writer is sending
}

func newConn(l *listener, c net.Conn, host string) *conn {
	k := &conn{l: l, net: c, host: host, news: make(chan struct{}, 1), room: make(chan struct{}, 1), gone: make(chan struct{})}
	k.resp = resp.New(k, resp.Limits{Bulk: valueMax, Command: 2 * valueMax, Waiting: 1 << 20, Output: 1 << 20}, k.wake)
	k.active.Store(time.Now().UnixNano())
	return k
}

var errUnread = errors.New("clients have not read as much as the server keeps for them; try again later, or fewer keys")

// Do implements resp.Store. The front calls done from another goroutine, and the
// lock is held here.
func (k *conn) Do(t *resp.Txn, done func(bool, []resp.Result, error)) {
	const operation = 64 // about the memory of one besides its key and value
	bytes := int64(0)
	for _, o := range t.Ops {
		bytes += int64(operation + len(o.Key) + len(o.Value))
	}
	k.under += bytes
	k.l.store.Do(t, func(held bool, results []resp.Result, err error) {
		found := int64(0)
		for i := range results {
			found += int64(len(results[i].Value))
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.under -= bytes
		if found > k.l.bounds.share && k.l.pending.Load() > k.l.bounds.pending {
			results, err = nil, errUnread
		}
		done(held, results, err)
		k.account()
	})
}

// account says what is pending here. The caller holds mu.
func (k *conn) account() {
	load := k.under // also when the client is gone
	select {
	case <-k.gone:
	default:
		load += int64(k.resp.Load()) + k.taken
	}
	k.l.add(load - k.load.Swap(load))
}

// wake is called under the lock.
func (k *conn) wake() {
	k.account()
	poke(k.news)
	poke(k.room)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// input is what the reader asks about the connection.
type input struct {
	full, closing, unfinished bool
	before                    uint64 // commands before the one that is unfinished
	under                     int64
}

// feed passes bytes on, if there are any.
func (k *conn) feed(b []byte) (in input) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(b) > 0 {
		k.resp.Feed(b)
	}
	k.account()
	in.full = k.resp.Full() || k.l.pending.Load() > k.l.bounds.pending && k.load.Load() > k.l.bounds.share
	in.closing, in.under = k.resp.Closing(), k.under
	in.before, in.unfinished = k.resp.Unfinished()
	return in
}

// read passes on what the client sends, while there is room.
func (k *conn) read() {
	b := make([]byte, 16<<10)
	var last input
	for {
		n, err := k.net.Read(b)
		if err != nil {
			k.end()
			return
		}
		k.active.Store(time.Now().UnixNano())
		in, waited := k.feed(b[:n]), false
		poke(k.news)
		for in.full && !in.closing {
			waited = true
			select {
			case <-k.room:
			case <-k.gone:
				return
			case <-time.After(sendWithin):
				if in.unfinished && in.under == 0 {
					k.end() // it has taken what others need, and asks nothing
					return
				}
			}
			in = k.feed(nil)
		}
		switch {
		case in.closing:
			return // the writer ends it
		case in.unfinished && (!last.unfinished || in.before != last.before || waited):
			_ = k.net.SetReadDeadline(time.Now().Add(sendWithin)) // a failure shows at the read
		case !in.unfinished && last.unfinished:
			_ = k.net.SetReadDeadline(time.Time{})
		}
		last = in
	}
}

// write sends the replies.
func (k *conn) write() {
	defer k.end()
	for {
		b, over := k.take()
		if len(b) > 0 {
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

// take takes the replies to send. They count until it is called again.
func (k *conn) take() (b []byte, over bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b, over = k.resp.Take(), k.resp.Closed()
	k.taken = int64(len(b))
	k.account()
	poke(k.room)
	return b, over
}

func (k *conn) end() {
	k.once.Do(func() {
		close(k.gone)
		_ = k.net.Close()
		k.mu.Lock()
		k.resp.Close()
		k.account()
		k.mu.Unlock()
		k.l.mu.Lock()
		defer k.l.mu.Unlock()
		delete(k.l.conns, k)
		if k.l.hosts[k.host]--; k.l.hosts[k.host] == 0 {
			delete(k.l.hosts, k.host)
		}
	})
}
