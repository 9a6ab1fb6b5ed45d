// SPDX-License-Identifier: Apache-2.0

package worm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Client makes the calls of a wor.Space, and blocks until they end. It is safe
// for concurrent use.
//
// Each call is bounded by its context. The Client copies the values that it is
// given; returned values belong to the caller.
type Client struct {
	clock  env.Clock
	random env.Random // in the Serial only
	serial *env.Serial
	space  wor.Space
	// messenger and cluster are nil unless Open made the client.
	messenger wor.Messenger
	cluster   *cluster
	// unresolved is Options.Unresolved: a Write that another client has outbid
	// returns at once.
	unresolved bool
	closed     chan struct{}
	why        error // the reason of the end, valid once closed is closed
	end        func(why error)
	shut       func()
}

// ErrRestored is returned after the cluster was restored from a backup.
// Whatever the client has read may never have happened, so the caller must make
// a new client with the new description.
var ErrRestored = fmt.Errorf("the cluster was restored from a backup: open it anew with its new description: %w", wor.ErrClosed)

// Over returns a Client for a Space that belongs to the Serial, using the
// world's Clock and Random. Close calls shut, which may be nil.
func Over(world env.Env, serial *env.Serial, space wor.Space, shut func()) *Client {
	c := &Client{clock: world.Clock, random: world.Random.Split("client"), serial: serial, space: space, closed: make(chan struct{}), shut: shut}
	var once sync.Once
	c.end = func(why error) {
		once.Do(func() {
			c.why = why
			close(c.closed)
		})
	}
	return c
}

// Close ends the client: pending calls return wor.ErrClosed. It must be called
// once.
func (c *Client) Close() {
	c.end(wor.ErrClosed)
	if c.shut != nil {
		c.shut()
	}
}

// Space is the client's space, for applications; it belongs to Serial.
func (c *Client) Space() wor.Space { return c.space }

// Messenger sends requests to services of the cluster's servers; it belongs to
// Serial. It is nil if the client was not made by Open.
func (c *Client) Messenger() wor.Messenger { return c.messenger }

// Nonce is the client's own number.
func (c *Client) Nonce() uint64 { return c.space.Nonce() }

// Genesis is that of the cluster, or nil if the client was not made by Open. It must not
// be changed.
func (c *Client) Genesis() *wor.Genesis {
	if c.cluster == nil {
		return nil
	}
	return c.cluster.genesis
}

// Serial is the Serial for all calls of Space.
func (c *Client) Serial() *env.Serial { return c.serial }

// answer is the result of an operation.
type answer[T any] struct {
	value T
	err   error
}

// call starts an operation in the Serial and waits for its result, or for the
// end of the context or of the client.
func call[T any](ctx context.Context, c *Client, start func(within time.Duration, done func(T, error))) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, wor.ErrDeadline
	}
	var within time.Duration
	if t, ok := ctx.Deadline(); ok {
		if within = t.Sub(c.clock.Wall()); within <= 0 {
			return none, wor.ErrDeadline
		}
	}
	answers := make(chan answer[T], 1)
	c.serial.Do(func() {
		start(within, func(v T, err error) { answers <- answer[T]{v, err} })
	})
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		if within == 0 || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return none, errGivenUp
		}
		// The operation has the same time limit and will end soon, with a more
		// informative result. If call returned before that, the caller might
		// start the operation again concurrently.
		select {
		case a := <-answers:
			return a.value, a.err
		case <-c.closed:
			return none, c.why
		}
	case <-c.closed:
		return none, c.why
	}
}

// Sync runs f in the Serial and waits for it. It must not be called from the
// Serial.
func (c *Client) Sync(f func()) {
	done := make(chan struct{})
	c.serial.Do(func() {
		f()
		close(done)
	})
	<-done
}

// errGivenUp is the result of an operation whose caller waits no longer. For a
// change it becomes an ErrUnknown, for other operations an ErrDeadline.
var errGivenUp = fmt.Errorf("context ended: %w", wor.ErrDeadline)

// changed returns the error of a change: the outcome of an abandoned one is
// unknown.
func changed(a wor.Addr, err error) error {
	if errors.Is(err, errGivenUp) || errors.Is(err, wor.ErrClosed) {
		return &wor.UnknownError{Addr: a, Cause: err}
	}
	return err
}

type nothing = struct{}

// bare adapts a done without a value to one with a value.
func bare(done func(nothing, error)) func(error) {
	return func(err error) { done(nothing{}, err) }
}

// Alloc allocates a segment. The error wor.ErrWritten means that another client
// has allocated it; Alloc then returns that client's Meta.
func (c *Client) Alloc(ctx context.Context, s wor.Segment, m wor.Meta) (wor.Meta, error) {
	m.Payload = clone(m.Payload)
	m, err := call(ctx, c, func(within time.Duration, done func(wor.Meta, error)) {
		c.space.Alloc(s, m, within, done)
	})
	return m, changed(wor.Addr{Segment: s, Offset: wor.MetaOffset}, err)
}

// Stat returns a segment's Meta.
func (c *Client) Stat(ctx context.Context, s wor.Segment) (wor.Meta, error) {
	return call(ctx, c, func(within time.Duration, done func(wor.Meta, error)) { c.space.Stat(s, within, done) })
}

// Trim permanently discards a segment.
func (c *Client) Trim(ctx context.Context, s wor.Segment) error {
	_, err := call(ctx, c, func(within time.Duration, done func(nothing, error)) {
		c.space.Trim(s, within, bare(done))
	})
	return changed(wor.Addr{Segment: s, Offset: wor.TrimOffset}, err)
}

// Capture captures a range. It invalidates all earlier tokens for it.
func (c *Client) Capture(ctx context.Context, r wor.Range) (*wor.Token, error) {
	return call(ctx, c, func(within time.Duration, done func(*wor.Token, error)) { c.space.Capture(r, within, done) })
}

// Write writes a register with a token. It returns nil if the value is decided,
// and wor.ErrWritten if another value is. If another client has captured the
// register meanwhile, Write proposes the value once more to find out which
// value is decided; with Options.Unresolved it returns wor.ErrUnknown instead.
func (c *Client) Write(ctx context.Context, t *wor.Token, offset uint32, value []byte) error {
	a, value := wor.Addr{Segment: t.Range.Segment, Offset: offset}, clone(value)
	_, err := call(ctx, c, func(within time.Duration, done func(nothing, error)) {
		c.space.Write(t, offset, value, within, bare(done))
	})
	if !c.unresolved && errors.Is(err, wor.ErrOutbid) {
		return unresolved(a, c.Propose(ctx, a, value))
	}
	return changed(a, err)
}

// unresolved returns the error of a write whose outcome was unknown and that
// Propose then tried to resolve with error err. If Propose neither decided the
// register nor learned its content, the outcome is still unknown.
func unresolved(a wor.Addr, err error) error {
	for _, known := range []error{nil, wor.ErrWritten, wor.ErrTrimmed, wor.ErrUnknown} {
		if errors.Is(err, known) {
			return err
		}
	}
	return &wor.UnknownError{Addr: a, Cause: err}
}

// WriteRange writes one value to each register of a range and returns an error
// for each. Like a Write with Unresolved, it does not resolve unknown outcomes.
func (c *Client) WriteRange(ctx context.Context, t *wor.Token, r wor.Range, value []byte) ([]error, error) {
	value = clone(value)
	errs, err := call(ctx, c, func(within time.Duration, done func([]error, error)) {
		c.space.WriteRange(t, r, value, within, func(errs []error) { done(errs, nil) })
	})
	return errs, changed(wor.Addr{Segment: r.Segment, Offset: r.Lo}, err)
}

// Propose captures and writes a register until a value is decided. It returns
// nil if that is the given value, and wor.ErrWritten if it is another one.
func (c *Client) Propose(ctx context.Context, a wor.Addr, value []byte) error {
	value = clone(value)
	_, err := call(ctx, c, func(within time.Duration, done func(nothing, error)) {
		c.space.Propose(a, value, within, bare(done))
	})
	return changed(a, err)
}

// WriteUnsafe writes a register without capturing it. The caller must know that
// no other client ever writes or captures it.
func (c *Client) WriteUnsafe(ctx context.Context, a wor.Addr, value []byte) error {
	value = clone(value)
	_, err := call(ctx, c, func(within time.Duration, done func(nothing, error)) {
		c.space.WriteUnsafe(a, value, within, bare(done))
	})
	return changed(a, err)
}

// Read returns the decided value, or wor.ErrUnwritten.
func (c *Client) Read(ctx context.Context, a wor.Addr) ([]byte, error) {
	v, err := call(ctx, c, func(within time.Duration, done func([]byte, error)) { c.space.Read(a, within, done) })
	return clone(v), err
}

// ReadRange reads each register of a range. The values must not be changed.
func (c *Client) ReadRange(ctx context.Context, r wor.Range) ([]wor.Cell, error) {
	return call(ctx, c, func(within time.Duration, done func([]wor.Cell, error)) { c.space.ReadRange(r, within, done) })
}

// Listen calls note for the decided registers of a range, at least once each,
// until the context or the client ends. It calls note in the client's Serial:
// note must not block, nor call the Client.
func (c *Client) Listen(ctx context.Context, r wor.Range, note func(wor.Cell)) {
	c.serial.Do(func() {
		stop := c.space.Listen(r, note)
		context.AfterFunc(ctx, func() { c.serial.Do(stop) })
	})
}

func clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}
