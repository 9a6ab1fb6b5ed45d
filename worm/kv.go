// SPDX-License-Identifier: Apache-2.0

package worm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/tx"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Parameters of the cluster's key-value store. All servers and clients must use
// the same values.
const (
	// KVInstance is the tx.Options.Instance of the store that ashlard hosts.
	KVInstance = 1<<15 - 1
	// KVPartitions is the number of partitions of that store.
	KVPartitions = 16
)

// KV is the transactional key-value store that the servers host, with blocking
// calls. It is safe for concurrent use.
type KV struct {
	client *Client
	kv     *tx.Client
}

// ErrNoKey is returned for a key that the store does not have.
var ErrNoKey = errors.New("no such key")

// KV opens the key-value store. It asks the cluster for its servers.
func (c *Client) KV(ctx context.Context) (*KV, error) {
	members, err := c.Members(ctx)
	if err != nil {
		return nil, err
	}
	kv, err := call(ctx, c, func(_ time.Duration, done func(*tx.Client, error)) {
		kv := tx.NewClient(tx.ClientOptions{
			Env: env.Env{Clock: c.clock, Random: env.Seeded(c.random.Uint64())}, Serial: c.serial, Messenger: c.messenger,
			Servers: members, Partitions: KVPartitions, Nonce: c.random.Uint64(),
		})
		c.cluster.handles[kv] = kv.SetServers
		done(kv, nil)
	})
	if err != nil {
		return nil, err
	}
	return &KV{c, kv}, nil
}

// Close ends the KV, but not the client.
func (k *KV) Close() {
	k.client.Sync(func() {
		delete(k.client.cluster.handles, k.kv)
		k.kv.Close()
	})
}

// Do runs a transaction: if all conditions hold, the operations take effect in
// order and atomically. They take effect only once, however often servers fail
// meanwhile. Do returns wor.ErrUnknown when the context ends; the transaction
// may have taken effect then.
func (k *KV) Do(ctx context.Context, conds []tx.Cond, ops ...tx.Op) (*tx.Result, error) {
	q := &tx.Request{Conds: append([]tx.Cond(nil), conds...), Ops: append([]tx.Op(nil), ops...)}
	for i := range q.Conds {
		q.Conds[i].Value = clone(q.Conds[i].Value)
	}
	for i := range q.Ops {
		q.Ops[i].Value = clone(q.Ops[i].Value)
	}
	readOnly := q.ReadOnly()
	r, err := call(ctx, k.client, func(within time.Duration, done func(*tx.Result, error)) { k.kv.Do(q, within, done) })
	if !readOnly {
		err = changed(wor.Addr{}, err)
	}
	return r, err
}

// one runs one operation.
func (k *KV) one(ctx context.Context, op tx.Op) (tx.OpResult, error) {
	r, err := k.Do(ctx, nil, op)
	switch {
	case err != nil:
		return tx.OpResult{}, err
	case len(r.Ops) != 1:
		return tx.OpResult{}, fmt.Errorf("%d results of one operation", len(r.Ops))
	case r.Ops[0].Err != tx.OpOK:
		return tx.OpResult{}, r.Ops[0].Err
	}
	return r.Ops[0], nil
}

// Get returns a key's value, or ErrNoKey.
func (k *KV) Get(ctx context.Context, key string) ([]byte, error) {
	r, err := k.one(ctx, tx.Op{Kind: tx.OpGet, Key: key})
	if err == nil && !r.Found {
		err = ErrNoKey
	}
	return r.Value, err
}

// Set sets a key's value.
func (k *KV) Set(ctx context.Context, key string, value []byte) error {
	_, err := k.one(ctx, tx.Op{Kind: tx.OpPut, Key: key, Value: value})
	return err
}

// Delete removes a key, and reports whether it was present.
func (k *KV) Delete(ctx context.Context, key string) (bool, error) {
	r, err := k.one(ctx, tx.Op{Kind: tx.OpDelete, Key: key})
	return r.Found, err
}

// Incr adds to a decimal number and returns the sum. An absent key counts as 0.
func (k *KV) Incr(ctx context.Context, key string, delta int64) (int64, error) {
	r, err := k.one(ctx, tx.Op{Kind: tx.OpIncr, Key: key, Delta: delta})
	return r.Number, err
}
