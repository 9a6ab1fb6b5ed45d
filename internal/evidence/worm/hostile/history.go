// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"math"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

type opKind uint8

const (
	opWrite opKind = iota
	opRead
	opTrim
)

type outcome uint8

const (
	unknown outcome = iota
	ok
	written
	unwritten
	trimmed
)

// op is an operation on one register as its client saw it. If it has no end, its outcome
// is unknown.
type op struct {
	register   uint32
	kind       opKind
	value      string
	outcome    outcome
	got        string
	begin, end int64
}

type history struct{ ops []*op }

var opNames = [...]string{opWrite: "write", opRead: "read", opTrim: "trim"}

var outcomeNames = [...]string{
	unknown: "unknown", ok: "ok", written: "written", unwritten: "unwritten", trimmed: "trimmed",
}

func (h *history) count(seen Seen) {
	for _, o := range h.ops {
		seen[opNames[o.kind]+": "+outcomeNames[o.outcome]]++
	}
}

func (h *history) begin(now int64, register uint32, kind opKind, value string) *op {
	o := &op{register: register, kind: kind, value: value, begin: now, end: math.MaxInt64}
	h.ops = append(h.ops, o)
	return o
}

// model is wor.Register in the form that porcupine requires: an op is both input and
// output.
func model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return wor.Register{} },
		Step: func(state, input, _ any) (bool, any) {
			r, o := state.(wor.Register), input.(*op)
			switch o.kind {
			case opTrim:
				return true, r.Trim()
			case opRead:
				var err error
				switch o.outcome {
				case unwritten:
					err = wor.ErrUnwritten
				case trimmed:
					err = wor.ErrTrimmed
				}
				return r.Read(o.got, err), r
			}
			switch o.outcome {
			case unknown:
				after, _ := r.Write(o.value, nil)
				return true, after
			case ok:
				after, legal := r.Write(o.value, nil)
				return legal, after
			}
			_, legal := r.Write(o.value, wor.ErrWritten)
			return legal && r.Value == o.got, r
		},
		Equal:             func(a, b any) bool { return a.(wor.Register) == b.(wor.Register) },
		DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", *input.(*op)) },
	}
}

// check reports whether each register's history is linearizable.
func (h *history) check() error {
	for register := uint32(base); register < base+registers; register++ {
		var all []porcupine.Operation
		add := func(o *op) {
			all = append(all, porcupine.Operation{Input: o, Call: o.begin, Return: o.end})
		}
		for _, o := range h.ops {
			switch {
			case o.register != register || o.kind == opRead && o.outcome == unknown:
			case o.kind == opWrite && o.outcome == trimmed:
				// It may have taken effect before the trim, and the client then saw that
				// the register was trimmed.
				maybe, seen := *o, *o
				maybe.outcome, maybe.end = unknown, math.MaxInt64
				seen.kind = opRead
				add(&maybe)
				add(&seen)
			default:
				add(o)
			}
		}
		if !porcupine.CheckOperations(model(), all) {
			text := ""
			for _, o := range all {
				text += fmt.Sprintf("\n  %+v", *o.Input.(*op))
			}
			return fmt.Errorf("register %d is not linearizable:%s", register, text)
		}
	}
	return nil
}
