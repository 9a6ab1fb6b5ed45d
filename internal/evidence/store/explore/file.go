// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/ashlar-dev/ashlar/env"
)

// file is an open file of a Disk.
type file struct {
	disk   *Disk
	i      *inode
	name   string
	closed bool
	direct bool
}

var _ env.SpaceFile = (*file)(nil)

func (f *file) check(op string, off, n int64) error {
	switch {
	case f.disk.dead != nil:
		return pathErr(op, f.name, f.disk.dead)
	case f.closed:
		return pathErr(op, f.name, fs.ErrClosed)
	case off < 0:
		return pathErr(op, f.name, errNegative)
	case f.direct && (off%env.DirectUnit != 0 || n%env.DirectUnit != 0):
		return pathErr(op, f.name, errAlign)
	}
	return nil
}

// ReadAt implements env.File.
func (f *file) ReadAt(b []byte, off int64) (int, error) {
	if err := f.check("read", off, int64(len(b))); err != nil {
		return 0, err
	}
	if err := f.disk.damage(f, b, off); err != nil {
		return 0, err
	}
	n := min(int64(len(b)), max(f.i.now.size-off, 0))
	f.i.now.read(b[:n], off)
	if n < int64(len(b)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// WriteAt implements env.File.
func (f *file) WriteAt(b []byte, off int64) (int, error) {
	if err := f.check("write", off, int64(len(b))); err != nil {
		return 0, err
	}
	if len(b) == 0 {
		return 0, nil
	}
	d, want, err := f.disk, len(b), error(nil)
	if end := off + int64(len(b)); end > f.i.now.size && !d.mayGrow() {
		b, err = b[:max(f.i.now.size-off, 0)], pathErr("write", f.name, errFull)
	} else if d.fault.strikes(WriteError, d.writes) {
		b, err = b[:len(b)/2/Sector*Sector], pathErr("write", f.name, errStruck)
		d.fault.Where = fmt.Sprintf("write %s [%d,%d)", f.name, off, off+int64(want))
	}
	d.writes++
	if len(b) > 0 {
		d.mutate(fmt.Sprintf("write %s [%d,%d)", f.name, off, off+int64(want)), func() { f.put(b, off) })
	}
	return len(b), err
}

func (f *file) put(b []byte, off int64) {
	d, i := f.disk, f.i
	u := &unit{what: fmt.Sprintf("write %s [%d,%d)", f.name, off, off+int64(len(b))), file: i}
	end := off + int64(len(b))
	for from := off; from < end; {
		at := from / pageSize
		to := min(end, (at+1)*pageSize)
		old := i.now.at(at)
		p := &page{prev: old, born: d.epoch}
		if old != nil && to-from < pageSize {
			p.b = old.b
		}
		copy(p.b[from%pageSize:], b[from-off:to-off])
		if isZero(&p.b) {
			p = nil
		}
		first, last := (from-at*pageSize)/Sector, (to-1-at*pageSize)/Sector
		mask := uint8(allOfIt) << first & (allOfIt >> (sectors - 1 - last))
		i.now.set(at, p)
		u.patches = append(u.patches, patch{at: at, p: p, mask: mask})
		from = to
	}
	d.units = append(d.units, u)
	if end > i.now.size {
		f.resize(end)
	}
}

// resize changes the size; the change is a unit of its own.
func (f *file) resize(size int64) {
	f.i.now.size = size
	f.disk.units = append(f.disk.units, &unit{
		what: fmt.Sprintf("size of %s: %d", f.name, size), file: f.i, resize: true, size: size,
	})
}

// Append implements env.File.
func (f *file) Append(b []byte) error {
	_, err := f.WriteAt(b, f.i.now.size)
	return err
}

// Size implements env.File.
func (f *file) Size() (int64, error) { return f.i.now.size, f.check("stat", 0, 0) }

// Truncate implements env.File. After a crash the removed part may be back.
func (f *file) Truncate(size int64) error {
	if err := f.check("truncate", size, 0); err != nil {
		return err
	}
	d, i := f.disk, f.i
	switch {
	case size == i.now.size:
		return nil
	case size > i.now.size && !d.mayGrow():
		return pathErr("truncate", f.name, errFull)
	}
	d.mutate(fmt.Sprintf("truncate %s %d", f.name, size), func() {
		f.zero(size, (i.now.size+pageSize-1)/pageSize*pageSize)
		f.resize(size)
	})
	return nil
}

// zero makes a range zero, as a unit of content.
func (f *file) zero(from, to int64) {
	u := &unit{what: fmt.Sprintf("zeros in %s [%d,%d)", f.name, from, to), file: f.i}
	for ; from < to; from = (from/pageSize + 1) * pageSize {
		at := from / pageSize
		old := f.i.now.at(at)
		if old == nil {
			continue
		}
		end := min(to-at*pageSize, pageSize)
		p := &page{b: old.b, prev: old, born: f.disk.epoch}
		clear(p.b[from%pageSize : end])
		if isZero(&p.b) {
			p = nil
		}
		first, last := (from%pageSize)/Sector, (end-1)/Sector
		f.i.now.set(at, p)
		u.patches = append(u.patches, patch{at: at, p: p, mask: uint8(allOfIt) << first & (allOfIt >> (sectors - 1 - last))})
	}
	if len(u.patches) > 0 {
		f.disk.units = append(f.disk.units, u)
	}
}

// Allocate implements env.SpaceFile.
func (f *file) Allocate(off, n int64) error {
	if err := f.check("allocate", off, 0); err != nil {
		return err
	}
	switch {
	case off+n <= f.i.now.size:
		return nil
	case !f.disk.mayGrow():
		return pathErr("allocate", f.name, errFull)
	}
	f.disk.mutate(fmt.Sprintf("allocate %s [%d,%d)", f.name, off, off+n), func() { f.resize(off + n) })
	return nil
}

// Discard implements env.SpaceFile: whole pages read as zeros at once, but a crash before
// the next Sync may bring their old content back.
func (f *file) Discard(off, n int64) error {
	if err := f.check("discard", off, 0); err != nil {
		return err
	}
	from, to := (off+pageSize-1)/pageSize*pageSize, min(off+n, f.i.now.size)/pageSize*pageSize
	if from < to {
		f.disk.mutate(fmt.Sprintf("discard %s [%d,%d)", f.name, off, off+n), func() { f.zero(from, to) })
	}
	return nil
}

// Sync implements env.File.
func (f *file) Sync() error {
	if err := f.check("sync", 0, 0); err != nil {
		return err
	}
	return f.disk.sync("sync "+f.name, f.name, func(u *unit) bool { return u.file == f.i && u.name == nil })
}

// Close implements env.File.
func (f *file) Close() error {
	if f.closed {
		return pathErr("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	f.disk.handles--
	return nil
}
