// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// reparse prints a module and parses the result.
func reparse(t *testing.T, name string, m *Module) {
	t.Helper()
	text := Format(m)
	again, errs := ParseModule(source.NewFile(name+" (printed)", []byte(text)))
	if errs.HasErrors() {
		var b strings.Builder
		errs.Print(&b)
		t.Errorf("%s: the printed module does not parse:\n%s", name, b.String())
		return
	}
	if d := difference(m, again); d != "" {
		t.Errorf("%s: printing changed the module: %s", name, d)
	}
}

func TestCorpusRoundTrip(t *testing.T) {
	for _, f := range corpus(t) {
		m, _ := ParseModule(f)
		reparse(t, f.Name, m)
	}
}
