// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/page/browser"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
)

// optimizePage optimizes an example and returns the page that is written about it.
func optimizePage(t *testing.T, name string, o optimizeOptions) string {
	t.Helper()
	var out, errs bytes.Buffer
	o.report = filepath.Join(t.TempDir(), "report.html")
	err := runOptimize(t.Context(), &console.Terminal{Out: &out, Err: &errs}, o, filepath.Join("../../../examples/dedalus", name+".ded"))
	if err != nil {
		t.Fatalf("optimize: %v\n%s%s", err, &out, &errs)
	}
	text, err := os.ReadFile(o.report)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestOptimizePageIsSelfContained: nothing in it is fetched from anywhere.
func TestOptimizePageIsSelfContained(t *testing.T) {
	o := optimizeOptions{}
	o.search.Machines = 8
	text := optimizePage(t, "voting", o)
	for _, m := range regexp.MustCompile(`(?i)(src|href)\s*=|url\([^#]|@import|fetch\(|XMLHttpRequest`).FindAllString(text, -1) {
		t.Errorf("the page refers to something outside: %s", m)
	}
}

// TestOptimizePageInBrowser: the page tells the steps and what they rest on, draws the
// points, and shows the steps of one that is clicked.
func TestOptimizePageInBrowser(t *testing.T) {
	measured := filepath.Join(t.TempDir(), "measured.json")
	if err := os.WriteFile(measured, []byte(`{"where": "a test", "nodes": {"leader/0": 4, "participant": 1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	o := optimizeOptions{measured: measured}
	o.search.Machines = 12
	dom := browser.Open(t, optimizePage(t, "voting", o), `
window.onerror = m => note("error", m);
const seen = document.createElement("pre"); seen.id = "seen"; document.body.append(seen);
function note(k, v) { seen.textContent += k + "=" + v + ";"; }
const q = s => document.querySelector(s), qq = s => [...document.querySelectorAll(s)];
note("headline", /^[\d,]+ commands a second on \d+ machines, [\d.]+ times as many as before$/.test(q("#headline").textContent));
note("modelled", q("#modelled").textContent.startsWith("Modelled"));
note("components", qq("#before tr[data-component]").map(r => r.dataset.component).join(" "));
note("pieces", qq("#after tr[data-component]").length > 2);
note("bars", qq("#after .bar i.receive").every(i => parseFloat(i.style.width) > 0));
note("steps", qq("details.step").length > 2);
note("first", q("details.step summary b").textContent.startsWith("1. mutual leader rules"));
note("reason", q("details.step .rejected .no").textContent.startsWith("refused, "));
note("errors", q("#errors table").rows.length);
const points = qq("#chart circle[data-point]");
note("points", points.length > 3);
note("last", q("#chart circle.on").dataset.point == points.length - 1);
points[0].dispatchEvent(new MouseEvent("click", {bubbles: true}));
note("clicked", q("#chart circle.on").dataset.point);
note("point", q("#point").textContent.includes("No steps"));
note("pictures", qq(".picture svg").length);
note("boxes", qq("#picture-after svg g.node").length > qq("#picture-before svg g.node").length);
`)
	browser.Noted(t, dom, "headline=true", "modelled=true", "components=leader participant", "pieces=true", "bars=true", "steps=true", "first=true",
		"reason=true", "errors=3", "points=true", "last=true", "clicked=0", "point=true", "pictures=2", "boxes=true")
	if strings.Contains(browser.Content(t, dom, "seen"), "error=") {
		t.Errorf("the page's script fails: %s", browser.Content(t, dom, "seen"))
	}
}

// TestOptimizeInterrupted: before there is anything to tell it says so.
func TestOptimizeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	o := optimizeOptions{}
	o.search.Machines = 8
	err := runOptimize(ctx, &console.Terminal{Out: &out, Err: &errs}, o, "../../../examples/dedalus/voting.ded")
	var e *exit.Error
	if !errors.As(err, &e) || e.Code != exit.Interrupted || out.Len() > 0 {
		t.Errorf("got %v and %q, want exit code %d", err, &out, exit.Interrupted)
	}
}

// TestTies: timers and what is kept are told each with what comes of it, and the repair
// of several once.
func TestTies(t *testing.T) {
	var b strings.Builder
	writeTies(&b, []cost.Tie{
		{Component: "c", Relation: "retry", Timer: true, Derives: []string{"ask", "tell"}, Repair: "ask again"},
		{Component: "c", Relation: "late", Timer: true, Derives: []string{"stop"}, Repair: "ask again"},
		{Component: "c", Relation: "begun", Derives: []string{"a", "b", "d"}, Repair: "send it"},
	})
	want := `what holds c together:
  timer retry, which ask, tell are derived from
  timer late, which stop is derived from
    ask again
  what is kept in begun, which a, b, d are derived from
    send it
`
	if b.String() != want {
		t.Errorf("told:\n%s\nwant:\n%s", b.String(), want)
	}
}
