// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// corpusDir holds real specifications, beside the repository.
const corpusDir = "../../../../shared/corpus/tla-examples"

func corpus(t testing.TB) []*source.File {
	t.Helper()
	if _, err := os.Stat(corpusDir); err != nil {
		t.Skipf("the corpus is absent: %v", err)
	}
	var files []*source.File
	err := filepath.WalkDir(corpusDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".tla") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(corpusDir, path)
		files = append(files, source.NewFile(name, text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// corpusWarnings counts the correct warnings: lists in these modules continue
// with bullets in another column.
var corpusWarnings = map[string]int{
	"SpecifyingSystems/CachingMemory/MCWriteThroughCache.tla": 2,
	"SpecifyingSystems/Liveness/MCLiveWriteThroughCache.tla":  2,
}

func TestCorpusParses(t *testing.T) {
	files := corpus(t)
	if len(files) < 216 {
		t.Errorf("got %d modules, want at least 216", len(files))
	}
	algorithms := 0
	for _, f := range files {
		m, errs := ParseModule(f)
		if errs.Len() != corpusWarnings[f.Name] || errs.HasErrors() {
			var b strings.Builder
			errs.Print(&b)
			t.Errorf("%s:\n%s", f.Name, b.String())
		}
		if m.Algorithm != nil {
			algorithms++
		}
		Inspect(m, func(n Node) bool {
			switch n.(type) {
			case *BadUnit, *BadExpr, *BadStmt:
				t.Errorf("%s: %T", n.Span(), n)
			}
			return true
		})
	}
	if want := 15; algorithms != want {
		t.Errorf("got %d algorithms, want %d", algorithms, want)
	}
}

func BenchmarkParseModule(b *testing.B) {
	for _, f := range corpus(b) {
		if f.Name != "tcp/tcp_proof.tla" {
			continue
		}
		b.SetBytes(int64(len(f.Text)))
		b.ReportAllocs()
		for b.Loop() {
			ParseModule(f)
		}
	}
}
