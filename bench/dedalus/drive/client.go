package drive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ashlar-dev/ashlar/bench/process"
	"github.com/ashlar-dev/ashlar/dedalus/cost"
	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

// DrainWithin is how long the last answers may take.
const DrainWithin = 10 * time.Second

// load is a closed loop under way. Commands have numbers from 0; one is over when
// all its waits have come.
type load struct {
	job  ClientJob
	p    *rt.Program
	c    *client.Client
	outs map[int][]waiting // by relation

	mu       sync.Mutex
	next     uint64
	open     map[uint64]*command
	counting bool // commands that end now are counted
	stopping bool // no more commands begin
	begun    time.Time
	out      Outcome
	times    *hdrhistogram.Histogram
	idle     *sync.Cond // nothing is open
	failed   error
	row      []byte
}

// waiting is a Wait, with its place, and the columns that tell the number of the
// command.
type waiting struct {
	place  int
	args   []cost.Arg
	column int
}

type command struct {
	begun time.Time
	left  uint64 // a bit for each wait
}

// clientMain runs clients.
func clientMain(p *rt.Program, port *process.Port) error {
	l := &load{p: p, open: map[uint64]*command{}, outs: map[int][]waiting{}, times: hdrhistogram.New(1, 60_000_000, 3)}
	l.idle = sync.NewCond(&l.mu)
	if ok, err := port.Take(&l.job); !ok || err != nil {
		return err
	}
	if err := l.prepare(); err != nil {
		return err
	}
	world := osenv.New()
	network := osenv.NewNetwork(osenv.NetworkOptions{WriteBuffer: WriteBuffer})
	defer network.Close()
	world.Network = network
	nodes := map[string]env.Addr{}
	for n, a := range l.job.Nodes {
		nodes[n] = env.Addr(a)
	}
	c, err := client.Open(client.Options{Env: world, Program: p, Name: l.job.Name, Nodes: nodes, Output: l.output})
	if err != nil {
		return err
	}
	defer c.Close()
	l.mu.Lock()
	l.c = c
	l.mu.Unlock()
	if err := l.run(port); err != nil {
		return err
	}
	if err := port.Say(l.out); err != nil {
		return err
	}
	var none struct{}
	_, err = port.Take(&none)
	return err
}

// prepare finds what the program calls the relations of the job.
func (l *load) prepare() error {
	if len(l.job.Waits) == 0 || len(l.job.Waits) > 64 {
		return fmt.Errorf("a command waits for 1 to 64 outputs, not for %d", len(l.job.Waits))
	}
	for i, w := range l.job.Waits {
		r := relation(l.p, rt.Output, w.Relation)
		if r < 0 {
			return fmt.Errorf("%s has no output %s", l.p.Name, w.Relation)
		}
		x := waiting{place: i, args: w.Args, column: -1}
		for k, a := range w.Args {
			if a.Kind == cost.NumberArg && a.Num == 0 || a.Kind == cost.BytesArg && a.Num >= 8 {
				x.column = k
				break
			}
		}
		if x.column < 0 {
			return fmt.Errorf("output %s does not say which command it answers", w.Relation)
		}
		l.outs[r] = append(l.outs[r], x)
	}
	for _, s := range l.job.Sends {
		if relation(l.p, rt.Input, s.Relation) < 0 {
			return fmt.Errorf("%s has no input %s", l.p.Name, s.Relation)
		}
	}
	return nil
}

func relation(p *rt.Program, kind rt.RelationKind, name string) int {
	for i, r := range p.Relations {
		if r.Kind == kind && r.Name == name {
			return i
		}
	}
	return -1
}

// run goes through the phases. It says "begin" and "end" when commands begin and end to
// be counted.
func (l *load) run(port *process.Port) error {
	time.Sleep(seconds(l.job.Settle)) // a program may have to choose a leader first
	l.mu.Lock()
	for range l.job.Clients {
		l.begin()
	}
	l.mu.Unlock()
	time.Sleep(seconds(l.job.Warm))
	l.mu.Lock()
	l.counting, l.begun = true, time.Now()
	l.mu.Unlock()
	if err := port.Say("begin"); err != nil {
		return err
	}
	time.Sleep(seconds(l.job.Run))
	l.mu.Lock()
	l.counting, l.stopping = false, true
	l.out.Micros = time.Since(l.begun).Microseconds()
	l.mu.Unlock()
	if err := port.Say("end"); err != nil {
		return err
	}
	return l.drain()
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// drain waits for the answers that are missing.
func (l *load) drain() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	late := time.AfterFunc(DrainWithin, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.failed == nil && len(l.open) > 0 {
			l.failed = fmt.Errorf("%d of %d commands were not answered within %v", len(l.open), l.next, DrainWithin)
		}
		l.idle.Broadcast()
	})
	defer late.Stop()
	for len(l.open) > 0 && l.failed == nil {
		l.idle.Wait()
	}
	if l.failed == nil && uint64(l.out.All) != l.next {
		l.failed = fmt.Errorf("%d commands were answered, and %d asked for", l.out.All, l.next)
	}
	for _, b := range l.times.Distribution() {
		if b.Count > 0 {
			l.out.Latencies = append(l.out.Latencies, Bar{Micros: b.To, Count: b.Count})
		}
	}
	return l.failed
}

// begin asks for the next command. The caller holds l.mu.
func (l *load) begin() {
	n := l.next
	l.next++
	l.open[n] = &command{begun: time.Now(), left: 1<<len(l.job.Waits) - 1}
	for _, s := range l.job.Sends {
		r := relation(l.p, rt.Input, s.Relation)
		row, err := rt.AppendRow(l.row[:0], l.p.Relations[r].Columns, l.values(n, s.Args))
		l.row = row
		for _, to := range s.To {
			if err == nil {
				err = l.c.Send(to, r, row)
			}
		}
		if err != nil {
			l.fail(fmt.Errorf("ask for command %d: %w", n, err))
		}
	}
}

// fail ends the run. The caller holds l.mu.
func (l *load) fail(err error) {
	l.failed = errors.Join(l.failed, err)
	l.stopping = true
	l.idle.Broadcast()
}

// values are those of arguments in a command.
func (l *load) values(n uint64, args []cost.Arg) []rt.Value {
	out := make([]rt.Value, len(args))
	for i, a := range args {
		switch a.Kind {
		case cost.NumberArg:
			out[i].Num = n
			if a.Num > 0 {
				out[i].Num = n % a.Num
			}
		case cost.ConstArg:
			out[i].Num = a.Num
		case cost.BoolArg:
			out[i].Num = a.Num
		case cost.TextArg, cost.NodeArg:
			out[i].Str = a.Text
		case cost.ClientArg:
			out[i].Str = l.job.Name
		case cost.BytesArg:
			b := make([]byte, max(a.Num, 8))
			binary.BigEndian.PutUint64(b, n)
			out[i].Str = string(b)
		}
	}
	return out
}

// output is told of an answer.
func (l *load) output(_ string, relation int, row []byte) {
	now := time.Now()
	values, err := rt.ReadRow(row, l.p.Relations[relation].Columns)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.fail(err)
		return
	}
	for _, w := range l.outs[relation] {
		n, ok := number(w, values)
		if !ok {
			continue
		}
		c := l.open[n]
		if c == nil || c.left&(1<<w.place) == 0 {
			l.out.Doubled++
			return
		}
		if err := l.expect(n, w, values); err != nil {
			l.fail(err)
			return
		}
		if c.left &^= 1 << w.place; c.left == 0 {
			l.answered(n, c, now)
		}
		return
	}
}

// number is that of the command that an output answers.
func number(w waiting, values []rt.Value) (uint64, bool) {
	v := values[w.column]
	if w.args[w.column].Kind == cost.NumberArg {
		return v.Num, true
	}
	if len(v.Str) < 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64([]byte(v.Str)), true
}

// expect compares an answer with what the load says of it.
func (l *load) expect(n uint64, w waiting, values []rt.Value) error {
	for i, want := range l.values(n, w.args) {
		if w.args[i].Kind != cost.AnyArg && (want.Num != values[i].Num || want.Str != values[i].Str) {
			return fmt.Errorf("command %d: column %d of %s is %v, want %v", n, i+1, l.job.Waits[w.place].Relation, values[i], want)
		}
	}
	return nil
}

// answered counts a command and asks for the next. The caller holds l.mu.
func (l *load) answered(n uint64, c *command, now time.Time) {
	delete(l.open, n)
	l.out.All++
	if l.counting {
		l.out.Commands++
		// A histogram takes what is within its range; a minute is more than any answer.
		_ = l.times.RecordValue(max(now.Sub(c.begun).Microseconds(), 1))
		window := int(now.Sub(l.begun) / time.Second)
		for len(l.out.Windows) <= window {
			l.out.Windows = append(l.out.Windows, 0)
		}
		l.out.Windows[window]++
	}
	if !l.stopping {
		l.begin()
	} else if len(l.open) == 0 {
		l.idle.Broadcast()
	}
}
