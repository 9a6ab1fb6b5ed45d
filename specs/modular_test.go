// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// TestModularAgrees checks every specification in Modular PlusCal in three
// more ways: as the algorithm itself, as the file with its translation in it,
// and as the PlusCal that the algorithm expands to. All must give what
// expect.txt says.
func TestModularAgrees(t *testing.T) {
	lists, err := filepath.Glob("*/expect.txt")
	if err != nil || len(lists) == 0 {
		t.Fatalf("no expect.txt was found: %v", err)
	}
	checked := 0
	for _, list := range lists {
		for _, want := range expectations(t, list) {
			path := filepath.Join(filepath.Dir(list), want.spec)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(text, []byte("--mpcal")) {
				continue
			}
			checked++
			t.Run(filepath.Dir(list)+"/"+want.config, func(t *testing.T) {
				if want.long && os.Getenv("ASHLAR_LONG") == "" {
					t.Skip("not run: takes long; set ASHLAR_LONG to run it")
				}
				written, diags, err := trans.Translate(files{}, path, libraries)
				if err != nil {
					t.Fatal(err)
				}
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				holds(t, "the algorithm", files{}, path, want, load.Options{Translate: trans.InMemory})
				holds(t, "its translation", overlay{path: written.Content}, path, want, load.Options{})
				if written.Plain.Crashes == nil {
					holds(t, "its PlusCal", overlay{path: onlyPlusCal(t, string(text), written.PlusCal)}, path, want,
						load.Options{Translate: trans.InMemory})
					return
				}
				// PlusCal has no crashes: it is what the algorithm is without them.
				never := configuration(t, path, want)
				never.Give(pcal.CrashBound, 0)
				steady := want
				steady.summary = summary(explored(t, "without crashes", files{}, path, never, load.Options{Translate: trans.InMemory}))
				none := configuration(t, path, want)
				none.Constants = slices.DeleteFunc(none.Constants, func(c config.Constant) bool { return c.Name.Text == pcal.CrashBound })
				pluscal := overlay{path: onlyPlusCal(t, string(text), written.PlusCal)}
				got := summary(explored(t, "its PlusCal", pluscal, path, none, load.Options{Translate: trans.InMemory}))
				if got != steady.summary {
					t.Errorf("its PlusCal: got %s, want %s as without crashes", got, steady.summary)
				}
			})
		}
	}
	if checked == 0 {
		t.Error("no specification is in Modular PlusCal")
	}
}

// overlay is a file in memory over those on disk.
type overlay map[string][]byte

func (o overlay) ReadFile(name string) ([]byte, error) {
	if text, ok := o[name]; ok {
		return text, nil
	}
	if strings.HasSuffix(name, ".tla") {
		return os.ReadFile(name)
	}
	return nil, fs.ErrNotExist
}

// onlyPlusCal is a module with the PlusCal in the place of the comment that
// holds the Modular algorithm.
func onlyPlusCal(t *testing.T, text, pluscal string) []byte {
	t.Helper()
	start := strings.Index(text, "(*\n--mpcal")
	end := strings.Index(text[max(start, 0):], "\n}\n*)\n")
	if start < 0 || end < 0 {
		t.Fatal("the algorithm is not in a comment of its own")
	}
	rest := text[start+end+len("\n}\n*)\n"):]
	return []byte(text[:start] + "(*\n" + pluscal + "*)\n" + rest)
}

func holds(t *testing.T, what string, from load.Files, path string, want expectation, o load.Options) {
	t.Helper()
	if got := summary(explored(t, what, from, path, configuration(t, path, want), o)); got != want.summary {
		t.Errorf("%s: got %s, want %s", what, got, want.summary)
	}
}

// configuration reads the configuration beside a specification.
func configuration(t *testing.T, path string, want expectation) *config.Config {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), want.config))
	if err != nil {
		t.Fatal(err)
	}
	var wrong source.List
	cfg := config.Parse(source.NewFile(want.config, text), &wrong)
	if wrong.HasErrors() {
		t.Fatal(&wrong)
	}
	return cfg
}

// explored checks a specification under a configuration.
func explored(t *testing.T, what string, from load.Files, path string, cfg *config.Config, o load.Options) *check.Result {
	t.Helper()
	loaded, diags, err := load.Load(from, path, o)
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatalf("%s: %v", what, diags)
	}
	if o.Translate == nil && loaded.Plain != nil {
		t.Fatalf("%s was translated again", what)
	}
	m, err := model.NewDirect(loaded.Spec, loaded.Plain, cfg, model.Options{})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	r, err := check.Run(context.Background(), m, check.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
