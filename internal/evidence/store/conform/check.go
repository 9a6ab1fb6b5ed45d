// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Spec is StoreTrace, loaded. It may be used for any number of traces, concurrently too.
type Spec struct{ spec *core.Spec }

// Load loads StoreTrace.tla.
func Load(files load.Files, path string) (*Spec, error) {
	loaded, diags, err := load.Load(files, path, load.Options{})
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, fmt.Errorf("load %s: %w", path, errors.New(fmt.Sprint(diags)))
	}
	return &Spec{loaded.Spec}, nil
}

// Options of a check; the zero Options is the default.
type Options struct {
	// Refine also compares each step with CrashSafeMap's whole next-state relation and
	// evaluates the invariants. Without it, the steps are those that StoreTrace makes
	// from the actions of CrashSafeMap.
	Refine bool
}

// Report is the result of checking a trace.
type Report struct {
	Events    int // in the trace
	Explained int // of them, from the first on
	Steps     int // that explain them, including those without an event
	// Refused is the first event that no behaviour has, or nil.
	Refused *Event
	Why     string // why no behaviour has it
	Seen    Seen   // the state before it
}

// Seen is a state of the specification.
type Seen struct {
	Persistent, Frozen, Ephemeral int
	Syncs                         string // the waiting ones, and for which version
	Down                          string // "no": the store is open
	Super, Sent                   Super
}

// Super is a superblock.
type Super struct{ Number, Slot, Cut int }

func (s Super) String() string {
	return fmt.Sprintf("superblock %d in slot %d up to %d", s.Number, s.Slot, s.Cut)
}

func (s Seen) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "persistent %d, frozen %d, ephemeral %d, syncs %s, %s", s.Persistent, s.Frozen, s.Ephemeral, s.Syncs, s.Super)
	if s.Sent != s.Super {
		fmt.Fprintf(&b, ", %s on its way", s.Sent)
	}
	switch s.Down {
	case "power":
		b.WriteString(", no power")
	case "kill":
		b.WriteString(", no program")
	}
	return b.String()
}

// String describes the result on one line.
func (r *Report) String() string {
	if r.Refused == nil {
		return fmt.Sprintf("all %d events are explained, in %d steps", r.Events, r.Steps)
	}
	return fmt.Sprintf("event %d of %d, %s: %s (%s)", r.Explained+1, r.Events, *r.Refused, r.Why, r.Seen)
}

// Check checks a trace against the specification. A refusal is not an error.
func (s *Spec) Check(ctx context.Context, events []Event, o Options) (*Report, error) {
	m, err := s.model(events, o)
	if err != nil {
		return nil, err
	}
	r, err := check.Run(ctx, m, check.Options{})
	if err != nil {
		return nil, err
	}
	out := &Report{Events: len(events), Explained: len(events), Steps: r.Depth - 1}
	switch r.Verdict {
	case check.OK:
		// Each state has one successor, and the last one is its own successor.
		if r.Distinct != int64(r.Depth) || r.Generated != r.Distinct+1 {
			return nil, fmt.Errorf("%d states of depth %d, %d steps: the specification of traces is not deterministic", r.Distinct, r.Depth, r.Generated)
		}
		return out, nil
	case check.Deadlock:
		out.Steps = len(r.Trace) - 1
		return out, out.refuse(m, r.Trace[len(r.Trace)-1].State, events)
	}
	return nil, fmt.Errorf("check a trace of %d events: %v %s %s %v", len(events), r.Verdict, r.Property, r.Reason, r.Err)
}

// refuse finds the reason why the event is impossible after a state.
func (r *Report) refuse(m *model.Model, s check.State, events []Event) error {
	v, err := m.EvaluateIn(m.Definition("Seen").Body, m.Decode(s))
	if err != nil {
		return err
	}
	number := func(v value.Value, field string) int { return int(v.Field(field).AsInt()) }
	super := func(v value.Value) Super { return Super{number(v, "number"), number(v, "slot"), number(v, "cut")} }
	return value.Catch(func() {
		r.Explained = number(v, "explained")
		r.Refused = &events[r.Explained]
		r.Why = v.Field("why").AsString()
		r.Seen = Seen{
			Persistent: number(v, "persistent"), Frozen: number(v, "frozen"), Ephemeral: number(v, "ephemeral"),
			Syncs: v.Field("syncs").String(), Down: v.Field("down").AsString(),
			Super: super(v.Field("super")), Sent: super(v.Field("sent")),
		}
	})
}

func (s *Spec) model(events []Event, o Options) (*model.Model, error) {
	text := "SPECIFICATION TraceSpec\nCONSTANTS Keys = {\"key\"} None = 0 MaxVersions = 0\n"
	if o.Refine {
		text += "INVARIANTS TraceTypeOK Rising\nPROPERTY Spec\n"
	}
	var wrong source.List
	c := config.Parse(source.NewFile("StoreTrace.cfg", []byte(text)), &wrong)
	if wrong.HasErrors() {
		return nil, errors.New(fmt.Sprint(&wrong))
	}
	records := make([]value.Value, len(events))
	var versions []value.Value
	for i, e := range events {
		v, err := e.value()
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
		records[i] = v
		if e.Kind == Change {
			versions = append(versions, v.Field("version"))
		}
	}
	return model.New(s.spec, c, model.Options{Constants: map[string]value.Value{
		"Trace": value.TupleOf(records), "Values": value.SetOf(versions), "Ids": value.Interval(1, int32(ids(events))),
	}})
}
