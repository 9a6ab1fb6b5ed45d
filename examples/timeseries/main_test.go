// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
)

// programVar makes the test's program the program.
const programVar = "ASHLAR_EXAMPLE_TIMESERIES"

func TestMain(m *testing.M) {
	if os.Getenv(programVar) != "" {
		main()
	}
	os.Exit(m.Run())
}

func program(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	return procs.Run(t, procs.Self(t, programVar+"=1", args...))
}

// The example of the help text works.
func TestHelp(t *testing.T) {
	code, _, help := program(t, "--help")
	if code != 0 || !strings.Contains(help, "timeseries --dir /tmp/ts add kitchen 2026-11-23T20:15:00Z 21.5") {
		t.Fatalf("exit code %d, %s", code, help)
	}
	dir := t.TempDir()
	const day = "read kitchen 2026-11-23T00:00:00Z 2026-11-24T00:00:00Z"
	for _, c := range []struct {
		args, out string
		code      int
	}{
		{"add kitchen 2026-11-23T20:15:00Z 21.5", "", 0}, {"add kitchen 2026-11-23T19:00:00Z 20", "", 0}, {"add roof 2026-11-23T20:15:00Z 3", "", 0},
		{day, "2026-11-23T19:00:00Z 20\n2026-11-23T20:15:00Z 21.5\n", 0},
		{"add kitchen 2026-11-25T19:20:00Z 22", "", 0}, {day, "2026-11-23T19:00:00Z 20\n2026-11-23T20:15:00Z 21.5\n", 0},
		{"add kitchen 2026-11-25T20:00:00Z 22", "", 0}, {day, "2026-11-23T20:15:00Z 21.5\n", 0}, // one hour less
		{"add kitchen 2026-11-23T19:00:00Z 20", "", 1}, {"frob", "", 1},
	} {
		code, out, errs := program(t, append([]string{"--dir", dir}, strings.Fields(c.args)...)...)
		if code != c.code || out != c.out {
			t.Errorf("%s: exit code %d, %q, %s", c.args, code, out, errs)
		}
	}
	if code, _, _ := program(t, "check"); code != 2 {
		t.Errorf("without a directory: exit code %d", code)
	}
}

// With a byte 0 in its name a series would stand among the times of another one.
func TestNamesWithoutZero(t *testing.T) {
	s, err := open(t.TempDir(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	defer s.disk.Close()
	defer s.db.Close()
	if err := s.add(time.Unix(1e9, 0), map[string]float64{"roof\x00": 1}); err == nil {
		t.Error("a name with a byte 0 is taken")
	}
}

// TestKilled kills the program again and again, while hours are made and dropped. Whole
// moments are there or not, without a gap, up to the last that was printed at least.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	lives := 5
	if testing.Short() {
		lives = 2
	}
	var last time.Time
	for life := range lives {
		p := procs.Start(t, procs.Self(t, programVar+"=1", "--dir", dir, "--keep", "2", "work"))
		for range 130 + 31*life {
			line, ok := p.Next()
			if !ok {
				t.Fatalf("the program has ended: %s", p.Errs())
			}
			at, err := time.Parse("added "+time.RFC3339, line)
			if err != nil || !at.After(last) {
				t.Fatalf("%q behind %s: %v", line, last, err)
			}
			last = at
		}
		p.Kill()
		code, out, errs := program(t, "--dir", dir, "--keep", "2", "check")
		if code != 0 || out == "sound, 0 moments\n" {
			t.Fatalf("after kill %d: %s %s", life, out, errs)
		}
	}
	s, err := open(dir, 2*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	defer s.disk.Close()
	defer s.db.Close()
	newest, err := s.last()
	if err != nil || newest.Before(last) {
		t.Errorf("%s was printed, the newest is %s: %v", last, newest, err)
	}
	if hours, err := s.db.Keyspaces(); err != nil || len(hours) > 4 {
		t.Errorf("%d hours are kept: %v, %v", len(hours), hours, err)
	}
}
