// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/internal/mutant"
)

// module is the prefix of a package's directory in its import path.
const module = "github.com/ashlar-dev/ashlar/"

// rapidImport marks the tests that draw at random: they get a fixed seed, so
// that a mutant dies by the same test in every run, and leave no files.
const rapidImport = "pgregory.net/rapid"

// buildGrace is the time that a run may take beyond the time limit of its tests.
const buildGrace = 4 * time.Minute

// result is a mutant and its fate.
type result struct {
	mutant.Mutant   `json:"-"`
	Name            string         `json:"name"`
	Breaks          string         `json:"breaks"`
	Kind            mutant.Kind    `json:"kind"`
	In              string         `json:"in"`
	Outcome         mutant.Outcome `json:"outcome"`
	Package         string         `json:"package,omitempty"`
	Test            string         `json:"test,omitempty"`
	Detail          string         `json:"detail,omitempty"`
	Seconds         float64        `json:"seconds"`
	packageDir, top string
}

// fate is the outcome as the document records it.
func (r result) fate() mutant.Fate {
	return mutant.Fate{Outcome: r.Outcome, By: r.killer(), Seconds: int(r.Seconds + 0.5)}
}

// killer is the package's directory and the test function, or "".
func (r result) killer() string {
	if !r.Outcome.Good() {
		return ""
	}
	if r.top == "" {
		return r.packageDir
	}
	return r.packageDir + "." + r.top
}

// hunt runs mutants. The tests of a package are run without mutants once for
// each pattern.
type hunt struct {
	o options

	mu    sync.Mutex
	bases map[string]*base
	rapid map[string]bool
}

type base struct {
	once    sync.Once
	verdict mutant.Verdict
	err     error
}

func newHunt(o options) *hunt {
	return &hunt{o: o, bases: map[string]*base{}, rapid: map[string]bool{}}
}

// all runs the mutants, several at a time, and returns their fates in the order
// of the table. If each is not nil, all calls it for one fate after the other,
// in that order.
func (h *hunt) all(table []mutant.Mutant, each func(result)) ([]result, error) {
	results := make([]result, len(table))
	errs := make([]error, len(table))
	done := make([]chan struct{}, len(table))
	for i := range done {
		done[i] = make(chan struct{})
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range h.o.parallel {
		wg.Go(func() {
			for i := range next {
				results[i], errs[i] = h.one(table[i])
				close(done[i])
			}
		})
	}
	go func() {
		for i := range table {
			next <- i
		}
		close(next)
	}()
	for i := range table {
		<-done[i]
		if each != nil && errs[i] == nil {
			each(results[i])
		}
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// one decides the fate of a mutant.
func (h *hunt) one(m mutant.Mutant) (result, error) {
	r := result{Mutant: m, Name: m.Name, Breaks: m.Breaks, Kind: m.Kind, In: m.In, Outcome: mutant.Survived}
	file, mutated, err := m.Edit(os.DirFS("."))
	if err != nil {
		r.Outcome, r.Detail = mutant.NoText, err.Error()
		return r, nil
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, file, mutated)
	if err != nil {
		return r, err
	}
	for _, pkg := range m.Packages {
		b, err := h.base(pkg, m)
		if err != nil {
			return r, err
		}
		if b.Outcome != mutant.Survived {
			r.Outcome, r.Detail, r.packageDir = mutant.BaseFails, b.Test+"\n"+b.Detail, pkg
			if b.Outcome == mutant.NoTest {
				r.Outcome = mutant.NoTest
			}
			return r, nil
		}
		begin := time.Now()
		v, err := h.test(pkg, m, overlay, h.randomFlags(pkg))
		if err != nil {
			return r, err
		}
		r.Seconds += time.Since(begin).Seconds()
		if v.Outcome != mutant.Survived {
			r.Outcome, r.Package, r.Test, r.Detail = v.Outcome, v.Package, v.Test, v.Detail
			r.packageDir, r.top = pkg, v.TopTest()
			return r, nil
		}
	}
	return r, nil
}

// writeOverlay writes the mutated file and the description of the overlay, and
// returns the latter's path.
func writeOverlay(dir, file, mutated string) (string, error) {
	original, err := filepath.Abs(filepath.FromSlash(file))
	if err != nil {
		return "", err
	}
	copied := filepath.Join(dir, filepath.Base(original))
	if err := os.WriteFile(copied, []byte(mutated), 0o600); err != nil {
		return "", err
	}
	description, err := json.Marshal(map[string]any{"Replace": map[string]string{original: copied}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, description, 0o600)
}

// base is the result of the tests without a mutant. Nothing is mutated, so the
// go command may answer from its cache.
func (h *hunt) base(pkg string, m mutant.Mutant) (mutant.Verdict, error) {
	key := fmt.Sprint(pkg, m.Run, m.Short)
	h.mu.Lock()
	b := h.bases[key]
	if b == nil {
		b = &base{}
		h.bases[key] = b
	}
	h.mu.Unlock()
	b.once.Do(func() { b.verdict, b.err = h.test(pkg, m, "", nil) })
	return b.verdict, b.err
}

// test runs the tests of a package. The overlay reaches the go commands that a
// test itself starts through their environment.
func (h *hunt) test(pkg string, m mutant.Mutant, overlay string, further []string) (mutant.Verdict, error) {
	ctx, cancel := context.WithTimeout(context.Background(), h.o.timeout+buildGrace)
	defer cancel()
	args := []string{"test", "-json", "-vet=off", "-failfast", "-p=1", "-timeout=" + h.o.timeout.String()}
	if m.Run != "" {
		args = append(args, "-run="+m.Run)
	}
	if m.Short {
		args = append(args, "-short")
	}
	dir, within := moduleOf(pkg)
	args = append(append(args, "./"+within), further...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = os.Environ()
	if overlay != "" {
		cmd.Env = append(cmd.Env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return mutant.Verdict{Outcome: mutant.TimedOut, Package: module + pkg}, nil
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return mutant.Verdict{}, fmt.Errorf("go test %s: %w", pkg, err)
	}
	v := mutant.Judge(append(stdout.Bytes(), stderr.Bytes()...), err == nil)
	if err == nil && !ranSomething(stdout.Bytes()) {
		v.Outcome, v.Detail = mutant.NoTest, fmt.Sprintf("no test of %s matches %q", pkg, m.Run)
	}
	return v, nil
}

// moduleOf splits a package's path, from the repository's root, at the module that
// contains it: the benchmarks are a separate module.
func moduleOf(pkg string) (dir, within string) {
	for dir = pkg; dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.Join(filepath.FromSlash(dir), "go.mod")); err == nil {
			break
		}
	}
	if within, err := filepath.Rel(dir, pkg); err == nil {
		return dir, filepath.ToSlash(within)
	}
	return ".", pkg
}

// randomFlags make tests that draw at random repeatable.
func (h *hunt) randomFlags(pkg string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	uses, known := h.rapid[pkg]
	if !known {
		files, _ := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*_test.go"))
		for _, f := range files {
			text, err := os.ReadFile(f)
			uses = uses || err == nil && bytes.Contains(text, []byte(rapidImport))
		}
		h.rapid[pkg] = uses
	}
	if !uses {
		return nil
	}
	return []string{"-rapid.seed=1", "-rapid.nofailfile"}
}

// ranSomething reports whether a test began.
func ranSomething(stream []byte) bool { return bytes.Contains(stream, []byte(`"Action":"run"`)) }
