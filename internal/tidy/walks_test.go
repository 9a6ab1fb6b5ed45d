// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWalksCountTheirSteps: each walk of ARCHITECTURE.md ends with how many packages and
// files a reader opens on it. A link to a folder opens a package, one to a file both.
func TestWalksCountTheirSteps(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, walks, _ := strings.Cut(string(text), " walks\n")
	walks, _, _ = strings.Cut(walks, "\n## ")
	found := 0
	for _, walk := range strings.Split(walks, "\n\n") {
		if !strings.HasPrefix(walk, "**") {
			continue
		}
		found++
		title, _, _ := strings.Cut(walk, "\n")
		packages, files := steps(t, walk)
		if want := fmt.Sprintf("(%d packages, %d files.)", packages, files); !strings.HasSuffix(strings.TrimSpace(walk), want) {
			t.Errorf("the walk that begins %q has to end with %q", title, want)
		}
	}
	if found < 3 {
		t.Errorf("found %d walks, want at least 3", found)
	}
}

// steps counts the packages and the files that a text links to.
func steps(t *testing.T, text string) (packages, files int) {
	t.Helper()
	seen := map[string]bool{}
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		to := m[1]
		if strings.HasSuffix(to, ".go") {
			if !seen[to] {
				files++
			}
			seen[to] = true
			to = path.Dir(to)
		}
		if !seen[to] {
			packages++
		}
		seen[to] = true
	}
	return packages, files
}

func TestSteps(t *testing.T) {
	for text, want := range map[string][2]int{
		"":                                   {0, 0},
		"[a](x/a.go)":                        {1, 1},
		"[a](x/a.go) [b](x/b.go) [a](x)":     {1, 2},
		"[a](x/a.go) [a](x/a.go) [y](x/y)":   {2, 1},
		"[x](x), [a](x/y/a.go), [b](z/b.go)": {3, 2},
	} {
		if packages, files := steps(t, text); packages != want[0] || files != want[1] {
			t.Errorf("%q: %d packages and %d files, want %v", text, packages, files, want)
		}
	}
}

// TestPapersAreThreeClicksAway: from the README a newcomer comes to the room of each
// paper, to its page, and to an example, with one click each.
// TestLinksInDocumentsLeadSomewhere checks that links are not broken.
func TestPapersAreThreeClicksAway(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	paper := regexp.MustCompile(`^\| [^|]+ \([A-Z][A-Za-z]+ (19|20)\d\d\) \|`)
	papers := 0
	for _, line := range strings.Split(string(text), "\n") {
		if !paper.MatchString(line) {
			continue
		}
		papers++
		columns := strings.Split(strings.Trim(line, "|"), "|")
		if len(columns) != 5 {
			t.Errorf("%s: %d columns, want paper, what it gives, room, page, example", line, len(columns))
			continue
		}
		for i, what := range []string{"room", "page", "example"} {
			if !link.MatchString(columns[i+2]) {
				t.Errorf("%s: no link to its %s", columns[0], what)
			}
		}
	}
	if papers != 5 {
		t.Errorf("the README has %d papers, want 5", papers)
	}
}

// TestReadmeIsShort: it must be short enough for a newcomer to read to its end.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 120 {
		t.Errorf("the README has %d lines, at most 120", n)
	}
}
