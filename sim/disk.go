// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"
	"syscall"

	"github.com/ashlar-dev/ashlar/env"
)

// Disk is a disk in memory that models what a crash may do to it. By itself it
// fulfils the contract of env.Disk and does no more: it has no faults, takes no
// time, and crashes only when Crash is called. In a World it is the disk of a
// node and subject to faults. It is for one goroutine.
//
// A file has two images: the one that reads see, and the durable one. The
// operations since the last Sync are kept in order, with their bytes. A crash
// decides for each sector, and for the size of the file, how many of the
// operations on it, in order, have reached the disk. Names are treated alike:
// the creations, removals and renames since the last SyncDir form a list of
// which a crash keeps any part; a rename is kept whole or not at all. A file is
// durable only by its content: it is lost if its name is.
type Disk struct {
	root     *inode
	inodes   uint64
	ops      uint64   // counts operations that change something
	names    []nameOp // that are not durable
	dirty    []*inode // files with something that is not durable
	capacity int64    // bytes; 0: no bound
	used     int64
	crashes  int
}

var _ env.Disk = (*Disk)(nil)

// inode is a file or a directory.
type inode struct {
	id uint64
	// of a directory
	entries, durable map[string]*inode
	// of a file
	now, safe image
	pending   []dataOp // may be a clone's too, and is only appended to
	listed    bool     // in Disk.dirty
	lock      *lock    // nil: free
}

func (i *inode) dir() bool { return i.entries != nil }

// dataOp is a write (b at off), or what makes zero: a truncation, a discard.
type dataOp struct {
	n        uint64
	off, end int64  // what it touches
	b        []byte // never changed
	zero     bool
	size     int64 // of the file after it
}

// nameOp records that a name now leads to an inode (nil: to nothing) and, in a
// rename, that the old name no longer does.
type nameOp struct {
	n       uint64
	dir     *inode
	name    string
	to      *inode
	from    *inode // of a rename: the directory of the old name
	old     string
	removed *inode // what name led to
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	d := &Disk{}
	d.root = d.inode(true)
	return d
}

func (d *Disk) inode(dir bool) *inode {
	d.inodes++
	i := &inode{id: d.inodes}
	if dir {
		i.entries, i.durable = map[string]*inode{}, map[string]*inode{}
	}
	return i
}

func fault(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// walk returns the directory of a name and the last part of the name.
func (d *Disk) walk(op, name string) (*inode, string, error) {
	clean := path.Clean(name)
	if name == "" || path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") {
		return nil, "", fault(op, name, fs.ErrInvalid)
	}
	at := d.root
	for {
		first, rest, more := strings.Cut(clean, "/")
		if !more {
			return at, first, nil
		}
		next := at.entries[first]
		if next == nil {
			return nil, "", fault(op, name, fs.ErrNotExist)
		}
		if !next.dir() {
			return nil, "", fault(op, name, syscall.ENOTDIR)
		}
		at, clean = next, rest
	}
}

// find returns what a name leads to, nil if it leads nowhere.
func (d *Disk) find(op, name string) (*inode, error) {
	dir, last, err := d.walk(op, name)
	if err != nil {
		return nil, err
	}
	if last == "." {
		return dir, nil
	}
	return dir.entries[last], nil
}

func (d *Disk) op() uint64 {
	d.ops++
	return d.ops
}

// Ops is the number of the last operation that changed something.
func (d *Disk) Ops() uint64 { return d.ops }

// Open implements env.Disk.
func (d *Disk) Open(name string, create bool) (env.File, error) {
	f, err := d.open(name, create)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d *Disk) open(name string, create bool) (*file, error) {
	dir, last, err := d.walk("open", name)
	if err != nil {
		return nil, err
	}
	i := dir.entries[last]
	switch {
	case last == "." || i != nil && i.dir():
		return nil, fault("open", name, syscall.EISDIR)
	case i == nil && !create:
		return nil, fault("open", name, fs.ErrNotExist)
	case i == nil:
		i = d.inode(false)
		d.rename(nameOp{dir: dir, name: last, to: i})
	}
	return &file{disk: d, i: i, name: name, crashes: d.crashes}, nil
}

// rename performs and records a change of names.
func (d *Disk) rename(o nameOp) {
	o.n = d.op()
	o.removed = o.dir.entries[o.name]
	if o.removed != nil && !o.removed.dir() && o.removed != o.to {
		d.used -= o.removed.now.size
	}
	apply(&o, func(i *inode) map[string]*inode { return i.entries })
	d.names = append(d.names, o)
}

// apply changes the entries that in returns for a directory.
func apply(o *nameOp, in func(*inode) map[string]*inode) {
	if o.from != nil && in(o.from)[o.old] == o.to {
		delete(in(o.from), o.old)
	}
	if o.to != nil {
		in(o.dir)[o.name] = o.to
	} else if in(o.dir)[o.name] == o.removed {
		delete(in(o.dir), o.name)
	}
}

func durable(i *inode) map[string]*inode { return i.durable }

// Rename implements env.Disk.
func (d *Disk) Rename(old, new string) error {
	from, oldLast, err := d.walk("rename", old)
	if err != nil {
		return err
	}
	to, newLast, err := d.walk("rename", new)
	if err != nil {
		return err
	}
	i, over := from.entries[oldLast], to.entries[newLast]
	switch {
	case i == nil:
		return fault("rename", old, fs.ErrNotExist)
	case newLast == "." || over != nil && (over.dir() || i.dir()):
		return fault("rename", new, fs.ErrExist)
	case i == over:
		return nil
	case i.dir() && strings.HasPrefix(path.Clean(new)+"/", path.Clean(old)+"/"):
		return fault("rename", new, fs.ErrInvalid)
	}
	d.rename(nameOp{dir: to, name: newLast, to: i, from: from, old: oldLast})
	return nil
}

// Remove implements env.Disk.
func (d *Disk) Remove(name string) error {
	dir, last, err := d.walk("remove", name)
	if err != nil {
		return err
	}
	i := dir.entries[last]
	switch {
	case last == ".":
		return fault("remove", name, fs.ErrInvalid)
	case i == nil:
		return fault("remove", name, fs.ErrNotExist)
	case len(i.entries) > 0:
		return fault("remove", name, syscall.ENOTEMPTY)
	}
	d.rename(nameOp{dir: dir, name: last})
	return nil
}

// MakeDir implements env.Disk.
func (d *Disk) MakeDir(name string) error {
	parts := strings.Split(path.Clean(name), "/")
	for k := range parts {
		dir, last, err := d.walk("mkdir", strings.Join(parts[:k+1], "/"))
		if err != nil {
			return err
		}
		if last == "." {
			continue
		}
		switch i := dir.entries[last]; {
		case i == nil:
			d.rename(nameOp{dir: dir, name: last, to: d.inode(true)})
		case !i.dir():
			return fault("mkdir", name, syscall.ENOTDIR)
		}
	}
	return nil
}

// List implements env.Disk.
func (d *Disk) List(name string) ([]string, error) {
	i, err := d.dirOf("list", name)
	if err != nil {
		return nil, err
	}
	return sortedNames(i.entries), nil
}

func sortedNames(m map[string]*inode) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

func (d *Disk) dirOf(op, name string) (*inode, error) {
	i, err := d.find(op, name)
	switch {
	case err != nil:
		return nil, err
	case i == nil:
		return nil, fault(op, name, fs.ErrNotExist)
	case !i.dir():
		return nil, fault(op, name, syscall.ENOTDIR)
	}
	return i, nil
}

// SyncDir implements env.Disk.
func (d *Disk) SyncDir(name string) error {
	i, err := d.dirOf("sync", name)
	if err != nil {
		return err
	}
	rest := d.names[:0]
	for k := range d.names {
		if o := &d.names[k]; o.dir == i || o.from == i {
			apply(o, durable)
		} else {
			rest = append(rest, *o)
		}
	}
	clear(d.names[len(rest):])
	d.names = rest
	return nil
}

// file is an open file.
type file struct {
	disk    *Disk
	i       *inode
	name    string
	closed  bool
	direct  bool
	crashes int // of the disk, when the file was opened
}

var errNegative = errors.New("negative offset")

func (f *file) check(op string, off int64) error {
	switch {
	case f.closed || f.crashes != f.disk.crashes:
		return fault(op, f.name, fs.ErrClosed)
	case off < 0:
		return fault(op, f.name, errNegative)
	}
	return nil
}

// ReadAt implements env.File.
func (f *file) ReadAt(b []byte, off int64) (int, error) {
	if err := f.check("read", off); err != nil {
		return 0, err
	}
	f.fits("read", b, off)
	n := min(int64(len(b)), max(f.i.now.size-off, 0))
	f.i.now.get(b[:n], off)
	if n < int64(len(b)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// WriteAt implements env.File.
func (f *file) WriteAt(b []byte, off int64) (int, error) {
	f.fits("write", b, off)
	return f.write(b, off)
}

func (f *file) write(b []byte, off int64) (int, error) {
	if err := f.check("write", off); err != nil {
		return 0, err
	}
	if len(b) == 0 {
		return 0, nil
	}
	d, i := f.disk, f.i
	all := len(b)
	if grow := off + int64(len(b)) - i.now.size; d.capacity > 0 && grow > 0 && d.used+grow > d.capacity {
		b = b[:max(int64(len(b))-(d.used+grow-d.capacity), 0)]
	}
	if len(b) > 0 {
		end := off + int64(len(b))
		b := append([]byte(nil), b...)
		i.now.put(b, off)
		d.used += max(end-i.now.size, 0)
		i.now.size = max(i.now.size, end)
		d.pend(i, dataOp{off: off, end: end, b: b, size: i.now.size})
	}
	if len(b) < all {
		return len(b), full("write", f.name)
	}
	return all, nil
}

func (d *Disk) pend(i *inode, o dataOp) {
	o.n = d.op()
	i.pending = append(i.pending, o)
	d.list(i)
}

// share makes a clone's list of pending operations begin with this list, whose
// elements neither of them changes.
func (i *inode) share() []dataOp {
	i.pending = i.pending[:len(i.pending):len(i.pending)]
	return i.pending
}

// list records a file whose images may differ.
func (d *Disk) list(i *inode) {
	if !i.listed {
		i.listed = true
		d.dirty = append(d.dirty, i)
	}
}

// Append implements env.File.
func (f *file) Append(b []byte) error {
	_, err := f.WriteAt(b, f.i.now.size)
	return err
}

// Size implements env.File.
func (f *file) Size() (int64, error) { return f.i.now.size, f.check("stat", 0) }

// Truncate implements env.File.
func (f *file) Truncate(size int64) error {
	if err := f.check("truncate", size); err != nil {
		return err
	}
	d, i := f.disk, f.i
	if grow := size - i.now.size; d.capacity > 0 && grow > 0 && d.used+grow > d.capacity {
		return full("truncate", f.name)
	}
	d.used += size - i.now.size
	o := dataOp{off: size, end: max(size, i.now.size), zero: true, size: size}
	i.now.resize(size)
	d.pend(i, o)
	return nil
}

// Sync implements env.File.
func (f *file) Sync() error {
	if err := f.check("sync", 0); err != nil {
		return err
	}
	f.i.settle(all{})
	return nil
}

// Close implements env.File.
func (f *file) Close() error {
	if f.closed {
		return fault("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	return nil
}
