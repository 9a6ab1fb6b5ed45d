// SPDX-License-Identifier: Apache-2.0

package loadgen

import (
	"container/list"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/env"
)

// Options of a Generator. Env, Program, Name, Nodes, Sends, Waits and Clients are needed.
type Options struct {
	// Env gives Clock, Random and Network.
	Env     env.Env
	Program *rt.Program
	// Name is the node that all clients are, as inputs and rules have it.
	Name string
	// Nodes are the instances that clients have to do with, and where they listen.
	Nodes map[string]env.Addr
	// Sends and Waits are a command.
	Sends []Send
	Waits []Wait
	// Clients is how many commands are under way at once, Commands how many there are;
	// 0 is as many as there is time for.
	Clients  int
	Commands uint64
	// Retry is after how long a command without its answer is asked for again, at the
	// next instance; 0 is never. Each further time takes twice as long, up to
	// RetryFactorMax times: those who cannot keep up are asked for less, not for more.
	Retry time.Duration
	// Answer is given each output that answers a command, once, with the command's
	// number, and may say what is wrong with it. It must not block; the row is its own.
	// It may be nil.
	Answer func(number uint64, relation int, row []rt.Value) error
	// Idle is called when no command is under way and none begins any more, and when
	// the run has failed: each time that this becomes so. It must not block, nor call
	// the Generator. It may be nil.
	Idle func()
}

// RetryFactorMax is how many times Options.Retry the time between two requests for a
// command grows to.
const RetryFactorMax = 1 << (patiences - 1)

// patiences is how many different times there are between two requests.
const patiences = 6

// ErrUnanswered reports that commands have no answer.
var ErrUnanswered = errors.New("some commands were not answered")

// Generator is clients in a closed loop. It is safe for concurrent use.
type Generator struct {
	opt  Options
	c    *client.Client
	sent []int // relations of Sends
	outs map[int][]waiting

	mu    sync.Mutex
	asked uint64 // the number of the last command; the first is 1
	at    int    // which of the instances that take turns commands begin at
	open  map[uint64]*list.Element
	// order has the commands under way by how often they were asked for: in each list the
	// one that was asked for first is first.
	order    [patiences]*list.List
	counting bool
	stopping bool // no more commands begin
	closed   bool
	begun    env.Instant // counting
	out      Outcome
	times    *hdrhistogram.Histogram
	failed   error
	row      []byte
}

// command is one that is under way.
type command struct {
	number      uint64
	begun, sent env.Instant
	at          int    // which instances it was sent to last
	patience    int    // of order: which list it is in
	left        uint64 // a bit for each wait
}

// Open connects the clients. Begin has them ask.
func Open(o Options) (*Generator, error) {
	x := &Generator{opt: o, open: map[uint64]*list.Element{}, outs: map[int][]waiting{}, times: hdrhistogram.New(1, microsMax, 3)}
	if o.Clients < 1 {
		return nil, errors.New("a load generator needs at least one client")
	}
	for i := range x.order {
		x.order[i] = list.New()
	}
	if err := x.prepare(); err != nil {
		return nil, err
	}
	x.mu.Lock() // an output that comes before the client is known waits
	defer x.mu.Unlock()
	var err error
	if x.c, err = client.Open(client.Options{Env: o.Env, Program: o.Program, Name: o.Name, Nodes: o.Nodes, Output: x.output}); err != nil {
		return nil, err
	}
	if o.Retry > 0 {
		x.retryLater()
	}
	return x, nil
}

// microsMax is the longest time that is counted by itself; longer ones count together.
const microsMax = 60_000_000

// Begin has each client ask for its first command.
func (x *Generator) Begin() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for range x.opt.Clients {
		x.begin()
	}
}

// Count says from when on commands that are answered count, and until when.
func (x *Generator) Count(on bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.opt.Env.Clock.Now()
	switch {
	case on && !x.counting:
		x.begun = now
	case !on && x.counting:
		x.out.Micros = now.Sub(x.begun).Microseconds()
	}
	x.counting = on
}

// Stop has no more commands begin.
func (x *Generator) Stop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stopping = true
	x.idle()
}

// Outcome is what was seen until now, with the first thing that was wrong, or
// ErrUnanswered while commands are under way.
func (x *Generator) Outcome() (Outcome, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.out
	o.Windows = append([]int64(nil), o.Windows...)
	for _, b := range x.times.Distribution() {
		if b.Count > 0 {
			o.Latencies = append(o.Latencies, Bar{Micros: b.To, Count: b.Count})
		}
	}
	o.Quantiles = Quantiles{x.times.ValueAtQuantile(50), x.times.ValueAtQuantile(90), x.times.ValueAtQuantile(99), x.times.Max()}
	if x.failed == nil && len(x.open) > 0 {
		return o, fmt.Errorf("%w: %d of %d", ErrUnanswered, len(x.open), x.asked)
	}
	return o, x.failed
}

// Connected says whether an instance is connected now, and else why not, if that is
// known.
func (x *Generator) Connected(node string) (bool, error) { return x.c.Connected(node) }

// Close ends all connections.
func (x *Generator) Close() {
	x.mu.Lock()
	x.closed, x.stopping = true, true
	x.mu.Unlock()
	x.c.Close()
}

// idle wakes the callers that wait. The caller holds x.mu.
func (x *Generator) idle() {
	if x.opt.Idle != nil && x.stopping && (len(x.open) == 0 || x.failed != nil) {
		x.opt.Idle()
	}
}

// fail ends the run. The caller holds x.mu.
func (x *Generator) fail(err error) {
	if x.failed == nil {
		x.failed = err
	}
	x.stopping = true
	x.idle()
}

// begin asks for the next command. The caller holds x.mu.
func (x *Generator) begin() {
	if x.stopping {
		return
	}
	if x.opt.Commands > 0 && x.asked == x.opt.Commands {
		x.stopping = true
		x.idle()
		return
	}
	now := x.opt.Env.Clock.Now()
	x.asked++
	k := &command{number: x.asked, begun: now, sent: now, at: x.at, left: 1<<len(x.opt.Waits) - 1}
	x.open[k.number] = x.order[0].PushBack(k)
	if err := x.ask(k); err != nil {
		x.fail(fmt.Errorf("ask for command %d: %w", k.number, err))
	}
}

// ask sends what a command sends, to the instances that are next. The caller holds
// x.mu.
func (x *Generator) ask(k *command) error {
	for i, s := range x.opt.Sends {
		columns := x.opt.Program.Relations[x.sent[i]].Columns
		row, err := rt.AppendRow(x.row[:0], columns, x.values(k.number, s.Args, columns))
		x.row = row
		if err != nil {
			return err
		}
		if s.All {
			for _, to := range s.To {
				if err := x.c.Send(to, x.sent[i], row); err != nil {
					return err
				}
			}
			continue
		}
		if err := x.c.Send(s.To[k.at%len(s.To)], x.sent[i], row); err != nil {
			return err
		}
	}
	return nil
}

// output is called for each answer.
func (x *Generator) output(_ string, relation int, row []byte) {
	values, err := rt.ReadRow(row, x.opt.Program.Relations[relation].Columns)
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.opt.Env.Clock.Now()
	if err != nil {
		x.fail(err)
		return
	}
	wrong := error(nil)
	doubled := false
	for i := range x.outs[relation] {
		w := &x.outs[relation][i]
		n, ok := w.number(values)
		if !ok {
			continue
		}
		e := x.open[n]
		if e == nil {
			doubled = true
			continue
		}
		if err := x.expect(n, w, values); err != nil {
			wrong = err // unless it is what another wait is for
			continue
		}
		k := e.Value.(*command)
		if k.left&(1<<w.place) == 0 {
			doubled = true
			continue
		}
		if x.opt.Answer != nil {
			if err := x.opt.Answer(n, relation, values); err != nil {
				x.fail(err)
				return
			}
		}
		if k.left &^= 1 << w.place; k.left == 0 {
			x.order[k.patience].Remove(e)
			x.answered(k, now)
		}
		return
	}
	switch {
	case doubled:
		x.out.Doubled++
	case wrong != nil:
		x.fail(wrong)
	}
}

// answered counts a command and asks for the next. The caller holds x.mu.
func (x *Generator) answered(k *command, now env.Instant) {
	delete(x.open, k.number)
	x.out.All++
	if x.counting {
		x.out.Commands++
		// What is longer counts as the longest.
		_ = x.times.RecordValue(min(max(now.Sub(k.begun).Microseconds(), 1), microsMax))
		window := int(now.Sub(x.begun) / time.Second)
		for len(x.out.Windows) <= window {
			x.out.Windows = append(x.out.Windows, 0)
		}
		x.out.Windows[window]++
	}
	x.begin()
	if len(x.open) == 0 {
		x.idle()
	}
}

// retryLater looks for commands without an answer, again and again.
func (x *Generator) retryLater() {
	x.opt.Env.Clock.After(x.opt.Retry/4, env.WakeFunc(func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.closed {
			return
		}
		x.retry()
		x.retryLater()
	}))
}

// retry asks again for what was asked for long ago. The caller holds x.mu.
func (x *Generator) retry() {
	now := x.opt.Env.Clock.Now()
	for patience := patiences - 1; patience >= 0; patience-- {
		order, rest := x.order[patience], x.opt.Retry<<patience
		for n := order.Len(); n > 0; n-- {
			e := order.Front()
			k := e.Value.(*command)
			if now.Sub(k.sent) < rest {
				break
			}
			if k.at == x.at {
				x.at++ // nor will others be answered there
			}
			k.sent, k.at = now, x.at
			k.patience = min(patience+1, patiences-1)
			x.out.Resent++
			order.Remove(e)
			x.open[k.number] = x.order[k.patience].PushBack(k)
			if err := x.ask(k); err != nil && !errors.Is(err, client.ErrFull) { // full: another time
				x.fail(fmt.Errorf("ask for command %d again: %w", k.number, err))
				return
			}
		}
	}
}
