// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

// beside is a module in memory together with the modules of a directory.
type beside struct {
	path string
	text []byte
}

func (b beside) ReadFile(name string) ([]byte, error) {
	if name == b.path {
		return b.text, nil
	}
	if filepath.Ext(name) != ".tla" {
		return nil, fs.ErrNotExist
	}
	return os.ReadFile(name)
}

// TestAModuleIsTheTrace writes traces as modules, and checks them only with the module
// and the configuration, as any user can.
func TestAModuleIsTheTrace(t *testing.T) {
	const cfg = "../../../../specs/store/traces/explained.cfg"
	text, err := os.ReadFile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	x := newRun(t, 2)
	x.play(3)
	whole := x.rec.Events()
	broken := append([]Event(nil), whole...)
	for i, e := range broken {
		if e.Kind == Journal {
			broken[i].Version = 1 << 20
			break
		}
	}
	for name, events := range map[string][]Event{"Whole": whole, "Broken": broken} {
		path := filepath.Join(filepath.Dir(specPath), name+".tla")
		loaded, diags, err := load.Load(beside{path, Module(name, events)}, path, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var wrong source.List
		c := config.Parse(source.NewFile(cfg, text), &wrong)
		if wrong.HasErrors() {
			t.Fatal(&wrong)
		}
		m, err := model.New(loaded.Spec, c, model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if info := m.Info(); len(info.Unchecked) > 0 || len(info.Steps) != 1 {
			t.Errorf("%s: steps are checked for %v, not checked: %v", name, info.Steps, info.Unchecked)
		}
		r, err := check.Run(context.Background(), m, check.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := verdict(t, spec(t), events, Options{})
		if (want.Refused != nil) != (name == "Broken") {
			t.Fatalf("%s: %s", name, want)
		}
		switch {
		case want.Refused == nil && (r.Verdict != check.OK || r.Depth-1 != want.Steps):
			t.Errorf("%s: %v at depth %d, want %s", name, r.Verdict, r.Depth, want)
		case want.Refused != nil && (r.Verdict != check.Deadlock || len(r.Trace)-1 != want.Steps):
			t.Errorf("%s: %v after %d states, want %s", name, r.Verdict, len(r.Trace), want)
		}
	}
}
