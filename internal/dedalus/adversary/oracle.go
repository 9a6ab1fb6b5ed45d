// SPDX-License-Identifier: Apache-2.0

package adversary

import (
	"container/heap"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// The oracle looks for a run of the original program that has the same outputs. Outputs are
// messages: they may be late, so such a run may have sent more of them by then. But clients may
// have waited for outputs before they asked, so these outputs must come before the inputs that
// follow. The oracle begins with the mirrored run: what arrived at a machine of a node arrives
// at the node, and its timers fire when those of the machine did. If that does not explain
// everything, it searches for another run, best first: one without unwanted outputs that lacks
// the fewest.

// Oracle holds the original program and its inputs.
type Oracle struct {
	player *Player
	// TicksMax is the maximum number of ticks in a search for one run, by default 4000. A
	// lower bound is faster, and explains less.
	TicksMax int
}

// restsMax is the maximum number of runs with the right outputs that a search continues until
// they rest.
const restsMax = 30

// NewOracle returns an oracle for a program, with the inputs of the rewritten program.
func NewOracle(p *logic.Program, inputs []interp.Message, o Options) *Oracle {
	return &Oracle{NewPlayer(p, inputs, o), 4000}
}

// Verdict is the oracle's verdict on a run.
type Verdict struct {
	// Kind is "" if a run of the program explains everything, "safety" if the oracle found no
	// run with a set of outputs, and "liveness" if it found no run that comes to rest with all
	// of them.
	Kind string
	// Told is that set, one output a line.
	Told string
	// Sure reports that the program has no such run at all within the steps that the search
	// takes: the search has tried all of them and did not reach its bound.
	Sure bool
}

func (v *Verdict) String() string {
	told := v.Told
	if told == "" {
		told = "nothing"
	}
	sure := "was not found in the original within the bound of the search"
	if v.Sure {
		sure = "the original does not do"
	}
	switch v.Kind {
	case "":
		return "the original can do the same"
	case "liveness":
		return fmt.Sprintf("the program comes to rest after sending\n%s\nwhich %s", told, sure)
	}
	return fmt.Sprintf("the program sends\n%s\nwhich %s", told, sure)
}

// Judge looks for runs of the program that have the outputs of a run of the rewritten program,
// at each moment and at rest. It judges a run that did not come to rest only by its outputs.
func (o *Oracle) Judge(ctx context.Context, r *Run) *Verdict {
	mirrored := o.mirror(r)
	if mirrored.covers(r, r.Told) && (!r.Rest || mirrored.Rest && mirrored.Outcome() == r.Outcome()) {
		return &Verdict{}
	}
	sure := false
	if r.Rest {
		found := false
		if found, sure = o.search(ctx, r, r.Told, true); found {
			return &Verdict{} // it has had all these outputs on its way
		}
	}
	if !mirrored.covers(r, r.Told) {
		if found, _ := o.search(ctx, r, r.Told, false); !found {
			return o.first(ctx, r, mirrored)
		}
	}
	if !r.Rest {
		return &Verdict{}
	}
	return &Verdict{"liveness", r.Outcome(), sure}
}

// first returns the verdict on a run whose outputs no run explains: on the first outputs that
// none explains.
func (o *Oracle) first(ctx context.Context, r, mirrored *Run) *Verdict {
	for i := range r.Told {
		want := r.Told[:i+1]
		if i+1 < len(r.Told) && (r.Told[i+1].At == r.Told[i].At || mirrored.covers(r, want)) {
			continue
		}
		if found, sure := o.search(ctx, r, want, false); !found {
			return &Verdict{"safety", outcome(want), sure}
		}
	}
	return &Verdict{"safety", r.Outcome(), false}
}

// covers reports whether a run of the original has the outputs of another run, each before the
// inputs that the other run received later.
func (m *Run) covers(r *Run, want []Telling) bool {
	told, given := map[string]int{}, map[string]int{}
	for _, t := range m.Told {
		told[t.Message.String()] = t.At
	}
	for _, t := range slices.Backward(m.Given) {
		given[arrival(m.logical(t.Message.To), t.Message.Fact)] = t.At
	}
	for _, t := range want {
		if _, ok := told[t.Message.String()]; !ok {
			return false
		}
	}
	for _, g := range r.Given {
		at, ok := given[arrival(r.logical(g.Message.To), g.Message.Fact)]
		for _, t := range want {
			if ok && t.At < g.At && told[t.Message.String()] >= at {
				return false
			}
		}
	}
	return true
}

// omission states how the nodes of stopped machines fail after that many steps: a message to or
// from such a node that did not arrive in the run does not arrive.
func (o *Oracle) omission(r *Run, after int) func(m interp.Message, from, to int) bool {
	faulty := map[int]bool{}
	for _, s := range r.Schedule[:min(after, len(r.Schedule))] {
		if s.Kind == Stop {
			faulty[o.player.d.logical[o.player.d.place[r.logical(s.Machine)]]] = true
		}
	}
	if len(faulty) == 0 {
		return nil
	}
	told := r.set()
	return func(m interp.Message, from, to int) bool {
		if !faulty[from] && !faulty[to] {
			return false
		}
		if to == outside {
			return !told[m.String()]
		}
		return r.arrived[arrival(o.player.d.names[to], m.Fact)] < after
	}
}

// mirror returns the run of the original in which the same happens.
func (o *Oracle) mirror(r *Run) *Run {
	g := o.player.start()
	crashed, told := o.lastCrashes(r), r.set()
	at := 0
	g.losing = func(m interp.Message, from int) bool { return crashed[from] > at && !told[m.String()] }
	for n, s := range r.Schedule {
		at = n
		if s.Kind == Give {
			g.do(s)
			continue
		}
		i, ok := g.place[r.logical(s.Machine)]
		if !ok {
			continue
		}
		if s.Machine = g.machines[i].Node; s.Kind == Stop {
			// A stopped machine is a node that omits messages, and continues.
			g.omitting(o.omission(r, n+1))
			continue
		}
		var keys []string
		for _, k := range s.keys {
			if at := slices.IndexFunc(g.net[i], func(p parcel) bool { return fact(p.key) == fact(k) }); at >= 0 {
				keys = append(keys, g.net[i][at].key)
			}
		}
		if s.keys = keys; s.keys == nil {
			s.keys = []string{}
		}
		g.do(s)
	}
	at = len(r.Schedule)
	return g.end()
}

// lastCrashes maps each node to the step after its last crash. Its earlier outputs may have
// been in flight, and lost.
func (o *Oracle) lastCrashes(r *Run) map[int]int {
	out := map[int]int{}
	for n, s := range r.Schedule {
		if i, ok := o.player.d.place[r.logical(s.Machine)]; ok && (s.Kind == Crash || s.Kind == TickCrash) {
			out[o.player.d.logical[i]] = n + 1
		}
	}
	return out
}

// set returns the outputs as text.
func (r *Run) set() map[string]bool {
	out := map[string]bool{}
	for _, t := range r.Told {
		out[t.Message.String()] = true
	}
	return out
}

// fact strips the destination from the key of a message.
func fact(key string) string { return key[:strings.LastIndex(key, " to ")] }

// candidate is an unfinished run of the program.
type candidate struct {
	w       *world
	missing int
	age     int // how many ticks
	held    []held
	rank    int // of those that lack as much, the greatest is next
	crashes int // that are left
}

// held is an input that a client sends after it has received some output.
type held struct {
	message interp.Message
	after   []string
}

// release sends the held inputs whose required outputs have all appeared.
func (c *candidate) release() {
	c.held = slices.DeleteFunc(slices.Clone(c.held), func(h held) bool {
		waits := slices.ContainsFunc(h.after, func(m string) bool { return !c.w.known[m] })
		if !waits {
			c.w.send(h.message, outside)
		}
		return !waits
	})
}

type queue []*candidate

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].missing < q[j].missing || q[i].missing == q[j].missing && q[i].rank > q[j].rank
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*candidate)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

// search looks for a run with a set of outputs and, with rest, no further output in peace. It
// tries long runs first, which get there soon, then short ones, and without rest also runs with
// more outputs than the other run ever had. sure reports that it has tried everything.
func (o *Oracle) search(ctx context.Context, r *Run, want []Telling, rest bool) (found, sure bool) {
	bounds := []map[string]bool{r.set()}
	if !rest {
		bounds = append(bounds, nil)
	}
	for _, among := range bounds {
		for _, sign := range []int{1, -1} {
			if found, sure = o.look(ctx, r, want, among, rest, sign); found || sure {
				break
			}
		}
		if found {
			break
		}
	}
	return found, sure
}

// look is a best-first search. Among runs that lack equally many outputs it continues with the
// longest or, with the other sign, the shortest. If among is not nil, the runs have no other
// outputs.
func (o *Oracle) look(ctx context.Context, r *Run, want []Telling, among map[string]bool, rest bool, sign int) (found, sure bool) {
	wanted := map[string]bool{}
	for _, t := range want {
		wanted[t.Message.String()] = true
	}
	first := &candidate{w: o.player.d.begin(), missing: len(wanted)}
	for _, s := range r.Schedule {
		if s.Kind == Crash || s.Kind == TickCrash {
			first.crashes++
		}
	}
	crashed, told := o.lastCrashes(r), r.set()
	first.w.losing = func(m interp.Message, from int) bool { return crashed[from] > 0 && !told[m.String()] }
	for _, t := range r.Given {
		m := interp.Message{To: r.logical(t.Message.To), Fact: interp.Fact{Relation: o.player.d.program.Find(t.Message.Fact.Relation.Name), Row: t.Message.Fact.Row}}
		h := held{message: m}
		for _, x := range want {
			if x.At < t.At {
				h.after = append(h.after, x.Message.String())
			}
		}
		first.held = append(first.held, h)
	}
	first.release()
	q, seen, ticks, rests := &queue{first}, map[string]bool{}, 0, 0
	for q.Len() > 0 {
		c := heap.Pop(q).(*candidate)
		if c.missing == 0 {
			if !rest || c.rests(o.omission(r, len(r.Schedule)), wanted) {
				return true, false
			}
			if rests++; rests > restsMax {
				return false, false
			}
		}
		for _, next := range c.next() {
			if ticks++; ticks > o.TicksMax || ctx.Err() != nil {
				return false, false
			}
			next.rank = sign * next.age
			if next.missing = next.lacks(wanted); among != nil && !next.within(among) {
				continue
			}
			next.release()
			if key := fmt.Sprint(len(next.held), next.w.key()); !seen[key] {
				seen[key] = true
				heap.Push(q, next)
			}
		}
	}
	return false, true
}

// within reports whether all outputs are among the given messages.
func (c *candidate) within(among map[string]bool) bool {
	return !slices.ContainsFunc(c.w.told, func(t Telling) bool { return !among[t.Message.String()] })
}

// lacks returns the number of wanted outputs that are missing.
func (c *candidate) lacks(wanted map[string]bool) int {
	n := len(wanted)
	for m := range wanted {
		if c.w.known[m] {
			n--
		}
	}
	return n
}

// rests reports whether the run has no further output in peace, with these omissions.
func (c *candidate) rests(omit func(interp.Message, int, int) bool, wanted map[string]bool) bool {
	w := c.w.clone()
	w.losing = nil
	w.omitting(omit)
	return w.peace(func(int) {}) && len(w.told) == len(wanted)
}

// next returns the runs with one more tick: of each machine with one or all of the messages in
// flight to it, with a timer, or with a repeated message; and the runs with a crash.
func (c *candidate) next() []*candidate {
	var out []*candidate
	tick := func(i int, in []int, timers []*logic.Relation) {
		next := &candidate{w: c.w.clone(), age: c.age + 1, held: c.held, crashes: c.crashes}
		next.w.step++
		next.w.tick(i, in, timers, false)
		out = append(out, next)
		if c.crashes > 0 {
			next = &candidate{w: c.w.clone(), age: c.age + 1, held: c.held, crashes: c.crashes - 1}
			next.w.step++
			next.w.tick(i, in, timers, true)
			next.w.crash(next.w.logical[i], false)
			out = append(out, next)
			lossy := &candidate{w: next.w.clone(), age: c.age + 1, held: c.held, crashes: c.crashes - 1}
			lossy.w.crash(next.w.logical[i], true)
			out = append(out, lossy)
		}
	}
	for i := range c.w.machines {
		waiting := c.w.waiting(i)
		for _, j := range waiting {
			tick(i, []int{j}, nil)
		}
		if len(waiting) > 1 {
			tick(i, waiting, nil)
		}
		for _, r := range c.w.timers[i] {
			tick(i, nil, []*logic.Relation{r})
		}
		tick(i, nil, nil)
		for j, p := range c.w.net[i] {
			if !p.waiting && !p.gone && p.from != outside { // clients send once, or are given it again
				tick(i, []int{j}, nil)
			}
		}
		if c.crashes > 0 {
			next := &candidate{w: c.w.clone(), age: c.age, held: c.held, crashes: c.crashes - 1}
			next.w.crash(next.w.logical[i], false)
			out = append(out, next)
		}
	}
	return out
}
