// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/durable"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/conform"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// byHand are Tasks whose one step the test takes.
type byHand struct{ step func() bool }

func (b *byHand) Task(step func() bool) env.Waker {
	b.step = step
	return env.WakeFunc(func() {})
}

// crashing is a system with a node that crashes, in one goroutine: the test draws
// who takes the next step, and when the disk is written.
type crashing struct {
	t      *testing.T
	sys    *distsys.System
	dir    string // of the traces
	r      env.Random
	disk   *sim.Disk
	ops    int  // operations of the disk so far
	crash  int  // the operation before which the node crashes
	power  bool // the machine crashes, too
	log    *durable.Log
	tasks  *byHand
	boxes  map[string]*queue.Queue
	nodes  func(c *crashing) []distsys.Process // what runs on the node that crashes
	others []distsys.Process
	lives  int
}

// hasty is a clock on which who waits for a time has waited: the test draws who
// goes on.
type hasty struct{ env.Clock }

func (h hasty) After(_ time.Duration, w env.Waker) env.Timer {
	w.Wake()
	return h
}
func (hasty) Stop() bool { return false }

// crashed is the panic of a crash.
type crashed struct{}

// hookDisk crashes before an operation.
type hookDisk struct {
	*sim.Disk
	c *crashing
}

func (d hookDisk) Open(name string, create bool) (env.File, error) {
	if create {
		d.c.op()
	}
	f, err := d.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return hookFile{f, d.c}, nil
}
func (d hookDisk) Remove(name string) error     { d.c.op(); return d.Disk.Remove(name) }
func (d hookDisk) Rename(from, to string) error { d.c.op(); return d.Disk.Rename(from, to) }
func (d hookDisk) SyncDir(name string) error    { d.c.op(); return d.Disk.SyncDir(name) }

type hookFile struct {
	env.File
	c *crashing
}

func (f hookFile) WriteAt(b []byte, off int64) (int, error) {
	f.c.op()
	return f.File.WriteAt(b, off)
}
func (f hookFile) Truncate(n int64) error { f.c.op(); return f.File.Truncate(n) }
func (f hookFile) Sync() error            { f.c.op(); return f.File.Sync() }

func (c *crashing) op() {
	if c.ops++; c.ops == c.crash {
		panic(crashed{})
	}
}

func (c *crashing) journal() durable.Options {
	return durable.Options{Env: env.Env{Disk: hookDisk{c.disk, c}, Random: c.r, Clock: osenv.NewClock()}, Tasks: c.tasks, Dir: "journal",
		System: c.sys.Name, Node: "n", CheckpointBytes: 20 << 10, Segment: 3 * 4096}
}

// box is a mailbox as a set.
func (c *crashing) box(i value.Value) (distsys.Resource, error) {
	q := c.boxes[i.String()]
	if q == nil {
		q = queue.New(queue.Limits{Distinct: true})
		c.boxes[i.String()] = q
	}
	return q.Both(), nil
}

func (c *crashing) spawn(archetype, self string, j distsys.Journal, values map[string]value.Value, refs map[string]distsys.Resource) distsys.Process {
	c.t.Helper()
	template, err := c.sys.Template(archetype)
	if err != nil {
		c.t.Fatal(err)
	}
	disk, err := osenv.OpenDisk(c.dir)
	if err != nil {
		c.t.Fatal(err)
	}
	clock := hasty{osenv.NewClock()}
	trace, err := distsys.OpenTrace(disk, clock, c.sys.Name, archetype, tla(self), j)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { trace.Close(); disk.Close() })
	p, err := template.Spawn(distsys.Spawn{Self: tla(self), Values: values, Refs: refs,
		Options: distsys.Options{Env: env.Env{Clock: clock, Random: c.r}, Recorder: trace, Journal: j}})
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

// live runs a life of the node, and reports whether it crashed.
func (c *crashing) live(steps int, enough func() bool) (crash bool) {
	var procs []distsys.Process
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crashed); !ok {
				panic(r)
			}
			crash = true
		}
		for _, p := range procs {
			p.Close()
		}
	}()
	c.lives++
	c.tasks = &byHand{}
	var err error
	if c.log, err = durable.Open(c.journal()); err != nil {
		c.t.Fatal(err)
	}
	procs = c.nodes(c)
	all := append(append([]distsys.Process(nil), procs...), c.others...)
	for range steps {
		if env.IntN(c.r, len(all)+1) == 0 {
			for c.tasks.step() {
			}
			continue
		}
		all[env.IntN(c.r, len(all))].Step()
		if enough() {
			break
		}
	}
	for c.tasks.step() {
	}
	if err := c.log.Close(); err != nil {
		c.t.Fatal(err)
	}
	return false
}

// run lets the node live, crash before that operation of the disk, and live again.
// It reports whether there was such an operation.
func (c *crashing) run(steps int, enough func() bool) bool {
	c.disk, c.boxes = sim.NewDisk(), map[string]*queue.Queue{}
	format := c.journal()
	format.Env.Disk = c.disk
	if err := durable.Format(format); err != nil {
		c.t.Fatal(err)
	}
	if !c.live(steps, enough) {
		return false
	}
	c.disk = c.disk.Clone() // the life that has crashed does nothing more to it
	if c.power {
		c.disk.Crash(sim.KeepFunc(func(_ sim.Piece, ops []uint64) int { return env.IntN(c.r, len(ops)+1) }))
	}
	if c.live(steps, enough) {
		c.t.Fatal("it crashed twice")
	}
	return true
}

// TestRestartCrashes crashes the compiled server of specs/restart before each
// operation of its disk, with the machine and without. The traces of both lives and
// of the client, who lives on, are a behaviour of the specification.
func TestRestartCrashes(t *testing.T) {
	const requests = 4
	m, alg := specification(t, "restart", constants{"Requests": fmt.Sprint(requests)}, "CONSTANT CRASHES = 1")
	sys := system(t, "restart", constants{"Requests": fmt.Sprint(requests)}.values())
	seeds := 3
	if testing.Short() {
		seeds = 1
	}
	runs, undone := 0, 0
	for seed := range seeds {
		for crash := 1; ; crash++ {
			c := &crashing{t: t, sys: sys, dir: t.TempDir(), r: env.Seeded(uint64(seed + 1)), crash: crash, power: seed%2 == 1}
			net := map[string]distsys.Resource{"net": &lookup{c: c}}
			c.nodes = func(c *crashing) []distsys.Process {
				delete(c.boxes, "1") // what the server has not read is lost
				return []distsys.Process{c.spawn("AServer", "1", c.log, map[string]value.Value{"client": tla("2")}, net)}
			}
			c.boxes = map[string]*queue.Queue{}
			c.others = []distsys.Process{c.spawn("AClient", "2", nil, map[string]value.Value{"server": tla("1"), "n": value.Int(requests)}, net)}
			done := func() bool { return c.others[0].Step() == distsys.Finished }
			if !c.run(20_000, done) {
				break // there are no more operations
			}
			runs++
			if !done() {
				t.Fatalf("crash before operation %d: the client has no answer", crash)
			}
			k := c.log.Recall("AServer(1)")
			c.others[0].Close()
			undone += explainedLives(t, m.Info().Name, conform.NewAlgorithm(m, alg), c.dir, len(alg.Processes()))
			if k != nil && k.Vars[1].Value.AsInt() > requests {
				t.Fatalf("crash before operation %d: the sum is %v", crash, k.Vars)
			}
		}
	}
	if runs < 30 || undone == 0 {
		t.Errorf("%d crashes, after %d of which something was undone: the test is too weak", runs, undone)
	}
	t.Logf("%d crashes, after %d something was undone", runs, undone)
}

// TestVoteCrashes does the same with the servers of specs/vote, which are together
// on the node, with one journal and a shared variable that survives.
func TestVoteCrashes(t *testing.T) {
	given := constants{"Servers": "{1, 2, 3}", "MaxTerm": "2"}
	m, alg := specification(t, "vote", given, "CONSTANT CRASHES = 3")
	sys := system(t, "vote", given.values())
	runs, undone, elected := 0, 0, 0
	for seed := range 2 {
		for crash := 1; ; crash++ {
			if testing.Short() && crash%3 > 0 {
				continue
			}
			c := &crashing{t: t, sys: sys, dir: t.TempDir(), r: env.Seeded(uint64(seed + 11)), crash: crash, power: seed%2 == 1}
			var leaders *local.Lasting
			c.nodes = func(c *crashing) (procs []distsys.Process) {
				c.boxes = map[string]*queue.Queue{}
				first := tla("{}")
				if k := c.log.Recall(""); k != nil {
					first = k.Vars[0].Value
				}
				leaders = local.NewLasting("leaders", first)
				for _, self := range []string{"1", "2", "3"} {
					procs = append(procs, c.spawn("AServer", self, c.log, nil, map[string]distsys.Resource{"net": &lookup{c: c}, "leaders": leaders}))
				}
				return procs
			}
			if !c.run(250, func() bool { return false }) {
				break
			}
			runs++
			terms := map[string]string{}
			for _, l := range leaders.Value().Elems() {
				term, who := l.Apply(value.Int(1)).String(), l.Apply(value.Int(2)).String()
				if other := terms[term]; other != "" && other != who {
					t.Fatalf("crash before operation %d: term %s has the leaders %s and %s", crash, term, other, who)
				}
				terms[term] = who
				elected++
			}
			undone += explainedLives(t, m.Info().Name, conform.NewAlgorithm(m, alg), c.dir, len(alg.Processes()))
		}
	}
	if runs < 20 || undone == 0 || elected == 0 {
		t.Errorf("%d crashes, after %d of which something was undone, and %d leaders: the test is too weak", runs, undone, elected)
	}
	t.Logf("%d crashes, after %d something was undone; %d leaders", runs, undone, elected)
}

// lookup is a network whose mailboxes may be replaced.
type lookup struct{ c *crashing }

func (l *lookup) Select(idx []value.Value) (distsys.Resource, []value.Value, error) {
	r, err := l.c.box(idx[0])
	return r, idx[1:], err
}
func (*lookup) Read(*distsys.Tx, []value.Value) (value.Value, error) { panic("not called") }
func (*lookup) Write(*distsys.Tx, []value.Value, value.Value) error  { panic("not called") }
func (*lookup) PreCommit(*distsys.Tx) error                          { panic("not called") }
func (*lookup) Commit(*distsys.Tx)                                   { panic("not called") }
func (*lookup) Abort(*distsys.Tx)                                    { panic("not called") }

// explainedLives holds traces with several lives against a specification. It
// returns 1 if a crash has undone something that is in a trace.
func explainedLives(t *testing.T, system string, spec conform.Spec, dir string, processes int) int {
	t.Helper()
	logs, err := conform.OpenDir(os.DirFS(dir), system)
	if err != nil {
		t.Fatal(err)
	}
	r, err := conform.Check(context.Background(), spec, logs, conform.Options{Hidden: processes > conform.Processes(logs)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != conform.Accepted {
		var out bytes.Buffer
		r.Print(&out)
		t.Fatalf("the specification does not explain the run:\n%s", out.String())
	}
	if r.Undone > 0 {
		return 1
	}
	return 0
}
