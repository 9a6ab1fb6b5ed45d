// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

// config is what a run is.
type config struct {
	Engines  []engine
	Disks    []bool // journalled, or not
	Rounds   int    // power failures for each engine and disk
	Seed     uint64
	Batches  uint64        // that a life writes at most
	Every    int           // one batch in so many waits until it is durable
	Limit    time.Duration // of a process
	Budget   time.Duration // of the run; 0: none
	Parallel int           // rows at a time
	Dir      string        // for the mounts
	Keep     string        // directory for states in which something is wrong; "": they are dropped
}

// engineDir is the directory of the engine, which is durable before it runs.
const engineDir = "store"

// livesMax is after how many power failures a store is made anew.
const livesMax = 10

// examplesMax is how many states of a finding a row describes.
const examplesMax = 2

// row is what an engine did on a kind of disk.
type row struct {
	Engine string
	Disk   string
	// Failures of the power, and States that were made of them.
	Failures, States int
	// Opened states; Ahead of them had more than was acknowledged.
	Opened, Ahead int
	// Findings counts states by what is wrong, the worst only.
	Findings map[string]int
	// Recoveries are failures before the engine had opened its store.
	Recoveries int
	// Batches that were acknowledged as durable, and Syncs of the disk.
	Batches uint64
	Syncs   int
	// Writes and Names are the operations that were not durable at a failure,
	// on average.
	Writes, Names float64
	Examples      []string
	Cut           string // why there were fewer rounds
}

// bad is how many states have the finding.
func (r *row) bad(f finding) int { return r.Findings[f.String()] }

// flaws is how many states are not fine.
func (r *row) flaws() (n int) {
	for f := fine + 1; f < findings; f++ {
		n += r.bad(f)
	}
	return n
}

// rig makes power fail.
type rig struct {
	config
	self     func() *exec.Cmd
	deadline time.Time

	mu       sync.Mutex
	progress io.Writer
	mounts   int
}

// newRig makes a directory for mounts; done removes it.
func newRig(c config, self func() *exec.Cmd, progress io.Writer) (r *rig, done func(), err error) {
	dir, err := os.MkdirTemp(c.Dir, "powerfail")
	if err != nil {
		return nil, nil, err
	}
	c.Dir = dir
	r = &rig{config: c, self: self, progress: progress}
	if c.Budget > 0 {
		r.deadline = time.Now().Add(c.Budget)
	}
	// Only empty directories: nothing must be removed through a mount.
	return r, func() { _ = os.Remove(dir) }, nil
}

// mounted calls use with the place where the disk is mounted. Whatever use
// does, the mount is gone afterwards.
func (r *rig) mounted(d *disk, use func(dir string) error) (err error) {
	r.mu.Lock()
	r.mounts++
	dir := filepath.Join(r.Dir, strconv.Itoa(r.mounts))
	r.mu.Unlock()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	defer os.Remove(dir)
	m, err := mountDisk(d, dir)
	if err != nil {
		return err
	}
	defer func() {
		d.fail()
		d.drain()
		err = errors.Join(err, m.unmount())
	}()
	return use(filepath.Join(dir, engineDir))
}

// run makes all rows, some at a time, and returns those that there are also
// with an error.
func (r *rig) run(ctx context.Context) ([]*row, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var rows []*row
	var wg sync.WaitGroup
	turns := make(chan struct{}, max(r.Parallel, 1))
	for _, e := range r.Engines {
		for _, journalled := range r.Disks {
			out := &row{Engine: e.Name, Disk: diskWord(journalled), Findings: map[string]int{}}
			rows = append(rows, out)
			turns <- struct{}{}
			wg.Go(func() {
				defer func() { <-turns }()
				// A panic of one row must not leave the mounts of the others.
				defer func() {
					if reason := recover(); reason != nil {
						cancel(fmt.Errorf("%s, %s disk: panic: %v\n%s", e.Name, out.Disk, reason, debug.Stack()))
					}
				}()
				if err := r.row(ctx, e, journalled, out); err != nil {
					cancel(fmt.Errorf("%s, %s disk: %w", e.Name, out.Disk, err))
				}
			})
		}
	}
	wg.Wait()
	return rows, context.Cause(ctx)
}

func diskWord(journalled bool) string {
	if journalled {
		return "journalled"
	}
	return "strict"
}

// chain is one store through several power failures.
type chain struct {
	history  history
	disk     *disk // as it was found after the last failure
	position uint64
	durable  uint64
	lives    int
}

func newChain(seed uint64, journalled bool) *chain {
	d := newDisk(journalled)
	if _, e := d.create(d.root, engineDir, true); e != 0 {
		panic(e) // the disk is empty
	}
	d.sync(d.root)
	return &chain{history: history{seed: seed}, disk: d}
}

// row lets the power fail below one engine, on one kind of disk.
func (r *rig) row(ctx context.Context, e engine, journalled bool, out *row) error {
	h := fnv.New64a()
	fmt.Fprint(h, e.Name, out.Disk)
	chance := rand.New(rand.NewPCG(r.Seed, h.Sum64()))
	var c *chain
	usual := uint64(0) // operations of a life
	var data, names int
	said := time.Now()
	defer func() {
		n := float64(max(out.Failures, 1))
		out.Writes, out.Names = float64(data)/n, float64(names)/n
	}()
	for life := uint64(1); out.Failures < r.Rounds; life++ {
		if err := ctx.Err(); err != nil {
			out.Cut = "interrupted"
			return nil // run knows
		}
		if !r.deadline.IsZero() && time.Now().After(r.deadline) {
			out.Cut = "the time was over"
			return nil
		}
		if c == nil || c.lives == livesMax {
			c = newChain(r.Seed, journalled)
		}
		c.lives++
		d := c.disk.copy()
		d.failAt = failAt(chance, usual)
		l, err := r.life(ctx, e, c, d, life)
		if err != nil {
			return err
		}
		usual = max(usual, d.n)
		out.note(c, l, d)
		if l.trouble != "" {
			out.add(verdict{refused, 0, l.trouble}, fmt.Sprintf("life %d, ", life))
			c = nil
			continue
		}
		w, n := d.waiting()
		data, names = data+w, names+n
		c.history.cut(c.position)
		c.history.extend(life, l.began)
		c.durable = max(c.durable, l.durable)
		if c, err = r.judge(ctx, e, c, d, chance, out, life); err != nil {
			return err
		}
		if time.Since(said) > 5*time.Second {
			said = time.Now()
			r.say(out)
		}
	}
	r.say(out)
	return nil
}

// say writes a line of progress.
func (r *rig) say(out *row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintln(r.progress, out.line())
}

func (r *row) line() string {
	return fmt.Sprintf("%-13s %-10s disk: %3d power failures, %4d states, %d not fine", r.Engine, r.Disk, r.Failures, r.States, r.flaws())
}

// failAt draws the operation at which the power fails; 0: none, it fails when
// all is done. Many are early, while the engine opens its store.
func failAt(chance *rand.Rand, usual uint64) uint64 {
	switch {
	case usual == 0:
		return 0
	case chance.IntN(4) == 0:
		return 1 + chance.Uint64N(min(40, usual))
	}
	return 1 + chance.Uint64N(usual+usual/20)
}

// note counts what a life was.
func (r *row) note(c *chain, l life, d *disk) {
	r.Failures++
	if !l.opened {
		r.Recoveries++
	}
	if l.durable > c.position {
		r.Batches += l.durable - c.position
	}
	r.Syncs += d.syncs
}

// add counts the verdict on a state.
func (r *row) add(v verdict, where string) {
	r.States++
	if v.Finding != refused {
		r.Opened++
	}
	r.Findings[v.Finding.String()]++
	if v.Finding != fine && r.bad(v.Finding) <= examplesMax {
		r.Examples = append(r.Examples, fmt.Sprintf("%s%s: %s", where, v.Finding, v.Detail))
	}
}

// life is what is known of a process that wrote until the power failed.
type life struct {
	opened         bool
	found          uint64 // where it began
	began, durable uint64
	trouble        string // it ended by itself, and why; or it found what it should not
}

// life runs the engine until the power fails.
func (r *rig) life(ctx context.Context, e engine, c *chain, d *disk, number uint64) (l life, err error) {
	o := orders{Engine: e.Name, Seed: r.Seed, Life: number, Batches: r.Batches, Every: r.Every}
	err = r.mounted(d, func(dir string) error {
		o.Dir = dir
		p, err := start(ctx, r.self(), o, r.Limit, func(kill func()) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.onFail = kill
		})
		if err != nil {
			return err
		}
		l = p.listen(d)
		return ctx.Err()
	})
	switch {
	case err != nil || l.trouble != "":
	case l.opened && l.found != c.position:
		l.trouble = fmt.Sprintf("opened at batch %d; the same disk was found at %d before", l.found, c.position)
	}
	return l, err
}

// listen reads what a child says until it is gone.
func (p *child) listen(d *disk) (l life) {
	said := ""
	for {
		word, rest, ok := p.line()
		if !ok {
			break
		}
		n, _ := strconv.ParseUint(rest, 10, 64)
		switch word {
		case "open":
			l.opened, l.found = true, n
		case "began":
			l.began = n
		case "durable":
			l.durable = n
		case "done":
			d.fail()
		default:
			said = word + " " + rest
		}
	}
	p.wait()
	d.mu.Lock()
	ran := d.stage == running
	d.mu.Unlock()
	if ran {
		l.trouble = "the process ended before the power failed: " + oneLine(said+" "+p.reason())
	}
	return l
}

// judge makes states of a disk whose power has failed, looks at each, and
// goes on with one of those that are fine; nil: there is none.
func (r *rig) judge(ctx context.Context, e engine, c *chain, d *disk, chance *rand.Rand, out *row, life uint64) (*chain, error) {
	first := fateNone
	if data, names := d.waiting(); data+names == 0 {
		first = fates - 1 // all are the same
	}
	var good []chain
	for f := first; f < fates; f++ {
		state := d.resolve(f, chance)
		found, err := r.look(ctx, e, state.copy())
		if err != nil {
			return nil, err
		}
		v := c.verdict(found)
		where := fmt.Sprintf("life %d, operation %d, %s kept, ", life, d.n, f)
		out.add(v, where)
		switch {
		case v.Finding == fine:
			if v.Position > c.durable {
				out.Ahead++
			}
			next := *c
			next.disk, next.position = state, v.Position
			good = append(good, next)
		case r.Keep != "":
			name := fmt.Sprintf("%s-%s-%d-%s", e.Name, out.Disk, life, f)
			if err := state.dump(filepath.Join(r.Keep, name)); err != nil {
				return nil, err
			}
		}
	}
	if len(good) == 0 {
		return nil, nil
	}
	return &good[chance.IntN(len(good))], nil
}

// verdict is what there is to say to what was found.
func (c *chain) verdict(found sight) verdict {
	if found.Error != "" {
		return verdict{refused, 0, oneLine(found.Error)}
	}
	v := c.history.judge(c.durable, found.Records)
	switch {
	case found.Damage != "":
		return verdict{damaged, v.Position, oneLine(found.Damage)}
	case v.Finding == fine && found.Unusable != "":
		return verdict{unusable, v.Position, oneLine(found.Unusable)}
	}
	return v
}

// look runs the engine on a state, which it changes.
func (r *rig) look(ctx context.Context, e engine, d *disk) (found sight, err error) {
	err = r.mounted(d, func(dir string) error {
		p, err := start(ctx, r.self(), orders{Engine: e.Name, Dir: dir, Check: true}, r.Limit, func(func()) {})
		if err != nil {
			return err
		}
		decode := json.NewDecoder(p.out).Decode(&found)
		_, _ = io.Copy(io.Discard, p.out)
		p.wait()
		if decode != nil {
			found = sight{Error: p.reason()}
		}
		for _, text := range []*string{&found.Error, &found.Damage, &found.Unusable} {
			*text = strings.ReplaceAll(*text, dir+"/", "")
		}
		return ctx.Err()
	})
	return found, err
}
