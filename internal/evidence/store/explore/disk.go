// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
	"syscall"

	"github.com/ashlar-dev/ashlar/env"
)

// Disk is a disk in memory that remembers, in order, the changes that are not
// durable, and calls back before and after each change. It behaves like
// sim.Disk, with which a test compares it; unlike sim.Disk it makes thousands
// of crash states of one moment at the cost of their differences. Only one
// goroutine may use it.
type Disk struct {
	names, safe map[string]*inode // by clean path; directories too
	units       []*unit           // changes that are not durable, in order
	inodes      int
	changes     int               // operations that changed something
	mutations   int               // those of them that are not syncs
	epoch       int               // goes into pages that are written
	hook        func(what string) // before and after each operation that changes something
	fault       *Fault
	full        bool // no file grows
	growths     int  // of files, counted
	syncs       int
	writes      int
	reads       int
	dead        error // every operation fails with it
	handles     int   // open files
	locks       map[string]bool
}

var (
	_ env.DirectDisk = (*Disk)(nil)
	_ env.LockDisk   = (*Disk)(nil)
)

// inode is a file or a directory.
type inode struct {
	id        int
	dir       bool
	now, safe table
}

// unit is a change that a loss of power keeps or loses: of content, of a size or of a
// name. It may keep a part of a change of content.
type unit struct {
	what    string // for people
	file    *inode
	patches []patch // of content
	resize  bool
	size    int64
	name    *naming
}

// naming reports that a name refers to a file (nil: nowhere), and in a rename that the
// old name no longer does.
type naming struct {
	name, old string
	to        *inode
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	return &Disk{names: map[string]*inode{}, safe: map[string]*inode{}, locks: map[string]bool{}}
}

func pathErr(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// find cleans a name and looks it up.
func (d *Disk) find(op, name string) (string, *inode, error) {
	if d.dead != nil {
		return "", nil, pathErr(op, name, d.dead)
	}
	clean := path.Clean(name)
	if name == "" || path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", nil, pathErr(op, name, fs.ErrInvalid)
	}
	if dir := path.Dir(clean); dir != "." {
		switch i := d.names[dir]; {
		case i == nil:
			return "", nil, pathErr(op, name, fs.ErrNotExist)
		case !i.dir:
			return "", nil, pathErr(op, name, syscall.ENOTDIR)
		}
	}
	return clean, d.names[clean], nil
}

func (d *Disk) inode(dir bool) *inode {
	d.inodes++
	return &inode{id: d.inodes, dir: dir}
}

// around does a change between two calls of the hook.
func (d *Disk) around(what string, change func()) {
	if d.hook != nil {
		d.hook(what)
	}
	change()
	d.changes++
	if d.hook != nil {
		d.hook("after " + what)
	}
}

// mutate is around for changes that are not syncs.
func (d *Disk) mutate(what string, change func()) {
	d.mutations++
	d.around(what, change)
}

func (d *Disk) rename(what string, n naming) {
	d.mutate(what, func() {
		n.apply(d.names)
		d.units = append(d.units, &unit{what: what, name: &n})
	})
}

func (n *naming) apply(names map[string]*inode) {
	if n.old != "" && names[n.old] == n.to {
		delete(names, n.old)
	}
	if n.to != nil {
		names[n.name] = n.to
	} else {
		delete(names, n.name)
	}
}

// Open implements env.Disk.
func (d *Disk) Open(name string, create bool) (env.File, error) { return d.open(name, create, false) }

// OpenDirect implements env.DirectDisk with a file that refuses unaligned
// access.
func (d *Disk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, err := d.open(name, create, true)
	return f, true, err
}

func (d *Disk) open(name string, create, direct bool) (env.File, error) {
	clean, i, err := d.find("open", name)
	switch {
	case err != nil:
		return nil, err
	case clean == "." || i != nil && i.dir:
		return nil, pathErr("open", name, syscall.EISDIR)
	case i == nil && !create:
		return nil, pathErr("open", name, fs.ErrNotExist)
	case i == nil:
		i = d.inode(false)
		d.rename("create "+clean, naming{name: clean, to: i})
	}
	d.handles++
	return &file{disk: d, i: i, name: clean, direct: direct}, nil
}

// Rename implements env.Disk, for files.
func (d *Disk) Rename(old, new string) error {
	from, i, err := d.find("rename", old)
	if err != nil {
		return err
	}
	to, over, err := d.find("rename", new)
	switch {
	case err != nil:
		return err
	case i == nil:
		return pathErr("rename", old, fs.ErrNotExist)
	case i.dir || to == "." || over != nil && over.dir:
		return pathErr("rename", new, fs.ErrExist)
	case i == over:
		return nil
	}
	d.rename("rename "+from+" to "+to, naming{name: to, old: from, to: i})
	return nil
}

// Remove implements env.Disk.
func (d *Disk) Remove(name string) error {
	clean, i, err := d.find("remove", name)
	switch {
	case err != nil:
		return err
	case clean == ".":
		return pathErr("remove", name, fs.ErrInvalid)
	case i == nil:
		return pathErr("remove", name, fs.ErrNotExist)
	}
	if i.dir {
		if names, _ := d.List(clean); len(names) > 0 {
			return pathErr("remove", name, syscall.ENOTEMPTY)
		}
	}
	d.rename("remove "+clean, naming{name: clean})
	return nil
}

// MakeDir implements env.Disk.
func (d *Disk) MakeDir(name string) error {
	parts := strings.Split(path.Clean(name), "/")
	for k := range parts {
		clean, i, err := d.find("mkdir", strings.Join(parts[:k+1], "/"))
		switch {
		case err != nil:
			return err
		case clean == ".":
		case i == nil:
			d.rename("mkdir "+clean, naming{name: clean, to: d.inode(true)})
		case !i.dir:
			return pathErr("mkdir", name, syscall.ENOTDIR)
		}
	}
	return nil
}

// List implements env.Disk.
func (d *Disk) List(name string) ([]string, error) {
	clean, i, err := d.find("list", name)
	switch {
	case err != nil:
		return nil, err
	case clean != "." && i == nil:
		return nil, pathErr("list", name, fs.ErrNotExist)
	case clean != "." && !i.dir:
		return nil, pathErr("list", name, syscall.ENOTDIR)
	}
	var out []string
	for n := range d.names {
		if path.Dir(n) == clean {
			out = append(out, path.Base(n))
		}
	}
	sort.Strings(out)
	return out, nil
}

// SyncDir implements env.Disk.
func (d *Disk) SyncDir(name string) error {
	clean, i, err := d.find("sync", name)
	switch {
	case err != nil:
		return err
	case clean != "." && i == nil:
		return pathErr("sync", name, fs.ErrNotExist)
	case clean != "." && !i.dir:
		return pathErr("sync", name, syscall.ENOTDIR)
	}
	mine := func(u *unit) bool {
		return u.name != nil && (path.Dir(u.name.name) == clean || u.name.old != "" && path.Dir(u.name.old) == clean)
	}
	return d.sync("sync directory "+clean, name, mine)
}

// sync makes units durable, or the part of them that a failure leaves. Without any unit
// it changes nothing.
func (d *Disk) sync(what, name string, mine func(*unit) bool) (err error) {
	failed := d.fault.strikes(SyncError, d.syncs)
	d.syncs++
	if failed {
		d.fault.Where = what
		err = pathErr("sync", name, errStruck)
	}
	if !slices.ContainsFunc(d.units, mine) {
		return err
	}
	d.around(what, func() {
		rest := d.units[:0]
		for _, u := range d.units {
			switch {
			case !mine(u):
				rest = append(rest, u)
			case !failed || d.fault.coin():
				d.settle(u)
			}
		}
		clear(d.units[len(rest):])
		d.units = rest
	})
	return err
}

// settle makes a unit durable.
func (d *Disk) settle(u *unit) {
	switch {
	case u.name != nil:
		u.name.apply(d.safe)
	case u.resize:
		u.file.safe.size = u.size
		u.file.safe.trim()
	default:
		u.applyTo(&u.file.safe)
	}
}

func (u *unit) applyTo(t *table) {
	for _, c := range u.patches {
		t.set(c.at, compose(t.at(c.at), c.p, c.mask))
	}
}

// Lock implements env.LockDisk. Crash states ignore its file: a lock file has no content,
// and its name means nothing.
func (d *Disk) Lock(name string) (io.Closer, error) {
	clean, i, err := d.find("lock", name)
	switch {
	case err != nil:
		return nil, err
	case d.locks[clean]:
		return nil, pathErr("lock", name, env.ErrLocked)
	case i == nil:
		i = d.inode(false)
		d.names[clean], d.safe[clean] = i, i
	}
	d.locks[clean] = true
	return &lock{d, clean}, nil
}

type lock struct {
	disk *Disk
	name string
}

func (l *lock) Close() error {
	if !l.disk.locks[l.name] {
		return pathErr("unlock", l.name, fs.ErrClosed)
	}
	delete(l.disk.locks, l.name)
	return nil
}

// errStruck is wrapped by every error that a Fault makes.
var errStruck = fmt.Errorf("%w (injected)", syscall.EIO)

// errFull is the error of a full disk.
var errFull = fmt.Errorf("%w: %w", env.ErrNoSpace, syscall.ENOSPC)

var (
	errNegative = errors.New("negative offset")
	errAlign    = errors.New("a direct file is used in multiples of 4096 bytes only")
)
