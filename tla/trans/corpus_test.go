package trans

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/tla/load"
)

// osFiles reads files of the machine.
type osFiles struct{}

func (osFiles) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// corpus is where the real specifications are.
const corpus = "../../../shared/corpus/tla-examples"

// algorithms are the modules of the corpus with an algorithm in them.
var algorithms = []string{
	"TeachingConcurrency/SimpleRegular.tla", "TeachingConcurrency/Simple.tla", "barriers/Barriers.tla",
	"DiningPhilosophers/DiningPhilosophers.tla", "MultiPaxos-SMR/MultiPaxos.tla", "SlushProtocol/Slush.tla",
	"LearnProofs/AddTwo.tla", "LearnProofs/FindHighest.tla", "MisraReachability/ParReach.tla",
	"MisraReachability/Reachable.tla", "LoopInvariance/SumSequence.tla", "LoopInvariance/BinarySearch.tla",
	"LoopInvariance/Quicksort.tla", "transaction_commit/2PCwithBTM.tla", "LeastCircularSubstring/LeastCircularSubstring.tla",
}

// TestCorpus translates the algorithms of the corpus, and the result again:
// the second time changes nothing.
func TestCorpus(t *testing.T) {
	if _, err := os.Stat(corpus); err != nil {
		t.Skipf("the corpus is absent: %v", err)
	}
	for _, name := range algorithms {
		t.Run(filepath.Base(name), func(t *testing.T) {
			path := filepath.Join(corpus, name)
			f, diags, err := Translate(osFiles{}, path)
			if err != nil {
				t.Fatal(err)
			}
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if os.Getenv("SHOW") != "" {
				t.Log("\n" + f.TLA)
			}
			again, diags, err := Translate(overlay{osFiles{}, path, f.Content}, path)
			if err != nil || diags.HasErrors() {
				t.Fatalf("translating the result: %v %v", err, diags)
			}
			if string(again.Content) != string(f.Content) {
				t.Errorf("translating twice changes the file")
			}
		})
	}
}

var _ load.Files = osFiles{}
