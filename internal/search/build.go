// SPDX-License-Identifier: Apache-2.0

// Package search runs a search in a separate process: it compiles the code made for a
// model, caches the most recently used programs, and runs one.
//
// In: the source of a package main that package model prints, and a job with the
// checkpoint of a search. Out: the program's answer and its progress. Promised: when
// Run returns, the program has ended, whatever it did; when the context of a build
// ends, the compiler has ended. internal/search/program is the program's own code.
package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar"
)

// The most recently used programs are kept in the user's cache directory, each
// under the hash of its sources.

const (
	// keptMax is the number of programs kept; each takes a few megabytes.
	keptMax = 40
	// buildAge is the age after which a build directory is assumed to belong to
	// a killed process.
	buildAge = 24 * time.Hour
	// buildPrefix is the prefix of the names of such directories.
	buildPrefix = "build-"
	// WaitMax is how long a process may take to end when it must.
	WaitMax = 5 * time.Second
	// KeepMax is how long it may take to write a checkpoint before that.
	KeepMax = time.Minute
)

// Program is the program for one model; it exists once it was compiled.
type Program struct {
	dir, hash string // of the programs, and of this one there
	files     []file
}

// New returns the program for the source of a package main. It compiles nothing.
func New(source []byte) (*Program, error) {
	files, err := sources(source)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, f := range files {
		fmt.Fprintf(sum, "%s %d\n", f.name, len(f.text))
		sum.Write(f.text)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("there is no directory to keep the compiled model in: %w", err)
	}
	return &Program{dir: filepath.Join(cache, "ashlar", "native"), hash: hex.EncodeToString(sum.Sum(nil)), files: files}, nil
}

// Path is the file of the program, which may not exist yet.
func (b *Program) Path() string { return filepath.Join(b.dir, b.hash) }

// Cached reports whether the program exists, and marks it as used now.
func (b *Program) Cached() bool {
	if _, err := os.Stat(b.Path()); err != nil {
		return false
	}
	now := time.Now()
	_ = os.Chtimes(b.Path(), now, now) // on failure it may be removed earlier than necessary
	return true
}

// Compile makes the program with at most the given number of processors; 0 means
// all. If the context ends, nothing remains except in the Go toolchain's own
// cache.
func (b *Program) Compile(ctx context.Context, processors int) error {
	tool, err := exec.LookPath("go")
	if err != nil {
		return errors.New("there is no Go toolchain to compile the model with")
	}
	if err := os.MkdirAll(b.dir, 0o777); err != nil {
		return fmt.Errorf("keep the compiled model: %w", err)
	}
	work, err := os.MkdirTemp(b.dir, buildPrefix)
	if err != nil {
		return fmt.Errorf("keep the compiled model: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	for _, f := range b.files {
		name := filepath.Join(work, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.text, 0o666); err != nil {
			return err
		}
	}
	// Leave the paths of this directory out of the output, so that the engine is
	// compiled once for all models. The toolchain's temporary files are here too
	// and are removed even if the toolchain is killed.
	build := exec.CommandContext(ctx, tool, "build", "-trimpath", "-o", "program", "./cmd/model")
	build.Dir = work
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0", "GOTMPDIR="+work)
	if processors > 0 {
		build.Env = append(build.Env, fmt.Sprintf("GOMAXPROCS=%d", processors))
	}
	apart(build)
	if said, err := build.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("compile the model: %w: %s", err, firstLines(said))
	}
	if err := os.Rename(filepath.Join(work, "program"), b.Path()); err != nil {
		return fmt.Errorf("keep the compiled model: %w", err)
	}
	forgetPrograms(b.dir, keptMax, time.Now())
	return nil
}

// forgetPrograms removes all programs except the most recently used ones, and
// files left by killed processes.
func forgetPrograms(dir string, most int, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // there is nothing to remove
	}
	type program struct {
		name string
		used time.Time
	}
	var programs []program
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil: // another process has removed it
		case !e.IsDir():
			programs = append(programs, program{e.Name(), info.ModTime()})
		case strings.HasPrefix(e.Name(), buildPrefix) && now.Sub(info.ModTime()) > buildAge:
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // the next one tries again
		}
	}
	slices.SortFunc(programs, func(a, b program) int { return b.used.Compare(a.used) })
	for _, p := range programs[min(most, len(programs)):] {
		_ = os.Remove(filepath.Join(dir, p.name)) // so does it here
	}
}

// firstLines is the part of a compiler's output that is worth showing.
func firstLines(b []byte) string {
	const most = 600
	if len(b) > most {
		b = b[:most]
	}
	return strings.TrimSpace(string(b))
}

// file is a file of the module that is compiled.
type file struct {
	name string
	text []byte
}

// sources are the files of the module that is compiled, in a fixed order.
func sources(source []byte) ([]file, error) {
	files := []file{
		{"go.mod", []byte("module github.com/ashlar-dev/ashlar\n\ngo 1.26.0\n")},
		{"cmd/model/main.go", source},
	}
	err := fs.WalkDir(ashlar.NativeSources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := ashlar.NativeSources.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		text, err := io.ReadAll(f)
		files = append(files, file{name, text})
		return err
	})
	return files, err
}
