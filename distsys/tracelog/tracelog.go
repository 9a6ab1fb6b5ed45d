// SPDX-License-Identifier: Apache-2.0

// Package tracelog is the format of trace files: what critical sections of a
// running system committed, one JSON object a line, with vector clocks. In and
// out: Events. docs/format/trace.md describes the format.
//
// Promised: a reader accepts what a writer of the same version wrote, also
// when the last line of the file is torn; hostile input is an error with its
// line, never a panic, and needs no more memory than LineMax a line. Refused:
// files of another version, lines out of order.
//
// Source: PGo's traces (TraceLink, OOPSLA 2025) for the idea; the format is
// our own.
package tracelog

import "fmt"

// Version is the version that Header carries and the reader accepts.
const Version = 1

// LineMax is the length of the longest line, in bytes.
const LineMax = 16 << 20

// Header is the first line of a file: which instance wrote it.
type Header struct {
	Format  string `json:"format"` // "ashlar-trace"
	Version int    `json:"version"`
	// System is the specification's module, Archetype and Self the instance.
	System    string `json:"system"`
	Archetype string `json:"archetype"`
	Self      string `json:"self"` // TLA+ text
	// Life is the number of the life of the instance's node, from 1; it is absent
	// for an archetype that does not survive crashes.
	Life uint64 `json:"life,omitempty"`
	// Kept is the section whose durable variables the life began with; it is absent
	// where there was none.
	Kept *Kept `json:"kept,omitempty"`
	// Wall is the calendar time of instant 0 of the file, RFC 3339.
	Wall string `json:"wall"`
}

// Kept names the N-th section of a life.
type Kept struct {
	Life uint64 `json:"life"`
	N    uint64 `json:"n"`
}

// Actor is the instance's name in clocks.
func (h Header) Actor() string { return Actor(h.Archetype, h.Self, h.Life) }

// Actor is the name of an instance in clocks. Lives behind the first have names of
// their own, since each counts its sections from 1.
func Actor(archetype, self string, life uint64) string {
	name := archetype + "(" + self + ")"
	if life > 1 {
		name = fmt.Sprintf("%s#%d", name, life)
	}
	return name
}

// Event is one critical section.
type Event struct {
	// N counts the committed sections of the instance from 1; an aborted one
	// has the number that it would have had.
	N uint64 `json:"n"`
	// Label is where the section began, empty for the initialisation of the
	// variables; Next is where the instance went on, "Done" at the end.
	Label string `json:"label"`
	Next  string `json:"next"`
	// Elements are the accesses to ref parameters, in order.
	Elements []Element `json:"elements,omitempty"`
	// Vars are the instance's variables that the section changed, by their
	// value after it; the first event of a file has all.
	Vars []Var `json:"vars,omitempty"`
	// Kept reports that the section goes to the journal of what survives a crash.
	// A crash may undo it.
	Kept bool `json:"kept,omitempty"`
	// Clock counts, for each actor, the sections that this one can have seen,
	// itself included.
	Clock Clock `json:"clock"`
	// Start and End are nanoseconds since the file's Wall, on a monotonic
	// clock. The section took effect between them or right after End.
	Start int64 `json:"start"`
	End   int64 `json:"end"`
	// Aborted is why the section was given up; empty for committed ones.
	Aborted string `json:"aborted,omitempty"`
}

// The operations of an Element.
const (
	Read  = "read"
	Write = "write"
)

// Element is a read or write of a ref parameter. Values are TLA+ text.
type Element struct {
	Op      string   `json:"op"`
	Name    string   `json:"name"`
	Indices []string `json:"indices,omitempty"`
	Value   string   `json:"value"`
}

// Var is a variable and its value as TLA+ text.
type Var struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Clock is a vector clock: sorted by actor, without duplicates and zeros. It
// is immutable.
type Clock []Tick

// Tick is one actor's count of sections.
type Tick struct {
	Actor string `json:"actor"`
	N     uint64 `json:"n"`
}

// Of is the actor's count, 0 where it is absent.
func (c Clock) Of(actor string) uint64 {
	for _, t := range c {
		if t.Actor == actor {
			return t.N
		}
	}
	return 0
}

// Merge is the least clock that is not less than c and d.
func (c Clock) Merge(d Clock) Clock {
	if len(c) == 0 {
		return d
	}
	if len(d) == 0 {
		return c
	}
	out := make(Clock, 0, max(len(c), len(d)))
	i, j := 0, 0
	for i < len(c) && j < len(d) {
		switch {
		case c[i].Actor < d[j].Actor:
			out = append(out, c[i])
			i++
		case c[i].Actor > d[j].Actor:
			out = append(out, d[j])
			j++
		default:
			out = append(out, Tick{c[i].Actor, max(c[i].N, d[j].N)})
			i, j = i+1, j+1
		}
	}
	return append(append(out, c[i:]...), d[j:]...)
}

// With is c with the actor's count set to n, which is positive.
func (c Clock) With(actor string, n uint64) Clock {
	out := make(Clock, 0, len(c)+1)
	placed := false
	for _, t := range c {
		if !placed && t.Actor >= actor {
			out, placed = append(out, Tick{actor, n}), true
		}
		if t.Actor != actor {
			out = append(out, t)
		}
	}
	if !placed {
		out = append(out, Tick{actor, n})
	}
	return out
}

// LessEq reports whether everything in c has happened before or at d.
func (c Clock) LessEq(d Clock) bool {
	for _, t := range c {
		if d.Of(t.Actor) < t.N {
			return false
		}
	}
	return true
}
