// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// Files of past versions are kept forever; -update writes those of this one.
var update = flag.Bool("update", false, "write the golden files of this version")

func golden(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Fatalf("%s: %d bytes, want %d; the first other one is %d", name, len(got), len(want), at)
	}
	return want
}

func describe(t *testing.T, f func(w io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGoldenSuperblock(t *testing.T) {
	full, changed := super(), super()
	changed.Merger, changed.Clean, changed.Chunks = "", false, nil
	spaces := super()
	spaces.Features = Keyspaces
	for name, want := range map[string]Superblock{"superblock-v1": full, "superblock-empty-v1": changed, "superblock-v2": spaces} {
		b := golden(t, name+".bin", encoded(want))
		got, err := DecodeSuper(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s: want, got:\n%s", name, diff)
		}
		golden(t, name+".txt", describe(t, got.Describe))
	}
}

// goldenTable makes a table with every kind of object and every kind of change.
func goldenTable() (t *Table, full, delta []byte, before, after []Object) {
	t = New(testUUID())
	t.Put(Object{ID: 1, Kind: Root, Epoch: 1, Body: []byte("the root")})
	t.Put(Object{ID: 2, Kind: Branch, Epoch: 2, Body: body(300, 2)})
	t.Put(Object{ID: 3, Kind: Node, Epoch: 2})
	t.Put(Object{ID: 1 << 40, Kind: Node, Epoch: 1<<64 - 1, Body: body(66_000, 3)})
	full = t.Full(nil, 30)
	before = t.Objects()
	t.Drop(3)
	t.Put(Object{ID: 1, Kind: Root, Epoch: 3, Body: []byte("the root again")})
	t.Put(Object{ID: 4, Kind: Branch, Epoch: 3, Body: body(40, 4)})
	delta = t.Delta(nil, 31)
	return t, full, delta, before, t.Objects()
}

func TestGoldenTable(t *testing.T) {
	_, full, delta, before, after := goldenTable()
	full = golden(t, "table-full-v1.bin", full)
	delta = golden(t, "table-delta-v1.bin", delta)
	got := New(testUUID())
	for _, step := range []struct {
		chunk []byte
		seq   uint64
		want  []Object
	}{{full, 30, before}, {delta, 31, after}} {
		if err := got.Apply(step.chunk, step.seq); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(step.want, got.Objects()); diff != "" {
			t.Fatalf("chunk %d: want, got:\n%s", step.seq, diff)
		}
	}
	got.Put(Object{ID: 2, Kind: Branch, Epoch: 4})
	golden(t, "table-v1.txt", describe(t, func(w io.Writer) error {
		return got.Describe(w, func(w io.Writer, o Object) {
			if o.Kind == Root {
				fmt.Fprintf(w, "  %q\n", o.Body)
			}
		})
	}))
}

// full is a Writer on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("full")

func TestDescribeTellsOfAFailedWrite(t *testing.T) {
	if err := super().Describe(full{}); err != errFull {
		t.Errorf("superblock: %v", err)
	}
	if err := New(testUUID()).Describe(full{}, nil); err != errFull {
		t.Errorf("table: %v", err)
	}
}
