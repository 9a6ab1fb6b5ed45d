// SPDX-License-Identifier: Apache-2.0

package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli/page/browser"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// TestProfileBars: the bar of a line is as long as its share of the time says; a line
// without figures has none. The browser measures them.
func TestProfileBars(t *testing.T) {
	d := &Document{Verdict: "ok", Invariants: []string{}, Steps: []string{}, Unchecked: []asked{}, Warnings: []string{}, Diagnostics: []source.Report{},
		Actions: []covered{}, Trace: []Step{}, Statistics: statistics{Levels: []int64{}}}
	d.Profile = &Profile{Samples: 8, Outside: 2,
		Expressions: []Expression{{File: "M.tla", Line: 1, Column: 1, Evaluated: 5, Samples: 4}, {File: "M.tla", Line: 3, Column: 1, Evaluated: 1},
			{File: "M.tla", Line: 4, Column: 1}, {File: "M.tla", Line: 6, Column: 1, Evaluated: 9, Samples: 2}},
		Sources: []SourceText{{File: "M.tla", Lines: []string{"half", "(* a comment *)", "quick", "never", "", "a quarter", "after"}}}}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := d.Page(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dom := browser.Open(t, string(text), browser.Observe+`
for (const row of qq("#profile tbody tr")) {
  const bar = row.querySelector(".bar"), width = e => e.getBoundingClientRect().width;
  note("line " + row.firstChild.textContent, Math.round(100 * width(bar.querySelector("i")) / width(bar)));
}`)
	browser.Noted(t, dom, "line 1=50", "line 2=0", "line 3=0", "line 4=0", "line 5=0", "line 6=25")
}
