// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

// osFiles reads files of the test machine.
type osFiles struct{}

func (osFiles) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// textFiles is a set of modules held in memory.
type textFiles map[string]string

func (f textFiles) ReadFile(name string) ([]byte, error) {
	if text, ok := f[filepath.Base(name)]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

// loadSpec loads a module.
func loadSpec(t testing.TB, files load.Files, path string) *core.Spec {
	t.Helper()
	loaded, diags, err := load.Load(files, path, load.Options{Libraries: []string{"../../specs/lib"}})
	if err != nil {
		t.Fatal(err)
	}
	if loaded == nil {
		t.Fatal(diags.Error())
	}
	return loaded.Spec
}

// loadText loads a module given as text, with a configuration.
func loadText(t testing.TB, module, cfg string) (*core.Spec, *config.Config) {
	t.Helper()
	_, rest, ok := strings.Cut(module, "MODULE ")
	if !ok {
		t.Fatalf("no module header in %q", module)
	}
	name, _, _ := strings.Cut(rest, " ")
	spec := loadSpec(t, textFiles{name + ".tla": module}, name+".tla")
	return spec, parseConfig(t, "test.cfg", cfg)
}

func parseConfig(t testing.TB, name, text string) *config.Config {
	t.Helper()
	var diags source.List
	c := config.Parse(source.NewFile(name, []byte(text)), &diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

// newModel is New, failing the test on an error.
func newModel(t testing.TB, spec *core.Spec, cfg *config.Config, o Options) *Model {
	t.Helper()
	m, err := New(spec, cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// corpusDir is where the shared corpus lies, from this package.
const corpusDir = "../../../shared/corpus/tla-examples"

// corpus skips the test where the corpus is absent.
func corpus(t testing.TB) string {
	t.Helper()
	if _, err := os.Stat(corpusDir); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the corpus is not at %s", corpusDir)
	}
	return corpusDir
}

// loadFiles loads a module and a configuration from files.
func loadFiles(t testing.TB, module, cfg string) (*core.Spec, *config.Config) {
	t.Helper()
	text, err := os.ReadFile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return loadSpec(t, osFiles{}, module), parseConfig(t, cfg, string(text))
}
