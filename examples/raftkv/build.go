// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	"github.com/ashlar-dev/ashlar"
	"github.com/ashlar-dev/ashlar/internal/overlay"
)

// The specification, the directory of this package and that of the compiled
// specification, in this module.
const (
	spec = "specs/raftkv/raftkv.tla"
	home = "examples/raftkv"
	code = home + "/system"
)

// linkedText is the text of linked.go where the compiled specification is there.
const linkedText = `package main

import (
	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/` + code + `"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func linked(values map[string]value.Value) (*distsys.System, error) {
	c, err := system.NewConstants(values)
	if err != nil {
		return nil, err
	}
	return system.System(c), nil
}
`

// generate compiles the specification of the module at root.
func generate(root string) (overlay.Files, error) {
	pkg, err := ashlar.Compile(filepath.Join(root, filepath.FromSlash(spec)), ashlar.CompileOptions{Package: path.Base(code)})
	if err != nil {
		return nil, err
	}
	files := overlay.Files{home + "/linked.go": []byte(linkedText)}
	for _, f := range pkg.Files {
		files[path.Join(code, f.Name)] = f.Text
	}
	return files, nil
}

// build compiles the specification and builds this program with it, as out.
func build(ctx context.Context, out string) error {
	root, err := overlay.Root()
	if err != nil {
		return err
	}
	files, err := generate(root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "raftkv-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	laid, err := files.Write(dir)
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", laid, "-o", out, "./"+home)
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, text)
	}
	return nil
}
