// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Log is the trace file of one life of an archetype instance. Its sections are
// read on demand, and possibly more than once.
type Log struct {
	Name      string // of the file, for messages
	Actor     string // the instance, as clocks name it
	Archetype string
	Self      value.Value

	life uint64 // 0 for a process that does not survive crashes
	kept *tracelog.Kept
	wall int64 // nanoseconds of the calendar at instant 0
	open func() (events, error)
}

// events is a sequence of events: next returns one, which is valid until the
// following call, and its line. At the end the error is io.EOF.
type events interface {
	next() (*tracelog.Event, int, error)
	close()
}

// Event is a committed section.
type Event struct {
	Section
	File string // for messages
	Line int    // in the file, from 1

	end   int64 // nanoseconds of the calendar
	due   int64 // when the section was needed, if known
	needs []place
}

// private reports whether the section involves nothing outside of the instance.
func (e *Event) private() bool { return len(e.Accesses) == 0 && !e.Crash }

// reads reports whether the section read a parameter.
func (e *Event) reads() bool {
	return slices.ContainsFunc(e.Accesses, func(a Access) bool { return !a.Write })
}

// NewLog converts the events of a trace file to a Log, which refers to them.
func NewLog(name string, h tracelog.Header, all []tracelog.Event) (*Log, error) {
	return newLog(name, h, func() (events, error) { return &listed{all: all}, nil })
}

func newLog(name string, h tracelog.Header, open func() (events, error)) (*Log, error) {
	self, err := value.Parse(h.Self)
	if err != nil {
		return nil, fmt.Errorf("%s: self %q: %w", name, h.Self, err)
	}
	wall, err := time.Parse(time.RFC3339Nano, h.Wall)
	if err != nil {
		return nil, fmt.Errorf("%s: wall time: %w", name, err)
	}
	return &Log{Name: name, Actor: h.Actor(), Archetype: h.Archetype, Self: self, life: h.Life, kept: h.Kept, wall: wall.UnixNano(), open: open}, nil
}

// listed are the events of a list.
type listed struct {
	all []tracelog.Event
	at  int
}

func (l *listed) next() (*tracelog.Event, int, error) {
	if l.at == len(l.all) {
		return nil, 0, io.EOF
	}
	l.at++
	return &l.all[l.at-1], l.at + 1, nil
}

func (l *listed) close() {}

// A reader converts events to sections. It remembers the values that it has
// parsed, because the same values occur again and again.
type reader struct{ known map[string]value.Value }

// The bounds of the values that a reader remembers.
const (
	knownValuesMax = 1 << 13
	knownLengthMax = 1 << 10
)

func (r *reader) value(text string) (value.Value, error) {
	if v, ok := r.known[text]; ok {
		return v, nil
	}
	v, err := value.Parse(text)
	if err == nil && len(text) <= knownLengthMax {
		if r.known == nil || len(r.known) >= knownValuesMax {
			r.known = map[string]value.Value{}
		}
		r.known[text] = v
	}
	return v, err
}

// section parses the values of an event.
func (r *reader) section(e *tracelog.Event) (Section, error) {
	s := Section{Label: e.Label, Next: e.Next}
	if len(e.Elements) > 0 {
		s.Accesses = make([]Access, 0, len(e.Elements))
	}
	for _, el := range e.Elements {
		a := Access{Param: el.Name}
		switch el.Op {
		case tracelog.Read:
		case tracelog.Write:
			a.Write = true
		default:
			return s, fmt.Errorf("access %q: want %q or %q", el.Op, tracelog.Read, tracelog.Write)
		}
		for _, text := range el.Indices {
			v, err := r.value(text)
			if err != nil {
				return s, fmt.Errorf("index of %s: %w", el.Name, err)
			}
			a.Indices = append(a.Indices, v)
		}
		v, err := r.value(el.Value)
		if err != nil {
			return s, fmt.Errorf("value of %s: %w", el.Name, err)
		}
		a.Value = v
		s.Accesses = append(s.Accesses, a)
	}
	for _, x := range e.Vars {
		v, err := r.value(x.Value)
		if err != nil {
			return s, fmt.Errorf("variable %s: %w", x.Name, err)
		}
		s.Vars = append(s.Vars, Var{Name: x.Name, Value: v})
	}
	return s, nil
}
