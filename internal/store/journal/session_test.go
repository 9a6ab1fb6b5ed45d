// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// TestSessions plays what testdata/log says:
//
//	new [pages=N]        an empty store with segments of N pages
//	live SCRIPT          a life: it recovers and plays the script (world.play)
//	kill                 the program ends; nothing is lost
//	crash [keep=FILE:SECTOR-SECTOR ...]
//	                     power is lost; of what is not synced, the sectors stay
//	                     that are named, and names and sizes with names=true
//	break FILE at=N [zero=N]
//	                     changes a byte, or makes zeros
//	files                what is in the files
//	replay               what a recovery finds
func TestSessions(t *testing.T) {
	datadriven.Walk(t, "testdata/log", func(t *testing.T, file string) {
		w := newWorld(4 * PageSize)
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			switch d.Cmd {
			case "new":
				pages := 4
				d.MaybeScanArgs(t, "pages", &pages)
				w = newWorld(pages * PageSize)
			case "live":
				w = w.on(w.disk)
				r, err := w.open()
				report(&out, w, r, err)
				if err == nil && len(d.CmdArgs) > 0 {
					if err := w.play(d.CmdArgs[0].Key, nil); err != nil {
						fmt.Fprintln(&out, err)
					}
				}
			case "kill":
				must(t, w.log.Close())
			case "crash":
				w.disk.Crash(keepNamed(t, w, d))
			case "break":
				breakFile(t, w.disk, d)
			case "files":
				files(t, &out, w)
			case "replay":
				r, err := w.on(w.disk).open()
				report(&out, w, r, err)
			default:
				d.Fatalf(t, "no such command")
			}
			if out.Len() == 0 {
				return "ok\n"
			}
			return out.String()
		})
	})
}

func report(out *strings.Builder, w *world, r recovered, err error) {
	for i, f := range r.frames {
		fmt.Fprintf(out, "segment %d: %v\n", r.segments[i], f)
	}
	if err != nil {
		fmt.Fprintln(out, err)
		return
	}
	fmt.Fprintf(out, "next: message %d, segment %d\n", r.end.Next, r.end.Segment)
}

// keepNamed is the Fate that the arguments describe.
func keepNamed(t *testing.T, w *world, d *datadriven.TestData) sim.Fate {
	t.Helper()
	names := false
	type span struct {
		file     uint64
		from, to int64
	}
	var keep []span
	for _, a := range d.CmdArgs {
		for _, v := range a.Vals {
			if a.Key == "names" {
				names = true
				continue
			}
			var s span
			var slot int
			if _, err := fmt.Sscanf(v, "%d:%d-%d", &slot, &s.from, &s.to); err != nil {
				d.Fatalf(t, "%s: %v", v, err)
			}
			s.file = fileNumber(t, w.disk, slot)
			keep = append(keep, s)
		}
	}
	return sim.KeepFunc(func(p sim.Piece, ops []uint64) int {
		kept := names && p.What != sim.ContentPiece
		for _, s := range keep {
			kept = kept || p.What == sim.ContentPiece && p.File == s.file && s.from <= p.Sector && p.Sector <= s.to
		}
		if kept {
			return len(ops)
		}
		return 0
	})
}

// fileNumber is the simulator's number of a slot file: found by a write that a
// copy of the disk has not synced.
func fileNumber(t *testing.T, d *sim.Disk, slot int) (n uint64) {
	t.Helper()
	c := d.Clone()
	f, err := c.Open(fmt.Sprintf("j/JOURNAL-%02d", slot), false)
	must(t, err)
	const far = 1 << 30
	_, err = f.WriteAt([]byte("x"), far)
	must(t, err)
	c.Crash(sim.KeepFunc(func(p sim.Piece, ops []uint64) int {
		if p.What == sim.ContentPiece && p.Sector == far/sim.Sector {
			n = p.File
		}
		return 0
	}))
	return n
}

func breakFile(t *testing.T, disk *sim.Disk, d *datadriven.TestData) {
	t.Helper()
	var at int64
	zero := 0
	d.ScanArgs(t, "at", &at)
	d.MaybeScanArgs(t, "zero", &zero)
	f, err := disk.Open(path.Join("j", d.CmdArgs[0].Key), false)
	must(t, err)
	b := make([]byte, max(zero, 1))
	if _, err := f.ReadAt(b, at); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	b[0] ^= 1
	if zero > 0 {
		clear(b)
	}
	_, err = f.WriteAt(b, at)
	must(t, err)
	must(t, f.Sync())
}

// files prints a dump of the files: each page that is not zero at its beginning.
func files(t *testing.T, out *strings.Builder, w *world) {
	t.Helper()
	names, err := w.disk.List("j")
	must(t, err)
	for _, name := range names {
		var f env.File
		f, err = w.disk.Open(path.Join("j", name), false)
		must(t, err)
		size, err := f.Size()
		must(t, err)
		b := make([]byte, size)
		if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		info, flaw := readSegmentHeader(b, testStore)
		if flaw.OK() {
			fmt.Fprintf(out, "%s: segment %d of life %d, from message %d on\n", name, info.Number, info.Session, info.First)
		} else {
			fmt.Fprintf(out, "%s: no segment: want %s, found %s\n", name, flaw.Want(), flaw.Found())
		}
		for off := SegmentHeader; off+PageSize <= len(b); off += PageSize {
			h, flaw := readHeader(b[off:], testStore, uint32(off))
			if !flaw.OK() {
				continue
			}
			state := "whole"
			if off+h.Padded() > len(b) || frameChecksum(b[off:off+h.Padded()]) != uint32(b[off+60])|uint32(b[off+61])<<8|uint32(b[off+62])<<16|uint32(b[off+63])<<24 {
				state = "torn"
			}
			fmt.Fprintf(out, "  %d: segment %d, %v, durable %d, %s\n", off, h.Segment, sealed{h.Session, h.First, h.Count}, h.Durable, state)
		}
	}
	if len(names) == 0 {
		out.WriteString("none\n")
	}
}
