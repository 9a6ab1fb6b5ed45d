// SPDX-License-Identifier: Apache-2.0

package paxos

import (
	"bytes"
	"fmt"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Save calls yield with records that recreate the state on an empty Acceptor,
// in the order of addresses, until yield returns false. A record is valid until
// yield returns.
func (a *Acceptor) Save(yield func(record []byte) bool) {
	a.each(0, func(x stretch) bool {
		a.record = trimRecord(a.record[:0], x)
		return yield(a.record)
	}, func(number wor.Segment, s *segment) bool {
		for _, p := range s.pages {
			if !a.savePage(number, p, yield) {
				return false
			}
		}
		return true
	})
}

// each goes through tombstones and segments, both from segment s on, in the
// order of their numbers, until one of the functions returns false.
func (a *Acceptor) each(s wor.Segment, tomb func(stretch) bool, live func(wor.Segment, *segment) bool) {
	order := a.sorted()
	for len(order) > 0 && order[0] < s {
		order = order[1:]
	}
	more := true
	a.trimmed.all(s, func(x stretch) bool {
		for ; more && len(order) > 0 && order[0] < x.lo; order = order[1:] {
			more = live(order[0], a.segments[order[0]])
		}
		more = more && tomb(x)
		return more
	})
	for ; more && len(order) > 0; order = order[1:] {
		more = live(order[0], a.segments[order[0]])
	}
}

func (a *Acceptor) savePage(number wor.Segment, p *page, yield func([]byte) bool) bool {
	base, start := int(p.number)*pageSize, 0
	for _, run := range p.promises {
		if !run.ballot.IsZero() {
			a.record = promiseRecord(a.record[:0], number, base+start, base+int(run.end), run.ballot)
			if !yield(a.record) {
				return false
			}
		}
		start = int(run.end)
	}
	end := int(p.first) + len(p.values)
	for i := int(p.first); i < end; {
		b, v := p.accepted(i)
		j := i + 1
		if v != nil {
			for ; j < end; j++ {
				if c, w := p.accepted(j); w == nil || c != b || !bytes.Equal(v, w) {
					break
				}
			}
			a.record = acceptRecord(a.record[:0], number, base+i, base+j, b, v)
			if !yield(a.record) {
				return false
			}
		}
		i = j
	}
	return true
}

// States calls yield with the state of each register that is promised or
// written and of each trimmed segment, in the order of addresses from a on,
// until yield returns false. The Acceptor owns the values.
func (a *Acceptor) States(from wor.Addr, yield func(wor.State) bool) {
	a.each(from.Segment, func(x stretch) bool {
		for s := x.lo; ; s++ {
			if (s != from.Segment || from.Offset == 0) &&
				!yield(wor.State{Addr: wor.Addr{Segment: s}, Trimmed: true}) {
				return false
			}
			if s == x.hi {
				return true
			}
		}
	}, func(number wor.Segment, s *segment) bool {
		lo := 0
		if number == from.Segment {
			lo = int(from.Offset)
		}
		more := true
		s.walk(lo, 1<<32, func(p *page, from, to int) bool {
			run := show(p, from, to)
			if run.Promised.IsZero() && !run.Written {
				return true
			}
			for i := from; more && i < to; i++ {
				more = yield(wor.State{
					Addr: wor.Addr{Segment: number, Offset: uint32(i)}, Promised: run.Promised,
					Written: run.Written, Accepted: run.Accepted, Value: run.Value,
				})
			}
			return more
		})
		return more
	})
}

// Adopt takes over a state of the previous epoch: a tombstone stays one, and a
// value counts as accepted at ballot zero. Promises end with their epoch. The
// Acceptor retains the value. An error means that another state was adopted or
// a request handled before.
func (a *Acceptor) Adopt(s wor.State, log *wor.Log) error {
	number, i := s.Addr.Segment, int(s.Addr.Offset)
	switch {
	case s.Trimmed:
		a.trim(number, log)
		return nil
	case !s.Written:
		return nil
	case a.trimmed.has(number):
		return fmt.Errorf("paxos: adopt register %v: its segment is trimmed", s.Addr)
	case s.Addr.Offset == 1<<32-1 || len(s.Value) > wor.ValueMax:
		return fmt.Errorf("paxos: adopt register %v: %d bytes exceed a limit", s.Addr, len(s.Value))
	}
	value := keep(s.Value)
	run, accept := judge(a.find(number), i, wor.Ballot{}, value)
	if run.Status != wor.StatusOK {
		return fmt.Errorf("paxos: adopt register %v: %v", s.Addr, run.Status)
	}
	if accept {
		a.accept(a.open(number), i, wor.Ballot{}, value)
		a.record = acceptRecord(a.record[:0], number, i, i+1, wor.Ballot{}, value)
		log.Append(a.record)
	}
	return nil
}
