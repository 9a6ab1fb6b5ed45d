// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be a child of the benchmark, as the command is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childArg {
		os.Exit(childMain(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func selfCommand() *exec.Cmd { return exec.Command(os.Args[0], childArg) }

// runCommand runs the program and returns its report as JSON has it.
func runCommand(t *testing.T, ctx context.Context, args ...string) (*report, string, error) {
	t.Helper()
	dir := t.TempDir()
	var out, progress strings.Builder
	err := command(ctx, append([]string{"-json", "-dir", dir, "-memory", "32MiB", "-limit", "1s"}, args...), &out, &progress, selfCommand)
	left, globErr := filepath.Glob(filepath.Join(dir, "*"))
	if globErr != nil || len(left) > 0 {
		t.Errorf("files left behind: %v %v", left, globErr)
	}
	if out.Len() == 0 {
		return nil, progress.String(), err
	}
	r := new(report)
	if e := json.Unmarshal([]byte(out.String()), r); e != nil {
		t.Fatalf("report is not JSON: %v\n%s", e, out.String())
	}
	return r, progress.String(), err
}

func TestSmoke(t *testing.T) {
	list := []string{"bbolt"}
	if !testing.Short() {
		list = nil
		for _, e := range engines() {
			if e.Absent == "" {
				list = append(list, e.Name)
			}
		}
	}
	r, progress, err := runCommand(t, t.Context(), "-records", "3000", "-ops", "200", "-engines", strings.Join(list, ","))
	// Badger cannot open its files after a kill that came while it was creating one. That
	// is its result, not a mistake of the benchmark.
	unopened := err != nil && strings.HasPrefix(err.Error(), "badger R: open: ") && !strings.Contains(err.Error(), "\n")
	if err != nil && !unopened {
		t.Fatalf("%v\n%s", err, progress)
	}
	if want := len(list) * len(workloads()); len(r.Results) != want || len(r.Cells) != want {
		t.Fatalf("%d results and %d cells, want %d", len(r.Results), len(r.Cells), want)
	}
	for _, c := range r.Cells {
		if unopened && c.Engine == "badger" && c.Workload == "R" {
			continue
		}
		if c.Rounds != 1 || c.OpsPerSecond <= 0 || len(c.Why) > 0 {
			t.Errorf("%s %s: %d rounds, %.0f op/s, %v", c.Workload, c.Engine, c.Rounds, c.OpsPerSecond, c.Why)
		}
		if c.Workload == "load" && (c.Latency[0].Kind != "insert" || c.Latency[0].Count != 3000 || c.Space < 3000*valueSize) {
			t.Errorf("load %s: latency %+v, space %.0f", c.Engine, c.Latency, c.Space)
		}
	}
}

// TestClientsTogether has several clients write the same records at once.
func TestClientsTogether(t *testing.T) {
	r, progress, err := runCommand(t, t.Context(), "-records", "300", "-ops", "2000", "-clients", "8",
		"-engines", "bbolt,pebble", "-workloads", "load,A,M,F,E,D,W,S")
	if err != nil {
		t.Fatalf("%v\n%s", err, progress)
	}
	for _, c := range r.Cells {
		if c.Rounds != 1 {
			t.Errorf("%s %s: %v", c.Workload, c.Engine, c.Why)
		}
	}
}

func TestSyncEach(t *testing.T) {
	r, progress, err := runCommand(t, t.Context(), "-records", "200", "-clients", "4", "-sync", "each", "-engines", "bbolt,pebble,pebble-nolog", "-workloads", "load")
	if err != nil {
		t.Fatalf("%v\n%s", err, progress)
	}
	for _, c := range r.Cells {
		if noLog := c.Engine == "pebble-nolog"; noLog != (c.Rounds == 0) || noLog && c.Why[0] != "without a log it cannot sync each write" {
			t.Errorf("%s: %d rounds, %v", c.Engine, c.Rounds, c.Why)
		}
	}
}

func TestBudgetSaysWhatWasNotRun(t *testing.T) {
	r, _, err := runCommand(t, t.Context(), "-records", "1000", "-engines", "bbolt", "-workloads", "load,A", "-budget", "1ms")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cells {
		if c.Rounds != 0 || c.Failed != 0 || len(c.Why) != 1 || c.Why[0] != "the budget is spent" {
			t.Errorf("%s: %+v", c.Workload, c)
		}
	}
	if text := r.render(false); !strings.Contains(text, "A bbolt: not run: the budget is spent") {
		t.Errorf("the report does not say what was not run:\n%s", text)
	}
}

func TestInterruptEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 1200*time.Millisecond)
	defer cancel()
	start := time.Now()
	r, _, err := runCommand(t, ctx, "-records", "1000000", "-limit", "1m", "-engines", "bbolt", "-workloads", "load,A")
	if err == nil || err.Error() != "interrupted" {
		t.Errorf("error %v, want interrupted", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %s to end", took)
	}
	if r == nil || len(r.Cells) != 2 || r.Cells[1].Why[0] != "interrupted" {
		t.Errorf("the report does not say that A was not run: %+v", r)
	}
}

// TestCutPhase loads more than fits in the time.
func TestCutPhase(t *testing.T) {
	r, progress, err := runCommand(t, t.Context(), "-records", "5000000", "-limit", "1s", "-engines", "pebble", "-workloads", "load,S")
	if err != nil {
		t.Fatalf("%v\n%s", err, progress)
	}
	load := r.Results[0]
	if !load.cut() || load.Records != load.Ops || !r.Cells[0].Cut {
		t.Errorf("load did %d of %d, %d records: want it cut, and each record that was put", load.Ops, load.Wanted, load.Records)
	}
	if scan := r.Results[1]; !scan.ok() || scan.Wanted != load.Records {
		t.Errorf("scan after it: %+v", scan)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-engines nonesuch", `no engine is called "nonesuch"; there are`},
		{"-workloads Z", `no workload is called "Z"; there are load, A`},
		{"-workloads A,A", "workload A is listed twice"},
		{"-preset XL", "-preset XL: there are smoke, S and two"},
		{"-memory much", `-memory: "much": expected a size such as 512MiB`},
		{"-memory 1MiB", "-memory 1 MiB: expected 32 MiB at least"},
		{"-records -3", "-records -3: expected 1 to"},
		{"-rounds 0", "-rounds 0: expected 1 at least"},
		{"-sync sometimes", "-sync sometimes: there are end and each"},
		{"-compressible 2", "-compressible 2: expected 0 to 1"},
		{"-limit 1ms", "-limit 1ms: expected 1s at least"},
		{"-nonesuch", "flag provided but not defined"},
		{"extra", `"extra" is not a flag`},
	} {
		err := command(t.Context(), strings.Fields(c.args), io.Discard, io.Discard, selfCommand)
		if !errors.Is(err, errUsage) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.args, err, c.want)
		}
	}
}

func TestHelpShowsAnExample(t *testing.T) {
	var out strings.Builder
	err := command(t.Context(), []string{"-help"}, io.Discard, &out, selfCommand)
	if !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error %v, want %v", err, flag.ErrHelp)
	}
	for _, want := range []string{"go -C bench run ./kv -preset smoke", "-budget", "Zipfian, caches cold"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("help does not hold %q:\n%s", want, out.String())
		}
	}
}

func TestTooLittleSpace(t *testing.T) {
	_, _, err := runCommand(t, t.Context(), "-records", fmt.Sprint(recordsMax), "-engines", "bbolt")
	if _, known := freeSpace(t.TempDir()); !known {
		t.Skip("this system does not say how much space there is")
	}
	if err == nil || !strings.Contains(err.Error(), "has room for") {
		t.Errorf("error %v, want that there is too little space", err)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"512MiB": 512 << 20, "1GiB": 1 << 30, "64 KiB": 64 << 10, "4096": 4096} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1MB", "99999999999GiB"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}

// TestNoCages shows that a place without control groups is refused, left as it
// was, and told about.
func TestNoCages(t *testing.T) {
	dir := t.TempDir()
	c := findCages(dir)
	if c.parent != "" || !strings.HasPrefix(c.Why, "none: ") {
		t.Errorf("found %+v in a plain directory", c)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestKillsForMemoryAreSeen has an engine believe that it may use 512 MiB,
// and holds it below 16.
func TestKillsForMemoryAreSeen(t *testing.T) {
	places := findCages("")
	if places.parent == "" {
		t.Skip("no control groups here: ", places.Why)
	}
	dir := t.TempDir()
	b := &bench{config: config{Memory: 16 << 20, Rounds: 1}, root: dir, cages: places, self: selfCommand,
		progress: newProgress(io.Discard, false, time.Now)}
	r := &result{Round: 1, Engine: "pebble", Workload: "load"}
	b.child(t.Context(), r, spec{Engine: "pebble", Workload: "load", Dir: filepath.Join(dir, "pebble"), Format: format{ValueSize: valueSize},
		Settings: settings{Memory: 512 << 20, CPUs: 1, Clients: 1}, Records: 60_000, Ops: 60_000,
		Limit: time.Minute, Left: time.Minute, HeapLimit: 1 << 30})
	if r.OOMKills == 0 || r.Error != "killed by the kernel: over the memory limit" || r.PeakCharge > 17<<20 {
		t.Errorf("killed %d times, charged %d, error %q; want that it was killed", r.OOMKills, r.PeakCharge, r.Error)
	}
}
