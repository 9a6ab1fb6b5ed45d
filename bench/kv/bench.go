// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// config is what the flags say, completed.
type config struct {
	Preset       string
	Records      int64
	Memory       int64
	Ops          int64
	CPUs         int
	Clients      int
	Rounds       int
	Seed         uint64
	SyncEach     bool
	Compressible float64
	Engines      []string
	Workloads    []string
	Limit        time.Duration // of each phase
	Budget       time.Duration // of everything; 0: none
	Dir          string
	Cgroup       string // "": wherever one can be made; "none": not even looked for
}

// settings are what engines are given.
func (c config) settings() settings {
	return settings{Memory: c.Memory, CPUs: c.CPUs, Clients: c.Clients, SyncEach: c.SyncEach, Compress: c.Compressible > 0}
}

// valueSize is the length of values, in bytes.
const valueSize = 512

// result is a phase of an engine in a round.
type result struct {
	Round            int
	Engine, Workload string
	measure
	Space      int64 // on disk after the phase, closed
	PeakAnon   int64 // anonymous memory
	PeakCharge int64 // of the control group, page cache included
	OOMKills   int64
	Error      string `json:",omitempty"`
	Skipped    string `json:",omitempty"`
}

// cut reports whether the phase's time was up before its operations were done.
func (r *result) cut() bool { return r.Ops < r.Wanted }

// ok reports whether the phase was measured.
func (r *result) ok() bool { return r.Error == "" && r.Skipped == "" }

// bench runs a config.
type bench struct {
	config
	engines   []engine
	workloads []workload
	root      string // of all that is on disk
	cages     cages
	progress  *progress
	// self starts this program as a child.
	self     func() *exec.Cmd
	deadline time.Time // zero: none
	results  []*result
	broken   map[string]string // engine: why nothing more can be run in this round
}

// run does every round. When the context ends it stops, and what was not run
// says so.
func (b *bench) run(ctx context.Context) error {
	for round := 1; round <= b.Rounds; round++ {
		b.broken = map[string]string{}
		for _, w := range b.workloads {
			for i := range b.engines {
				// Each round begins with another engine.
				e := b.engines[(i+round-1)%len(b.engines)]
				r := b.one(ctx, round, e, w)
				b.results = append(b.results, r)
				b.progress.result(r)
			}
		}
		for _, e := range b.engines {
			dir := b.dirOf(e)
			if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(dir+".ledger")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) dirOf(e engine) string { return filepath.Join(b.root, e.Name) }

// one runs one phase of one engine, or says why it does not.
func (b *bench) one(ctx context.Context, round int, e engine, w workload) *result {
	r := &result{Round: round, Engine: e.Name, Workload: w.Name}
	left := 3 * b.Limit // more than it can use
	if !b.deadline.IsZero() {
		left = min(left, time.Until(b.deadline))
	}
	limit := min(b.Limit, left)
	why, broken := b.broken[e.Name]
	switch {
	case ctx.Err() != nil:
		r.Skipped = "interrupted"
	case limit < time.Second:
		r.Skipped = "the budget is spent"
	case b.SyncEach && e.LogFree:
		r.Skipped = "without a log it cannot sync each write"
	case broken && !w.Recover && w.Name != "load":
		r.Skipped = why
	}
	if r.Skipped != "" {
		if w.Name == "load" {
			b.broken[e.Name] = r.Skipped
		}
		return r
	}
	s := spec{
		Engine: e.Name, Workload: w.Name, Dir: b.dirOf(e),
		Format:   format{ValueSize: valueSize, Compressible: b.Compressible},
		Settings: b.settings(),
		Records:  b.Records, Ops: w.ops(b.Ops, b.Records), Limit: limit, Left: left,
		Seed:      newSource(b.Seed, uint64(round), nameSeed(w.Name)).next(),
		HeapLimit: b.Memory / 4 * 3,
	}
	if w.Recover {
		b.recovery(ctx, r, s)
		return r
	}
	b.child(ctx, r, s)
	if !r.ok() && w.writes() {
		b.broken[e.Name] = fmt.Sprintf("%s did not end well", w.Name)
	}
	return r
}

// nameSeed makes a number of a name.
func nameSeed(name string) uint64 {
	n := uint64(len(name))
	for _, c := range []byte(name) {
		n = n<<8 ^ mix(n^uint64(c))
	}
	return n
}

// recovery fills a store of its own, kills its process, and measures the open.
func (b *bench) recovery(ctx context.Context, r *result, s spec) {
	s.Dir += "-crash"
	defer os.RemoveAll(s.Dir)
	defer os.Remove(s.Dir + ".ledger")
	// Not less than a page of records, not more than half of the memory.
	s.Records = max(8, b.Memory/2/(keySize+valueSize))
	s.Ops, s.Crash, s.Settings.Clients, s.Settings.SyncEach = s.Records, true, 1, false
	filled := &result{Round: r.Round, Engine: r.Engine, Workload: r.Workload}
	b.child(ctx, filled, s)
	if filled.Error != "" {
		r.Error, r.OOMKills = "before the crash: "+filled.Error, filled.OOMKills
		return
	}
	s.Crash = false
	b.child(ctx, r, s)
}

// grace is what a phase may take beside its operations and its settling:
// opening, checking and closing.
const grace = 60 * time.Second

// child runs a spec in a process of its own, below the memory limit.
func (b *bench) child(ctx context.Context, r *result, s spec) {
	if err := dropCacheIfThere(s.Dir); err != nil {
		r.Error = err.Error()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, (1+settleLimit)*s.Limit+grace)
	defer cancel()
	var g *cage
	if b.cages.parent != "" {
		var err error
		if g, err = b.cages.make(fmt.Sprintf("%d-%s-%s", r.Round, s.Engine, s.Workload), b.Memory); err != nil {
			r.Error = err.Error()
			return
		}
	}
	err := b.talk(ctx, r, s, g)
	if g != nil {
		r.PeakCharge, r.OOMKills = g.peak(), g.kills()
	}
	// The cache goes first: a group that still has pages hands them on.
	err = errors.Join(err, dropCacheIfThere(s.Dir))
	if g != nil {
		err = errors.Join(err, g.remove())
	}
	space, spaceErr := spaceOf(s.Dir)
	r.Space = space
	if err = errors.Join(err, spaceErr); err != nil {
		r.Error = err.Error()
		if r.OOMKills > 0 {
			r.Error = "killed by the kernel: over the memory limit"
		}
	}
}

func dropCacheIfThere(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return dropCache(dir)
}

// talk starts the child, puts it into its cage, gives it the spec and listens.
func (b *bench) talk(ctx context.Context, r *result, s spec, g *cage) error {
	cmd := b.self()
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	stderr := &tail{}
	cmd.Stderr = stderr
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	listened := make(chan error, 1)
	go func() { listened <- b.listen(out, r, s) }()
	err = nil
	if g != nil {
		err = g.add(cmd.Process.Pid)
	}
	if err == nil {
		err = json.NewEncoder(in).Encode(s)
	}
	if err != nil {
		in.Close() // it ends by itself
	}
	watchEnd := make(chan struct{})
	watched := make(chan int64, 1)
	go func() { watched <- watchAnon(cmd.Process.Pid, watchEnd) }()
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	heard := <-listened
	waited := cmd.Wait()
	stop()
	in.Close()
	close(watchEnd)
	r.PeakAnon = <-watched
	switch {
	case err != nil:
		return err
	case context.Cause(ctx) == context.DeadlineExceeded:
		return errors.New("it did not end in time")
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case heard == nil && s.Crash: // killed by itself, as it should be
		return nil
	case heard != nil && waited != nil && stderr.String() != "":
		return fmt.Errorf("%w (%w: %s)", heard, waited, stderr)
	case heard != nil:
		return errors.Join(heard, waited)
	}
	return waited
}

// listen reads what a child writes until it ends.
func (b *bench) listen(out io.Reader, r *result, s spec) error {
	lines := bufio.NewReader(out)
	decoder := json.NewDecoder(lines)
	got := false
	for {
		var l line
		err := decoder.Decode(&l)
		switch {
		case errors.Is(err, io.EOF) && got:
			return nil
		case err != nil:
			io.Copy(io.Discard, out)
			return errors.New("it ended without a result")
		case l.Error != "":
			io.Copy(io.Discard, out)
			return errors.New(l.Error)
		case l.Result != nil:
			r.measure, got = *l.Result, true
		default:
			b.progress.line(r.Round, b.Rounds, s, l)
		}
	}
}

// watchAnon samples the anonymous memory of a process, and returns the most.
func watchAnon(pid int, end chan struct{}) (most int64) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		most = max(most, anonOf(pid))
		select {
		case <-end:
			return most
		case <-tick.C:
		}
	}
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

const tailMax = 2000

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-tailMax):]
	return len(b), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.text)) }
