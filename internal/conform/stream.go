// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
)

// A stream reads the logs of all processes side by side. It keeps the sections
// between the oldest position that a search may come back to and the furthest
// that it has looked at, and forgets those before.
//
// Logs are read in the order of their times, so that the stream knows when
// another process first observed a section. A section is due then: a section that
// only writes is needed when another log first observes it, and never if none
// does, because its writes may have arrived long after its own end. A section
// that reads is due at its own end, because the values that it read existed then.
// A section is due no later than the sections that follow it in its log.

// batch is the number of sections that are read at a time.
const batch = 64

// BufferedMax is the number of sections beyond which a search no longer waits to
// learn when a section was needed.
const BufferedMax = 1 << 15

// done is the label at which a process is at its end.
const done = "Done"

// never is the due time of a section that no process is known to have observed.
const never = math.MaxInt64

// place is a number of sections of a life: the index of the life among those of
// its process, and the number in it.
type place struct {
	life int32
	n    uint64
}

// process is a process with a log.
type process struct {
	actor int
	name  string
	lives []*life
	// untraced are the lives without a log.
	untraced []string

	life      int     // that is being read
	from      events  // nil before it is open
	logged    uint64  // the number of its committed sections that were read
	undone    *undone // of the current life
	finished  bool    // the section read last ends the process
	undoneAll int
	clock     tracelog.Clock // of the section that was read last
	needs     []place        // of the section that was read last, over all lives
	base      int            // the number of the first section in buf
	buf       []*Event
	lastEnd   int64
	// ended is set once all sections are known. end is their number, without
	// those that are not checked.
	ended bool
	end   int
	extra int // sections behind end, which are not checked

	waiting []observed // sections that were observed before they were read
}

// observed is a place in a process that another has observed, and when.
type observed struct {
	at  place
	end int64
}

// stream is the logs of all processes.
type stream struct {
	processes []*process
	where     map[string]whereabouts // by the actor's name in clocks
	reader    reader
	buffered  int
	ended     int  // how often the end of a process became known, or moved forward
	sections  int  // that were read, in all
	timed     bool // whether the due times are needed
	live      *Live
	strange   error // the first errNoLife of logs that grow
}

type whereabouts struct {
	process int // -1 for one without any log
	life    int32
}

// errNoLife is the error of a section that has seen a life without a log.
type errNoLife struct {
	file  string
	line  int
	n     uint64
	actor string
}

func (e *errNoLife) Error() string {
	return fmt.Sprintf("%s:%d: has seen section %d of %s, a life that has no trace", e.file, e.line, e.n, e.actor)
}

func newStream(spec Spec, logs []*Log, timed bool, live *Live) (*stream, error) {
	processes, err := group(spec, logs)
	if err != nil {
		return nil, err
	}
	s := &stream{processes: processes, where: map[string]whereabouts{}, timed: timed, live: live}
	for i, p := range processes {
		for k, f := range p.lives {
			if other, twice := s.where[f.log.Actor]; twice {
				return nil, fmt.Errorf("%s and %s are both logs of %s", processes[other.process].lives[other.life].log.Name, f.log.Name, f.log.Actor)
			}
			s.where[f.log.Actor] = whereabouts{i, int32(k)}
		}
		p.needs = make([]place, len(processes))
		p.lastEnd = math.MinInt64
	}
	return s, nil
}

func (s *stream) close() {
	for _, p := range s.processes {
		if p.from != nil {
			p.from.close()
			p.from = nil
		}
	}
}

// met reports whether the first k sections of a process include a place.
func (p *process) met(at place, k int) bool {
	return at.n == 0 || int(at.life) <= p.life && k >= p.lives[at.life].start+int(min(at.n, 1<<40))
}

// missing reports whether a place is after the end of the process.
func (p *process) missing(at place) bool { return p.ended && !p.met(at, p.end) }

// event returns the section that follows the first k of process i, or nil if
// there is none that can be checked. A killed process may have lost the end of
// its log. Sections of other logs that observed that end cannot be judged, so a
// log counts as ended before the first of them.
func (s *stream) event(i, k int) (*Event, error) {
	p := s.processes[i]
	for {
		if p.ended && k >= p.end {
			return nil, nil
		}
		if k < p.base+len(p.buf) {
			e := p.buf[k-p.base]
			for j, n := range e.needs {
				if j != i && s.processes[j].missing(n) {
					s.cut(p, k)
					return nil, nil
				}
			}
			return e, nil
		}
		if err := s.load(i); err != nil {
			return nil, err
		}
		if s.live != nil && !p.ended && k >= p.base+len(p.buf) {
			return nil, nil // not yet
		}
	}
}

// cut ends a process after its first k sections, for the purpose of the check.
func (s *stream) cut(p *process, k int) {
	behind := p.base + len(p.buf) - k
	s.buffered -= behind
	clear(p.buf[k-p.base:])
	p.buf = p.buf[:k-p.base]
	p.extra += behind
	s.ended++
	p.ended, p.end, p.lastEnd = true, k, never
}

// load reads a batch of sections of a process.
func (s *stream) load(i int) error {
	p := s.processes[i]
	now := s.live.now()
	for n := 0; n < batch && !p.ended; n++ {
		e, err := s.read(i)
		if err == errNotYet {
			p.lastEnd = max(p.lastEnd, now-int64(slack))
			return nil
		}
		if err != nil {
			return err
		}
		if e != nil {
			p.buf = append(p.buf, e)
			s.buffered++
			p.settle()
		}
	}
	return nil
}

// drain reads the rest of all logs, to find their errors and the number of
// sections.
func (s *stream) drain() error {
	s.timed = false
	for i, p := range s.processes {
		for p.life < len(p.lives) {
			e, err := s.read(i)
			if err == errNotYet {
				break
			}
			if err != nil {
				return err
			}
			if e != nil && p.ended {
				p.extra++
			}
		}
	}
	return nil
}

// read reads the next section of a process. It returns nil at the end of a life.
func (s *stream) read(i int) (*Event, error) {
	p := s.processes[i]
	f := p.lives[p.life]
	if p.from == nil {
		from, err := f.log.open()
		if err != nil {
			return nil, err
		}
		p.from = from
	}
	raw, line, err := p.readLife()
	if err == errNotYet && p.finished {
		err = io.EOF
	}
	if err == io.EOF {
		return nil, s.endLife(p)
	}
	if err != nil {
		return nil, err
	}
	f.events++
	s.sections++
	p.finished = raw.Next == done
	e := &Event{File: f.log.Name, Line: line, end: f.log.wall + raw.End, due: never}
	if e.Section, err = s.reader.section(raw); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", e.File, e.Line, err)
	}
	e.Crash = f.events == 1 && f.log.kept != nil
	if err := s.observe(i, e, raw.Clock); err != nil {
		return nil, err
	}
	p.lastEnd = e.end
	return e, nil
}

// endLife continues with the next life of a process.
func (s *stream) endLife(p *process) error {
	p.from.close()
	p.from = nil
	f := p.lives[p.life]
	if !f.last && f.seen > uint64(f.events) {
		return f.undoneSeen()
	}
	p.clock, p.logged, p.undone = nil, 0, nil
	p.life++
	if !f.last {
		p.lives[p.life].start = f.start + f.events
	} else if !p.ended {
		p.ended, p.end, p.lastEnd = true, f.start+f.events, never
		s.ended++
	}
	return nil
}

func (f *life) undoneSeen() error {
	return fmt.Errorf("%s:%d: has observed section %d of %s, which a crash undid; or the machine lost the end of its trace", f.seenBy, f.seenAt, f.seen, f.log.Actor)
}

// observe converts the clock of a section to the sections that must come before
// it. For each section that it is the first to observe, it records when that was
// needed.
func (s *stream) observe(i int, e *Event, clock tracelog.Clock) error {
	p := s.processes[i]
	f := p.lives[p.life]
	if !p.clock.LessEq(clock) {
		return fmt.Errorf("%s:%d: the clock runs backwards", e.File, e.Line)
	}
	p.clock = append(p.clock[:0], clock...)
	e.needs = make([]place, len(s.processes))
	for _, t := range clock {
		w, ok := s.where[t.Actor]
		if !ok {
			if s.isLife(t.Actor) {
				s.strange = &errNoLife{e.File, e.Line, t.N, t.Actor}
				if s.live == nil {
					return s.strange
				}
				continue // its log may appear yet
			}
			w = whereabouts{process: -1}
			s.where[t.Actor] = w
		}
		if w.process < 0 {
			continue
		}
		if at := (place{w.life, t.N}); e.needs[w.process].less(at) {
			e.needs[w.process] = at
		}
		if seen := s.processes[w.process].lives[w.life]; !seen.last && t.N > seen.seen {
			seen.seen, seen.seenBy, seen.seenAt = t.N, e.File, e.Line
			if int(w.life) < s.processes[w.process].life && t.N > uint64(seen.events) {
				return seen.undoneSeen()
			}
		}
	}
	if own := e.needs[i]; own != (place{int32(p.life), uint64(f.events)}) {
		return fmt.Errorf("%s:%d: the clock counts %d sections of this process, but this is number %d", e.File, e.Line, own.n, f.events)
	}
	for j, at := range e.needs {
		if s.timed && j != i && p.needs[j].less(at) {
			s.processes[j].needed(at, e.end)
		}
	}
	copy(p.needs, e.needs)
	return nil
}

// isLife reports whether a name in a clock, which is that of no log, is of a life of
// a process with logs.
func (s *stream) isLife(actor string) bool {
	for _, p := range s.processes {
		if rest, ok := strings.CutPrefix(actor, p.name); ok && (rest == "" || rest[0] == '#') {
			return true
		}
	}
	return false
}

func (a place) less(b place) bool { return a.life < b.life || a.life == b.life && a.n < b.n }

// needed records that a section was observed at a time.
func (p *process) needed(at place, end int64) {
	if k := p.number(at); k >= 0 && k < p.base+len(p.buf) {
		p.lower(k, end)
		return
	}
	if !p.ended && len(p.waiting) < BufferedMax {
		p.waiting = append(p.waiting, observed{at, end})
	}
}

// number returns the number of the section at a place, from 0, or -1 if it is
// not known yet.
func (p *process) number(at place) int {
	if int(at.life) > p.life || int(at.life) >= len(p.lives) {
		return -1
	}
	return p.lives[at.life].start + int(min(at.n, 1<<40)) - 1
}

// settle computes when the section read last is due.
func (p *process) settle() {
	k := p.base + len(p.buf) - 1
	e := p.buf[len(p.buf)-1]
	due := int64(never)
	if e.reads() || e.Crash {
		due = e.end
	}
	left := p.waiting[:0]
	for _, o := range p.waiting {
		if n := p.number(o.at); n >= 0 && n <= k {
			due = min(due, o.end)
		} else {
			left = append(left, o)
		}
	}
	p.waiting = left
	p.lower(k, due)
}

// lower makes section k and those before it due no later than a time.
func (p *process) lower(k int, due int64) {
	for k -= p.base; k >= 0 && p.buf[k].due > due; k-- {
		p.buf[k].due = due
	}
}

// horizon returns the time up to which all logs have been read.
func (s *stream) horizon() (at int64, oldest int) {
	at, oldest = never, -1
	for i, p := range s.processes {
		if !p.ended && p.lastEnd < at {
			at, oldest = p.lastEnd, i
		}
	}
	return at, oldest
}

// forget drops the sections before a position.
func (s *stream) forget(at []int) {
	for i, p := range s.processes {
		n := at[i] - p.base
		if n <= 0 {
			continue
		}
		clear(p.buf[:n])
		p.buf, p.base = p.buf[n:], at[i]
		s.buffered -= n
	}
}
