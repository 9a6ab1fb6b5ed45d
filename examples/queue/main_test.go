// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
)

// programVar makes the test's program the program.
const programVar = "ASHLAR_EXAMPLE_QUEUE"

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
	if code != 0 || !strings.Contains(help, `queue --dir /tmp/q push "write to Ada"`) {
		t.Fatalf("exit code %d, %s", code, help)
	}
	dir := t.TempDir()
	for _, c := range []struct {
		args, out string
		code      int
	}{
		{"push write to Ada", "", 0}, {"push then to Bob", "", 0}, {"check", "sound, 2 items\n", 0}, {"pop", "write to Ada\n", 0},
		{"pop", "then to Bob\n", 0}, {"pop", "", 1}, {"check", "sound, 0 items\n", 0}, {"frob", "", 1},
	} {
		code, out, errs := program(t, append([]string{"--dir", dir}, strings.Fields(c.args)...)...)
		if code != c.code || out != c.out {
			t.Errorf("%s: exit code %d, %q, %s", c.args, code, out, errs)
		}
	}
	if code, _, _ := program(t, "push"); code != 2 {
		t.Errorf("without a directory: exit code %d", code)
	}
}

// TestKilled kills the program again and again. Nothing is popped twice, and nothing is lost
// but what a pop had taken that was killed before it has printed: each item has what was
// pushed under its number, and those of one goroutine come in the order of its pushes.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	lives := 5
	if testing.Short() {
		lives = 2
	}
	pushed, popped := uint64(0), map[uint64]bool{}
	items := map[uint64]string{} // by all that the program has printed, and what is left
	seen := func(n uint64, item string) {
		if was, ok := items[n]; ok && was != item {
			t.Errorf("item %d is %q, and was %q", n, item, was)
		}
		items[n] = item
	}
	for life := range lives {
		p := procs.Start(t, procs.Self(t, programVar+"=1", "--dir", dir, "work"))
		for range 40 + 7*life {
			if _, ok := p.Next(); !ok {
				t.Fatalf("the program has ended: %s", p.Errs())
			}
		}
		p.Kill()
		for line := range strings.Lines(p.Out()) {
			var n uint64
			var item string
			if !strings.HasSuffix(line, "\n") {
				continue // killed while it was printing
			}
			if _, err := fmt.Sscanf(line, "pushed %d %s", &n, &item); err == nil {
				pushed = max(pushed, n+1)
			} else if _, err := fmt.Sscanf(line, "popped %d %s", &n, &item); err != nil || popped[n] {
				t.Fatalf("%q, which may be the second time: %v", line, popped[n])
			} else {
				popped[n] = true
			}
			seen(n, item)
		}
		if code, out, errs := program(t, "--dir", dir, "check"); code != 0 {
			t.Fatalf("after kill %d: %s %s", life, out, errs)
		}
	}
	q, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer q.disk.Close()
	defer q.db.Close()
	lo, err := number(q.db.Get, first)
	if err != nil {
		t.Fatal(err)
	}
	hi, err := number(q.db.Get, next)
	if err != nil {
		t.Fatal(err)
	}
	// At each kill a pop or two may have ended without a word.
	if hi < pushed || uint64(len(popped)) > lo || uint64(len(popped)+2*lives) < lo {
		t.Errorf("%d pushed, the counter is %d; %d popped, the counter is %d", pushed, hi, len(popped), lo)
	}
	for n := range popped {
		if n >= lo {
			t.Errorf("item %d was popped, and will be again", n)
		}
	}
	for n := lo; n < hi; n++ {
		got, item, err := q.pop(t.Context())
		if err != nil || got != n {
			t.Fatalf("item %d is popped as %d, %v", n, got, err)
		}
		seen(n, string(item))
	}
	after := map[string]int{} // of each goroutine, the number of its last item, from 1 on
	for _, n := range slices.Sorted(maps.Keys(items)) {
		var process, worker, i int
		if _, err := fmt.Sscanf(items[n], "%d-%d-%d", &process, &worker, &i); err != nil {
			t.Fatalf("item %d is %q: %v", n, items[n], err)
		}
		of := fmt.Sprint(process, worker)
		if i < after[of] {
			t.Errorf("item %d is %q, behind a later one", n, items[n])
		}
		after[of] = i + 1
	}
}

// TestPopsStayCheap: a pop after many others takes as many steps as the first, counted by
// what the store has looked at.
func TestPopsStayCheap(t *testing.T) {
	q, err := open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer q.disk.Close()
	defer q.db.Close()
	ctx := context.Background()
	for range 300 {
		if _, err := q.push(ctx, []byte("item")); err != nil {
			t.Fatal(err)
		}
	}
	before := q.db.Metrics()
	for range 300 {
		if _, _, err := q.pop(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if m := q.db.Metrics(); m.Gets-before.Gets != 600 || m.Iterators != before.Iterators {
		t.Errorf("300 pops made %d gets and %d iterators, want 600 and none", m.Gets-before.Gets, m.Iterators-before.Iterators)
	}
}
