// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"fmt"
	"io"
	"sort"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
)

// A process that survives crashes has one log for each life. This file joins them
// into one sequence of sections, in which the first section of a later life stands
// for the crash and the start after it.
//
// A crash may undo the last sections of a life, starting with the first one whose
// changes the journal did not have on the disk. No other process may have
// observed any of these sections. They are in the log because a section is
// written there before it takes effect. The log says which sections go to the
// journal, and the next life says which of them it found there last. From these
// two facts, which are known when the sections are read, follows where the undone
// sections begin.

// life is a part of a process's log.
type life struct {
	log    *Log
	start  int // sections of the process before this life; known once it is open
	events int // the number of sections once it has ended

	undoFrom uint64 // the first section that the crash at its end can undo, from 1
	undoAll  bool   // the next life found nothing
	last     bool   // no known crash ended it

	seen   uint64 // the highest section of it that was observed
	seenBy string // the file with the section that did so
	seenAt int    // and its line
}

// group sorts logs by process, and each process's logs by life.
func group(spec Spec, logs []*Log) ([]*process, error) {
	at := map[string]*process{}
	var out []*process
	for _, l := range logs {
		name := instance(l.Archetype, l.Self)
		p := at[name]
		if p == nil {
			actor, err := spec.Actor(l.Archetype, l.Self)
			if err != nil {
				return nil, err
			}
			p = &process{actor: actor, name: name}
			at[name] = p
			out = append(out, p)
		}
		p.lives = append(p.lives, &life{log: l})
	}
	for _, p := range out {
		if err := p.order(spec.Survives(p.actor)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// order sorts the lives of a process, determines what crashes can undo, and notes the
// lives without a log. These may have ended before they did anything.
func (p *process) order(survives bool) error {
	sort.SliceStable(p.lives, func(i, j int) bool { return p.lives[i].log.life < p.lives[j].log.life })
	for i, f := range p.lives {
		l := f.log
		switch {
		case i > 0 && p.lives[i-1].log.life == l.life:
			return fmt.Errorf("%s and %s are both logs of %s", p.lives[i-1].log.Name, l.Name, l.Actor)
		case !survives && l.life > 0:
			return fmt.Errorf("%s: records life %d of %s, which does not survive crashes in the specification", l.Name, l.life, l.Actor)
		case survives && l.life == 0:
			return fmt.Errorf("%s: does not record the life of %s, which survives crashes in the specification", l.Name, l.Actor)
		}
		before := uint64(0)
		if i > 0 {
			before = p.lives[i-1].log.life
		} else if survives && l.life > 1 && l.kept != nil {
			return fmt.Errorf("%s: begins with what section %d of life %d left, and there is no trace of that life", l.Name, l.kept.N, l.kept.Life)
		}
		p.without(before, l.life)
		if f.last = i+1 == len(p.lives); !f.last {
			if err := f.before(p.lives[i+1].log); err != nil {
				return err
			}
		}
	}
	return nil
}

// without notes that the lives between two have no log.
func (p *process) without(a, b uint64) {
	switch {
	case b > a+2:
		p.untraced = append(p.untraced, fmt.Sprintf("lives %d to %d of %s", a+1, b-1, p.name))
	case b == a+2:
		p.untraced = append(p.untraced, fmt.Sprintf("life %d of %s", a+1, p.name))
	}
}

// before determines what the crash between two lives can undo.
func (f *life) before(next *Log) error {
	switch k, l := next.kept, f.log; {
	case k == nil && l.kept != nil:
		return fmt.Errorf("%s: begins from the initial state, although %s began with section %d of life %d", next.Name, l.Name, l.kept.N, l.kept.Life)
	case k == nil:
		f.undoAll = true
	case k.Life == l.life:
		f.undoFrom = k.N + 1
	case l.kept != nil && *k == *l.kept:
		f.undoFrom = 1
	default:
		return fmt.Errorf("%s: begins with the state after section %d of life %d, which does not match %s", next.Name, k.N, k.Life, l.Name)
	}
	return nil
}

// undoes reports whether the crash at the end of the life has undone the event
// and all that follow it.
func (f *life) undoes(e *tracelog.Event) bool {
	return !f.last && (f.undoAll || e.N >= f.undoFrom && e.Kept)
}

// readLife reads the next committed event of the process's current life. It
// skips events that the crash at the end has undone. At the end of the life it
// returns io.EOF.
func (p *process) readLife() (*tracelog.Event, int, error) {
	f := p.lives[p.life]
	for {
		e, line, err := p.from.next()
		if err == io.EOF && !f.last && f.undoFrom > p.logged+1 {
			next := p.lives[p.life+1].log
			return nil, 0, fmt.Errorf("%s: begins with the state after section %d of %s, but %s ends with section %d; or the machine lost the end of the trace",
				next.Name, f.undoFrom-1, f.log.Actor, f.log.Name, p.logged)
		}
		if err != nil {
			return nil, 0, err
		}
		if e.Aborted != "" { // had no effect
			continue
		}
		p.logged++
		if p.undone == nil && !f.undoes(e) {
			return e, line, nil
		}
		// The last of the undone sections may have been waiting for the disk. The
		// others took effect, and no other process may have observed them.
		if u := p.undone; u != nil && u.shows {
			return nil, 0, fmt.Errorf("%s:%d: other processes could observe this section before what it depends on was durable", f.log.Name, u.line)
		}
		p.undoneAll++
		p.undone = &undone{line: line, shows: len(e.Elements) > 0}
	}
}

// undone is the last section read of those that a crash has undone.
type undone struct {
	line  int
	shows bool // it accesses something outside the instance
}

// Processes returns the number of processes that the logs cover.
func Processes(logs []*Log) int { return len(covered(logs)) }

// covered returns the names of the processes that the logs cover.
func covered(logs []*Log) map[string]bool {
	seen := map[string]bool{}
	for _, l := range logs {
		seen[instance(l.Archetype, l.Self)] = true
	}
	return seen
}

// missing lists the instances without a log.
func missing(spec Spec, logs []*Log) (out []string) {
	seen := covered(logs)
	for _, name := range spec.Instances() {
		if !seen[name] {
			out = append(out, name)
		}
	}
	return out
}

// Crashes returns the largest number of crashes that the logs can contain.
func Crashes(logs []*Log) int {
	n := 0
	for _, l := range logs {
		if l.kept != nil {
			n++
		}
	}
	return n
}
