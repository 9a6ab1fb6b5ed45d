// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
)

// programVar makes the test's program the program.
const programVar = "ASHLAR_EXAMPLE_INDEX"

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
	if code != 0 || !strings.Contains(help, `index --dir /tmp/people put 7 London "Ada Lovelace"`) {
		t.Fatalf("exit code %d, %s", code, help)
	}
	dir := t.TempDir()
	for _, c := range []struct {
		args, out string
		code      int
	}{
		{"put 7 London Ada Lovelace", "", 0}, {"put 8 Paris Sophie Germain", "", 0}, {"put 9 London Mary Somerville", "", 0},
		{"in London", "7 Ada Lovelace\n9 Mary Somerville\n", 0}, {"put 9 Naples Mary Somerville", "", 0}, {"in London", "7 Ada Lovelace\n", 0},
		{"in Naples", "9 Mary Somerville\n", 0}, {"in Lon", "", 0}, {"delete 7", "", 0}, {"in London", "", 0}, {"check", "sound, 2 people\n", 0}, {"frob", "", 1},
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

// cities are where the people live, without those who are nowhere.
func cities(t *testing.T, dir string) map[string]string {
	t.Helper()
	p, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.disk.Close()
	defer p.db.Close()
	it, err := p.records.Iter(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for ok := it.First(); ok; ok = it.Next() {
		m[string(it.Key())], _, _ = strings.Cut(string(it.Value()), "\x00")
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return m
}

// agree compares the people after a kill with what the program printed. A change was made
// between two lines of its goroutine, or behind the last of them: so what is there is the
// change of a line, unless another of the person was begun behind that line and printed, or
// the one change that a goroutine had not printed, or what was there before if no line is of
// that person.
func agree(t *testing.T, p *procs.Process, was, now map[string]string) {
	t.Helper()
	type change struct {
		city       string
		begun, end int
	}
	by := map[string][]change{}
	last, next := make([]int, 3), make([]func() (string, string), 3)
	for w := range next {
		next[w] = changes(p.PID(), w)
	}
	at := 0
	for line := range strings.Lines(p.Out()) {
		if !strings.HasSuffix(line, "\n") {
			break // killed while it was printing
		}
		at++
		f := strings.Fields(line)
		w, err := strconv.Atoi(f[0])
		if err != nil || w >= len(next) {
			t.Fatalf("%q", line)
		}
		id, city := next[w]()
		if want := strings.Fields("put " + id + " " + city); city == "" && !slices.Equal(f[1:], []string{"deleted", id}) || city != "" && !slices.Equal(f[1:], want) {
			t.Fatalf("%q, want a change of %s to %q", line, id, city)
		}
		by[id] = append(by[id], change{city, last[w], at})
		last[w] = at
	}
	unprinted := map[string][]string{}
	for w := range next {
		id, city := next[w]()
		unprinted[id] = append(unprinted[id], city)
	}
	for i := range 20 {
		id := strconv.Itoa(i)
		may := slices.Clone(unprinted[id])
		if len(by[id]) == 0 {
			may = append(may, was[id])
		}
		for _, c := range by[id] {
			if !slices.ContainsFunc(by[id], func(d change) bool { return d.begun >= c.end }) {
				may = append(may, c.city)
			}
		}
		if !slices.Contains(may, now[id]) {
			t.Errorf("%s lives in %q, want one of %q", id, now[id], may)
		}
	}
}

// TestKilled kills the program again and again, while three goroutines change the same
// people. Records and index must say the same each time, and have what was printed.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	lives := 5
	if testing.Short() {
		lives = 2
	}
	was := map[string]string{}
	for life := range lives {
		p := procs.Start(t, procs.Self(t, programVar+"=1", "--dir", dir, "work"))
		for range 60 + 9*life {
			if _, ok := p.Next(); !ok {
				t.Fatalf("the program has ended: %s", p.Errs())
			}
		}
		p.Kill()
		if code, out, errs := program(t, "--dir", dir, "check"); code != 0 || !strings.HasPrefix(out, "sound, ") || out == "sound, 0 people\n" {
			t.Fatalf("after kill %d: %s %s", life, out, errs)
		}
		now := cities(t, dir)
		agree(t, p, was, now)
		was = now
	}
	// The check is not blind: an entry of the index without its record, and a record without
	// its entry.
	p, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.disk.Close()
	defer p.db.Close()
	if err := p.index.Put(entry("Utopia", "1"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := p.check(); err == nil || !strings.Contains(err.Error(), "Utopia") {
		t.Errorf("an entry without its record: %v", err)
	}
	if err := p.index.Delete(entry("Utopia", "1")); err != nil {
		t.Fatal(err)
	}
	if err := p.records.Put([]byte("x"), []byte("Utopia\x00nobody")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.check(); err == nil || !strings.Contains(err.Error(), "Utopia") {
		t.Errorf("a record without its entry: %v", err)
	}
}
