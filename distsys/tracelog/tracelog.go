// SPDX-License-Identifier: Apache-2.0

// Package tracelog is the format of trace files: the committed critical
// sections of a running system, one JSON object per line, with vector clocks.
// In and out: Events. docs/format/trace.md describes the format.
//
// Promised: a reader accepts what a writer of the same version wrote, even if
// the last line of the file is torn. For malformed input it returns an error
// with the line number and never panics; it needs no more memory than LineMax
// per line. Refused: files of another version, lines out of order.
//
// Source: PGo's traces (TraceLink, OOPSLA 2025) for the idea; the format is our
// own.
package tracelog

import "fmt"

// Version is the version that Header carries and the reader accepts.
const Version = 1

// LineMax is the length of the longest line, in bytes.
const LineMax = 16 << 20

// Header is the first line of a file. It identifies the instance that wrote the
// file.
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
	// Kept identifies the section whose durable variables the life started with. It
	// is absent if there was none.
	Kept *Kept `json:"kept,omitempty"`
	// Wall is the calendar time of instant 0 of the file, RFC 3339.
	Wall string `json:"wall"`
}

// Kept identifies the N-th section of a life.
type Kept struct {
	Life uint64 `json:"life"`
	N    uint64 `json:"n"`
}

// Actor is the instance's name in clocks.
func (h Header) Actor() string { return Actor(h.Archetype, h.Self, h.Life) }

// Actor returns the name of an instance in clocks. Each life counts its sections
// from 1, so lives after the first have names of their own.
func Actor(archetype, self string, life uint64) string {
	name := archetype + "(" + self + ")"
	if life > 1 {
		name = fmt.Sprintf("%s#%d", name, life)
	}
	return name
}

// Event is one critical section.
type Event struct {
	// N counts the committed sections of the instance from 1. An aborted
	// section has the number that it would have had.
	N uint64 `json:"n"`
	// Label is the label at which the section began; it is empty for the
	// initialisation of the variables. Next is the label at which the instance
	// continued, "Done" at the end.
	Label string `json:"label"`
	Next  string `json:"next"`
	// Elements are the accesses to ref parameters, in order.
	Elements []Element `json:"elements,omitempty"`
	// Vars are the instance's variables that the section changed, with their
	// values after it. The first event of a file contains all variables.
	Vars []Var `json:"vars,omitempty"`
	// Kept reports that the journal records the section. A crash may undo such a
	// section.
	Kept bool `json:"kept,omitempty"`
	// Clock counts, for each actor, the sections that this one may have
	// observed, itself included.
	Clock Clock `json:"clock"`
	// Start and End are nanoseconds since the file's Wall, on a monotonic
	// clock. The section took effect between the two or shortly after End.
	Start int64 `json:"start"`
	End   int64 `json:"end"`
	// Aborted is the reason for which the section was aborted; it is empty for
	// committed sections.
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

// Of returns the actor's count, or 0 if the clock does not contain the actor.
func (c Clock) Of(actor string) uint64 {
	for _, t := range c {
		if t.Actor == actor {
			return t.N
		}
	}
	return 0
}

// Merge returns the least clock that is at least c and at least d.
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

// With returns c with the actor's count set to n, which must be positive.
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

// LessEq reports whether c is at or before d: no actor's count in c exceeds its
// count in d.
func (c Clock) LessEq(d Clock) bool {
	for _, t := range c {
		if d.Of(t.Actor) < t.N {
			return false
		}
	}
	return true
}
