// SPDX-License-Identifier: Apache-2.0

// Command check measures the model checker: how many states it generates per
// second of the processor, as closures and as compiled code, with one worker and
// with two, and how soon it begins.
//
// In: flags. Out: a table on the standard output. Every search is one of the
// command ashlar, in a process of its own, whose children count as it: loading the
// model, the sample and the search are all within the figures. Compiling is not,
// and has a line of its own. What two workers could be at most is measured too: two
// searches of one worker each, side by side, share nothing but the machine.
//
// Promised: a search whose counts are not those that are known ends it with an
// error. Refused: figures of searches that were interrupted, or that say that they
// were native and were not.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// model is what is searched, and what every search must find.
type model struct {
	config                     string
	generated, distinct, depth int64
}

// models are two-phase commit with so many resource managers.
var models = map[int]model{
	7: {"twophase.cfg", 2_744_706, 296_448, 23},
	8: {"twophase8.cfg", 18_507_778, 1_745_408, 26},
	9: {"twophase9.cfg", 123_558_402, 10_340_352, 29},
}

// search is one way to search, and what was measured of it, by round.
type search struct {
	native  bool
	workers int
	cpu     []float64 // seconds, of the process and its children
	wall    []float64
	bytes   float64 // for each distinct state, without the queue
	// compiling is what the compiler took in the last round.
	compiling float64
}

func (s *search) name() string {
	form := "closures"
	if s.native {
		form = "compiled"
	}
	return fmt.Sprintf("%s, %d worker(s)", form, s.workers)
}

// root is where the command and its examples are, seen from bench, where this runs.
const root = ".."

func main() {
	n := flag.Int("n", 8, "resource managers: 7, 8 or 9")
	rounds := flag.Int("rounds", 3, "how often every search is made; figures are medians, with the best behind them")
	starts := flag.Int("starts", 20, "how often a small model is checked")
	flag.Parse()
	m, ok := models[*n]
	if !ok || *rounds < 1 || *starts < 1 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(m, *n, *rounds, *starts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(m model, n, rounds, starts int) error {
	dir, err := os.MkdirTemp("", "bench-check-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{dir: dir, program: filepath.Join(dir, "ashlar"), model: m}
	if err := b.build(); err != nil {
		return err
	}
	compiling := &search{native: true, workers: 1}
	if err := b.measure(compiling); err != nil {
		return err
	}
	if compiling.compiling == 0 {
		return fmt.Errorf("nothing was compiled for the first search: the directory of compiled models is not its own")
	}
	searches := []*search{{workers: 1}, {native: true, workers: 1}, {workers: 2}, {native: true, workers: 2}}
	pairs := []*search{{workers: 1}, {native: true, workers: 1}}
	for range rounds {
		for _, s := range searches {
			if err := b.measure(s); err != nil {
				return err
			}
			if s.compiling > 0 {
				return fmt.Errorf("%s: the model was compiled again", s.name())
			}
		}
		for _, s := range pairs {
			if err := b.measurePair(s); err != nil {
				return err
			}
		}
	}
	fmt.Printf("TwoPhase with %d resource managers: %d generated, %d distinct, depth %d, in every search.\n\n", n, m.generated, m.distinct, m.depth)
	fmt.Printf("%-22s %10s %10s %16s %16s %12s\n", "", "CPU s", "wall s", "M gen./CPU-s", "best", "B/state")
	for _, s := range searches {
		fmt.Printf("%-22s %10.2f %10.2f %16.2f %16.2f %12.1f\n", s.name(), median(s.cpu), median(s.wall),
			float64(m.generated)/median(s.cpu)/1e6, float64(m.generated)/slices.Min(s.cpu)/1e6, s.bytes)
	}
	fmt.Println()
	for i, form := range []string{"closures", "compiled"} {
		one, two := searches[i], searches[i+2]
		fmt.Printf("%s, 2 workers beside 1: %.2f times as fast by the clock, %.2f times the processor's time\n", form,
			median(one.wall)/median(two.wall), median(two.cpu)/median(one.cpu))
		fmt.Printf("%s, 2 searches side by side, of 1 worker each: %.2f times as fast as one after the other; with the best of each, 2 workers %.2f and 2 searches %.2f\n", form,
			2*median(one.wall)/median(pairs[i].wall), slices.Min(one.wall)/slices.Min(two.wall), 2*slices.Min(one.wall)/slices.Min(pairs[i].wall))
	}
	fmt.Printf("compiling, once for a model and left out above: %.1f s by the clock\n", compiling.compiling)
	return b.start(starts)
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// bench runs the command.
type bench struct {
	dir, program string
	model        model
	env          []string
}

// build compiles the command. What it compiles for models goes to a directory of
// this run, but by the toolchain's own cache.
func (b *bench) build() error {
	if said, err := exec.Command("go", "-C", root, "build", "-o", b.program, "./cmd/ashlar").CombinedOutput(); err != nil {
		return fmt.Errorf("build the command: %w: %s", err, said)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return fmt.Errorf("ask for the toolchain's cache: %w", err)
	}
	b.env = append(os.Environ(), "GOCACHE="+strings.TrimSpace(string(cache)), "XDG_CACHE_HOME="+filepath.Join(b.dir, "cache"))
	return nil
}

// document is what is read of the command's output.
type document struct {
	Verdict    string
	Complete   bool
	Statistics struct {
		Generated, Distinct, Depth int64
		BytesPerState              float64
		Native                     *struct {
			Used           bool
			CompileSeconds float64
			Reason         string
		}
	}
}

// measure makes a search and adds what it took.
func (b *bench) measure(s *search) error {
	when := "never"
	if s.native {
		when = "always"
	}
	text, cpu, wall, err := b.command("check", "--json", "--native="+when, "--workers", fmt.Sprint(s.workers),
		"--config", filepath.Join(root, "specs", "twophase", b.model.config), filepath.Join(root, "specs", "twophase", "twophase.tla"))
	if err != nil {
		return err
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("the document of %s: %w", s.name(), err)
	}
	st := d.Statistics
	if d.Verdict != "ok" || !d.Complete || st.Generated != b.model.generated || st.Distinct != b.model.distinct || st.Depth != b.model.depth {
		return fmt.Errorf("%s: verdict %s, %d generated, %d distinct, depth %d: want %+v", s.name(), d.Verdict, st.Generated, st.Distinct, st.Depth, b.model)
	}
	switch used := st.Native != nil && st.Native.Used; {
	case used && !s.native:
		return fmt.Errorf("%s: it was compiled", s.name())
	case !used && s.native:
		return fmt.Errorf("%s: it was not compiled: %+v", s.name(), st.Native)
	case used:
		s.compiling = st.Native.CompileSeconds
	}
	s.cpu, s.wall, s.bytes = append(s.cpu, cpu), append(s.wall, wall), st.BytesPerState
	return nil
}

// measurePair makes a search twice at the same time. It adds to s how long it took
// until both were done, and what both took of the processor.
func (b *bench) measurePair(s *search) error {
	var both [2]search
	var errs [2]error
	var done sync.WaitGroup
	begin := time.Now()
	for i := range both {
		both[i] = search{native: s.native, workers: s.workers}
		done.Go(func() { errs[i] = b.measure(&both[i]) })
	}
	done.Wait()
	wall := time.Since(begin).Seconds()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	s.wall, s.cpu = append(s.wall, wall), append(s.cpu, both[0].cpu[0]+both[1].cpu[0])
	return nil
}

// command runs the command and measures it, its children included.
func (b *bench) command(args ...string) (out []byte, cpu, wall float64, err error) {
	cmd := exec.Command(b.program, args...)
	cmd.Env = b.env
	var said bytes.Buffer
	cmd.Stderr = &said
	begin := time.Now()
	out, err = cmd.Output()
	wall = time.Since(begin).Seconds()
	if err != nil {
		return nil, 0, 0, fmt.Errorf("%s: %w: %s%s", strings.Join(args, " "), err, out, said.String())
	}
	p := cmd.ProcessState
	return out, (p.UserTime() + p.SystemTime()).Seconds(), wall, nil
}

// small is a model of twelve states.
const small = `---- MODULE Small ----
EXTENDS Integers
VARIABLE x
Init == x = 0
Next == x' = (x + 1) % 12
Inv == x \in 0..11
====
`

// start measures how long it takes to check a model of almost no states.
func (b *bench) start(times int) error {
	spec := filepath.Join(b.dir, "Small.tla")
	for name, text := range map[string]string{spec: small, filepath.Join(b.dir, "Small.cfg"): "INIT Init NEXT Next INVARIANT Inv\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	var cpus, walls []float64
	for range times {
		_, cpu, wall, err := b.command("check", "--json", spec)
		if err != nil {
			return err
		}
		cpus, walls = append(cpus, cpu*1000), append(walls, wall*1000)
	}
	fmt.Printf("a model of 12 states, from the start of the process to its end: %.0f ms by the clock, the shortest %.0f; %.0f ms of the processor\n",
		median(walls), slices.Min(walls), median(cpus))
	return nil
}
