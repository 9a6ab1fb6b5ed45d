// Package crashes has boot programs: each runs, crashes, and runs again, until it
// comes to its end. Those whose names begin with Wrong forget something that
// only crashes, or a disk that fails, can show: they panic then.
package crashes

import (
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
	"github.com/ashlar-dev/ashlar/goose/primitive/machine"
)

func block(n uint64) []byte {
	b := make([]byte, disk.BlockSize)
	machine.UInt64Put(b, n)
	return b
}

// Count counts on the disk.
func Count(d *disk.Disk) uint64 {
	n := machine.UInt64Get(d.Read(0))
	for n < 3 {
		n++
		d.Write(0, block(n))
	}
	return n
}

// Mirror keeps two blocks alike, but for the moment between two writes.
func Mirror(d *disk.Disk) uint64 {
	n := machine.UInt64Get(d.Read(0))
	m := machine.UInt64Get(d.Read(1))
	if n != m && n != m+1 {
		panic("too far apart")
	}
	d.Write(1, block(n))
	for n < 3 {
		n++
		d.Write(0, block(n))
		d.Write(1, block(n))
	}
	return n
}

// WrongMirror takes the blocks to be alike at boot.
func WrongMirror(d *disk.Disk) uint64 {
	n := machine.UInt64Get(d.Read(0))
	if machine.UInt64Get(d.Read(1)) != n {
		panic("not alike")
	}
	for n < 3 {
		n++
		d.Write(0, block(n))
		d.Write(1, block(n))
	}
	return n
}

// Barrier writes to one block when another is durable.
func Barrier(d *disk.Async) uint64 {
	n := machine.UInt64Get(d.Read(0))
	m := machine.UInt64Get(d.Read(1))
	if m > n {
		panic("the second before the first")
	}
	for n < 3 {
		n++
		d.Write(0, block(n))
		d.Barrier()
		d.Write(1, block(n))
	}
	return n
}

// WrongBarrier has none.
func WrongBarrier(d *disk.Async) uint64 {
	n := machine.UInt64Get(d.Read(0))
	m := machine.UInt64Get(d.Read(1))
	if m > n {
		panic("the second before the first")
	}
	for n < 3 {
		n++
		d.Write(0, block(n))
		d.Write(1, block(n))
	}
	return n
}

// Replica writes to both disks, and reads from the one that lives.
func Replica(d *disk.Two) uint64 {
	b, ok := d.Read(0, 0)
	if !ok {
		c, both := d.Read(1, 0)
		if !both {
			panic("both have failed")
		}
		b = c
	}
	d.Write(1, 0, b)
	n := machine.UInt64Get(b)
	for n < 3 {
		n++
		d.Write(0, 0, block(n))
		d.Write(1, 0, block(n))
		e, ok := d.Read(1, 0)
		if ok && machine.UInt64Get(e) != n {
			panic("lost")
		}
	}
	return n
}

// WrongReplica reads from a disk that may have failed.
func WrongReplica(d *disk.Two) uint64 {
	n := uint64(0)
	for n < 3 {
		n++
		d.Write(0, 0, block(n))
		d.Write(1, 0, block(n))
		b, _ := d.Read(0, 0)
		if machine.UInt64Get(b) != n {
			panic("lost")
		}
	}
	return n
}

// read is the content of a file, and whether it is there.
func read(f *filesys.FS, dir, name string) (string, bool) {
	fd, ok := f.Open(dir, name)
	if !ok {
		return "", false
	}
	s := string(f.ReadAt(fd, 0, 100))
	if uint64(len(s)) != f.Size(fd) {
		panic("size")
	}
	f.Close(fd)
	return s, true
}

// clear removes a file, if it is there.
func clear(f *filesys.FS, dir, name string) {
	for _, s := range f.List(dir) {
		if s == name {
			f.Unlink(dir, name)
		}
	}
}

// File appears under its name when its content is durable.
func File(f *filesys.FS) string {
	s, ok := read(f, "b", "name")
	if ok {
		return s
	}
	clear(f, "a", "part")
	fd, created := f.Create("a", "part")
	if !created {
		panic("still there")
	}
	f.Append(fd, []byte("hello, "))
	f.Append(fd, []byte("world"))
	f.Sync(fd)
	f.Close(fd)
	if !f.Link("a", "part", "b", "name") {
		panic("name taken")
	}
	f.SyncDir("b")
	s2, _ := read(f, "b", "name")
	return s2
}

// WrongFile gives the name before the content is durable.
func WrongFile(f *filesys.FS) string {
	s, ok := read(f, "b", "name")
	if ok {
		if s != "hello" {
			panic("not what was written")
		}
		return s
	}
	clear(f, "a", "part")
	fd, _ := f.Create("a", "part")
	f.Append(fd, []byte("hello"))
	f.Link("a", "part", "b", "name")
	f.SyncDir("b")
	f.Sync(fd)
	f.Close(fd)
	return "hello"
}
