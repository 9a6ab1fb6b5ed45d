// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"

	"github.com/mattn/go-runewidth"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
)

// Walks describes the walks of a simulation.
type Walks struct {
	Number    int64  `json:"number"`
	Depth     int    `json:"depth"` // at most so many states a walk
	Seed      uint64 `json:"seed"`
	Steps     int64  `json:"states"` // in the walks
	Longest   int    `json:"longest"`
	Deadlocks int64  `json:"deadlocks"` // walks that could not go on
	// Found is the number of the walk with the violation. Length is the number
	// of states in its trace before shortening.
	Found  int64          `json:"found,omitempty"`
	Length int            `json:"length,omitempty"`
	Taken  []WalkedAction `json:"actions"`
}

// WalkedAction describes the use of an action in the walks.
type WalkedAction struct {
	Name    string `json:"name"`
	Place   string `json:"place,omitempty"`
	Taken   int64  `json:"taken"`
	Enabled int64  `json:"enabled"`
}

// Walked converts a search's document to that of a simulation.
func (d *Document) Walked(w *Walks, reason string) {
	d.Complete, d.Reason = false, reason
	d.Actions, d.Init = []covered{}, covered{Name: Initial}
	d.Walks = w
	d.Headline = d.headline()
}

// writeWalks writes the results of the walks.
func writeWalks(w io.Writer, d *Document, p console.Palette) {
	k := d.Walks
	if k.Number == 0 {
		return
	}
	name := len("Action")
	for _, a := range k.Taken {
		name = max(name, runewidth.StringWidth(a.Name))
	}
	fmt.Fprintf(w, "\n%s\n", p.Bold(fmt.Sprintf("%s  %13s  %13s", runewidth.FillRight("Action", name), "taken", "enabled")))
	for _, a := range k.Taken {
		line := fmt.Sprintf("%s  %13s  %13s", runewidth.FillRight(a.Name, name), console.Count(a.Taken), console.Count(a.Enabled))
		if a.Enabled == 0 {
			line = p.Warn(line)
		}
		fmt.Fprintf(w, "%s  %s\n", line, p.Dim(a.Place))
	}
	fmt.Fprintf(w, "\n%s walks of %.1f states on average, the longest %d, %s that deadlocked; %s states generated.\n",
		console.Count(k.Number), float64(k.Steps)/float64(k.Number), k.Longest, console.Count(k.Deadlocks), console.Count(d.Statistics.Generated))
	if k.Length > 0 {
		fmt.Fprintf(w, "The violation is in walk %s, which had %d states.\n", console.Count(k.Found), k.Length)
	}
	fmt.Fprintf(w, "Repeat with --seed %d --depth %d.\n", k.Seed, k.Depth)
	fmt.Fprintln(w, p.Dim(fmt.Sprintf("%.2f s with %d workers: %s states/s.", d.Statistics.Seconds, d.Statistics.Workers, console.Count(int64(d.Statistics.PerSecond)))))
}
