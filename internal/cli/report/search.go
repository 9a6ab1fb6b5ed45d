// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
)

// Reduction describes what a reduced search omitted, compared with the whole
// search.
type Reduction struct {
	// Labels are the labels whose steps the search took alone, in States
	// states.
	Labels []string `json:"labels"`
	States int64    `json:"states"`
	// Refused is the reason why the search could omit nothing.
	Refused string `json:"refused,omitempty"`
	// Generated and Distinct are the counts of the whole search, if it is small
	// enough to run as well.
	Generated int64 `json:"wholeGenerated,omitempty"`
	Distinct  int64 `json:"wholeDistinct,omitempty"`
}

// Reduced records the effect of --por.
func (d *Document) Reduced(r *Reduction) {
	d.Statistics.Reduction = r
	if r != nil && r.Refused == "" {
		d.Headline = strings.Replace(d.Headline, "Every reachable state was visited.", "States that differ only in the order of local steps were left out.", 1)
	}
}

// text formats it for people.
func (r *Reduction) text() string {
	if r.Refused != "" {
		return "Not reduced: " + r.Refused + "."
	}
	line := fmt.Sprintf("Reduced: in %s states only the steps of one process were taken, at %s.", console.Count(r.States), strings.Join(r.Labels, ", "))
	if r.Distinct > 0 {
		line += fmt.Sprintf(" The whole search has %s states generated, %s distinct.", console.Count(r.Generated), console.Count(r.Distinct))
	}
	return line
}

// Deepening holds the results of a depth-first search in addition to those of
// any search.
type Deepening struct {
	DepthMax  int   `json:"depthMax"`
	Rounds    int   `json:"rounds"`
	Computed  int64 `json:"computed"`            // states, in all rounds
	Forgotten int64 `json:"forgotten,omitempty"` // times that the table had no room
}

// text formats it for people.
func (d *Deepening) text() string {
	rounds := fmt.Sprintf("%d rounds", d.Rounds)
	if d.Rounds == 1 {
		rounds = "1 round"
	}
	line := fmt.Sprintf("Depth first, in %s: %s states computed in all; the figures are those of the last.", rounds, console.Count(d.Computed))
	if d.Forgotten > 0 {
		line += fmt.Sprintf("\nThe table of states was full %s times, so some states are counted as distinct more than once.", console.Count(d.Forgotten))
	}
	return line
}
