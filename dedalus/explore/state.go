package explore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/dedalus/interp"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// state is what there is at a moment between ticks.
type state struct {
	// carried are the facts of each node.
	carried [][]interp.Fact
	// pending are messages to nodes, delivered those that have arrived before,
	// outputs those to the outside; each sorted, without doubles.
	pending, delivered, outputs []string
	// before are those that a node got before it crashed: sent again, they arrive
	// again.
	before              []string
	duplicates, crashes int   // that are left
	timers              []int // how often each runs out yet, if that is limited
}

// codec writes facts and messages as bytes and reads them again.
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

// reader reads what was written here; nothing else comes to it.
type reader struct {
	*codec
	b []byte
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	invariant.Check(size > 0, "explore: state is cut short")
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

func (c *codec) read(message string) interp.Message {
	return (&reader{c, []byte(message)}).message()
}

// encode writes a state.
func (c *codec) encode(s *state) []byte {
	var b []byte
	for _, facts := range s.carried {
		b = binary.AppendUvarint(b, uint64(len(facts)))
		for _, f := range facts {
			b = c.fact(b, f)
		}
	}
	for _, list := range [][]string{s.pending, s.delivered, s.outputs, s.before} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, m := range list {
			b = appendString(b, m)
		}
	}
	b = binary.AppendUvarint(b, uint64(s.duplicates))
	b = binary.AppendUvarint(b, uint64(s.crashes))
	for _, n := range s.timers {
		b = binary.AppendVarint(b, int64(n))
	}
	return b
}

// decode reads a state of so many nodes and timers.
func (c *codec) decode(b []byte, nodes, timers int) *state {
	r := &reader{c, bytes.Clone(b)}
	s := &state{}
	for range nodes {
		var facts []interp.Fact
		for n := r.number(); n > 0; n-- {
			facts = append(facts, r.fact())
		}
		s.carried = append(s.carried, facts)
	}
	for _, list := range []*[]string{&s.pending, &s.delivered, &s.outputs, &s.before} {
		for n := r.number(); n > 0; n-- {
			*list = append(*list, r.string())
		}
	}
	s.duplicates, s.crashes = int(r.number()), int(r.number())
	for range timers {
		n, size := binary.Varint(r.b)
		invariant.Check(size > 0, "explore: state is cut short")
		s.timers, r.b = append(s.timers, int(n)), r.b[size:]
	}
	return s
}

func (s *state) clone() *state {
	t := *s
	t.carried = slices.Clone(s.carried)
	t.pending, t.delivered, t.outputs = slices.Clone(s.pending), slices.Clone(s.delivered), slices.Clone(s.outputs)
	t.before, t.timers = slices.Clone(s.before), slices.Clone(s.timers)
	return &t
}

// insert adds to a sorted list, once.
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

// outcome is what the outside has been told, in the language, sorted.
func (c *codec) outcome(outputs []string) string {
	var lines []string
	for _, m := range outputs {
		lines = append(lines, fmt.Sprint(c.read(m)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
