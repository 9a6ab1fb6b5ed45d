// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// oneFile is a file system with a single file, T.tla.
type oneFile string

func (f oneFile) ReadFile(name string) ([]byte, error) {
	if name != "T.tla" {
		return nil, fs.ErrNotExist
	}
	return []byte(f), nil
}

// inModule puts an algorithm into a module.
func inModule(text string) string {
	if strings.Contains(text, "MODULE") {
		return text
	}
	return "---- MODULE T ----\nEXTENDS Integers, Sequences, TLC\nCONSTANT N\n(*\n" + text + "\n*)\n====\n"
}

func shown(diags *source.List) string {
	var out strings.Builder
	for _, g := range diags.Sorted() {
		fmt.Fprintf(&out, "%s %s %s: %s\n", g.Severity, g.Code, g.Span.From(), g.Message)
	}
	return out.String()
}

// TestTranslations runs the files in testdata. "tla", "pluscal" and "file" show
// the translation to TLA+, to PlusCal, and the whole file; "expanded" shows
// the plain algorithm with its reads and writes. Every translation is checked
// by translating its result again.
func TestTranslations(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			files := oneFile(inModule(d.Input))
			f, diags, err := Translate(files, "T.tla", nil)
			if err != nil {
				t.Fatal(err)
			}
			if diags.HasErrors() {
				return shown(diags)
			}
			again, diags2, err := Translate(oneFile(f.Content), "T.tla", nil)
			if err != nil || diags2.HasErrors() {
				t.Fatalf("%s: translating the result: %v\n%s", d.Pos, err, shown(diags2))
			}
			if string(again.Content) != string(f.Content) {
				t.Errorf("%s: translating twice changes the file", d.Pos)
			}
			switch d.Cmd {
			case "tla":
				return shown(diags) + strings.TrimRight(f.TLA, "\n") + "\n"
			case "pluscal":
				return shown(diags) + f.PlusCal
			case "expanded":
				return shown(diags) + pcal.Describe(f.Plain)
			case "file":
				return shown(diags) + string(f.Content)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

var _ load.Files = oneFile("")
