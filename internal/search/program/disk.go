// SPDX-License-Identifier: Apache-2.0

package program

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
)

// folder is the directory of a search. Package osenv has a better one, which
// needs more than the standard library.
type folder struct {
	root    *os.Root
	durable bool
}

var _ env.Disk = (*folder)(nil)

// openFolder opens an existing directory. If it need not be durable, nothing is
// synced.
func openFolder(dir string, durable bool) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &folder{root, durable}, nil
}

func (d *folder) close() { _ = d.root.Close() } // a directory that was read from

// Open is env.Disk's, and so are the others.
func (d *folder) Open(name string, create bool) (env.File, error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	f, err := d.root.OpenFile(name, flags, 0o666)
	if err != nil {
		return nil, err
	}
	return folderFile{f, d.durable}, nil
}

func (d *folder) Rename(old, new string) error { return d.root.Rename(old, new) }

func (d *folder) Remove(name string) error { return d.root.Remove(name) }

func (d *folder) MakeDir(name string) error { return d.root.MkdirAll(name, 0o777) }

func (d *folder) List(dir string) ([]string, error) {
	entries, err := fs.ReadDir(d.root.FS(), dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names, nil
}

func (d *folder) SyncDir(dir string) error {
	if !d.durable {
		return nil
	}
	f, err := d.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

type folderFile struct {
	*os.File
	durable bool
}

// Append is env.File's, and so are the others.
func (f folderFile) Append(b []byte) error {
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	_, err := f.Write(b)
	return err
}

func (f folderFile) Size() (int64, error) {
	s, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return s.Size(), nil
}

func (f folderFile) Sync() error {
	if !f.durable {
		return nil
	}
	return f.File.Sync()
}
