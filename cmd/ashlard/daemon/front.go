package daemon

import (
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/worm/resp"
)

// front speaks the Redis protocol to the key-value store. Each connection has a
// goroutine that reads and one that writes; what is between them belongs to the
// Serial of the applications.
type front struct {
	apps     *apps
	listener net.Listener
	max      int

	mu      sync.Mutex
	conns   map[*frontConn]bool
	closing bool
	turned  uint64 // connections for which there was no room
	done    sync.WaitGroup
}

// takeWithin is how long a client may take nothing of its replies.
const takeWithin = 10 * time.Second

func listenKV(addr string, security *tls.Config, max int, a *apps) (*front, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	if security != nil {
		l = tls.NewListener(l, security)
	}
	f := &front{apps: a, listener: l, max: max, conns: map[*frontConn]bool{}}
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
		f.mu.Lock()
		if f.closing || len(f.conns) >= f.max {
			f.turned++
			f.mu.Unlock()
			_ = c.Close()
			continue
		}
		k := f.newConn(c)
		f.conns[k] = true
		f.done.Add(2)
		f.mu.Unlock()
		go k.read()
		go k.write()
	}
}

// count is how many connections there are, and were turned away.
func (f *front) count() (open int, turned uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns), f.turned
}

// frontConn is one connection.
type frontConn struct {
	f    *front
	net  net.Conn
	resp *resp.Conn
	// news says that there may be something to take, room that there may be room
	// to feed.
	news, room chan struct{}
	gone       chan struct{}
	end        func()
	// In the Serial: requests under way, and that nothing more is read.
	under   int
	leaving bool
}

// Do is resp.Store's.
func (k *frontConn) Do(t *resp.Txn, done func(bool, []resp.Result, error)) {
	k.under++
	k.f.apps.Do(t, func(held bool, results []resp.Result, err error) {
		k.under--
		done(held, results, err)
	})
}

// over says that there is nothing to be sent any more.
func (k *frontConn) over() bool { return k.resp.Closed() || k.leaving && k.under == 0 }

func (f *front) newConn(c net.Conn) *frontConn {
	k := &frontConn{f: f, net: c, news: make(chan struct{}, 1), room: make(chan struct{}, 1), gone: make(chan struct{})}
	k.end = sync.OnceFunc(func() {
		close(k.gone)
		_ = c.Close()
		f.apps.serial.Do(k.resp.Close)
		f.mu.Lock()
		delete(f.conns, k)
		f.mu.Unlock()
	})
	k.resp = resp.New(k, resp.Limits{}, func() {
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

// read feeds what arrives, as long as there is room.
func (k *frontConn) read() {
	defer k.f.done.Done()
	b := make([]byte, 16<<10)
	type state struct{ full, closing bool }
	fed := make(chan state, 1)
	for {
		n, err := k.net.Read(b)
		if n > 0 {
			k.f.apps.serial.Do(func() {
				k.resp.Feed(b[:n])
				fed <- state{k.resp.Full(), k.resp.Closing()}
			})
			s := <-fed
			poke(k.news)
			for s.full && !s.closing {
				select {
				case <-k.room:
				case <-k.gone:
					return
				}
				k.f.apps.serial.Do(func() { fed <- state{k.resp.Full(), k.resp.Closing()} })
				s = <-fed
			}
			if s.closing {
				return // the writer ends it
			}
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
			k.f.apps.serial.Do(func() { taken <- state{k.resp.Take(), k.over()} })
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

// refuse takes no more connections.
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

// close reads no more, and ends each connection when what is under way on it was
// answered, or after that time.
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
