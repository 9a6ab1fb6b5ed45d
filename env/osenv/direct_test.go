// SPDX-License-Identifier: Apache-2.0

package osenv_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

// answerer answers each piece that comes with several writes, of which the first
// may go to the socket at once.
type answerer struct{ piece []byte }

func (answerer) Opened(env.Conn) {}
func (a answerer) Data(c env.Conn, b []byte) {
	for range b {
		_ = c.Write(a.piece)
	}
}
func (answerer) Drained(env.Conn)       {}
func (answerer) Closed(env.Conn, error) {}

// collector counts what comes, and asks one byte at a time.
type collector struct {
	asks  int
	piece []byte
	done  chan bool
	once  sync.Once

	got []byte
}

func (c *collector) Opened(nc env.Conn) {
	for range c.asks {
		_ = nc.Write([]byte{1})
	}
}

func (c *collector) Data(_ env.Conn, b []byte) {
	c.got = append(c.got, b...)
	for len(c.got) >= len(c.piece) {
		if !bytes.Equal(c.got[:len(c.piece)], c.piece) {
			c.end(false)
			return
		}
		c.got = c.got[len(c.piece):]
		if c.asks--; c.asks == 0 {
			c.end(len(c.got) == 0)
			return
		}
	}
}
func (c *collector) end(ok bool)            { c.once.Do(func() { c.done <- ok }) }
func (c *collector) Drained(env.Conn)       {}
func (c *collector) Closed(env.Conn, error) { c.end(false) }

// TestOrderOfWrites: what goes to the socket at once and what is queued arrive
// whole and in order, also when the socket takes a part of it only.
func TestOrderOfWrites(t *testing.T) {
	for _, size := range []int{3, 100, 3 << 20} {
		n := osenv.NewNetwork(osenv.NetworkOptions{WriteBuffer: 64 << 20})
		piece := make([]byte, size)
		for i := range piece {
			piece[i] = byte(i * 7)
		}
		l, err := n.Listen("127.0.0.1:0", func(env.Conn) env.Handler { return answerer{piece} })
		if err != nil {
			t.Fatal(err)
		}
		asks := 1000
		if size > 1<<20 {
			asks = 8
		}
		c := &collector{asks: asks, piece: piece, done: make(chan bool, 1)}
		n.Dial(l.Addr(), c)
		select {
		case ok := <-c.done:
			if !ok {
				t.Errorf("pieces of %d bytes: something else came", size)
			}
		case <-time.After(time.Minute):
			t.Errorf("pieces of %d bytes: not all came", size)
		}
		n.Close()
	}
}
