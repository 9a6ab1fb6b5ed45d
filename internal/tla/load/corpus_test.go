// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// corpusDir holds real specifications, beside the repository.
const corpusDir = "../../../../shared/corpus/tla-examples"

func corpus(t testing.TB) []string {
	t.Helper()
	if _, err := os.Stat(corpusDir); err != nil {
		t.Skipf("the corpus is absent: %v", err)
	}
	var out []string
	err := filepath.WalkDir(corpusDir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".tla") {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// disk reads files as they are.
type disk struct{}

func (disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

func (disk) List(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out, nil
}

// corpusModules is how many modules the corpus has; all of them load.
const corpusModules = 216

// corpusWarnings counts all reports about the corpus, by code: bullets in other
// columns than those above, and modules that repeat a definition of the module
// that they instantiate, to annotate it.
var corpusWarnings = map[source.Code]int{
	syntax.BulletMisaligned: 4,
	resolve.DefinedAlike:    4,
}

// TestCorpusLoads loads every module of the corpus as a root: no errors, and
// a valid Spec.
func TestCorpusLoads(t *testing.T) {
	loaded, definitions := 0, 0
	warnings := map[source.Code]int{}
	for _, path := range corpus(t) {
		l, diags, err := Load(disk{}, path, Options{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, d := range diags.Sorted() {
			if d.Severity == source.Warning {
				warnings[d.Code]++
			}
		}
		if diags.HasErrors() {
			t.Errorf("%s:\n%s", path, messages(diags))
			continue
		}
		if err := core.Validate(l.Spec); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		loaded++
		definitions += len(l.Spec.Defs)
	}
	if loaded != corpusModules {
		t.Errorf("%d modules load, want %d", loaded, corpusModules)
	}
	if !reflect.DeepEqual(warnings, corpusWarnings) {
		t.Errorf("got warnings %v, want %v", warnings, corpusWarnings)
	}
	t.Logf("%d modules, %d definitions", loaded, definitions)
}

func BenchmarkLoad(b *testing.B) {
	path := filepath.Join(corpusDir, "MultiPaxos-SMR/MultiPaxos_MC.tla")
	if _, err := os.Stat(path); err != nil {
		b.Skipf("the corpus is absent: %v", err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, diags, err := Load(disk{}, path, Options{}); err != nil || diags.HasErrors() {
			b.Fatal(err, diags)
		}
	}
}
