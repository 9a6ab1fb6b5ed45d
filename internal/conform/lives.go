// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"fmt"
	"sort"
)

// A process that survives crashes has one log for each life. This file joins them
// into one, in which the first section of a later life stands for the crash and
// the start after it.
//
// A crash may undo the last sections of a life, starting with the first one whose
// changes the journal did not have on the disk. No other process may have
// observed any of these sections. They are in the log because a section is
// written there before it takes effect. The log says which sections go to the
// journal, and the next life says which of them it found there last. From these
// two facts follows where the undone sections begin.

// process is the joined log of all lives.
type process struct {
	log   *Log
	actor int
	lives []life
}

// life is a part of a process's log.
type life struct {
	actor  string // in clocks
	log    int    // the number of the log
	before int    // events of the log before it
	events int    // what there is of it
	ended  bool   // by a crash
}

// join joins the logs of each process's lives into one.
func join(spec Spec, logs []*Log) ([]process, error) {
	type identity struct{ archetype, self string }
	at := map[identity]int{}
	var out []process
	var all [][]*Log
	for _, l := range logs {
		id := identity{l.Archetype, l.Self.String()}
		i, known := at[id]
		if !known {
			actor, err := spec.Actor(l.Archetype, l.Self)
			if err != nil {
				return nil, err
			}
			i = len(out)
			at[id] = i
			out, all = append(out, process{actor: actor}), append(all, nil)
		}
		all[i] = append(all[i], l)
	}
	for i := range out {
		if err := out[i].join(all[i], spec.Survives(out[i].actor)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *process) join(logs []*Log, survives bool) error {
	sort.SliceStable(logs, func(i, j int) bool { return logs[i].life < logs[j].life })
	for i, l := range logs {
		switch {
		case i > 0 && logs[i-1].life == l.life:
			return fmt.Errorf("%s and %s are both logs of %s", logs[i-1].Name, l.Name, l.Actor)
		case !survives && l.life > 0:
			return fmt.Errorf("%s: is of life %d of %s, which does not survive crashes in the specification", l.Name, l.life, l.Actor)
		case survives && l.life == 0:
			return fmt.Errorf("%s: does not say which life of %s it is of, which survives crashes in the specification", l.Name, l.Actor)
		}
	}
	p.log = &Log{Name: logs[0].Name, Actor: logs[0].Archetype + "(" + logs[0].Self.String() + ")", Archetype: logs[0].Archetype, Self: logs[0].Self}
	for i, l := range logs {
		if i+1 < len(logs) {
			if err := l.undo(logs[i+1]); err != nil {
				return err
			}
		}
		if len(l.Events) > 0 && l.kept != nil {
			l.Events[0].Crash = true
		}
		p.lives = append(p.lives, life{actor: l.Actor, before: len(p.log.Events), events: len(l.Events), ended: i+1 < len(logs)})
		p.log.Events = append(p.log.Events, l.Events...)
	}
	return nil
}

// undo removes the sections that the crash at the end of a life has undone. The
// journal record that the next life found on the disk determines which these
// are.
func (l *Log) undo(next *Log) error {
	from := 0 // the first section that can be undone
	switch k := next.kept; {
	case k == nil && l.kept != nil:
		return fmt.Errorf("%s: begins with nothing, although %s had found section %d of life %d", next.Name, l.Name, l.kept.N, l.kept.Life)
	case k == nil:
		return l.cut(0)
	case k.Life == l.life:
		if k.N > uint64(len(l.Events)) {
			return fmt.Errorf("%s: begins with what section %d of %s left, and %s ends with section %d, or the machine lost the end of the trace", next.Name, k.N, l.Actor, l.Name, len(l.Events))
		}
		from = int(k.N)
	case l.kept != nil && *k == *l.kept:
	default:
		return fmt.Errorf("%s: begins with what section %d of life %d left, which %s does not go on from", next.Name, k.N, k.Life, l.Name)
	}
	for i := from; i < len(l.Events); i++ {
		if l.Events[i].kept {
			return l.cut(i)
		}
	}
	return nil
}

// cut removes the sections from number n on. The last of them may have been
// waiting for the disk. The others took effect, and no other process may have
// observed them.
func (l *Log) cut(n int) error {
	for i := n; i+1 < len(l.Events); i++ {
		if e := &l.Events[i]; !e.private() {
			return fmt.Errorf("%s:%d: others could see this section, although what it depends on was not durable", e.File, e.Line)
		}
	}
	l.Events = l.Events[:min(n, len(l.Events))]
	return nil
}

// Processes returns the number of processes that the logs cover.
func Processes(logs []*Log) int {
	seen := map[string]bool{}
	for _, l := range logs {
		seen[l.Archetype+"("+l.Self.String()+")"] = true
	}
	return len(seen)
}

// Crashes returns the number of crashes in the logs.
func Crashes(logs []*Log) int {
	n := 0
	for _, l := range logs {
		if len(l.Events) > 0 && l.kept != nil {
			n++
		}
	}
	return n
}
