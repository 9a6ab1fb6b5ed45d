// SPDX-License-Identifier: Apache-2.0

package client

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/link"
)

// A node is the link.ClientOwner of its link.
var _ link.ClientOwner = (*node)(nil)

func (n *node) hello() []byte {
	return wire.AppendHello(nil, &wire.Hello{Role: wire.Client, Window: uint32(n.c.opt.Window), Seen: n.life, Last: n.last})
}

// Up resumes after the last batch that the instance has received.
func (n *node) Up(from *link.Hello) error {
	w, err := wire.DecodeWelcome(from.Body)
	if err != nil {
		return err
	}
	if err := n.out.Resume(w.Last); err != nil {
		return err
	}
	if from.Life != n.life {
		n.life, n.last = from.Life, 0
	}
	n.acked = 0
	n.ready, n.full, n.window, n.trouble = true, false, int(w.Window), nil
	n.owe(0)
	n.more()
	return nil
}

// more flushes the node now, or when the running calls of Output have ended.
func (n *node) more() {
	n.touched = true
	if n.c.giving == 0 {
		n.flush()
	}
}

// Frame handles a frame. It releases the Client's lock while it delivers
// outputs.
func (n *node) Frame(t link.Type, payload []byte) error {
	switch t {
	case wire.TypeBatch:
		outputs, err := n.batch(payload)
		if err != nil || len(outputs) == 0 {
			return err
		}
		n.c.giving++
		n.c.mu.Unlock()
		n.c.give(n.name, outputs)
		n.c.mu.Lock()
		n.c.given()
		return nil
	case wire.TypeAck:
		seq, err := wire.DecodeAck(payload)
		if err != nil {
			return err
		}
		if err := n.out.Ack(seq); err != nil {
			return err
		}
		n.more() // the window is open again
		return nil
	}
	return link.Malformed("", "unexpected %v frame from an instance", t)
}

// give passes outputs to Options.Output.
func (c *Client) give(node string, outputs wire.Messages) {
	c.calls.Lock()
	defer c.calls.Unlock()
	for {
		relation, row, ok := outputs.Next()
		if !ok {
			return
		}
		if relation < len(c.opt.Program.Relations) {
			c.opt.Output(node, relation, row)
		}
	}
}

// batch returns the outputs of a batch that is new, and none for a duplicate.
func (n *node) batch(payload []byte) (wire.Messages, error) {
	seq, messages, err := wire.Batch(payload)
	switch {
	case err != nil:
		return nil, err
	case seq <= n.last:
		return nil, nil
	case n.last > 0 && seq != n.last+1:
		return nil, fmt.Errorf("received batch %d after batch %d", seq, n.last)
	}
	n.last = seq
	n.owe(len(payload))
	return messages, nil
}

// Room resumes writing after the connection was full.
func (n *node) Room() {
	n.full = false
	n.flush()
}

// Down records the reason why the connection ended.
func (n *node) Down(err error) {
	n.trouble = err
	n.ready, n.full = false, false
}
