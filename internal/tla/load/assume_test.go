// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

// TestAssumptions loads the last module of the input, which can find the
// others, and evaluates its assumptions. A configuration follows a line
// `CONFIG`. For a module that must be refused, the output is its diagnostics.
func TestAssumptions(t *testing.T) {
	datadriven.Walk(t, "testdata/assume", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "assume" {
				t.Fatalf("unknown command %s", d.Cmd)
			}
			return assumptions(d.Input)
		})
	})
}

// texts is modules by the names of their files.
type texts map[string]string

func (m texts) ReadFile(name string) ([]byte, error) {
	if text, ok := m[filepath.Base(name)]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

func assumptions(input string) string {
	input, cfgText, _ := strings.Cut(input, "CONFIG\n")
	// A module that begins a line begins a file; nested ones are indented.
	files := texts{}
	root := ""
	for _, line := range strings.SplitAfter(input, "\n") {
		if name, ok := strings.CutPrefix(line, "---- MODULE "); ok {
			root = strings.Fields(name)[0] + ".tla"
		}
		files[root] += line
	}
	loaded, diags, err := load.Load(files, root, load.Options{})
	if err != nil {
		return err.Error()
	}
	out := messages(diags)
	if loaded == nil {
		return out
	}
	var list source.List
	cfg := config.Parse(source.NewFile("Root.cfg", []byte(cfgText)), &list)
	if list.HasErrors() {
		return out + messages(&list)
	}
	model, err := model.New(loaded.Spec, cfg, model.Options{Reference: true})
	if err != nil {
		return out + err.Error()
	}
	return out + verdicts(model, loaded.Spec.Assumes)
}

// verdicts has a line for each assumption that does not hold, and the number of
// those that do.
func verdicts(model *model.Model, assumes []core.Assume) string {
	var out strings.Builder
	holds := 0
	for _, a := range assumes {
		got, err := model.Evaluate(a.Body)
		switch {
		case err != nil:
			fmt.Fprintf(&out, "%s: %v\n", a.Body.Span().Text(), err)
		case !got.IsTrue():
			fmt.Fprintf(&out, "%s: false\n", a.Body.Span().Text())
		default:
			holds++
		}
	}
	fmt.Fprintf(&out, "%d hold\n", holds)
	return out.String()
}

func messages(list *source.List) string {
	var b strings.Builder
	list.Print(&b)
	return b.String()
}
