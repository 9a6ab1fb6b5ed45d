package osenv

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"github.com/ashlar-dev/ashlar/env"
)

// Disk is a directory of the machine.
type Disk struct{ root *os.Root }

var _ env.Disk = (*Disk)(nil)

// OpenDisk opens the directory and makes it where it is absent. Names cannot lead out of it, symbolic links included.
func OpenDisk(dir string) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Disk{root}, nil
}

// Close gives the directory back. Open files stay open.
func (d *Disk) Close() error { return d.root.Close() }

func (d *Disk) Open(name string, create bool) (env.File, error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	f, err := d.root.OpenFile(filepath.FromSlash(name), flags, 0o666)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (d *Disk) Rename(old, new string) error {
	return d.root.Rename(filepath.FromSlash(old), filepath.FromSlash(new))
}

func (d *Disk) Remove(name string) error { return d.root.Remove(filepath.FromSlash(name)) }

func (d *Disk) MakeDir(name string) error {
	return d.root.MkdirAll(filepath.FromSlash(name), 0o777)
}

func (d *Disk) List(dir string) ([]string, error) {
	entries, err := fs.ReadDir(d.root.FS(), filepath.ToSlash(filepath.Clean(dir)))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	sort.Strings(names)
	return names, nil
}

func (d *Disk) SyncDir(dir string) error {
	f, err := d.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}

type file struct{ f *os.File }

func (f file) ReadAt(b []byte, off int64) (int, error)  { return f.f.ReadAt(b, off) }
func (f file) WriteAt(b []byte, off int64) (int, error) { return f.f.WriteAt(b, off) }
func (f file) Truncate(size int64) error                { return f.f.Truncate(size) }
func (f file) Sync() error                              { return f.f.Sync() }
func (f file) Close() error                             { return f.f.Close() }

func (f file) Append(b []byte) error {
	if _, err := f.f.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	_, err := f.f.Write(b)
	return err
}

func (f file) Size() (int64, error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
