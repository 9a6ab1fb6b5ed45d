// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// A disk as a file system of the machine. All changes come through the kernel
// of one machine and one mount, so that the kernel may keep names, attributes
// and pages for as long as it likes; mapped memory is its page cache, as on
// other file systems. Files that were opened with O_DIRECT bypass it. Locks
// are the kernel's own affair.

// mount is a disk that is mounted.
type mount struct {
	dir    string
	server *fuse.Server
	done   chan struct{} // the kernel has given up the connection
}

// mountDisk mounts the disk at an existing directory, which needs the right to
// mount and nothing else: no helper is run.
func mountDisk(d *disk, dir string) (*mount, error) {
	fs := &fileSystem{RawFileSystem: fuse.NewDefaultRawFileSystem(), disk: d, lists: map[uint64][]entry{}}
	server, err := fuse.NewServer(fs, dir, &fuse.MountOptions{
		FsName: "powerfail", Name: "powerfail", DirectMountStrict: true, MaxWrite: 128 << 10,
		DisableXAttrs: true, DisableReadDirPlus: true, Logger: log.New(io.Discard, "", 0),
		PanicHandler: func(reason any) fuse.Status {
			d.fail()
			fmt.Fprintf(os.Stderr, "powerfail: a request to the disk panicked: %v\n", reason)
			return fuse.EIO
		},
	})
	if err != nil {
		_ = unix.Unmount(dir, unix.MNT_DETACH)
		return nil, fmt.Errorf("mount a disk at %s: %w", dir, err)
	}
	m := &mount{dir: dir, server: server, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		server.Serve()
	}()
	if err := server.WaitMount(); err != nil {
		return nil, errors.Join(fmt.Errorf("mount a disk at %s: %w", dir, err), m.unmount())
	}
	return m, nil
}

// unmountWait is how long an unused mount may take to go away.
const unmountWait = 10 * time.Second

// unmount takes the mount out of the tree at once, used or not, and waits until
// the kernel has written what it still held.
func (m *mount) unmount() error {
	if err := unix.Unmount(m.dir, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("unmount %s: %w", m.dir, err)
	}
	select {
	case <-m.done:
		return nil
	case <-time.After(unmountWait):
		return fmt.Errorf("unmount %s: still in use after %v", m.dir, unmountWait)
	}
}

// What a handle remembers of the flags that it was opened with.
const (
	handleDirect = 1 << iota
	handleSync
	handleBits = 8 // what is above is the number of a listing
)

// longTime is how long the kernel may cache an answer.
const longTime = 3600

type fileSystem struct {
	fuse.RawFileSystem
	disk *disk

	mu       sync.Mutex
	lastList uint64
	lists    map[uint64][]entry // of open directories
}

func (fs *fileSystem) String() string { return "powerfail" }

// find finds a node by the number that the kernel knows, which is the disk's:
// the root is the first node of every disk, and 1 is what the kernel calls it.
func (fs *fileSystem) find(id uint64) *node { return fs.disk.byID(id) }

func (fs *fileSystem) attr(i *node, out *fuse.Attr) {
	size, pages := fs.disk.size(i)
	*out = fuse.Attr{Ino: i.id, Size: uint64(size), Blocks: uint64(pages) * (pageSize / sectorSize), Blksize: pageSize, Nlink: 1, Mode: syscall.S_IFREG | 0o666}
	if i.dir {
		out.Mode, out.Nlink = syscall.S_IFDIR|0o777, 2
	}
	out.Uid, out.Gid = uint32(os.Getuid()), uint32(os.Getgid())
}

func (fs *fileSystem) entry(i *node, out *fuse.EntryOut) {
	out.NodeId, out.Generation = i.id, 1
	out.EntryValid, out.AttrValid = longTime, longTime
	fs.attr(i, &out.Attr)
}

func (fs *fileSystem) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	dir := fs.find(h.NodeId)
	if dir == nil {
		return fuse.ENOENT
	}
	i := fs.disk.lookup(dir, name)
	if i == nil {
		return fuse.ENOENT
	}
	fs.entry(i, out)
	return fuse.OK
}

func (fs *fileSystem) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	i := fs.find(in.NodeId)
	if i == nil {
		return fuse.ENOENT
	}
	out.AttrValid = longTime
	fs.attr(i, &out.Attr)
	return fuse.OK
}

// SetAttr changes the size. Modes, owners and times are what they are.
func (fs *fileSystem) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	i := fs.find(in.NodeId)
	if i == nil {
		return fuse.ENOENT
	}
	if in.Valid&fuse.FATTR_SIZE != 0 {
		if e := fs.disk.truncate(i, int64(in.Size)); e != 0 {
			return fuse.Status(e)
		}
	}
	out.AttrValid = longTime
	fs.attr(i, &out.Attr)
	return fuse.OK
}

func (fs *fileSystem) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	i, e := fs.create(in.NodeId, name, true)
	if e != 0 {
		return fuse.Status(e)
	}
	fs.entry(i, out)
	return fuse.OK
}

func (fs *fileSystem) create(dir uint64, name string, isDir bool) (*node, syscall.Errno) {
	parent := fs.find(dir)
	if parent == nil {
		return nil, syscall.ENOENT
	}
	return fs.disk.create(parent, name, isDir)
}

func (fs *fileSystem) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return fs.remove(h.NodeId, name, false)
}

func (fs *fileSystem) Rmdir(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return fs.remove(h.NodeId, name, true)
}

func (fs *fileSystem) remove(dir uint64, name string, isDir bool) fuse.Status {
	parent := fs.find(dir)
	if parent == nil {
		return fuse.ENOENT
	}
	return fuse.Status(fs.disk.remove(parent, name, isDir))
}

func (fs *fileSystem) Rename(_ <-chan struct{}, in *fuse.RenameIn, old, name string) fuse.Status {
	from, to := fs.find(in.NodeId), fs.find(in.Newdir)
	if from == nil || to == nil {
		return fuse.ENOENT
	}
	if in.Flags&^unix.RENAME_NOREPLACE != 0 {
		return fuse.EINVAL
	}
	return fuse.Status(fs.disk.move(from, old, to, name, in.Flags != 0))
}

func handle(flags uint32) (fh uint64, open uint32) {
	if flags&syscall.O_DIRECT != 0 {
		fh, open = handleDirect, fuse.FOPEN_DIRECT_IO
	}
	if flags&syscall.O_DSYNC != 0 { // O_SYNC has its bit too
		fh |= handleSync
	}
	return fh, open
}

func (fs *fileSystem) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	i, e := fs.create(in.NodeId, name, false)
	if e != 0 {
		return fuse.Status(e)
	}
	fs.entry(i, &out.EntryOut)
	out.Fh, out.OpenFlags = handle(in.Flags)
	return fuse.OK
}

func (fs *fileSystem) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if fs.find(in.NodeId) == nil {
		return fuse.ENOENT
	}
	out.Fh, out.OpenFlags = handle(in.Flags)
	return fuse.OK
}

// aligned reports whether a handle may be used so: direct access is by sectors.
func aligned(fh uint64, off uint64, n int) bool {
	return fh&handleDirect == 0 || off%sectorSize == 0 && n%sectorSize == 0
}

func (fs *fileSystem) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	i := fs.find(in.NodeId)
	if i == nil {
		return nil, fuse.ENOENT
	}
	if !aligned(in.Fh, in.Offset, int(in.Size)) {
		return nil, fuse.EINVAL
	}
	buf = buf[:min(len(buf), int(in.Size))]
	n, e := fs.disk.read(i, buf, int64(in.Offset))
	if e != 0 {
		return nil, fuse.Status(e)
	}
	return fuse.ReadResultData(buf[:n]), fuse.OK
}

func (fs *fileSystem) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	i := fs.find(in.NodeId)
	if i == nil {
		return 0, fuse.ENOENT
	}
	// What the kernel writes back comes by any handle, and is not direct.
	if in.WriteFlags&fuse.WRITE_CACHE == 0 && !aligned(in.Fh, in.Offset, len(data)) {
		return 0, fuse.EINVAL
	}
	if e := fs.disk.write(i, data, int64(in.Offset)); e != 0 {
		return 0, fuse.Status(e)
	}
	if in.Fh&handleSync != 0 {
		if e := fs.disk.sync(i); e != 0 {
			return 0, fuse.Status(e)
		}
	}
	return uint32(len(data)), fuse.OK
}

func (fs *fileSystem) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	i := fs.find(in.NodeId)
	if i == nil {
		return fuse.ENOENT
	}
	off, end := int64(in.Offset), int64(in.Offset+in.Length)
	grow := in.Mode&unix.FALLOC_FL_KEEP_SIZE == 0
	switch in.Mode &^ unix.FALLOC_FL_KEEP_SIZE {
	case 0:
		return fuse.Status(fs.disk.allocate(i, end, grow))
	case unix.FALLOC_FL_PUNCH_HOLE, unix.FALLOC_FL_ZERO_RANGE:
		return fuse.Status(fs.disk.zero(i, off, end, grow))
	}
	return fuse.Status(syscall.EOPNOTSUPP)
}

func (fs *fileSystem) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	i := fs.find(in.NodeId)
	if i == nil {
		return fuse.ENOENT
	}
	return fuse.Status(fs.disk.sync(i))
}

func (fs *fileSystem) FsyncDir(c <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return fs.Fsync(c, in)
}

// Flush is called at each close, which makes nothing durable.
func (fs *fileSystem) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

func (fs *fileSystem) Release(<-chan struct{}, *fuse.ReleaseIn) {}

func (fs *fileSystem) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	i := fs.find(in.NodeId)
	if i == nil {
		return fuse.ENOENT
	}
	list := append([]entry{{".", i}, {"..", i}}, fs.disk.list(i)...)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.lastList++
	fs.lists[fs.lastList] = list
	out.Fh = fs.lastList << handleBits
	return fuse.OK
}

// ReadDir returns what was in the directory when it was opened, or when it was
// read from the beginning again.
func (fs *fileSystem) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	list := fs.lists[in.Fh>>handleBits]
	if i := fs.find(in.NodeId); in.Offset == 0 && i != nil && len(list) >= 2 {
		list = append(list[:2:2], fs.disk.list(i)...)
		fs.lists[in.Fh>>handleBits] = list
	}
	for k := int(in.Offset); k < len(list); k++ {
		mode := uint32(syscall.S_IFREG)
		if list[k].node.dir {
			mode = syscall.S_IFDIR
		}
		if !out.AddDirEntry(fuse.DirEntry{Name: list[k].name, Mode: mode, Ino: list[k].node.id, Off: uint64(k + 1)}) {
			break
		}
	}
	return fuse.OK
}

func (fs *fileSystem) ReleaseDir(in *fuse.ReleaseIn) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	delete(fs.lists, in.Fh>>handleBits)
}

func (fs *fileSystem) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	const blocks = 1 << 24 // of a page each: room for all
	*out = fuse.StatfsOut{Blocks: blocks, Bfree: blocks, Bavail: blocks, Files: 1 << 20, Ffree: 1 << 20, Bsize: pageSize, Frsize: pageSize, NameLen: 255}
	return fuse.OK
}
