// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/page/browser"
)

// lockPage checks the model and returns the page that is written about it.
func lockPage(t *testing.T, m ticketLock) string {
	t.Helper()
	var out, errs bytes.Buffer
	file := filepath.Join(t.TempDir(), "report.html")
	o := checkOptions{workers: 1, deadlock: true, html: file}
	err := runCheck(context.Background(), &console.Terminal{Out: &out, Err: &errs}, o, "lock.tla", lockSubject(m))
	if m.broken != (err != nil) {
		t.Fatalf("check: %v\n%s%s", err, &out, &errs)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPageIsSelfContained: nothing in it is fetched from anywhere.
func TestPageIsSelfContained(t *testing.T) {
	text := lockPage(t, ticketLock{clients: 2, broken: true})
	for _, m := range regexp.MustCompile(`(?i)(src|href)\s*=|url\([^#]|@import|fetch\(|XMLHttpRequest`).FindAllString(text, -1) {
		t.Errorf("the page refers to something outside: %s", m)
	}
	if strings.Contains(text, "</script><b>") {
		t.Error("a value of the trace ends the script element")
	}
}

// specPage checks a specification in text and returns the page about it.
func specPage(t *testing.T, o checkOptions, spec, config string) string {
	t.Helper()
	dir := t.TempDir()
	o.html, o.workers, o.deadlock = filepath.Join(dir, "report.html"), 1, true
	for name, text := range map[string]string{"M.tla": spec, "M.cfg": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	var e *exit.Error
	err := runCheck(context.Background(), &console.Terminal{Out: &out, Err: &errs}, o, filepath.Join(dir, "M.tla"), loadSpecification)
	if err != nil && (!errors.As(err, &e) || e.Err != nil || e.Code >= exit.Spec) {
		t.Fatalf("check: %v\n%s%s", err, &out, &errs)
	}
	text, err := os.ReadFile(o.html)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const counterSpec = `---- MODULE M ----
EXTENDS Naturals
CONSTANT N
VARIABLES x, mode
Init == x \in {0, 1} /\ mode = "on"
Up == x < N /\ x' = x + 1 /\ UNCHANGED mode
Off == mode = "on" /\ x > 1 /\ mode' = "off" /\ UNCHANGED x
Stay == x = N /\ UNCHANGED <<x, mode>>
Next == Up \/ Off \/ Stay
Spec == Init /\ [][Next]_<<x, mode>>
Small == x < 3
On == mode = "on"
====
`

// TestGraphInBrowser: the graph is drawn by levels, with the violation's path;
// its states can be clicked and follow the trace.
func TestGraphInBrowser(t *testing.T) {
	text := specPage(t, checkOptions{goOn: true}, counterSpec, "CONSTANT N = 3\nSPECIFICATION Spec\nINVARIANTS Small\n")
	dom := browser.Open(t, text, browser.Observe+`
const node = n => q('#graph g[data-state="' + n + '"]');
const click = e => e.dispatchEvent(new MouseEvent("click", {bubbles: true}));
const heights = {};
qq("#graph g[data-state]").forEach(g => (heights[g.getAttribute("transform").split(" ")[1]] ||= []).push(g.dataset.state));
note("rows", Object.values(heights).map(l => l.sort().join("")).join(" "));
note("tell", q("#graph .head").textContent);
note("lines", qq("#graph svg > path").length);
note("initial", qq("#graph g.initial").map(g => g.dataset.state).join());
note("path", qq("#graph g.path").map(g => g.dataset.state).join());
note("hot", qq("#graph path.path").filter(p => p.hasAttribute("data-from")).map(p => p.querySelector("title").textContent).sort().join());
note("last", qq("#graph g.last").map(g => g.dataset.state).join());
note("at first", q("#graph-state h3").textContent);
press("Home"); note("follows", q("#graph-state h3").textContent);
click(node(5)); note("clicked", q("#graph-state h3").textContent);
note("values", qq("#graph-state .var").map(e => e.textContent).join());
note("steps", qq("#graph-state button").map(e => e.textContent).join());
note("trace stays", q("#counter").textContent);
click(q("#graph-state button")); note("along", q("#graph-state h3").textContent);
click(node(3)); note("to the trace", q("#counter").textContent);
const numbers = q("#graph svg").outerHTML.match(/NaN|undefined|Infinity/g);
note("numbers", numbers === null);
`)
	browser.Noted(t, dom, "rows=12 3 45 6", "tell=State graph6 states, 8 steps", "lines=8", "initial=1,2", "path=2,3,4",
		"hot=2 → 3: Up,3 → 4: Up", "last=4", "at first=State 4 level 3", "follows=State 2 initial", "clicked=State 5 level 3",
		`values=x2,mode"off"`, "steps=Up → 6", "trace stays=1 / 3", "along=State 6 level 4", "to the trace=2 / 3", "numbers=true")
}

// TestSeveralViolationsInBrowser: the page lists them and shows the one that is
// chosen, in the trace and in the graph.
func TestSeveralViolationsInBrowser(t *testing.T) {
	text := specPage(t, checkOptions{goOn: true}, counterSpec, "CONSTANT N = 3\nSPECIFICATION Spec\nINVARIANTS Small On\n")
	dom := browser.Open(t, text, `if (!location.hash) document.querySelectorAll("#violations button")[0].click(); else {`+browser.Observe+`
note("list", qq("#violations li").map(e => e.textContent).join());
note("violation", q("#violation h2").textContent);
note("steps", qq(".steps li").map(e => e.querySelector("b").textContent).join());
note("last", qq("#graph g.last").map(g => g.dataset.state).join());
note("checked", qq("#checked .tag.bad").length);
}`)
	browser.Noted(t, dom, "list=3 statesInvariant Small is violated. show,3 statesInvariant On is violated. shown below",
		"violation=On", "steps=Initial state,Up,Off", "last=5", "checked=2")
}

// aliasSpec has an ALIAS with other fields in later states, processes that are
// strings, some of which are no identifiers, and text that looks like markup.
const aliasSpec = `---- MODULE M ----
EXTENDS Naturals
VARIABLES n, pc
Init == n = 0 /\ pc = [p \in {"left", "p&<b>"} |-> "a"]
Next == n' = n + 1 /\ pc' = [pc EXCEPT ![IF n = 0 THEN "left" ELSE "p&<b>"] = "</script>"]
Small == n < 4
Al == CASE n < 2 -> [n |-> n, pc |-> pc]
        [] n = 2 -> [extra |-> {n}, n |-> n, pc |-> pc]
        [] OTHER -> [n |-> n, other |-> "x", pc |-> "none"]
====
`

// TestAliasInBrowser: values are compared with those of the same name, also where
// a state has other names than the one before.
func TestAliasInBrowser(t *testing.T) {
	dom := browser.Open(t, specPage(t, checkOptions{}, aliasSpec, "INIT Init NEXT Next INVARIANT Small ALIAS Al\n"), browser.Observe+`
note("steps", qq(".steps li").map(e => e.querySelector("b").textContent).join("|"));
note("changes", qq(".steps li").map(e => [...e.querySelectorAll(".mono")].pop().textContent).join("|"));
const state = () => qq("#state .var").map(e => e.textContent).join("|");
press("Home"); press("j"); note("second", state());
press("j"); note("third", state());
press("j"); note("fourth", state());
note("lanes", qq("#lanes").length);
note("markup", qq("main b b").length);
`)
	browser.Noted(t, dom, `steps=Initial state|Next ("left")|Next ("p&amp;&lt;b&gt;")|Next|Next`,
		`changes=n = 0; pc = ("left" :&gt; "a" @@ "p&amp;&lt;b&gt;" :&gt; "a")|n = 1; pc.left = "&lt;/script&gt;"|extra = {2}; n = 2; pc["p&amp;&lt;b&gt;"] = "&lt;/script&gt;"|n = 3; other = "x"; pc = "none"; extra is gone|n = 4`,
		`second=n1 0|pcleft"&lt;/script&gt;" "a"p&amp;&lt;b&gt;"a"`,
		`third=extra{2}|n2 1|pcleft"&lt;/script&gt;"p&amp;&lt;b&gt;"&lt;/script&gt;" "a"`,
		`fourth=n3 2|other"x"|pc"none" ("left" :&gt; "&lt;/script&gt;" @@ "p&amp;&lt;b&gt;" :&gt; "&lt;/script&gt;")`, "lanes=0", "markup=0")
}

// TestLargeGraphIsNotInThePage: beyond the limit there is no graph.
func TestLargeGraphIsNotInThePage(t *testing.T) {
	for n, want := range map[string]int{"150": 1, "151": 0} {
		text := specPage(t, checkOptions{goOn: true}, counterSpec, "CONSTANT N = "+n+"\nSPECIFICATION Spec\n")
		dom := browser.Open(t, text, browser.Observe+`note("ready", document.documentElement.dataset.ready); note("graphs", qq("#graph").length);`)
		browser.Noted(t, dom, "ready=true", fmt.Sprint("graphs=", want))
	}
}

func TestPageInBrowser(t *testing.T) {
	dom := browser.Open(t, lockPage(t, ticketLock{clients: 2, broken: true}), browser.Observe+`
note("headline", q("h1").textContent);
note("steps", qq(".steps li").length);
note("start", q("#counter").textContent);
press("k"); note("k", q("#counter").textContent);
press("Home"); note("Home", q("#counter").textContent);
press("k"); note("k at the start", q("#counter").textContent);
press("ArrowDown"); note("down", q("#counter").textContent);
note("changed", qq("#state .var:not(.same) > b").map(e => e.textContent).join());
note("new", qq("#state .new").map(e => e.textContent).join());
note("old", qq("#state .old").map(e => e.textContent).join());
press("c"); note("only changes", qq("#state .var").length);
press("End"); note("End", q("#counter").textContent);
note("lanes", qq("#lanes th").map(e => e.textContent).join());
note("moves", qq("#lanes .stop").map(e => e.textContent).join());
qq("#lanes tr")[1].click(); note("click on a lane", q("#counter").textContent);
note("never", q("#never").textContent);
const f = q("#trace-filter"); f.value = "enter c2"; f.dispatchEvent(new Event("input"));
note("filtered", qq(".steps li").filter(e => !e.hidden).map(e => e.querySelector("b").textContent).join());
note("picked", q("#counter").textContent);
note("violation", q("#violation pre").textContent);
note("markup", qq("#state b").filter(e => e.textContent === "&").length);
qq(".cover th")[2].click(); note("sorted", q(".cover tbody td").textContent);
`)
	got := browser.Content(t, dom, "seen")
	want := []string{
		"headline=Invariant Mutex is violated.", "steps=5", "start=5 / 5", "k=4 / 5", "Home=1 / 5", "k at the start=1 / 5", "down=2 / 5",
		"changed=pc,queue", `new="wait",c1`, `old="idle"`, "only changes=2", "End=5 / 5", "lanes=,,c1,c2",
		"moves=idle,idle,wait,cs,wait,cs", "click on a lane=1 / 5", "never=1 not enabled so far",
		"filtered=enter (c2)", "picked=5 / 5", "violation=Mutex ==", "markup=0", "sorted=enter",
	}
	for _, w := range want {
		if !strings.Contains(got, w+";") && !strings.Contains(got, w+"\n") {
			t.Errorf("want %q in:\n%s", w, got)
		}
	}
}

// TestPageWithoutTrace has statistics and coverage only, and no script fails.
func TestPageWithoutTrace(t *testing.T) {
	dom := browser.Open(t, lockPage(t, ticketLock{clients: 3}), browser.Observe+`
note("ready", document.documentElement.dataset.ready);
note("trace", qq("#trace").length);
note("sections", qq("section").map(e => e.id).join());
note("bars", qq("#levels rect").length);
note("never", q("#never").textContent);
press("j");
`)
	got := browser.Content(t, dom, "seen")
	for _, w := range []string{"ready=true", "trace=0", "sections=graph,statistics,coverage,levels,checked", "bars=5", "never=1 never enabled"} {
		if !strings.Contains(got, w+";") {
			t.Errorf("want %q in:\n%s", w, got)
		}
	}
}
