// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Reads without votes.
//
// For one partition, its owner reads the values at a moment when no key is
// locked for writing, and then checks in the registers whether another process
// owns the partition. If none does now, none did at that moment. So every
// committed transaction on these keys had been applied then, because otherwise
// it would hold its locks.
//
// For several partitions, each is read twice. If no version has changed, all
// values were present at every moment between the end of the first round and
// the beginning of the second; the second round also checks the owners. A
// request that fails too often takes locks and votes like one that writes.

// lockAfter is the number of attempts after which a read takes locks.
const lockAfter = 4

const (
	msgRead = msgOther + iota
	msgSession
	// msgLeave reports that a server is shutting down. The payload is the
	// server's identity.
	msgLeave
	// msgCount asks how many keys a partition has.
	msgCount
)

// seen is the result of reading one key.
type seen struct {
	found   bool
	version uint64
	value   []byte
}

// readKeys reads keys of a partition here. With confirm, it returns them only
// if no other process owned the partition meanwhile.
func (s *shard) readKeys(keys []string, confirm bool, done func([]seen, error)) {
	if !s.open {
		done(nil, ErrNoOwner)
		return
	}
	if key, blocked := s.locks.blocked(nil, keys); blocked {
		if !s.locks.wait(key, func() { s.readKeys(keys, confirm, done) }) {
			done(nil, ErrBusy)
		}
		return
	}
	out := make([]seen, len(keys))
	for i, k := range keys {
		e, found := s.state.get(k)
		out[i] = seen{found, s.state.version(k), e.value}
	}
	if !confirm {
		done(out, nil)
		return
	}
	s.kv.engine.Confirm(s.rm, func(err error) { done(out, err) })
}

// read answers a read-only request.
func (c *call) read() {
	keys := make([][]string, len(c.parts))
	for i := range c.parts {
		_, keys[i] = keysOf(&Request{Ops: c.parts[i].ops})
	}
	if len(c.parts) == 1 {
		c.k.shards[c.parts[0].rm].readKeys(keys[0], true, func(got []seen, err error) {
			if err != nil {
				c.restart()
				return
			}
			c.answerRead(keys, [][]seen{got})
		})
		return
	}
	c.round(keys, false, func(first [][]seen) {
		c.round(keys, true, func(second [][]seen) {
			for i := range first {
				for j := range first[i] {
					if first[i][j].version != second[i][j].version || first[i][j].found != second[i][j].found {
						c.restart()
						return
					}
				}
			}
			c.answerRead(keys, first)
		})
	})
}

// round reads all partitions once.
func (c *call) round(keys [][]string, again bool, done func([][]seen)) {
	got := make([][]seen, len(keys))
	left, failed := len(keys), false
	for i := range keys {
		c.k.askRead(c.parts[i].rm, keys[i], again, func(v []seen, err error) {
			got[i] = v
			failed = failed || err != nil
			if left--; left > 0 {
				return
			}
			if failed {
				c.restart()
				return
			}
			done(got)
		})
	}
}

func (c *call) answerRead(keys [][]string, got [][]seen) {
	briefs := make([][]byte, len(c.parts))
	for i := range c.parts {
		results := make([]OpResult, len(c.parts[i].ops))
		for j := range c.parts[i].ops {
			o := &c.parts[i].ops[j]
			at, _ := slices.BinarySearch(keys[i], o.Key)
			v := got[i][at]
			held := o.When == Always || o.When == IfPresent && v.found || o.When == IfAbsent && !v.found
			results[j] = OpResult{Done: held, Found: v.found}
			if held {
				results[j].Value, results[j].Version = v.value, v.version
			}
		}
		briefs[i] = encodeBrief(true, results)
	}
	c.finish(briefs, true)
}

// askRead asks a partition's owner to read keys.
func (k *KV) askRead(rm RM, keys []string, again bool, done func([]seen, error)) {
	if s := k.shards[rm]; s != nil && s.open {
		s.readKeys(keys, again, done)
		return
	}
	var m encoder
	m.u8(msgRead)
	m.uint(uint64(rm))
	m.bool(again)
	m.uint(uint64(len(keys)))
	for _, key := range keys {
		m.string(key)
	}
	k.askOwner(rm, m.b, func(d *decoder, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		out := make([]seen, 0, len(keys))
		for range d.count(3, OpsMax) {
			out = append(out, seen{d.bool(), d.uint(), d.bytes()})
		}
		if !d.done() || len(out) != len(keys) {
			err = ErrNoOwner
		}
		done(out, err)
	})
}

// askOwner sends a request to the owner of a partition; any answer but OK is an
// error.
func (k *KV) askOwner(rm RM, b []byte, done func(*decoder, error)) {
	to, ok := k.engine.Route(rm)
	if !ok || to.ID == k.opt.Engine.Self.ID {
		k.engine.after(0, func() { done(nil, ErrNoOwner) })
		return
	}
	k.engine.invoke(to, b, func(b []byte, err error) {
		d := &decoder{b: b}
		if err != nil {
			done(nil, err)
			return
		}
		switch d.u8() {
		case answerOK:
			done(d, nil)
		case answerNotOwner:
			k.engine.redirected(rm, d)
			done(nil, ErrNoOwner)
		default:
			done(nil, ErrBusy)
		}
	})
}

// askSession asks for a partition's earlier answer to a request.
func (k *KV) askSession(rm RM, q *Request, done func(answered, bool)) {
	if s := k.shards[rm]; s != nil && s.open {
		a, ok := s.answered(q.Client, q.Seq)
		k.engine.after(0, func() { done(a, ok) })
		return
	}
	var m encoder
	m.u8(msgSession)
	m.uint(uint64(rm))
	m.u64(q.Client)
	m.uint(q.Seq)
	k.askOwner(rm, m.b, func(d *decoder, err error) {
		if err != nil {
			done(answered{}, false)
			return
		}
		ok := d.bool()
		a := answered{d.bool(), d.bytes()}
		done(a, ok && d.done())
	})
}

func (s *shard) answered(client, seq uint64) (answered, bool) {
	x := s.state.sessions.find(client)
	if x == nil {
		return answered{}, false
	}
	a, ok := x.answers[seq]
	return a, ok
}

// Message implements Messages.
func (k *KV) Message(kind uint8, b []byte, answer func([]byte)) {
	d := &decoder{b: b}
	rm := RM(d.u32())
	if d.bad || int(rm) >= k.opt.Engine.RMs {
		answer([]byte{answerBad})
		return
	}
	if kind == msgLeave {
		if id := wor.ServerID(d.u64()); d.done() {
			answer([]byte{answerOK})
			k.left(id)
		} else {
			answer([]byte{answerBad})
		}
		return
	}
	s := k.shards[rm]
	if s == nil || !s.open {
		answer(k.engine.notOwner(rm))
		return
	}
	switch kind {
	case msgRead:
		again := d.bool()
		keys := make([]string, 0, 8)
		for range d.count(1, OpsMax) {
			keys = append(keys, d.string())
		}
		if !d.done() {
			answer([]byte{answerBad})
			return
		}
		s.readKeys(keys, again, func(got []seen, err error) {
			if err != nil {
				answer([]byte{answerBusy})
				return
			}
			e := encoder{[]byte{answerOK}}
			e.uint(uint64(len(got)))
			for i := range got {
				e.bool(got[i].found)
				e.uint(got[i].version)
				if again {
					e.bytes(nil) // sent in the first round
				} else {
					e.bytes(got[i].value)
				}
			}
			answer(e.b)
		})
	case msgSession:
		client, seq := d.u64(), d.uint()
		if !d.done() {
			answer([]byte{answerBad})
			return
		}
		a, ok := s.answered(client, seq)
		e := encoder{[]byte{answerOK}}
		e.bool(ok)
		e.bool(a.held)
		e.bytes(a.brief)
		answer(e.b)
	case msgCount:
		if !d.done() {
			answer([]byte{answerBad})
			return
		}
		s.count(func(keys int, err error) {
			if err != nil {
				answer([]byte{answerBusy})
				return
			}
			e := encoder{[]byte{answerOK}}
			e.uint(uint64(keys))
			answer(e.b)
		})
	default:
		answer([]byte{answerBad})
	}
}
