// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/page/browser"
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
	if err := runCheck(context.Background(), &console.Terminal{Out: &out, Err: &errs}, o, spec, loadSpecification); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	if text := out.String(); !strings.Contains(text, "Never evaluated:\n  x' = x * x + 7") {
		t.Errorf("the text does not say what was never evaluated:\n%s", text)
	}
	page, err := os.ReadFile(html)
	if err != nil {
		t.Fatal(err)
	}
	dom := browser.Open(t, string(page), "")
	got := browser.Content(t, dom, "profile")
	// Line 5 is asked in each of the six states.
	if !strings.Contains(dom, "Never == x &gt; 9") {
		t.Errorf("the text is not on the page: %s", got)
	}
	if !strings.Contains(dom, "evaluated 6, true or passed 5") {
		t.Error("what was counted is not on the page")
	}
}
