package smr

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// ErrSession says that a command's session was forgotten: the command was not
// applied now, but may have been before.
var ErrSession = errors.New("session was forgotten")

// shared is the part of the replicated state that is ours: which commands of
// which sessions were applied, with what results, and how far replicas were. All
// replicas have the same after the same commands.
type shared struct {
	sessions map[uint64]*session
	// opened counts sessions, and used the commands: session.used orders the
	// sessions by their last command.
	opened, used uint64
	// seen is how far replicas had applied when they last wrote, in order of
	// their last writing.
	seen []report
}

type session struct {
	// low: the owner has got the results of the commands below.
	low     uint64
	used    uint64
	results map[uint64][]byte
}

// report is how far a replica has applied.
type report struct {
	origin  uint64
	applied Slot
}

// reportsMax is how many replicas' reports are remembered.
const reportsMax = 64

func newShared() *shared { return &shared{sessions: map[uint64]*session{}} }

// apply applies a command, if it was not before. The result is that of the first
// time.
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

// forget forgets the session that was not used for the longest time.
func (s *shared) forget() {
	oldest := uint64(0)
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		if o := s.sessions[oldest]; o == nil || s.sessions[id].used < o.used {
			oldest = id
		}
	}
	delete(s.sessions, oldest)
}

// note takes a replica's report.
func (s *shared) note(r report) {
	s.seen = slices.DeleteFunc(s.seen, func(o report) bool { return o.origin == r.origin })
	s.seen = append(s.seen, r)
	if len(s.seen) > reportsMax {
		s.seen = s.seen[1:]
	}
}

// appliedBy is how far n replicas have applied, as far as they reported.
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

// encode is the state and the slot that is applied next, for a snapshot.
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

// errSnapshot says that a snapshot is not one of ours.
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

// reader takes numbers and bytes from a buffer; failed once there were too few.
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

// count is a number of things of at least size bytes each.
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
