// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// KVOptions are the options of a KV.
type KVOptions struct {
	// NewKV sets Engine.Resource; Engine.Managers defaults to Servers.
	// Engine.RMs is the number of partitions.
	Engine Options
	// Servers are all processes of the store, in the same order on each: server
	// p modulo their number begins partition p. Self is one of them.
	Servers []wor.Member
	// BytesMax is the approximate limit of memory for the keys and values of
	// one partition; beyond it, writes are refused. Default: 1 GiB.
	BytesMax int64
	// PingEvery is how often the servers ask each other which partitions they
	// own; a server that does not answer for FailAfter loses its partitions.
	// FailAfter grows where answers take long. Default: 250 ms and 2 s.
	PingEvery, FailAfter time.Duration
	// RestartDelay is how long a transaction that met a lock waits at first.
	// Later it waits for about the duration of a transaction. Default: 2 ms.
	RestartDelay time.Duration
}

func (o KVOptions) complete() (KVOptions, error) {
	if o.BytesMax == 0 {
		o.BytesMax = 1 << 30
	}
	if o.PingEvery == 0 {
		o.PingEvery = 250 * time.Millisecond
	}
	if o.FailAfter == 0 {
		o.FailAfter = 8 * o.PingEvery
	}
	if o.RestartDelay == 0 {
		o.RestartDelay = 2 * time.Millisecond
	}
	if len(o.Engine.Managers) == 0 {
		o.Engine.Managers = o.Servers
	}
	if o.Engine.Variant == F2 {
		return o, errors.New("variant F2: the servers of a key-value store do not know a transaction in advance: use E3")
	}
	for _, s := range o.Servers {
		if s.ID == o.Engine.Self.ID {
			return o, nil
		}
	}
	return o, fmt.Errorf("KVOptions.Servers must contain this server, %v", o.Engine.Self.ID)
}

// KV is a server's part in the key-value store. It owns some partitions, and
// coordinates the requests whose first partition is one of them.
//
// A partition is an RM. The KV evaluates its part of a transaction under locks,
// on the partition's state. The images of the values to be written go into the
// YES vote and, if the transaction commits, into the state; then the KV
// releases the locks. A condition that does not hold is no reason for a NO: the
// transaction commits without effect, so that its answer is remembered like any
// other.
type KV struct {
	opt       KVOptions
	engine    *Engine
	random    env.Random
	shards    []*shard
	watch     watch
	acquiring []bool
	calls     int
	mean      time.Duration // the mean duration of a transaction
	stopped   bool
}

// shard is a partition owned by this server.
type shard struct {
	kv       *KV
	rm       RM
	open     bool
	state    *state
	locks    locks
	prepared map[ID]*prepared
	snapshot snapshot
}

// prepared is a transaction between its YES vote and its outcome.
type prepared struct {
	redo          redo
	order         uint64
	brief         []byte
	writes, reads []string
}

// NewKV makes the server's part and starts it. The caller must register its
// handlers before anything else runs.
func NewKV(o KVOptions) (*KV, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	k := &KV{opt: o, random: o.Engine.Env.Random.Split("kv"), mean: o.RestartDelay}
	o.Engine.Resource = k
	if k.engine, err = New(o.Engine); err != nil {
		return nil, err
	}
	k.opt.Engine = k.engine.opt
	n := o.Engine.RMs
	k.shards, k.acquiring = make([]*shard, n), make([]bool, n)
	k.watch.init(k)
	k.engine.after(0, k.start)
	return k, nil
}

// Stop ends the KV: it sends no more answers, and other servers finish its
// transactions. The caller may make another KV on the same Space.
func (k *KV) Stop() {
	k.stopped = true
	k.engine.Halt()
}

// Leave is Stop for an orderly shutdown: it notifies the other servers, which
// take over its partitions at once instead of after a timeout. It calls done
// when all have answered, or after FailAfter.
func (k *KV) Leave(done func()) {
	if k.stopped {
		done()
		return
	}
	k.Stop()
	var m encoder
	m.u8(msgLeave)
	m.uint(0) // for no partition
	m.u64(uint64(k.opt.Engine.Self.ID))
	left := 1
	part := func() {
		if left--; left == 0 {
			done()
		}
	}
	for _, to := range k.opt.Servers {
		if to.ID != k.opt.Engine.Self.ID {
			left++
			k.engine.port.messenger.Invoke(to, wor.ServiceTx, m.b, k.opt.FailAfter, func([]byte, error) { part() })
		}
	}
	part()
}

// HandleTx is the wor.Handler of wor.ServiceTx.
func (k *KV) HandleTx(b []byte, answer func([]byte)) {
	if !k.stopped {
		k.engine.Handle(b, answer)
	}
}

// Owned returns the partitions that this server owns and that are open.
func (k *KV) Owned() []RM {
	var out []RM
	for rm, s := range k.shards {
		if s != nil && s.open {
			out = append(out, RM(rm))
		}
	}
	return out
}

// Size returns the number of keys in this server's partitions, and about how
// much memory they take.
func (k *KV) Size() (keys int, bytes int64) {
	for _, s := range k.shards {
		if s != nil {
			keys += s.state.keys
			bytes += s.state.bytes
		}
	}
	return keys, bytes
}

// The reasons of a NO.
const (
	reasonConflict  = "conflict"
	reasonDuplicate = "duplicate"
	reasonStale     = "stale"
	reasonFull      = "full"
)

var _ Resource = (*KV)(nil)
var _ Checkpointer = (*KV)(nil)
var _ Messages = (*KV)(nil)

// Prepare implements Resource.
func (k *KV) Prepare(rm RM, id ID, order uint64, b []byte) (brief, redoBytes []byte, yes bool) {
	no := func(reason string) ([]byte, []byte, bool) { return []byte(reason), nil, false }
	s := k.shards[rm]
	q, ok := decodePart(b)
	if !ok || s == nil || !s.open {
		return no(reasonGarbled)
	}
	for i := range q.Ops {
		if PartitionOf(q.Ops[i].Key, k.opt.Engine.RMs) != rm || len(q.Ops[i].Key) > KeyMax || len(q.Ops[i].Value) > ValueMax {
			return no(reasonGarbled)
		}
	}
	if q.Seq != 0 {
		if reason := s.known(q); reason != "" {
			return no(reason)
		}
	}
	writes, reads := keysOf(q)
	if _, blocked := s.locks.blocked(writes, reads); blocked {
		return no(reasonConflict)
	}
	f := s.state.evaluate(q)
	p := &prepared{redo: redo{q.Client, q.Seq, q.Low, f.writes}, order: order, writes: writes, reads: reads}
	p.brief = encodeBrief(f.held, f.results)
	redoBytes = p.redo.encode()
	if len(p.brief) > BriefMax || len(p.brief)+len(redoBytes) > VoteMax {
		return no(ReasonLimit)
	}
	if s.state.bytes > k.opt.BytesMax && grows(f.writes) {
		return no(reasonFull)
	}
	s.locks.lock(writes, reads)
	s.prepared[id] = p
	return p.brief, redoBytes, true
}

// grows reports whether a write stores a value; if not, it removes the key.
func grows(writes []write) bool {
	for i := range writes {
		if !writes[i].deleted {
			return true
		}
	}
	return false
}

// known returns the reason why a request must not be performed again. A running
// request holds the locks of the keys that it writes, so a duplicate of it
// meets a conflict.
func (s *shard) known(q *Request) string {
	if x := s.state.sessions.find(q.Client); x != nil {
		if _, ok := x.answers[q.Seq]; ok {
			return reasonDuplicate
		}
		if q.Seq < x.low {
			return reasonStale
		}
	}
	return ""
}

// Finish implements Resource: it applies a committed transaction and then
// releases the locks.
func (k *KV) Finish(rm RM, id ID, o *Outcome) {
	s := k.shards[rm]
	invariant.Check(s != nil && s.prepared[id] != nil, "outcome of %v, which was not prepared", id)
	p := s.prepared[id]
	delete(s.prepared, id)
	if o.Commit {
		s.state.apply(&p.redo, p.order, allHeld(o.Briefs), p.brief)
	}
	s.locks.unlock(p.writes, p.reads)
}

// allHeld reports whether the conditions held in all parts.
func allHeld(briefs [][]byte) bool {
	for _, b := range briefs {
		if len(b) == 0 || b[0] != 1 {
			return false
		}
	}
	return true
}

// Lost implements Resource.
func (k *KV) Lost(rm RM) {
	k.watch.lost(rm)
	s := k.shards[rm]
	if s == nil {
		k.acquiring[rm] = false // it was about to open
		return
	}
	s.open = false
	k.shards[rm] = nil
	owner, _ := k.engine.Route(rm)
	k.trace(Disowned{rm, owner})
	// The waiting calls learn that another server owns the partition.
	for _, key := range sortedKeys(s.locks.byKey) {
		waiting := s.locks.byKey[key].waiting
		s.locks.byKey[key].waiting = nil
		for _, f := range waiting {
			f()
		}
	}
}

func (k *KV) now() env.Instant { return k.opt.Engine.Env.Clock.Now() }
