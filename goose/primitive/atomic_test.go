// SPDX-License-Identifier: Apache-2.0

package primitive_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
)

// Operations that the operating system does in pieces, observed so often that a
// partial result would be seen.

// race runs look repeatedly while write runs n times, fewer in short tests.
func race(t *testing.T, times int, write func(i int), look func()) {
	t.Helper()
	var done atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !done.Load() {
			look()
		}
	}()
	if testing.Short() {
		times /= 5
	}
	for i := range times {
		write(i)
	}
	done.Store(true)
	<-ended
}

func TestBlocksAreNotTorn(t *testing.T) {
	d, err := disk.OpenAsync(filepath.Join(t.TempDir(), "disk"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	values := [][]byte{crashtest.Block(1), crashtest.Block(^uint64(1))}
	torn := 0
	race(t, 100_000, func(i int) { d.Write(0, values[i%2]) }, func() {
		if crashtest.Number(d.Read(0)) == crashtest.Torn {
			torn++
		}
	})
	if torn > 0 {
		t.Errorf("%d blocks were of two writes", torn)
	}
}

func openFS(t *testing.T) *filesys.FS {
	t.Helper()
	f, err := filesys.Open(t.TempDir(), fsDirs())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Shut(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestAppendsAreWhole(t *testing.T) {
	f := openFS(t)
	to, _ := f.Create("a", "x")
	from, _ := f.Open("a", "x")
	piece := []byte(strings.Repeat("x", 1<<20))
	odd := 0
	race(t, 40, func(int) { f.Append(to, piece) }, func() {
		if f.Size(from)%uint64(len(piece)) != 0 {
			odd++
		}
	})
	if odd > 0 {
		t.Errorf("%d times there was a part of an append", odd)
	}
}

// TestListsAreOfOneMoment: among many names there is always a certain one, or
// the next of its kind.
func TestListsAreOfOneMoment(t *testing.T) {
	f := openFS(t)
	create := func(name string) {
		fd, _ := f.Create("a", name)
		f.Close(fd)
	}
	for i := range 1000 {
		create(fmt.Sprint("other", i))
	}
	create("x0")
	missed := 0
	race(t, 5000, func(i int) {
		f.Link("a", fmt.Sprint("x", i), "a", fmt.Sprint("x", i+1))
		f.Unlink("a", fmt.Sprint("x", i))
	}, func() {
		for _, name := range f.List("a") {
			if name[0] == 'x' {
				return
			}
		}
		missed++
	})
	if missed > 0 {
		t.Errorf("%d lists were of no moment", missed)
	}
}
