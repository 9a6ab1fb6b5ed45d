// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// state is the state of the model between two ticks.
type state struct {
	// carried holds the encoded facts of each machine.
	carried []string
	// pending lists the messages in flight, each with its sender. omitted lists those
	// that never arrive, even if they are sent again. Both are sorted, without
	// duplicates.
	pending, omitted []string
	// delivered lists the messages that have arrived, each with its sender, while
	// repeated deliveries are left. outputs lists the messages to the outside, each
	// with the set of inputs that had arrived when it first appeared. Both are
	// sorted, without duplicates.
	delivered, outputs  []string
	duplicates, crashes int   // that are left
	timers              []int // how often each runs out yet, if that is limited
	// faulty is a bit set of the logical nodes whose messages may be omitted.
	faulty uint64
}

// codec encodes and decodes facts and messages.
type codec struct {
	relations []*logic.Relation
	index     map[*logic.Relation]int
}

func newCodec(p *logic.Program) *codec {
	c := &codec{p.Relations, map[*logic.Relation]int{}}
	for i, r := range p.Relations {
		c.index[r] = i
	}
	return c
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendValue(b []byte, v logic.Value) []byte {
	b = append(b, byte(v.Kind))
	switch v.Kind {
	case logic.Text, logic.Bytes, logic.Node:
		return appendString(b, v.Str)
	case logic.SetType:
		b = binary.AppendUvarint(b, uint64(len(v.Set)))
		for _, e := range v.Set {
			b = appendValue(b, e)
		}
		return b
	}
	return binary.AppendUvarint(b, v.Num)
}

func (c *codec) fact(b []byte, f interp.Fact) []byte {
	b = binary.AppendUvarint(b, uint64(c.index[f.Relation]))
	for _, v := range f.Row {
		b = appendValue(b, v)
	}
	return b
}

func (c *codec) message(m interp.Message) string {
	return string(c.fact(appendString(nil, m.To), m.Fact))
}

// outside is the sender of the inputs.
const outside = -1

// under encodes a message in flight: the message, then the logical node that sent it. The same
// message from two senders has two entries, and arrives once.
func under(message string, from int) string {
	return message + string(binary.BigEndian.AppendUint16(nil, uint16(from+1)))
}

// split reverses under.
func split(x string) (message string, from int) {
	at := len(x) - 2
	return x[:at], int(binary.BigEndian.Uint16([]byte(x[at:]))) - 1
}

// reader decodes what this package has encoded, and never other input.
type reader struct {
	*codec
	b []byte
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	invariant.Check(size > 0, "explore: the encoded state is truncated")
	r.b = r.b[size:]
	return n
}

func (r *reader) string() string {
	n := r.number()
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *reader) value() logic.Value {
	v := logic.Value{Kind: logic.TypeKind(r.b[0])}
	r.b = r.b[1:]
	switch v.Kind {
	case logic.Text, logic.Bytes, logic.Node:
		v.Str = r.string()
	case logic.SetType:
		for n := r.number(); n > 0; n-- {
			v.Set = append(v.Set, r.value())
		}
	default:
		v.Num = r.number()
	}
	return v
}

func (r *reader) fact() interp.Fact {
	f := interp.Fact{Relation: r.relations[r.number()]}
	for range f.Relation.Columns {
		f.Row = append(f.Row, r.value())
	}
	return f
}

func (r *reader) message() interp.Message {
	to := r.string()
	return interp.Message{To: to, Fact: r.fact()}
}

// to returns the destination of a message.
func to(message string) string {
	n, size := binary.Uvarint([]byte(message[:min(len(message), binary.MaxVarintLen64)]))
	return message[size : size+int(n)]
}

// facts encodes facts, and carried decodes them.
func (c *codec) facts(facts []interp.Fact) string {
	var b []byte
	for _, f := range facts {
		b = c.fact(b, f)
	}
	return string(b)
}

func (c *codec) carried(facts string) []interp.Fact {
	r := &reader{c, []byte(facts)}
	var out []interp.Fact
	for len(r.b) > 0 {
		out = append(out, r.fact())
	}
	return out
}

func (c *codec) read(message string) interp.Message {
	return (&reader{c, []byte(message)}).message()
}

// encode encodes a state.
func (c *codec) encode(s *state) []byte {
	b := make([]byte, 0, 512)
	for _, facts := range s.carried {
		b = appendString(b, facts)
	}
	for _, list := range [][]string{s.pending, s.delivered, s.outputs, s.omitted} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, m := range list {
			b = appendString(b, m)
		}
	}
	b = binary.AppendUvarint(b, s.faulty)
	b = binary.AppendUvarint(b, uint64(s.duplicates))
	b = binary.AppendUvarint(b, uint64(s.crashes))
	for _, n := range s.timers {
		b = binary.AppendVarint(b, int64(n))
	}
	return b
}

// decode decodes a state with that many nodes and timers.
func (c *codec) decode(b []byte, nodes, timers int) *state {
	r := &reader{c, bytes.Clone(b)}
	s := &state{}
	for range nodes {
		s.carried = append(s.carried, r.string())
	}
	for _, list := range []*[]string{&s.pending, &s.delivered, &s.outputs, &s.omitted} {
		for n := r.number(); n > 0; n-- {
			*list = append(*list, r.string())
		}
	}
	s.faulty = r.number()
	s.duplicates, s.crashes = int(r.number()), int(r.number())
	for range timers {
		n, size := binary.Varint(r.b)
		invariant.Check(size > 0, "explore: the encoded state is truncated")
		s.timers, r.b = append(s.timers, int(n)), r.b[size:]
	}
	return s
}

func (s *state) clone() *state {
	t := *s
	t.carried = slices.Clone(s.carried)
	t.pending, t.delivered, t.outputs = slices.Clone(s.pending), slices.Clone(s.delivered), slices.Clone(s.outputs)
	t.omitted, t.timers = slices.Clone(s.omitted), slices.Clone(s.timers)
	return &t
}

// arrived removes a message from a list of messages in flight, in place.
func arrived(list []string, message string) []string {
	return slices.DeleteFunc(list, func(x string) bool { m, _ := split(x); return m == message })
}

// insert adds a message to a sorted list, once.
func insert(list []string, m string) []string {
	i, found := slices.BinarySearch(list, m)
	if found {
		return list
	}
	return slices.Insert(list, i, m)
}

func contains(list []string, m string) bool {
	_, found := slices.BinarySearch(list, m)
	return found
}

// inputsMax is the maximum number of inputs for which the model records whether they arrived
// before an output. It does not record this for further inputs.
const inputsMax = 64

// tell records that an output arrived, with the inputs that had arrived before it.
func (m *Model) tell(s *state, message string) {
	if told(s.outputs, message) {
		return
	}
	come := uint64(0)
	for i, x := range m.inputs {
		if m.ordered && i < inputsMax && !contains(s.pending, under(m.codec.message(x), outside)) {
			come |= 1 << i
		}
	}
	s.outputs = insert(s.outputs, string(binary.BigEndian.AppendUint64([]byte(message), come)))
}

// told reports whether a message is among the outputs. No message is a prefix of another.
func told(outputs []string, message string) bool {
	i, _ := slices.BinarySearch(outputs, message)
	return i < len(outputs) && strings.HasPrefix(outputs[i], message)
}

// come returns the inputs that had arrived before an output.
func come(output string) uint64 {
	return binary.BigEndian.Uint64([]byte(output[len(output)-8:]))
}

// outcome returns the outputs in the syntax of the language, sorted.
func (c *codec) outcome(outputs []string) string {
	var lines []string
	for _, m := range outputs {
		lines = append(lines, fmt.Sprint(c.read(m)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
