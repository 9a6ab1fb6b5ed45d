// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// seedsVariable makes a run use more seeds than a plain test does.
const seedsVariable = "ASHLAR_SPACE_SEEDS"

func seeds(t *testing.T, plain int) int {
	if v := os.Getenv(seedsVariable); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if testing.Short() {
		return plain/10 + 1
	}
	return plain
}

// action is an operation on one register.
type action struct {
	kind  string // read, write, trim
	value string
	err   error
}

// registers is wor.Register as a model. An operation whose outcome is unknown may take
// effect at any later time, or never: then it counts as the last one.
var registers = porcupine.Model{
	Partition: func(h []porcupine.Operation) [][]porcupine.Operation {
		at := map[wor.Addr]int{}
		var out [][]porcupine.Operation
		for _, o := range h {
			i, ok := at[o.Input.(wor.Addr)]
			if !ok {
				i = len(out)
				at[o.Input.(wor.Addr)] = i
				out = append(out, nil)
			}
			out[i] = append(out[i], o)
		}
		return out
	},
	Init: func() any { return wor.Register{} },
	Step: func(state, _, output any) (bool, any) {
		r, o := state.(wor.Register), output.(action)
		switch {
		case o.kind == "trim":
			return true, r.Trim()
		case o.kind == "read":
			return r.Read(o.value, o.err), r
		case errors.Is(o.err, wor.ErrUnknown):
			if next, ok := r.Write(o.value, nil); ok {
				return true, next
			}
			return true, r
		}
		next, ok := r.Write(o.value, o.err)
		return ok, next
	},
	DescribeOperation: func(in, out any) string {
		o := out.(action)
		return fmt.Sprintf("%v %s %q: %v", in, o.kind, o.value, o.err)
	},
}

// history is what clients saw.
type history struct {
	l    *lab
	ops  []porcupine.Operation
	seen map[string]int
}

// begin records a call; the function that it returns records the answer.
func (h *history) begin(c *client, a wor.Addr, kind, value string) func(value string, err error) {
	i := len(h.ops)
	h.ops = append(h.ops, porcupine.Operation{
		ClientId: c.number, Input: a, Call: int64(h.l.now), Return: math.MaxInt64,
		Output: action{kind, value, wor.ErrUnknown},
	})
	return func(got string, err error) {
		h.seen[kind+" "+cause(err)]++
		op := &h.ops[i]
		switch {
		case kind == "read" && err != nil && !errors.Is(err, wor.ErrUnwritten) && !errors.Is(err, wor.ErrTrimmed),
			kind == "write" && (errors.Is(err, wor.ErrDeadline) || errors.Is(err, wor.ErrOutbid)) && !errors.Is(err, wor.ErrUnknown),
			kind == "write" && (errors.Is(err, wor.ErrUnallocated) || errors.Is(err, wor.ErrToken)) && !errors.Is(err, wor.ErrUnknown),
			kind == "trim" && errors.Is(err, wor.ErrUnallocated):
			op.Call = -1 // it had no effect
		case errors.Is(err, wor.ErrUnknown), kind == "trim" && err != nil:
		case kind == "write" && errors.Is(err, wor.ErrTrimmed):
			// It may have taken effect before the trim, which the client has seen.
			h.ops = append(h.ops, porcupine.Operation{
				ClientId: c.number, Input: a, Call: op.Call, Return: int64(h.l.now), Output: action{"read", "", err},
			})
		default:
			var w *wor.WrittenError
			if errors.As(err, &w) {
				// The found value counts as a read.
				h.ops = append(h.ops, porcupine.Operation{
					ClientId: c.number, Input: a, Call: op.Call, Return: int64(h.l.now), Output: action{"read", string(w.Value), nil},
				})
				op = &h.ops[i]
			}
			if kind == "read" {
				value = got
			}
			op.Output, op.Return = action{kind, value, err}, int64(h.l.now)
		}
	}
}

func cause(err error) string {
	for _, e := range []error{wor.ErrUnknown, wor.ErrWritten, wor.ErrTrimmed, wor.ErrUnwritten, wor.ErrDeadline, wor.ErrOutbid, wor.ErrToken, wor.ErrUnallocated} {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	return fmt.Sprint(err)
}

// check reports whether the operations have an order that explains the history.
func (h *history) check(t *testing.T, what string) {
	t.Helper()
	var ops []porcupine.Operation
	for _, o := range h.ops {
		if o.Call >= 0 {
			ops = append(ops, o)
		}
	}
	if result, _ := porcupine.CheckOperationsVerbose(registers, ops, time.Minute); result != porcupine.Ok {
		for _, part := range registers.Partition(ops) {
			if !porcupine.CheckOperations(registers, part) {
				for _, o := range part {
					t.Logf("%2d %10d %20d %s", o.ClientId, o.Call, o.Return, registers.DescribeOperation(o.Input, o.Output))
				}
			}
		}
		t.Fatalf("%s: history is not linearizable: %v", what, result)
	}
}

// workload makes clients do random operations on a few registers of a segment.
type workload struct {
	h        *history
	segment  wor.Segment
	size     uint32
	steps    int
	bound    time.Duration // at most; a third of the operations have none
	protocol wor.Protocol
	trims    bool
	running  int
}

// start makes a client do its steps, one after another.
func (w *workload) start(c *client) {
	w.running++
	n := 0
	var token *wor.Token
	var next func()
	next = func() {
		if n++; n > w.steps {
			w.running--
			return
		}
		w.step(c, n, &token, next)
	}
	c.serial.Do(next)
}

func (w *workload) step(c *client, n int, token **wor.Token, next func()) {
	r, h := c.random, w.h
	a := at(w.segment, uint32(r.Uint64()%uint64(w.size)))
	value := fmt.Sprint(c.number, ".", n)
	within := time.Duration(0)
	if r.Uint64()%3 != 0 {
		within = 1 + time.Duration(r.Uint64()%uint64(w.bound))
	}
	switch r.Uint64() % 10 {
	case 0, 1:
		end := h.begin(c, a, "write", value)
		c.Propose(a, []byte(value), within, func(err error) { end("", err); next() })
	case 2, 3:
		end := h.begin(c, a, "read", "")
		c.Read(a, within, func(v []byte, err error) { end(string(v), err); next() })
	case 4:
		all := wor.Range{Segment: w.segment, Hi: w.size}
		var ends []func(string, error)
		for off := range w.size {
			ends = append(ends, h.begin(c, at(w.segment, off), "read", ""))
		}
		c.ReadRange(all, within, func(cells []wor.Cell, err error) {
			for i, end := range ends {
				if err != nil {
					end("", err)
				} else {
					end(string(cells[i].Value), cells[i].Err)
				}
			}
			next()
		})
	case 5, 6:
		x := wor.Range{Segment: w.segment, Lo: a.Offset, Hi: a.Offset + 1 + uint32(r.Uint64()%uint64(w.size-a.Offset))}
		c.Capture(x, within, func(t *wor.Token, err error) {
			h.seen["capture "+cause(err)]++
			*token = t
			next()
		})
	case 7:
		if *token == nil {
			next()
			return
		}
		a.Offset = (*token).Range.Lo + uint32(r.Uint64()%uint64((*token).Range.Len()))
		end := h.begin(c, a, "write", value)
		c.Write(*token, a.Offset, []byte(value), within, func(err error) { end("", err); next() })
	case 8:
		if *token == nil {
			next()
			return
		}
		var ends []func(string, error)
		for off := (*token).Range.Lo; off < (*token).Range.Hi; off++ {
			ends = append(ends, h.begin(c, at(w.segment, off), "write", value))
		}
		c.WriteRange(*token, (*token).Range, []byte(value), within, func(errs []error) {
			for i, end := range ends {
				end("", errs[i])
			}
			next()
		})
	case 9:
		switch {
		case w.trims && n > w.steps*2/3 && r.Uint64()%4 == 0:
			var ends []func(string, error)
			for off := range w.size {
				ends = append(ends, h.begin(c, at(w.segment, off), "trim", ""))
			}
			c.Trim(w.segment, within, func(err error) {
				for _, end := range ends {
					end("", err)
				}
				next()
			})
		case w.protocol == wor.Fast:
			end := h.begin(c, a, "write", value)
			c.WriteUnsafe(a, []byte(value), within, func(err error) { end("", err); next() })
		default:
			// The client may write only the register with its own number this way, with
			// one value.
			if a.Offset = uint32(c.number) - 1; a.Offset >= w.size {
				next()
				return
			}
			value = fmt.Sprint(c.number, ".unsafe")
			end := h.begin(c, a, "write", value)
			c.WriteUnsafe(a, []byte(value), within, func(err error) { end("", err); next() })
		}
	}
}

// trouble makes hosts go down and come back, never more than a minority, and makes links
// fail, until over.
func (l *lab) trouble(clients []*client, minority int, over func() bool) {
	var down []*host
	var strike func()
	strike = func() {
		if over() {
			for _, h := range down {
				h.down = false
			}
			for _, c := range clients {
				clear(c.cut)
			}
			return
		}
		switch l.random.Uint64() % 4 {
		case 0, 1:
			if len(down) == minority {
				down[0].down = false
				down = down[1:]
			}
			h := l.hosts[l.random.Uint64()%uint64(len(l.hosts))]
			h.down = true
			h.hang()
			down = append(down, h)
		case 2:
			c := clients[l.random.Uint64()%uint64(len(clients))]
			id := l.hosts[l.random.Uint64()%uint64(len(l.hosts))].member.ID
			if c.cut[id] {
				delete(c.cut, id)
			} else {
				c.cut[id] = true
			}
		case 3:
			for _, c := range clients {
				clear(c.cut)
			}
		}
		l.at(time.Duration(l.random.Uint64()%uint64(30*time.Millisecond)), strike)
	}
	strike()
}

// TestLinearizable: clients contend for a few registers while messages are lost,
// duplicated and late, and a minority of the servers is down.
func TestLinearizable(t *testing.T) {
	seen := map[string]int{}
	n := seeds(t, 200)
	for seed := range n {
		servers := 3 + 2*(seed/7%2)
		l := newLab(t, uint64(seed), 2, servers)
		l.lose, l.double, l.late = .05, .1, .02
		protocol := wor.Protocol(seed % 3)
		w := &workload{
			h: &history{l: l, seen: seen}, segment: 3, size: 3, steps: 12,
			bound: 20 * time.Millisecond, protocol: protocol, trims: seed%2 == 0,
		}
		var clients []*client
		for range 4 {
			clients = append(clients, l.client(func(o *space.Options) { o.ResendMax = 50 * time.Millisecond }))
		}
		m := wor.Meta{Partition: wor.Partition(seed / 3 % 2), Protocol: protocol, Size: w.size}
		if _, err := clients[0].alloc(w.segment, m); err != nil {
			t.Fatal(err)
		}
		for _, c := range clients {
			w.start(c)
		}
		minority := servers / 2
		if protocol == wor.Chain {
			minority = 1 // it comes back
		}
		l.trouble(clients, minority, func() bool { return w.running == 0 })
		if !l.run(5*time.Minute, func() bool { return w.running == 0 }) {
			t.Fatalf("seed %d: %d clients did not finish", seed, w.running)
		}
		w.h.check(t, fmt.Sprintf("seed %d, %v", seed, protocol))
		w.agree(t, seed, clients)
	}
	if n >= 100 {
		for _, what := range []string{
			"read <nil>", "read register is unwritten", "read segment is trimmed", "read deadline exceeded",
			"write <nil>", "write register is written", "write outcome is unknown", "write segment is trimmed",
			"trim <nil>", "capture <nil>", "capture segment is trimmed",
		} {
			if seen[what] == 0 {
				t.Errorf("never seen: %s, of %v", what, seen)
			}
		}
	}
}

// agree checks that all values that clients know to be decided agree with each other, and
// with those that a new client reads.
func (w *workload) agree(t *testing.T, seed int, clients []*client) {
	t.Helper()
	fresh := w.h.l.client()
	for off := range w.size {
		v, err := fresh.read(at(w.segment, off))
		for _, c := range clients {
			known, ok := c.Known(at(w.segment, off))
			if ok && !errors.Is(err, wor.ErrTrimmed) && (err != nil || string(known) != v) {
				t.Fatalf("seed %d: register %d is %q, %v; client %d knows %q", seed, off, v, err, c.number, known)
			}
		}
	}
}
