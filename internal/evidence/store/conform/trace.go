// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Event is a record of a trace, as StoreTrace.tla has them. The kind determines which
// fields have a meaning.
type Event struct {
	Kind       Kind
	Superblock uint64
	Slot       int
	Cut        uint64
	Version    uint64
	ID         int // of a sync, from 1
}

// Kind is the kind of an event, in the specification's words.
type Kind string

// The kinds. The store does not report what ends a life.
const (
	Open       Kind = "Open"
	Change     Kind = "Change"
	Freeze     Kind = "Freeze"
	Checkpoint Kind = "Checkpoint"
	Journal    Kind = "Journal"
	SyncAsk    Kind = "SyncAsk"
	SyncAnswer Kind = "SyncAnswer"
	Crash      Kind = "Crash" // the power fails
	Kill       Kind = "Kill"  // the program ends, and the machine continues
)

// field is a field of a record.
type field struct {
	name string
	n    uint64
}

func (e Event) fields() []field {
	superblock, slot := field{"superblock", e.Superblock}, field{"slot", uint64(e.Slot)}
	version, id := field{"version", e.Version}, field{"id", uint64(e.ID)}
	switch e.Kind {
	case Open:
		return []field{superblock, slot, {"cut", e.Cut}, version}
	case Freeze:
		return []field{superblock, version}
	case Checkpoint:
		return []field{superblock, slot, version}
	case SyncAsk, SyncAnswer:
		return []field{id, version}
	case Crash, Kill:
		return nil
	}
	return []field{version}
}

// String formats the event on one line, as in "SyncAsk id 1 version 7".
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(string(e.Kind))
	for _, f := range e.fields() {
		fmt.Fprintf(&b, " %s %d", f.name, f.n)
	}
	return b.String()
}

// tla formats the record in TLA+.
func (e Event) tla() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[event |-> %q", string(e.Kind))
	for _, f := range e.fields() {
		fmt.Fprintf(&b, ", %s |-> %d", f.name, f.n)
	}
	b.WriteString("]")
	return b.String()
}

// value converts the record to a value of the checker.
func (e Event) value() (value.Value, error) {
	out := []value.Field{{Name: "event", Val: value.String(string(e.Kind))}}
	for _, f := range e.fields() {
		if f.n > 1<<31-1 {
			return value.Value{}, fmt.Errorf("%s: %d is more than TLA+ counts to here", e, f.n)
		}
		out = append(out, value.Field{Name: f.name, Val: value.Int(int32(f.n))})
	}
	return value.Record(out), nil
}

// Recorder is a Tracer that keeps the events of stores. It is for one directory
// of one disk, through all lives of the store there, and safe for concurrent
// use.
type Recorder struct {
	mu     sync.Mutex
	events []Event
	asked  map[uint64][]int // the waiting syncs, by version, oldest first
	busy   []bool           // by id - 1
}

var _ env.Tracer = (*Recorder)(nil)

// Trace implements env.Tracer. It ignores events that the specification does not have.
func (r *Recorder) Trace(e env.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := e.(type) {
	case store.Opened:
		r.add(Event{Kind: Open, Superblock: e.Superblock, Slot: e.Slot, Cut: e.Cut, Version: e.Version})
	case store.Changed:
		r.add(Event{Kind: Change, Version: e.Version})
	case store.Frozen:
		r.add(Event{Kind: Freeze, Superblock: e.Superblock, Version: e.Version})
	case store.Checkpointed:
		r.add(Event{Kind: Checkpoint, Superblock: e.Superblock, Slot: e.Slot, Version: e.Version})
	case store.Journaled:
		r.add(Event{Kind: Journal, Version: e.Version})
	case store.SyncAsked:
		r.add(Event{Kind: SyncAsk, ID: r.ask(e.Version), Version: e.Version})
	case store.SyncAnswered:
		r.add(Event{Kind: SyncAnswer, ID: r.answer(e.Version), Version: e.Version})
	}
}

func (r *Recorder) add(e Event) { r.events = append(r.events, e) }

// ask gives a sync the lowest free id. The store does not report which sync is answered;
// among those of one version it makes no difference.
func (r *Recorder) ask(version uint64) int {
	i := slices.Index(r.busy, false)
	if i < 0 {
		i = len(r.busy)
		r.busy = append(r.busy, false)
	}
	r.busy[i] = true
	if r.asked == nil {
		r.asked = map[uint64][]int{}
	}
	r.asked[version] = append(r.asked[version], i+1)
	return i + 1
}

// answer frees the id of the oldest sync of a version. It returns 0, which is not an id,
// if none is waiting.
func (r *Recorder) answer(version uint64) int {
	waiting := r.asked[version]
	if len(waiting) == 0 {
		return 0
	}
	id := waiting[0]
	if r.asked[version] = waiting[1:]; len(waiting) == 1 {
		delete(r.asked, version)
	}
	r.busy[id-1] = false
	return id
}

// End records how the last recorded life has ended: Crash or Kill. The store must be
// closed or dead.
func (r *Recorder) End(how Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(Event{Kind: how})
	clear(r.asked)
	clear(r.busy)
}

// Events returns a copy of the events so far.
func (r *Recorder) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// ids is the number of ids that the syncs of a trace have.
func ids(events []Event) int {
	n := 0
	for _, e := range events {
		n = max(n, e.ID)
	}
	return n
}

// Module returns a TLA+ module of that name with the trace as Recorded, for any
// checker. Its configuration is that of StoreTraceExample.
func Module(name string, events []Event) []byte {
	var b strings.Builder
	line := strings.Repeat("-", max(4, (75-len(name))/2))
	fmt.Fprintf(&b, "%s MODULE %s %s\nEXTENDS StoreTrace\n\nRecorded == <<\n", line, name, line)
	for i, e := range events {
		comma := ","
		if i == len(events)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "  %s%s\n", e.tla(), comma)
	}
	fmt.Fprintf(&b, ">>\n\nVersions == {Recorded[n].version : n \\in {m \\in 1..Len(Recorded) : Recorded[m].event = \"Change\"}}\n\nSyncs == 1..%d\n%s\n", ids(events), strings.Repeat("=", 77))
	return []byte(b.String())
}
