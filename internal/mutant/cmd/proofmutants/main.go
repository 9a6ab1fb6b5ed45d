// SPDX-License-Identifier: Apache-2.0

// Command proofmutants, run as `go run ./internal/mutant/cmd/proofmutants` from
// the root of the repository after `make proofs`, puts each bug of
// proofs/mutants into its program, translates the program again if it is Go,
// and builds the proof. It reports at which lemma each build fails, and exits
// with 1 if a build succeeds or fails at another lemma than the table says.
// With -write it records the results in build/proof-mutants.md. It works in a
// copy of the repository.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/mutant/proofs"
)

const documentPath = "build/proof-mutants.md"

func main() {
	only := flag.String("only", "", "run the mutants whose proof/name contains this `text`")
	write := flag.Bool("write", false, "note the fates in "+documentPath)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	good, err := run(ctx, *only, *write)
	if err != nil {
		fmt.Fprintln(os.Stderr, "proofmutants:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

// fate is the outcome of a mutant.
type fate struct {
	proofs.Mutant
	file    string // where the proof stopped
	lemma   string
	seconds float64
}

func (f fate) String() string {
	switch {
	case f.lemma == "":
		return "NOT NOTICED: the proof builds"
	case f.lemma != f.Lemma:
		return fmt.Sprintf("stops at %s (%s), not at %s", f.lemma, f.file, f.Lemma)
	default:
		return fmt.Sprintf("stops at %s (%s)", f.lemma, f.file)
	}
}

func (f fate) good() bool { return f.lemma == f.Lemma }

func run(ctx context.Context, only string, write bool) (bool, error) {
	if write && only != "" {
		return false, fmt.Errorf("-write is about all mutants")
	}
	table, err := readTables(only)
	if err != nil {
		return false, err
	}
	work, err := os.MkdirTemp("", "proofmutants")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(work)
	ashlar := filepath.Join(work, "ashlar")
	if out, err := command(ctx, ".", "go", "build", "-o", ashlar, "./cmd/ashlar"); err != nil {
		return false, fmt.Errorf("building ashlar: %w\n%s", err, out)
	}
	var fates []fate
	good := true
	for _, m := range table {
		f, err := try(ctx, m, work, ashlar)
		if err != nil {
			return false, fmt.Errorf("%s/%s: %w", m.Proof, m.Name, err)
		}
		fmt.Printf("%6.1fs  %-50s %s\n", f.seconds, m.Proof+"/"+m.Name, f)
		fates = append(fates, f)
		good = good && f.good()
		// An interrupted run is useful.
		if write {
			if err := os.MkdirAll(filepath.Dir(documentPath), 0o755); err != nil {
				return false, err
			}
			if err := os.WriteFile(documentPath, []byte(document(table, fates)), 0o644); err != nil {
				return false, err
			}
		}
	}
	return good, nil
}

func readTables(only string) ([]proofs.Mutant, error) {
	files, err := filepath.Glob("proofs/mutants/*.txt")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("run it from the root of the repository: no tables (%v)", err)
	}
	var all []proofs.Mutant
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		table, err := proofs.Parse(strings.TrimSuffix(filepath.Base(file), ".txt"), string(text))
		if err != nil {
			return nil, err
		}
		for _, m := range table {
			if strings.Contains(m.Proof+"/"+m.Name, only) {
				all = append(all, m)
			}
		}
	}
	return all, nil
}

// try makes a copy in work, puts the bug into it and lets the proof build.
func try(ctx context.Context, m proofs.Mutant, work, ashlar string) (fate, error) {
	began := time.Now()
	dir := filepath.Join(work, "copy")
	defer os.RemoveAll(dir)
	// Files keep their times, so that they need not be built again; they are not
	// links, because coqc would write through those.
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fate{}, err
	}
	for _, part := range []string{"go.mod", "go.sum", "proofs", "internal/goose", "examples", "mail", "env", "internal", "worm"} {
		if out, err := command(ctx, ".", "cp", "-a", part, dir); err != nil {
			return fate{}, fmt.Errorf("copying: %w\n%s", err, out)
		}
	}
	file, mutated, err := m.Edit(os.DirFS(dir))
	if err != nil {
		return fate{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(file)), []byte(mutated), 0o644); err != nil {
		return fate{}, err
	}
	if filepath.Ext(file) == ".go" {
		gen := filepath.Join(dir, "proofs/gen", m.In+".v")
		if err := os.Remove(gen); err != nil {
			return fate{}, err
		}
		if out, err := command(ctx, dir, ashlar, "prove", "translate", "./"+m.In); err != nil {
			return fate{}, fmt.Errorf("translating: %w\n%s", err, out)
		}
	}
	out, err := command(ctx, filepath.Join(dir, "proofs"), "make", "top/"+m.Proof+".vo")
	f := fate{Mutant: m, seconds: time.Since(began).Seconds()}
	if err == nil {
		return f, nil
	}
	place, line, found := proofs.Place(out)
	if !found {
		return fate{}, fmt.Errorf("the build failed without a place: %w\n%s", err, out)
	}
	coq, err := os.ReadFile(filepath.Join(dir, "proofs", filepath.FromSlash(place)))
	if err != nil {
		return fate{}, err
	}
	f.file, f.lemma = place, proofs.Lemma(string(coq), line)
	return f, nil
}

// command runs a program in dir and returns its output.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.String(), err
}

// document is the page: the known fates, and the mutants that have not been
// tried.
func document(table []proofs.Mutant, fates []fate) string {
	var b strings.Builder
	b.WriteString(`# Mutants of the proved programs

A bug is put into a proved program, the program is translated again, and its proof
must stop building, at the lemma that was named before. ` + "`make proof-mutants`" + ` does so
for each row of proofs/mutants, in a copy; this page is what its last run wrote.

| program | bug | in | the proof stops at | s |
|---|---|---|---|---|
`)
	for _, f := range fates {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.0f |\n", f.Proof, f.Name, f.In, f, f.seconds)
	}
	for _, m := range table[len(fates):] {
		fmt.Fprintf(&b, "| %s | %s | %s | not tried in the last run; expected at %s | |\n", m.Proof, m.Name, m.In, m.Lemma)
	}
	return b.String()
}
