// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/dedalus/rt/internal/raw"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

// liar is an instance that says what a test wants to each hello.
type liar struct {
	mu     sync.Mutex
	say    func(n int) [][]byte // to the n-th connection
	n      int
	closed chan int
}

func (l *liar) accept(env.Conn) env.Handler {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	return &lie{l: l, n: l.n}
}

type lie struct {
	l    *liar
	n    int
	once bool
}

func (c *lie) Opened(env.Conn)  {}
func (c *lie) Drained(env.Conn) {}
func (c *lie) Data(nc env.Conn, _ []byte) {
	if c.once {
		return
	}
	c.once = true
	for _, b := range c.l.say(c.n) {
		if nc.Write(b) != nil {
			return
		}
	}
}
func (c *lie) Closed(env.Conn, error) {
	select {
	case c.l.closed <- c.n:
	default:
	}
}

// TestLyingInstance: whatever an instance says that is wrong, the client leaves it, says
// why, and comes back later; what it said before that was right is given.
func TestLyingInstance(t *testing.T) {
	welcome := func(last uint64) []byte {
		return raw.AppendWelcome(nil, &raw.Welcome{Life: 3, Node: "e/0", Last: last, Window: 1 << 20})
	}
	one := func(relation int, row string) []byte {
		o := wire.Outbox{Max: 1 << 20}
		o.Add(relation, []byte(row))
		o.Seal()
		return o.Next(0)
	}
	for name, say := range map[string][][]byte{
		"noise":                      {[]byte("HTTP/1.1 200 OK\r\n\r\n")},
		"a frame of 2^32-1":          {{255, 255, 255, 255, 2}},
		"an output before a welcome": {one(1, "x")},
		"two welcomes":               {welcome(0), welcome(0)},
		"a batch that never was":     {welcome(1<<64 - 1)},
		"an ack of what never was":   {welcome(0), wire.AppendAck(nil, 1<<63)},
		"what only clients say":      {welcome(0), raw.AppendHello(nil, &raw.Hello{Version: 1})},
		"a refusal":                  {raw.AppendRefusal(nil, &raw.Refusal{Code: 99, Text: "\x1b[2J\x00"})},
	} {
		w, network := osenv.New(), osenv.NewNetwork(osenv.NetworkOptions{})
		w.Network = network
		l := &liar{say: func(int) [][]byte { return say }, closed: make(chan int, 2)}
		listener, err := network.Listen("127.0.0.1:0", l.accept)
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.Open(client.Options{Env: w, Program: program(), Name: "c", Nodes: map[string]env.Addr{"e/0": listener.Addr()},
			BackoffMin: time.Millisecond, BackoffMax: 5 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		deadline := time.NewTimer(20 * time.Second)
		for n := 0; n < 2; { // it comes back
			select {
			case n = <-l.closed:
			case <-deadline.C:
				t.Fatalf("%s: the client stays", name)
			}
		}
		if _, why := c.Connected("e/0"); why == nil {
			t.Errorf("%s: the client does not say why", name)
		}
		c.Close()
		if err := errors.Join(listener.Close(), network.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestWhatInstancesSay: outputs of relations that there are not are dropped, those that
// come twice are given once, and an instance that begins a new life begins its numbers
// anew.
func TestWhatInstancesSay(t *testing.T) {
	w, network := osenv.New(), osenv.NewNetwork(osenv.NetworkOptions{})
	defer network.Close()
	w.Network = network
	l := &liar{closed: make(chan int, 10)}
	batches := func(rows ...string) (list [][]byte) {
		o := wire.Outbox{Max: 1 << 20}
		for _, row := range rows {
			o.Add(1, []byte(row))
			o.Add(77, []byte("of no relation"))
			o.Seal()
			list = append(list, append([]byte(nil), o.Next(1<<20)...))
			o.Sent()
		}
		return list
	}
	l.say = func(n int) [][]byte {
		say := [][]byte{raw.AppendWelcome(nil, &raw.Welcome{Life: uint64(1 + n/3), Node: "e/0", Window: 1 << 20})}
		say = append(append(say, batches("a", "b", "c")...), batches("a", "b")...)
		return append(say, []byte{1, 0, 0, 0, 5}) // and is wrong
	}
	listener, err := network.Listen("127.0.0.1:0", l.accept)
	if err != nil {
		t.Fatal(err)
	}
	outputs := make(chan string, 100)
	c, err := client.Open(client.Options{Env: w, Program: program(), Name: "c", Nodes: map[string]env.Addr{"e/0": listener.Addr()},
		BackoffMin: time.Millisecond, BackoffMax: 5 * time.Millisecond, Output: func(_ string, r int, row []byte) {
			if r != 1 {
				t.Errorf("an output of relation %d", r)
			}
			outputs <- string(row)
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 4 {
		for _, want := range []string{"a", "b", "c"} {
			if got := <-outputs; got != want {
				t.Fatalf("%q, want %q", got, want)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n < 9 {
		t.Errorf("the outputs of four lives came over %d connections", l.n)
	}
}
