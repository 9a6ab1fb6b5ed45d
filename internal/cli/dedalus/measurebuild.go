// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/dedalus/machines"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/gomodule"
	"github.com/ashlar-dev/ashlar/internal/cli/version"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/measure"
)

// measuredAt is the directory of the program that is measured, in the sources: only
// there may it import packages below internal/. Its files are laid over the tree.
const measuredAt = "internal/cli/dedalus/machines/measured"

// measure compiles the program, and measures it in a process of its own.
func (o *measureOptions) measure(ctx context.Context, t *console.Terminal, p *logic.Program, task *measure.Task, into *measuredProgram) (*machines.Result, error) {
	dir, err := os.MkdirTemp("", "ashlar-measure-")
	if err != nil {
		return nil, failed(err)
	}
	defer os.RemoveAll(dir)
	tell := func(format string, args ...any) {
		if t.ErrTTY && !o.json {
			fmt.Fprintf(t.Err, format+"\n", args...)
		}
	}
	tell("%s: compiling", into.Name)
	binary, err := buildMeasured(ctx, p, o.ashlar, dir)
	if err != nil {
		return nil, failed(err)
	}
	text, err := json.Marshal(task)
	name := filepath.Join(dir, "task.json")
	if err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		return nil, failed(err)
	}
	var complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, name)
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, failed(err)
	}
	r, err := readMeasured(out, task, into, tell)
	ended := cmd.Wait()
	if ended == nil {
		return r, failed(err)
	}
	err = fmt.Errorf("measure %s, %s: %w: %s", p.Name, into.Name, ended, strings.TrimSpace(complaint.String()))
	switch cmd.ProcessState.ExitCode() {
	case machines.WrongCode:
		return nil, exit.With(exit.Safety, err)
	case machines.UnansweredCode:
		return nil, exit.With(exit.Liveness, err)
	}
	return nil, failed(err)
}

// readMeasured reads what the process says: a line for each point, and the result.
func readMeasured(out io.Reader, task *measure.Task, into *measuredProgram, tell func(string, ...any)) (*machines.Result, error) {
	d := json.NewDecoder(out)
	for _, n := range task.UnderWay {
		var pt measure.Point
		if err := d.Decode(&pt); err != nil {
			return nil, fmt.Errorf("read what was measured: %w", err)
		}
		tell("%s: %d under way, %.0f commands a second", into.Name, n, pt.PerSecond)
		into.Points = append(into.Points, pt)
	}
	r := &machines.Result{}
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("read what was measured: %w", err)
	}
	return r, nil
}

// buildMeasured builds the program that measures a program, in dir.
func buildMeasured(ctx context.Context, p *logic.Program, ashlar, dir string) (string, error) {
	if ashlar == "" {
		if ashlar = gomodule.Sources(ctx); ashlar == "" {
			return "", errors.New("measure needs the sources of " + version.Module + ": say with --ashlar DIR where they are, or run this command within a module that requires them")
		}
	}
	root, err := filepath.Abs(ashlar)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return "", fmt.Errorf("--ashlar: %w", err)
	}
	files, err := gen.Generate(p, "program")
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	lay := func(name string, text []byte) error {
		at := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		replace[filepath.Join(root, filepath.FromSlash(measuredAt), filepath.FromSlash(name))] = at
		return os.WriteFile(at, text, 0o600)
	}
	for _, f := range files {
		if err := lay("program/"+f.Name, f.Text); err != nil {
			return "", err
		}
	}
	if err := lay("main.go", fmt.Appendf(nil, `package main

import (
	"os"

	"%[1]s/internal/cli/dedalus/machines"
	program "%[1]s/%[2]s/program"
)

func main() { os.Exit(machines.Main(program.Program())) }
`, version.Module, measuredAt)); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	over, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "measured")
	if err := os.WriteFile(over, text, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", over, "-o", binary, "./"+measuredAt)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", p.Name, err, strings.TrimSpace(string(out)))
	}
	return binary, nil
}
