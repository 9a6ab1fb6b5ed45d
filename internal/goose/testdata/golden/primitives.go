// Package primitives shows the devices.
package primitives

import (
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
	"github.com/ashlar-dev/ashlar/goose/primitive/machine"
)

type store struct {
	d  *disk.Disk
	t  *disk.Two
	a  *disk.Async
	fs *filesys.FS
	f  filesys.File
}

func (s *store) copy(from, to uint64) {
	b := s.d.Read(from)
	s.d.Write(to, b)
	if c, ok := s.t.Read(0, from); ok {
		s.t.Write(1, to, c)
	}
	s.a.Write(to, s.a.Read(from))
	s.a.Barrier()
}

func (s *store) sizes() uint64 { return s.d.Size() + s.t.Size() + s.a.Size() }

func block(n uint64) []byte {
	b := make([]byte, disk.BlockSize)
	machine.UInt64Put(b, n)
	machine.UInt64Put(b[8:], disk.BlockSize)
	return b
}

func (s *store) files(dir string) uint64 {
	f, ok := s.fs.Create(dir, machine.UInt64ToString(machine.RandomUint64()))
	if !ok {
		return 0
	}
	s.f = f
	s.fs.Append(f, block(5))
	s.fs.Sync(f)
	s.fs.Close(f)
	s.fs.SyncDir(dir)
	for _, name := range s.fs.List(dir) {
		if !s.fs.Link(dir, name, "other", name) {
			s.fs.Unlink(dir, name)
		}
	}
	g, _ := s.fs.Open(dir, "x")
	n := machine.UInt64Get(s.fs.ReadAt(g, 0, 8))
	return n + s.fs.Size(g)
}
