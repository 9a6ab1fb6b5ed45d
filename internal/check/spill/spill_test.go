// SPDX-License-Identifier: Apache-2.0

package spill

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

func makeRun(t rapid.TB, d env.Disk, name string, fps []uint64) *Run {
	t.Helper()
	w, err := NewWriter(d, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, fp := range fps {
		if err := w.Add(fp); err != nil {
			t.Fatal(err)
		}
	}
	r, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fingerprints draws a set in order; every so often it has more than an extent.
func fingerprints(t *rapid.T, name string) []uint64 {
	n := rapid.SampledFrom([]int{0, 1, 2, pageMax - 1, pageMax, pageMax + 1, 3 * pageMax, extentPages*pageMax + 5}).Draw(t, name)
	x := rapid.Uint64().Draw(t, "seed") | 1
	fps := make([]uint64, n)
	for i := range fps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		fps[i] = x >> (i % 4 * 3)
	}
	if n > 1 {
		fps[0], fps[1] = 0, 1<<64-1
	}
	slices.Sort(fps)
	return slices.Compact(fps)
}

// TestRunFinds looks up fingerprints that are in a run and others, one by one
// and many at once.
func TestRunFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sim.NewDisk()
		all := fingerprints(t, "n")
		r := makeRun(t, d, "run", all)
		if r.Len() != int64(len(all)) {
			t.Fatalf("%d, want %d", r.Len(), len(all))
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		sum := r.Sum()
		r, err := OpenRun(d, "run", int64(len(all)), sum)
		if err != nil || r.Sum() != sum {
			t.Fatalf("%08x, want %08x: %v", r.Sum(), sum, err)
		}
		var back []uint64
		if err := r.Each(func(fp uint64) error { back = append(back, fp); return nil }); err != nil || !slices.Equal(back, all) {
			t.Fatalf("%d came back of %d: %v", len(back), len(all), err)
		}
		every := rapid.SampledFrom([]int{1, 2, 100, 5000}).Draw(t, "every")
		var ask, want []uint64
		for i := 0; i < len(all); i += every {
			ask = append(ask, all[i])
			want = append(want, all[i])
		}
		for _, fp := range rapid.SliceOfN(rapid.Uint64(), 0, 20).Draw(t, "others") {
			if _, ok := slices.BinarySearch(all, fp); !ok {
				ask = append(ask, fp)
			}
		}
		slices.Sort(ask)
		ask = slices.Compact(ask)
		var got []uint64
		if err := r.Find(ask, func(fp uint64) { got = append(got, fp) }); err != nil || !slices.Equal(got, want) {
			t.Fatalf("found %d of %d, want %d: %v", len(got), len(ask), len(want), err)
		}
		for _, fp := range ask[:min(len(ask), 5)] {
			_, in := slices.BinarySearch(all, fp)
			if ok, err := r.Has(fp); err != nil || ok != in {
				t.Fatalf("Has(%x) is %v, want %v: %v", fp, ok, in, err)
			}
		}
	})
}

// TestMerge: the new run has the fingerprints of both runs, and no others.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sim.NewDisk()
		a, b := fingerprints(t, "a"), fingerprints(t, "b")
		b = slices.DeleteFunc(b, func(fp uint64) bool { _, in := slices.BinarySearch(a, fp); return in })
		r, err := Merge(d, "merged", makeRun(t, d, "a", a), makeRun(t, d, "b", b))
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		if err := r.Each(func(fp uint64) error { got = append(got, fp); return nil }); err != nil {
			t.Fatal(err)
		}
		want := append(slices.Clone(a), b...)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%d of %d", len(got), len(want))
		}
	})
}

// TestDamagedRun flips a bit of a run: reading it is an error.
func TestDamagedRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sim.NewDisk()
		all := fingerprints(t, "n")
		if len(all) == 0 {
			return
		}
		r := makeRun(t, d, "run", all)
		sum := r.Sum()
		at := rapid.Int64Range(0, r.Bytes()-1).Draw(t, "at")
		flip(t, d, "run", at, byte(1)<<rapid.IntRange(0, 7).Draw(t, "bit"))
		if err := r.Each(func(uint64) error { return nil }); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("reading: %v", err)
		}
		if _, err := OpenRun(d, "run", int64(len(all)), sum); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("opening: %v", err)
		}
		if _, err := OpenRun(d, "run", int64(len(all))+pageMax, sum); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("opening with another length: %v", err)
		}
	})
}

// TestForeignRun: a run of another search is not accepted in place of one of
// equal length, and runs that have a fingerprint in common are not merged.
func TestForeignRun(t *testing.T) {
	d := sim.NewDisk()
	var a, b []uint64
	for i := range uint64(3 * pageMax) {
		a, b = append(a, 10*i), append(b, 10*i+1)
	}
	b[1000] = a[1000]
	mine, other := makeRun(t, d, "mine", a), makeRun(t, d, "other", b)
	if r, err := OpenRun(d, "other", mine.Len(), mine.Sum()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v: %v", r, err)
	}
	if r, err := OpenRun(d, "other", other.Len(), other.Sum()); err != nil || r.Len() != 3*pageMax {
		t.Errorf("%v: %v", r, err)
	}
	if _, err := Merge(d, "both", mine, other); !errors.Is(err, ErrCorrupt) {
		t.Errorf("merged: %v", err)
	}
	// Fingerprints out of order, with correct checksums.
	page := make([]byte, pageBytes)
	binary.LittleEndian.PutUint32(page[4:], 2)
	binary.LittleEndian.PutUint64(page[pageHead:], 20)
	binary.LittleEndian.PutUint64(page[pageHead+8:], 10)
	binary.LittleEndian.PutUint32(page, checksum(page[4:]))
	f, err := d.Open("odd", true)
	if err == nil {
		_, err = f.WriteAt(page, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := crc32.Update(0, castagnoli, page[:4])
	if r, err := OpenRun(d, "odd", 2, sum); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "a follows 14") {
		t.Errorf("%v: %v", r, err)
	}
}

func flip(t *rapid.T, d env.Disk, name string, at int64, bit byte) {
	f, err := d.Open(name, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= bit
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

// TestTape writes, stores, releases and opens a tape again, and reads the rest
// of it.
func TestTape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sim.NewDisk()
		tape := NewTape(d, "tape")
		var blocks [][]byte
		items := 0
		from := 0
		check := func() {
			for i := from; i < len(blocks); i++ {
				got, err := tape.Read(i)
				if err != nil || !bytes.Equal(got, blocks[i]) {
					t.Fatalf("block %d has %d bytes, want %d: %v", i, len(got), len(blocks[i]), err)
				}
			}
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				if err := tape.Store(rapid.Bool().Draw(t, "release"), rapid.IntRange(0, len(blocks)).Draw(t, "keep")); err != nil {
					t.Fatal(err)
				}
			case 1:
				from = max(from, rapid.IntRange(0, len(blocks)).Draw(t, "from"))
				tape.Release(from)
			case 2:
				if err := tape.Store(false, 0); err != nil {
					t.Fatal(err)
				}
				table := tape.Table(from)
				if err := tape.Close(); err != nil {
					t.Fatal(err)
				}
				var err error
				if tape, err = OpenTape(d, "tape", table); err != nil {
					t.Fatal(err)
				}
				blocks, from = blocks[from:], 0
			default:
				n := rapid.SampledFrom([]int{1, 100, 100_000, BlockBytes, BlockBytes + 1}).Draw(t, "bytes")
				part := bytes.Repeat([]byte{byte(items)}, n)
				block, offset := tape.Append(1, part[:n/2], part[n/2:])
				items++
				if block == len(blocks) {
					blocks = append(blocks, nil)
				}
				if block != len(blocks)-1 || offset != len(blocks[block]) {
					t.Fatalf("item at %d in block %d, want %d in %d", offset, block, len(blocks[len(blocks)-1]), len(blocks)-1)
				}
				blocks[block] = append(blocks[block], part...)
			}
			check()
		}
	})
}

// TestDamagedTape: a block that differs from what was written is an error, and
// so is a table of another file.
func TestDamagedTape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sim.NewDisk()
		tape := NewTape(d, "tape")
		tape.Append(1, bytes.Repeat([]byte{7}, 1000))
		if err := tape.Store(true, 0); err != nil {
			t.Fatal(err)
		}
		flip(t, d, "tape", rapid.Int64Range(0, 999).Draw(t, "at"), 4)
		if _, err := tape.Read(0); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("reading: %v", err)
		}
		for _, b := range []Block{{Bytes: 1001}, {At: 1, Bytes: 1000}, {At: -1, Bytes: 3}, {Bytes: -1}, {At: 1 << 62, Bytes: 1 << 62}} {
			if _, err := OpenTape(d, "tape", []Block{b}); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%+v: %v", b, err)
			}
		}
		if _, err := OpenTape(d, "none", tape.Table(0)); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("no file: %v", err)
		}
	})
}

// fullDisk has no room.
type fullDisk struct{ env.Disk }

var errFull = errors.New("no space left on device")

func (d fullDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	return fullFile{f}, err
}

type fullFile struct{ env.File }

func (f fullFile) WriteAt(b []byte, _ int64) (int, error) { return len(b) / 2, errFull }

// TestFullDisk: the error of the disk is returned, with the name of the file.
func TestFullDisk(t *testing.T) {
	tape := NewTape(fullDisk{sim.NewDisk()}, "tape")
	tape.Append(1, []byte("abc"))
	if err := tape.Store(true, 0); !errors.Is(err, errFull) || fmt.Sprint(err) != "write tape: no space left on device" {
		t.Errorf("the tape: %v", err)
	}
	w, err := NewWriter(fullDisk{sim.NewDisk()}, "run")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(1); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("the run: %v", err)
	}
}
