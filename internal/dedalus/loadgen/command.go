// SPDX-License-Identifier: Apache-2.0

package loadgen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// WaitsMax is how many outputs a command may wait for.
const WaitsMax = 64

// Send is an input of a command.
type Send struct {
	Relation string
	Args     []cost.Arg
	// To are instances: all of them get it if All; else the first does, and the next
	// one when the command is asked for again, as do those that begin from then on.
	To  []string
	All bool
}

// Wait is an output that belongs to the answer. A column of its Args must contain the
// command's number.
type Wait struct {
	Relation string
	Args     []cost.Arg
}

// Outcome is what clients saw.
type Outcome struct {
	// Commands were answered in the time that counts, All ever; Doubled are answers
	// that came once more, Resent commands that were asked for once more.
	Commands, All, Doubled, Resent int64
	// Windows are the commands of each second of the time that counts; the last one may
	// be shorter.
	Windows []int64
	// Latencies are how often a command took so many microseconds at most, by bars, and
	// Quantiles how long some took.
	Latencies []Bar
	Quantiles Quantiles
	// Micros is the time that counts, in microseconds.
	Micros int64
}

// Bar is a bar of a histogram.
type Bar struct {
	Micros, Count int64
}

// Quantiles are how long commands took, in microseconds: half of them no longer than
// P50, and so on.
type Quantiles struct {
	P50 int64 `json:"p50"`
	P90 int64 `json:"p90"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// Commands are what a load says, for a program: each send with the instances that it
// is for.
func Commands(p *logic.Program, l *cost.Load) (sends []Send, waits []Wait) {
	for _, s := range l.Sends {
		x := Send{Relation: s.Input, Args: s.Args, All: s.Instance < 0}
		c := p.Component(s.Component)
		n := c.Instances * c.Partitions
		for i := range n {
			x.To = append(x.To, logic.NodeName(s.Component, (max(s.Instance, 0)+i)%n))
		}
		sends = append(sends, x)
	}
	for _, w := range l.Waits {
		waits = append(waits, Wait{Relation: w.Output, Args: w.Args})
	}
	return sends, waits
}

// waiting is a Wait, with its place, and the column that has the number of the
// command.
type waiting struct {
	place  int
	args   []cost.Arg
	output rt.Relation
	column int
	text   bool // the column is written in digits
}

// prepare finds what the program calls the relations of a command.
func (x *Generator) prepare() error {
	p := x.opt.Program
	if len(x.opt.Sends) == 0 {
		return fmt.Errorf("the load has no 'send', so a command would send nothing")
	}
	if len(x.opt.Waits) == 0 || len(x.opt.Waits) > WaitsMax {
		return fmt.Errorf("a command must wait for 1 to %d outputs, not %d; add 'wait OUTPUT(...)'", WaitsMax, len(x.opt.Waits))
	}
	for i, w := range x.opt.Waits {
		r, err := relation(p, rt.Output, w.Relation, w.Args)
		if err != nil {
			return err
		}
		k := waiting{place: i, args: w.Args, output: p.Relations[r]}
		k.column = slices.IndexFunc(w.Args, func(a cost.Arg) bool {
			return a.Kind == cost.NumberArg && a.Num == 0 || a.Kind == cost.BytesArg
		})
		if k.column < 0 {
			return fmt.Errorf("output %s has no column that identifies its command; write # or bytes N in one", w.Relation)
		}
		kind := p.Relations[r].Columns[k.column].Type.Kind
		k.text = kind == rt.KindText || kind == rt.KindBytes
		x.outs[r] = append(x.outs[r], k)
	}
	for _, s := range x.opt.Sends {
		r, err := relation(p, rt.Input, s.Relation, s.Args)
		if err != nil {
			return err
		}
		if len(s.To) == 0 {
			return fmt.Errorf("no instance receives input %s", s.Relation)
		}
		x.sent = append(x.sent, r)
	}
	return nil
}

func relation(p *rt.Program, kind rt.RelationKind, name string, args []cost.Arg) (int, error) {
	i := slices.IndexFunc(p.Relations, func(r rt.Relation) bool { return r.Kind == kind && r.Name == name })
	switch {
	case i < 0:
		return 0, fmt.Errorf("%s has no %s %s", p.Name, map[rt.RelationKind]string{rt.Input: "input", rt.Output: "output"}[kind], name)
	case len(args) != len(p.Relations[i].Columns):
		return 0, fmt.Errorf("%s has %d columns, not %d", name, len(p.Relations[i].Columns), len(args))
	}
	return i, nil
}

// values are those of arguments in a command.
func (x *Generator) values(n uint64, args []cost.Arg, columns []rt.Column) []rt.Value {
	out := make([]rt.Value, len(args))
	for i, a := range args {
		text := columns[i].Type.Kind == rt.KindText || columns[i].Type.Kind == rt.KindBytes
		switch a.Kind {
		case cost.NumberArg, cost.BytesArg:
			key := n
			if a.Kind == cost.NumberArg && a.Num > 0 {
				key = n % a.Num
			}
			switch {
			case !text:
				out[i].Num = key
			case a.Kind == cost.BytesArg:
				out[i].Str = digits(key, int(a.Num))
			default:
				out[i].Str = digits(key, 0)
			}
		case cost.ConstArg, cost.BoolArg:
			out[i].Num = a.Num
		case cost.TextArg, cost.NodeArg:
			out[i].Str = a.Text
		case cost.ClientArg:
			out[i].Str = x.opt.Name
		}
	}
	return out
}

// digits is a number in at least so many digits.
func digits(n uint64, least int) string {
	s := strconv.FormatUint(n, 10)
	if len(s) < least {
		s = strings.Repeat("0", least-len(s)) + s
	}
	return s
}

// number is that of the command that an output answers.
func (w *waiting) number(values []rt.Value) (uint64, bool) {
	v := values[w.column]
	if !w.text {
		return v.Num, true
	}
	n, err := strconv.ParseUint(v.Str, 10, 64)
	return n, err == nil
}

// expect compares an answer with what the load says of it.
func (x *Generator) expect(n uint64, w *waiting, values []rt.Value) error {
	columns := w.output.Columns
	for i, want := range x.values(n, w.args, columns) {
		if got := values[i]; w.args[i].Kind != cost.AnyArg && (want.Num != got.Num || want.Str != got.Str) {
			return fmt.Errorf("command %d: column %s of %s is %s, want %s", n, columns[i].Name, w.output.Name, show(got, columns[i]), show(want, columns[i]))
		}
	}
	return nil
}

func show(v rt.Value, c rt.Column) string {
	switch c.Type.Kind {
	case rt.KindText, rt.KindBytes, rt.KindNode:
		return strconv.Quote(v.Str)
	case rt.KindBool:
		return strconv.FormatBool(v.Num != 0)
	}
	return strconv.FormatUint(v.Num, 10)
}
