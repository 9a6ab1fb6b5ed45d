// SPDX-License-Identifier: Apache-2.0

// Package browser opens a page in a browser without a window, for tests of pages.
//
// In: a page and a script. Out: the document after the script has run. Where chromium is
// not installed, the test is skipped, and says so.
package browser

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

// Open opens the page in a browser without a window, after appending a
// script to it, and returns the document as it is then.
func Open(t *testing.T, text, script string) string {
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

// Content returns the text within the element with the id.
func Content(t *testing.T, dom, id string) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)id="` + id + `"[^>]*>(.*?)</(div|span|section|pre|h1)>`).FindStringSubmatch(dom)
	if m == nil {
		t.Fatalf("the page has no element %q", id)
	}
	return regexp.MustCompile(`<[^>]*>`).ReplaceAllString(m[1], "")
}

// Observe is a script that writes the visible text into the element #seen.
const Observe = `
const seen = document.createElement("pre");
seen.id = "seen";
const note = (name, value) => seen.append(name + "=" + value + ";\n");
const press = key => document.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const q = s => document.querySelector(s), qq = s => [...document.querySelectorAll(s)];
document.body.append(seen);
`

// Noted checks that a script has recorded the lines.
func Noted(t *testing.T, dom string, lines ...string) {
	t.Helper()
	got := Content(t, dom, "seen")
	for _, w := range lines {
		if !strings.Contains(got, w+";") {
			t.Errorf("want %q in:\n%s", w, got)
		}
	}
}
