// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/internal/check/spill"
	"github.com/ashlar-dev/ashlar/sim"
)

// smallKept is the checkpoint of a search of a small graph, with blocks of a level,
// of a run and of a lineage on disk.
func smallKept(t *testing.T) (*graph, *sim.Disk, Options) {
	g, d := chain(150), sim.NewDisk()
	for i := range g.edges {
		g.edges[i] = append(g.edges[i], edge{to: (i*7 + 3) % 150}, edge{to: (i*i + 11) % 150})
	}
	polls := 0
	o := Options{Disk: newTestDisk(d), MemoryBytes: 1, Checkpoint: &Checkpoint{Identity: []IdentityPart{{"graph", "3"}},
		Due: func() bool { polls++; return polls <= 3 }}}
	r, err := interruptedAt(g, o, 100)
	if err != nil || r.Verdict != Interrupted || !slices.Contains(files(t, d), manifestName) {
		t.Fatalf("%v, %v: no checkpoint is kept", r, err)
	}
	return g, d, o
}

// interruptedAt searches until the given number of states are being expanded,
// and no further, however late the search notices the end of its context.
func interruptedAt(g *graph, o Options, calls int) (*Result, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var m Monitor
	o.Monitor = &m
	g.onNext = func() {
		if calls--; calls == 0 {
			cancel()
			for !m.search.Load().ending.stopped() {
				runtime.Gosched()
			}
		}
	}
	defer func() { g.onNext = nil }()
	return Run(ctx, g, o)
}

// resumeOf resumes the checkpoint on a disk; a search that does not end is an
// error.
func resumeOf(t *testing.T, g *graph, d *sim.Disk, o Options) (*Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o.Disk, o.Checkpoint = newTestDisk(d), &Checkpoint{Resume: true, Identity: o.Checkpoint.Identity}
	r, err := Run(ctx, g, o)
	if err == nil && r.Verdict == Interrupted {
		t.Fatal("the search did not come to its end")
	}
	return r, err
}

func contents(t *testing.T, d *sim.Disk, name string) []byte {
	t.Helper()
	data, err := readFile(d, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func replaceFile(t *testing.T, d *sim.Disk, name string, data []byte) {
	t.Helper()
	if err := writeFile(d, name, data); err != nil {
		t.Fatal(err)
	}
}

// TestEveryByteOfACheckpoint changes each byte of a checkpoint in turn,
// truncates its files at every length, extends them, removes them, and exchanges
// them: a search that resumes nevertheless has the right outcome.
func TestEveryByteOfACheckpoint(t *testing.T) {
	g, kept, o := smallKept(t)
	want := g.reference()
	refused, resumed := 0, 0
	try := func(what string, change func(d *sim.Disk)) {
		t.Helper()
		d := kept.Clone()
		change(d)
		r, err := resumeOf(t, g, d, o)
		if err != nil {
			refused++
			return
		}
		resumed++
		if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
			t.Fatalf("%s (-reference +resumed):\n%s", what, diff)
		}
	}
	names := files(t, kept)
	for _, name := range names {
		data := contents(t, kept, name)
		step := 1
		if testing.Short() {
			step = 13
		}
		for at := 0; at < len(data); at += step {
			try(fmt.Sprintf("%s, byte %d", name, at), func(d *sim.Disk) {
				b := bytes.Clone(data)
				b[at] ^= byte(1 + at%255)
				replaceFile(t, d, name, b)
			})
		}
		for length := 0; length < len(data); length += 1 + len(data)/64 {
			try(fmt.Sprintf("%s, the first %d bytes", name, length), func(d *sim.Disk) { replaceFile(t, d, name, data[:length]) })
		}
		try(name+" and more", func(d *sim.Disk) { replaceFile(t, d, name, append(bytes.Clone(data), data...)) })
		try("no "+name, func(d *sim.Disk) {
			if err := d.Remove(name); err != nil {
				t.Fatal(err)
			}
		})
		for _, other := range names {
			if other != name {
				try(other+" for "+name, func(d *sim.Disk) { replaceFile(t, d, name, contents(t, kept, other)) })
			}
		}
	}
	t.Logf("%d refused, %d resumed, files %v", refused, resumed, names)
	if refused < 1000 && !testing.Short() || resumed == 0 {
		t.Errorf("%d refused, %d resumed", refused, resumed)
	}
}

// forge changes every part of a manifest in turn, and calls try with each.
func forge(t *testing.T, manifest []byte, try func(what string, forged any)) {
	t.Helper()
	_, text, _ := bytes.Cut(manifest, []byte{'\n'})
	var root any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&root); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, v any, put func(any))
	walk = func(path string, v any, put func(any)) {
		with := func(x any) {
			put(x)
			try(fmt.Sprintf("%s = %v", path, x), root)
			put(v)
		}
		switch v := v.(type) {
		case json.Number:
			n, _ := v.Int64()
			for _, x := range []int64{-1, 0, 1, n - 1, n + 1, 2*n + 7, 1 << 31, 1<<32 - 1, 1 << 40, 1<<63 - 1, -1 << 63} {
				with(x)
			}
		case string:
			for _, x := range []string{"", "../x", "checkpoint", "run-1", "model-1"} {
				with(x)
			}
		case []any:
			with([]any{})
			if len(v) > 0 {
				with(v[1:])
				with(append(slices.Clone(v), v[0]))
			}
			for i := range min(len(v), 3) {
				walk(fmt.Sprint(path, "[", i, "]"), v[i], func(x any) { v[i] = x })
			}
		case map[string]any:
			for k, x := range v {
				walk(path+"."+k, x, func(x any) { v[k] = x })
			}
		}
	}
	walk("", root, func(any) {})
}

// TestForgedManifests: a manifest with changed content and the matching
// checksum may be accepted, but the search ends, and does not panic.
func TestForgedManifests(t *testing.T) {
	g, kept, o := smallKept(t)
	refused, believed := 0, 0
	forge(t, contents(t, kept, manifestName), func(what string, forged any) {
		text, err := json.Marshal(forged)
		if err != nil {
			t.Fatal(err)
		}
		d := kept.Clone()
		replaceFile(t, d, manifestName, append(append(hex.AppendEncode(nil, crcBytes(text)), '\n'), text...))
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s: %v", what, p)
			}
		}()
		if _, err := resumeOf(t, g, d, o); err != nil {
			refused++
		} else {
			believed++
		}
	})
	t.Logf("%d refused, %d believed", refused, believed)
	if refused < 100 {
		t.Errorf("%d refused, %d believed", refused, believed)
	}
}

// TestContradictoryManifests: a manifest whose parts contradict each other is
// refused for that reason, before any file is opened.
func TestContradictoryManifests(t *testing.T) {
	g, kept, o := smallKept(t)
	_, text, _ := bytes.Cut(contents(t, kept, manifestName), []byte{'\n'})
	for _, c := range []struct {
		change func(m *manifest)
		want   string
	}{
		{func(m *manifest) { m.Stats.Generated += 5 }, "of them expanded"},
		{func(m *manifest) { m.Levels[0]++ }, "of them expanded"},
		{func(m *manifest) { m.Number-- }, "of them expanded"},
		{func(m *manifest) { m.Samples[0].Number = 1 }, "sample 0"},
		{func(m *manifest) { m.Samples[0].Offset = 1 }, "sample 0"},
		{func(m *manifest) { m.Parent = m.Records + 1 }, "the last parent"},
		{func(m *manifest) { m.Next.Name = "level-99" }, "no file of it"},
		{func(m *manifest) { m.Runs[0].Name = "run-999" }, "no file of it"},
		{func(m *manifest) { m.Runs[0].Len++ }, "fingerprints and"},
	} {
		var m manifest
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		c.change(&m)
		forged, err := json.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		d := kept.Clone()
		replaceFile(t, d, manifestName, append(append(hex.AppendEncode(nil, crcBytes(forged)), '\n'), forged...))
		if _, err := resumeOf(t, g, d, o); !errors.Is(err, spill.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	d := kept.Clone()
	replaceFile(t, d, manifestName, append([]byte("00000000\n"), text...))
	if _, err := resumeOf(t, g, d, o); err == nil || !strings.Contains(err.Error(), "its checksum is wrong") {
		t.Errorf("another checksum: %v", err)
	}
}

var errRead = errors.New("input/output error")

// TestReadErrors: whichever read of a file fails, the result is an error or the
// right outcome, with and without a checkpoint.
func TestReadErrors(t *testing.T) {
	g := largeGraph(1, 2000)
	want := g.reference()
	failed := 0
	for _, keep := range []bool{false, true} {
		for _, workers := range []int{1, 3} {
			for nth := 1; ; nth += 1 + nth/3 {
				d := newTestDisk(sim.NewDisk())
				d.badRead, d.cause = nth, errRead
				o := Options{Workers: workers, Disk: d, MemoryBytes: 1}
				if keep {
					o.Checkpoint = &Checkpoint{Due: func() bool { return true }}
				}
				r, err := Run(context.Background(), g, o)
				switch {
				case err == nil:
					if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
						t.Fatalf("read %d (-reference +checker):\n%s", nth, diff)
					}
				case errors.Is(err, errRead):
					failed++
				default:
					t.Fatal(err)
				}
				if d.reads < nth {
					break
				}
			}
		}
	}
	if failed < 20 {
		t.Errorf("%d reads failed", failed)
	}
}
