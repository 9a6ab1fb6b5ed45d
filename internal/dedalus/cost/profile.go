// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Profile states what each node of a program did for the commands of a load. All numbers are
// totals of all commands.
type Profile struct {
	Commands int              `json:"commands"`
	Nodes    []Node           `json:"nodes"`
	Outputs  map[string]int64 `json:"outputs"`
	// Path lists the messages in sequence from one command to its answer, with no other command
	// in progress. Syncs is the number of waits for a disk among them.
	Path  []string `json:"path"`
	Syncs int      `json:"syncs"`
}

// Node is what one instance of a component did.
type Node struct {
	Node      string `json:"node"`
	Component string `json:"component"`
	// Instance is the number of the instance in the original program to which the node belongs.
	Instance int `json:"instance"`
	// Received and Sent count messages.
	Received      int64 `json:"received"`
	ReceivedBytes int64 `json:"receivedBytes"`
	Sent          int64 `json:"sent"`
	SentBytes     int64 `json:"sentBytes"`
	// Ticks counts the ticks in which a rule derived something new or a message arrived.
	Ticks int64 `json:"ticks"`
	// Durable counts the rows written to the disk, and Syncs the ticks that wrote rows.
	Durable      int64 `json:"durable"`
	DurableBytes int64 `json:"durableBytes"`
	Syncs        int64 `json:"syncs"`
	// Firings counts the rows that each rule derived and had not derived in the tick before, by
	// the rule's position in the component. Rules that only carry facts have none, because kept
	// facts are not derived again.
	Firings []int64 `json:"firings"`
	// Calls counts the calls of functions from Go.
	Calls map[string]int64 `json:"calls,omitempty"`

	// arrived counts the values in each column of received messages.
	arrived map[*logic.Relation]*arrivals
}

// arrivals counts the received rows of a relation, and each value in each column.
type arrivals struct {
	rows    int64
	columns []map[string]int64
}

// ArrivalValuesMax is the maximum number of different values of a column that are counted.
const ArrivalValuesMax = 1 << 16

func (n *Node) arrive(r *logic.Relation, row []logic.Value) {
	n.Received++
	n.ReceivedBytes += int64(messageBytes(row))
	a := n.arrived[r]
	if a == nil {
		a = &arrivals{columns: make([]map[string]int64, len(row))}
		for i := range a.columns {
			a.columns[i] = map[string]int64{}
		}
		n.arrived[r] = a
	}
	a.rows++
	for i, v := range row {
		key := string(v.AppendKey(nil))
		if _, ok := a.columns[i][key]; ok || len(a.columns[i]) < ArrivalValuesMax {
			a.columns[i][key]++
		}
	}
}

// hottest returns the share of received rows that have the most frequent value of a column.
func (a *arrivals) hottest(column int) float64 {
	most := int64(0)
	for _, n := range a.columns[column] {
		most = max(most, n)
	}
	return float64(most) / float64(max(a.rows, 1))
}

// headerBytes is the length of a message without its values: its length, relation and
// receiver.
const headerBytes = 6

// messageBytes returns the length of a message.
func messageBytes(row []logic.Value) int {
	n := headerBytes
	for _, v := range row {
		n += valueBytes(v)
	}
	return n
}

// valueBytes returns the length of a value. Small numbers are short.
func valueBytes(v logic.Value) int {
	switch v.Kind {
	case logic.Bool:
		return 1
	case logic.U64, logic.Int:
		n := 1
		for x := v.Num; x >= 0x80 && n < 10; x >>= 7 {
			n++
		}
		return n
	case logic.SetType:
		n := 1
		for _, e := range v.Set {
			n += valueBytes(e)
		}
		return n
	}
	return 1 + len(v.Str)
}

// stubs returns functions that replace those from Go: their results depend only on the
// arguments, and have the length that the load states. Tests always return true.
func stubs(p *logic.Program, l *Load) map[string]func([]logic.Value) (logic.Value, bool) {
	out := map[string]func([]logic.Value) (logic.Value, bool){}
	for _, f := range p.Functions {
		if f.Import == "" {
			continue
		}
		bytes := 32
		if g, ok := l.Functions[f.Name]; ok {
			bytes = g.Bytes
		}
		out[f.Name] = func(args []logic.Value) (logic.Value, bool) { return stub(f.Result, bytes, args), true }
	}
	return out
}

func stub(t logic.Type, bytes int, args []logic.Value) logic.Value {
	h := uint64(len(args))
	for _, a := range args {
		h = h*0x9e3779b97f4a7c15 + logic.Hash(a)
	}
	v := logic.Value{Kind: t.Kind}
	switch t.Kind {
	case logic.U64, logic.Int:
		v.Num = h
	case logic.Bool:
		v.Num = 1
	case logic.SetType:
	default:
		b := make([]byte, bytes)
		for i := range b {
			b[i] = 'a' + byte(h>>(i%8*8))%26
		}
		v.Str = string(b)
	}
	return v
}

// calls returns the functions from Go that a rule calls for each row, once for each call.
func calls(p *logic.Program, r *logic.Rule) []string {
	var out []string
	var walk func(t *logic.Term)
	walk = func(t *logic.Term) {
		if t == nil {
			return
		}
		if t.Kind == logic.Call {
			if f := p.Function(t.Name); f != nil {
				if f.Import != "" {
					out = append(out, t.Name)
				}
				walk(f.Body)
			}
		}
		for _, a := range t.Args {
			walk(a)
		}
	}
	for _, l := range r.Body {
		if l.Assign != nil {
			walk(l.Assign.Term)
		}
		if l.Compare != nil {
			walk(l.Compare.Left)
			walk(l.Compare.Right)
		}
	}
	for _, a := range r.Head.Args {
		walk(a.Term)
	}
	walk(r.Dest)
	return out
}
