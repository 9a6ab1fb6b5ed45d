// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"bytes"
	"context"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// chromium opens an address in a browser without a window.
func chromium(t *testing.T, args ...string) string {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("the browser chromium is not installed: make deps installs it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, append([]string{"--headless", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage", "--user-data-dir=" + filepath.Join(t.TempDir(), "profile")}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, &errs)
	}
	return out.String()
}

// TestStatusPageInBrowser looks at the page of a server, in light and dark.
func TestStatusPageInBrowser(t *testing.T) {
	f := newFleet(t, 3)
	f.good("log", "append", "7", "hello")
	s := f.servers[0]
	dom := chromium(t, "--dump-dom", s.http)
	for _, want := range []string{"<h1>n0", `<span class="ok">serving</span>`, "Partitions", "Applications", "Redis protocol on", f.addr(2)} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page has no %q:\n%s", want, dom)
		}
	}
	if strings.Contains(dom, "<script") || strings.Contains(dom, "src=") {
		t.Error("the page runs or fetches something")
	}
	light := brightness(t, s.http)
	dark := brightness(t, s.http, "--blink-settings=preferredColorScheme=0")
	if light < 200 || dark > 80 {
		t.Errorf("the page's corner is %d of 255 bright in light and %d in dark", light, dark)
	}
}

// brightness is how bright the corner of a page is, of 255.
func brightness(t *testing.T, addr string, flags ...string) uint32 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.png")
	chromium(t, append(flags, "--screenshot="+file, addr)...)
	r, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	picture, err := png.Decode(r)
	if err != nil {
		t.Fatal(err)
	}
	red, green, blue, _ := picture.At(3, 3).RGBA()
	return (red + green + blue) / 3 >> 8
}
