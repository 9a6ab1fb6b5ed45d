// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"sort"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
)

// Coverage counts what happened in runs: each kind of fault under its name, and
// each traced event, including env.Mark, under its own.
type Coverage map[string]uint64

// Coverage returns the counts of the run so far. The names of fault kinds begin
// with "fault ".
func (w *World) Coverage() Coverage {
	c := Coverage{}
	for k, n := range w.struck {
		if n > 0 {
			c[FaultName(Kind(k))] = n
		}
	}
	for name, n := range w.marks {
		c[name] += n
	}
	return c
}

// FaultName is the name of a kind in a Coverage.
func FaultName(k Kind) string { return "fault " + k.String() }

// Mark counts a mark of the test itself.
func (w *World) Mark(m env.Mark) { w.marks[m.EventName()]++ }

// Add adds other counts.
func (c Coverage) Add(d Coverage) {
	for name, n := range d {
		c[name] += n
	}
}

// Missing returns those of the names that were never counted, sorted.
func (c Coverage) Missing(names ...string) []string {
	var out []string
	for _, name := range names {
		if c[name] == 0 {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

func (c Coverage) String() string {
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%12d %s\n", c[name], name)
	}
	return b.String()
}
