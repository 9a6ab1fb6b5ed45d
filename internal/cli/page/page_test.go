// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli/page"
)

// Text that looks like HTML, or like a place to fill in, is shown as it is.
func TestTextStaysText(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page.html")
	hostile := `"'></script><script>alert(1)</script>{{Data}}&amp;`
	data, err := page.Data(map[string]string{"k": hostile})
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Write(name, `<p title="{{Title}}">{{Title}}</p><script>const d = {{Data}}</script>`, map[string]page.HTML{"Title": page.Text(hostile), "Data": data}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "<script>"); n != 1 {
		t.Errorf("%d script elements, want 1: %s", n, text)
	}
	if n := strings.Count(string(text), "{{Data}}&amp;amp;"); n != 2 {
		t.Errorf("the title is there %d times as it was given, want 2: %s", n, text)
	}
}

// A place for which the caller has nothing is found by whoever writes the page.
func TestEveryPlaceIsFilled(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a page with an empty place was written")
		}
	}()
	_ = page.Write(filepath.Join(t.TempDir(), "page.html"), "{{Missing}}", nil)
}
