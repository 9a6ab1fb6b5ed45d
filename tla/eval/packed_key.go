package eval

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/check"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// packedKeyedWorker is a worker of a packed model with a view or a symmetry.
//
// Where the symmetry permutes the bits of packed states, a packed state is named
// by the least of its images, which are packed too. For a view, for other
// symmetries, and for states that have no packed form, the name is that of the
// values.
type packedKeyedWorker struct {
	*packedWorker
	keys          keys
	name          []byte
	best, scratch []uint64
}

var (
	_ check.KeyWorker = (*packedKeyedWorker)(nil)
	_ check.AllWorker = (*packedKeyedWorker)(nil)
)

// imagesMax bounds how many images of a state are made to name it.
const imagesMax = 120

// packImages finds what the symmetry does to packed states.
func (m *Model) packImages(p *packing) {
	if m.view != nil || len(m.symmetry) > imagesMax {
		return
	}
	var perms []func(value.Value) value.Value
	for _, s := range m.symmetry {
		perms = append(perms, s.apply)
	}
	p.images = p.layout.Images(perms)
}

func (m *Model) newPackedKeyedWorker() *packedKeyedWorker {
	w := m.newPackedWorker()
	return &packedKeyedWorker{packedWorker: w, keys: newKeys(m), best: make([]uint64, len(w.words)), scratch: make([]uint64, len(w.words))}
}

// Key is what identifies the candidate.
func (w *packedKeyedWorker) Key() (check.State, error) {
	if w.p.images != nil && w.nextPacked {
		w.p.images.Least(w.next, w.best, w.scratch)
		w.name = w.p.layout.AppendBytes(w.name[:0], w.best)
		return w.name, nil
	}
	if !w.nxLoaded {
		w.load(w.next, w.seen)
		w.nxLoaded = true
	}
	buf := w.buf[:0]
	for i, v := range w.seen.vals {
		if id := w.seen.ids[i]; id != 0 {
			buf = binary.AppendUvarint(buf, uint64(id))
			continue
		}
		buf, w.seen.ids[i], w.full = w.m.codec.appendValue(buf, i, v, w.full)
	}
	w.buf = buf
	key, err := w.keys.key(w.worker)
	if err != nil || w.p.images == nil {
		return key, err
	}
	// No packed state begins with 0.
	w.name = append(append(w.name[:0], 0), key...)
	return w.name, nil
}
