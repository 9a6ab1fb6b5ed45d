// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// deed is what a client did to a register.
type deed uint8

const (
	reads deed = iota
	writes
	trims
)

func (d deed) String() string { return [...]string{"read", "write", "trim"}[d] }

// act is an operation on one register and what became of it.
type act struct {
	deed   deed
	client int
	addr   wor.Addr
	value  string // written or read
	err    error
	call   int64
	ret    int64 // math.MaxInt64: not yet, or never
	void   bool  // it says nothing
}

func (a *act) String() string {
	return fmt.Sprintf("client %d %v %v %.40q: %v, %v to %v", a.client, a.deed, a.addr, a.value, a.err, time.Duration(a.call), time.Duration(a.ret))
}

// history is what clients did and saw.
type history struct {
	w    *sim.World
	acts []*act
}

// begin notes the call of an operation. It is unknown until end says otherwise.
func (h *history) begin(client int, d deed, a wor.Addr, value string) *act {
	x := &act{deed: d, client: client, addr: a, value: value, err: wor.ErrUnknown, call: int64(h.w.Now()), ret: math.MaxInt64}
	h.acts = append(h.acts, x)
	return x
}

// nothing are the errors after which nothing was done or seen.
var nothing = []error{wor.ErrDeadline, wor.ErrBusy, wor.ErrSealed, wor.ErrClosed, wor.ErrLimit, wor.ErrToken, wor.ErrUnallocated, wor.ErrOutbid}

func isNothing(err error) bool {
	if errors.Is(err, wor.ErrUnknown) {
		return false
	}
	for _, e := range nothing {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// end notes the answer.
func (h *history) end(x *act, got string, err error) {
	now := int64(h.w.Now())
	switch {
	case isNothing(err):
		x.void = true
	case errors.Is(err, wor.ErrUnknown):
		x.void = x.deed == reads
	case x.deed == trims:
		if err == nil {
			x.err, x.ret = nil, now
		}
	case x.deed == reads:
		x.value, x.err, x.ret = got, err, now
	case errors.Is(err, wor.ErrTrimmed):
		// It may have been written before: it stays unknown. What it saw is a read.
		h.acts = append(h.acts, &act{deed: reads, client: x.client, addr: x.addr, err: err, call: x.call, ret: now})
	default:
		x.err, x.ret = err, now
		if w := (*wor.WrittenError)(nil); errors.As(err, &w) {
			h.acts = append(h.acts, &act{deed: reads, client: x.client, addr: x.addr, value: string(w.Value), call: x.call, ret: now})
		}
	}
}

// register is wor.Register for porcupine.
var register = porcupine.Model{
	Init: func() any { return wor.Register{} },
	Step: func(state, input, _ any) (bool, any) {
		r, x := state.(wor.Register), input.(*act)
		switch {
		case x.deed == trims:
			return true, r.Trim()
		case x.deed == reads:
			return r.Read(x.value, x.err), r
		case errors.Is(x.err, wor.ErrUnknown): // at any time, or at the end, which is never
			if next, ok := r.Write(x.value, nil); ok {
				return true, next
			}
			return true, r
		}
		next, ok := r.Write(x.value, x.err)
		return ok, next
	},
}

// check reports whether there is an order in which the history makes sense.
func (h *history) check() error {
	at := map[wor.Addr]int{}
	var parts [][]porcupine.Operation
	for _, x := range h.acts {
		if x.void || x.deed == reads && x.ret == math.MaxInt64 {
			continue
		}
		i, known := at[x.addr]
		if !known {
			i = len(parts)
			at[x.addr] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], porcupine.Operation{ClientId: x.client, Input: x, Call: x.call, Return: x.ret})
	}
	for _, ops := range parts {
		switch porcupine.CheckOperationsTimeout(register, ops, time.Minute) {
		case porcupine.Ok:
		case porcupine.Unknown:
			return fmt.Errorf("register %v: no order was found within a minute", ops[0].Input.(*act).addr)
		default:
			var b strings.Builder
			for _, o := range ops {
				fmt.Fprintf(&b, "\n  %v", o.Input.(*act))
			}
			return fmt.Errorf("register %v is not linearizable:%s", ops[0].Input.(*act).addr, b.String())
		}
	}
	return nil
}
