// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// texts are files in memory, and those of the machine.
type texts map[string]string

func (t texts) ReadFile(name string) ([]byte, error) {
	if text, ok := t[name]; ok {
		return []byte(text), nil
	}
	if filepath.Dir(name) == "." {
		return nil, fs.ErrNotExist
	}
	return os.ReadFile(name)
}

// outcome explores a model and shows verdict and counts.
func outcome(t *testing.T, m *model.Model) string {
	t.Helper()
	r, err := check.Run(context.Background(), m, check.Options{Workers: 2, SafetyOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case r.Err != nil:
		return fmt.Sprintf("%v: %s", r.Verdict, strings.SplitN(r.Err.Error(), ": ", 2)[1])
	case r.Verdict != check.OK:
		return fmt.Sprintf("%v %s after %d states", r.Verdict, r.Property, len(r.Trace))
	}
	return fmt.Sprintf("%d generated, %d distinct, depth %d", r.Generated, r.Distinct, r.Depth)
}

// both checks a module with an algorithm directly and by its translation.
func both(t *testing.T, files load.Files, spec, cfg string) (direct, translated string) {
	t.Helper()
	loaded, diags, err := load.Load(files, spec, load.Options{Retranslate: true, Translate: trans.InMemory})
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var wrong source.List
	c := config.Parse(source.NewFile("T.cfg", []byte(cfg)), &wrong)
	if wrong.HasErrors() {
		t.Fatal(&wrong)
	}
	m, err := model.New(loaded.Spec, c, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := model.NewDirect(loaded.Spec, loaded.Plain, c, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Algorithm(); err != nil {
		t.Error(err)
	}
	return outcome(t, d), outcome(t, m)
}

// TestDirect runs the files in testdata/direct: an algorithm, executed
// directly, has the outcome of its translation.
func TestDirect(t *testing.T) {
	datadriven.Walk(t, "testdata/direct", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			text := "---- MODULE T ----\nEXTENDS Integers, Sequences, FiniteSets, TLC\n(*\n" + d.Input + "\n*)\n====\n"
			cfg := "SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n"
			if strings.Contains(d.Input, "undefined") {
				cfg += "CONSTANT defaultInitValue = defaultInitValue\n"
			}
			direct, translated := both(t, texts{"T.tla": text}, "T.tla", cfg)
			if direct != translated {
				t.Errorf("%s: directly %s, translated %s", d.Pos, direct, translated)
			}
			return direct + "\n"
		})
	})
}

// TestDirectOnSpecifications does the same with whole specifications.
func TestDirectOnSpecifications(t *testing.T) {
	const own, corpus = "../../specs", "../../../shared/corpus/tla-examples"
	for _, m := range []struct{ dir, spec, cfg string }{
		{own, "lockservice/lockservice", "lockservice/lockservice"},
		{own, "lockservice/bug/lockservice", "lockservice/bug/lockservice"},
		{own, "vote/vote", "vote/vote"},
		{own, "restart/restart", "restart/restart"},
		{corpus, "DiningPhilosophers/DiningPhilosophers", "DiningPhilosophers/DiningPhilosophers"},
		{corpus, "TeachingConcurrency/Simple", "TeachingConcurrency/Simple"},
		{corpus, "barriers/Barriers", "barriers/Barriers"},
		{corpus, "transaction_commit/2PCwithBTM", "transaction_commit/2PCwithBTM"},
	} {
		t.Run(m.cfg, func(t *testing.T) {
			cfg, err := os.ReadFile(filepath.Join(m.dir, m.cfg+".cfg"))
			if err != nil {
				if m.dir == corpus {
					t.Skipf("not run: the corpus is absent: %v", err)
				}
				t.Fatal(err)
			}
			direct, translated := both(t, texts{}, filepath.Join(m.dir, m.spec+".tla"), string(cfg))
			if direct != translated {
				t.Errorf("directly %s, translated %s", direct, translated)
			}
		})
	}
}
