package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// TestPageShowsTheProfile: the page has the text, with what was counted beside
// each line.
func TestPageShowsTheProfile(t *testing.T) {
	dir := t.TempDir()
	spec := filepath.Join(dir, "Count.tla")
	const module = "---- MODULE Count ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\nUp == x < 5 /\\ x' = x + 1\nNever == x > 9 /\\ x' = x * x + 7\nNext == Up \\/ Never\n====\n"
	if err := os.WriteFile(spec, []byte(module), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	html := filepath.Join(dir, "report.html")
	o := checkOptions{workers: 1, html: html, profile: true}
	if err := runCheck(context.Background(), &term{out: &out, err: &errs}, o, spec, loadSpecification); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	if text := out.String(); !strings.Contains(text, "Never evaluated:\n  x' = x * x + 7") {
		t.Errorf("the text does not say what was never evaluated:\n%s", text)
	}
	page, err := os.ReadFile(html)
	if err != nil {
		t.Fatal(err)
	}
	dom := browse(t, string(page), "")
	got := content(t, dom, "profile")
	// Line 5 is asked in each of the six states.
	if !strings.Contains(dom, "Never == x &gt; 9") {
		t.Errorf("the text is not on the page: %s", got)
	}
	if !strings.Contains(dom, "evaluated 6, true or passed 5") {
		t.Error("what was counted is not on the page")
	}
}

// TestProfileBars: the bar of a line is as long as its share of the time says; a line
// without figures has none. The browser measures them.
func TestProfileBars(t *testing.T) {
	d := &document{Verdict: "ok", Invariants: []string{}, Steps: []string{}, Unchecked: []asked{}, Warnings: []string{}, Diagnostics: []source.Report{},
		Actions: []covered{}, Trace: []traceStep{}, Statistics: statistics{Levels: []int64{}}}
	d.Profile = &profiled{Samples: 8, Outside: 2,
		Expressions: []profiledExpr{{File: "M.tla", Line: 1, Column: 1, Evaluated: 5, Samples: 4}, {File: "M.tla", Line: 3, Column: 1, Evaluated: 1},
			{File: "M.tla", Line: 4, Column: 1}, {File: "M.tla", Line: 6, Column: 1, Evaluated: 9, Samples: 2}},
		Sources: []profiledSource{{File: "M.tla", Lines: []string{"half", "(* a comment *)", "quick", "never", "", "a quarter", "after"}}}}
	var page bytes.Buffer
	if err := writePage(&page, d); err != nil {
		t.Fatal(err)
	}
	dom := browse(t, page.String(), observe+`
for (const row of qq("#profile tbody tr")) {
  const bar = row.querySelector(".bar"), width = e => e.getBoundingClientRect().width;
  note("line " + row.firstChild.textContent, Math.round(100 * width(bar.querySelector("i")) / width(bar)));
}`)
	wants(t, dom, "line 1=50", "line 2=0", "line 3=0", "line 4=0", "line 5=0", "line 6=25")
}
