// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar/worm/resp"
)

// front speaks the Redis protocol to clients of the key-value store. Each
// connection has one goroutine that reads and one that writes. The state
// between the two belongs to the Serial of the applications.
type front struct {
	apps     *apps
	listener net.Listener
	max      int
	load     atomic.Int64 // bytes that wait on all connections

	mu      sync.Mutex
	conns   map[*frontConn]bool
	hosts   map[string]int // connections of each
	closing bool
	turned  uint64 // connections for which there was no room
	done    sync.WaitGroup
}

const (
	// takeWithin is how long a client may accept none of its replies.
	// sendWithin is how long a command may take from its first byte to its
	// last.
	takeWithin, sendWithin = 10 * time.Second, 20 * time.Second
	// idleMin is how long a connection must have been idle before the server may
	// close it to make room for another.
	idleMin = 10 * time.Second
	// frontBytesMax bounds the pending bytes of all connections. Beyond it the
	// server reads only from connections with less than frontShare pending.
	frontBytesMax, frontShare = 128 << 20, 32 << 10
)

func listenKV(addr string, security *tls.Config, max int, a *apps) (*front, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	if security != nil {
		l = tls.NewListener(l, security)
	}
	f := &front{apps: a, listener: l, max: max, conns: map[*frontConn]bool{}, hosts: map[string]int{}}
	f.done.Go(f.accept)
	return f, nil
}

func (f *front) addr() string { return f.listener.Addr().String() }

func (f *front) accept() {
	wait := 5 * time.Millisecond
	for {
		c, err := f.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, and the like: it passes
			time.Sleep(wait)
			wait = min(2*wait, time.Second)
			continue
		}
		wait = 5 * time.Millisecond
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		f.mu.Lock()
		room, instead := f.room(host)
		if f.closing || !room {
			f.turned++
			f.mu.Unlock()
			_ = c.Close()
			continue
		}
		k := f.newConn(c, host)
		f.conns[k] = true
		f.hosts[host]++
		f.done.Add(2)
		f.mu.Unlock()
		if instead != nil {
			instead.end()
		}
		go k.read()
		go k.write()
	}
}

// room reports whether there is room for a connection from a host, and which idle
// connection to close for it: one of that host if the host has three quarters of
// all connections, and otherwise one of the host that has most. The caller holds
// mu.
func (f *front) room(host string) (ok bool, instead *frontConn) {
	full := f.hosts[host] >= f.max-f.max/4
	if !full && len(f.conns) < f.max {
		return true, nil
	}
	before := time.Now().Add(-idleMin).UnixNano()
	better := func(k, than *frontConn) bool {
		switch {
		case than == nil:
			return true
		case f.hosts[k.host] != f.hosts[than.host]:
			return f.hosts[k.host] > f.hosts[than.host]
		}
		return k.active.Load() < than.active.Load()
	}
	for k := range f.conns {
		if (!full || k.host == host) && k.idle.Load() && k.active.Load() < before && better(k, instead) {
			instead = k
		}
	}
	return instead != nil, instead
}

// count returns the number of open connections and of refused ones.
func (f *front) count() (open int, turned uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns), f.turned
}

// frontConn is one connection.
type frontConn struct {
	f    *front
	net  net.Conn
	host string
	resp *resp.Conn
	// active is the time at which data last arrived, in nanoseconds since 1970.
	// idle is set while nothing is pending, and load is the number of pending
	// bytes.
	active atomic.Int64
	idle   atomic.Bool
	load   atomic.Int64
	// news wakes the writer when there may be replies to take; room wakes the
	// reader when there may be room for more input.
	news, room chan struct{}
	gone       chan struct{}
	end        func()
	// These fields belong to the Serial: the number of requests under way, and
	// whether reading has stopped.
	under   int
	leaving bool
}

// Do implements resp.Store.
func (k *frontConn) Do(t *resp.Txn, done func(bool, []resp.Result, error)) {
	bytes := int64(0)
	for i := range t.Ops {
		bytes += int64(len(t.Ops[i].Key) + len(t.Ops[i].Value))
	}
	k.under++
	k.f.add(bytes) // also when the connection is gone
	k.f.apps.Do(t, func(held bool, results []resp.Result, err error) {
		k.under--
		k.f.add(-bytes)
		done(held, results, err)
	})
}

// over reports whether nothing is left to be sent.
func (k *frontConn) over() bool { return k.resp.Closed() || k.leaving && k.under == 0 }

// account updates the sum of pending bytes. It must be called in the Serial.
func (k *frontConn) account() {
	load := int64(k.resp.Load())
	select {
	case <-k.gone:
		load = 0
	default:
	}
	before := k.load.Swap(load)
	k.idle.Store(load == 0 && k.under == 0)
	k.f.add(load - before)
}

// add adds to the sum of pending bytes, and wakes the waiting connections when it falls
// below the limit.
func (f *front) add(bytes int64) {
	if all := f.load.Add(bytes); all > frontBytesMax || all-bytes <= frontBytesMax {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for k := range f.conns { // in any order: each looks for itself
		poke(k.room)
	}
}

// full reports whether the server must not read from this connection now.
func (k *frontConn) full() bool {
	return k.resp.Full() || k.f.load.Load() > frontBytesMax && k.load.Load() > frontShare
}

func (f *front) newConn(c net.Conn, host string) *frontConn {
	k := &frontConn{f: f, net: c, host: host, news: make(chan struct{}, 1), room: make(chan struct{}, 1), gone: make(chan struct{})}
	k.end = sync.OnceFunc(func() {
		close(k.gone)
		_ = c.Close()
		f.apps.serial.Do(func() {
			k.resp.Close()
			k.account()
		})
		f.mu.Lock()
		delete(f.conns, k)
		if f.hosts[host]--; f.hosts[host] == 0 {
			delete(f.hosts, host)
		}
		f.mu.Unlock()
	})
	k.active.Store(time.Now().UnixNano())
	k.idle.Store(true)
	k.resp = resp.New(k, resp.Limits{}, func() {
		k.account()
		poke(k.news)
		poke(k.room)
	})
	return k
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// read passes received bytes to the protocol while there is room. A command must
// arrive completely within sendWithin of its first byte.
func (k *frontConn) read() {
	defer k.f.done.Done()
	b := make([]byte, 16<<10)
	type state struct {
		full, closing, unfinished bool
		before                    uint64 // commands before the one that is unfinished
	}
	fed := make(chan state, 1)
	look := func() {
		k.account()
		s := state{full: k.full(), closing: k.resp.Closing()}
		s.before, s.unfinished = k.resp.Unfinished()
		fed <- s
	}
	var last state
	for {
		n, err := k.net.Read(b)
		if n > 0 {
			k.active.Store(time.Now().UnixNano())
			k.f.apps.serial.Do(func() {
				k.resp.Feed(b[:n])
				look()
			})
			s := <-fed
			poke(k.news)
			waited := false
			for s.full && !s.closing {
				waited = true
				select {
				case <-k.room:
				case <-k.gone:
					return
				}
				k.f.apps.serial.Do(look)
				s = <-fed
			}
			if s.closing {
				return // the writer ends it
			}
			if s.unfinished != last.unfinished || s.unfinished && (s.before != last.before || waited) {
				k.patience(s.unfinished)
			}
			last = s
		}
		switch {
		case err == nil:
		case k.f.isClosing():
			k.f.apps.serial.Do(func() { k.leaving = true })
			poke(k.news)
			return // the writer ends it
		default:
			k.end()
			return
		}
	}
}

// patience sets the deadline for the rest of a command that has begun to
// arrive.
func (k *frontConn) patience(unfinished bool) {
	k.f.mu.Lock()
	defer k.f.mu.Unlock()
	switch {
	case k.f.closing: // it reads no more
	case unfinished:
		_ = k.net.SetReadDeadline(time.Now().Add(sendWithin)) // a failure shows at the read
	default:
		_ = k.net.SetReadDeadline(time.Time{})
	}
}

// write sends the replies.
func (k *frontConn) write() {
	defer k.f.done.Done()
	defer k.end()
	type state struct {
		b    []byte
		over bool
	}
	taken := make(chan state, 1)
	for {
		select {
		case <-k.news:
		case <-k.gone:
			return
		}
		for {
			k.f.apps.serial.Do(func() {
				taken <- state{k.resp.Take(), k.over()}
				k.account()
			})
			s := <-taken
			if len(s.b) > 0 {
				poke(k.room)
				_ = k.net.SetWriteDeadline(time.Now().Add(takeWithin)) // a failure shows at the write
				if _, err := k.net.Write(s.b); err != nil {
					return
				}
				continue
			}
			if s.over {
				return
			}
			break
		}
	}
}

// refuse stops accepting connections.
func (f *front) refuse() {
	f.mu.Lock()
	f.closing = true
	f.mu.Unlock()
	_ = f.listener.Close()
}

func (f *front) isClosing() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closing
}

// close stops reading, and closes each connection once its pending requests are
// answered, or after the given time.
func (f *front) close(within time.Duration) {
	f.refuse()
	f.mu.Lock()
	conns := slices.Collect(maps.Keys(f.conns))
	f.mu.Unlock()
	for _, k := range conns {
		_ = k.net.SetReadDeadline(time.Now()) // if it fails, it has ended
	}
	all := make(chan struct{})
	go func() {
		f.done.Wait()
		close(all)
	}()
	select {
	case <-all:
	case <-time.After(within):
		for _, k := range conns {
			k.end()
		}
		<-all
	}
}
