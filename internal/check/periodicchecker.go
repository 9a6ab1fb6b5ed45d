// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// A process other than the one that searches may make the periodic checks of
// properties of behaviours: one has the model with its properties, the other
// has code that computes states faster. The search gets Options.Ask, which
// reports the position of the search. The process with the properties makes a
// PeriodicChecker and answers with Check. Everything else is as with
// Options.Periodic: the search waits for the answer, so it ends at the same
// place.

// PeriodicQuery is the position of a search when a check is due.
type PeriodicQuery struct {
	Level      int // states on the shortest path to those that are next
	Distinct   int64
	Generated  int64
	Violations int // that the search has found
}

// PeriodicAnswer is the result of a check: whether the search must end, and what it
// keeps in its checkpoints and reports, in a form of this package.
type PeriodicAnswer struct {
	End  bool
	Kept []byte
}

// PeriodicChecker checks properties of behaviours of a model during a search. It
// belongs to one goroutine.
type PeriodicChecker struct{ periodic periodic }

// NewPeriodicChecker returns a new checker, or nil if there is nothing to
// check. The options are those of the search, and ctx its context. The caller
// must call Close.
func NewPeriodicChecker(ctx context.Context, m Model, o Options) *PeriodicChecker {
	o.Checker = nil
	c := newPeriodic(ctx, m, o)
	if c == nil {
		return nil
	}
	return &PeriodicChecker{*c}
}

// Check checks the properties. Its errors are those of Run.
func (k *PeriodicChecker) Check(q PeriodicQuery) (PeriodicAnswer, error) {
	c := &k.periodic
	var out PeriodicAnswer
	if !c.Off && q.Level > c.Level {
		var err error
		if out.End, err = c.decide(q); err != nil {
			return PeriodicAnswer{}, err
		}
	}
	var err error
	out.Kept, err = json.Marshal(c.keptPeriodic)
	return out, err
}

// Forget drops what was computed, but not what was found: for example before
// the model is restored from a checkpoint.
func (k *PeriodicChecker) Forget() error {
	if k == nil {
		return nil
	}
	return k.periodic.forget()
}

// Notes returns the remarks about abandoned checks, for the Warnings of a
// result.
func (k *PeriodicChecker) Notes() []string {
	if k == nil {
		return nil
	}
	return slices.Clone(k.periodic.Notes)
}

// Close ends the checks. Nothing is checked after it.
func (k *PeriodicChecker) Close() error {
	if k == nil {
		return nil
	}
	return k.periodic.close()
}

// askOther asks another process to check.
func (c *periodic) askOther(q PeriodicQuery) (end bool, err error) {
	got, err := c.ask(q)
	switch {
	case err != nil || c.ctx.Err() != nil && got.Kept == nil:
		return false, err
	case len(got.Kept) == 0:
		return false, errors.New("check: a periodic check has no answer")
	}
	c.keptPeriodic = keptPeriodic{}
	return got.End, json.Unmarshal(got.Kept, &c.keptPeriodic)
}
