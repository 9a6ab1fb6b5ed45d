// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Log is the sequence of sections that one archetype instance committed.
type Log struct {
	Name      string // of the file, for messages
	Actor     string // the instance, as clocks name it
	Archetype string
	Self      value.Value
	Events    []Event

	life uint64 // 0 for a process that does not survive crashes
	kept *tracelog.Kept
}

// Event is a committed section.
type Event struct {
	Section
	File string // for messages
	Line int    // in the file, from 1

	kept  bool  // in the journal of what survives a crash
	end   int64 // nanoseconds of the calendar
	clock tracelog.Clock
	needs []int // per log: how many of its sections come before this one
}

// private reports whether the section involves nothing outside of the instance.
func (e *Event) private() bool { return len(e.Accesses) == 0 && !e.Crash }

// reads reports whether the section read a parameter.
func (e *Event) reads() bool {
	return slices.ContainsFunc(e.Accesses, func(a Access) bool { return !a.Write })
}

// NewLog converts a trace file to a Log. It omits aborted sections, which had
// no effect.
func NewLog(name string, h tracelog.Header, events []tracelog.Event) (*Log, error) {
	self, err := value.Parse(h.Self)
	if err != nil {
		return nil, fmt.Errorf("%s: self %q: %w", name, h.Self, err)
	}
	wall, err := time.Parse(time.RFC3339Nano, h.Wall)
	if err != nil {
		return nil, fmt.Errorf("%s: wall time: %w", name, err)
	}
	l := &Log{Name: name, Actor: h.Actor(), Archetype: h.Archetype, Self: self, life: h.Life, kept: h.Kept}
	for i := range events {
		e := &events[i]
		if e.Aborted != "" {
			continue
		}
		s, err := section(e)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+2, err)
		}
		l.Events = append(l.Events, Event{Section: s, File: name, Line: i + 2, kept: e.Kept, end: wall.UnixNano() + e.End, clock: e.Clock})
	}
	return l, nil
}

// section parses the values of an event.
func section(e *tracelog.Event) (Section, error) {
	s := Section{Label: e.Label, Next: e.Next}
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
			v, err := value.Parse(text)
			if err != nil {
				return s, fmt.Errorf("index of %s: %w", el.Name, err)
			}
			a.Indices = append(a.Indices, v)
		}
		v, err := value.Parse(el.Value)
		if err != nil {
			return s, fmt.Errorf("value of %s: %w", el.Name, err)
		}
		a.Value = v
		s.Accesses = append(s.Accesses, a)
	}
	for _, x := range e.Vars {
		v, err := value.Parse(x.Value)
		if err != nil {
			return s, fmt.Errorf("variable %s: %w", x.Name, err)
		}
		s.Vars = append(s.Vars, Var{Name: x.Name, Value: v})
	}
	return s, nil
}

// link converts clocks to positions and trims the ends of logs. A killed
// process may have lost the end of its log. Sections of other logs that
// observed that end cannot be judged, so link removes them. It returns the
// number of sections removed.
func link(processes []process) (trimmed int, err error) {
	where := map[string]life{} // by the actor's name in clocks
	var logs []*Log
	for i, p := range processes {
		logs = append(logs, p.log)
		for _, l := range p.lives {
			if other, twice := where[l.actor]; twice {
				return 0, fmt.Errorf("%s and %s are both logs of %s", logs[other.log].Name, p.log.Name, l.actor)
			}
			l.log = i
			where[l.actor] = l
		}
	}
	for i, l := range logs {
		for k := range l.Events {
			e := &l.Events[k]
			e.needs = make([]int, len(logs))
			for _, t := range e.clock {
				l, ok := where[t.Actor]
				if !ok {
					continue
				}
				if l.ended && t.N > uint64(l.events) {
					return 0, fmt.Errorf("%s:%d: has seen section %d of %s, which a crash has undone, or the machine lost the end of its trace", e.File, e.Line, t.N, t.Actor)
				}
				e.needs[l.log] = max(e.needs[l.log], l.before+int(min(t.N, 1<<30)))
			}
			if own := e.needs[i]; own != k+1 {
				return 0, fmt.Errorf("%s:%d: the clock counts %d sections of its own, this is number %d", e.File, e.Line, own, k+1)
			}
			if k > 0 && !e.Crash && !l.Events[k-1].clock.LessEq(e.clock) {
				return 0, fmt.Errorf("%s:%d: the clock runs backwards", e.File, e.Line)
			}
		}
	}
	for again := true; again; {
		again = false
		for _, l := range logs {
			cut := sort.Search(len(l.Events), func(k int) bool { return seesMissing(&l.Events[k], logs) })
			if cut < len(l.Events) {
				trimmed += len(l.Events) - cut
				l.Events, again = l.Events[:cut], true
			}
		}
	}
	return trimmed, nil
}

func seesMissing(e *Event, logs []*Log) bool {
	for i, n := range e.needs {
		if n > len(logs[i].Events) {
			return true
		}
	}
	return false
}
