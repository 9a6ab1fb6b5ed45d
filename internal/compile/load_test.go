// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/compile"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// disk reads modules from the file system.
type disk struct{}

func (disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// subject is a specification ready to be compiled.
type subject struct {
	spec  *core.Spec
	made  load.Translation
	whole *core.Spec
}

// read loads a specification with an algorithm.
func read(t testing.TB, path string) *subject {
	t.Helper()
	s := &subject{}
	loaded, diags, err := load.Load(disk{}, path, load.Options{Retranslate: true,
		Translate: func(u *load.Untranslated, list *source.List) load.Translation {
			s.made = trans.InMemory(u, list)
			s.spec = u.Program.Spec()
			return s.made
		}})
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatalf("%s:\n%v", path, diags)
	}
	s.whole = loaded.Spec
	return s
}

// readText is read for a module's text.
func readText(t testing.TB, name, text string) *subject {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".tla")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

func (s *subject) compile(o compile.Options) (*compile.Package, *source.List) {
	o.Whole, o.Plain = s.whole, s.made.Plain
	return compile.Compile(s.spec, s.made.Algorithm, o)
}
