// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/report"
	"github.com/ashlar-dev/ashlar/internal/cli/tlc"
	"github.com/ashlar-dev/ashlar/internal/model"
)

// validDeepening checks that --dfid is not combined with flags that exclude it.
func (o checkOptions) validDeepening() error {
	usage := func(format string, args ...any) error {
		return exit.With(exit.Usage, fmt.Errorf("--dfid "+format, args...))
	}
	switch {
	case o.dfid < 1 || o.dfid > check.DeepenDepthMax:
		return usage("%d: want 1 to %d states", o.dfid, check.DeepenDepthMax)
	case o.workers > 1:
		return usage("searches with one worker: --workers %d is not possible", o.workers)
	case o.goOn:
		return usage("ends at the first violation: --continue is not possible")
	case o.statesMax > 0:
		return usage("counts a state in every round: --max-states is not possible")
	case o.dump != "":
		return usage("keeps no graph: --dump is not possible")
	case o.native == nativeAlways:
		return usage("searches in this process: --native is not possible")
	}
	return nil
}

// deepenDepth returns the maximum number of states on a path in a depth-first
// search, and 0 for a breadth-first search.
func (o checkOptions) deepenDepth() int {
	if !o.deepen {
		return 0
	}
	return o.dfid
}

// searcher runs the search that the flags select.
type searcher struct {
	o       checkOptions
	tla     *model.Model // what is searched, nil where it is none of TLA+
	breadth check.Monitor
	depth   check.DeepenMonitor
	deep    *report.Deepening
	disk    *disk
	memory  bounds // of this process and of the compiled search together

	native      nativeUse
	compiled    atomic.Bool  // it is compiled code that searches now
	nativeTimes *nativeTimes // where they are not the usual ones
}

func (s *searcher) watcher() tlc.Watcher {
	if s.o.deepen {
		return &s.depth
	}
	return &s.breadth
}

// progress formats the progress of the search for people.
func (s *searcher) progress() func() (int64, string) {
	if !s.o.deepen {
		return searchProgress(&s.breadth, &s.compiled)
	}
	return func() (int64, string) {
		p := s.depth.Stats()
		return p.Generated, fmt.Sprintf("round %d  %s computed  %%s/s", p.Depth, console.Count(p.Generated))
	}
}

func (s *searcher) run(ctx context.Context, m check.Model) (*check.Result, error) {
	if !s.o.deepen {
		return s.wide(ctx, m)
	}
	d, err := check.Deepen(ctx, m, check.DeepenOptions{Depth: s.o.dfid, SafetyOnly: s.o.safetyOnly,
		IgnoreDeadlock: !s.o.deadlock, Monitor: &s.depth})
	if err != nil {
		return nil, err
	}
	s.deep = &report.Deepening{DepthMax: s.o.dfid, Rounds: d.Rounds, Computed: d.Computed, Forgotten: d.Forgotten}
	return &d.Result, nil
}

// searchProgress returns the progress of a search, which may be running in
// compiled code.
func searchProgress(m *check.Monitor, compiled *atomic.Bool) func() (int64, string) {
	return func() (int64, string) {
		s := m.Stats()
		if d, on := m.Deciding(); on {
			return s.Generated, decidingProgress(s, d)
		}
		line := fmt.Sprintf("%s generated  %s distinct  %s queued  depth %d  %%s/s",
			console.Count(s.Generated), console.Count(s.Distinct), console.Count(s.Queue), s.Depth)
		if disk := m.DiskBytes(); disk > 0 {
			line += fmt.Sprintf("  %s MB on disk", console.Count(disk/1e6))
		}
		if compiled.Load() {
			line += "  compiled"
		}
		return s.Generated, line
	}
}

// decidingProgress returns the progress of deciding properties of behaviours.
func decidingProgress(s check.Stats, d check.Deciding) string {
	line := fmt.Sprintf("%s distinct  properties of behaviours: ", console.Count(s.Distinct))
	if d.Property == "" {
		return line + fmt.Sprintf("graph of %s of %s states", console.Count(d.States), console.Count(d.Of))
	}
	return line + d.Property
}
