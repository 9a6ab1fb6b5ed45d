// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"context"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/tla/value"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Spec is a specification of traces, loaded. It may be used for any number of
// traces.
type Spec struct {
	protocol wor.Protocol
	spec     *core.Spec
}

// Load loads RegisterTrace.tla for wor.Paxos, or ChainTrace.tla for wor.Chain.
// Modules that are not beside it are looked for in the libraries.
func Load(files load.Files, path string, libraries []string, p wor.Protocol) (*Spec, error) {
	loaded, diags, err := load.Load(files, path, load.Options{Libraries: libraries})
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, fmt.Errorf("load %s: %w", path, errors.New(fmt.Sprint(diags)))
	}
	return &Spec{p, loaded.Spec}, nil
}

// Options of a check; the zero Options is the default.
type Options struct {
	// Refine has the invariants of the protocol evaluated in each state, and each
	// step compared with its whole next-state relation and with WriteOnce's.
	Refine bool
}

// Report is the result of checking a trace.
type Report struct {
	Addr      wor.Addr
	Events    int // in the trace
	Explained int // of them, from the first on
	// Refused is the first event that no behaviour has, or nil. Seen is the state
	// before it.
	Refused *Event
	Seen    string
}

// String describes the result on one line.
func (r *Report) String() string {
	if r.Refused == nil {
		return fmt.Sprintf("register %v: all %d events are explained", r.Addr, r.Events)
	}
	return fmt.Sprintf("register %v: event %d of %d, %s: no step of the specification (%s)", r.Addr, r.Explained+1, r.Events, r.Refused, r.Seen)
}

// Check checks a trace against the specification. A refusal is not an error.
func (s *Spec) Check(ctx context.Context, t *Trace, o Options) (*Report, error) {
	m, err := s.model(t, o)
	if err != nil {
		return nil, err
	}
	r, err := check.Run(ctx, m, check.Options{})
	if err != nil {
		return nil, err
	}
	out := &Report{Addr: t.Addr, Events: len(t.Events), Explained: len(t.Events)}
	switch r.Verdict {
	case check.OK:
		if r.Distinct != int64(len(t.Events))+1 {
			return nil, fmt.Errorf("%d states for %d events: the specification of traces is not deterministic", r.Distinct, len(t.Events))
		}
		return out, nil
	case check.Deadlock:
		return out, out.refuse(m, r.Trace[len(r.Trace)-1].State, t)
	}
	return nil, fmt.Errorf("register %v: %v %s %s %v", t.Addr, r.Verdict, r.Property, r.Reason, r.Err)
}

// refuse describes the state before the refused event.
func (r *Report) refuse(m *model.Model, s check.State, t *Trace) error {
	v, err := m.EvaluateIn(m.Definition("Seen").Body, m.Decode(s))
	if err != nil {
		return err
	}
	return value.Catch(func() {
		r.Explained = int(v.Field("explained").AsInt())
		r.Refused = &t.Events[r.Explained]
		r.Seen = v.String()
	})
}

// servers is the number of servers of a partition in the models.
const servers = 3

func (s *Spec) model(t *Trace, o Options) (*model.Model, error) {
	text := "SPECIFICATION TraceSpec\nCONSTANT Flaw = \"none\"\n"
	n := t.names()
	ballots, readers := value.Interval(0, int32(len(n.ballots)-1)), value.Interval(1, int32(n.readers))
	constants := map[string]value.Value{"Readers": readers}
	if s.protocol == wor.Chain {
		ballots = value.Interval(1, int32(len(n.ballots)-1))
		text += fmt.Sprintf("Length = %d\nReconfigurers = {}\n", servers)
	} else {
		text += "Trims = TRUE\nAcceptors = {1, 2, 3}\n"
	}
	if o.Refine {
		text += "PROPERTIES Spec Refinement\nINVARIANTS TypeOK Agreement ToldOne\n"
		if s.protocol == wor.Chain {
			text += "INVARIANTS PrefixHolds CompleteIsAdopted\n"
		} else {
			text += "INVARIANTS OneValuePerBallot AcksAreProposed MemoryIsTrue PromisesAreTrue ProposalsAreSafe ToldIsChosen\n"
		}
	}
	constants["Ballots"] = ballots
	var values, events []value.Value
	for _, v := range n.values {
		values = append(values, n.value(v))
	}
	for i := range t.Events {
		events = append(events, t.Events[i].value(n))
	}
	constants["Values"], constants["Trace"] = value.SetOf(values), value.TupleOf(events)
	var wrong source.List
	c := config.Parse(source.NewFile("trace.cfg", []byte(text)), &wrong)
	if wrong.HasErrors() {
		return nil, errors.New(fmt.Sprint(&wrong))
	}
	return model.New(s.spec, c, model.Options{Constants: constants})
}
