// SPDX-License-Identifier: Apache-2.0

package conform

import "context"

// Options are the options of a validation; the zero Options is the default.
type Options struct {
	// StepsMax bounds the search; 0 means the constant StepsMax.
	StepsMax int
	// Hidden reports that some processes have no log. The search may insert
	// their steps anywhere.
	Hidden bool
}

// Check checks the logs against the specification. It takes ownership of the
// logs and may shorten them. It returns an error for inconsistent logs and for
// statements that cannot be evaluated; a rejection is not an error. If ctx
// ends, the report is Undecided and contains what is known.
func Check(ctx context.Context, spec Spec, logs []*Log, o Options) (*Report, error) {
	processes, err := join(spec, logs)
	if err != nil {
		return nil, err
	}
	trimmed, err := link(processes)
	if err != nil {
		return nil, err
	}
	logs = nil
	var actors []int
	for _, p := range processes {
		logs, actors = append(logs, p.log), append(actors, p.actor)
	}
	s := &search{spec: spec, logs: logs, actors: actors, due: dueTimes(logs), budget: o.StepsMax, hidden: o.Hidden, seen: map[string]struct{}{}}
	if s.budget <= 0 {
		s.budget = StepsMax
	}
	r := &Report{Logs: logs, Trimmed: trimmed}
	for _, l := range logs {
		r.Sections += len(l.Events)
	}
	r.Verdict, err = s.run(ctx)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	r.Entered, r.Witness = s.entered, s.witness
	switch {
	case r.Verdict == Accepted:
		r.Explained = r.Sections
	case s.best != nil:
		r.Explained, r.Blocked, r.State = s.best.done, s.best.blocked, spec.Show(s.best.state)
	}
	return r, nil
}
