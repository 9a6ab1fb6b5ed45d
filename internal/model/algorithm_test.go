// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
	"github.com/ashlar-dev/ashlar/tla/value"
)

type osFiles struct{}

func (osFiles) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// TestStepsAreThoseOfTheTranslation executes algorithms directly and through
// their translation: in every reachable state the successors are the same,
// with the same multiplicity.
func TestStepsAreThoseOfTheTranslation(t *testing.T) {
	for _, c := range []struct {
		spec, config string
		states       int // visited at most
	}{
		{"../../specs/lockservice/lockservice.tla", "NumClients = 2 defaultInitValue = defaultInitValue", 5000},
		{"../../specs/mutex/mutex.tla", "N = 2 TicketMax = 2", 5000},
		{"testdata/procedures.tla", "defaultInitValue = defaultInitValue", 5000},
	} {
		t.Run(filepath.Base(c.spec), func(t *testing.T) {
			loaded, diags, err := load.Load(osFiles{}, c.spec, load.Options{Translate: trans.InMemory, Retranslate: true})
			if err != nil {
				t.Fatal(err)
			}
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			var wrong source.List
			cfg := config.Parse(source.NewFile("cfg", []byte("CONSTANTS "+c.config+"\nSPECIFICATION Spec\n")), &wrong)
			m, err := model.NewDirect(loaded.Spec, loaded.Plain, cfg, model.Options{})
			if err != nil || wrong.HasErrors() {
				t.Fatal(err, &wrong)
			}
			translated, err := model.New(loaded.Spec, cfg, model.Options{})
			if err != nil {
				t.Fatal(err)
			}
			alg, err := m.Algorithm()
			if err != nil {
				t.Fatal(err)
			}
			visited := compare(t, translated, alg, c.states)
			if visited < 20 {
				t.Errorf("only %d states were visited", visited)
			}
		})
	}
}

func compare(t *testing.T, m *model.Model, alg *model.Algorithm, most int) int {
	t.Helper()
	seen := map[string]bool{}
	var queue []check.State
	add := func(s check.State) {
		if !seen[string(s)] {
			seen[string(s)] = true
			queue = append(queue, append(check.State(nil), s...))
		}
	}
	w := m.NewWorker()
	if err := w.Init(func(_ int, s check.State) error { add(s); return nil }); err != nil {
		t.Fatal(err)
	}
	terminating := -1
	for i, a := range m.Info().Actions {
		if a.Name == "Terminating" {
			terminating = i
		}
	}
	n := 0
	for ; len(queue) > 0 && n < most; n++ {
		s := queue[0]
		queue = queue[1:]
		var want, got []string
		if err := w.Next(s, func(a int, u check.State) error {
			add(u)
			if a != terminating {
				want = append(want, fmt.Sprint(m.Show(u)))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		vals := m.Decode(s)
		for _, p := range alg.Processes() {
			if err := alg.Step(p, vals, nil, func(vals []value.Value, _ int) error {
				got = append(got, fmt.Sprint(m.Show(m.Encode(vals))))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		sort.Strings(want)
		sort.Strings(got)
		if strings.Join(want, "\n") != strings.Join(got, "\n") {
			t.Fatalf("in the state %v\nthe translation goes to\n%s\nthe algorithm to\n%s", m.Show(s), strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	}
	return n
}
