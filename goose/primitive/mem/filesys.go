// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
)

// FS is the hardware of a filesys.FS.
type FS struct {
	machine *Machine
	dirs    map[string]*nameSpace
	order   []string // of the directories, so that choices repeat
	inodes  []*inode
	fds     map[filesys.File]handle
	last    filesys.File
}

// nameSpace is a directory. Names that were ever used stay, without an inode.
type nameSpace struct {
	entries map[string]*cached[*inode] // nil: no such file
	order   []string                   // of the names, as they were first used
}

type inode struct {
	data   []byte // grows only
	synced int    // how much of it is durable
}

type handle struct {
	inode  *inode
	append bool
}

// NewFS adds an empty file system of these directories.
func (m *Machine) NewFS(dirs []string) *FS {
	f := &FS{machine: m, dirs: map[string]*nameSpace{}, order: slices.Clone(dirs), fds: map[filesys.File]handle{}}
	for _, d := range dirs {
		f.dirs[d] = &nameSpace{entries: map[string]*cached[*inode]{}}
	}
	m.add(f)
	return f
}

// Open is the file system in a life of its machine.
func (f *FS) Open(l *Life) *filesys.FS { return filesys.New(lifeFS{l, f}) }

func (f *FS) crash() {
	clear(f.fds)
	for _, dir := range f.order {
		d := f.dirs[dir]
		for _, name := range d.order {
			d.entries[name].crash(f.machine.choose)
		}
	}
	for _, n := range f.inodes {
		n.crash(f.machine.choose)
	}
}

// crash keeps durable data. Of the rest it keeps some, and may replace it by
// anything.
func (n *inode) crash(choose Choose) {
	if n.synced == len(n.data) {
		return
	}
	rest := n.data[n.synced:]
	keep := slices.Clone(rest[:len(rest)-choose(len(rest)+1)])
	if len(keep) > 0 && choose(4) == 1 {
		for i := range keep {
			keep[i] = byte(choose(256))
		}
	}
	n.data = append(slices.Clone(n.data[:n.synced]), keep...)
	n.synced = len(n.data)
}

func (f *FS) dir(dir string) *nameSpace {
	d := f.dirs[dir]
	if d == nil {
		panic(fmt.Sprintf("mem: there is no directory %q", dir))
	}
	return d
}

func (d *nameSpace) get(name string) *inode {
	if e := d.entries[name]; e != nil {
		return e.latest
	}
	return nil
}

func (d *nameSpace) set(name string, n *inode) {
	e := d.entries[name]
	if e == nil {
		e = &cached[*inode]{}
		d.entries[name] = e
		d.order = append(d.order, name)
	}
	e.write(n)
}

func (f *FS) handle(fd filesys.File) handle {
	h, ok := f.fds[fd]
	if !ok {
		panic(fmt.Sprintf("mem: descriptor %d is not open", fd))
	}
	return h
}

func (f *FS) add(h handle) filesys.File {
	f.last++
	f.fds[f.last] = h
	return f.last
}

// lifeFS is an FS during a life.
type lifeFS struct {
	life *Life
	fs   *FS
}

var _ filesys.Backend = lifeFS{}

func (l lifeFS) Create(dir, name string) (fd filesys.File, ok bool) {
	l.life.do(func() {
		d := l.fs.dir(dir)
		if d.get(name) != nil {
			return
		}
		n := &inode{}
		l.fs.inodes = append(l.fs.inodes, n)
		d.set(name, n)
		fd, ok = l.fs.add(handle{n, true}), true
	})
	return fd, ok
}

func (l lifeFS) Open(dir, name string) (fd filesys.File, ok bool) {
	l.life.do(func() {
		if n := l.fs.dir(dir).get(name); n != nil {
			fd, ok = l.fs.add(handle{n, false}), true
		}
	})
	return fd, ok
}

func (l lifeFS) Append(fd filesys.File, data []byte) {
	l.life.do(func() {
		h := l.fs.handle(fd)
		if !h.append {
			panic(fmt.Sprintf("mem: append to descriptor %d, which is for reading", fd))
		}
		h.inode.data = append(h.inode.data, data...)
	})
}

func (l lifeFS) ReadAt(fd filesys.File, off, n uint64) (data []byte) {
	l.life.do(func() {
		h := l.fs.handle(fd)
		if h.append {
			panic(fmt.Sprintf("mem: read of descriptor %d, which is for appending", fd))
		}
		size := uint64(len(h.inode.data))
		off = min(off, size)
		data = append([]byte{}, h.inode.data[off:off+min(n, size-off)]...)
	})
	return data
}

func (l lifeFS) Size(fd filesys.File) (n uint64) {
	l.life.do(func() { n = uint64(len(l.fs.handle(fd).inode.data)) })
	return n
}

func (l lifeFS) Close(fd filesys.File) {
	l.life.do(func() {
		l.fs.handle(fd)
		delete(l.fs.fds, fd)
	})
}

func (l lifeFS) Link(dir, name, dir2, name2 string) (ok bool) {
	l.life.do(func() {
		n := l.fs.dir(dir).get(name)
		if n == nil {
			panic(fmt.Sprintf("mem: link of %s/%s, which does not exist", dir, name))
		}
		to := l.fs.dir(dir2)
		if ok = to.get(name2) == nil; ok {
			to.set(name2, n)
		}
	})
	return ok
}

func (l lifeFS) Unlink(dir, name string) {
	l.life.do(func() {
		d := l.fs.dir(dir)
		if d.get(name) == nil {
			panic(fmt.Sprintf("mem: unlink of %s/%s, which does not exist", dir, name))
		}
		d.set(name, nil)
	})
}

func (l lifeFS) List(dir string) []string {
	names := []string{}
	l.life.do(func() {
		d := l.fs.dir(dir)
		for _, name := range d.order {
			if d.get(name) != nil {
				names = append(names, name)
			}
		}
	})
	return names
}

func (l lifeFS) Sync(fd filesys.File) {
	l.life.do(func() {
		n := l.fs.handle(fd).inode
		n.synced = len(n.data)
	})
}

func (l lifeFS) SyncDir(dir string) {
	l.life.do(func() {
		for _, e := range l.fs.dir(dir).entries {
			e.flush()
		}
	})
}

func (l lifeFS) Shut() error { return nil }
