// SPDX-License-Identifier: Apache-2.0

package lower_test

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

// oneFile is a file system with a single file.
type oneFile string

func (f oneFile) ReadFile(name string) ([]byte, error) {
	if name != "T.tla" {
		return nil, fs.ErrNotExist
	}
	return []byte(f), nil
}

// lowered lowers the algorithm of a module. Without a module around it, the
// text is put into one.
func lowered(text string) (*pcal.Algorithm, *source.List) {
	if !strings.Contains(text, "MODULE") {
		text = "---- MODULE T ----\nEXTENDS Integers, Sequences, TLC\nCONSTANT N\n(*\n" + text + "\n*)\n====\n"
	}
	var a *pcal.Algorithm
	_, diags, err := load.Load(oneFile(text), "T.tla", load.Options{Retranslate: true,
		Translate: func(u *load.Untranslated, _ *source.List) load.Translation {
			a = u.Program.AlgorithmOf(u.Module.Algorithm, u.Scope)
			return load.Translation{}
		}})
	if err != nil {
		panic(err)
	}
	return a, diags
}

// TestAlgorithms runs the files in testdata/pcal. "errors" shows the errors of
// an algorithm; "blocks" shows its blocks.
func TestAlgorithms(t *testing.T) {
	datadriven.Walk(t, "testdata/pcal", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			a, diags := lowered(d.Input)
			var out strings.Builder
			switch d.Cmd {
			case "errors":
				for _, g := range diags.Sorted() {
					fmt.Fprintf(&out, "%s %s: %s\n", g.Code, g.Span.From(), g.Message)
					if g.Repair != "" {
						fmt.Fprintf(&out, "    repair: %s\n", g.Repair)
					}
					for _, n := range g.Related {
						fmt.Fprintf(&out, "    %s: %s\n", n.Span.From(), n.Message)
					}
				}
				if out.Len() == 0 {
					return "fine\n"
				}
			case "blocks":
				if diags.HasErrors() {
					return diags.Error() + "\n"
				}
				if err := pcal.Validate(a); err != nil {
					return err.Error() + "\n"
				}
				out.WriteString(pcal.Describe(a))
			default:
				t.Fatalf("unknown command %s", d.Cmd)
			}
			return out.String()
		})
	})
}
