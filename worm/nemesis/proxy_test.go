package nemesis

import (
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// weather is what a link does to what passes.
type weather struct {
	hole  bool          // nothing passes, and nobody is told
	cut   int           // mean bytes until the connection is cut; 0: never
	delay time.Duration // at most, of each piece
	piece int           // bytes at most in one piece; 0: as they come
}

// link is what connections of one process to another pass through.
type link struct {
	l  net.Listener
	wg sync.WaitGroup

	mu     sync.Mutex
	calm   *sync.Cond // the weather has changed, or it is over
	target string     // "": nobody is there
	weather
	rng   *rand.Rand
	conns map[net.Conn]bool
	cuts  int
	over  bool
}

func newLink(t *testing.T, host string, seed uint64) *link {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	k := &link{l: l, rng: rand.New(rand.NewPCG(seed, 7)), conns: map[net.Conn]bool{}}
	k.calm = sync.NewCond(&k.mu)
	k.wg.Go(k.accept)
	t.Cleanup(k.close)
	return k
}

func (k *link) addr() string { return k.l.Addr().String() }

func (k *link) close() {
	k.mu.Lock()
	k.over = true
	k.calm.Broadcast()
	k.mu.Unlock()
	k.l.Close()
	k.reset()
	k.wg.Wait()
}

// aim says where the other side is from now on.
func (k *link) aim(target string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.target = target
}

func (k *link) set(w weather) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.weather = w
	k.calm.Broadcast()
}

// reset ends all connections.
func (k *link) reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		c.Close()
	}
}

// keep notes a connection, unless it is over.
func (k *link) keep(c net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		c.Close()
		return false
	}
	k.conns[c] = true
	return true
}

func (k *link) drop(cs ...net.Conn) {
	for _, c := range cs {
		c.Close()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range cs {
		delete(k.conns, c)
	}
}

// pass waits until something may pass, and answers where to; "" when nobody is
// there.
func (k *link) pass() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.hole && !k.over {
		k.calm.Wait()
	}
	if k.over {
		return ""
	}
	return k.target
}

func (k *link) accept() {
	for {
		in, err := k.l.Accept()
		if err != nil {
			return
		}
		if k.keep(in) {
			k.wg.Go(func() { k.connect(in) })
		}
	}
}

func (k *link) connect(in net.Conn) {
	target := k.pass()
	if target == "" {
		k.drop(in)
		return
	}
	out, err := net.DialTimeout("tcp", target, time.Second)
	if err != nil || !k.keep(out) {
		k.drop(in)
		return
	}
	k.wg.Go(func() { k.copy(out, in) })
	k.copy(in, out)
}

// plan says what happens to the next bytes.
func (k *link) plan(have int) (n int, wait time.Duration, cut bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n = have
	if k.piece > 0 {
		n = min(have, 1+k.rng.IntN(k.piece))
	}
	if k.delay > 0 {
		wait = time.Duration(k.rng.Int64N(int64(k.delay)))
	}
	if k.cut > 0 && k.rng.IntN(k.cut) < n {
		n, cut = k.rng.IntN(n+1), true
		k.cuts++
	}
	return n, wait, cut
}

func (k *link) copy(from, to net.Conn) {
	defer k.drop(from, to)
	buf := make([]byte, 64<<10)
	for {
		got, err := from.Read(buf)
		for b := buf[:got]; len(b) > 0; {
			n, wait, cut := k.plan(len(b))
			time.Sleep(wait)
			if k.pass() == "" {
				return
			}
			if _, err := to.Write(b[:n]); err != nil || cut {
				return
			}
			b = b[n:]
		}
		if err != nil {
			return
		}
	}
}
