// SPDX-License-Identifier: Apache-2.0

package lockstep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// arrivals are facts that arrive: some of those that are on their way here, some of
// which will arrive again, and some that no node has sent.
func (n *node) arrivals() []interp.Fact {
	var in []interp.Fact
	rest := n.pending[:0:0]
	for _, m := range n.pending {
		arrives := m.To == n.name && len(in) < 6 && n.one(2)
		if arrives && slices.Contains(n.inputs, m.Fact.Relation) {
			in = append(in, m.Fact)
		}
		known := slices.ContainsFunc(n.nodes, func(o *node) bool { return o.name == m.To })
		if known && (!arrives || n.one(8)) {
			rest = append(rest, m)
		}
	}
	if len(rest) > pendingMax {
		rest = rest[len(rest)-pendingMax:]
	}
	n.run.pending = rest
	if len(n.inputs) > 0 {
		for range env.IntN(n.random, 4) {
			rel := n.inputs[env.IntN(n.random, len(n.inputs))]
			f := interp.Fact{Relation: rel}
			for _, c := range rel.Columns {
				f.Row = append(f.Row, n.value(c.Type))
			}
			in = append(in, f)
		}
	}
	return in
}

// pendingMax is how many messages can be on their way.
const pendingMax = 60

// value is one of few values of a type.
func (n *node) value(t logic.Type) logic.Value {
	v := logic.Value{Kind: t.Kind}
	switch t.Kind {
	case logic.U64:
		v.Num = uint64(env.IntN(n.random, 4))
	case logic.Int:
		v.Num = uint64(int64(env.IntN(n.random, 4) - 2))
	case logic.Bool:
		v.Num = uint64(env.IntN(n.random, 2))
	case logic.Node:
		v.Str = n.nodes[env.IntN(n.random, len(n.nodes))].name
	case logic.SetType:
		for range env.IntN(n.random, 3) {
			v.Set = append(v.Set, n.value(*t.Elem))
		}
		slices.SortFunc(v.Set, logic.Value.Compare)
		v.Set = slices.CompactFunc(v.Set, func(a, b logic.Value) bool { return a.Compare(b) == 0 })
	default:
		v.Str = []string{"", "a", "b", "ab"}[env.IntN(n.random, 4)]
	}
	return v
}

func value(v logic.Value) rt.Value {
	out := rt.Value{Num: v.Num, Str: v.Str}
	for _, e := range v.Set {
		out.Set = append(out.Set, value(e))
	}
	return out
}

func back(v rt.Value, t logic.Type) logic.Value {
	out := logic.Value{Kind: t.Kind, Num: v.Num, Str: v.Str}
	for _, e := range v.Set {
		out.Set = append(out.Set, back(e, *t.Elem))
	}
	return out
}

// row is a fact as bytes.
func (r *run) row(f interp.Fact, durable bool) []byte {
	vals := make([]rt.Value, len(f.Row))
	for i, v := range f.Row {
		vals[i] = value(v)
	}
	b, err := rt.AppendRow(nil, r.Compiled.Relations[r.number(f.Relation, durable)].Columns, vals)
	invariant.Check(err == nil, "fact %v: %v", f, err)
	return b
}

func (r *run) sent(t *interp.Tick) map[string]bool {
	out := map[string]bool{}
	for _, m := range t.Sent {
		out[fmt.Sprintf("%s(%x) to %s", m.Fact.Relation.Name, r.row(m.Fact, false), m.To)] = true
	}
	return out
}

func got(sent []rt.Sent, p *rt.Program) map[string]bool {
	out := map[string]bool{}
	for _, m := range sent {
		out[fmt.Sprintf("%s(%x) to %s", p.Relations[m.Relation].Name, m.Row, m.To)] = true
	}
	return out
}

// same compares two sets of messages.
func same(what string, got, want map[string]bool, tick *interp.Tick) error {
	var wrong []string
	for m := range got {
		if !want[m] {
			wrong = append(wrong, what+", and should not be: "+m)
		}
	}
	for m := range want {
		if !got[m] {
			wrong = append(wrong, "not "+what+": "+m)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return fmt.Errorf("%s\nthe tick is:\n%v", strings.Join(wrong, "\n"), tick)
}

func carried(n *interp.Instance) string { return string(n.AppendKey(nil)) }

// checkDurable compares what is durable with what the interpreter carries of
// durable relations, and with what the changes of all ticks add up to.
func (n *node) checkDurable(tick *interp.Tick) error {
	want := map[string]bool{}
	for _, f := range n.all.Carried() {
		if f.Relation.Durable {
			want[f.String()] = true
		}
	}
	n.out.Reset()
	n.compiled.Snapshot(&n.out)
	got := n.merged(n.out.Changes)
	if err := same("durable", got, want, tick); err != nil {
		return err
	}
	return same("durable by its changes", n.merged(n.durable), want, tick)
}

// merged is what changes add up to, with facts that merge merged.
func (n *node) merged(changes []rt.Change) map[string]bool {
	there := map[string]interp.Fact{}
	var keys []string
	for _, c := range changes {
		rel := n.Logic.Find(n.Compiled.Relations[c.Relation].Name)
		vals, err := rt.ReadRow(c.Row, n.Compiled.Relations[c.Relation].Columns)
		invariant.Check(err == nil, "durable row: %v", err)
		f := interp.Fact{Relation: rel}
		for i, v := range vals {
			f.Row = append(f.Row, back(v, rel.Columns[i].Type))
		}
		k := f.String()
		if c.Gone {
			delete(there, k)
			continue
		}
		there[k] = f
		keys = append(keys, k)
	}
	merged := map[string]interp.Fact{}
	for _, k := range keys {
		f, ok := there[k]
		if !ok {
			continue
		}
		key := f.Relation.Name
		for i, c := range f.Relation.Columns {
			if c.Lattice == logic.NoLattice {
				key += f.Row[i].String() + ","
			}
		}
		if other, ok := merged[key]; ok {
			f.Row = slices.Clone(f.Row)
			for i, c := range f.Relation.Columns {
				if c.Lattice != logic.NoLattice {
					f.Row[i] = c.Lattice.Join(f.Row[i], other.Row[i])
				}
			}
		}
		merged[key] = f
	}
	out := map[string]bool{}
	for _, f := range merged {
		out[f.String()] = true
	}
	return out
}
