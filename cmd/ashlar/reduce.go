package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// reduction is what of a search was left out, and what the whole search has.
type reduction struct {
	// Labels are those whose steps were taken alone, in States states.
	Labels []string `json:"labels"`
	States int64    `json:"states"`
	// Refused states why nothing was left out.
	Refused string `json:"refused,omitempty"`
	// Generated and Distinct are the counts of the whole search, where it is small
	// enough to be made beside the other.
	Generated int64 `json:"wholeGenerated,omitempty"`
	Distinct  int64 `json:"wholeDistinct,omitempty"`
}

// wholeStatesMax bounds the whole search that is made for its counts.
const wholeStatesMax = 200_000

// reducedBy says what --por came to. Where the model is small the whole search
// is made too: its counts tell what was gained, and its verdict must be the same.
func reducedBy(ctx context.Context, s *subject, r *check.Result, o checkOptions) *reduction {
	if !o.por || s.reduction == nil {
		return nil
	}
	what := s.reduction()
	out := &reduction{Labels: append([]string{}, what.Labels...), States: what.States, Refused: what.Refused}
	if what.Refused != "" || r.Verdict != check.OK {
		return out
	}
	o.por = false
	again, err := loadSpecification(s.spec, o, func(string) {}, new(check.Monitor))
	if err != nil {
		return out // it could be read before: a file has changed
	}
	whole, err := check.Run(ctx, again.model, check.Options{Workers: o.workers, SafetyOnly: true, IgnoreDeadlock: !o.deadlock, StatesMax: wholeStatesMax})
	if err == nil && (whole.Verdict == check.OK || len(whole.Violations) > 0) {
		invariant.Check(whole.Verdict == check.OK, "the reduced search finds nothing wrong, the whole one %v", whole.Verdict)
		out.Generated, out.Distinct = whole.Generated, whole.Distinct
	}
	return out
}

// reduced notes what --por came to.
func (d *document) reduced(r *reduction) {
	d.Statistics.Reduction = r
	if r != nil && r.Refused == "" {
		d.Headline = strings.Replace(d.Headline, "Every reachable state was visited.", "States that only the order of local steps tells apart were left out.", 1)
	}
}

// text is what a person reads of it.
func (r *reduction) text() string {
	if r.Refused != "" {
		return "Not reduced: " + r.Refused + "."
	}
	line := fmt.Sprintf("Reduced: in %s states the steps of one process only were taken, at %s.", count(r.States), strings.Join(r.Labels, ", "))
	if r.Distinct > 0 {
		line += fmt.Sprintf(" The whole search has %s states generated, %s distinct.", count(r.Generated), count(r.Distinct))
	}
	return line
}
