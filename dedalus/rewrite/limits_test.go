package rewrite_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/dedalus/internal/given"
	"github.com/ashlar-dev/ashlar/dedalus/rewrite"
)

// TestAskedTooMuch refuses steps by what they ask for, before anything is made of them.
func TestAskedTooMuch(t *testing.T) {
	const text = `program much
component a {
  input in(v: u64)
  static client(c: node) = nodes client
  async x@c(v) <- in(v), client(c)
  async y@node "b/0"(v) <- in(v)
}
component client {
  output out(v: u64)
  async out@node "c"(v) <- x(v)
}
deploy { a: 60000, client: 1 }
`
	p := given.Program(t, text)
	for step, want := range map[string]string{
		"partition client into 9223372036854775807": "4096 parts at most",
		"partial client into 1000000":               "4096 parts at most",
		"partition client into 4000":                "more than 1048576",
		"functional a rules 1 as 9x":                "is no name",
		"functional a rules 1 as b/0":               "is no name",
		"functional a rules 1 as _":                 "want a name",
		"functional a rules 1 as b":                 `speaks of node "b/0"`,
		"functional a rules 1 as client":            "new name",
	} {
		s, err := rewrite.ParseStep(step)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := rewrite.Apply(p, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", step, err, want)
		}
	}
}
