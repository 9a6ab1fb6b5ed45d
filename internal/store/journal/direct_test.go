// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
)

// aligned is memory that begins at a multiple of PageSize.
func aligned(n int) []byte {
	b := make([]byte, n+PageSize)
	skip := -int(reflect.ValueOf(b).Pointer()) & (PageSize - 1)
	return b[skip : skip+n : skip+n]
}

// directDisk checks the calls of direct files.
type directDisk struct {
	*sim.Disk
	t                       *testing.T
	opened, allocated, used int
}

func (d *directDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, err := d.Disk.Open(name, create)
	d.opened++
	return &directFile{f, d}, true, err
}

type directFile struct {
	env.File
	d *directDisk
}

func (f *directFile) check(b []byte, off int64) {
	f.d.t.Helper()
	f.d.used++
	if at := reflect.ValueOf(b).Pointer(); len(b) == 0 || len(b)%env.DirectUnit != 0 || off%env.DirectUnit != 0 || at%env.DirectUnit != 0 {
		f.d.t.Errorf("%d bytes at %d, memory at %#x", len(b), off, at)
	}
}

func (f *directFile) ReadAt(b []byte, off int64) (int, error) {
	f.check(b, off)
	return f.File.ReadAt(b, off)
}

func (f *directFile) WriteAt(b []byte, off int64) (int, error) {
	f.check(b, off)
	return f.File.WriteAt(b, off)
}

func (f *directFile) Allocate(off, n int64) error {
	f.d.allocated++
	return f.Truncate(off + n)
}

func (f *directFile) Discard(off, n int64) error { return fmt.Errorf("nothing is discarded here") }

// TestDirectFiles: a disk that bypasses the cache gets no call that it cannot do.
func TestDirectFiles(t *testing.T) {
	d := &directDisk{Disk: sim.NewDisk(), t: t}
	must(t, d.MakeDir("j"))
	chain := ChainState{Segment: 1, Next: 1}
	for life := range 3 {
		log, err := Open(d, "j", Options{Store: testStore, Direct: true, Buffer: aligned(2 * PageSize)})
		must(t, err)
		frames := 0
		end, err := log.Replay(chain, func(_ SegmentInfo, size int) ([]byte, func(Header, int, int) error, error) {
			return aligned(size), func(Header, int, int) error { frames++; return nil }, nil
		})
		must(t, err)
		if frames != 2*life {
			t.Errorf("life %d: %d frames, want %d", life, frames, 2*life)
		}
		image := aligned(5 * PageSize)
		writeSegment(t, log, &end, uint64(life+10), image)
		must(t, log.Close())
	}
	if d.opened != 6 || d.allocated != 3 || d.used < 10 {
		t.Errorf("%d files opened, %d allocated, %d reads and writes", d.opened, d.allocated, d.used)
	}
	if _, err := Open(d, "j", Options{Direct: true}); err == nil {
		t.Errorf("direct access without a buffer of the caller's")
	}
	if _, err := Open(d, "j", Options{Buffer: make([]byte, 100)}); err == nil {
		t.Errorf("a buffer of 100 bytes")
	}
}

// writeSegment begins a segment with two frames, the second of two pages, and
// syncs it.
func writeSegment(t testing.TB, log *Log, chain *ChainState, session uint64, image []byte) {
	t.Helper()
	g, err := log.Begin(SegmentInfo{Number: chain.Segment, Size: uint32(len(image)), First: chain.Next, Prev: chain.Prev, Session: session}, image)
	must(t, err)
	number, off := chain.Segment, SegmentHeader
	for i, n := range []int{1000, PageSize + 1} {
		h := Header{Store: testStore, Segment: number, Offset: uint32(off), First: chain.Next, Count: 3, Len: uint32(n), Session: session, Prev: chain.Prev, Start: i == 0}
		chain.Advance(h, Seal(image[off:off+h.Padded()], h))
		must(t, g.Write(off, off+h.Padded()))
		off += h.Padded()
	}
	must(t, g.Sync())
}

// TestRealFiles: the same on the system's disk, direct where it can.
func TestRealFiles(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	defer disk.Close()
	for _, direct := range []bool{false, true} {
		dir := fmt.Sprint("direct-", direct)
		must(t, disk.MakeDir(dir))
		first := ChainState{Segment: 1, Next: 1}
		chain := first
		for life := range 2 {
			log, err := Open(disk, dir, Options{Store: testStore, Direct: direct, Buffer: aligned(16 * PageSize)})
			must(t, err)
			frames := 0
			end, err := log.Replay(first, func(_ SegmentInfo, size int) ([]byte, func(Header, int, int) error, error) {
				return aligned(size), func(Header, int, int) error { frames++; return nil }, nil
			})
			must(t, err)
			if frames != 2*life || end.Next != chain.Next {
				t.Errorf("life %d: %d frames, next %d; want %d, %d", life, frames, end.Next, 2*life, chain.Next)
			}
			chain = end
			writeSegment(t, log, &chain, uint64(life), aligned(5*PageSize))
			must(t, log.Close())
		}
	}
}

// discard is a Loader's frame that keeps nothing.
func discard(Header, int, int) error { return nil }

func BenchmarkSeal(b *testing.B) {
	for _, size := range []int{PageSize, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			frame := aligned(size)
			payload(frame[HeaderSize:], 1)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				Seal(frame, Header{Store: testStore, Segment: 1, Offset: PageSize, First: 2, Count: 3, Len: uint32(size)})
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	for _, size := range []int{PageSize, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			const pages = 256
			lengths := make([]int, pages*PageSize/size)
			for i := range lengths {
				lengths[i] = size
			}
			image, _ := segmentImage((pages+1)*PageSize, sampleInfo, lengths...)
			info, _ := readSegmentHeader(image, testStore)
			b.SetBytes(int64(len(image)))
			b.ReportAllocs()
			for b.Loop() {
				s := NewScanner(testStore, sampleChain)
				if flaw := s.Enter(info, len(image)); !flaw.OK() {
					b.Fatal(flaw)
				}
				frames := 0
				for s.Step(image).Kind == Next {
					frames++
				}
				if frames != len(lengths) {
					b.Fatal(frames)
				}
			}
		})
	}
}

// BenchmarkReplay opens and reads logs of the system's disk: a full segment of
// 16 MiB with frames of 64 KiB, and an empty log.
func BenchmarkReplay(b *testing.B) {
	for _, direct := range []bool{false, true} {
		b.Run(fmt.Sprint("16MiB/direct=", direct), func(b *testing.B) {
			disk, err := osenv.OpenDisk(b.TempDir())
			must(b, err)
			defer disk.Close()
			o := Options{Store: testStore, Direct: direct, Buffer: aligned(1 << 20)}
			log, err := Open(disk, ".", o)
			must(b, err)
			first := ChainState{Segment: 1, Next: 1}
			_, err = log.Replay(first, nil)
			must(b, err)
			image := aligned(16 << 20)
			g, err := log.Begin(SegmentInfo{Number: 1, Size: 16 << 20, First: 1}, image)
			must(b, err)
			chain, off := first, SegmentHeader
			for off < len(image) {
				h := Header{Store: testStore, Segment: 1, Offset: uint32(off), First: chain.Next, Count: 100, Len: uint32(min(64<<10, len(image)-off)), Prev: chain.Prev}
				chain.Advance(h, Seal(image[off:off+h.Padded()], h))
				off += h.Padded()
			}
			must(b, g.Write(SegmentHeader, off))
			must(b, g.Sync())
			must(b, log.Close())
			b.SetBytes(16 << 20)
			b.ReportAllocs()
			for b.Loop() {
				log, err := Open(disk, ".", o)
				must(b, err)
				end, err := log.Replay(first, func(SegmentInfo, int) ([]byte, func(Header, int, int) error, error) { return image, discard, nil })
				must(b, err)
				if end.Next != chain.Next {
					b.Fatal(end)
				}
				must(b, log.Close())
			}
		})
	}
	b.Run("small", func(b *testing.B) { // as tests of the store have it
		w := newWorld(5 * PageSize)
		_, err := w.open()
		must(b, err)
		must(b, w.play("fsrffs", nil))
		buffer := make([]byte, 16<<10)
		image := make([]byte, 5*PageSize)
		b.ReportAllocs()
		for b.Loop() {
			log, err := Open(w.disk, "j", Options{Store: testStore, Buffer: buffer})
			must(b, err)
			_, err = log.Replay(w.super, func(SegmentInfo, int) ([]byte, func(Header, int, int) error, error) { return image, discard, nil })
			must(b, err)
			must(b, log.Close())
		}
	})
}

// BenchmarkCommit is a frame of 4 KiB sealed, written and synced, each b.N.
func BenchmarkCommit(b *testing.B) {
	disk, err := osenv.OpenDisk(b.TempDir())
	must(b, err)
	defer disk.Close()
	log, err := Open(disk, ".", Options{Store: testStore, Direct: true, Buffer: aligned(1 << 20)})
	must(b, err)
	chain, err := log.Replay(ChainState{Segment: 1, Next: 1}, nil)
	must(b, err)
	image := aligned(16 << 20)
	g, err := log.Begin(SegmentInfo{Number: 1, Size: 16 << 20, First: 1}, image)
	must(b, err)
	off := SegmentHeader
	b.ReportAllocs()
	for b.Loop() {
		h := Header{Store: testStore, Segment: 1, Offset: uint32(off), First: chain.Next, Count: 1, Len: PageSize, Prev: chain.Prev}
		chain.Advance(h, Seal(image[off:off+PageSize], h))
		must(b, g.Write(off, off+PageSize))
		must(b, g.Sync())
		if off += PageSize; off == len(image) {
			off = SegmentHeader
		}
	}
	must(b, log.Close())
}

// TestPathsAllocateNothing checks the calls that are made for each frame.
func TestPathsAllocateNothing(t *testing.T) {
	image, _ := segmentImage(4*PageSize, sampleInfo, 1000, 1000, 1000)
	info, _ := readSegmentHeader(image, testStore)
	frame := make([]byte, PageSize)
	if n := testing.AllocsPerRun(100, func() {
		Seal(frame, Header{Store: testStore, Segment: 1, Offset: PageSize, First: 2, Count: 3, Len: PageSize})
		s := NewScanner(testStore, sampleChain)
		s.Enter(info, len(image))
		for s.Step(image).Kind == Next {
		}
		Witness(testStore, image, 0, 1000)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
