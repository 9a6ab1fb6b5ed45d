package host

import (
	"container/list"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
)

// inconn is a connection that another node has made. Fields without another
// owner belong to the network's calls, which come one at a time.
type inconn struct {
	h     *Host
	conn  env.Conn
	place int         // in conns; theirs
	since env.Instant // it was accepted
	heard atomic.Int64
	over  atomic.Bool
	// begun is when the first byte came of a frame that is not whole yet; 0: there is
	// none.
	begun atomic.Int64
	// nobody is its place in conns.unknown, nil once the peer's identity is
	// proved; it belongs to conns.
	nobody  *list.Element
	partial int // bytes of conns.partials

	scan    wire.Scanner
	hello   wire.Hello
	welcome wire.Welcome
	src     *source // set once the peer is identified
	client  *client // where it is one
}

// accept takes a connection. It returns nil if there is no room for it.
func (h *Host) accept(conn env.Conn) env.Handler {
	now := h.opt.Env.Clock.Now()
	c := &inconn{h: h, conn: conn, since: now}
	c.heard.Store(int64(now))
	if h.ending.drains() || !h.conns.add(c) {
		h.count(&Counts{TurnedAway: 1})
		return nil
	}
	return c
}

// Opened is env.Handler's; nothing is dialled here.
func (c *inconn) Opened(env.Conn) {}

// Data implements env.Handler.
func (c *inconn) Data(_ env.Conn, b []byte) {
	now := c.h.opt.Env.Clock.Now()
	c.heard.Store(int64(now))
	c.scan.Feed(b)
	came, whole := false, false
	for !c.over.Load() {
		f, ok, err := c.scan.Next()
		if err == nil && !ok {
			if err = c.unfinished(now, whole); err == nil {
				break
			}
		} else if err == nil {
			whole = true
			err = c.frame(f)
		}
		var r *wire.Refusal
		switch {
		case errors.As(err, &r):
			c.h.refused(c, r)
		case err != nil:
			c.h.refused(c, &wire.Refusal{Code: wire.RefusalMessage, Text: err.Error()})
		}
		came = came || f.Type == wire.TypeBatch
	}
	if c.over.Load() {
		c.scan = wire.Scanner{} // further input is ignored
	}
	if came {
		c.h.waker.Wake()
	}
}

// partialFree is the size that an incomplete frame of any connection may have
// without being counted: that of an ordinary batch.
const partialFree = 64 << 10

// unfinished records, after all input was processed, since when a frame is
// incomplete, and its size so far. It returns an error if there is no room for
// it.
func (c *inconn) unfinished(now env.Instant, whole bool) error {
	n := c.scan.Partial()
	switch {
	case n == 0:
		c.begun.Store(0)
	case whole || c.begun.Load() == 0:
		c.begun.Store(max(int64(now), 1))
	}
	if n <= partialFree || c.client == nil {
		n = 0
	}
	all := c.h.conns.partial(n - c.partial)
	more := n > c.partial
	c.partial = n
	if more && all > int64(c.h.opt.PartialsMax) {
		return &wire.Refusal{Code: wire.RefusalFull, Text: "too many long frames are under way"}
	}
	return nil
}

// refused ends a connection that broke a rule.
func (h *Host) refused(c *inconn, r *wire.Refusal) {
	h.tally.refused(fmt.Sprintf("from %q at %s: %s", c.hello.From, c.conn.Remote(), r.Text))
	c.refuse(r.Code, r.Text)
}

// refuse sends the other side the reason and ends the connection.
func (c *inconn) refuse(code wire.RefusalCode, text string) {
	if c.over.Swap(true) {
		return
	}
	// It may be lost with the connection, which does the other side no harm.
	_ = c.conn.Write(wire.AppendRefusal(nil, &wire.Refusal{Code: code, Text: text}))
	c.h.opt.Env.Clock.After(refusalWithin(c.h), env.WakeFunc(c.conn.Close))
}

func (c *inconn) frame(f wire.Frame) error {
	if c.src == nil {
		switch {
		case f.Type == wire.TypeHello && c.hello.From == "":
			return c.greet(f.Payload)
		case f.Type == wire.TypeProof && c.hello.From != "":
			return c.prove(f.Payload)
		}
		return fmt.Errorf("a %v frame before it is known who sends it", f.Type)
	}
	switch f.Type {
	case wire.TypeBatch:
		return c.batch(f.Payload)
	case wire.TypeAck:
		if c.client == nil {
			break
		}
		seq, err := wire.DecodeAck(f.Payload)
		if err != nil {
			return err
		}
		return c.client.ack(c, seq)
	case wire.TypePing:
		_ = c.conn.Write(wire.AppendPing(nil, true)) // full: then it hears something
		return nil
	case wire.TypePong:
		return nil
	}
	return fmt.Errorf("a %v frame from the side that has dialled", f.Type)
}

// greet checks that the two sides belong together.
func (c *inconn) greet(payload []byte) error {
	h := c.h
	hello, err := wire.DecodeHello(payload)
	if err != nil {
		return err
	}
	refuse := func(code wire.RefusalCode, format string, args ...any) error {
		return &wire.Refusal{Code: code, Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case hello.Version != wire.Version:
		return refuse(wire.RefusalVersion, "version %d is spoken here", wire.Version)
	case hello.Program != h.opt.Program.Hash:
		return refuse(wire.RefusalProgram, "program %s of hash %016x runs here", h.opt.Program.Name, h.opt.Program.Hash)
	case hello.To != h.opt.Who.Node:
		return refuse(wire.RefusalNode, "%s is here", h.opt.Who.Node)
	case hello.From == "" || hello.Life == 0:
		return refuse(wire.RefusalName, "a name and a life are needed")
	case hello.Role == wire.Instance && h.peers.get(hello.From) == nil:
		return refuse(wire.RefusalName, "%q is no other instance of the deployment", hello.From)
	case hello.Role == wire.Client && h.opt.instanceName(hello.From):
		return refuse(wire.RefusalName, "%q is the name of an instance", hello.From)
	}
	c.hello = hello
	c.welcome = wire.Welcome{Life: h.life, Window: uint32(h.opt.Window)}
	if hello.Role == wire.Client {
		c.welcome.Window = uint32(h.opt.ClientWindow)
		return c.meetClient()
	}
	c.welcome.Nonce = h.dice.nonce()
	c.welcome.Incarnation = h.incarnation.towards(hello.From)
	c.welcome.Last = h.inbox.last(hello.From, hello.Life)
	c.welcome.Proof = wire.Prove(h.opt.Key, false, &hello, &c.welcome)
	return c.conn.Write(wire.AppendWelcome(nil, &c.welcome))
}

// prove checks the proof of an instance's identity.
func (c *inconn) prove(payload []byte) error {
	h := c.h
	p, err := wire.DecodeProof(payload)
	if err != nil {
		return err
	}
	if !p.Same(wire.Prove(h.opt.Key, true, &c.hello, &c.welcome)) {
		return &wire.Refusal{Code: wire.RefusalKey, Text: "the key is another one"}
	}
	switch older, err := h.incarnation.meet(c.hello.From, c.hello.Incarnation); {
	case err != nil:
		return &wire.Refusal{Code: wire.RefusalOld, Text: err.Error()}
	case older:
		return &wire.Refusal{Code: wire.RefusalOld, Text: fmt.Sprintf("it is of incarnation %d, which is over", c.hello.Incarnation)}
	}
	return h.inbox.meet(c)
}

// batch takes messages.
func (c *inconn) batch(payload []byte) error {
	seq, messages, err := wire.Batch(payload)
	if err != nil {
		return err
	}
	return c.h.inbox.put(c, seq, payload, messages)
}

// Drained implements env.Handler.
func (c *inconn) Drained(env.Conn) {
	if c.client != nil {
		c.client.resume(c)
	}
}

// Closed implements env.Handler.
func (c *inconn) Closed(env.Conn, error) {
	c.over.Store(true)
	if c.client != nil {
		c.client.leave(c)
	}
	c.h.conns.remove(c)
	c.h.inbox.leave(c)
}
