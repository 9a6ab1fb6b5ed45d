// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/conform"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// world is a running system: its processes, their traces and what they print.
type world struct {
	t       *testing.T
	sys     *distsys.System
	dir     string // of the traces
	procs   []distsys.Process
	closers []func() error
	printed bytes.Buffer
}

func newWorld(t *testing.T, sys *distsys.System) *world {
	return &world{t: t, sys: sys, dir: t.TempDir()}
}

// constants are values of constants, in TLA+.
type constants map[string]string

func (c constants) values() map[string]value.Value {
	out := map[string]value.Value{}
	for name, text := range c {
		out[name] = tla(text)
	}
	return out
}

// tla is a value as TLA+ writes it.
func tla(text string) value.Value {
	v, err := value.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return v
}

// same is the function on a set with that value everywhere.
func same(domain, v value.Value) value.Value {
	vals := make([]value.Value, value.Size(domain))
	for i := range vals {
		vals[i] = v
	}
	return value.FnOf(domain, vals)
}

// spawn adds a process.
func (w *world) spawn(archetype string, self value.Value, values map[string]value.Value, refs map[string]distsys.Resource) {
	w.t.Helper()
	template, err := w.sys.Template(archetype)
	if err != nil {
		w.t.Fatal(err)
	}
	world := osenv.New()
	disk, err := osenv.OpenDisk(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	trace, err := distsys.OpenTrace(disk, world.Clock, w.sys.Name, archetype, self, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.closers = append(w.closers, trace.Close, disk.Close)
	p, err := template.Spawn(distsys.Spawn{Self: self, Values: values, Refs: refs,
		Options: distsys.Options{Env: world, Recorder: trace, Print: &w.printed}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.procs = append(w.procs, p)
}

// run runs the processes until all are done, or until stop says that it is
// enough, and returns how many sections they committed.
func (w *world) run(stop func() bool) (sections int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- distsys.Run(ctx, w.procs...) }()
	enough := false
	for tick := time.NewTicker(time.Millisecond); ; {
		select {
		case err := <-ended:
			tick.Stop()
			if err != nil && !(enough && errors.Is(err, context.Canceled)) {
				w.t.Fatal(err)
			}
			for _, p := range w.procs {
				sections += int(p.Metrics().Commits)
				if err := p.Close(); err != nil {
					w.t.Error(err)
				}
			}
			for _, c := range w.closers {
				if err := c(); err != nil {
					w.t.Error(err)
				}
			}
			return sections
		case <-tick.C:
			if stop != nil && !enough && stop() {
				enough = true
				cancel()
			}
		}
	}
}

// explained holds the traces against a specification under a configuration
// with the constants that the system ran with.
func (w *world) explained(c constants, more ...string) {
	w.t.Helper()
	m, alg := specification(w.t, w.sys.Name, c, more...)
	explained(w.t, m, alg, w.dir)
}

// specification is the one of that name, under a configuration.
func specification(t *testing.T, name string, c constants, more ...string) (*model.Model, *model.Algorithm) {
	t.Helper()
	path := filepath.Join("..", "specs", name, name+".tla")
	loaded, diags, err := load.Load(disk{}, path, load.Options{Translate: trans.InMemory, Retranslate: true})
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var text strings.Builder
	for name, v := range c {
		fmt.Fprintf(&text, "CONSTANT %s = %s\n", name, v)
	}
	text.WriteString(strings.Join(more, "\n") + "\nSPECIFICATION Spec\n")
	var wrong source.List
	cfg := config.Parse(source.NewFile("run.cfg", []byte(text.String())), &wrong)
	if wrong.HasErrors() {
		t.Fatal(&wrong)
	}
	m, err := model.NewDirect(loaded.Spec, loaded.Plain, cfg, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	alg, err := m.Algorithm()
	if err != nil {
		t.Fatal(err)
	}
	return m, alg
}

// explained holds the traces in a directory against a specification.
func explained(t *testing.T, m *model.Model, alg *model.Algorithm, dir string) {
	t.Helper()
	logs, err := conform.OpenDir(os.DirFS(dir), m.Info().Name)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := conform.Check(ctx, conform.NewAlgorithm(m, alg), logs, conform.Options{Hidden: len(alg.Processes()) > conform.Processes(logs)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != conform.Accepted {
		var out bytes.Buffer
		r.Print(&out)
		t.Errorf("the specification does not explain the run:\n%s", out.String())
	}
}

// disk reads modules.
type disk struct{}

func (disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// links are FIFO queues of at most size messages, one for each index.
func links(size int) distsys.Resource {
	return local.NewMap(func(value.Value) (distsys.Resource, error) {
		return queue.New(queue.Limits{Messages: size}).Both(), nil
	})
}

// cell is a variable that is read and written as a mapping macro says. Read
// returns what is read and the variable's new value, write the variable's new
// value; nil is the identity.
type cell struct {
	*local.Shared
	read  func(tx *distsys.Tx, now value.Value) (result, next value.Value, err error)
	write func(tx *distsys.Tx, now, v value.Value) (next value.Value, err error)
}

func (c *cell) Read(tx *distsys.Tx, idx []value.Value) (value.Value, error) {
	if c.read == nil {
		return c.Shared.Read(tx, idx)
	}
	now, err := c.Shared.Read(tx, nil)
	if err != nil {
		return now, err
	}
	result, next, err := c.read(tx, now)
	if err != nil {
		return result, err
	}
	if !value.Equal(now, next) {
		err = c.Shared.Write(tx, nil, next)
	}
	for _, i := range idx {
		result = result.Apply(i)
	}
	return result, err
}

func (c *cell) Write(tx *distsys.Tx, idx []value.Value, v value.Value) error {
	if c.write == nil {
		return c.Shared.Write(tx, idx, v)
	}
	now, err := c.Shared.Read(tx, nil)
	if err != nil {
		return err
	}
	next, err := c.write(tx, now, v)
	if err != nil {
		return err
	}
	return c.Shared.Write(tx, nil, next)
}

// cells is one cell for each index, with the initial values that a function
// gives.
type cells struct {
	*local.Map
	at map[string]*cell
}

func newCells(initial value.Value, like cell) *cells {
	c := &cells{at: map[string]*cell{}}
	for _, i := range initial.Domain().Elems() {
		x := like
		x.Shared = local.NewShared(initial.Apply(i))
		c.at[i.String()] = &x
	}
	c.Map = local.NewMap(func(i value.Value) (distsys.Resource, error) {
		if x := c.at[i.String()]; x != nil {
			return x, nil
		}
		return nil, fmt.Errorf("there is no %s", i)
	})
	return c
}
