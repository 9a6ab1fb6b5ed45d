package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
)

// deepened is what a search by depth has to say beyond its result.
type deepened struct {
	DepthMax  int   `json:"depthMax"`
	Rounds    int   `json:"rounds"`
	Computed  int64 `json:"computed"`            // states, in all rounds
	Forgotten int64 `json:"forgotten,omitempty"` // times that the table had no room
}

// watcher tells how far a search is.
type watcher interface {
	Initial() int64
	Stats() check.Stats
}

// validDeepening says what --dfid cannot be used with.
func (o checkOptions) validDeepening() error {
	usage := func(format string, args ...any) error {
		return &exit{exitUsage, fmt.Errorf("--dfid "+format, args...)}
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

// searcher runs the search that the flags ask for.
type searcher struct {
	o       checkOptions
	tla     *model.Model // what is searched, nil where it is none of TLA+
	breadth check.Monitor
	depth   check.DeepenMonitor
	deep    *deepened
	disk    *disk
	limit   int64 // of the memory of all that searches; 0 is none

	native      nativeUse
	compiled    atomic.Bool  // it is compiled code that searches now
	nativeTimes *nativeTimes // where they are not the usual ones
}

func (s *searcher) watcher() watcher {
	if s.o.deepen {
		return &s.depth
	}
	return &s.breadth
}

// progress is how far the search is, for a person.
func (s *searcher) progress() func() (int64, string) {
	if !s.o.deepen {
		return searchProgress(&s.breadth, &s.compiled)
	}
	return func() (int64, string) {
		p := s.depth.Stats()
		return p.Generated, fmt.Sprintf("round %d  %s computed  %%s/s", p.Depth, count(p.Generated))
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
	s.deep = &deepened{DepthMax: s.o.dfid, Rounds: d.Rounds, Computed: d.Computed, Forgotten: d.Forgotten}
	return &d.Result, nil
}

// text is what a person reads of it.
func (d *deepened) text() string {
	rounds := fmt.Sprintf("%d rounds", d.Rounds)
	if d.Rounds == 1 {
		rounds = "1 round"
	}
	line := fmt.Sprintf("Depth first, in %s: %s states computed in all; the figures are those of the last.", rounds, count(d.Computed))
	if d.Forgotten > 0 {
		line += fmt.Sprintf("\nThe table of states had no room %s times, so states are counted as distinct that are not.", count(d.Forgotten))
	}
	return line
}
