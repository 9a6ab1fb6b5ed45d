// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/tla/value"
	"github.com/ashlar-dev/ashlar/worm/resp"
)

// The front of a server, in the specification a process beside it.
//
// A write takes a session, of which each has at most one write under way; its
// number in the session grows with every write, and the number of the life of the
// server stands before it. So a write that is repeated takes effect once, and one of
// an earlier life that arrives late takes none after one of a later life. Writes
// that come while others are under way wait, and go together: one entry of the
// journal and one message to each server serve all of them. Reads likewise.
const (
	sessions     = 1024 // per server
	askedMax     = 256  // writes in one message
	askedBytes   = 1 << 20
	batchesMax   = 2 // messages of writes under way
	readMax      = 1024
	keyMax       = 1 << 10
	valueMax     = 64 << 10
	waitingMax   = 16 << 10 // operations that wait, over all connections
	repeatAfter  = 400 * time.Millisecond
	repeatEvery  = 100 * time.Millisecond
	giveUpAfter  = 20 * time.Second
	lookEvery    = 50 * time.Millisecond // for what is to be repeated or given up
	giveUpText   = "the cluster has no leader that answers; the write may take effect later"
	noLeaderText = "the cluster has no leader that answers"
)

// front is a resp.Store.
type front struct {
	self     int32
	life     int32
	now      func() time.Time
	in, out  *queue.Queue // of the server, and of the front
	wake     chan struct{}
	mu       sync.Mutex
	free     []*session
	sessions map[string]*session
	batches  int // under way
	writes   []*write
	reads    []*read
	waiting  int
	reading  *reading // under way
	rounds   int32
	looked   time.Time // when expire and again were called last
	stopped  bool
}

// session is a place for one write at a time.
type session struct {
	name  string
	n     int32
	write *write
	batch *int // how many of its message are not answered
	asked time.Time
}

type write struct {
	op         string
	key, value string
	since      time.Time
	done       func(found bool, err error)
}

type read struct {
	keys  []string
	since time.Time
	done  func(values []value.Value, err error)
}

// reading is a message of reads under way.
type reading struct {
	n     int32
	asked time.Time
	reads []*read
}

func newFront(self int, life uint64, in, out *queue.Queue) *front {
	f := &front{self: int32(self), life: int32(life), now: time.Now, in: in, out: out, wake: make(chan struct{}, 1), sessions: map[string]*session{}}
	for i := range sessions {
		s := &session{name: fmt.Sprintf("%d.%d", self, i)}
		f.sessions[s.name] = s
		f.free = append(f.free, s)
	}
	return f
}

var errBusy = errors.New("the server has as many commands waiting as it takes")

// Do implements resp.Store. It calls done from another goroutine.
func (f *front) Do(t *resp.Txn, done func(held bool, results []resp.Result, err error)) {
	fail := func(err error) { go done(true, nil, err) }
	if len(t.Watches) > 0 {
		fail(errors.New("WATCH is not supported"))
		return
	}
	gets, key := 0, 0
	for _, o := range t.Ops {
		if o.Kind == resp.Get {
			gets++
		}
		key = max(key, len(o.Key))
	}
	f.mu.Lock()
	switch {
	case len(t.Ops) == 0:
		f.mu.Unlock()
		fail(nil)
	case key > keyMax:
		f.mu.Unlock()
		fail(fmt.Errorf("a key is longer than %d bytes", keyMax))
	case f.stopped || f.waiting >= waitingMax:
		f.mu.Unlock()
		fail(errBusy)
	case gets == len(t.Ops) && gets <= readMax:
		f.waiting++
		f.reads = append(f.reads, &read{keys: keysOf(t), since: f.now(), done: func(values []value.Value, err error) { done(true, found(values), err) }})
		f.mu.Unlock()
		poke(f.wake)
	case len(t.Ops) == 1 && t.Ops[0].When == resp.Always && (t.Ops[0].Kind == resp.Set || t.Ops[0].Kind == resp.Delete):
		o := t.Ops[0]
		if len(o.Value) > valueMax {
			f.mu.Unlock()
			fail(fmt.Errorf("a value is longer than %d bytes", valueMax))
			return
		}
		w := &write{op: "put", key: o.Key, value: string(o.Value), since: f.now(), done: func(found bool, err error) {
			done(true, []resp.Result{{Done: true, Found: found}}, err)
		}}
		if o.Kind == resp.Delete {
			w.op = "delete"
		}
		f.waiting++
		f.writes = append(f.writes, w)
		f.mu.Unlock()
		poke(f.wake)
	case len(t.Ops) == 1 && t.Ops[0].Kind == resp.Count:
		f.mu.Unlock()
		go done(true, []resp.Result{{Failure: resp.Unavailable}}, nil)
	default:
		f.mu.Unlock()
		fail(errors.New("only GET, MGET, EXISTS, SET without conditions, and DEL of one key are supported"))
	}
}

func keysOf(t *resp.Txn) (keys []string) {
	for _, o := range t.Ops {
		keys = append(keys, o.Key)
	}
	return keys
}

// found makes results of values as Lookup of the specification has them.
func found(values []value.Value) []resp.Result {
	out := make([]resp.Result, len(values))
	for i, v := range values {
		if v.Field("there").AsBool() {
			out[i] = resp.Result{Done: true, Found: true, Value: []byte(v.Field("val").AsString())}
		}
	}
	return out
}

// run sends and receives until ctx ends.
func (f *front) run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { f.receive(ctx) })
	tick := time.NewTicker(repeatEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		for _, m := range f.messages() {
			if f.in.Send(ctx, m) != nil {
				break
			}
		}
		select {
		case <-f.wake:
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	all.Wait()
	f.stop()
}

// stop fails all that waits.
func (f *front) stop() {
	f.mu.Lock()
	f.stopped = true
	var ends []func()
	fail := func(w *write) { ends = append(ends, func() { w.done(false, errors.New(giveUpText)) }) }
	for _, s := range f.sessions {
		if s.write != nil {
			fail(s.write)
		}
	}
	for _, w := range f.writes {
		fail(w)
	}
	reads := f.reads
	if f.reading != nil {
		reads = append(reads, f.reading.reads...)
	}
	for _, r := range reads {
		ends = append(ends, func() { r.done(nil, errors.New(noLeaderText)) })
	}
	f.mu.Unlock()
	for _, end := range ends {
		end()
	}
}

// messages takes what is to be said to the server now.
func (f *front) messages() (out []value.Value) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if now.Sub(f.looked) >= lookEvery {
		f.looked = now
		f.expire(now)
		if m, ok := f.again(now); ok {
			out = append(out, m)
		}
	}
	for f.batches < batchesMax && len(f.writes) > 0 && len(f.free) > 0 {
		out = append(out, f.next(now))
	}
	switch r := f.reading; {
	case r == nil && len(f.reads) > 0:
		keys, n := 0, 0
		for n < len(f.reads) && (n == 0 || keys+len(f.reads[n].keys) <= readMax) {
			keys += len(f.reads[n].keys)
			n++
		}
		f.reading = &reading{reads: f.reads[:n:n]}
		f.reads = f.reads[n:]
		out = append(out, f.read(now))
	case r != nil && now.Sub(r.asked) > repeatAfter:
		out = append(out, f.read(now))
	}
	return out
}

// expire gives up what has waited for too long, and tells the client. A write under
// way may still take effect: the message with it may arrive late. It does so only
// before the next write of its session, so the session is free.
func (f *front) expire(now time.Time) {
	late := func(since time.Time) bool { return now.Sub(since) > giveUpAfter }
	for _, s := range f.sessions {
		if s.write != nil && late(s.write.since) {
			go f.release(s).done(false, errors.New(giveUpText))
		}
	}
	for len(f.writes) > 0 && late(f.writes[0].since) {
		w := f.writes[0]
		f.writes = f.writes[1:]
		f.waiting--
		go w.done(false, errors.New(noLeaderText))
	}
	// Those of a message are older than those that wait. What is left of it is asked again.
	if f.reading != nil && late(f.reading.reads[0].since) {
		f.reads = append(f.reading.reads, f.reads...)
		f.reading = nil
	}
	for len(f.reads) > 0 && late(f.reads[0].since) {
		r := f.reads[0]
		f.reads = f.reads[1:]
		f.waiting--
		go r.done(nil, errors.New(noLeaderText))
	}
}

// release takes the write under way from its session.
func (f *front) release(s *session) *write {
	w := s.write
	s.write = nil
	if *s.batch--; *s.batch == 0 {
		f.batches--
	}
	f.free = append(f.free, s)
	f.waiting--
	return w
}

// next is a message with writes that were not sent yet.
func (f *front) next(now time.Time) value.Value {
	var commands []value.Value
	left, bytes := new(int), 0
	for len(f.writes) > 0 && len(f.free) > 0 && len(commands) < askedMax && bytes < askedBytes {
		w, s := f.writes[0], f.free[len(f.free)-1]
		f.writes, f.free = f.writes[1:], f.free[:len(f.free)-1]
		s.n++
		s.write, s.batch, s.asked = w, left, now
		*left++
		bytes += len(w.key) + len(w.value)
		commands = append(commands, f.command(s))
	}
	f.batches++
	return f.ask(commands)
}

// again is a message with the writes that were sent long ago.
func (f *front) again(now time.Time) (value.Value, bool) {
	var commands []value.Value
	bytes := 0
	for _, s := range f.sessions {
		if s.write == nil || now.Sub(s.asked) <= repeatAfter || len(commands) >= askedMax || bytes > askedBytes {
			continue
		}
		s.asked = now
		bytes += len(s.write.key) + len(s.write.value)
		commands = append(commands, f.command(s))
	}
	return f.ask(commands), len(commands) > 0
}

func (f *front) id(n int32) value.Value {
	return value.Record([]value.Field{{Name: "life", Val: value.Int(f.life)}, {Name: "n", Val: value.Int(n)}})
}

func (f *front) command(s *session) value.Value {
	w := s.write
	return value.Record([]value.Field{{Name: "session", Val: value.String(s.name)}, {Name: "id", Val: f.id(s.n)}, {Name: "at", Val: value.Int(f.self)},
		{Name: "op", Val: value.String(w.op)}, {Name: "key", Val: value.String(w.key)}, {Name: "val", Val: value.String(w.value)}})
}

func (f *front) ask(commands []value.Value) value.Value {
	return value.Record([]value.Field{{Name: "type", Val: value.String("ask")}, {Name: "term", Val: value.Int(0)}, {Name: "from", Val: value.Int(f.self)},
		{Name: "first", Val: value.Bool(true)}, {Name: "commands", Val: value.TupleOf(commands)}})
}

// read is a message with the reads under way, with a number of its own: an answer to
// an earlier one may be older than the reads.
func (f *front) read(now time.Time) value.Value {
	f.rounds++
	f.reading.n, f.reading.asked = f.rounds, now
	var keys []value.Value
	for _, r := range f.reading.reads {
		for _, k := range r.keys {
			keys = append(keys, value.String(k))
		}
	}
	return value.Record([]value.Field{{Name: "type", Val: value.String("read")}, {Name: "term", Val: value.Int(0)}, {Name: "id", Val: f.id(f.rounds)},
		{Name: "keys", Val: value.TupleOf(keys)}})
}

// receive passes the server's answers on.
func (f *front) receive(ctx context.Context) {
	for {
		m, err := f.out.Receive(ctx)
		if err != nil {
			return // ctx has ended
		}
		switch m.Field("type").AsString() {
		case "answers":
			for _, a := range m.Field("answers").Elements() {
				f.answered(a)
			}
		case "values":
			f.heard(m.Field("id"), m.Field("values").Elements())
		}
		poke(f.wake)
	}
}

func (f *front) answered(a value.Value) {
	id := a.Field("id")
	f.mu.Lock()
	s := f.sessions[a.Field("session").AsString()]
	if s == nil || s.write == nil || id.Field("life").AsInt() != f.life || id.Field("n").AsInt() != s.n {
		f.mu.Unlock()
		return // it was answered already
	}
	w := f.release(s)
	f.mu.Unlock()
	w.done(a.Field("found").AsBool(), nil)
}

func (f *front) heard(id value.Value, values []value.Value) {
	f.mu.Lock()
	r := f.reading
	if r == nil || id.Field("life").AsInt() != f.life || id.Field("n").AsInt() != r.n {
		f.mu.Unlock()
		return
	}
	f.reading = nil
	f.waiting -= len(r.reads)
	f.mu.Unlock()
	for _, x := range r.reads {
		x.done(values[:len(x.keys)], nil)
		values = values[len(x.keys):]
	}
}
