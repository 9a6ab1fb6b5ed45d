// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be a child, as the command is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childArg {
		os.Exit(childMain(append(engines(), toys()...), os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func selfCommand() *exec.Cmd { return exec.Command(os.Args[0], childArg) }

// canMount skips where no file system can be mounted.
func canMount(t *testing.T) {
	t.Helper()
	m, err := mountDisk(newDisk(false), t.TempDir())
	if err != nil {
		t.Skipf("not run: %v", err)
	}
	if err := m.unmount(); err != nil {
		t.Fatal(err)
	}
}

// noMounts fails when a mount below the directory is left.
func noMounts(t *testing.T, dir string) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), dir) {
		t.Errorf("a mount is left below %s", dir)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in %s: %v %v", dir, left, err)
	}
}

// runRig makes the rows of one engine, strict and journalled.
func runRig(t *testing.T, name string, rounds int, batches uint64) (strict, journalled *row) {
	t.Helper()
	list, err := enginesNamed(append(engines(), toys()...), []string{name})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := config{Engines: list, Disks: []bool{false, true}, Rounds: rounds, Seed: 1, Batches: batches, Every: 8, Limit: time.Minute, Parallel: 2, Dir: dir}
	r, done, err := newRig(c, selfCommand, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := r.run(t.Context())
	done()
	if err != nil {
		t.Fatal(err)
	}
	noMounts(t, dir)
	for _, row := range rows {
		t.Log(row.line())
		for _, x := range row.Examples {
			t.Log(x)
		}
		if row.Failures != rounds || row.States < rounds || row.Opened < 1 || row.Syncs == 0 || row.Batches == 0 {
			t.Errorf("too little was done: %+v", row)
		}
	}
	return rows[0], rows[1]
}

// TestOurs lets the power fail below the store of this repository.
func TestOurs(t *testing.T) {
	canMount(t)
	for _, e := range oursEngines() {
		t.Run(e.Name, func(t *testing.T) {
			rounds := 6
			if testing.Short() {
				rounds = 2
			}
			strict, journalled := runRig(t, e.Name, rounds, 200)
			for _, row := range []*row{strict, journalled} {
				if row.flaws() > 0 {
					t.Errorf("%s disk: %v", row.Disk, row.Examples)
				}
			}
			if !testing.Short() && strict.Ahead+journalled.Ahead == 0 {
				t.Error("no state had more than what was acknowledged: nothing was at stake")
			}
		})
	}
}

// TestTheRigFindsWhatIsBroken runs stores of which it is known what they lose.
func TestTheRigFindsWhatIsBroken(t *testing.T) {
	canMount(t)
	for _, c := range []struct {
		toy                string
		rounds             int
		strict, journalled []finding // of which one must be found; none: nothing may be
	}{
		{toy: "toy", rounds: 4},
		{toy: "toy-direct", rounds: 4},
		{toy: "toy-mapped", rounds: 4},
		{toy: "toy-allocated", rounds: 4},
		{toy: "toy-file", rounds: 4},
		{"toy-hasty", 2, []finding{lost}, []finding{lost}},
		{"toy-mapped-hasty", 2, []finding{lost}, []finding{lost}},
		{"toy-nameless", 4, []finding{lost}, nil},
		{"toy-trusting", 10, []finding{damaged}, []finding{damaged}},
		{"toy-piecemeal", 4, []finding{halved}, []finding{halved}},
		{"toy-file-hasty", 2, []finding{lost, refused}, []finding{lost, refused}},
	} {
		if testing.Short() && c.rounds > 4 {
			continue
		}
		t.Run(c.toy, func(t *testing.T) {
			t.Parallel()
			strict, journalled := runRig(t, c.toy, c.rounds, 60)
			for _, k := range []struct {
				row  *row
				want []finding
			}{{strict, c.strict}, {journalled, c.journalled}} {
				n := 0
				for _, f := range k.want {
					n += k.row.bad(f)
				}
				if len(k.want) == 0 && k.row.flaws() > 0 {
					t.Errorf("%s disk: %v, want nothing", k.row.Disk, k.row.Findings)
				}
				if len(k.want) > 0 && n == 0 {
					t.Errorf("%s disk: %v, want one of %v", k.row.Disk, k.row.Findings, k.want)
				}
			}
		})
	}
}

// TestInterrupted ends a run in the middle; no mount and no process is left.
func TestInterrupted(t *testing.T) {
	canMount(t)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	var out strings.Builder
	err := command(ctx, []string{"-rounds", "1000", "-dir", dir, "-json"}, &out, io.Discard, selfCommand)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
	noMounts(t, dir)
	var r report
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil || len(r.Rows) == 0 {
		t.Errorf("the report of what there was: %v %s", err, out.String())
	}
}

// TestPanic unmounts although who uses the mount panics.
func TestPanic(t *testing.T) {
	canMount(t)
	dir := t.TempDir()
	r, done, err := newRig(config{Dir: dir}, selfCommand, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = r.mounted(newDisk(false), func(string) error { panic("on purpose") })
	}()
	done()
	noMounts(t, dir)
}
