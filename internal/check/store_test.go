// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// testDisk is a disk in memory that several goroutines may use, and that fails
// from a given operation on.
type testDisk struct {
	env.Disk
	mu    *sync.Mutex
	ops   int
	most  int   // operations until it fails; 0 means never
	cause error // with which it fails
	// reads is the number of reads so far; only read number badRead fails.
	reads, badRead int
}

func newTestDisk(d env.Disk) *testDisk { return &testDisk{Disk: d, mu: new(sync.Mutex)} }

func (d *testDisk) do(change bool, op func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if change {
		d.ops++
	}
	if d.most > 0 && d.ops >= d.most {
		return d.cause
	}
	return op()
}

func (d *testDisk) Open(name string, create bool) (f env.File, err error) {
	err = d.do(create, func() error { f, err = d.Disk.Open(name, create); return err })
	return testFile{f, d}, err
}

func (d *testDisk) Rename(old, new string) error {
	return d.do(true, func() error { return d.Disk.Rename(old, new) })
}

func (d *testDisk) Remove(name string) error {
	return d.do(true, func() error { return d.Disk.Remove(name) })
}

func (d *testDisk) List(dir string) (names []string, err error) {
	err = d.do(false, func() error { names, err = d.Disk.List(dir); return err })
	return names, err
}

func (d *testDisk) SyncDir(dir string) error {
	return d.do(true, func() error { return d.Disk.SyncDir(dir) })
}

type testFile struct {
	env.File
	d *testDisk
}

func (f testFile) ReadAt(b []byte, off int64) (n int, err error) {
	err = f.d.do(false, func() error {
		if f.d.reads++; f.d.reads == f.d.badRead {
			return f.d.cause
		}
		n, err = f.File.ReadAt(b, off)
		return err
	})
	return n, err
}

func (f testFile) WriteAt(b []byte, off int64) (n int, err error) {
	err = f.d.do(true, func() error { n, err = f.File.WriteAt(b, off); return err })
	return n, err
}

func (f testFile) Truncate(size int64) error {
	return f.d.do(true, func() error { return f.File.Truncate(size) })
}

func (f testFile) Sync() error { return f.d.do(true, f.File.Sync) }

func (f testFile) Size() (n int64, err error) {
	err = f.d.do(false, func() error { n, err = f.File.Size(); return err })
	return n, err
}

func (f testFile) Close() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	return f.File.Close()
}

func files(t interface{ Fatal(...any) }, d env.Disk) []string {
	names, err := d.List(".")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestBoundedMemory: a search with hardly any memory finds what one in memory
// finds, and leaves no files.
func TestBoundedMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		want := g.reference()
		for _, workers := range []int{1, 3} {
			d := sim.NewDisk()
			r, err := Run(context.Background(), g, Options{Workers: workers, Disk: newTestDisk(d), MemoryBytes: rapid.SampledFrom([]int64{1, 100_000}).Draw(t, "memory")})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
				t.Fatalf("%d workers (-reference +checker):\n%s", workers, diff)
			}
			if left := files(t, d); len(left) > 0 {
				t.Fatalf("left behind: %v", left)
			}
		}
	})
}

// TestBoundedMemoryOnLargeGraphs searches graphs whose levels are larger than
// the memory, initial states among them.
func TestBoundedMemoryOnLargeGraphs(t *testing.T) {
	models := []*graph{manyInits(20000)}
	for seed := range seeds(6, 2) {
		models = append(models, largeGraph(seed, 20000))
	}
	for i, g := range models {
		want := g.reference()
		for _, workers := range []int{1, 4} {
			d := sim.NewDisk()
			r, err := Run(context.Background(), g, Options{Workers: workers, Disk: newTestDisk(d), MemoryBytes: 1})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
				t.Fatalf("graph %d, %d workers (-reference +checker):\n%s", i, workers, diff)
			}
			if want.Verdict == OK && (r.DiskBytes < r.Distinct*8 || r.Bytes > 20<<20) {
				t.Errorf("graph %d: %d bytes in memory and %d on disk for %d states", i, r.Bytes, r.DiskBytes, r.Distinct)
			}
			if left := files(t, d); len(left) > 0 {
				t.Fatalf("left behind: %v", left)
			}
		}
	}
}

// TestBoundedMemoryWithKeys: invariants distinguish nodes with one key by their
// bytes, so a node met again must not count as new.
func TestBoundedMemoryWithKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		g.key = rapid.IntRange(1, 60).Draw(t, "key")
		want := g.reference()
		// One worker makes exactly the search of the reference.
		r, err := Run(context.Background(), g, Options{Disk: sim.NewDisk(), MemoryBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
			t.Fatalf("(-reference +checker):\n%s", diff)
		}
	})
}

// TestBoundedMemoryKnowsKeys: a node with the key of a node on disk is not
// visited, and need not satisfy invariants.
func TestBoundedMemoryKnowsKeys(t *testing.T) {
	g := chain(40)
	g.key = 20
	for i := 20; i < 40; i++ {
		g.bad[i], g.undef[i] = i%2 == 0, i%2 == 1
	}
	g.edges[19] = append(g.edges[19], edge{to: 35}, edge{to: 30})
	r := mustRun(t, g, Options{Disk: sim.NewDisk(), MemoryBytes: 1})
	if r.Verdict != OK || r.Distinct != 20 || r.Generated != 23 {
		t.Errorf("%v with %d states of %d, want 20 of 23", r.Verdict, r.Distinct, r.Generated)
	}
}

// TestBoundedMemoryContinues: a search that continues after violations finds
// the same ones.
func TestBoundedMemoryContinues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := randomProperties(t)
		want, generated, distinct := m.plainly()
		r, err := Run(context.Background(), m, Options{Workers: 2, Continue: true, Disk: newTestDisk(sim.NewDisk()), MemoryBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, foundOf(r)); diff != "" || r.Generated != generated || r.Distinct != distinct {
			t.Fatalf("%d generated, %d distinct, want %d and %d (-plain +checker):\n%s", r.Generated, r.Distinct, generated, distinct, diff)
		}
	})
}

func TestBoundedMemoryStatesMax(t *testing.T) {
	for _, m := range []Model{chain(1000), twoPhase{n: 5}} {
		r := mustRun(t, m, Options{StatesMax: 100, Disk: sim.NewDisk(), MemoryBytes: 1})
		if r.Verdict != Incomplete || r.Reason != limitReached || r.Distinct < 100 {
			t.Errorf("%s: %v with %d states: %s", m.Info().Name, r.Verdict, r.Distinct, r.Reason)
		}
	}
	if r := mustRun(t, chain(100), Options{StatesMax: 100, Disk: sim.NewDisk(), MemoryBytes: 1}); r.Verdict != OK {
		t.Errorf("100 states do not fit the limit of 100: %v", r.Verdict)
	}
}

var errFull = errors.New("no space left on device")

// TestFullDisk: an error of the disk is returned as an error, whenever it
// happens, and is no verdict.
func TestFullDisk(t *testing.T) {
	g := largeGraph(0, 3000)
	whole := newTestDisk(sim.NewDisk())
	mustRun(t, g, Options{Workers: 2, Disk: whole, MemoryBytes: 1})
	full := 0
	for most := 1; most < whole.ops; most += 1 + whole.ops/40 {
		d := newTestDisk(sim.NewDisk())
		d.most, d.cause = most, errFull
		_, err := Run(context.Background(), g, Options{Workers: 2, Disk: d, MemoryBytes: 1})
		if errors.Is(err, errFull) {
			full++
		} else if err != nil || d.ops >= most { // two workers may need fewer operations in another run
			t.Fatalf("after %d of %d operations: %v", most, whole.ops, err)
		}
	}
	if full < 20 {
		t.Errorf("the disk was full %d times only", full)
	}
}

func TestOptionsOfTheDisk(t *testing.T) {
	for _, o := range []Options{{MemoryBytes: 1}, {Checkpoint: &Checkpoint{}}, {MemoryBytes: -1, Disk: sim.NewDisk()}} {
		if _, err := Run(context.Background(), chain(3), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if _, err := Run(context.Background(), unchecked{chain(3)}, Options{Disk: sim.NewDisk(), Checkpoint: &Checkpoint{}}); err != nil {
		t.Errorf("a model that can be kept: %v", err)
	}
}

// Durable, Save and Restore make a graph a model that can be checkpointed: a
// saved graph is its number of nodes.
func (g *graph) Durable() error { return g.volatile }

func (g *graph) Save(w io.Writer, workers []Worker) error {
	_, err := fmt.Fprint(w, len(g.edges))
	return err
}

func (g *graph) Restore(r io.Reader) error {
	n := 0
	if _, err := fmt.Fscan(r, &n); err != nil || n != len(g.edges) {
		return fmt.Errorf("%d nodes, want %d: %w", n, len(g.edges), err)
	}
	return nil
}

// TestResume makes checkpoints from time to time, kills the search by a disk
// that fails at some operation, lets the power fail, and resumes from the disk,
// until a search ends: its outcome is that of a search that was not killed.
func TestResume(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		if rapid.IntRange(0, 9).Draw(t, "large") == 0 {
			g = largeGraph(rapid.IntRange(0, 11).Draw(t, "seed"), 3000)
		}
		resumeUntilDone(t, g, g.reference())
	})
}

func resumeUntilDone(t *rapid.T, g *graph, want outcome) {
	d := sim.NewDisk()
	every, resume := rapid.IntRange(1, 4).Draw(t, "every"), false
	for kills := rapid.IntRange(0, 5).Draw(t, "kills"); ; kills-- {
		disk := newTestDisk(d)
		if kills > 0 {
			disk.most, disk.cause = rapid.IntRange(1, 200).Draw(t, "operations"), errFull
		}
		due := 0
		o := Options{Workers: rapid.SampledFrom([]int{1, 3}).Draw(t, "workers"), Disk: disk,
			MemoryBytes: rapid.SampledFrom([]int64{0, 1, 1 << 20}).Draw(t, "memory"),
			Checkpoint: &Checkpoint{Resume: resume, Identity: []IdentityPart{{"the graph", "random"}},
				Due: func() bool { due++; return due%every == 0 }}}
		r, err := Run(context.Background(), g, o)
		if err == nil {
			if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
				t.Fatalf("(-reference +resumed):\n%s", diff)
			}
			if left := files(t, d); len(left) > 0 {
				t.Fatalf("left behind: %v", left)
			}
			return
		}
		if !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		d.Crash(sim.KeepFunc(func(_ sim.Piece, ops []uint64) int { return rapid.IntRange(0, len(ops)).Draw(t, "kept") }))
		resume = slices.Contains(files(t, d), manifestName)
	}
}

// TestResumeWithinALevel: a search resumed from a checkpoint in the middle of a
// level continues with the rest of the level.
func TestResumeWithinALevel(t *testing.T) {
	g := largeGraph(0, 20000)
	want := g.reference()
	within := 0
	for _, workers := range []int{1, 3} {
		d, resume := sim.NewDisk(), false
		for kills := 12; ; kills-- {
			ctx, cancel := context.WithCancel(context.Background())
			var s Monitor
			segments := 0
			o := Options{Workers: workers, Disk: newTestDisk(d), MemoryBytes: 1, Monitor: &s, Checkpoint: &Checkpoint{Resume: resume, Due: func() bool {
				segments++
				if kills > 0 && segments == 2 {
					cancel()
					if s.search.Load().level.inLevel() > 0 {
						within++
					}
				}
				return segments <= 2
			}}}
			r, err := Run(ctx, g, o)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != Interrupted {
				if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
					t.Fatalf("%d workers (-reference +resumed):\n%s", workers, diff)
				}
				break
			}
			resume = slices.Contains(files(t, d), manifestName)
		}
	}
	if within == 0 {
		t.Error("no checkpoint was kept within a level")
	}
}

// TestResumeContinues: the violations after which a killed search had continued
// are in the checkpoint.
func TestResumeContinues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := randomProperties(t)
		want, generated, distinct := m.plainly()
		d, resume := sim.NewDisk(), false
		for kills := 3; ; kills-- {
			disk := newTestDisk(d)
			if kills > 0 {
				disk.most, disk.cause = rapid.IntRange(1, 120).Draw(t, "operations"), errFull
			}
			r, err := Run(context.Background(), m, Options{Workers: 2, Continue: true, Disk: disk,
				Checkpoint: &Checkpoint{Resume: resume, Due: func() bool { return true }}})
			if err == nil {
				if diff := cmp.Diff(want, foundOf(r)); diff != "" || r.Generated != generated || r.Distinct != distinct {
					t.Fatalf("%d generated, %d distinct, want %d and %d (-plain +resumed):\n%s", r.Generated, r.Distinct, generated, distinct, diff)
				}
				return
			}
			if !errors.Is(err, errFull) {
				t.Fatal(err)
			}
			resume = slices.Contains(files(t, d), manifestName)
		}
	})
}

// keptGraph is the checkpoint of a search that was interrupted, and its options.
func keptGraph(t *testing.T) (*graph, *sim.Disk, Options) {
	g, d := chain(1000), sim.NewDisk()
	polls := 0
	o := Options{Disk: newTestDisk(d), Checkpoint: &Checkpoint{Due: func() bool { polls++; return polls == 300 },
		Identity: []IdentityPart{{"chain.tla", "1234"}}}}
	r, err := interruptedAt(g, o, 500)
	if err != nil || r.Verdict != Interrupted {
		t.Fatalf("%v: %v", r, err)
	}
	return g, d, o
}

// TestRefusedCheckpoints: a checkpoint that is another search's, or is damaged,
// is refused.
func TestRefusedCheckpoints(t *testing.T) {
	g, d, o := keptGraph(t)
	try := func(change func(m *graph, o *Options), d *sim.Disk) error {
		o, m := o, *g
		c := Checkpoint{Resume: true, Identity: slices.Clone(o.Checkpoint.Identity)}
		o.Checkpoint, o.Disk = &c, newTestDisk(d.Clone())
		change(&m, &o)
		_, err := Run(context.Background(), &m, o)
		return err
	}
	if err := try(func(*graph, *Options) {}, d); err != nil {
		t.Errorf("the same search: %v", err)
	}
	for _, c := range []struct {
		change func(*graph, *Options)
		want   string
	}{
		{func(_ *graph, o *Options) { o.Checkpoint.Identity[0].Sum = "5678" }, "belongs to another search: chain.tla was 1234, and is 5678"},
		{func(_ *graph, o *Options) { o.Checkpoint.Identity[0].Name = "b" }, "chain.tla is part of it"},
		{func(_ *graph, o *Options) { o.Checkpoint.Identity = nil }, "chain.tla is part of it"},
		{func(_ *graph, o *Options) { o.IgnoreDeadlock = true }, "whether deadlock is reported was true, and is false"},
		{func(_ *graph, o *Options) { o.Checkpoint.Resume = false }, "there is a checkpoint already"},
		{func(g *graph, _ *Options) { g.edges = g.edges[1:] }, "1000 nodes, want 999"},
		{func(g *graph, _ *Options) { g.actions++ }, "1 actions, want 2"},
		{func(g *graph, _ *Options) { g.volatile = errors.New("it draws random numbers") }, "it draws random numbers"},
		{func(_ *graph, o *Options) { o.Disk = sim.NewDisk() }, "there is no checkpoint"},
	} {
		if err := try(c.change, d); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestDamagedCheckpoints flips bits in every file of a checkpoint: the result
// is an error, or unchanged.
func TestDamagedCheckpoints(t *testing.T) {
	g, kept, o := keptGraph(t)
	want := g.reference()
	for _, name := range files(t, kept) {
		for at := int64(0); ; at += 97 {
			d := kept.Clone()
			f, err := d.Open(name, false)
			if err != nil {
				t.Fatal(err)
			}
			var b [1]byte
			if _, err := f.ReadAt(b[:], at); err != nil {
				break
			}
			b[0] ^= 1 << (at % 8)
			if _, err := f.WriteAt(b[:], at); err != nil {
				t.Fatal(err)
			}
			f.Close()
			o.Disk = newTestDisk(d)
			o.Checkpoint = &Checkpoint{Resume: true, Identity: o.Checkpoint.Identity}
			r, err := Run(context.Background(), g, o)
			if err == nil {
				if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
					t.Fatalf("%s at %d (-reference +resumed):\n%s", name, at, diff)
				}
			}
		}
	}
}
