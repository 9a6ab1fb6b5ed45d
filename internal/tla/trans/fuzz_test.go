// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seeds are the algorithms of the other tests.
func seeds(f *testing.F) {
	for _, pattern := range []string{"testdata/*", "../lower/testdata/pcal/*", "../../model/testdata/direct/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				continue // a directory
			}
			for _, part := range strings.Split(string(text), "\n\n#") {
				if i := strings.Index(part, "--"); i >= 0 {
					body, _, _ := strings.Cut(part[i:], "\n----")
					f.Add(body)
				}
			}
		}
	}
}

// FuzzTranslate translates any text: nothing panics, translating a result again
// gives the same file, and the positions of diagnostics are in the file.
func FuzzTranslate(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		file, diags, err := Translate(oneFile(inModule(text)), "T.tla", nil)
		if err != nil {
			t.Skip(err)
		}
		for _, d := range diags.Sorted() {
			if d.Code == ConsistencyCheckFailed && strings.Contains(d.Message, "does not mean") {
				t.Fatal(diags)
			}
		}
		if diags.HasErrors() {
			return
		}
		again, diags, err := Translate(oneFile(file.Content), "T.tla", nil)
		if err != nil || diags.HasErrors() {
			t.Fatalf("translating the result: %v %s", err, shown(diags))
		}
		if string(again.Content) != string(file.Content) {
			t.Fatal("translating twice changes the file")
		}
	})
}
