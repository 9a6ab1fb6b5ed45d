// SPDX-License-Identifier: Apache-2.0

package filesys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/goose/primitive/internal/halt"
)

// Locks make atomic what the operating system does not do atomically:
//
//   - the system lists names in pieces, between which names may change: a call
//     that changes names in a directory holds its lock, and a call that lists
//     them shares it;
//   - a link looks up the old name before it makes the new one, so it also
//     shares the lock of the old name's directory;
//   - an append becomes visible piece by piece: it holds the lock of the file,
//     and a read shares it.

// lockName is the file in the root that is held while it is open.
const lockName = ".lock"

// stripes is the number of locks over which the files are spread.
const stripes = 64

// tree is a directory of the machine as a Backend.
type tree struct {
	lock io.Closer
	disk *osenv.Disk
	root *os.Root
	dirs map[string]*directory // does not change
	sync func(*os.File) error

	mu   sync.RWMutex
	fds  map[File]descriptor
	last File

	files [stripes]sync.RWMutex // by number of inode
}

type directory struct {
	rank int // the order in which locks are taken
	mu   sync.RWMutex
	root *os.Root
	self *os.File // to sync
}

type descriptor struct {
	f      *os.File
	append bool // Create opened it
	mu     *sync.RWMutex
}

var _ Backend = (*tree)(nil)

func openTree(root string, dirs []string, sync func(*os.File) error) (*tree, error) {
	if info, err := os.Stat(root); err != nil {
		return nil, fmt.Errorf("open file system: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("open file system: %s is not a directory", root)
	}
	disk, err := osenv.OpenDisk(root)
	if err != nil {
		return nil, fmt.Errorf("open file system %s: %w", root, err)
	}
	t := &tree{disk: disk, dirs: map[string]*directory{}, fds: map[File]descriptor{}, sync: sync}
	if err := t.open(root, dirs); err != nil {
		return nil, errors.Join(fmt.Errorf("open file system %s: %w", root, err), t.Shut())
	}
	return t, nil
}

func (t *tree) open(root string, dirs []string) error {
	lock, err := t.disk.Lock(lockName)
	if err != nil {
		return err
	}
	t.lock = lock
	if t.root, err = os.OpenRoot(root); err != nil {
		return err
	}
	for i, name := range dirs {
		if !nameOK(name) || name == lockName || t.dirs[name] != nil {
			return fmt.Errorf("%q is not a valid name of a directory, or is given twice", name)
		}
		if err := t.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		d := &directory{rank: i}
		t.dirs[name] = d
		if d.root, err = t.root.OpenRoot(name); err != nil {
			return err
		}
		if d.self, err = d.root.Open("."); err != nil {
			return err
		}
		if err := t.settle(d); err != nil {
			return err
		}
	}
	return t.disk.SyncDir(".")
}

// settle makes the names and files in a directory durable. A killed process
// leaves names and bytes that can be read but that a loss of power would remove;
// everything that a file system has when it is opened must stay.
func (t *tree) settle(d *directory) error {
	names, err := d.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if info, err := d.root.Lstat(name); err != nil {
			return err
		} else if !info.Mode().IsRegular() {
			continue
		}
		f, err := d.root.Open(name)
		if err != nil {
			return err
		}
		if err := errors.Join(t.sync(f), f.Close()); err != nil {
			return err
		}
	}
	return t.sync(d.self)
}

// names are the names in a directory. The caller must hold or share its lock.
func (d *directory) names() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}

// Shut is Backend's.
func (t *tree) Shut() error {
	var errs []error
	for fd, d := range t.fds {
		errs = append(errs, d.f.Close())
		delete(t.fds, fd)
	}
	for _, d := range t.dirs {
		if d.self != nil {
			errs = append(errs, d.self.Close())
		}
		if d.root != nil {
			errs = append(errs, d.root.Close())
		}
	}
	if t.root != nil {
		errs = append(errs, t.root.Close())
	}
	if t.lock != nil {
		errs = append(errs, t.lock.Close())
	}
	return errors.Join(append(errs, t.disk.Close())...)
}

func nameOK(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\\\x00")
}

func (t *tree) dir(dir string) *directory {
	d := t.dirs[dir]
	if d == nil {
		panic(fmt.Sprintf("filesys: there is no directory %q", dir))
	}
	return d
}

func (t *tree) entry(dir, name string) *directory {
	if !nameOK(name) {
		panic(fmt.Sprintf("filesys: %q is not a valid name", name))
	}
	return t.dir(dir)
}

// room calls try until it does not fail for lack of room. The caller must hold no
// lock, so that calls that free room can run meanwhile; a try that fails must undo
// its effects.
func room(try func() error) error {
	for pause := pauseMin; ; pause = min(2*pause, pauseMax) {
		err := try()
		if !slices.ContainsFunc(scarce, func(e error) bool { return errors.Is(err, e) }) {
			return err
		}
		time.Sleep(pause)
	}
}

// How long to wait before the next try.
const (
	pauseMin = 10 * time.Millisecond
	pauseMax = time.Second
)

// must ends the process on an error of the system.
func must(err error, format string, args ...any) {
	if err != nil {
		halt.Because("primitive", fmt.Errorf("filesys: "+format+": %w", append(args, err)...))
	}
}

// add makes a descriptor of an open file.
func (t *tree) add(f *os.File, forAppend bool) File {
	info, err := f.Stat()
	must(err, "stat")
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	t.fds[t.last] = descriptor{f: f, append: forAppend, mu: &t.files[number(info)%stripes]}
	return t.last
}

func (t *tree) get(fd File) descriptor {
	t.mu.RLock()
	defer t.mu.RUnlock()
	d, ok := t.fds[fd]
	if !ok {
		panic(fmt.Sprintf("filesys: descriptor %d is not open", fd))
	}
	return d
}

// Create is Backend's.
func (t *tree) Create(dir, name string) (File, bool) {
	d := t.entry(dir, name)
	var f *os.File
	err := room(func() (err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		f, err = d.root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return 0, false
	}
	must(err, "create %s/%s", dir, name)
	return t.add(f, true), true
}

// Open is Backend's.
func (t *tree) Open(dir, name string) (File, bool) {
	d := t.entry(dir, name)
	var f *os.File
	err := room(func() (err error) {
		f, err = d.root.Open(name)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false
	}
	must(err, "open %s/%s", dir, name)
	return t.add(f, false), true
}

// Append is Backend's.
func (t *tree) Append(fd File, data []byte) {
	d := t.get(fd)
	if !d.append {
		panic(fmt.Sprintf("filesys: append to descriptor %d, which is for reading", fd))
	}
	must(room(func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		size := t.size(d)
		_, err := d.f.Write(data)
		if err != nil {
			must(d.f.Truncate(int64(size)), "undo a failed append to %s", d.f.Name())
		}
		return err
	}), "append to %s", d.f.Name())
}

// ReadAt is Backend's.
func (t *tree) ReadAt(fd File, off, n uint64) []byte {
	d := t.get(fd)
	if d.append {
		panic(fmt.Sprintf("filesys: read of descriptor %d, which is for appending", fd))
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	size := t.size(d)
	if off >= size {
		return []byte{}
	}
	b := make([]byte, min(n, size-off))
	_, err := d.f.ReadAt(b, int64(off))
	must(err, "read %s", d.f.Name())
	return b
}

// size is the file's size; the caller must hold or share the file's lock.
func (t *tree) size(d descriptor) uint64 {
	info, err := d.f.Stat()
	must(err, "stat %s", d.f.Name())
	return uint64(min(info.Size(), math.MaxInt64))
}

// Size is Backend's.
func (t *tree) Size(fd File) uint64 {
	d := t.get(fd)
	d.mu.RLock()
	defer d.mu.RUnlock()
	return t.size(d)
}

// Close is Backend's.
func (t *tree) Close(fd File) {
	t.mu.Lock()
	d, ok := t.fds[fd]
	delete(t.fds, fd)
	t.mu.Unlock()
	if !ok {
		panic(fmt.Sprintf("filesys: descriptor %d is not open", fd))
	}
	must(d.f.Close(), "close %s", d.f.Name())
}

// Link is Backend's.
func (t *tree) Link(dir, name, dir2, name2 string) bool {
	from, to := t.entry(dir, name), t.entry(dir2, name2)
	err := room(func() error { return t.link(from, to, dir+"/"+name, dir2+"/"+name2) })
	if errors.Is(err, fs.ErrExist) {
		return false
	}
	if errors.Is(err, fs.ErrNotExist) {
		panic(fmt.Sprintf("filesys: link of %s/%s, which does not exist", dir, name))
	}
	must(err, "link %s/%s to %s/%s", dir, name, dir2, name2)
	return true
}

func (t *tree) link(from, to *directory, name, name2 string) error {
	switch {
	case from == to:
	case from.rank < to.rank:
		from.mu.RLock()
		defer from.mu.RUnlock()
		to.mu.Lock()
		defer to.mu.Unlock()
	default:
		to.mu.Lock()
		defer to.mu.Unlock()
		from.mu.RLock()
		defer from.mu.RUnlock()
	}
	if from == to {
		to.mu.Lock()
		defer to.mu.Unlock()
	}
	return t.root.Link(name, name2)
}

// Unlink is Backend's.
func (t *tree) Unlink(dir, name string) {
	d := t.entry(dir, name)
	err := room(func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.root.Remove(name)
	})
	if errors.Is(err, fs.ErrNotExist) {
		panic(fmt.Sprintf("filesys: unlink of %s/%s, which does not exist", dir, name))
	}
	must(err, "unlink %s/%s", dir, name)
}

// List is Backend's.
func (t *tree) List(dir string) []string {
	d := t.dir(dir)
	var names []string
	err := room(func() (err error) {
		d.mu.RLock()
		defer d.mu.RUnlock()
		names, err = d.names()
		return err
	})
	must(err, "list %s", dir)
	if names == nil {
		names = []string{}
	}
	return names
}

// Sync is Backend's.
func (t *tree) Sync(fd File) {
	d := t.get(fd)
	must(t.sync(d.f), "sync %s", d.f.Name())
}

// SyncDir is Backend's.
func (t *tree) SyncDir(dir string) {
	must(t.sync(t.dir(dir).self), "sync directory %s", dir)
}
