package sim

// Sector is the unit in which a disk keeps or loses what is written, in bytes.
const Sector = 512

const pageSize = 4096

// page is a piece of an image. Only the image whose token it has may change it.
type page struct {
	owner *token
	b     [pageSize]byte
}

type token struct{ _ byte }

// image is the content of a file. Images share the pages that were the same
// when one was cloned from the other; absent pages are zeros. What lies beyond
// size is zero.
type image struct {
	id    *token
	pages []*page
	size  int64
}

func (im *image) clone() image {
	im.id = new(token) // what was its own is shared from now on
	return image{id: new(token), pages: append([]*page(nil), im.pages...), size: im.size}
}

// at is the page with number i, to be changed.
func (im *image) at(i int64) *page {
	for int64(len(im.pages)) <= i {
		im.pages = append(im.pages, nil)
	}
	if im.id == nil {
		im.id = new(token)
	}
	p := im.pages[i]
	switch {
	case p == nil:
		p = &page{owner: im.id}
	case p.owner != im.id:
		p = &page{owner: im.id, b: p.b}
	default:
		return p
	}
	im.pages[i] = p
	return p
}

// put changes bytes without a look at the size.
func (im *image) put(b []byte, off int64) {
	for len(b) > 0 {
		k := copy(im.at(off / pageSize).b[off%pageSize:], b)
		b, off = b[k:], off+int64(k)
	}
}

// get reads bytes; where there are none, zeros.
func (im *image) get(b []byte, off int64) {
	for len(b) > 0 {
		k := min(len(b), int(pageSize-off%pageSize))
		if i := off / pageSize; i < int64(len(im.pages)) && im.pages[i] != nil {
			copy(b[:k], im.pages[i].b[off%pageSize:])
		} else {
			clear(b[:k])
		}
		b, off = b[k:], off+int64(k)
	}
}

// clear makes a range zero.
func (im *image) clear(from, to int64) {
	to = min(to, int64(len(im.pages))*pageSize)
	for from < to {
		k := min(to-from, pageSize-from%pageSize)
		if i := from / pageSize; im.pages[i] != nil {
			if k == pageSize {
				im.pages[i] = nil
			} else {
				clear(im.at(i).b[from%pageSize : from%pageSize+k])
			}
		}
		from += k
	}
}

// resize sets the size; what is cut off is gone.
func (im *image) resize(size int64) {
	if size < im.size {
		im.clear(size, int64(len(im.pages))*pageSize)
		im.pages = im.pages[:min(int64(len(im.pages)), (size+pageSize-1)/pageSize)]
	}
	im.size = size
}
