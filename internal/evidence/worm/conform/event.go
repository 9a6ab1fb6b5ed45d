// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/tla/value"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Kind is the kind of an event, in the specifications' words.
type Kind string

// The kinds: see RegisterTrace.tla and ChainTrace.tla.
const (
	Promise     Kind = "Promise"
	Accept      Kind = "Accept"
	Conflict    Kind = "Conflict"
	Outbid      Kind = "Outbid"
	Show        Kind = "Show"
	Other       Kind = "Other"
	Gone        Kind = "Gone"
	Tombstone   Kind = "Tombstone"
	Propose     Kind = "Propose"
	DecideTrim  Kind = "DecideTrim"
	Acknowledge Kind = "Acknowledge"
	Find        Kind = "Find"
	Bury        Kind = "Bury"
	BeginRead   Kind = "BeginRead"
	Reply       Kind = "Reply"
	EndRead     Kind = "EndRead"
	Reread      Kind = "Reread"
)

// Event is a record of a trace. The kind determines which fields have a meaning.
type Event struct {
	Kind   Kind
	Server int // from 1
	Reader int // from 1
	Ballot wor.Ballot
	// Written reports that the server has a value, at ballot Accepted.
	Written            bool
	Accepted, Promised wor.Ballot
	// Value is the value of a register. Answer is the result of a read without a
	// value.
	Value  string
	Answer string
}

// The results of a read besides values, in the specifications' words.
const (
	unwritten = "unwritten"
	trimmed   = "trimmed"
	none      = "none"
)

// Trace has the events of one register.
type Trace struct {
	Addr   wor.Addr
	Events []Event
}

// names gives ballots and values short names, for the checker: the ballots of a
// trace are numbered in their order, the zero ballot being 0.
type names struct {
	ballots []wor.Ballot
	values  []string
	readers int
}

func (t *Trace) names() *names {
	n := &names{ballots: []wor.Ballot{{}}}
	for i := range t.Events {
		e := &t.Events[i]
		n.ballots = append(n.ballots, e.Ballot, e.Accepted, e.Promised)
		if e.has("v") || e.has("x") {
			n.values = append(n.values, e.Value)
		}
		n.readers = max(n.readers, e.Reader)
	}
	slices.SortFunc(n.ballots, wor.Ballot.Compare)
	n.ballots = slices.Compact(n.ballots)
	slices.Sort(n.values)
	n.values = slices.Compact(n.values)
	return n
}

func (n *names) ballot(b wor.Ballot) value.Value {
	i, _ := slices.BinarySearchFunc(n.ballots, b, wor.Ballot.Compare)
	return value.Int(int32(i))
}

func (n *names) value(v string) value.Value {
	i, _ := slices.BinarySearch(n.values, v)
	return value.String(fmt.Sprint("v", i))
}

// fields are the names of the fields of a kind of event.
func (e *Event) fields() string {
	switch e.Kind {
	case Promise:
		return "s b at v"
	case Accept, Conflict, Other:
		return "s b v"
	case Outbid:
		return "s b higher"
	case Show:
		return "s promised at v"
	case Gone, Tombstone:
		return "s"
	case Propose:
		return "b v"
	case Acknowledge, Find:
		return "v"
	case BeginRead:
		return "r"
	case Reply:
		return "r s tomb at v"
	case EndRead, Reread:
		return "r x"
	}
	return ""
}

// has reports whether the event has the field, and for v whether it is a value.
func (e *Event) has(field string) bool {
	if !slices.Contains(strings.Fields(e.fields()), field) {
		return false
	}
	switch {
	case field == "x":
		return e.Answer == ""
	case field == "v" && strings.Contains(e.fields(), "at"):
		return e.Written
	}
	return true
}

// value converts the event to a record of the checker.
func (e *Event) value(n *names) value.Value {
	out := []value.Field{{Name: "event", Val: value.String(string(e.Kind))}}
	for _, f := range strings.Fields(e.fields()) {
		var v value.Value
		switch f {
		case "s":
			v = value.Int(int32(e.Server))
		case "r":
			v = value.Int(int32(e.Reader))
		case "b":
			v = n.ballot(e.Ballot)
		case "higher", "promised":
			v = n.ballot(e.Promised)
		case "tomb":
			v = value.Bool(e.Answer == trimmed)
		case "at":
			if v = value.Int(-1); e.Written {
				v = n.ballot(e.Accepted)
			}
		default:
			switch {
			case e.has(f):
				v = n.value(e.Value)
			case f == "x":
				v = value.String(e.Answer)
			default:
				v = value.String(none)
			}
		}
		out = append(out, value.Field{Name: f, Val: v})
	}
	return value.Record(out)
}

// String formats the event on one line, as in "Promise s 1 b 7.1 at none".
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(string(e.Kind))
	for _, f := range strings.Fields(e.fields()) {
		fmt.Fprintf(&b, " %s ", f)
		switch f {
		case "s":
			fmt.Fprint(&b, e.Server)
		case "r":
			fmt.Fprint(&b, e.Reader)
		case "b":
			fmt.Fprint(&b, e.Ballot)
		case "higher", "promised":
			fmt.Fprint(&b, e.Promised)
		case "tomb":
			fmt.Fprint(&b, e.Answer == trimmed)
		case "at":
			if e.Written {
				fmt.Fprint(&b, e.Accepted)
			} else {
				b.WriteString(none)
			}
		default:
			if e.has(f) {
				fmt.Fprintf(&b, "%.40q", e.Value)
			} else {
				b.WriteString(max(e.Answer, none))
			}
		}
	}
	return b.String()
}
