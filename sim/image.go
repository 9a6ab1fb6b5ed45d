// SPDX-License-Identifier: Apache-2.0

package sim

// Sector is the unit in which a disk keeps or loses written data, in bytes.
const Sector = 512

const (
	chunkSectors = 128
	chunkSize    = chunkSectors * Sector
)

// chunk is a run of neighbouring sectors. A sector is never changed in place,
// only replaced; an absent one is zero. Only the image that owns the chunk's
// token may change the chunk.
type chunk struct {
	owner   *token
	sectors [chunkSectors]*[Sector]byte
}

type token struct{ _ byte }

// image is the content of a file. An image and its clone share everything that
// neither has changed since, and share whole sectors with the write that
// brought them: a clone costs nothing, and a change costs its own size. Absent
// chunks, and bytes beyond size, are zero.
type image struct {
	id     *token // nil: owns nothing
	top    []*chunk
	shared bool // top is another's too
	size   int64
}

func (im *image) clone() image {
	im.id, im.shared = nil, true // what it owned is shared from now on
	return *im
}

// own makes the image the owner of its list of chunks, with at least n entries.
func (im *image) own(n int64) {
	if im.id == nil {
		im.id = new(token)
	}
	if im.shared {
		im.top, im.shared = append(make([]*chunk, 0, max(n, int64(len(im.top)))), im.top...), false
	}
	for int64(len(im.top)) < n {
		im.top = append(im.top, nil)
	}
}

// chunk returns chunk number i for changing.
func (im *image) chunk(i int64) *chunk {
	im.own(i + 1)
	c := im.top[i]
	switch {
	case c == nil:
		c = &chunk{owner: im.id}
	case c.owner != im.id:
		c = &chunk{owner: im.id, sectors: c.sectors}
	default:
		return c
	}
	im.top[i] = c
	return c
}

// sector returns sector number i, nil for zeros.
func (im *image) sector(i int64) *[Sector]byte {
	if c := i / chunkSectors; c < int64(len(im.top)) && im.top[c] != nil {
		return im.top[c].sectors[i%chunkSectors]
	}
	return nil
}

// put stores bytes regardless of the size. It retains b, which must never
// change again.
func (im *image) put(b []byte, off int64) {
	for len(b) > 0 {
		i := off / Sector
		at := &im.chunk(i / chunkSectors).sectors[i%chunkSectors]
		if off%Sector == 0 && len(b) >= Sector {
			*at = (*[Sector]byte)(b)
			b, off = b[Sector:], off+Sector
			continue
		}
		next := new([Sector]byte)
		if *at != nil {
			*next = **at
		}
		*at = next
		k := copy(next[off%Sector:], b)
		b, off = b[k:], off+int64(k)
	}
}

// get reads bytes; absent ones are zero.
func (im *image) get(b []byte, off int64) {
	for len(b) > 0 {
		k := min(len(b), int(Sector-off%Sector))
		if s := im.sector(off / Sector); s != nil {
			copy(b[:k], s[off%Sector:])
		} else {
			clear(b[:k])
		}
		b, off = b[k:], off+int64(k)
	}
}

// clear makes a range zero.
func (im *image) clear(from, to int64) {
	to = min(to, int64(len(im.top))*chunkSize)
	for from < to {
		c := from / chunkSize
		end := min(to, (c+1)*chunkSize)
		switch {
		case im.top[c] == nil:
		case end-from == chunkSize:
			im.own(0)
			im.top[c] = nil
		default:
			im.clearSectors(from, end)
		}
		from = end
	}
}

// clearSectors zeroes a range within an existing chunk.
func (im *image) clearSectors(from, to int64) {
	for from < to {
		k := min(to-from, Sector-from%Sector)
		switch i := from / Sector; {
		case im.sector(i) == nil:
		case k == Sector:
			im.chunk(i / chunkSectors).sectors[i%chunkSectors] = nil
		default:
			im.put(make([]byte, k), from)
		}
		from += k
	}
}

// resize sets the size; bytes that are cut off are lost.
func (im *image) resize(size int64) {
	if size < im.size {
		im.clear(size, 1<<62)
		im.top = im.top[:min(int64(len(im.top)), (size+chunkSize-1)/chunkSize)]
	}
	im.size = size
}
