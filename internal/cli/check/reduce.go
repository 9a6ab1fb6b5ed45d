// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/report"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// wholeStatesMax bounds the unreduced search that is run only for its counts.
const wholeStatesMax = 200_000

// reducedBy reports what --por achieved. For a small model it also runs the unreduced
// search: the counts show what was saved, and the verdict must be the same.
func reducedBy(ctx context.Context, s *subject, r *check.Result, o checkOptions) *report.Reduction {
	if !o.por || s.reduction == nil {
		return nil
	}
	what := s.reduction()
	out := &report.Reduction{Labels: append([]string{}, what.Labels...), States: what.States, Refused: what.Refused}
	if what.Refused != "" || r.Verdict != check.OK {
		return out
	}
	o.por = false
	again, err := loadSpecification(s.Spec, o, func(string) {}, new(check.Monitor))
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
