package journal

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// cacheDisk is a machine's cache over a disk: what is written stays in the cache
// until it is synced. When a sync fails, the cache takes for clean what was not
// written: it goes on showing it, and no later sync writes it.
type cacheDisk struct {
	*sim.Disk
	fail  bool
	files map[string]*cacheFile
}

type cacheFile struct {
	env.File
	disk  *cacheDisk
	pages map[int64][]byte // that were written
	dirty map[int64]bool
}

func (d *cacheDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	c := d.files[name]
	if c == nil {
		c = &cacheFile{disk: d, pages: map[int64][]byte{}, dirty: map[int64]bool{}}
		d.files[name] = c
	}
	c.File = f
	return c, nil
}

func (f *cacheFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	for at := off &^ (PageSize - 1); at < off+int64(n); at += PageSize {
		if p, ok := f.pages[at]; ok {
			copy(b[max(0, at-off):n], p[max(0, off-at):])
		}
	}
	return n, err
}

func (f *cacheFile) WriteAt(b []byte, off int64) (int, error) {
	for at := off; at < off+int64(len(b)); at += PageSize {
		f.pages[at] = append([]byte(nil), b[at-off:][:PageSize]...)
		f.dirty[at] = true
	}
	return len(b), nil
}

func (f *cacheFile) Sync() error {
	defer clear(f.dirty)
	if f.disk.fail {
		return errors.New("input/output error")
	}
	for at := range f.dirty {
		if _, err := f.File.WriteAt(f.pages[at], at); err != nil {
			return err
		}
	}
	return f.File.Sync()
}

// TestAFailedSyncTakesNothingFromTheNextLife: a life's last sync fails, and the next
// one finds what that has not written, in the cache. It acknowledges more behind
// it. After a loss of power all that was acknowledged is there.
func TestAFailedSyncTakesNothingFromTheNextLife(t *testing.T) {
	for _, first := range []string{"fsf", "fsff", "f", "fsrf", "fsFrf", "fsfwFwrff"} {
		for _, next := range []string{"s", "fs", "rfs", "Fs"} {
			t.Run(fmt.Sprintf("%s then %s", first, next), func(t *testing.T) {
				w := newWorld(8 * PageSize)
				cache := &cacheDisk{Disk: w.disk, files: map[string]*cacheFile{}}
				w.over = func(env.Disk) env.Disk { return cache }
				if _, err := w.open(); err != nil {
					t.Fatal(err)
				}
				if err := w.play(first, nil); err != nil {
					t.Fatal(err)
				}
				cache.fail = true
				if err := w.sync(); err == nil {
					t.Fatal("a failing sync is acknowledged")
				}
				if err := w.log.Close(); err != nil {
					t.Fatal(err)
				}
				cache.fail = false
				if _, err := w.open(); err != nil {
					t.Fatal(err)
				}
				if next == "s" { // it only syncs what it has found
					if err := w.log.Sync(); err != nil {
						t.Fatal(err)
					}
					w.floor = len(w.history)
				} else if err := w.play(next, nil); err != nil {
					t.Fatal(err)
				}
				history, floor := w.history, w.floor
				w.disk.Crash(sim.KeepUpTo(0))
				cache.files = map[string]*cacheFile{}
				r, err := w.open()
				if err == nil {
					err = w.check(history, floor, r)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestATailThatIsGoneIsNotAcknowledged: the cache forgets the clean pages as well,
// after they were read. The next Begin or Sync says so.
func TestATailThatIsGoneIsNotAcknowledged(t *testing.T) {
	w := newWorld(8 * PageSize)
	cache := &cacheDisk{Disk: w.disk, files: map[string]*cacheFile{}}
	w.over = func(env.Disk) env.Disk { return cache }
	if _, err := w.open(); err != nil {
		t.Fatal(err)
	}
	if err := w.play("fsf", nil); err != nil {
		t.Fatal(err)
	}
	cache.fail = true
	if err := w.sync(); err == nil {
		t.Fatal("a failing sync is acknowledged")
	}
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	cache.fail = false
	if _, err := w.open(); err != nil {
		t.Fatal(err)
	}
	for _, f := range cache.files {
		clear(f.pages)
	}
	if err := w.log.Sync(); !errors.Is(err, errTail) {
		t.Errorf("got %v, want that it is gone", err)
	}
}
