// SPDX-License-Identifier: Apache-2.0

package worm

import (
	"context"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/smr"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Replica is this process's copy of a replicated state machine, with blocking
// calls. It is safe for concurrent use.
type Replica struct {
	client  *Client
	replica *smr.Replica
}

// Replica opens a copy of a state machine and begins to learn. It sets the
// options Space, Clock, Random and Serial; the machine is called in the
// client's Serial. Leadership smr.Nobody suits clients that others cannot
// reach; with the default and no Messenger, the replica takes the lead over
// whenever it has a command.
func (c *Client) Replica(o smr.Options) (*Replica, error) {
	r, err := call(context.Background(), c, func(_ time.Duration, done func(*smr.Replica, error)) {
		o.Space, o.Clock, o.Random, o.Serial = c.space, c.clock, env.Seeded(c.random.Uint64()), c.serial
		done(smr.Open(o))
	})
	if err != nil {
		return nil, err
	}
	return &Replica{c, r}, nil
}

// Close ends the Replica, but not the client. Pending commands return
// ErrUnknown.
func (r *Replica) Close() { r.client.Sync(r.replica.Close) }

// Propose submits a command, which is applied once, and returns its result.
// ErrUnknown means that the command may have been applied or may still be.
func (r *Replica) Propose(ctx context.Context, command []byte) (smr.Result, error) {
	command = clone(command)
	res, err := call(ctx, r.client, func(within time.Duration, done func(smr.Result, error)) {
		r.replica.Propose(command, within, done)
	})
	res.Value = clone(res.Value)
	return res, changed(wor.Addr{}, err)
}

// Read calls look, in the client's Serial, when the state machine may be read
// with that consistency: look must not block. After is for smr.Causal.
func (r *Replica) Read(ctx context.Context, consistency smr.Consistency, after smr.Slot, look func()) error {
	_, err := call(ctx, r.client, func(within time.Duration, done func(nothing, error)) {
		r.replica.Read(consistency, after, within, func(err error) {
			if err == nil {
				look()
			}
			done(nothing{}, err)
		})
	})
	return err
}
