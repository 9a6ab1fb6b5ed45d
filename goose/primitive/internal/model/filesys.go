// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
)

// Inode is inode: the content, and how much of it is durable.
type Inode struct {
	Data   string
	Synced int
}

// Entry is a cached (option Z): the inode that a name stands for, 0 if none, and
// what else a crash may leave.
type Entry struct {
	Latest uint64
	Older  []uint64
}

// Possible is ca_possible.
func (e Entry) Possible() []uint64 { return append([]uint64{e.Latest}, e.Older...) }

// Fd is an open descriptor.
type Fd struct {
	Inode  uint64
	Append bool
}

// FSState is filesys. A name that is not in a directory stands for no inode.
type FSState struct {
	Dirs   map[string]map[string]Entry
	Inodes map[uint64]Inode
	Fds    map[int]Fd
}

// FSOp is an operation on a file system. Descriptors are known by numbers that
// the client chooses, inodes by the number that the FsCreate of them has in New,
// which never comes twice: the model lets it be any that is free.
type FSOp struct {
	Name         string // as in the model, without Fs
	Dir, Entry   string
	Dir2, Entry2 string
	Fd           int
	New          uint64
	Data         string
	Off, N       uint64
}

// String is the operation in few words.
func (o FSOp) String() string {
	switch o.Name {
	case "Create", "Open":
		return fmt.Sprintf("%s %s/%s as %d", o.Name, o.Dir, o.Entry, o.Fd)
	case "Unlink", "List", "SyncDir":
		return fmt.Sprintf("%s %s/%s", o.Name, o.Dir, o.Entry)
	case "Link":
		return fmt.Sprintf("Link %s/%s %s/%s", o.Dir, o.Entry, o.Dir2, o.Entry2)
	case "Append":
		return fmt.Sprintf("Append %d %.20q of %d bytes", o.Fd, o.Data, len(o.Data))
	case "ReadAt":
		return fmt.Sprintf("ReadAt %d at %d, %d bytes", o.Fd, o.Off, o.N)
	}
	return fmt.Sprintf("%s %d", o.Name, o.Fd)
}

// FSRet is what it returns: one of these, or nothing.
type FSRet struct {
	OK    bool
	Data  string
	Size  uint64
	Names []string // sorted
}

// String is the result in few words.
func (r FSRet) String() string {
	return fmt.Sprintf("%v, %.20q of %d bytes, size %d, %q", r.OK, r.Data, len(r.Data), r.Size, r.Names)
}

func (r FSRet) equal(o FSRet) bool {
	return r.OK == o.OK && r.Data == o.Data && r.Size == o.Size && slices.Equal(r.Names, o.Names)
}

// FS is fs_step, and the end of a process, which leaves all that was written:
// less than fs_crash allows. FSCrash is that.
func FS(dirs ...string) crashtest.Spec[FSState, FSOp, FSRet] {
	init := FSState{map[string]map[string]Entry{}, map[uint64]Inode{}, map[int]Fd{}}
	for _, d := range dirs {
		init.Dirs[d] = map[string]Entry{}
	}
	return crashtest.Spec[FSState, FSOp, FSRet]{
		Init: init,
		Step: func(s FSState, o FSOp, ret *FSRet) []FSState {
			after, want, ok := s.Step(o)
			if !ok || ret != nil && !ret.equal(want) {
				return nil
			}
			return []FSState{after.seen()}
		},
		Crash: endOfProcess,
		Key:   fsKey,
	}
}

// seen omits what cannot be observed before the machine crashes.
func (s FSState) seen() FSState {
	live := map[uint64]bool{}
	dirs := map[string]map[string]Entry{}
	for dir, names := range s.Dirs {
		dirs[dir] = map[string]Entry{}
		for name, e := range names {
			if e.Latest != 0 {
				dirs[dir][name] = Entry{Latest: e.Latest}
				live[e.Latest] = true
			}
		}
	}
	for _, fd := range s.Fds {
		live[fd.Inode] = true
	}
	inodes := map[uint64]Inode{}
	for i := range live {
		inodes[i] = s.Inodes[i]
	}
	return FSState{dirs, inodes, s.Fds}
}

// lookup is fs_entry.
func (s FSState) lookup(dir, name string) uint64 { return s.Dirs[dir][name].Latest }

// setEntry is set_entry.
func (s FSState) setEntry(dir, name string, inode uint64) FSState {
	s.Dirs = maps.Clone(s.Dirs)
	s.Dirs[dir] = maps.Clone(s.Dirs[dir])
	s.Dirs[dir][name] = Entry{inode, s.Dirs[dir][name].Possible()}
	return s
}

// setInode is set_inode.
func (s FSState) setInode(i uint64, n Inode) FSState {
	s.Inodes = maps.Clone(s.Inodes)
	s.Inodes[i] = n
	return s
}

// setFd is set_fds, of one; nil deletes.
func (s FSState) setFd(fd int, f *Fd) FSState {
	s.Fds = maps.Clone(s.Fds)
	if f == nil {
		delete(s.Fds, fd)
	} else {
		s.Fds[fd] = *f
	}
	return s
}

// Step is fs_step. It returns false if fs_step has no step.
func (s FSState) Step(o FSOp) (FSState, FSRet, bool) {
	switch o.Name {
	case "Create", "Open", "Link", "Unlink", "List", "SyncDir":
		return s.stepNames(o)
	}
	return s.stepFile(o)
}

func (s FSState) stepNames(o FSOp) (FSState, FSRet, bool) {
	if s.Dirs[o.Dir] == nil {
		return s, FSRet{}, false
	}
	i := s.lookup(o.Dir, o.Entry)
	_, busy := s.Fds[o.Fd]
	switch o.Name {
	case "Create":
		if i != 0 { // FsCreateTakenS
			return s, FSRet{}, true
		}
		_, used := s.Inodes[o.New] // FsCreateS
		s = s.setEntry(o.Dir, o.Entry, o.New).setInode(o.New, Inode{}).setFd(o.Fd, &Fd{o.New, true})
		return s, FSRet{OK: true}, !used && !busy && o.New != 0
	case "Open":
		if i == 0 { // FsOpenMissingS
			return s, FSRet{}, true
		}
		return s.setFd(o.Fd, &Fd{i, false}), FSRet{OK: true}, !busy // FsOpenS
	case "Link":
		if i == 0 || s.Dirs[o.Dir2] == nil {
			return s, FSRet{}, false
		}
		if s.lookup(o.Dir2, o.Entry2) != 0 { // FsLinkTakenS
			return s, FSRet{}, true
		}
		return s.setEntry(o.Dir2, o.Entry2, i), FSRet{OK: true}, true // FsLinkS
	case "Unlink": // FsUnlinkS
		return s.setEntry(o.Dir, o.Entry, 0), FSRet{}, i != 0
	case "List": // FsListS
		var names []string
		for name, e := range s.Dirs[o.Dir] {
			if e.Latest != 0 {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return s, FSRet{Names: names}, true
	case "SyncDir": // FsSyncDirS
		s.Dirs = maps.Clone(s.Dirs)
		names := map[string]Entry{}
		for name, e := range s.Dirs[o.Dir] {
			names[name] = Entry{Latest: e.Latest}
		}
		s.Dirs[o.Dir] = names
		return s, FSRet{}, true
	}
	panic("model: unknown operation " + o.Name)
}

func (s FSState) stepFile(o FSOp) (FSState, FSRet, bool) {
	fd, open := s.Fds[o.Fd]
	if !open {
		return s, FSRet{}, false
	}
	n := s.Inodes[fd.Inode]
	switch o.Name {
	case "Append": // FsAppendS
		return s.setInode(fd.Inode, Inode{n.Data + o.Data, n.Synced}), FSRet{}, fd.Append
	case "ReadAt": // FsReadAtS
		from := min(o.Off, uint64(len(n.Data)))
		rest := n.Data[from:]
		return s, FSRet{Data: rest[:min(o.N, uint64(len(rest)))]}, !fd.Append
	case "Size": // FsSizeS
		return s, FSRet{Size: uint64(len(n.Data))}, true
	case "Close": // FsCloseS
		return s.setFd(o.Fd, nil), FSRet{}, true
	case "Sync": // FsSyncS
		return s.setInode(fd.Inode, Inode{n.Data, len(n.Data)}), FSRet{}, true
	}
	panic("model: unknown operation " + o.Name)
}

// page is a length in which the system copies what is appended: it may be killed
// between two.
const page = 4096

// endOfProcess closes the descriptors. A running append may have written its
// beginning.
func endOfProcess(s FSState, inflight []FSOp) []FSState {
	left := []FSState{s}
	for _, o := range inflight {
		fd := s.Fds[o.Fd]
		if o.Name != "Append" {
			continue
		}
		for _, t := range left {
			data := t.Inodes[fd.Inode].Data
			// No other client has this descriptor, and tests give each file only one
			// descriptor that appends, so its bytes are at the end.
			start := len(data) - len(o.Data)
			for end := (start/page + 1) * page; end < len(data); end += page {
				left = append(left, t.setInode(fd.Inode, Inode{data[:end], min(end, t.Inodes[fd.Inode].Synced)}))
			}
		}
	}
	for i := range left {
		left[i].Fds = map[int]Fd{}
	}
	return left
}

// fsKey has sums in place of contents.
func fsKey(s FSState) string {
	var b strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(s.Dirs)) {
		names := s.Dirs[dir]
		for _, name := range slices.Sorted(maps.Keys(names)) {
			fmt.Fprintf(&b, "%s/%s %d\n", dir, name, names[name].Latest)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(s.Inodes)) {
		n := s.Inodes[i]
		fmt.Fprintf(&b, "%d %d %x\n", i, len(n.Data), xxhash.Sum64String(n.Data))
	}
	for _, fd := range slices.Sorted(maps.Keys(s.Fds)) {
		fmt.Fprintf(&b, "%d %v\n", fd, s.Fds[fd])
	}
	return b.String()
}

// InodeCrash is inode_crash: whether a crash may leave data of the inode.
func InodeCrash(n Inode, data string) bool {
	return strings.HasPrefix(data, n.Data[:n.Synced]) && len(data) <= len(n.Data)
}
