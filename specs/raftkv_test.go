// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// TestRaftKVForgets: if a server of raftkv forgets its vote, or its term, when it
// crashes, two servers lead in one term.
func TestRaftKVForgets(t *testing.T) {
	if os.Getenv("ASHLAR_LONG") == "" {
		t.Skip("it takes half a minute: set ASHLAR_LONG to run it")
	}
	const path = "raftkv/raftkv.tla"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	durable := []byte("durable variables term = 0, voted = Nobody, log = <<>>;\n    variables\n")
	for _, edit := range []string{
		"durable variables term = 0, log = <<>>;\n    variables\n voted = Nobody,\n",
		"durable variables voted = Nobody, log = <<>>;\n    variables\n term = 0,\n",
	} {
		if !bytes.Contains(text, durable) {
			t.Fatalf("%s does not say %q", path, durable)
		}
		from := overlay{path: bytes.Replace(text, durable, []byte(edit), 1)}
		cfg := configuration(t, path, expectation{config: "votes.cfg"})
		cfg.Give(pcal.CrashBound, 1)
		kept := cfg.Overrides[:0]
		for _, o := range cfg.Overrides {
			if o.Name.Text != "MayVote" {
				kept = append(kept, o)
			}
		}
		if len(kept)+1 != len(cfg.Overrides) {
			t.Fatal("votes.cfg does not override MayVote")
		}
		cfg.Overrides = kept
		got := summary(explored(t, "the algorithm", from, path, cfg, load.Options{Translate: trans.InMemory}))
		if !strings.HasPrefix(got, "ElectionSafety ") {
			t.Errorf("%q: %s", edit, got)
		}
	}
}
