package model

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/ashlar-dev/ashlar/check"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/source"
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// permutation maps model values to model values; others stay as they are.
type permutation struct {
	from, to []value.Value // sorted by from
}

func (p permutation) of(v value.Value) value.Value {
	for i, x := range p.from {
		if value.Same(x, v) || value.Equal(x, v) {
			return p.to[i]
		}
	}
	return v
}

// apply renames the model values inside v.
func (p permutation) apply(v value.Value) value.Value {
	v = v.Normal()
	switch v.Kind() {
	case value.KindModel:
		return p.of(v)
	case value.KindTuple:
		if es, changed := p.applyAll(v.Elements()); changed {
			return value.TupleOf(es)
		}
	case value.KindRecord:
		if vals, changed := p.applyAll(v.Values()); changed {
			return value.FnOf(v.Domain(), vals)
		}
	case value.KindFn:
		keys, keysChanged := p.applyAll(v.Domain().Elems())
		vals, valsChanged := p.applyAll(v.Values())
		if !keysChanged && !valsChanged {
			return v
		}
		pairs := make([]value.Pair, len(keys))
		for i := range keys {
			pairs[i] = value.Pair{Key: keys[i], Val: vals[i]}
		}
		return value.Fn(pairs)
	case value.KindSet:
		if !value.IsFinite(v) {
			return v
		}
		if es, changed := p.applyAll(v.Elems()); changed {
			return value.SetOf(es)
		}
	}
	return v
}

func (p permutation) applyAll(vs []value.Value) (out []value.Value, changed bool) {
	out = make([]value.Value, len(vs))
	for i, v := range vs {
		out[i] = p.apply(v)
		changed = changed || !value.Same(out[i], v)
	}
	return out, changed
}

// then is first p, then q.
func (p permutation) then(q permutation) permutation {
	seen := append([]value.Value(nil), p.from...)
	for _, x := range q.from {
		if !slices.ContainsFunc(seen, func(y value.Value) bool { return value.Equal(x, y) }) {
			seen = append(seen, x)
		}
	}
	var r permutation
	slices.SortFunc(seen, value.Compare)
	for _, x := range seen {
		if y := q.of(p.of(x)); !value.Equal(x, y) {
			r.from, r.to = append(r.from, x), append(r.to, y)
		}
	}
	return r
}

// text identifies a permutation.
func (p permutation) text() string {
	s := ""
	for i := range p.from {
		s += p.from[i].String() + ">" + p.to[i].String() + " "
	}
	return s
}

// permutationOf reads a permutation from a function on model values.
func permutationOf(f value.Value) (permutation, bool) {
	var p permutation
	f = f.Normal()
	if f.Kind() != value.KindFn {
		return p, f.Kind() == value.KindTuple && f.Len() == 0
	}
	keys, vals := f.Domain().Elems(), f.Values()
	for i := range keys {
		if keys[i].Kind() != value.KindModel || vals[i].Kind() != value.KindModel || !value.Contains(f.Domain(), vals[i]) {
			return p, false
		}
		if !value.Equal(keys[i], vals[i]) {
			p.from, p.to = append(p.from, keys[i]), append(p.to, vals[i])
		}
	}
	if len(value.SetOf(slices.Clone(vals)).Elems()) != len(vals) {
		return p, false
	}
	return p, true
}

// symmetry evaluates what SYMMETRY names and generates its group.
func (b *builder) symmetry() {
	if !b.cfg.Symmetry.IsSet() {
		return
	}
	d := b.lookup(b.cfg.Symmetry)
	if d == nil {
		return
	}
	bad := func(what string) {
		b.diags.Errorf(b.cfg.Symmetry.Span, BadSymmetry, "the symmetry %s %s; it must be a set of permutations of model values", b.cfg.Symmetry.Text, what)
	}
	set, err := b.m.Evaluate(&core.Call{At: core.At{Place: d.Span}, Def: d})
	if err != nil {
		b.diags.Add(source.Diagnostic{Code: BadSymmetry, Span: b.cfg.Symmetry.Span, Message: "the symmetry has no value: " + err.Error()})
		return
	}
	if set.Kind() != value.KindSet || !value.IsFinite(set) {
		bad("is not a finite set")
		return
	}
	var generators []permutation
	for _, f := range set.Elems() {
		p, ok := permutationOf(f)
		if !ok {
			bad("contains " + value.Brief(f))
			return
		}
		if len(p.from) > 0 {
			generators = append(generators, p)
		}
	}
	group, ok := closure(generators)
	if !ok {
		bad("generates too many permutations")
		return
	}
	b.m.symmetry = group
	if b.m.view == nil && !b.p.options.permute {
		b.m.orbits = newOrbits(group)
	}
	if len(b.m.info.Unchecked) > 0 {
		b.m.info.Warnings = append(b.m.info.Warnings, "symmetry must not be used when liveness is checked: properties of behaviours may be missed")
	}
}

// closure is the group that the generators generate, without the identity.
func closure(generators []permutation) ([]permutation, bool) {
	seen := map[string]bool{"": true}
	group := []permutation{{}}
	for i := 0; i < len(group); i++ {
		for _, g := range generators {
			p := group[i].then(g)
			if t := p.text(); !seen[t] {
				if len(group) >= SymmetriesMax {
					return nil, false
				}
				seen[t] = true
				group = append(group, p)
			}
		}
	}
	return group[1:], true
}

// keys computes what a state is identified by: the least encoding among the
// images of the state under the symmetry, or the view of that image.
type keys struct {
	m *Model
	// images[p][i] gives, for the value with number n of variable i, the number
	// of its image under permutation p, plus one; 0 where it is not known yet.
	images [][][]uint32
	best   []byte
	buf    []byte
	full   []byte
	vals   []value.Value
	sorter *sorter // nil where orbits are found by permutations only
}

func newKeys(m *Model) keys {
	k := keys{m: m, vals: make([]value.Value, len(m.program.spec.Variables))}
	k.images = make([][][]uint32, len(m.symmetry))
	for p := range k.images {
		k.images[p] = make([][]uint32, len(m.program.spec.Variables))
	}
	if m.orbits != nil {
		k.sorter = newSorter(m.orbits, len(k.vals))
	}
	return k
}

// Key is what identifies the candidate.
func (w *keyedWorker) Key() (check.State, error) { return w.keys.key(w.worker) }

// key is what identifies the candidate of a worker, which is encoded in its buf.
func (k *keys) key(w *worker) (check.State, error) {
	if k.sorter != nil {
		if name, ok := k.sorter.name(w.seen); ok {
			return name, nil
		}
	}
	k.best = append(k.best[:0], w.buf...)
	least := -1
	for p := range w.m.symmetry {
		k.image(p, w.buf, w.nxt.Vals)
		if bytes.Compare(k.buf, k.best) < 0 {
			k.best, k.buf = k.buf, k.best
			least = p
		}
	}
	if w.m.view == nil {
		if k.sorter != nil {
			// No name of a sorter ends so: numbers end below it.
			k.best = append(k.best, leastImage)
		}
		return k.best, nil
	}
	vals := w.nxt.Vals
	if least >= 0 {
		for i, v := range w.nxt.Vals {
			k.vals[i] = w.m.symmetry[least].apply(v)
		}
		vals = k.vals
	}
	view, err := w.viewOf(vector.Bare(vals))
	if err != nil {
		return nil, err
	}
	k.best = w.m.codec.Values.AppendTo(k.best[:0], view)
	return k.best, nil
}

// viewOf is the value of the view in a state.
func (w *worker) viewOf(state vector.Vector) (v value.Value, err error) {
	err = w.guard(w.m.view, state, vector.Vector{}, func() { v = w.ev.value(w.m.view, state, vector.Vector{}).Normal() })
	return v, err
}

// leastImage marks an encoding that is the least of a state's images.
const leastImage = 0xff

// image encodes the image of a state under permutation p into k.buf.
func (k *keys) image(p int, s []byte, vals []value.Value) {
	k.buf = k.buf[:0]
	at := 0
	for i, v := range vals {
		n, width := binary.Uvarint(s[at:])
		at += width
		if n == 0 {
			length, width := binary.Uvarint(s[at:])
			at += width + int(length)
			k.buf, _, k.full = k.m.codec.Append(k.buf, i, k.m.symmetry[p].apply(v), k.full)
			continue
		}
		table := k.images[p][i]
		if int(n) < len(table) && table[n] > 0 {
			k.buf = binary.AppendUvarint(k.buf, uint64(table[n]))
			continue
		}
		var image uint32
		k.buf, image, k.full = k.m.codec.Append(k.buf, i, k.m.symmetry[p].apply(v), k.full)
		if image > 0 {
			for len(table) <= int(n) {
				table = append(table, 0)
			}
			table[n] = image
			k.images[p][i] = table
		}
	}
}
