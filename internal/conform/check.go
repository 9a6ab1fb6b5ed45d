// SPDX-License-Identifier: Apache-2.0

package conform

import "context"

// Options are the options of a validation; the zero Options is the default.
type Options struct {
	// StepsMax bounds the steps of the search; 0 means the constant StepsMax and
	// some for each section that is explained.
	StepsMax int
	// Hidden reports that some processes have no log. The search may insert
	// their steps anywhere.
	Hidden bool
	// AllOrders demands that every order that the clocks allow is a behaviour, and
	// not only one.
	AllOrders bool
	// Live is set for logs that grow.
	Live *Live
	// Window and Width are the bounds WindowMax and WidthMax; 0 means those.
	Window, Width int
}

// Check checks the logs against the specification. It returns an error for
// inconsistent logs and for statements that cannot be evaluated; a rejection is
// not an error. If ctx ends, the report is Undecided and has the results so far.
func Check(ctx context.Context, spec Spec, logs []*Log, o Options) (*Report, error) {
	if o.AllOrders {
		every := &allOrders{}
		r, err := o.check(ctx, spec, logs, &every.search, false, every.run)
		if r != nil {
			r.AllOrders = true
		}
		return r, err
	}
	first := &depthFirst{}
	r, err := o.check(ctx, spec, logs, &first.search, true, first.run)
	if err != nil || r.Verdict != Rejected || !first.lost || o.Live != nil {
		return r, err
	}
	// Orders that could explain the logs were omitted.
	all := &byLevels{}
	all.entered, all.done, all.best = first.entered, first.done, first.best
	return o.check(ctx, spec, logs, &all.search, false, all.run)
}

// check reads the logs once.
func (o Options) check(ctx context.Context, spec Spec, logs []*Log, s *search, timed bool, run func(context.Context) (Verdict, error)) (*Report, error) {
	from, err := newStream(spec, logs, timed, o.Live)
	if err != nil {
		return nil, err
	}
	defer from.close()
	s.spec, s.stream, s.hidden = spec, from, o.Hidden
	s.limits = limits{steps: o.StepsMax, window: o.Window, width: o.Width}
	if s.limits.window == 0 {
		s.limits.window = WindowMax
	}
	if s.limits.width == 0 {
		s.limits.width = WidthMax
	}
	for _, p := range from.processes {
		s.actors = append(s.actors, p.actor)
	}
	verdict, err := run(ctx)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	if ctx.Err() == nil {
		if err := from.drain(); err != nil {
			return nil, err
		}
	}
	r := &Report{Verdict: verdict, Processes: len(from.processes), Sections: from.sections, Entered: s.entered}
	for _, p := range from.processes {
		r.Trimmed += p.extra
		r.Undone += p.undoneAll
		r.Untraced = append(r.Untraced, p.untraced...)
	}
	r.Untraced = append(missing(spec, logs), r.Untraced...)
	r.again = from.strange != nil
	r.Sections -= r.Trimmed
	switch {
	case verdict == Accepted, verdict == Violated:
		r.Explained, r.Violation = r.Sections, s.broken
	case verdict == Undecided:
		r.Explained, r.GaveUp = s.done, s.gaveUp(ctx)
		if s.best != nil {
			r.Blocked, r.State = s.best.blocked, spec.Show(s.best.state)
		}
	case s.best != nil:
		r.Explained, r.Blocked, r.State = s.best.done, s.best.blocked, spec.Show(s.best.state)
	}
	return r, nil
}
