// SPDX-License-Identifier: Apache-2.0

package worm

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// LogMax is the highest number of a log in a cluster of ashlard: the numbers
// above it belong to the cluster's key-value store. Number 0 is not a log's,
// because it would use the segments below 1<<32, which are reserved for clients
// that use registers directly.
const LogMax = log.ID(KVInstance)<<16 - 1

// Log is a shared log with blocking calls. It is safe for concurrent use.
type Log struct {
	client *Client
	log    *log.Log
}

// LogOptions are the options of Client.Log. The zero value is the default.
type LogOptions struct {
	// Prefetch is log.Options.Prefetch: an append takes one round trip, and gives
	// up real-time order.
	Prefetch uint32
	// Holes is log.Options.Holes.
	Holes log.Holes
}

// Log opens the shared log of that number, from 1 to LogMax; a log need not be
// created. It asks the cluster for its servers, whose sequencers it uses.
func (c *Client) Log(ctx context.Context, id log.ID, o LogOptions) (*Log, error) {
	if id < 1 || id > LogMax {
		return nil, &wor.LimitError{Name: "worm.LogMax", Limit: int64(LogMax), Got: int64(id)}
	}
	members, err := c.Members(ctx)
	if err != nil {
		return nil, err
	}
	l, err := call(ctx, c, func(_ time.Duration, done func(*log.Log, error)) {
		l, err := log.Open(log.Options{
			Space: c.space, Messenger: c.messenger, Clock: c.clock, Random: env.Seeded(c.random.Uint64()), Serial: c.serial,
			ID: id, Servers: members, Prefetch: o.Prefetch, Holes: o.Holes,
		})
		if err == nil {
			c.cluster.handles[l] = l.SetServers
		}
		done(l, err)
	})
	if err != nil {
		return nil, err
	}
	return &Log{c, l}, nil
}

// Close ends the log, but not the client. Pending appends return ErrUnknown, or
// ErrClosed if nothing of them was written. The caller must call it before the
// client's Close.
func (l *Log) Close() {
	l.client.Sync(func() {
		delete(l.client.cluster.handles, l.log)
		l.log.Close()
	})
}

// Append appends data, of at most log.EntryMax bytes, and returns its position.
// After wor.ErrUnknown the data may be in the log, or get there later.
func (l *Log) Append(ctx context.Context, data []byte) (log.Position, error) {
	return l.AppendOnce(ctx, log.EntryID{}, data)
}

// AppendOnce is Append under an ID of the caller's choice: after
// wor.ErrUnknown, calling it again with the same ID does not append twice (see
// log.Log.Append). If the context was cancelled, the append may still be
// running for a while; until it ends, a repeated call returns log.ErrID.
func (l *Log) AppendOnce(ctx context.Context, id log.EntryID, data []byte) (log.Position, error) {
	data = clone(data)
	at, err := call(ctx, l.client, func(within time.Duration, done func(log.Position, error)) {
		l.log.Append(log.Entry{ID: id, Data: data}, within, done)
	})
	return at, changed(wor.Addr{}, err)
}

// Read returns the content of a position: an entry, junk or a mark; or
// ErrUnwritten or ErrTrimmed.
func (l *Log) Read(ctx context.Context, at log.Position) (log.Entry, error) {
	e, err := call(ctx, l.client, func(within time.Duration, done func(log.Entry, error)) { l.log.Read(at, within, done) })
	e.Data = clone(e.Data)
	return e, err
}

// Tail returns a position above all appends that ended before the call.
func (l *Log) Tail(ctx context.Context) (log.Position, error) {
	return call(ctx, l.client, func(within time.Duration, done func(log.Position, error)) { l.log.Tail(within, done) })
}

// Head returns the first position that is not trimmed.
func (l *Log) Head(ctx context.Context) (log.Position, error) {
	return call(ctx, l.client, func(within time.Duration, done func(log.Position, error)) { l.log.Head(within, done) })
}

// Fill decides a position that a sequencer has handed out, and returns its
// content.
func (l *Log) Fill(ctx context.Context, at log.Position) (log.Entry, error) {
	e, err := call(ctx, l.client, func(within time.Duration, done func(log.Entry, error)) { l.log.Fill(at, within, done) })
	e.Data = clone(e.Data)
	return e, err
}

// Trim discards everything below a position, rounded down to whole segments.
func (l *Log) Trim(ctx context.Context, below log.Position) error {
	_, err := call(ctx, l.client, func(within time.Duration, done func(nothing, error)) {
		l.log.Trim(below, within, bare(done))
	})
	return changed(wor.Addr{}, err)
}

// followAhead is the number of entries that a Follow buffers for its caller.
const followAhead = 256

// Follow yields the entries from a position on, each once and in order, and
// continues as the log grows. When the context ends, Follow yields its error
// last. It skips trimmed entries. After the caller leaves the loop, the
// underlying subscription ends within a bounded time.
func (l *Log) Follow(ctx context.Context, from log.Position) iter.Seq2[log.Entry, error] {
	return l.follow(ctx, from, 0)
}

// Entries yields the entries from one position up to, but excluding, another
// one, such as the result of Tail.
func (l *Log) Entries(ctx context.Context, from, to log.Position) iter.Seq2[log.Entry, error] {
	return func(yield func(log.Entry, error) bool) {
		if from < to {
			l.follow(ctx, from, to)(yield)
		}
	}
}

func (l *Log) follow(ctx context.Context, from, to log.Position) iter.Seq2[log.Entry, error] {
	return func(yield func(log.Entry, error) bool) {
		q := &queue{news: make(chan struct{}, 1)}
		c := l.client
		c.Sync(func() {
			q.follower = l.log.Follow(log.FollowOptions{From: from}, q.put)
			if to > 0 {
				q.follower.Reached(to, q.end)
			}
		})
		defer c.serial.Do(func() { q.follower.Stop() })
		for {
			entries, over := q.take(c.serial)
			for _, e := range entries {
				if to > 0 && e.Position >= to {
					return
				}
				e.Data = clone(e.Data)
				if !yield(e, nil) {
					return
				}
			}
			if over {
				return
			}
			if len(entries) > 0 {
				continue
			}
			select {
			case <-q.news:
			case <-ctx.Done():
				yield(log.Entry{}, ctx.Err())
				return
			case <-c.closed:
				yield(log.Entry{}, c.why)
				return
			}
		}
	}
}

// queue connects a Follower, in its Serial, to the consumer of the entries.
type queue struct {
	follower *log.Follower
	news     chan struct{}

	mu      sync.Mutex
	entries []log.Entry
	paused  bool
	over    bool
}

func (q *queue) put(e log.Entry) {
	q.mu.Lock()
	q.entries = append(q.entries, e)
	if len(q.entries) >= followAhead && !q.paused {
		q.paused = true
		q.follower.Pause()
	}
	q.mu.Unlock()
	q.tell()
}

// end marks the end of the queue.
func (q *queue) end() {
	q.mu.Lock()
	q.over = true
	q.mu.Unlock()
	q.tell()
}

func (q *queue) tell() {
	select {
	case q.news <- struct{}{}:
	default:
	}
}

// take removes and returns the queued entries.
func (q *queue) take(serial *env.Serial) ([]log.Entry, bool) {
	q.mu.Lock()
	entries, over, paused := q.entries, q.over, q.paused
	q.entries, q.paused = nil, false
	q.mu.Unlock()
	if paused {
		serial.Do(func() { q.follower.Resume() })
	}
	return entries, over
}
