// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
	"github.com/ashlar-dev/ashlar/sim"
)

// specModel is a fresh model of a specification of this repository.
func specModel(t *testing.T, module, cfg string) *model.Model {
	t.Helper()
	loaded, diags, err := load.Load(texts{}, filepath.Join("../../specs", module), load.Options{Translate: trans.InMemory})
	if err == nil {
		err = diags.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("../../specs", cfg))
	if err != nil {
		t.Fatal(err)
	}
	var wrong source.List
	c := config.Parse(source.NewFile(cfg, text), &wrong)
	m, err := model.NewDirect(loaded.Spec, loaded.Plain, c, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// figures is what of a result does not depend on memory and on time.
func figures(r *check.Result) string {
	var out strings.Builder
	fmt.Fprintln(&out, r.Verdict, r.Property, r.Err, r.Generated, r.Distinct, r.Queue, r.Depth, r.Levels, r.Init, r.Actions, r.Warnings)
	for _, s := range r.Trace {
		fmt.Fprintln(&out, s.Action, s.Values)
	}
	return out.String()
}

// quietDisk is a disk in memory for several goroutines.
type quietDisk struct {
	env.Disk
	mu *sync.Mutex
}

func (d quietDisk) Open(name string, create bool) (env.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.Disk.Open(name, create)
	return quietFile{f, d.mu}, err
}

type quietFile struct {
	env.File
	mu *sync.Mutex
}

func (f quietFile) ReadAt(b []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.File.ReadAt(b, off)
}

var keptModels = [][2]string{
	{"diehard/diehard.tla", "diehard/diehard.cfg"},
	{"diehard/diehard.tla", "diehard/unsolvable.cfg"},
	{"mutex/mutex.tla", "mutex/mutex.cfg"},
	{"queue/queue.tla", "queue/queue.cfg"},
	{"tour/tour.tla", "tour/tour.cfg"},
	{"lockservice/lockservice.tla", "lockservice/lockservice.cfg"},
	{"raft/raft.tla", "raft/forgetful.cfg"},
	{"wal/wal.tla", "wal/headerfirst.cfg"},
	{"replicateddisk/replicateddisk.tla", "replicateddisk/hasty.cfg"},
}

// TestSearchesAreKept: searches within next to no memory, and searches that are
// interrupted and resumed with a model that knows nothing but what was saved,
// have the figures and the traces of those in memory.
func TestSearchesAreKept(t *testing.T) {
	for _, files := range keptModels {
		t.Run(strings.TrimSuffix(filepath.Base(files[1]), ".cfg"), func(t *testing.T) {
			run := func(ctx context.Context, o check.Options) (*check.Result, error) {
				o.SafetyOnly = true
				return check.Run(ctx, specModel(t, files[0], files[1]), o)
			}
			whole, err := run(context.Background(), check.Options{Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			want := figures(whole)
			bounded, err := run(context.Background(), check.Options{Workers: 2, MemoryBytes: 1, Disk: quietDisk{sim.NewDisk(), new(sync.Mutex)}})
			if err != nil {
				t.Fatal(err)
			}
			if got := figures(bounded); got != want {
				t.Errorf("within a bound: %s\nwant %s", got, want)
			}
			for _, most := range []int{1, 3, len(whole.Levels) / 2} {
				got, exact := resumedAfter(t, run, most)
				if !exact {
					if got.Verdict != whole.Verdict || len(got.Trace) != len(whole.Trace) {
						t.Errorf("interrupted after %d checkpoints: %s\nwant %s", most, figures(got), want)
					}
				} else if figures(got) != want {
					t.Errorf("resumed after %d checkpoints: %s\nwant %s", most, figures(got), want)
				}
			}
		})
	}
}

// resumedAfter interrupts a search after so many checkpoints, one for each
// segment, and resumes it. Where the search was at its end before it noticed, the
// result is its own; a violation that it found while it was being interrupted
// need not be the first of its level, and exact is false.
func resumedAfter(t *testing.T, run func(context.Context, check.Options) (*check.Result, error), most int) (r *check.Result, exact bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	kept := 0
	o := check.Options{Workers: 2, Disk: quietDisk{sim.NewDisk(), new(sync.Mutex)}}
	o.Checkpoint = &check.Checkpoint{Due: func() bool {
		if kept++; kept > most {
			cancel()
			// The search notices a little later, and must not keep more.
			return false
		}
		return true
	}}
	r, err := run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Checkpoint = &check.Checkpoint{Resume: true}
	again, err := run(context.Background(), o)
	if errors.Is(err, check.ErrNoCheckpoint) {
		return r, r.Verdict == check.OK
	}
	if err != nil {
		t.Fatal(err)
	}
	return again, true
}

// TestWhatIsNotKept: models whose evaluations leave something behind say so.
func TestWhatIsNotKept(t *testing.T) {
	for body, want := range map[string]string{
		"Next == x' = x /\\ PrintT(x)":                                     "",
		"Next == x' = TLCGet(\"level\")":                                   "",
		"Next == x' = RandomElement({1, 2})":                               "RandomElement",
		"Set(v) == TLCSet(1, v)\nNext == x' = x /\\ Set(x)":                "TLCSet",
		"Next == \\E S \\in {1} : x' = S /\\ \\A f \\in {JavaTime} : TRUE": "JavaTime",
	} {
		m := textModel(t, "---- MODULE M ----\nEXTENDS Integers, TLC\nVARIABLE x\nInit == x = 1\n"+body+"\n====\n", "INIT Init NEXT Next")
		err := m.Durable()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "uses "+want+",") {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

func textModel(t *testing.T, module, cfg string) *model.Model {
	t.Helper()
	loaded, diags, err := load.Load(texts{"M.tla": module}, "M.tla", load.Options{})
	if err == nil {
		err = diags.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	var wrong source.List
	m, err := model.New(loaded.Spec, config.Parse(source.NewFile("M.cfg", []byte(cfg)), &wrong), model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// readSpec is a file of the specifications of this repository.
func readSpec(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../specs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// FuzzRestore: bytes that Save did not write are refused, and nothing panics.
func FuzzRestore(f *testing.F) {
	const module = "---- MODULE M ----\nEXTENDS Integers\nVARIABLES x, y\nInit == x = 0 /\\ y = {\"a\"}\nNext == x' = (x + 1) % 3 /\\ y' = y \\cup {\"b\"}\n====\n"
	fresh := func(t interface{ Fatalf(string, ...any) }) *model.Model {
		loaded, diags, err := load.Load(texts{"M.tla": module}, "M.tla", load.Options{})
		if err == nil {
			err = diags.Err()
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		var wrong source.List
		m, err := model.New(loaded.Spec, config.Parse(source.NewFile("M.cfg", []byte("INIT Init NEXT Next")), &wrong), model.Options{})
		if err != nil {
			t.Fatalf("%v", err)
		}
		return m
	}
	m := fresh(f)
	if _, err := check.Run(context.Background(), m, check.Options{}); err != nil {
		f.Fatal(err)
	}
	var saved bytes.Buffer
	if err := m.Save(&saved, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(saved.Bytes())
	if err := fresh(f).Restore(bytes.NewReader(saved.Bytes())); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n := fresh(t)
		if n.Restore(bytes.NewReader(b)) == nil && n.Save(io.Discard, nil) != nil {
			t.Fatalf("%x is restored and cannot be saved", b)
		}
	})
}
