// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

// osFiles reads files of the machine.
type osFiles struct{}

func (osFiles) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// corpus is where the real specifications are.
const corpus = "../../../../shared/corpus/tla-examples"

func needsCorpus(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(corpus); err != nil {
		t.Skipf("not run: the corpus is absent: %v", err)
	}
}

// algorithms are the modules of the corpus with an algorithm in them.
var algorithms = []string{
	"TeachingConcurrency/SimpleRegular.tla", "TeachingConcurrency/Simple.tla", "barriers/Barriers.tla",
	"DiningPhilosophers/DiningPhilosophers.tla", "MultiPaxos-SMR/MultiPaxos.tla", "SlushProtocol/Slush.tla",
	"LearnProofs/AddTwo.tla", "LearnProofs/FindHighest.tla", "MisraReachability/ParReach.tla",
	"MisraReachability/Reachable.tla", "LoopInvariance/SumSequence.tla", "LoopInvariance/BinarySearch.tla",
	"LoopInvariance/Quicksort.tla", "transaction_commit/2PCwithBTM.tla", "LeastCircularSubstring/LeastCircularSubstring.tla",
}

// TestCorpus translates the algorithms of the corpus, and the result again: the
// first time only the text between the markers changes, and the second time
// nothing.
func TestCorpus(t *testing.T) {
	needsCorpus(t)
	for _, name := range algorithms {
		t.Run(filepath.Base(name), func(t *testing.T) {
			path := filepath.Join(corpus, name)
			f := translated(t, osFiles{}, path)
			again := translated(t, overlay{osFiles{}, path, f.Content}, path)
			if string(again.Content) != string(f.Content) {
				t.Errorf("translating twice changes the file")
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := outside(string(f.Content)), outside(string(before)); got != want {
				t.Errorf("what lies outside the markers changed:\n%s", got)
			}
		})
	}
}

// outside is a file without the text between the markers and after them.
func outside(text string) string {
	begin := strings.Index(text, `\* BEGIN TRANSLATION`)
	end := strings.Index(text, `\* END TRANSLATION`)
	rest := text[end:]
	return text[:begin] + rest[strings.IndexByte(rest, '\n'):]
}

func translated(t *testing.T, files load.Files, path string) *File {
	t.Helper()
	f, diags, err := Translate(files, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return f
}

// models are those of the corpus that check a module with an algorithm.
var models = []struct {
	root, config, algorithm string
	slow                    bool
}{
	{"DiningPhilosophers/DiningPhilosophers", "DiningPhilosophers", "DiningPhilosophers", false},
	{"SlushProtocol/Slush", "SlushSmall", "Slush", true},
	{"TeachingConcurrency/Simple", "Simple", "Simple", false},
	{"TeachingConcurrency/SimpleRegular", "SimpleRegular", "SimpleRegular", true},
	{"barriers/Barriers", "Barriers", "Barriers", false},
	{"transaction_commit/2PCwithBTM", "2PCwithBTM", "2PCwithBTM", false},
	{"LearnProofs/MCFindHighest", "MCFindHighest", "FindHighest", false},
	{"LeastCircularSubstring/MCLeastCircularSubstring", "MCLeastCircularSubstringSmall", "LeastCircularSubstring", false},
	{"LoopInvariance/MCBinarySearch", "MCBinarySearch", "BinarySearch", false},
	{"LoopInvariance/MCQuicksort", "MCQuicksort", "Quicksort", false},
	{"MisraReachability/MCParReach", "MCParReach", "ParReach", false},
}

// TestCounts checks the models of the corpus with our translation instead of
// theirs: the counts are those of the standard tools.
func TestCounts(t *testing.T) {
	needsCorpus(t)
	want := expectedCounts(t)
	for _, m := range models {
		t.Run(m.config, func(t *testing.T) {
			if m.slow && testing.Short() {
				t.Skip("not run: takes seconds")
			}
			dir := filepath.Join(corpus, filepath.Dir(m.root))
			path := filepath.Join(dir, m.algorithm+".tla")
			f := translated(t, osFiles{}, path)
			files := overlay{osFiles{}, path, f.Content}
			got := counts(t, files, filepath.Join(corpus, m.root+".tla"), filepath.Join(dir, m.config+".cfg"))
			key := m.root + ".tla " + filepath.Dir(m.root) + "/" + m.config + ".cfg"
			if want[key] == "" {
				t.Fatalf("models.tsv has no counts for %s", key)
			}
			if got != want[key] {
				t.Errorf("got %s, want %s", got, want[key])
			}
		})
	}
}

// expectedCounts reads models.tsv: generated, distinct and depth by module and
// configuration.
func expectedCounts(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus, "models.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, l := range strings.Split(string(text), "\n") {
		if f := strings.Split(l, "\t"); len(f) > 10 {
			out[f[0]+" "+f[1]] = f[8] + " " + f[9] + " " + f[10]
		}
	}
	return out
}

// counts checks a model and shows generated, distinct and depth.
func counts(t *testing.T, files load.Files, spec, cfg string) string {
	t.Helper()
	loaded, diags, err := load.Load(files, spec, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	text, err := os.ReadFile(cfg)
	if err != nil {
		t.Fatal(err)
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
	r, err := check.Run(context.Background(), m, check.Options{Workers: 1, SafetyOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Err != nil || r.Property != "" {
		t.Fatalf("%v %s %v", r.Verdict, r.Property, r.Err)
	}
	return fmt.Sprintf("%d %d %d", r.Generated, r.Distinct, r.Depth)
}
