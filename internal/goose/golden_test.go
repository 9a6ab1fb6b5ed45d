// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files instead of comparing")

// translateFile translates a file of testdata as a package of its own.
func translateFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p, diags := Lower(mustCheck(t, filepath.Base(name), string(text), ""))
	if diags.HasErrors() {
		t.Fatalf("refused:\n%v", diags)
	}
	return Encode(p).String()
}

// TestGolden compares translations with testdata/golden, byte for byte.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			got := translateFile(t, name)
			golden := strings.TrimSuffix(name, ".go") + ".gold.v"
			if *rewrite {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("-want +got:\n%s\n'go test ./internal/goose -rewrite' writes it", d)
			}
		})
	}
}

// TestGoldenCompiles gives all golden files to Coq.
func TestGoldenCompiles(t *testing.T) {
	coqc, err := exec.LookPath("coqc")
	if err != nil {
		t.Skip("did not run: there is no coqc")
	}
	proofs, err := filepath.Abs("../../proofs")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"trusted/primitive.vo", "lang/texts.vo", "lang/packages.vo"} {
		if _, err := os.Stat(filepath.Join(proofs, name)); err != nil {
			t.Skipf("did not run: proofs/%s is not built; 'make -C proofs %[1]s' builds it", name)
		}
	}
	files, err := filepath.Glob("testdata/golden/*.gold.v")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	// One file for all: starting Coq takes longer than checking them.
	var all bytes.Buffer
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		module := "golden_" + strings.TrimSuffix(filepath.Base(name), ".gold.v")
		fmt.Fprintf(&all, "Module %s.\n%s\nEnd %s.\n", module, text, module)
	}
	name := filepath.Join(t.TempDir(), "golden.v")
	if err := os.WriteFile(name, all.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, coqc, "-q", "-w", "none", "-Q", proofs, "ashlar", name).CombinedOutput()
	if bytes.Contains(out, []byte("inconsistent assumptions")) {
		t.Skip("did not run: proofs/trusted/primitive.vo is older than what it needs")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestGeneratedProofsAreFresh translates every package in proofs/gen again.
func TestGeneratedProofsAreFresh(t *testing.T) {
	const gen = "../../proofs/gen"
	var patterns []string
	files := map[string]bool{}
	err := filepath.WalkDir(gen, func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".v") {
			rel, _ := filepath.Rel(gen, name)
			patterns = append(patterns, "./"+strings.TrimSuffix(filepath.ToSlash(rel), ".v"))
			files[filepath.ToSlash(rel)] = true
		}
		return err
	})
	if err != nil || len(patterns) == 0 {
		t.Fatalf("nothing in %s: %v", gen, err)
	}
	out, diags, err := Translate(Config{Dir: "../..", Patterns: patterns, ReadFile: os.ReadFile, Go: runGo, Show: filepath.Base})
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatalf("refused:\n%v", diags)
	}
	for _, o := range out {
		name := filepath.Join(gen, filepath.FromSlash(o.File))
		if *rewrite {
			if err := os.WriteFile(name, []byte(o.Text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%v; 'ashlar prove translate' writes it", err)
			continue
		}
		delete(files, o.File)
		if d := cmp.Diff(string(got), o.Text); d != "" {
			t.Errorf("%s is not what the Go says (-is +should be):\n%s\n'ashlar prove translate' writes it", o.File, d)
		}
	}
	for name := range files {
		t.Errorf("%s is of no package", name)
	}
}

// TestSemanticsCorpus runs the corpus as Go; its translation is run in Coq by
// the differential tests.
func TestSemanticsCorpus(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "test", "-count=1", "./testdata/semantics").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// FuzzTranslate: whatever type-checks is translated or refused.
func FuzzTranslate(f *testing.F) {
	for _, pattern := range []string{"testdata/golden/*.go", "testdata/refused/*.go", "testdata/semantics/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no programs in %s: %v", pattern, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := check("fuzz.go", text, "")
		if err != nil {
			return
		}
		p, diags := Lower(u)
		for _, d := range diags.Sorted() {
			if !d.Span.IsValid() {
				t.Errorf("without a place: %s [%s]", d.Message, d.Code)
			}
		}
		if !diags.HasErrors() {
			_ = Encode(p).String()
		}
	})
}
