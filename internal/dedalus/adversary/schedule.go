// SPDX-License-Identifier: Apache-2.0

package adversary

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Kind is the kind of a step of a schedule.
type Kind uint8

// The kinds.
const (
	// Give gives an input.
	Give Kind = iota
	// Tick runs a tick of a machine.
	Tick
	// TickCrash runs a tick of a machine, and crashes its node before the disk has what the
	// tick logged.
	TickCrash
	// Crash crashes a node between two ticks.
	Crash
	// Stop stops a machine permanently.
	Stop
)

// Step is a step of a schedule.
type Step struct {
	Kind Kind
	// Input is the index of the input, among the inputs and, after them, the messages that a
	// client sent before.
	Input int
	// Machine is the machine that ticks or stops, or a machine of the node that crashes.
	Machine string
	// In are the messages that arrive in a tick, as indexes among all messages ever sent to
	// the machine, in the order in which each was first sent.
	In []int
	// Timers are the timers that fire.
	Timers []string
	// Losing makes a crash lose all messages in flight from the node.
	Losing bool
	// keys has the messages of In as text, if a run has taken the step. They keep their
	// meaning when earlier steps are removed.
	keys []string
}

// Schedule is the adversary's steps in the trouble.
type Schedule []Step

// String writes a step as Parse reads it:
//
//	>2                  input 2 is given
//	leader/0            a tick, in which nothing arrives
//	leader/0:1,4+retry  a tick with messages 1 and 4, and a timer
//	leader/0:1!         the same, and a crash in it
//	leader/0!           a crash between two ticks; with !! all under way from it is lost
//	leader/0~           it stops
//
// A crash without a tick is written with '^': leader/0^!.
func (s Step) String() string {
	switch s.Kind {
	case Give:
		return fmt.Sprintf(">%d", s.Input)
	case Stop:
		return s.Machine + "~"
	case Crash:
		return s.Machine + "^" + s.bang()
	}
	var b strings.Builder
	b.WriteString(s.Machine)
	for i, j := range s.In {
		fmt.Fprintf(&b, "%c%d", ":,"[min(i, 1)], j)
	}
	for _, t := range s.Timers {
		b.WriteString("+" + t)
	}
	if s.Kind == TickCrash {
		b.WriteString(s.bang())
	}
	return b.String()
}

func (s Step) bang() string {
	if s.Losing {
		return "!!"
	}
	return "!"
}

func (s Schedule) String() string {
	out := make([]string, len(s))
	for i, x := range s {
		out[i] = x.String()
	}
	return strings.Join(out, " ")
}

// stepsMax is the maximum number of steps of a parsed schedule.
const stepsMax = 1_000_000

// Parse parses a schedule. The error states what was expected.
func Parse(text string) (Schedule, error) {
	words := strings.Fields(text)
	if len(words) > stepsMax {
		return nil, fmt.Errorf("schedule has %d steps; the limit is %d", len(words), stepsMax)
	}
	var out Schedule
	for _, w := range words {
		s, err := parseStep(w)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func parseStep(word string) (Step, error) {
	bad := func(want string) (Step, error) {
		return Step{}, fmt.Errorf("step '%s': expected %s; steps are >INPUT, MACHINE[:MESSAGE,...][+TIMER...][!|!!], MACHINE^! and MACHINE~", word, want)
	}
	if rest, ok := strings.CutPrefix(word, ">"); ok {
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return bad("the number of an input")
		}
		return Step{Kind: Give, Input: n}, nil
	}
	s := Step{Kind: Tick}
	if rest, ok := strings.CutSuffix(word, "~"); ok {
		s.Kind, word = Stop, rest
	}
	if rest, ok := strings.CutSuffix(word, "!"); ok && s.Kind == Tick {
		s.Kind, word = TickCrash, rest
		if rest, ok = strings.CutSuffix(word, "!"); ok {
			s.Losing, word = true, rest
		}
		if rest, ok = strings.CutSuffix(word, "^"); ok {
			s.Kind, word = Crash, rest
		}
	}
	parts := strings.Split(word, "+")
	head, list, messages := strings.Cut(parts[0], ":")
	s.Machine, s.Timers = head, parts[1:]
	if name, number, ok := strings.Cut(head, "/"); !ok || name == "" || number == "" {
		return bad("a machine, such as leader/0")
	}
	if slices.Contains(s.Timers, "") {
		return bad("the name of a timer")
	}
	if (s.Kind == Crash || s.Kind == Stop) && (messages || len(s.Timers) > 0) {
		return bad("no messages and no timers after a crash or a stop")
	}
	for messages {
		var one string
		one, list, messages = strings.Cut(list, ",")
		n, err := strconv.Atoi(one)
		if err != nil || n < 0 {
			return bad("the number of a message")
		}
		s.In = append(s.In, n)
	}
	return s, nil
}

// take runs a step, and returns it as it was run, with the messages that did arrive.
func (w *world) take(s Step, give func(int) bool) (Step, bool) {
	i, ok := w.place[s.Machine]
	if s.Kind != Give && (!ok || w.stopped[i]) {
		return s, false
	}
	w.step++
	if s.Kind == Give {
		return s, give(s.Input)
	}
	switch s.Kind {
	case Stop:
		w.stopped[i] = true
		return s, true
	case Crash:
		w.crash(w.logical[i], s.Losing)
		return s, true
	}
	var in []int
	for j, p := range w.net[i] {
		if !p.gone && (slices.Contains(s.keys, p.key) || s.keys == nil && slices.Contains(s.In, j)) {
			in = append(in, j)
		}
	}
	s.In, s.keys = in, []string{}
	for _, j := range in {
		s.keys = append(s.keys, w.net[i][j].key)
	}
	var timers []*logic.Relation
	s.Timers = slices.DeleteFunc(slices.Clone(s.Timers), func(name string) bool {
		at := slices.IndexFunc(w.timers[i], func(r *logic.Relation) bool { return r.Name == name })
		if at >= 0 {
			timers = append(timers, w.timers[i][at])
		}
		return at < 0
	})
	w.tick(i, in, timers, s.Kind == TickCrash)
	if s.Kind == TickCrash {
		w.crash(w.logical[i], s.Losing)
	}
	return s, true
}

// Tell describes each step, one a line. If a run has taken the steps, it shows the messages that
// arrive.
func (s Schedule) Tell() []string {
	var out []string
	for _, x := range s {
		text := x.Machine
		switch x.Kind {
		case Give:
			text = fmt.Sprintf("input %d arrives", x.Input)
		case Stop:
			text += " stops forever"
		case Crash:
			text += ": the node crashes" + x.losing()
		default:
			for i, k := range x.keys {
				text += [...]string{" gets ", ", "}[min(i, 1)] + fact(k)
			}
			for _, t := range x.Timers {
				text += ", timer " + t
			}
			if len(x.keys)+len(x.Timers) == 0 {
				text += " ticks"
			}
			if x.Kind == TickCrash {
				text += "; the node crashes in the tick" + x.losing()
			}
		}
		out = append(out, text)
	}
	return out
}

func (s Step) losing() string {
	if s.Losing {
		return ", which loses its messages in transit"
	}
	return ""
}
