// SPDX-License-Identifier: Apache-2.0

package adversary

import (
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Faults states what may go wrong, besides late, reordered and repeated messages.
type Faults struct {
	// Crashes is the approximate number of crashes in a run. A crashed node restarts
	// with its durable facts.
	Crashes int
	// Stops is the maximum number of nodes with machines that stop permanently.
	Stops int
	// Partitions is the approximate number of network partitions in a run. Each divides
	// the nodes into two sides for a while; nothing passes between them.
	Partitions int
	// Spared lists components whose nodes neither crash nor stop.
	Spared []string
}

// Options configure a run. The zero value is a run of 400 steps without faults.
type Options struct {
	Functions interp.Functions
	Faults    Faults
	// Steps is the number of steps of the trouble.
	Steps int
	// Again repeats the inputs and the client's messages, in the trouble and in peace, as
	// clients that retry do.
	Again bool
	// Slow multiplies the periods of timers in peace; default 1. Without it the shortest one is
	// two rounds, of which a message takes one. Protocols that elect leaders with timers need an
	// election to end before the next one begins.
	Slow int
	// NoPeace ends a run after the trouble, for callers that check only safety.
	NoPeace bool
	// Client, if not nil, is called for each run. The function that it returns
	// receives each output once, and returns messages to send.
	Client func(*logic.Program) func(interp.Message) []interp.Message
}

// Player runs one program. It must not be copied. One goroutine may use it
// repeatedly.
type Player struct {
	d       *deployment
	inputs  []interp.Message
	options Options
}

// NewPlayer deploys a program. It gives each input once, at some time. The Player keeps the
// slice.
func NewPlayer(p *logic.Program, inputs []interp.Message, o Options) *Player {
	if o.Steps == 0 {
		o.Steps = 400
	}
	return &Player{deploy(p, o.Functions, o.Slow), inputs, o}
}

// Run is the result of a run.
type Run struct {
	// Schedule reproduces the run with Replay.
	Schedule Schedule
	// Told lists the outputs in order, each once. The first Trouble of them
	// were sent before the peace.
	Told    []Telling
	Trouble int
	// Given lists the inputs, including the client's messages, and when each
	// was given.
	Given []Telling
	// Rest reports whether the run came to rest in peace. Steps is its total
	// number of steps.
	Rest  bool
	Steps int
	// Endless is not nil if a tick was abandoned. The other fields then mean
	// nothing.
	Endless *interp.EndlessError
	d       *deployment
	// arrived is as in world.
	arrived map[string]int
}

// logical returns the node to which a machine belongs.
func (r *Run) logical(machine string) string {
	if i, ok := r.d.place[machine]; ok {
		return r.d.names[r.d.logical[i]]
	}
	return machine
}

// Outcome returns all outputs in order, one a line.
func (r *Run) Outcome() string { return outcome(r.Told) }

// game is a run in progress.
type game struct {
	*Player
	*world
	run    *Run
	react  func(interp.Message) []interp.Message
	heard  int // how many outputs the client has received
	asked  int // how many outputs there were when an input was given last
	source env.Random
	given  []bool
	stops  map[int][]int // machines, by the number of the step
	// handed lists the client's messages. Their numbers follow those of the
	// inputs.
	handed []interp.Message
	// pace has, for each machine, how many times less often than possible it has a tick. lazy
	// mostly gives a tick to a machine only if a message waits for it; hurried does so at once;
	// whole delivers all waiting messages together; newest delivers the newest first; once
	// repeats no message; and eager gives inputs early.
	pace                                      []int
	lazy, hurried, whole, newest, once, eager bool
	// sides are the two parts of a partition, by node. apart is its remaining number of steps.
	sides map[int]bool
	apart int
}

func (p *Player) start() *game {
	g := &game{Player: p, world: p.d.begin(), run: &Run{d: p.d}, given: make([]bool, len(p.inputs))}
	if p.options.Client != nil {
		g.react = p.options.Client(p.d.program)
	}
	return g
}

// give gives an input.
func (g *game) give(i int) bool {
	if i >= len(g.inputs) {
		if i -= len(g.inputs); i >= len(g.handed) {
			return false
		}
		g.hand(g.handed[i])
		return true
	}
	g.given[i] = true
	g.hand(g.inputs[i])
	return true
}

func (g *game) hand(m interp.Message) {
	g.send(m, outside)
	g.run.Given = append(g.run.Given, Telling{m, g.step})
}

// listen passes the new outputs to the client, and sends what it returns.
func (g *game) listen() {
	for ; g.heard < len(g.told); g.heard++ {
		if g.react != nil {
			for _, m := range g.react(g.told[g.heard].Message) {
				g.handed = append(g.handed, m)
				g.hand(m)
			}
		}
	}
}

func (g *game) do(s Step) {
	if done, ok := g.take(s, g.give); ok {
		g.run.Schedule = append(g.run.Schedule, done)
	}
	g.listen()
}

// end runs the peace: it gives the inputs not given yet, and lets all machines
// continue.
func (g *game) end() *Run {
	defer func() { g.run.Endless = g.endless }()
	g.run.Trouble = len(g.told)
	if g.options.NoPeace {
		g.run.Told, g.run.Steps, g.run.arrived = g.told, g.step, g.arrived
		return g.run
	}
	g.run.Rest = g.peace(func(round int) {
		g.listen()
		for i := range g.inputs {
			if !g.given[i] || g.options.Again && round%(2*g.slow*g.longest) == 0 {
				g.give(i)
			}
		}
		for i := range g.handed {
			if g.options.Again && round%(2*g.slow*g.longest) == 0 {
				g.give(len(g.inputs) + i)
			}
		}
	})
	g.listen()
	g.run.Told, g.run.Steps, g.run.arrived = g.told, g.step, g.arrived
	return g.run
}

// Replay runs a schedule, then the peace.
func (p *Player) Replay(s Schedule) *Run {
	g := p.start()
	for _, step := range s {
		g.do(step)
	}
	return g.end()
}

// Random runs a random schedule drawn from a seed, then the peace.
func (p *Player) Random(seed uint64) *Run {
	g := p.start()
	g.source = env.Seeded(seed)
	g.doom()
	g.temper()
	for n := range g.options.Steps {
		for _, i := range g.stops[n] {
			g.do(Step{Kind: Stop, Machine: g.machines[i].Node})
		}
		g.do(g.choose())
	}
	return g.end()
}

func (g *game) one(in int) bool { return env.IntN(g.source, in) == 0 }

// doom chooses the machines that stop, and when.
func (g *game) doom() {
	g.stops = map[int][]int{}
	for range g.options.Faults.Stops {
		node := g.pieces[env.IntN(g.source, len(g.pieces))]
		for _, i := range node {
			if at := env.IntN(g.source, g.options.Steps); !g.spared(i) && (len(node) == 1 || g.one(2)) {
				g.stops[at] = append(g.stops[at], i)
			}
		}
	}
}

// temper draws the character of a run. Without it all machines are equally fast and have many
// ticks before anything arrives, which hides mistakes about the first tick, about messages that
// arrive together, and about early answers; and repeated messages make up for lost ones.
func (g *game) temper() {
	g.lazy, g.eager = g.one(2), g.one(2)
	g.hurried, g.whole, g.once = g.one(3), g.one(2), g.one(2)
	g.newest = !g.whole && g.one(2)
	for range g.machines {
		g.pace = append(g.pace, []int{1, 1, 4, 16}[env.IntN(g.source, 4)])
	}
}

func (g *game) spared(i int) bool { return slices.Contains(g.options.Faults.Spared, g.of[i]) }

// togetherMax is the maximum number of messages that arrive in a tick of the trouble.
const togetherMax = 8

// choose returns the adversary's next step.
func (g *game) choose() Step {
	often := max(1, g.options.Steps/(2*(len(g.inputs)+1)))
	if g.eager {
		often = min(often, 4)
	}
	if len(g.told) > g.asked { // a client that received an output asks
		often = min(often, 2)
	}
	if g.one(often) {
		g.asked = len(g.told)
		for range 4 {
			all := len(g.inputs) + len(g.handed)
			if i := env.IntN(g.source, max(1, all)); i < all && (g.options.Again || i < len(g.inputs) && !g.given[i]) {
				return Step{Kind: Give, Input: i}
			}
		}
	}
	for range drawsMax {
		s := g.tick()
		if (g.lazy || g.hurried) && s.Kind == Tick && len(s.In)+len(s.Timers) == 0 && !g.one(8) {
			continue
		}
		return s
	}
	return g.tick()
}

// drawsMax is the maximum number of draws for a machine that has something to do.
const drawsMax = 16

// tick returns a tick of a machine, or a crash.
func (g *game) tick() Step {
	i := env.IntN(g.source, len(g.machines))
	for range drawsMax {
		if g.hurried && len(g.waiting(i)) > 0 || !g.hurried && g.one(g.pace[i]) {
			break
		}
		i = env.IntN(g.source, len(g.machines))
	}
	s := Step{Kind: Tick, Machine: g.machines[i].Node, keys: []string{}}
	if f := g.options.Faults; f.Crashes > 0 && !g.spared(i) && g.one(max(1, g.options.Steps/f.Crashes)) {
		s.Losing = g.one(2)
		if s.Kind = TickCrash; g.one(2) {
			s.Kind = Crash
			return s
		}
	}
	g.part()
	newest := slices.Max(append(g.waiting(i), -1))
	for j, p := range g.net[i] {
		if g.newest && p.waiting && j != newest || p.gone || g.apart > 0 && p.from != outside && g.sides[p.from] != g.sides[g.logical[i]] {
			continue
		}
		if len(s.keys) < togetherMax && (p.waiting && (g.hurried || g.whole || g.one(2)) || !p.waiting && !g.once && p.from != outside && g.one(40)) {
			s.In, s.keys = append(s.In, j), append(s.keys, p.key)
		}
	}
	for _, r := range g.timers[i] {
		if g.one(g.periods[r]) {
			s.Timers = append(s.Timers, r.Name)
		}
	}
	return s
}

// part begins a partition occasionally, and ends it.
func (g *game) part() {
	f := g.options.Faults
	if g.apart--; g.apart >= 0 || f.Partitions == 0 || !g.one(max(1, g.options.Steps/f.Partitions)) {
		return
	}
	g.apart, g.sides = g.options.Steps/8, map[int]bool{}
	for node := range g.pieces {
		g.sides[node] = g.one(2)
	}
}
