// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/symmetry"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// packedKeyedWorker is a worker of a packed model with a view or a symmetry.
//
// If the symmetry permutes the bits of packed states, the name of a packed state
// is the least of its images, which are packed too. If the value of a view can be
// packed, the name of a state is the packed view. Otherwise the name is computed
// from the values.
type packedKeyedWorker struct {
	*packedWorker
	keys          *symmetry.Keys
	name          []byte
	best, scratch []uint64
	view          []uint64 // nil where the value of the view is not packed
}

// Capabilities returns the features of the embedded worker, and keys.
func (w *packedKeyedWorker) Capabilities() check.Capabilities {
	can := w.packedWorker.Capabilities()
	can.Key = w.Key
	return can
}

// imagesMax bounds the images that are computed for the name of a state.
const imagesMax = 120

// packImages converts the symmetry to operations on packed states.
func (m *Model) packImages(p *packing) {
	if m.view != nil || len(m.symmetry) > imagesMax {
		return
	}
	var perms []func(value.Value) value.Value
	for _, s := range m.symmetry {
		perms = append(perms, s.Apply)
	}
	p.images = p.layout.Images(perms)
}

// packsView reports whether packed code computes the view that names states. It
// does not if there is also a symmetry, because the view would have to be that of
// an image.
func (m *Model) packsView() bool { return m.view != nil && len(m.symmetry) == 0 }

// views returns the values of the view in the sample's states, each once; none if
// the view has no value in one of them.
func (m *Model) views(w *worker, states []check.State) (out []value.Value) {
	seen := make(map[string]bool)
	for _, s := range states {
		m.codec.Decode(s, w.cur, w.ends)
		v, err := w.viewOf(w.cur)
		if err != nil {
			return nil
		}
		if text := v.String(); !seen[text] {
			seen[text] = true
			out = append(out, v)
		}
	}
	return out
}

func (m *Model) newPackedKeyedWorker() *packedKeyedWorker {
	w := m.newPackedWorker()
	out := &packedKeyedWorker{packedWorker: w, keys: m.newKeys(), best: make([]uint64, len(w.words)), scratch: make([]uint64, len(w.words))}
	if l := m.packed.code.ViewLayout(); l != nil {
		out.view = make([]uint64, l.Words())
	}
	return out
}

// Key is what identifies the candidate.
func (w *packedKeyedWorker) Key() (check.State, error) {
	if w.p.images != nil && w.nextPacked {
		w.p.images.Least(w.next, w.best, w.scratch)
		w.name = w.p.layout.AppendBytes(w.name[:0], w.best)
		return w.name, nil
	}
	if w.view != nil {
		return w.viewed()
	}
	w.p.meetOdd()
	if !w.nxLoaded {
		w.load(w.next, w.seen)
		w.nxLoaded = true
	}
	buf := w.buf[:0]
	for i, v := range w.seen.Vals {
		if id := w.seen.IDs[i]; id != 0 {
			buf = binary.AppendUvarint(buf, uint64(id))
			continue
		}
		buf, w.seen.IDs[i], w.full = w.m.codec.Append(buf, i, v, w.full)
	}
	w.buf = buf
	key, err := w.key(w.keys)
	if err != nil || w.p.images == nil {
		return key, err
	}
	// The first byte of a packed state is never 0.
	w.name = append(append(w.name[:0], 0), key...)
	return w.name, nil
}

// viewed returns the name of the candidate by its view: the packed value, or a
// 0, with which no packed value begins, followed by the value.
func (w *packedKeyedWorker) viewed() (check.State, error) {
	l := w.p.code.ViewLayout()
	if w.nextPacked && w.machine.View(w.next, w.view) {
		w.name = l.AppendBytes(w.name[:0], w.view)
		return w.name, nil
	}
	w.p.meetOdd()
	if !w.nxLoaded {
		w.load(w.next, w.seen)
		w.nxLoaded = true
	}
	v, err := w.viewOf(w.seen)
	if err != nil {
		return nil, err
	}
	if l.Encode(w.view, []value.Value{v}) {
		w.name = l.AppendBytes(w.name[:0], w.view)
	} else {
		w.name = w.m.codec.Values.AppendTo(append(w.name[:0], 0), v)
	}
	return w.name, nil
}
