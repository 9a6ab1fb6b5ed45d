package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ashlar-dev/ashlar"
	"github.com/ashlar-dev/ashlar/check"
	"github.com/ashlar-dev/ashlar/cmd/internal/native"
	"github.com/ashlar-dev/ashlar/tla/eval"
)

// A search with --native runs in a process of its own, with code that is made
// for the model and compiled by the Go toolchain. The program is kept in the
// user's cache directory under the hash of all that it is made of.

// nativeModel is a model that can be a program.
type nativeModel interface {
	Native(stop func() bool) (*eval.Native, string, error)
	NativeRemarks(unmet []bool, ors, ands []uint64) []string
	ShowStep(s, next check.State) []check.Binding
}

// runNative searches a model in a process of its own. Where that cannot be, the
// result is nil, and why says the reason: then the search is made in this one.
func runNative(ctx context.Context, m check.Model, o checkOptions) (r *check.Result, why string) {
	model, ok := m.(nativeModel)
	switch {
	case !ok:
		return nil, "the model is none of TLA+"
	case o.goOn || o.checkpoint != "" || o.resume != "" || o.memory != "" || o.por || o.profile || o.reference:
		return nil, "--continue, --memory, --checkpoint, --resume, --por, --profile and --reference search in this process"
	}
	if l, ok := m.(check.LiveModel); ok && l.Live() != nil && !o.safetyOnly {
		return nil, "there are properties of behaviours"
	}
	n, why, err := model.Native(func() bool { return ctx.Err() != nil })
	if err != nil {
		return nil, err.Error() // the search finds what is wrong once more
	}
	if n == nil {
		return nil, why
	}
	program, err := nativeProgram(ctx, n.Source)
	if err != nil {
		return nil, err.Error()
	}
	answer, err := nativeSearch(ctx, program, o.memoryBytes, native.Job{Info: n.Info, Workers: o.workers, IgnoreDeadlock: !o.deadlock,
		StatesMax: o.statesMax, Initial: n.Initial, Constraints: n.Constraints, ActionConstraints: n.ActionConstraints,
		Invariants: n.Invariants, Antecedents: n.Antecedents})
	switch {
	case err != nil:
		return nil, err.Error()
	case answer.Stopped || answer.Result == nil:
		return nil, "the compiled code met a state that it was not made for"
	}
	r = answer.Result
	if answer.Remarked {
		r.Warnings = append(r.Warnings, model.NativeRemarks(answer.Unmet, answer.Ors, answer.Ands)...)
	}
	showTrace(model, r.Trace)
	for i := range r.Violations {
		showTrace(model, r.Violations[i].Trace)
	}
	if l, ok := m.(check.LiveModel); ok && l.Live() != nil {
		l.Live().Unasked(r)
	}
	var limit check.Limit
	if r.Verdict == check.Interrupted && errors.As(context.Cause(ctx), &limit) {
		r.Verdict, r.Reason = check.Incomplete, string(limit)
	}
	return r, ""
}

// showTrace fills in the values of a trace's states.
func showTrace(m nativeModel, steps []check.Step) {
	for i := range steps {
		steps[i].Values = m.ShowStep(steps[i].State, steps[min(i+1, len(steps)-1)].State)
	}
}

// nativeSearch runs the program, which is to make do with so many bytes of memory.
func nativeSearch(ctx context.Context, program string, memory int64, job native.Job) (*native.Answer, error) {
	cmd := exec.Command(program)
	if memory > 0 {
		cmd.Env = append(os.Environ(), fmt.Sprintf("GOMEMLIMIT=%d", memory))
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	over := make(chan struct{})
	go func() { // the program ends when its standard input does
		select {
		case <-ctx.Done():
		case <-over:
		}
		_ = in.Close()
	}()
	sent := make(chan error, 1)
	go func() { sent <- gob.NewEncoder(in).Encode(job) }()
	var answer native.Answer
	err = gob.NewDecoder(out).Decode(&answer)
	close(over)
	if sendErr := <-sent; sendErr != nil && err == nil {
		err = sendErr
	}
	if waitErr := cmd.Wait(); waitErr != nil && err == nil {
		err = waitErr
	}
	if err != nil {
		return nil, fmt.Errorf("the compiled search: %w %s", err, strings.TrimSpace(said.String()))
	}
	return &answer, nil
}

// nativeProgram is the name of the compiled program for the source of a package
// main. It is compiled if it is not in the cache.
func nativeProgram(ctx context.Context, source []byte) (string, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", errors.New("there is no Go toolchain to compile the model with")
	}
	files, err := nativeFiles(source)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, f := range files {
		fmt.Fprintf(sum, "%s %d\n", f.name, len(f.text))
		sum.Write(f.text)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no directory to keep the compiled model in: %w", err)
	}
	dir := filepath.Join(cache, "ashlar", "native")
	program := filepath.Join(dir, hex.EncodeToString(sum.Sum(nil)))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("keep the compiled model: %w", err)
	}
	work, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return "", fmt.Errorf("keep the compiled model: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	for _, f := range files {
		name := filepath.Join(work, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return "", err
		}
		if err := os.WriteFile(name, f.text, 0o666); err != nil {
			return "", err
		}
	}
	build := exec.CommandContext(ctx, tool, "build", "-o", "program", "./cmd/model")
	build.Dir = work
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile the model: %w: %s", err, firstLines(said))
	}
	if err := os.Rename(filepath.Join(work, "program"), program); err != nil {
		return "", fmt.Errorf("keep the compiled model: %w", err)
	}
	return program, nil
}

// firstLines is as much of a compiler's output as is worth showing.
func firstLines(b []byte) string {
	const most = 600
	if len(b) > most {
		b = b[:most]
	}
	return strings.TrimSpace(string(b))
}

// nativeFile is a file of the module that is compiled.
type nativeFile struct {
	name string
	text []byte
}

// nativeFiles are the files of the module that is compiled, in a fixed order.
func nativeFiles(source []byte) ([]nativeFile, error) {
	files := []nativeFile{
		{"go.mod", []byte("module github.com/ashlar-dev/ashlar\n\ngo 1.26.0\n")},
		{"cmd/model/main.go", source},
	}
	err := fs.WalkDir(ashlar.NativeSources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		f, err := ashlar.NativeSources.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		text, err := io.ReadAll(f)
		files = append(files, nativeFile{name, text})
		return err
	})
	return files, err
}
