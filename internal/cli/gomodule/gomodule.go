// SPDX-License-Identifier: Apache-2.0

// Package gomodule makes modules for compiled programs that are in none.
//
// In: a name, and where the sources of this module are. Out: the texts of a go.mod and
// a go.sum with which 'go build' finds what generated code imports. Promised: nothing
// is written or downloaded.
package gomodule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/ashlar-dev/ashlar/internal/cli/version"
)

// Files returns the go.mod and go.sum of a module that takes version.Module from a
// directory of its sources, or from where the module of the working directory has it.
// They list all requirements of those sources, because 'go build' does not add
// requirements to a go.mod.
func Files(ctx context.Context, name, ashlar string) (mod, sum []byte, err error) {
	if ashlar == "" {
		if ashlar = Sources(ctx); ashlar == "" {
			return nil, nil, errors.New(version.Module + " is not published: name the directory of its sources with --ashlar DIR, or run this command within a module that requires it")
		}
	}
	dir, err := filepath.Abs(ashlar)
	if err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, nil, fmt.Errorf("--ashlar: %w", err)
	}
	sources, err := modfile.ParseLax(filepath.Join(dir, "go.mod"), text, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("--ashlar: %w", err)
	}
	if sources.Module == nil || sources.Module.Mod.Path != version.Module || sources.Go == nil {
		return nil, nil, fmt.Errorf("--ashlar: %s is not the go.mod of %s", filepath.Join(dir, "go.mod"), version.Module)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return nil, nil, fmt.Errorf("--ashlar: %w", err)
	}
	m := new(modfile.File)
	err = errors.Join(m.AddModuleStmt(name), m.AddGoStmt(sources.Go.Version), m.AddRequire(version.Module, "v0.0.0"))
	for _, r := range sources.Require {
		m.AddNewRequire(r.Mod.Path, r.Mod.Version, true)
	}
	err = errors.Join(err, m.AddReplace(version.Module, "", filepath.ToSlash(dir), ""))
	if err != nil {
		return nil, nil, err
	}
	mod, err = m.Format()
	return mod, sums, err
}

// Sources returns the directory of version.Module's sources as the current
// directory's module sees it, or "" if it has none.
func Sources(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-json", version.Module)
	out, err := cmd.Output()
	var m struct{ Dir string }
	if err != nil || json.Unmarshal(out, &m) != nil {
		return ""
	}
	return m.Dir
}
