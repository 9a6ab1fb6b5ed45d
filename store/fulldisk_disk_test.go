// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"path"
	"sync"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// smallDisk is a disk of that many pages. A page of a file takes room from when it
// is first written or allocated until it is discarded, cut off or removed. The disk
// knows nothing about the store.
type smallDisk struct {
	mu    sync.Mutex
	disk  *sim.Disk
	pages int
	used  map[string]map[int64]bool // of each file
	taken int
	// asked counts the requests for room; the requests from number refuse on, or
	// only that one if once is set, are refused. 0: none.
	asked, refuse int
	once          bool
	// long, if not 0, is the length from which writes to pages that have room are
	// refused, as on a disk that never writes in place; refusals counts them.
	long, refusals int
}

func newSmallDisk(pages int) *smallDisk {
	return &smallDisk{disk: sim.NewDisk(), pages: pages, used: map[string]map[int64]bool{}}
}

// clone is another disk with the same content.
func (d *smallDisk) clone() *smallDisk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &smallDisk{disk: d.disk.Clone(), pages: d.pages, used: map[string]map[int64]bool{}, taken: d.taken}
	for name, pages := range d.used {
		c.used[name] = map[int64]bool{}
		for p := range pages {
			c.used[name][p] = true
		}
	}
	return c
}

// crash is a loss of power. Pages that have room keep it, as long as the file exists.
func (d *smallDisk) crash(t *testing.T, fate sim.Fate) {
	t.Helper()
	d.disk.Crash(fate)
	for name := range d.used {
		f, err := d.disk.Open(name, false)
		if err != nil {
			d.cut(name, 0)
			delete(d.used, name)
			continue
		}
		size, err := f.Size()
		must(t, err)
		must(t, f.Close())
		d.cut(name, size)
	}
	// A file whose removal was lost has all its room again.
	names, err := d.disk.List("db")
	must(t, err)
	for _, name := range names {
		name = path.Join("db", name)
		if d.used[name] != nil {
			continue
		}
		f, err := d.disk.Open(name, false)
		must(t, err)
		size, err := f.Size()
		must(t, err)
		must(t, f.Close())
		d.used[name] = map[int64]bool{}
		for p := range (size + 4095) / 4096 {
			d.used[name][p] = true
			d.taken++
		}
	}
}

// cut frees what lies behind a size.
func (d *smallDisk) cut(name string, size int64) {
	for p := range d.used[name] {
		if p*4096 >= size {
			delete(d.used[name], p)
			d.taken--
		}
	}
}

// room takes room for bytes of a file, or returns that there is none.
func (d *smallDisk) room(name string, off, n int64) error {
	used := d.used[name]
	if used == nil {
		used = map[int64]bool{}
		d.used[name] = used
	}
	missing := 0
	for p := off / 4096; p*4096 < off+n; p++ {
		if !used[p] {
			missing++
		}
	}
	if missing == 0 {
		return nil
	}
	d.asked++
	refused := d.refuse > 0 && (d.asked == d.refuse || d.asked > d.refuse && !d.once)
	if refused || d.taken+missing > d.pages {
		return fmt.Errorf("%d pages more than %d of %d: %w", missing, d.taken, d.pages, env.ErrNoSpace)
	}
	for p := off / 4096; p*4096 < off+n; p++ {
		used[p] = true
	}
	d.taken += missing
	return nil
}

// partly counts the granules of that many pages in which some pages have room and
// others, before the end of the file, have none. The first 2 MiB are those of
// superblocks.
func (d *smallDisk) partly(name string, granule int64) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	end, have := int64(0), map[int64]int64{}
	for p := range d.used[name] {
		end = max(end, p+1)
		have[p/granule]++
	}
	for g, pages := range have {
		if g*granule*4096 >= 2<<20 && pages < min(granule, end-g*granule) {
			n++
		}
	}
	return n
}

func (d *smallDisk) Open(name string, create bool) (env.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return &smallFile{f: f.(env.SpaceFile), disk: d, name: name}, nil
}

func (d *smallDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, direct, err := d.disk.OpenDirect(name, create)
	if err != nil {
		return nil, false, err
	}
	return &smallFile{f: f.(env.SpaceFile), disk: d, name: name}, direct, nil
}

func (d *smallDisk) Rename(old, new string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.disk.Rename(old, new)
	if err == nil {
		d.cut(new, 0)
		d.used[new] = d.used[old]
		delete(d.used, old)
	}
	return err
}

func (d *smallDisk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.disk.Remove(name)
	if err == nil {
		d.cut(name, 0)
		delete(d.used, name)
	}
	return err
}

func (d *smallDisk) MakeDir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.disk.MakeDir(name)
}

func (d *smallDisk) List(dir string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.disk.List(dir)
}

func (d *smallDisk) SyncDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.disk.SyncDir(dir)
}

// smallFile is a file of a smallDisk. Open files keep their names, except the data
// file, which is opened anew.
type smallFile struct {
	f    env.SpaceFile
	disk *smallDisk
	name string
}

func (f *smallFile) ReadAt(b []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.f.ReadAt(b, off)
}

func (f *smallFile) WriteAt(b []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.long > 0 && len(b) >= f.disk.long {
		f.disk.refusals++
		return 0, fmt.Errorf("write %d bytes: %w", len(b), env.ErrNoSpace)
	}
	if err := f.disk.room(path.Clean(f.name), off, int64(len(b))); err != nil {
		return 0, err
	}
	return f.f.WriteAt(b, off)
}

func (f *smallFile) Append([]byte) error { panic("the store appends to no file") }

func (f *smallFile) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.f.Size()
}

func (f *smallFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	err := f.f.Truncate(size)
	if err == nil {
		f.disk.cut(path.Clean(f.name), size)
	}
	return err
}

func (f *smallFile) Allocate(off, n int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.room(path.Clean(f.name), off, n); err != nil {
		return err
	}
	return f.f.Allocate(off, n)
}

func (f *smallFile) Discard(off, n int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	for p := (off + 4095) / 4096; (p+1)*4096 <= off+n; p++ {
		if used := f.disk.used[path.Clean(f.name)]; used[p] {
			delete(used, p)
			f.disk.taken--
		}
	}
	return f.f.Discard(off, n)
}

func (f *smallFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.f.Sync()
}

func (f *smallFile) Close() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.f.Close()
}
