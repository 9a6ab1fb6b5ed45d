// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"fmt"
	"strings"
)

// Spec is a sequential specification with states S, operations Op and results
// Ret. Its functions do not change their arguments.
type Spec[S, Op, Ret any] struct {
	Init S
	// Step returns the possible states after an operation that returned ret: none
	// if it could not have happened in s or would have returned something else. A
	// nil ret means that it has not returned: any result is possible.
	Step func(s S, op Op, ret *Ret) []S
	// Crash returns the states that a crash may leave. Inflight are the operations
	// that have taken effect but have not returned. If the function is nil, a crash
	// loses nothing.
	Crash func(s S, inflight []Op) []S
	// Key is a name of a state: states with equal keys are equal.
	Key func(s S) string
}

// Kind is what an Event is of.
type Kind byte

// The kinds of events.
const (
	Call   Kind = 'c'
	Return Kind = 'r'
	Crash  Kind = '!'
)

// Event is something that happened, as seen by the clients. A client has one
// operation under way at most. Numbers of clients are below 64.
type Event[Op, Ret any] struct {
	Kind   Kind
	Client int
	Op     Op  // of a Call
	Ret    Ret // of a Return
}

// String is the event in one line.
func (e Event[Op, Ret]) String() string {
	switch e.Kind {
	case Call:
		return fmt.Sprintf("client %d calls   %+v", e.Client, e.Op)
	case Return:
		return fmt.Sprintf("client %d returns %+v", e.Client, e.Ret)
	case Crash:
		return "crash"
	}
	panic("crashtest: unknown kind of event")
}

// Violation is a history that no order of its operations explains.
type Violation struct {
	At     int // the event up to which there is no explanation
	States int // how many states were possible before it
	Events []string
}

// contextEvents is how many events before its end a violation shows.
const contextEvents = 60

// Error shows the end of the history.
func (v *Violation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "event %d has no explanation; before it, %d states were possible:\n", v.At, v.States)
	for i := max(0, v.At-contextEvents); i <= v.At; i++ {
		fmt.Fprintf(&b, "  %5d  %s\n", i, v.Events[i])
	}
	return b.String()
}

// How it works: the checker goes through the events and keeps all that may be
// the case, as configurations: a state, and which of the operations under way
// have taken place in it. A return forces its operation to have taken place,
// perhaps after others; configurations in which it cannot have are dropped. A
// crash allows any of those under way to have taken place, and ends them all.
// What it costs depends on how many operations are under way at once, and not
// on the length of the history.

// configsMax bounds what may be the case at once.
const configsMax = 1 << 18

// config is one thing that may be the case.
type config[S any] struct {
	state S
	done  uint64 // clients whose operation has taken place and not returned
}

// underway is an operation between its call and its return.
type underway[Op, Ret any] struct {
	op  Op
	ret *Ret // what it will return; nil if a crash comes first
}

type checker[S, Op, Ret any] struct {
	spec    Spec[S, Op, Ret]
	configs map[string]config[S]
	open    map[int]underway[Op, Ret]
}

// CheckHistory reports whether the events can be explained, by a *Violation if
// not, and otherwise in how many states the history may have ended.
func CheckHistory[S, Op, Ret any](spec Spec[S, Op, Ret], events []Event[Op, Ret]) (int, error) {
	c := &checker[S, Op, Ret]{spec: spec, configs: map[string]config[S]{}, open: map[int]underway[Op, Ret]{}}
	add(c, c.configs, config[S]{state: spec.Init})
	returns := matchReturns(events)
	for i, e := range events {
		before := len(c.configs)
		switch e.Kind {
		case Call:
			c.open[e.Client] = underway[Op, Ret]{e.Op, returns[i]}
		case Return:
			c.configs = c.returned(e.Client)
			delete(c.open, e.Client)
		case Crash:
			c.configs = c.crashed()
			clear(c.open)
		}
		if len(c.configs) > configsMax {
			return 0, fmt.Errorf("after event %d there are %d possibilities: more than can be looked at", i, len(c.configs))
		}
		if len(c.configs) == 0 {
			v := &Violation{At: i, States: before}
			for _, e := range events[:i+1] {
				v.Events = append(v.Events, e.String())
			}
			return 0, v
		}
	}
	return len(c.configs), nil
}

// matchReturns gives for each call what it returned, nil if it did not.
func matchReturns[Op, Ret any](events []Event[Op, Ret]) []*Ret {
	returns := make([]*Ret, len(events))
	calls := map[int]int{}
	for i := range events {
		e := &events[i]
		if e.Kind == Crash {
			clear(calls)
			continue
		}
		at, busy := calls[e.Client]
		if e.Client < 0 || e.Client >= 64 || busy != (e.Kind == Return) {
			panic(fmt.Sprintf("crashtest: event %d does not belong there: %v", i, e))
		}
		if busy {
			returns[at] = &e.Ret
			delete(calls, e.Client)
		} else {
			calls[e.Client] = i
		}
	}
	return returns
}

// add puts a configuration into a set and says whether it is new there.
func add[S, Op, Ret any](c *checker[S, Op, Ret], set map[string]config[S], x config[S]) bool {
	key := fmt.Sprintf("%x/%s", x.done, c.spec.Key(x.state))
	if _, there := set[key]; there {
		return false
	}
	set[key] = x
	return true
}

// expand gives the configurations in which one more operation has taken place.
func (c *checker[S, Op, Ret]) expand(x config[S], visit func(client int, y config[S])) {
	for client, u := range c.open {
		if x.done&(1<<client) != 0 {
			continue
		}
		for _, s := range c.spec.Step(x.state, u.op, u.ret) {
			visit(client, config[S]{s, x.done | 1<<client})
		}
	}
}

// returned gives what may be the case once the client's operation has returned.
func (c *checker[S, Op, Ret]) returned(client int) map[string]config[S] {
	after, seen := map[string]config[S]{}, map[string]config[S]{}
	var work []config[S]
	visit := func(y config[S]) {
		if y.done&(1<<client) != 0 {
			y.done &^= 1 << client
			add(c, after, y)
		} else if add(c, seen, y) {
			work = append(work, y)
		}
	}
	for _, x := range c.configs {
		visit(x)
	}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		c.expand(x, func(_ int, y config[S]) { visit(y) })
	}
	return after
}

// crashed gives what may be the case after a crash.
func (c *checker[S, Op, Ret]) crashed() map[string]config[S] {
	after, seen := map[string]config[S]{}, map[string]config[S]{}
	var work []config[S]
	visit := func(y config[S]) {
		if add(c, seen, y) {
			work = append(work, y)
		}
	}
	for _, x := range c.configs {
		visit(x)
	}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		c.expand(x, func(_ int, y config[S]) { visit(y) })
		left := []S{x.state}
		if c.spec.Crash != nil {
			left = c.spec.Crash(x.state, c.inflight(x))
		}
		for _, s := range left {
			add(c, after, config[S]{state: s})
		}
	}
	return after
}

func (c *checker[S, Op, Ret]) inflight(x config[S]) []Op {
	var ops []Op
	for client, u := range c.open {
		if x.done&(1<<client) != 0 {
			ops = append(ops, u.op)
		}
	}
	return ops
}
