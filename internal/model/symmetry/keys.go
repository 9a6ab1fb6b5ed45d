// SPDX-License-Identifier: Apache-2.0

package symmetry

import (
	"bytes"
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Keys names the orbits of states for one worker. A name is computed by the sorter
// if possible; otherwise it is the least encoding among the images of the state.
type Keys struct {
	codec *vector.Codec
	group []Permutation
	// images[p][i] maps the number n of a value of variable i to the number,
	// plus one, of its image under permutation p; 0 if that is not known yet.
	images [][][]uint32
	best   []byte
	buf    []byte
	full   []byte
	vals   []value.Value
	sorter *sorter // nil where orbits are found by permutations only
}

// NewKeys returns a Keys for states that codec encodes, under a group. If orbits is
// nil, Keys tries all permutations.
func NewKeys(codec *vector.Codec, group []Permutation, orbits *Orbits) *Keys {
	variables := len(codec.Vars)
	k := &Keys{codec: codec, group: group, vals: make([]value.Value, variables)}
	k.images = make([][][]uint32, len(group))
	for p := range k.images {
		k.images[p] = make([][]uint32, variables)
	}
	if orbits != nil {
		k.sorter = newSorter(orbits, variables)
	}
	return k
}

// Name returns the name of the orbit of a state that is given with its encoding. It is
// valid until the next call.
func (k *Keys) Name(state vector.Vector, encoded []byte) []byte {
	if k.sorter != nil {
		if name, ok := k.sorter.name(state); ok {
			return name
		}
	}
	k.least(state, encoded)
	if k.sorter != nil {
		// The mark differs from the end of a sorter's names, because numbers
		// end in a smaller byte.
		k.best = append(k.best, leastImage)
	}
	return k.best
}

// Least returns the values of the state with the least encoding in the orbit of a
// state. They are valid until the next call.
func (k *Keys) Least(state vector.Vector, encoded []byte) []value.Value {
	least := k.least(state, encoded)
	if least < 0 {
		return state.Vals
	}
	for i, v := range state.Vals {
		k.vals[i] = k.group[least].Apply(v)
	}
	return k.vals
}

// least returns the permutation with the least encoding, or -1 for the identity, and
// stores that encoding in best.
func (k *Keys) least(state vector.Vector, encoded []byte) int {
	k.best = append(k.best[:0], encoded...)
	least := -1
	for p := range k.group {
		k.image(p, encoded, state.Vals)
		if bytes.Compare(k.buf, k.best) < 0 {
			k.best, k.buf = k.buf, k.best
			least = p
		}
	}
	return least
}

// leastImage marks a name that is the least encoding of a state's images.
const leastImage = 0xff

// image encodes the image of a state under permutation p into k.buf.
func (k *Keys) image(p int, s []byte, vals []value.Value) {
	k.buf = k.buf[:0]
	at := 0
	for i, v := range vals {
		n, width := binary.Uvarint(s[at:])
		at += width
		if n == 0 {
			length, width := binary.Uvarint(s[at:])
			at += width + int(length)
			k.buf, _, k.full = k.codec.Append(k.buf, i, k.group[p].Apply(v), k.full)
			continue
		}
		table := k.images[p][i]
		if int(n) < len(table) && table[n] > 0 {
			k.buf = binary.AppendUvarint(k.buf, uint64(table[n]))
			continue
		}
		var image uint32
		k.buf, image, k.full = k.codec.Append(k.buf, i, k.group[p].Apply(v), k.full)
		if image > 0 {
			for len(table) <= int(n) {
				table = append(table, 0)
			}
			table[n] = image
			k.images[p][i] = table
		}
	}
}
