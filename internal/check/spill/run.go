// SPDX-License-Identifier: Apache-2.0

package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sort"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// ErrCorrupt is wrapped by errors about a file whose contents differ from what
// the search wrote.
var ErrCorrupt = errors.New("the file is damaged")

// A run is a file of fingerprints in ascending order, in pages:
//
//	4 bytes  checksum of the rest of the page
//	4 bytes  how many fingerprints
//	8 bytes  each of them; the rest is 0
//
// The first of each page is kept in memory, so a lookup reads one page, and a
// lookup of many reads each page once, neighbours together.
const (
	pageBytes = 4096
	pageHead  = 8
	pageMax   = (pageBytes - pageHead) / 8
	// extentPages is the number of pages that are read or written at once.
	extentPages = 64
)

// Run is a sorted file of fingerprints. Lookups are safe for concurrent use.
type Run struct {
	name  string
	file  env.File
	first []uint64 // by page
	n     int64
	last  uint64
	sum   uint32
}

// Writer makes a run.
type Writer struct {
	r   *Run
	buf []byte // an extent
	n   int    // fingerprints in the page
	at  int64
}

// NewWriter begins a run in a new file.
func NewWriter(disk env.Disk, name string) (*Writer, error) {
	f, err := disk.Open(name, true)
	if err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &Writer{r: &Run{name: name, file: f}, buf: make([]byte, 0, extentPages*pageBytes)}, nil
}

// Add writes a fingerprint, which is greater than the one before.
func (w *Writer) Add(fp uint64) error {
	invariant.Check(w.r.n == 0 || fp > w.r.last, "%s: %x follows %x", w.r.name, fp, w.r.last)
	if w.n == pageMax {
		w.finishPage()
		if len(w.buf) == cap(w.buf) {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	if w.n == 0 {
		w.buf = append(w.buf, make([]byte, pageHead)...)
		w.r.first = append(w.r.first, fp)
	}
	w.buf = binary.LittleEndian.AppendUint64(w.buf, fp)
	w.n++
	w.r.n++
	w.r.last = fp
	return nil
}

func (w *Writer) finishPage() {
	from := len(w.buf) - pageHead - 8*w.n
	w.buf = append(w.buf, make([]byte, from+pageBytes-len(w.buf))...)
	page := w.buf[from:]
	binary.LittleEndian.PutUint32(page[4:], uint32(w.n))
	binary.LittleEndian.PutUint32(page, checksum(page[4:]))
	w.r.addPage(page)
	w.n = 0
}

func (w *Writer) flush() error {
	if err := writeAll(w.r.file, w.buf, w.at); err != nil {
		return fmt.Errorf("write %s: %w", w.r.name, err)
	}
	w.at += int64(len(w.buf))
	w.buf = w.buf[:0]
	return nil
}

// Close writes the rest and returns the run.
func (w *Writer) Close() (*Run, error) {
	if w.n > 0 {
		w.finishPage()
	}
	if err := w.flush(); err != nil {
		w.r.file.Close()
		return nil, err
	}
	return w.r, nil
}

// addPage adds a page to the checksum of the run.
func (r *Run) addPage(page []byte) { r.sum = crc32.Update(r.sum, castagnoli, page[:4]) }

// Abandon closes the file of a run that will not be finished.
func (w *Writer) Abandon() { w.r.file.Close() }

// OpenRun opens a closed run that must have n fingerprints and the given
// checksum, and compares every page with its own checksum.
func OpenRun(disk env.Disk, name string, n int64, sum uint32) (*Run, error) {
	f, err := disk.Open(name, false)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	r := &Run{name: name, file: f, n: n}
	pages := (n + pageMax - 1) / pageMax
	size, err := f.Size()
	if err != nil || n < 0 || size != pages*pageBytes {
		f.Close()
		if err == nil {
			err = fmt.Errorf("%d bytes, want %d: %w", size, pages*pageBytes, ErrCorrupt)
		}
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	r.first = make([]uint64, pages)
	count := int64(0)
	err = r.each(func(page int, raw []byte, fps []uint64) error {
		r.addPage(raw)
		for i, fp := range fps {
			if (page > 0 || i > 0) && fp <= r.last {
				return fmt.Errorf("open %s: %x follows %x: %w", name, fp, r.last, ErrCorrupt)
			}
			r.last = fp
		}
		r.first[page] = fps[0]
		count += int64(len(fps))
		return nil
	})
	if err == nil && count != n {
		err = fmt.Errorf("open %s: %d fingerprints, want %d: %w", name, count, n, ErrCorrupt)
	}
	if err == nil && r.sum != sum {
		err = fmt.Errorf("open %s: the checksum %08x, want %08x: %w", name, r.sum, sum, ErrCorrupt)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// Name is the name of the file.
func (r *Run) Name() string { return r.name }

// Len is the number of fingerprints.
func (r *Run) Len() int64 { return r.n }

// Sum is the checksum of the whole run. It distinguishes runs of equal length.
func (r *Run) Sum() uint32 { return r.sum }

// Bytes is the size of the file, and Held that of the part in memory.
func (r *Run) Bytes() int64 { return int64(len(r.first)) * pageBytes }

// Held is the number of bytes of memory that the run takes.
func (r *Run) Held() int64 { return int64(cap(r.first)) * 8 }

// Sync makes the run durable.
func (r *Run) Sync() error {
	if err := r.file.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", r.name, err)
	}
	return nil
}

// Close closes the file.
func (r *Run) Close() error { return r.file.Close() }

// read reads pages from to to into buf and returns them.
func (r *Run) read(buf []byte, from, to int) ([]byte, error) {
	buf = append(buf[:0], make([]byte, (to-from)*pageBytes)...)
	if _, err := r.file.ReadAt(buf, int64(from)*pageBytes); err != nil {
		return nil, fmt.Errorf("read %s: %w", r.name, err)
	}
	for i := from; i < to; i++ {
		page := buf[(i-from)*pageBytes:][:pageBytes]
		sum, n := binary.LittleEndian.Uint32(page), binary.LittleEndian.Uint32(page[4:])
		if sum != checksum(page[4:]) || n == 0 || n > pageMax {
			return nil, fmt.Errorf("%s: page %d has the checksum %08x, want %08x: %w", r.name, i, checksum(page[4:]), sum, ErrCorrupt)
		}
	}
	return buf, nil
}

// decode appends the fingerprints of a page.
func decode(dst []uint64, page []byte) []uint64 {
	n := int(binary.LittleEndian.Uint32(page[4:]))
	for i := range n {
		dst = append(dst, binary.LittleEndian.Uint64(page[pageHead+8*i:]))
	}
	return dst
}

// each calls visit with the bytes and the fingerprints of every page, in order.
func (r *Run) each(visit func(page int, raw []byte, fps []uint64) error) error {
	var buf []byte
	fps := make([]uint64, 0, pageMax)
	for from := 0; from < len(r.first); from += extentPages {
		to := min(len(r.first), from+extentPages)
		var err error
		if buf, err = r.read(buf, from, to); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			raw := buf[(i-from)*pageBytes:][:pageBytes]
			fps = decode(fps[:0], raw)
			if err := visit(i, raw, fps); err != nil {
				return err
			}
		}
	}
	return nil
}

// Each calls visit with every fingerprint in ascending order.
func (r *Run) Each(visit func(fp uint64) error) error {
	return r.each(func(_ int, _ []byte, fps []uint64) error {
		for _, fp := range fps {
			if err := visit(fp); err != nil {
				return err
			}
		}
		return nil
	})
}

// page is the only page that fp can be on, or -1.
func (r *Run) page(fp uint64) int {
	return sort.Search(len(r.first), func(i int) bool { return r.first[i] > fp }) - 1
}

// Has reports whether a fingerprint is in the run.
func (r *Run) Has(fp uint64) (bool, error) {
	found := false
	err := r.Find([]uint64{fp}, func(uint64) { found = true })
	return found, err
}

// Find calls hit with each of the fingerprints that is in the run. The
// fingerprints must be in ascending order.
func (r *Run) Find(fps []uint64, hit func(fp uint64)) error {
	var buf []byte
	for len(fps) > 0 {
		page := r.page(fps[0])
		if page < 0 {
			fps = fps[1:]
			continue
		}
		// Adjacent pages are read together as long as all are needed.
		to, k := page+1, 1
		for k < len(fps) && to-page < extentPages {
			p := r.page(fps[k])
			if p >= to+1 {
				break
			}
			to = max(to, p+1)
			// The others on this page need no further read.
			k += sort.Search(len(fps)-k, func(i int) bool { return to < len(r.first) && fps[k+i] >= r.first[to] })
		}
		var err error
		if buf, err = r.read(buf, page, to); err != nil {
			return err
		}
		fps = fps[r.match(buf, page, to, fps, hit):]
	}
	return nil
}

// match finds the fingerprints fps in pages from to to and returns how many of
// fps it has handled.
func (r *Run) match(buf []byte, from, to int, fps []uint64, hit func(fp uint64)) int {
	done := 0
	for p := from; p < to; p++ {
		page := buf[(p-from)*pageBytes:][:pageBytes]
		n := int(binary.LittleEndian.Uint32(page[4:]))
		at := func(i int) uint64 { return binary.LittleEndian.Uint64(page[pageHead+8*i:]) }
		i := 0
		for done < len(fps) && (p+1 == len(r.first) || fps[done] < r.first[p+1]) {
			fp := fps[done]
			i += sort.Search(n-i, func(k int) bool { return at(i+k) >= fp })
			if i < n && at(i) == fp {
				hit(fp)
			}
			done++
		}
	}
	return done
}

// Merge writes the fingerprints of two runs into a new one; it is an error if
// they have a fingerprint in common. The old runs stay.
func Merge(disk env.Disk, name string, a, b *Run) (*Run, error) {
	w, err := NewWriter(disk, name)
	if err != nil {
		return nil, err
	}
	from, to := &cursor{r: a}, &cursor{r: b}
	for {
		x, okA, errA := from.peek()
		y, okB, errB := to.peek()
		if err := errors.Join(errA, errB); err != nil {
			w.Abandon()
			return nil, err
		}
		switch {
		case !okA && !okB:
			return w.Close()
		case okA && okB && x == y:
			w.Abandon()
			return nil, fmt.Errorf("merge %s and %s: %x is in both: %w", a.name, b.name, x, ErrCorrupt)
		case okA && (!okB || x < y):
			from.next()
		default:
			x = y
			to.next()
		}
		if err := w.Add(x); err != nil {
			w.Abandon()
			return nil, err
		}
	}
}

// cursor reads a run from its front.
type cursor struct {
	r    *Run
	page int // the first that was not read
	buf  []byte
	fps  []uint64
	at   int
}

func (c *cursor) next() { c.at++ }

// peek is the next fingerprint, if there is one.
func (c *cursor) peek() (fp uint64, ok bool, err error) {
	if c.at < len(c.fps) {
		return c.fps[c.at], true, nil
	}
	if c.page == len(c.r.first) {
		return 0, false, nil
	}
	to := min(len(c.r.first), c.page+extentPages)
	if c.buf, err = c.r.read(c.buf, c.page, to); err != nil {
		return 0, false, err
	}
	c.fps, c.at = c.fps[:0], 0
	for i := range to - c.page {
		c.fps = decode(c.fps, c.buf[i*pageBytes:][:pageBytes])
	}
	c.page = to
	return c.fps[0], true, nil
}
