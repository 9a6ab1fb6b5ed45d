package main

import (
	"context"
	"fmt"

	"github.com/ashlar-dev/ashlar/check"
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
	case o.native:
		return usage("searches in this process: --native is not possible")
	}
	return nil
}

// searcher runs the search that the flags ask for.
type searcher struct {
	o       checkOptions
	breadth check.Monitor
	depth   check.DeepenMonitor
	deep    *deepened
	disk    *disk
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
		return searchProgress(&s.breadth)
	}
	return func() (int64, string) {
		p := s.depth.Stats()
		return p.Generated, fmt.Sprintf("round %d  %s computed  %%s/s", p.Depth, count(p.Generated))
	}
}

func (s *searcher) run(ctx context.Context, m check.Model) (*check.Result, error) {
	if !s.o.deepen {
		packModel(ctx, m, s.o)
		plain := "" // why there is no compiled code, where it was asked for
		if s.o.native {
			r, why := runNative(ctx, m, s.o)
			if r != nil {
				return r, nil
			}
			plain = why
		}
		r, err := check.Run(ctx, m, check.Options{Workers: s.o.workers, SafetyOnly: s.o.safetyOnly,
			IgnoreDeadlock: !s.o.deadlock, StatesMax: s.o.statesMax, Continue: s.o.goOn, Monitor: &s.breadth,
			Disk: s.disk, MemoryBytes: s.o.memoryBytes / statesShare, Checkpoint: s.disk.keep})
		if plain != "" && r != nil {
			r.Warnings = append(r.Warnings, "the search was made without compiled code: "+plain)
		}
		return r, err
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
