// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
)

// inconn is a connection that another node has dialled. Only network callbacks
// use its fields; the network makes these calls one at a time.
type inconn struct {
	h       *Host
	conn    env.Conn
	session *link.Session
	hello   wire.Hello
	last    uint64  // batch that had come when the peer was welcomed
	src     *source // set once the peer is identified
	client  *client // where it is one
}

// accept handles a new connection. It returns nil, which rejects the
// connection, while the instance drains or if there is no room.
func (h *Host) accept(conn env.Conn) env.Handler {
	c := &inconn{h: h, conn: conn, session: h.link.Accept(conn)}
	if h.ending.drains() || !h.door.Enter(c.session) {
		h.count(&Counts{TurnedAway: 1})
		return nil
	}
	return c
}

// Opened implements env.Handler. It does nothing: an inconn was accepted, not
// dialled.
func (c *inconn) Opened(env.Conn) {}

// Data implements env.Handler.
func (c *inconn) Data(_ env.Conn, b []byte) {
	c.session.Feed(b)
	came := false
	for {
		f, ok, err := c.session.Next()
		if err == nil && !ok {
			break
		}
		if err == nil {
			err = c.frame(f)
		}
		if err != nil {
			c.h.refused(c, err)
		}
		came = came || f.Type == wire.TypeBatch
	}
	c.h.door.Weigh(c.session)
	if came {
		c.h.waker.Wake()
	}
}

// refused records that a connection broke a rule, and ends it with the reason.
func (h *Host) refused(c *inconn, err error) {
	h.tally.refused(fmt.Sprintf("from %q at %s: %v", c.session.Peer().Node, c.conn.Remote(), err))
	c.session.End(err)
}

func (c *inconn) frame(f link.Frame) error {
	switch f.Type {
	case link.TypeHello:
		return c.greet()
	case link.TypeProof:
		return c.arrive()
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
	}
	return link.Malformed("", "unexpected %v frame from the dialling side", f.Type)
}

// greet checks that the peer may use its name, and welcomes it.
func (c *inconn) greet() (err error) {
	h, peer := c.h, c.session.Peer()
	if c.hello, err = wire.DecodeHello(peer.Body); err != nil {
		return err
	}
	refuse := func(code link.Code, format string, args ...any) error {
		return &link.Refusal{Code: code, Text: fmt.Sprintf(format, args...)}
	}
	switch client := c.hello.Role == wire.Client; {
	case !client && h.peers.get(peer.Node) == nil:
		return refuse(link.RefusalName, "%q is not another instance of this deployment", peer.Node)
	case client && h.opt.instanceName(peer.Node):
		return refuse(link.RefusalName, "%q is the name of an instance; choose another name for the client", peer.Node)
	case client && peer.Keyed:
		return refuse(link.RefusalKey, "a client must connect without the key of the deployment")
	case !client && !peer.Keyed && len(h.opt.Key) > 0:
		return refuse(link.RefusalKey, "this instance has a key; other instances must have the same key")
	case client:
		return c.meetClient()
	}
	c.last = h.inbox.last(peer.Node, peer.Life)
	c.session.Welcome(wire.AppendWelcome(nil, &wire.Welcome{Last: c.last, Window: uint32(h.opt.Window),
		Incarnation: h.incarnation.towards(peer.Node)}))
	if c.session.Up() {
		return c.arrive()
	}
	return nil
}

// arrive admits an instance that has proved its identity.
func (c *inconn) arrive() error {
	h := c.h
	switch older, err := h.incarnation.meet(c.session.Peer().Node, c.hello.Incarnation); {
	case err != nil:
		h.refused(c, &link.Refusal{Code: wire.RefusalOld, Text: err.Error()})
		h.incarnation.yield(err)
		return nil
	case older:
		return &link.Refusal{Code: wire.RefusalOld, Text: fmt.Sprintf("the peer's incarnation %d has ended", c.hello.Incarnation)}
	}
	return h.inbox.meet(c)
}

// batch checks a batch and puts its messages into the inbox.
func (c *inconn) batch(payload []byte) error {
	seq, messages, err := wire.Batch(payload)
	if err != nil {
		return err
	}
	if c.src == nil {
		return errors.New("received a batch before the peer was identified")
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
func (c *inconn) Closed(_ env.Conn, err error) {
	c.session.Drop(err)
	if c.client != nil {
		c.client.leave(c)
	}
	c.h.door.Leave(c.session)
	c.h.inbox.leave(c)
}
