// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/trial"
)

// trialTime is how long rewrite and optimize compare their result with the
// original. Package trial sets the extent of the comparison.
const trialTime = 10 * time.Second

const trialHelp = `The result is compared with the original before it is written: with a few generated
messages, in every order, in at most 5,000 states of each program for each of at most
seven sets of messages, with each timer expiring once, and for 10 seconds in all. The
output says what was compared; --no-compare skips the comparison, and the output says so.
Finding no difference proves nothing: see dedalus compare and dedalus simulate for more.`

// comparedSteps is the report of a comparison.
type comparedSteps struct {
	Skipped bool `json:"skipped,omitempty"`
	*trial.Report
}

// try compares a program with the one made from it, within its bounds.
func try(ctx context.Context, before, after *logic.Program, skip bool) (*comparedSteps, error) {
	if skip {
		return &comparedSteps{Skipped: true}, nil
	}
	c, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	r, err := trial.Run(c, before, after, trial.Limits{})
	if err != nil || ctx.Err() != nil {
		return nil, exit.With(exit.Interrupted, errors.New("interrupted while comparing the result of the steps with the program"))
	}
	return &comparedSteps{Report: r}, nil
}

// String describes the comparison in one line.
func (d *comparedSteps) String() string {
	if d.Skipped {
		return "not compared: --no-compare"
	}
	return "compared: " + d.Report.String()
}

// code is the exit code of a comparison.
func (d *comparedSteps) code() int {
	if d.Skipped || d.Different == nil {
		return 0
	}
	return differenceCode(d.Different)
}

// differenceCode is the exit code for a difference.
func differenceCode(d *explore.Difference) int {
	return map[string]int{"safety": exit.Safety, "liveness": exit.Liveness}[d.Kind]
}

// write reports what was compared, and shows the run if there is a difference.
func (d *comparedSteps) write(w io.Writer) {
	fmt.Fprintln(w, d)
	if d.code() == 0 {
		return
	}
	fmt.Fprintf(w, "refused: after the rewrite, %v\nafter\n", d.Different)
	for i, s := range d.Different.Steps {
		fmt.Fprintf(w, "%4d  %s\n", i+1, s)
	}
	fmt.Fprintln(w, "given")
	for _, m := range d.Sets[len(d.Sets)-1].Inputs {
		fmt.Fprintf(w, "      %s\n", m)
	}
}
