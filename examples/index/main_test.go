// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"os"
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

// TestKilled kills the program again and again, while three goroutines change the same
// people. Records and index must say the same each time.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	lives := 5
	if testing.Short() {
		lives = 2
	}
	for life := range lives {
		p := procs.Start(t, procs.Self(t, programVar+"=1", "--dir", dir, "work"))
		for range 60 + 9*life {
			if _, ok := p.Next(); !ok {
				t.Fatalf("the program has ended: %s", p.Errs())
			}
		}
		p.Kill()
		if code, out, errs := program(t, "--dir", dir, "check"); code != 0 || !strings.HasPrefix(out, "sound, ") {
			t.Fatalf("after kill %d: %s %s", life, out, errs)
		}
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
