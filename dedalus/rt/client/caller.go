// SPDX-License-Identifier: Apache-2.0

package client

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// RetryDefault is the default of CallerOptions.Retry.
const RetryDefault = time.Second

// RetryFactorMax limits the backoff between retries of an input: at most RetryFactorMax
// times CallerOptions.Retry.
const RetryFactorMax = 1 << (patiences - 1)

// patiences is the number of backoff steps; each doubles the time before the
// next retry.
const patiences = 6

// CallerOptions configure a Caller. Options.Output receives the outputs that
// answer no call.
type CallerOptions struct {
	Options
	// To lists the instances that accept the inputs, all or some of Nodes.
	To []string
	// Retry is how long the Caller waits for an answer before it sends the input
	// again, to the next instance of To. The wait doubles with each retry, up to
	// RetryFactorMax times Retry, so that overloaded instances receive fewer
	// retries, not more.
	Retry time.Duration
	// Key returns the key of the call that an output answers; ok is false if
	// the output answers no call.
	Key func(relation int, row []byte) (key string, ok bool)
}

// Caller sends inputs and waits for the outputs that answer them. It is safe for
// concurrent use.
type Caller struct {
	*Client
	opt CallerOptions

	mu    sync.Mutex
	at    int // of To: where calls begin
	calls map[string]*list.Element
	// order[i] lists the calls that have been retried i times (the last list: that
	// often or more), oldest send first.
	order  [patiences]*list.List
	closed bool
	resent uint64
}

type call struct {
	key      string
	relation int
	row      []byte
	at       int
	patience int // of order: which list it is in
	sent     env.Instant
	done     func(node string, relation int, row []byte)
}

// errCall reports that another call with the same key is under way.
var errCall = errors.New("a call with this key is under way")

// OpenCaller opens a Client that makes calls.
func OpenCaller(o CallerOptions) (*Caller, error) {
	if len(o.To) == 0 || o.Key == nil {
		return nil, errors.New("CallerOptions needs To, the instances that take inputs, and Key")
	}
	if o.Retry == 0 {
		o.Retry = RetryDefault
	}
	c := &Caller{opt: o, calls: map[string]*list.Element{}}
	for i := range c.order {
		c.order[i] = list.New()
	}
	if c.opt.Output == nil {
		c.opt.Output = func(string, int, []byte) {}
	}
	o.Options.Output = c.output
	var err error
	if c.Client, err = Open(o.Options); err != nil {
		return nil, err
	}
	c.retryLater()
	return c, nil
}

// Call sends an input, and sends it again until an output with this key arrives. It
// then calls done once, under the rules of Options.Output; done may make the next
// call. Call copies the row. If Call returns an error, such as ErrFull, the input
// was not sent and will not be.
func (c *Caller) Call(key string, relation int, row []byte, done func(node string, relation int, row []byte)) error {
	c.mu.Lock()
	switch {
	case c.closed:
		c.mu.Unlock()
		return ErrClosed
	case c.calls[key] != nil:
		c.mu.Unlock()
		return errCall
	}
	to := c.opt.To[c.at]
	k := &call{key: key, relation: relation, row: append([]byte(nil), row...), at: c.at, sent: c.opt.Env.Clock.Now(), done: done}
	c.calls[key] = c.order[0].PushBack(k)
	c.mu.Unlock()
	err := c.Send(to, relation, row)
	if err != nil {
		c.forget(key)
	}
	return err
}

// Do makes a call and waits for its answer or for the end of the context. In the
// second case the input may still take effect. The caller owns answerRow.
func (c *Caller) Do(ctx context.Context, key string, relation int, row []byte) (answer int, answerRow []byte, err error) {
	type output struct {
		relation int
		row      []byte
	}
	came := make(chan output, 1)
	err = c.Call(key, relation, row, func(_ string, relation int, row []byte) {
		came <- output{relation, append([]byte(nil), row...)}
	})
	if err != nil {
		return 0, nil, err
	}
	select {
	case o := <-came:
		return o.relation, o.row, nil
	case <-ctx.Done():
		c.forget(key)
		return 0, nil, ctx.Err()
	}
}

// Prefer makes new calls start at this instance of To, for example because the caller has
// learned that it leads. A node that is not in To is ignored.
func (c *Caller) Prefer(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, to := range c.opt.To {
		if to == node {
			c.at = i
		}
	}
}

// Calls returns how many calls are under way, and how many retries were sent so
// far.
func (c *Caller) Calls() (underWay int, resent uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls), c.resent
}

// Close ends all connections. Calls that are under way are never answered.
func (c *Caller) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.Client.Close()
}

func (c *Caller) forget(key string) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.calls[key]
	if e == nil {
		return nil
	}
	delete(c.calls, key)
	return c.order[e.Value.(*call).patience].Remove(e).(*call)
}

func (c *Caller) output(node string, relation int, row []byte) {
	key, ok := c.opt.Key(relation, row)
	if ok {
		if k := c.forget(key); k != nil {
			k.done(node, relation, row)
			return
		}
	}
	c.opt.Output(node, relation, row)
}

// retryLater schedules a periodic check for calls without an answer.
func (c *Caller) retryLater() {
	c.opt.Env.Clock.After(c.opt.Retry/4, env.WakeFunc(func() {
		if c.retry() {
			c.retryLater()
		}
	}))
}

func (c *Caller) retry() bool {
	now := c.opt.Env.Clock.Now()
	var again []call
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return false
	}
	for patience := patiences - 1; patience >= 0; patience-- {
		order, rest := c.order[patience], c.opt.Retry<<patience
		for n := order.Len(); n > 0; n-- {
			e := order.Front()
			k := e.Value.(*call)
			if now.Sub(k.sent) < rest {
				break
			}
			if k.at == c.at {
				c.at = (c.at + 1) % len(c.opt.To) // nor will others be answered there
			}
			k.at, k.sent, k.patience = c.at, now, min(patience+1, patiences-1)
			order.Remove(e)
			c.calls[k.key] = c.order[k.patience].PushBack(k)
			c.resent++
			again = append(again, *k)
		}
	}
	c.mu.Unlock()
	for i := range again {
		// If the queue is full, a later retry sends the input.
		_ = c.Send(c.opt.To[again[i].at], again[i].relation, again[i].row)
	}
	return true
}
