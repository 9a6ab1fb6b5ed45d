package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// page checks the model and returns the page that is written about it.
func page(t *testing.T, m ticketLock) string {
	t.Helper()
	var out, errs bytes.Buffer
	file := filepath.Join(t.TempDir(), "report.html")
	o := checkOptions{workers: 1, deadlock: true, html: file}
	err := runCheck(context.Background(), &term{out: &out, err: &errs}, o, "lock.tla", lockSubject(m))
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
	text := page(t, ticketLock{clients: 2, broken: true})
	for _, m := range regexp.MustCompile(`(?i)(src|href)\s*=|url\(|@import|fetch\(|XMLHttpRequest`).FindAllString(text, -1) {
		t.Errorf("the page refers to something outside: %s", m)
	}
	if strings.Contains(text, "</script><b>") {
		t.Error("a value of the trace ends the script element")
	}
}

// browse opens the page in a browser without a window, after appending a
// script to it, and returns the document as it is then.
func browse(t *testing.T, text, script string) string {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("the browser chromium is not installed: make deps installs it")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	text = strings.Replace(text, "</body>", "<script>"+script+"</script></body>", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--virtual-time-budget=3000", "--dump-dom", "file://"+file)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, &errs)
	}
	return out.String()
}

// content returns the text within the element with the id.
func content(t *testing.T, dom, id string) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)id="` + id + `"[^>]*>(.*?)</(div|span|section|pre|h1)>`).FindStringSubmatch(dom)
	if m == nil {
		t.Fatalf("the page has no element %q", id)
	}
	return regexp.MustCompile(`<[^>]*>`).ReplaceAllString(m[1], "")
}

// observe is a script that writes what a person sees into #seen.
const observe = `
const seen = document.createElement("pre");
seen.id = "seen";
const note = (name, value) => seen.append(name + "=" + value + ";\n");
const press = key => document.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const q = s => document.querySelector(s), qq = s => [...document.querySelectorAll(s)];
document.body.append(seen);
`

func TestPageInBrowser(t *testing.T) {
	dom := browse(t, page(t, ticketLock{clients: 2, broken: true}), observe+`
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
	got := content(t, dom, "seen")
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
	dom := browse(t, page(t, ticketLock{clients: 3}), observe+`
note("ready", document.documentElement.dataset.ready);
note("trace", qq("#trace").length);
note("sections", qq("section").map(e => e.id).join());
note("bars", qq("#levels rect").length);
note("never", q("#never").textContent);
press("j");
`)
	got := content(t, dom, "seen")
	for _, w := range []string{"ready=true", "trace=0", "sections=statistics,coverage,levels,checked", "bars=5", "never=1 never enabled"} {
		if !strings.Contains(got, w+";") {
			t.Errorf("want %q in:\n%s", w, got)
		}
	}
}
