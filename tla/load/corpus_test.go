package load

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/tla/core"
)

// corpusDir holds real specifications, beside the repository.
const corpusDir = "../../../shared/corpus/tla-examples"

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

func TestCorpusLoads(t *testing.T) {
	loaded, definitions := 0, 0
	for _, path := range corpus(t) {
		l, diags, err := Load(disk{}, path, Options{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if diags.HasErrors() {
			var b strings.Builder
			diags.Print(&b)
			t.Errorf("%s:\n%s", path, b.String())
			continue
		}
		if err := core.Validate(l.Spec); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		loaded++
		definitions += len(l.Spec.Defs)
	}
	t.Logf("%d modules, %d definitions", loaded, definitions)
}
