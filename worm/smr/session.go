// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// ErrSession reports that a command's session was dropped. The command was not
// applied this time, but may have been applied before.
var ErrSession = errors.New("session was forgotten")

// shared is this package's part of the replicated state: for each session the
// applied commands and their results, and the progress of the replicas. All
// replicas have the same state after the same commands.
type shared struct {
	sessions map[uint64]*session
	// opened counts the sessions and used the commands. session.used orders the
	// sessions by their last command.
	opened, used uint64
	// seen has the progress reports of the replicas, in the order in which the
	// replicas last wrote.
	seen []report
}

type session struct {
	// low: the owner has received the results of all commands with lower
	// numbers.
	low     uint64
	used    uint64
	results map[uint64][]byte
}

// report is the progress of a replica.
type report struct {
	origin  uint64
	applied Slot
}

// reportsMax is the number of replicas whose reports are remembered.
const reportsMax = 64

func newShared() *shared { return &shared{sessions: map[uint64]*session{}} }

// apply applies a command, unless it was applied before. It then returns the
// result of the first time.
func (s *shared) apply(c command, m StateMachine) (result []byte, err error) {
	s.used++
	switch c.verb {
	case verbOpen:
		s.opened++
		if len(s.sessions) >= SessionsMax {
			s.forget()
		}
		s.sessions[s.opened] = &session{low: 1, used: s.used, results: map[uint64][]byte{}}
		return binary.LittleEndian.AppendUint64(nil, s.opened), nil
	case verbReport:
		s.note(report{c.session, Slot(c.number)})
		return nil, nil
	}
	x := s.sessions[c.session]
	if x == nil {
		return nil, ErrSession
	}
	x.used = s.used
	if result, ok := x.results[c.number]; ok {
		return result, nil
	}
	if c.number < x.low {
		return nil, ErrSession // its owner has the result
	}
	result = m.Apply(c.body)
	x.results[c.number] = result
	if c.low > x.low {
		for n := range x.results {
			if n < c.low {
				delete(x.results, n)
			}
		}
		x.low = c.low
	}
	for len(x.results) > ResultsMax {
		first := x.low
		if _, ok := x.results[first]; !ok {
			// Numbers may have gaps, of any size.
			first = slices.Min(slices.Collect(maps.Keys(x.results)))
		}
		delete(x.results, first)
		x.low = first + 1
	}
	return result, nil
}

// forget drops the least recently used session.
func (s *shared) forget() {
	oldest := uint64(0)
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		if o := s.sessions[oldest]; o == nil || s.sessions[id].used < o.used {
			oldest = id
		}
	}
	delete(s.sessions, oldest)
}

// note records a replica's report.
func (s *shared) note(r report) {
	s.seen = slices.DeleteFunc(s.seen, func(o report) bool { return o.origin == r.origin })
	s.seen = append(s.seen, r)
	if len(s.seen) > reportsMax {
		s.seen = s.seen[1:]
	}
}

// appliedBy returns the slot below which n replicas have applied everything,
// according to their reports.
func (s *shared) appliedBy(n int) Slot {
	if n > len(s.seen) {
		return 0
	}
	var all []Slot
	for _, r := range s.seen {
		all = append(all, r.applied)
	}
	slices.Sort(all)
	return all[len(all)-n]
}

// encode encodes the state and the next slot, for a snapshot.
func (s *shared) encode(next Slot) []byte {
	put := binary.LittleEndian.AppendUint64
	b := put(nil, uint64(next))
	b = put(put(b, s.opened), s.used)
	b = put(b, uint64(len(s.seen)))
	for _, r := range s.seen {
		b = put(put(b, r.origin), uint64(r.applied))
	}
	b = put(b, uint64(len(s.sessions)))
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		x := s.sessions[id]
		b = put(put(put(put(b, id), x.low), x.used), uint64(len(x.results)))
		for _, n := range slices.Sorted(maps.Keys(x.results)) {
			b = put(put(b, n), uint64(len(x.results[n])))
			b = append(b, x.results[n]...)
		}
	}
	return b
}

// errSnapshot reports bytes that are not a snapshot of this package.
var errSnapshot = errors.New("snapshot does not decode")

// decodeShared is the inverse of encode.
func decodeShared(b []byte) (*shared, Slot, error) {
	r := reader{rest: b}
	s := newShared()
	next := Slot(r.number())
	s.opened, s.used = r.number(), r.number()
	for range r.count(16) {
		s.seen = append(s.seen, report{r.number(), Slot(r.number())})
	}
	for range r.count(32) {
		id, x := r.number(), &session{results: map[uint64][]byte{}}
		x.low, x.used = r.number(), r.number()
		for range r.count(16) {
			n := r.number()
			x.results[n] = slices.Clone(r.bytes())
		}
		s.sessions[id] = x
	}
	if r.failed || len(r.rest) > 0 {
		return nil, 0, errSnapshot
	}
	return s, next, nil
}

// reader decodes numbers and bytes from a buffer; failed is set when there were
// too few.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) number() uint64 {
	if len(r.rest) < 8 {
		r.failed = true
		return 0
	}
	n := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return n
}

// count decodes the number of elements of at least size bytes each.
func (r *reader) count(size int) int {
	n := r.number()
	if n > uint64(len(r.rest)/size) {
		r.failed = true
		return 0
	}
	return int(n)
}

func (r *reader) bytes() []byte {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.failed = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}
